"""The lexers of styles: "longest", which is fast, and its masks are those of "complete"."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask.tools.style import names
from tests.tools.test_transcripts import BYTES, FUNCTIONS, TOOLS, arguments_of, cases_of, made, tokens_of, vocabulary_of

# Where thinking may have been opened or not, an answer or a call may go on like a thought. A `>>>` in an answer of
# functionary may be a line of Python.
NEEDS_COMPLETE = {"ernie", "functionary_3_2"}


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
@pytest.mark.parametrize("name", names())
def test_most_styles_need_no_more_than_the_longest_match(name: str, choice: str) -> None:
    tools = [TOOLS[tool] for tool in FUNCTIONS]
    grammar = cfgmask.Grammar.from_tools(tools, style=name, tool_choice=choice)
    for vocabulary in (BYTES, vocabulary_of(name, has_bytes=True)):
        lexer = grammar.ir_for(vocabulary).lexer
        assert lexer == "longest" or name in NEEDS_COMPLETE


@pytest.mark.parametrize("name", sorted({*names()} - NEEDS_COMPLETE))
def test_masks_are_those_of_complete(name: str) -> None:
    """At each byte and marker of some valid transcripts, with each kind of arguments."""
    seen: dict[str, list[str]] = {}
    for case in cases_of(name):
        given = arguments_of(case)
        texts = seen.setdefault(repr(sorted(given.items())), [])
        if case.get("valid", True) and case.get("about") != "marker in a string" and len(texts) < 4:
            texts.append(case["text"])
            _compare(name, given, case["text"])


def _compare(name: str, given: dict[str, Any], text: str) -> None:
    grammar = made(name, json.dumps(given))
    vocabulary = vocabulary_of(name, has_bytes=True)
    rules = grammar.ir_for(vocabulary)
    if rules.lexer == "complete":
        # An answer that is a value begins like a thought whose begin may be missing. A regex may end anywhere.
        assert "response_format" in given or "sql" in given["tools"]
        return
    both = [cfgmask.compile(replace(rules, lexer=lexer), vocabulary) for lexer in ("longest", "complete")]
    matchers = [compiled.matcher() for compiled in both]
    for token in tokens_of(name, text):
        masks = [np.zeros((vocabulary.n_vocab + 31) // 32, np.int32) for _ in both]
        for matcher, mask in zip(matchers, masks, strict=True):
            matcher.fill_mask(mask)
        assert np.array_equal(*masks), (name, given, text)
        for matcher in matchers:
            matcher.advance(token)
    assert [matcher.is_accepting for matcher in matchers] == [True, True], (name, given, text)
