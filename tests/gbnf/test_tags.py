"""Tags in free text, against a reading of the text from left to right."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.lark.engine import VOCABULARY, accepts

_texts = st.text("ab", min_size=1, max_size=3)
_TRIED = ["".join(letters) for length in range(6) for letters in product("abx", repeat=length)]


def fits(text: str, tags: list[str], excludes: list[str], loops: bool) -> bool:
    """Whether a text is free text with tags, each followed by an `x`."""
    read = 0
    while (end := first_end(text[read:], [*tags, *excludes])) is not None:
        longest = max((t for t in (*tags, *excludes) if text[read : read + end].endswith(t)), key=len)
        read += end + 1
        if longest in excludes or text[read - 1 : read] != "x":
            return False
        if not loops:
            return read == len(text)
    return True


def first_end(text: str, sought: list[str]) -> int | None:
    return next((end for end in range(len(text) + 1) if any(text[:end].endswith(one) for one in sought)), None)


def is_hidden(one: str, other: str, excludes: list[str]) -> bool:
    """Whether `one` is found in `other` first, or it is not said which of the two counts."""
    are_tags = not {one, other} & set(excludes)
    return one in (other[:-1] if are_tags else other)


@given(st.lists(_texts, min_size=1, max_size=3, unique=True), st.lists(_texts, max_size=1), st.booleans())
def test_free_text(tags: list[str], excludes: list[str], loops: bool) -> None:
    arguments = [f'("{tag}", x)' for tag in tags] + [f'excludes=("{text}",)' for text in excludes]
    arguments += [] if loops else ["loop_after_dispatch=false"]
    gbnf = f'root ::= TagDispatch({", ".join(arguments)})\nx ::= "x"'
    sought = [*tags, *excludes]
    # Such may be refused; of two tags that end together one counts.
    if any(is_hidden(one, other, excludes) for i, one in enumerate(sought) for j, other in enumerate(sought) if i != j):
        with pytest.raises(cfgmask.GrammarError, match="gbnf-bad-macro"):
            cfgmask.Grammar.from_gbnf(gbnf)
        return
    grammar = cfgmask.Grammar.from_gbnf(gbnf)
    compiled = cfgmask.compile(grammar, VOCABULARY)
    expected = [text for text in _TRIED if fits(text, tags, excludes, loops)]
    assert [text for text in _TRIED if accepts(compiled, text)] == expected
