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
    """Whether a text is free text with tags, each followed by an `x`. Tags that begin with the first one count, too."""
    first = first_found(text, [*tags, *excludes])
    if first is None:
        return True
    start, found = first
    if found in excludes:
        return False
    behind = [text[start + len(tag) :] for tag in tags if tag.startswith(found) and text.startswith(tag, start)]
    rest = [after[1:] for after in behind if after.startswith("x")]
    return any(fits(after, tags, excludes, loops) if loops else not after for after in rest)


def first_found(text: str, sought: list[str]) -> tuple[int, str] | None:
    """Where the first of them to end begins, and the longest that ends there."""
    for end in range(len(text) + 1):
        ending = [one for one in sought if text[:end].endswith(one)]
        if ending:
            longest = max(ending, key=len)
            return end - len(longest), longest
    return None


def is_hidden(one: str, tags: list[str], excludes: list[str]) -> bool:
    """Whether another one is found in `one` first, or it is not said which of the two counts."""
    sought = [*tags, *excludes]
    inside = first_found(one[:-1], sought)
    if one in tags:
        return any(excluded in one for excluded in excludes) or (inside is not None and inside[0] > 0)
    return inside is None and any(one.endswith(tag) for tag in tags)


@given(st.lists(_texts, min_size=1, max_size=3, unique=True), st.lists(_texts, max_size=2, unique=True), st.booleans())
def test_free_text(tags: list[str], excludes: list[str], loops: bool) -> None:
    arguments = [f'("{tag}", x)' for tag in tags]
    if excludes:
        quoted = ", ".join(f'"{text}"' for text in excludes)
        arguments.append(f"excludes=({quoted},)")
    arguments += [] if loops else ["loop_after_dispatch=false"]
    gbnf = f'root ::= TagDispatch({", ".join(arguments)})\nx ::= "x"'
    # Of two tags that end together one counts.
    if any(is_hidden(text, tags, excludes) for text in (*tags, *excludes)):
        with pytest.raises(cfgmask.GrammarError, match="gbnf-bad-macro"):
            cfgmask.Grammar.from_gbnf(gbnf)
        return
    grammar = cfgmask.Grammar.from_gbnf(gbnf)
    compiled = cfgmask.compile(grammar, VOCABULARY)
    expected = [text for text in _TRIED if fits(text, tags, excludes, loops)]
    assert [text for text in _TRIED if accepts(compiled, text)] == expected
