r"""`\d` in the regexes of requests, whose authors mean 0 to 9."""

from __future__ import annotations

from typing import Any

import pytest

import cfgmask
from cfgmask.integrations.engine_requests import request_grammar
from cfgmask.integrations.requests import ResponseFormat

VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([i]) for i in range(256)), b""], eos_token_id=256)
TOOL: dict[str, Any] = {
    "type": "custom",
    "name": "f",
    "format": {"type": "grammar", "syntax": "regex", "definition": r"x\dx"},
}


def accepts(grammar: cfgmask.Grammar, text: str) -> bool:
    data = list(text.encode())
    return cfgmask.compile(grammar, VOCABULARY).matcher().try_advance(data, consume=False) == len(data)


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [(r"\d", "7", "٣"), (r"[a\d]", "7", "٣"), (r"\D", "٣", "7"), (r"[^\d]", "٣", "7"), (r"\w\d", "é7", "é٣")],
)
def test_digits_of_requests_are_those_of_ascii(pattern: str, accepted: str, rejected: str) -> None:
    for grammar in (
        request_grammar("regex", pattern),
        ResponseFormat.from_json({"type": "regex", "pattern": pattern}).grammar(),
        cfgmask.Grammar.from_regex(pattern, digits="ascii"),
        cfgmask.Grammar.from_regex(pattern, dialect="rust", digits="ascii"),
    ):
        assert accepts(grammar, accepted)
        assert not accepts(grammar, rejected)


def test_digits_of_custom_tools_are_those_of_ascii() -> None:
    grammar = cfgmask.Grammar.from_tools([TOOL], style="harmony", tool_choice="required")
    completion = bytes(cfgmask.compile(grammar, VOCABULARY).matcher().completion() or []).decode()
    before, _, _ = completion.partition("x0x")
    assert before != completion
    assert accepts(grammar, f"{before}x7x")
    assert not accepts(grammar, f"{before}x٣")


def test_other_regexes_keep_the_digits_of_their_dialect() -> None:
    for dialect in ("python", "rust"):
        assert accepts(cfgmask.Grammar.from_regex(r"\d", dialect=dialect), "٣")
    assert not accepts(cfgmask.Grammar.from_regex(r"\d", dialect="ecma"), "٣")
    with pytest.raises(ValueError, match="unknown digits 'roman'"):
        cfgmask.Grammar.from_regex(r"\d", digits="roman")  # type: ignore[arg-type]
