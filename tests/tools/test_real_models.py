"""Styles on real tokenizers: transcripts as the tokens of a model, and what its own chat template renders.

The vocabularies, and the template of Gemma 4 in one of them, are public data outside of this repository.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

import cfgmask
from cfgmask.compiler.named_ends import last_tokens
from cfgmask.tools.recognise import recognise, template_of
from cfgmask.tools.style import names
from tests.tokenizers.real import FOLDER as VOCABULARIES
from tests.tools.test_transcripts import FOLDER, TOOLS, arguments_of, made

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

# A style, and the vocabulary that it is tried with. Other styles are text to it.
MODELS = {"gemma_4": "ggml-vocab-gemma-4.gguf", "hermes": "ggml-vocab-qwen2.gguf", "llama": "ggml-vocab-llama-bpe.gguf"}
CALLS = [
    ("tide", {"port": "Brest", "day": 2}),
    ("lamp", {"on": True, "rooms": ["bar", "Küche 🦀"]}),
    ("ping", {}),
    ("sail", {"to": {"x": 1.5, "of": [1, [2], {}]}, "when": 'say "hi" {x}'}),
]


@cache
def _model(file: str) -> Any:
    path = VOCABULARIES / file
    if not path.exists():
        pytest.skip(f"there is no {file}")
    return llama_cpp.Llama(str(path), vocab_only=True, verbose=False)


@cache
def _vocabulary(file: str) -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_llama(_model(file))


def teardown_module() -> None:
    """llama-cpp-python cannot free models once the interpreter shuts down."""
    _vocabulary.cache_clear()
    _model.cache_clear()


def _takes(grammar: cfgmask.Grammar, file: str, text: str) -> bool:
    ids = _model(file).tokenize(text.encode(), add_bos=False, special=True) if text else []
    matcher = cfgmask.compile(grammar, _vocabulary(file)).matcher()
    if matcher.try_advance(ids) < len(ids):
        return False
    # The token that ends the text may be missing.
    last = last_tokens(matcher.compiled)
    return matcher.is_accepting or any(matcher.try_advance([end], consume=False) == 1 for end in last)


@pytest.mark.long
@pytest.mark.parametrize("name", names())
def test_transcripts_as_real_tokens(name: str) -> None:
    file = MODELS.get(name, "ggml-vocab-qwen2.gguf")
    cases = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for case in cases:
        if case.get("about") == "marker in a string":
            continue
        assert _takes(made(name, json.dumps(arguments_of(case))), file, case["text"]) == case.get("valid", True), case


def test_the_chat_template_of_gemma_4() -> None:
    """What it renders as the model's turn is accepted, as text and as tokens."""
    jinja2 = pytest.importorskip("jinja2", reason="jinja2 is not installed")
    file = MODELS["gemma_4"]
    if not (VOCABULARIES / file).exists():
        pytest.skip(f"there is no {file}")
    template = template_of(VOCABULARIES / file)
    found = recognise(template)
    assert found is not None
    assert (found.style.name, found.sureness) == ("gemma_4", "sure")
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    rendered = environment.from_string(template)
    tools = [TOOLS[name] for name in ("tide", "lamp", "ping", "sail")]
    grammar = cfgmask.Grammar.from_tools(tools, style="auto", template=template, tool_choice="required")
    user = {"role": "user", "content": "Go."}

    def turn(calls: list[tuple[str, Any]]) -> str:
        written = [{"type": "function", "function": {"name": n, "arguments": a}} for n, a in calls]
        messages = [user, {"role": "assistant", "content": "", "tool_calls": written}]
        whole = rendered.render(messages=messages, add_generation_prompt=False, tools=tools, bos_token="<bos>")
        return str(whole[whole.rindex("<|turn>model\n") + len("<|turn>model\n") :])

    for calls in ([call] for call in CALLS):
        text = turn(calls)
        text = text[: text.rindex("<tool_call|>") + len("<tool_call|>")]
        assert _takes(grammar, file, text), text
    text = turn(CALLS)
    assert _takes(grammar, file, text[: text.rindex("<tool_call|>") + len("<tool_call|>")])
