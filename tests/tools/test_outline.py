"""What is lowered once for all lists of tools of a style, with the tools put in place, beside all of it lowered."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import cfgmask
from cfgmask.grammar.ir import Expr, GrammarIR, Part, RuleRef, TokenSet
from cfgmask.grammar.variants import spread
from cfgmask.grammar.walk import walk
from cfgmask.limits import DEFAULT_LIMITS
from cfgmask.tags.outline import Filled
from cfgmask.tags.token_ids import ids_of
from cfgmask.tools.answer import Answer
from cfgmask.tools.choice import Choice, Mode
from cfgmask.tools.lower import Reasoning, lower_tools
from cfgmask.tools.read import read_tools
from cfgmask.tools.style import names, style
from tests.tools.test_transcripts import markers_of

TOOLS = [
    {"name": "tide", "parameters": {"properties": {"port": {"type": "string"}, "day": {"type": "integer"}}}},
    {"name": "any_tool", "parameters": {"properties": {"of": {"enum": ["a", "b"]}}, "required": ["of"]}},
]
# In its answers there is none of the names of tools.
BY_NAME = "functionary_3_2"


def _lowered(name: str, tools: list[Any], mode: Mode = "auto", prompt: str | None = None) -> Any:
    reasoning, answer, choice = Reasoning("auto"), Answer(), Choice(mode, read_tools(tools), None)
    made, _ = lower_tools(style(name), choice, reasoning=reasoning, answer=answer, prompt=prompt, limits=DEFAULT_LIMITS)
    return made


def _vocabulary(name: str, others: tuple[str, ...] = ()) -> cfgmask.Vocabulary:
    markers = (*markers_of(style(name)), *others)
    special = {text: 257 + i for i, text in enumerate(dict.fromkeys(markers))}
    tokens = [bytes([i]) for i in range(256)] + [b""] * (1 + len(special))
    return cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=256, special_tokens=special)


def _said(grammar: GrammarIR) -> list[Any]:
    """The rules as values to compare; a part is shown by its schema, form and tokens."""

    def shown(expr: Expr) -> Any:
        if isinstance(expr, Part):
            return id(expr.schema), id(expr.form), expr.tokens, expr.may_be_empty
        return expr if isinstance(expr, (RuleRef, TokenSet)) else type(expr).__name__ + getattr(expr, "name", "")

    return [(rule.name, rule.capture, [*map(shown, walk(rule.body))]) for rule in spread(grammar).rules]


@pytest.mark.parametrize("mode", ["auto", "required", "none"])
@pytest.mark.parametrize("name", [name for name in names() if name != BY_NAME])
def test_it_is_the_same_as_the_whole(name: str, mode: Mode) -> None:
    made = _lowered(name, TOOLS, mode)
    assert isinstance(made, Filled)
    vocabulary = _vocabulary(name)
    assert _said(made.ir) == _said(made._whole.ir)
    assert _said(made.for_vocabulary(vocabulary)) == _said(made._whole.for_vocabulary(vocabulary))


@pytest.mark.parametrize("prompt", ["", "Hi\n", "<think>", "<think>\nWell", "<think></think>", "<tool_call>", "\n"])
def test_prompts_of_one_kind_share_it(prompt: str) -> None:
    made = _lowered("qwen_3", TOOLS, prompt=prompt)
    assert _said(made.ir) == _said(made._whole.ir)
    assert _lowered("qwen_3", TOOLS, prompt="Something else." * 1000 + prompt)._outline is made._outline


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        (BY_NAME, TOOLS[0]),
        ("qwen_3", {"type": "custom", "name": "note"}),
    ],
)
def test_what_depends_on_the_tools_is_lowered_as_a_whole(name: str, tool: dict[str, Any]) -> None:
    assert not isinstance(_lowered(name, [tool]), Filled)


def test_names_that_special_tokens_may_write_are_lowered_as_a_whole() -> None:
    made = _lowered("qwen_3", TOOLS)
    vocabulary = _vocabulary("qwen_3", ("tide",))
    assert made.for_vocabulary(vocabulary) is made._whole.for_vocabulary(vocabulary)


def test_it_keeps_no_vocabulary() -> None:
    vocabulary = _vocabulary("qwen_3")
    compiled = cfgmask.compile(cfgmask.Grammar.from_tools(TOOLS, style="qwen_3"), vocabulary)
    ids = weakref.ref(ids_of(vocabulary))
    del vocabulary, compiled
    gc.collect()
    assert ids() is None
