"""Random grammars in GBNF that llama.cpp can read, too."""

from __future__ import annotations

from hypothesis import strategies as st

# Every repeated part and every reference comes after a character: llama.cpp has no left recursion.
quantifiers = st.sampled_from(["", "", "", "?", "*", "+", "{2}", "{1,2}", "{0,3}", "{2,}"])
letters = st.sampled_from(['"a"', '"b"', '"e"', '"the"', '" "', '"é"', "[a-c]", "[^e]", ".", '[a-z"]', "[^a-z]"])
names = st.sampled_from(["root", "x", "y"])


def bodies(depth: int) -> st.SearchStrategy[str]:
    parts = st.one_of(letters, names)
    if depth:
        parts = st.one_of(parts, bodies(depth - 1).map(lambda body: f"({body})"))
    item = st.tuples(letters, quantifiers).map("".join)
    nested = st.tuples(letters, parts).map(" ".join)
    grouped = st.tuples(nested.map(lambda body: f"({body})"), quantifiers).map("".join)
    sequence = st.tuples(letters, st.lists(st.one_of(item, grouped, parts), max_size=3)).map(
        lambda s: " ".join([s[0], *s[1]])
    )
    return st.lists(sequence, min_size=1, max_size=3).map(" | ".join)


grammars = st.tuples(bodies(1), bodies(1), bodies(1)).map(
    lambda b: f'root ::= {b[0]} | "a"\nx ::= {b[1]} | "e"\ny ::= | {b[2]}'
)
