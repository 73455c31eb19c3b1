"""Patterns that may do harm: ladders, nesting, damage, random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Literal

from cfgmask import Grammar
from tests.hostile.runner import Case, Times
from tests.hostile.use import use

ANY = frozenset({"accepted", "GrammarError", "LimitExceeded"})
Dialect = Literal["python", "rust", "ecma"]
DIALECTS: tuple[Dialect, ...] = ("python", "rust", "ecma")


def case(name: str, pattern: str | Times, *expected: str, dialect: Dialect = "python") -> Case:
    return Case(
        f"regex/{name}",
        lambda: use(lambda: Grammar.from_regex(str(pattern), dialect=dialect), dead_ends=True),
        frozenset(expected) or ANY,
    )


FIXED: dict[str, tuple[str | Times, tuple[str, ...]]] = {
    "nothing": ("", ("accepted",)),
    "a NUL": ("\x00", tuple(ANY)),
    "half a surrogate pair": ("\ud800", ("GrammarError",)),
    "stars of stars": ("(((a*)*)*)*b", ("accepted",)),
    "the classic": ("(a+)+$", ("accepted",)),
    "alternatives of one": ("(a|a|a|a)*b", ("accepted",)),
    "optional n, n": ("a?" * 500 + "a" * 500, ("accepted", "LimitExceeded")),
    "nth from the end": ("(a|b)*a(a|b){24}", ("accepted",)),
    "nth from the end, far": ("(a|b)*a(a|b){2000}", ("accepted", "LimitExceeded")),
    "counts of counts": ("((((a{1,99}){1,99}){1,99}){1,99}){1,99}", ("accepted", "LimitExceeded")),
    "counts between": ("(((a{1,99}b?){1,99}c?){1,99}d?){1,99}", ("accepted", "LimitExceeded")),
    "a large count": ("a{1000000000}", ("accepted",)),
    "a larger count": ("a{99999999999}", ("GrammarError",)),
    "counts the wrong way": ("a{5,2}", ("GrammarError",)),
    "all of Unicode": (r"[\s\S]{0,100000}", ("accepted",)),
    "all words": (r"\w{0,1000}\W{0,1000}\w{0,1000}", ("accepted", "LimitExceeded")),
    "ranges": ("[" + "".join(f"\\u{i:04x}-\\u{i + 1:04x}" for i in range(0x100, 0xD000, 3)) + "]+", ("accepted",)),
    "a class of everything twice": ("[^a][^b]" * 2_000, ("accepted", "LimitExceeded")),
    "a long word": ("ab" * 500_000, ("accepted", "LimitExceeded")),
    "many words": ("|".join(f"w{i}" for i in range(20_000)), ("accepted", "LimitExceeded")),
    "many searches": ("|".join(f".*{i}.*" for i in range(3_000)), ("accepted", "LimitExceeded")),
    "ignoring case": ("(?i)" + "straße" * 2_000, ("accepted", "LimitExceeded")),
    "lookaheads": ("(?=.*a)(?=.*b)(?=.*c)(?=.*d)(?=.*e)(?=.*f).{6}", tuple(ANY)),
    "many lookaheads": ("".join(f"(?=.*{chr(97 + i)})" for i in range(20)) + ".*", tuple(ANY)),
    "negative lookaheads": ("".join(f"(?!.*{chr(97 + i)})" for i in range(20)) + ".*", tuple(ANY)),
    "lookaheads in stars": ("((?=a|b)(a|b|c))*", tuple(ANY)),
    "lookbehinds": ("".join(f".(?<={chr(97 + i)})" for i in range(20)), tuple(ANY)),
    "boundaries": (r"(\b|\B)" * 200 + "a", tuple(ANY)),
    "boundaries in stars": (r"(\b\w+\b ?)*", tuple(ANY)),
    "lines": ("(?m)(^a$\n)*", tuple(ANY)),
    "lazy": (".*?a" * 30, tuple(ANY)),
    "references back": (r"(a*)\1", ("GrammarError",)),
    "names": ("".join(f"(?P<n{i}>a?)" for i in range(500)), tuple(ANY)),
    "conditional": ("(a)?(?(1)b|c)", ("GrammarError",)),
    "atomic": ("(?>a*)a", tuple(ANY)),
    "possessive": ("a*+a", tuple(ANY)),
    "comments": ("(?#" * 1_000, ("GrammarError",)),
    "flags": ("(?" + "i" * 100_000 + ":a)", tuple(ANY)),
    "verbose": ("(?x)" + " #\n" * 50_000, tuple(ANY)),
    "properties": (r"\p{L}\p{Lu}\p{Script=Greek}", tuple(ANY)),
    "an empty class": ("[]", ("GrammarError",)),
    "a class that nothing is of": (r"[^\s\S]", ("GrammarError",)),
    "nothing to repeat": ("*", ("GrammarError",)),
    "half an escape": ("\\", ("GrammarError",)),
    "too long": (Times("a", 40_000_000), ("LimitExceeded max_source_bytes",)),
}

NESTED = {
    "groups": ("(", "a", ")"),
    "stars": ("(?:", "a", ")*"),
    "pluses": ("(?:", "a", ")+"),
    "optional": ("(?:", "a", ")?"),
    "counts": ("(?:", "a", "){1,3}"),
    "alternatives": ("(?:b|", "a", ")"),
    "alternatives that differ": ("(?:b", "a", "|c)"),
    "sequences": ("(?:b", "a", "c)"),
    "optional tails": ("(?:b", "a", ")?"),
    "tails with stars": ("(?:b", "a", "c)*"),
    "lookaheads": ("(?=", "a", ")a"),
    "negative lookaheads": ("(?!", "b", ")a"),
    "lookbehinds": ("(?<=", "a", ")"),
    "names": ("(?P<n>", "a", ")"),
    "lazy": ("(?:", "a", ")*?"),
    "any case": ("(?i:", "a", ")"),
}


def nested() -> Iterator[Case]:
    for name, (begin, core, end) in NESTED.items():
        for n in (20, 60, 199, 201, 50_000):
            yield case(f"nested {name}, {n}", begin * n + core + end * n)


_ATOMS = ("a", "b", ".", r"\w", r"\d", "[a-c]", "[^a]", "é", "", "ab", r"\s", "[a-zA-Z_]", r"\b", "^", "$", "x|y")
_AFTER = ("*", "+", "?", "{2}", "{0,3}", "{1,}", "*?", "{1,40}", "", "", "")


def random_pattern(choose: random.Random, depth: int = 4) -> str:
    if depth == 0 or choose.random() < 0.2:
        return choose.choice(_ATOMS)
    kind = choose.randrange(6)
    inner = [random_pattern(choose, depth - 1) for _ in range(choose.randint(1, 3))]
    if kind == 0:
        return "(?:" + "|".join(inner) + ")" + choose.choice(_AFTER)
    if kind == 1:
        return choose.choice(("(?=", "(?!", "(?<=", "(?<!")) + inner[0] + ")" + "".join(inner[1:])
    return "".join("(?:" + part + ")" + choose.choice(_AFTER) for part in inner)


def damaged(pattern: str, choose: random.Random) -> str:
    for _ in range(choose.choice((1, 1, 2, 3))):
        at = choose.randint(0, len(pattern))
        piece = choose.choice([*r"()[]{}|*+?\^$.-,:=!<>", "\\x", "\\u{", "(?", "[^", "{9,", "\\p{", "(?P<", "\\Q", "é"])
        pattern = pattern[:at] + piece + pattern[at + choose.choice((0, 0, 1, 2)) :]
    return pattern


def random_ones(n: int) -> Iterator[Case]:
    choose = random.Random(7)
    for number in range(n):
        pattern = random_pattern(choose)
        if number % 3 == 0:
            pattern = damaged(pattern, choose)
        yield case(f"random {number}", pattern, dialect=DIALECTS[number % 3])


def cases() -> Iterator[Case]:
    for name, (pattern, expected) in FIXED.items():
        yield case(name, pattern, *expected)
    yield from nested()
    yield from random_ones(200)
