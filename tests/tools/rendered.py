"""What chat templates render for calls, against the grammars of their styles.

    python -m tests.tools.rendered FOLDER [--style NAME] [--file PART] [--verbose] [--write]

FOLDER holds chat templates, `*.jinja`, in any folders; they are not part of this repository. For each one the table
says its style, what `style="auto"` makes of it, and how many of the rendered turns the style's grammar accepts and
`Grammar.parse` gives back as what was rendered. `--write` puts some turns of each style into its transcripts.
Needs jinja2. Exits with 1 if a turn is refused or read wrongly.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

import cfgmask
from cfgmask.tools.recognise import recognise
from cfgmask.tools.style import Style, Template, Variable, style, text_of
from cfgmask.values import Message
from tests.tools.test_transcripts import FOLDER, TOOLS, markers_of

# The style of a template whose name holds the text; the first that fits. None: no style is meant for it, or what the
# template writes is not what the model does.
STYLES: list[tuple[str, str | None]] = [
    ("vllm/tool_chat_template_functiongemma", None),  # every value as a string
    ("vllm/tool_chat_template_gemma3", None),  # no commas between arguments
    ("vllm/tool_chat_template_toolace", None),  # strings without quotes
    ("vllm/tool_chat_template_llama3.2_pythonic", None),  # strings without quotes
    ("vllm/tool_chat_template_llama4_pythonic", None),  # every value in quotes
    ("vllm/tool_chat_template_deepseekv3.", None),  # the indentation of the template itself
    ("vllm/tool_chat_template_deepseekv31.", None),  # the indentation of the template itself
    ("vllm/tool_chat_template_granite.", None),  # JSON in lines
    ("vllm/tool_chat_template_internlm2_tool", None),  # "arguments" where the model's own word is "parameters"
    ("vllm/tool_chat_template_llama4_json", None),  # a line break before the end token
    ("vllm/tool_chat_template_mistral_parallel", None),  # a system prompt in the last message
    ("xinference/qwen3-coder", None),  # an older one, which writes lists as Python does
    ("bielik", None),
    ("reka", None),
    ("gigachat3-", None),
    ("vllm/tool_chat_template_phi4", None),  # calls without anything between or around them
    ("vllm/tool_chat_template_glm4", None),  # no calls
    ("xinference/deepseek-v3.jinja", None),  # calls of a format of its own
    ("xinference/deepseek-v3.2", None),  # the indentation of the template itself
    ("xinference/glm-4.6", None),  # no jinja
    ("qwen1.5", None),  # no calls
    ("apertus", "apertus"),
    ("apriel", None),
    ("seed-oss", "seed_oss"),
    ("cohere2moe", "cohere_4"),
    ("command-r-plus", None),
    ("command-r7b", "cohere"),
    ("glm-4.7", "glm_4_7"),
    ("glm-4.5", "glm_4_5"),
    ("glm-4.6", "glm_4_5"),
    ("glm4", "glm_4"),
    ("gigachat3.1", "gigachat"),
    ("smollm3", "qwen_3"),
    ("kimi-k2", "kimi"),
    ("kimi-k3", "kimi_k3"),
    ("lfm2", "lfm2"),
    ("mimo-vl", "hermes"),
    ("minimax-m1", "minimax_m1"),
    ("minimax_m1", "minimax_m1"),
    ("minimax-m2", "minimax"),
    ("minimax-m3", "minimax_m3"),
    ("mistral-small-3.2", "mistral_v11"),
    ("nemotron-3", "nemotron_3"),
    ("nemotron-nano-v2", "nemotron"),
    ("hermes", "hermes"),
    ("qwq", "qwen_3"),
    ("qwen3-coder", "qwen_3_coder"),
    ("qwen3coder", "qwen_3_coder"),
    ("qwen3.5", "qwen_3_5"),
    ("qwen3-instruct", "qwen_3"),
    ("qwen3-next-instruct", "hermes"),
    ("qwen3-vl-instruct", "hermes"),
    ("qwen3-omni-instruct", "qwen_3"),
    ("r1-0528-qwen3", "deepseek_r1"),
    ("qwen3", "qwen_3"),
    ("baichuan-m2", "qwen_3"),
    ("xlam", "xlam"),
    ("qwen2.5", "hermes"),
    ("xiyan", "hermes"),
    ("stepfun3.5", "step_3_5"),
    ("deepseek-v3.1", "deepseek_v3_1"),
    ("deepseekv31", "deepseek_v3_1"),
    ("deepseek-v3.2", "deepseek_v3_2"),
    ("deepseek-v4.1", "deepseek_v4_1"),
    ("deepseek-v4", "deepseek_v4"),
    ("deepseek", "deepseek_r1"),
    ("firefunction", "functools"),
    ("gemma-4", "gemma_4"),
    ("gemma4", "gemma_4"),
    ("functiongemma", "function_gemma"),
    ("function_gemma", "function_gemma"),
    ("granite_20b", None),
    ("granite-4", "hermes"),
    ("granite", "granite"),
    ("ling-3", "ling_3"),
    ("functionary-medium-v3.1", "functionary_3_1"),
    ("functionary-medium-v3.2", "functionary_3_2"),
    ("llama4_json", "llama"),
    ("meta-llama", "llama"),
    ("llama3", "llama"),
    ("ministral-3", "mistral"),
    ("devstral", "mistral"),
    ("mistral", "mistral_list"),
    ("gpt-oss", "harmony"),
    ("hy3", "hunyuan_3"),
    ("hunyuan_a13b", "hunyuan"),
    ("internlm2", "internlm"),
    ("skywork", None),
    ("exaone", "exaone"),
    ("ernie", "ernie"),
    ("jamba", "jamba"),
    ("longcat", "longcat"),
    ("olmo", "olmo_3"),
    ("step3", "step_3"),
]

# Ids that templates write as they are given, or check.
IDS: dict[str, Callable[[str, int], str]] = {
    "kimi": lambda name, index: f"functions.{name}:{index}",
    "cohere": lambda name, index: str(index),
}

Call = tuple[str, dict[str, Any]]
ONE: list[Call] = [("tide", {"port": "Brest", "day": 2})]
CALLS: list[list[Call]] = [
    ONE,
    [("ping", {})],
    [("lamp", {"on": True, "rooms": ["bar", "Küche 🦀"]})],
    [("tide", {"port": "say \"hi\" <b> {x} [y] 'z' \\ ☃"})],
    [("tide", {"port": "two\nlines, 5 < 6 & 7 > 6"})],
    [("sail", {"to": {"x": 1.5, "of": [1, [2], {}, "a", False]}, "when": "now"})],
    [*ONE, ("lamp", {"on": False})],
    [*ONE, ("ping", {}), ("tide", {"port": "Zürich"})],
    [*ONE, ("lamp", {"on": True}), ("ping", {}), ("sail", {"when": "soon"})],
]
FUNCTIONS = [TOOLS[name] for name in ("tide", "lamp", "ping", "sail")]
# Many templates want everything described.
DESCRIBED = [
    {
        "type": "function",
        "function": {
            "name": tool["function"]["name"],
            "description": "Does it.",
            "parameters": {
                **tool["function"]["parameters"],
                "properties": {
                    # Some of them know no lists of types.
                    name: {
                        **schema,
                        "description": "What it is.",
                        "type": str(schema["type"]).strip("['").split("'")[0],
                    }
                    for name, schema in tool["function"]["parameters"]["properties"].items()
                },
            },
        },
    }
    for tool in FUNCTIONS
]
# Styles whose templates write strings between quotes without escaping what is in them.
UNESCAPED = {"lfm2", "olmo_3"}
# Turns that the grammars are known to refuse, by style and what is in them, with the reason.
KNOWN = {
    ("minimax_m3", "of"): "where a schema says nothing, a value is JSON and not tags",
    ("minimax_m3", "]<]minimax[>["): "no value holds the marker with which each closing tag begins",
    ("kimi_k3", "<|close|>"): "no value holds the marker with which each closing tag begins",
    ("nemotron", "answer"): "an answer at the end is something that the model goes on with",
    ("hunyuan", "answer"): "the role is spelled out before an answer of the history",
    ("hunyuan", "content"): "content before calls is in no answer",
}
# Tokens that end turns, besides those of the styles.
ENDS = ["<｜end▁of▁sentence｜>", "<|end_of_text|>", "<end_of_turn>", "<|eot_id|>", "<|im_end|>", "</s>"]
USER = {"role": "user", "content": "Go."}


@dataclass(frozen=True)
class Turn:
    """What a model has said."""

    calls: list[Call]
    content: str = ""
    reasoning: str = ""


@dataclass
class Result:
    """What became of a template."""

    style: str | None
    auto: str = ""
    n_turns: int = 0
    n_right: int = 0
    known: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    cases: list[dict[str, Any]] = field(default_factory=list)


def turns(found: Style) -> Iterator[Turn]:
    """Calls, alone and with content and thinking; answers."""
    ends = {*found.ends.call, *found.ends.answer}
    marker = next((marker for marker in markers_of(found) if marker not in ends), "<tool_call>")
    for calls in [*CALLS, [("tide", {"port": f"a {marker} b"})]]:
        if found.name not in UNESCAPED or not re.search(r"""['"\n]""", str(calls[0][1].get("port", ""))):
            yield Turn(calls)
    for calls in (ONE, CALLS[-1]):
        yield Turn(calls, content="On it: 3 < 4.")
        yield Turn(calls, reasoning="Let me look.\nTwice.")
        yield Turn(calls, content="Both.", reasoning="Let me look.")
    yield Turn([], content="Hello, it is 5 < 6.")
    yield Turn([], content="Hello.", reasoning="Just greet.")


def style_of(file: Path) -> str | None:
    """The style that a template is meant to have, by its name."""
    name = f"{file.parent.name}/{file.name}".lower()
    return next((found for part, found in STYLES if part in name), None)


def _environment() -> jinja2.Environment:
    """As transformers has it."""

    def to_json(value: Any, ensure_ascii: bool = False, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, default=list, **options)

    def fail(message: str) -> None:
        raise jinja2.TemplateError(message)

    made = jinja2.sandbox.SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    made.filters["tojson"] = to_json
    made.filters["from_json"] = json.loads
    made.globals["raise_exception"] = fail
    made.globals["strftime_now"] = lambda form: datetime.datetime(2026, 1, 2).strftime(form)
    return made


class Renderer:
    """Renders the turns of one template."""

    def __init__(self, text: str, found: Style) -> None:
        # Transformers drops the tags that mark what a model has generated.
        text = re.sub(r"{%-?\s*(end)?generation\s*-?%}", "", text)
        self._template = _environment().from_string(text)
        self._style = found

    def _render(self, messages: list[dict[str, Any]], prompt: bool, thinks: bool | None) -> str:
        ends = self._style.ends
        more: dict[str, Any] = {}
        if thinks is not None:
            more = {"enable_thinking": thinks, "thinking": thinks, "reasoning": thinks}
            more["thinking_mode"] = "enabled" if thinks else "disabled"
        return self._template.render(
            messages=messages,
            tools=DESCRIBED,
            functions=json.dumps(DESCRIBED),
            datetime="2026-01-02",
            add_generation_prompt=prompt,
            bos_token="<bos>",
            eos_token=(ends.answer or ends.call or ("<eos>",))[-1],
            **more,
        )

    def turn(self, turn: Turn) -> list[tuple[str, str]]:
        """Pairs of a prompt and the turn that follows it. Raises what the template raises."""
        whole = self._whole(turn)
        prompts = []
        for thinks in (True, False, None):
            try:
                prompts.append(self._render([USER], True, thinks))
            except Exception:
                continue
        for prompt in dict.fromkeys(prompts):
            if whole.startswith(prompt):
                return [(prompt, self._without_end(whole[len(prompt) :], turn))]
        # History is written in another way than what the prompt has begun: the text from the begin of the turn.
        common = max((_common(prompt, whole) for prompt in prompts), key=len)
        return [(common, self._without_end(whole[len(common) :], turn))]

    def _whole(self, turn: Turn) -> str:
        failed: Exception | None = None
        for as_text in (False, True):
            message: dict[str, Any] = {"role": "assistant", "content": turn.content}
            if turn.reasoning:
                message |= {"reasoning_content": turn.reasoning, "reasoning": turn.reasoning}
                message["thinking"] = turn.reasoning
            if self._style.name == "glm_4" and len(turn.calls) == 1 and not turn.content:
                # Its calls are not in `tool_calls`.
                name, arguments = turn.calls[0]
                message |= {"metadata": name, "content": json.dumps(arguments, ensure_ascii=False)}
            elif turn.calls:
                message["tool_calls"] = [self._call(*call, i, as_text) for i, call in enumerate(turn.calls)]
            try:
                whole = self._render([USER, message], False, bool(turn.reasoning) or None)
            except Exception as error:
                failed = error
                continue
            if not as_text and turn.calls and (f"{turn.calls[0][1]}" in whole and "{'" in whole):
                continue  # the dict as Python writes it
            return whole
        assert failed is not None
        raise failed

    def _call(self, name: str, arguments: dict[str, Any], index: int, as_text: bool) -> dict[str, Any]:
        make = IDS.get(self._style.name, lambda name, index: f"call{index:05}")
        written = json.dumps(arguments, ensure_ascii=False) if as_text else arguments
        return {"id": make(name, index), "type": "function", "function": {"name": name, "arguments": written}}

    def _without_end(self, text: str, turn: Turn) -> str:
        """The turn without the token that ends it, and what the template writes after that."""
        last = turn.calls[-1][0] if turn.calls else turn.content
        said = text.rfind(last) + len(last)
        ends = {*self._style.ends.call, *self._style.ends.answer, *ENDS}
        found = [(text.index(end, said), end) for end in ends if end in text[said:]]
        if not found:
            return text
        at, end = min(found)
        # An end token that the style writes itself is part of the text.
        is_written = any(end in _text_of(template) for template in _endings(self._style))
        return text[: at + len(end)] if is_written else text[:at]


def _endings(found: Style) -> list[Template]:
    return [*found.calls, found.answer, Template(found.finish), *map(Template, found.answer_ends)]


def _text_of(template: Template) -> str:
    return text_of(tuple(part for part in template.parts if not isinstance(part, Variable)))


def _common(prompt: str, whole: str) -> str:
    n = next((i for i, (a, b) in enumerate(zip(prompt, whole, strict=False)) if a != b), min(len(prompt), len(whole)))
    common = prompt[:n]
    begun = max(common.rfind("<"), common.rfind("["))
    # Not in the middle of a marker.
    if begun >= 0 and not re.search(r"[>\]]", common[begun:]):
        common = common[:begun]
    return common


def _is_same(message: Message, turn: Turn, says_all: bool) -> str:
    """What is read wrongly; empty if nothing is."""
    calls = [(call.name, call.arguments) for call in message.tool_calls]
    if calls != [(name, arguments) for name, arguments in turn.calls]:
        return f"calls {calls}"
    if turn.calls and turn.content and not message.content and message.reasoning == turn.content:
        return ""  # harmony's template writes text before calls as thinking
    if says_all and (message.content or "").strip() != turn.content:
        return f"content {message.content!r}"
    if says_all and (message.reasoning or "").strip() != turn.reasoning:
        return f"reasoning {message.reasoning!r}"
    return ""


def judge(file: Path, verbose: bool = False) -> Result:
    """Render what a template can, and hold it against the grammar of its style."""
    text = file.read_text(encoding="utf-8")
    found = recognise(text)
    result = Result(style_of(file))
    if found is not None:
        result.auto = found.style.name + ("" if found.sureness == "sure" else f" (or {', '.join(found.others)})")
    if result.style is None:
        return result
    try:
        wanted = style(result.style)
    except ValueError:
        result.problems.append("there is no such style")
        return result
    try:
        renderer = Renderer(text, wanted)
    except jinja2.TemplateSyntaxError as error:
        result.problems.append(f"no template of jinja2: {error}")
        return result
    for turn in turns(wanted):
        try:
            rendered = renderer.turn(turn)
        except Exception as error:
            result.refused.append(f"{_told(turn)}: {str(error)[:100]}")
            continue
        for prompt, written in rendered:
            missing = _missing(written, turn, {*wanted.ends.call, *wanted.ends.answer} - {*markers_of(wanted)})
            if missing:
                result.refused.append(f"{_told(turn)}: the template leaves out {missing}")
                if missing in ("the calls", "that it is one turn"):
                    continue
            result.n_turns += 1
            problem = _judge(wanted, prompt, written, turn, says_all=not missing)
            reason = _known(wanted, turn)
            if problem and reason:
                result.n_turns -= 1
                result.known.append(f"{_told(turn)}: {reason}")
            elif problem:
                result.problems.append(
                    f"{_told(turn)}\n        {prompt[-60:]!r}\n        {written!r}\n        {problem}"
                )
            else:
                result.n_right += 1
                if not missing:
                    result.cases.append(_case(file, prompt, written, turn))
            if verbose:
                print(f"    {prompt[-40:]!r} | {written!r}", file=sys.stderr)
    return result


def _known(found: Style, turn: Turn) -> str | None:
    held = json.dumps(turn.calls, ensure_ascii=False)
    held += "answer" if not turn.calls else " content" if turn.content else ""
    return next((why for (name, part), why in KNOWN.items() if name == found.name and part in held), None)


def _told(turn: Turn) -> str:
    names = ", ".join(name for name, _ in turn.calls)
    return f"{names or 'answer'}{' + content' if turn.content and turn.calls else ''}" + (
        " + thinking" if turn.reasoning else ""
    )


def _missing(written: str, turn: Turn, ends: set[str]) -> str:
    if any(name not in written for name, _ in turn.calls):
        return "the calls"
    if turn.content not in written:
        return "the content"
    if turn.calls and any(end in written[: written.index(turn.calls[0][0])] for end in ends):
        return "that it is one turn"
    return "the thinking" if turn.reasoning not in written else ""


def _judge(wanted: Style, prompt: str, written: str, turn: Turn, says_all: bool) -> str:
    choices = ["auto"] if turn.content or not turn.calls else ["auto", "required"]
    for choice in choices:
        grammar = cfgmask.Grammar.from_tools(FUNCTIONS, style=wanted.name, tool_choice=choice, prompt=prompt)
        try:
            message = grammar.parse(written)
        except cfgmask.ParseError as error:
            return f"{choice}: {error}"
        wrong = _is_same(message, turn, says_all)
        if wrong:
            return f"{choice}: read as {wrong}"
    return ""


def _case(file: Path, prompt: str, written: str, turn: Turn) -> dict[str, Any]:
    case: dict[str, Any] = {"text": written, "prompt": prompt[-40:], "rendered": file.stem, "calls": turn.calls}
    if turn.content:
        case["content"] = turn.content
    if turn.reasoning:
        case["reasoning"] = turn.reasoning
    return case


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--style")
    parser.add_argument("--file")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    n_wrong = 0
    cases: dict[str, list[list[dict[str, Any]]]] = {}
    print(f"{'template':60} {'style':16} {'auto':24} right/rendered")
    for file in sorted(given.folder.rglob("*.jinja")):
        if given.file and given.file not in str(file):
            continue
        if given.style and style_of(file) != given.style:
            continue
        result = judge(file, given.verbose)
        n_wrong += len(result.problems)
        if result.style and result.cases:
            cases.setdefault(result.style, []).append(result.cases)
        name = f"{file.parent.name}/{file.stem}"
        print(f"{name[:60]:60} {result.style or '-':16} {result.auto or '-':24} {result.n_right}/{result.n_turns}")
        for problem in result.problems if given.verbose else result.problems[:2]:
            print(f"    ! {problem}")
        for known in dict.fromkeys(result.known):
            print(f"    known: {known}")
        if result.refused and not result.n_turns:
            print(f"    - {result.refused[0]}")
        if given.verbose:
            for refused in result.refused:
                print(f"    - {refused}")
    if given.write:
        for name, found in cases.items():
            _write(name, found)
    return 1 if n_wrong else 0


# Which of the turns go into transcripts: one call, one without arguments, quotes, nested values, four calls, four calls
# with content, one call with thinking, an answer, an answer with thinking.
_WRITTEN = [
    lambda case: case["calls"] == [("tide", {"port": "Brest", "day": 2})] and not _says(case),
    lambda case: [name for name, _ in case["calls"]] == ["ping"],
    lambda case: '"hi"' in str(case["calls"]),
    lambda case: len(case["calls"]) == 1 and case["calls"][0][0] == "sail",
    lambda case: len(case["calls"]) == 4 and not _says(case),
    lambda case: len(case["calls"]) == 4 and "content" in case and "reasoning" not in case,
    lambda case: len(case["calls"]) == 1 and "reasoning" in case and "content" not in case,
    lambda case: not case["calls"] and "reasoning" not in case,
    lambda case: not case["calls"] and "reasoning" in case,
]


def _says(case: dict[str, Any]) -> bool:
    return "content" in case or "reasoning" in case


def _write(name: str, found: list[list[dict[str, Any]]]) -> None:
    """Put turns of each kind into the transcripts of a style, in place of those that were there."""
    file = FOLDER / f"{name}.json"
    kept = [case for case in json.loads(file.read_text(encoding="utf-8")) if "rendered" not in case]
    fullest = max(found, key=len)
    chosen = [next(filter(wanted, fullest), None) for wanted in _WRITTEN]
    # And one call of each other template that writes it in another way.
    known = {case["text"] for case in fullest}
    for others in found:
        case = next(filter(_WRITTEN[0], others), None)
        if case is not None and case["text"] not in known:
            known.add(case["text"])
            chosen.append(case)
    lines = [json.dumps(case, ensure_ascii=False) for case in [*kept, *filter(None, chosen)]]
    file.write_text("[\n  " + ",\n  ".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
