"""Random patterns."""

from __future__ import annotations

from hypothesis import strategies as st

# Some of them are simple, some are not, and some are wrong.

_ATOMS = st.one_of(
    st.sampled_from(
        ["a", "b", ".", "é", "[ab]", "[^a]", "[a-c-9]", "[--0]", "[\\]-a]", "\\.", "\\-", "\\x61", "\\u0062", "\\/"]
    ),
    st.sampled_from(
        [
            "[\\w-.]",
            "\\d",
            "\\W",
            "\\s",
            "[]",
            "{",
            "]",
            "\\b",
            "\\cA",
            "[a",
            "(?=a)",
            "\\1",
            "a{,2}",
            "\\ud800",
            "[z-a]",
        ]
    ),
    st.sampled_from(["\\p{L}", "[^\\P{Lu}a]", "[\\p{Nd}-x]", "\\p{Script=Greek}", "\\p{Graph}", "\\p{^L}", "\\p{L"]),
    st.sampled_from(["\\U0001F600", "(?i)", "[^\\D\\d]", "[[a]", "\\_", "(?P<a>b)"]),
)

_QUANTIFIERS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "{2,1}", "**", "{3"])
_ANCHORS = st.sampled_from(["", "", "^", "^^"]), st.sampled_from(["", "", "$", "$?"])


def _sequences(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.lists(st.tuples(inner, _QUANTIFIERS).map("".join), max_size=3).map("".join)
    return st.tuples(_ANCHORS[0], parts, _ANCHORS[1]).map("".join)


def _groups(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    alternatives = st.lists(_sequences(inner), min_size=1, max_size=2).map("|".join)
    return st.one_of(inner, st.tuples(st.sampled_from(["(", "(?:"]), alternatives).map(lambda g: "".join(g) + ")"))


PATTERNS = st.lists(_sequences(st.recursive(_ATOMS, _groups, max_leaves=4)), min_size=1, max_size=2).map("|".join)
