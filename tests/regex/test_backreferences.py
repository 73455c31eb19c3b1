"""Backreferences to groups with few texts, against Python's `re`."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest

import cfgmask
from cfgmask.errors import GrammarError
from cfgmask.regex import algebra, parse_regex

VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([i]) for i in range(256)), b""], eos_token_id=256)
PATTERNS = [
    r"""(['"])[ab]*\1""",
    r"(a|b)x\1",
    r"""(?P<q>['"])(?P<r>[ab])(?P=r)(?P=q)""",
    r"""(['"])(?:(?!\1).)*\1""",
    r"(a|bb|)x?\1\1",
    r"(a{1,2})b\1",
    r"((a|b)x)\2\1",
    r"((['x])a)\1b\2",
    r"(?i)(a|b)\1",
    r"(?:(a|b)\1)+",
    r"(a|b)(?:x|\1)*",
    r"(?:x(['x])a\1)?b",
    r"(?:a)(b|x)\1",
    r"((?:a?)?((?:a|))(?:a)?)(?:(?:a)?(?:b\2|b))*\1aaa?[ab]x",
    r"(a|b)(x|a)\1(b|)\2\3",
]
REFUSED = [r"(a)?\1", r"(a+)\1", r"(a|b)|\1", r"(a\1)", r"\1(a)", r"(.)\1", r"(a|b)\2", r"(?=(a))\1", r"(?:(a)|b)\1"]


def accepts(compiled: cfgmask.CompiledGrammar, text: str) -> bool:
    matcher, data = compiled.matcher(), text.encode()
    return matcher.advance_bytes(data) == len(data) and matcher.is_accepting


def check(pattern: str, letters: str, longest: int) -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex(pattern), VOCABULARY)
    for n in range(longest + 1):
        for text in map("".join, product(letters, repeat=n)):
            assert accepts(compiled, text) == bool(re.fullmatch(pattern, text)), (pattern, text)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_short_texts(pattern: str) -> None:
    check(pattern, "abx'" + ("A" if "(?i)" in pattern else '"'), 5)


@pytest.mark.parametrize("pattern", REFUSED)
def test_others_are_refused(pattern: str) -> None:
    with pytest.raises(GrammarError) as caught:
        parse_regex(pattern, dialect="ecma" if pattern.startswith("\\1") else "python")
    assert "regex-backreference" in [found.code for found in caught.value.diagnostics]


def test_groups_one_after_the_other_do_not_multiply() -> None:
    tree = parse_regex("".join(rf"(a|b)\{number}" for number in range(1, 31)))
    assert algebra.matches(tree, b"aabb" * 15)
    assert not algebra.matches(tree, b"aabb" * 14 + b"aaba")


def test_hostile_groups_are_bounded() -> None:
    """Alternatives that are alike are one text; groups beyond a bound are refused."""
    tree = parse_regex(r"((?:a|a){32})\1")
    assert algebra.matches(tree, b"a" * 64)
    assert not algebra.matches(tree, b"a" * 63)
    many = "(a|b)" * 90 + "".join(rf"\{number}x" for number in range(1, 91))
    for pattern in [many, r"(a)\1" * 5_000]:
        with pytest.raises(GrammarError) as caught:
            parse_regex(pattern)
        assert "regex-backreference" in [found.code for found in caught.value.diagnostics]


def written(choose: random.Random, depth: int) -> str:
    if depth == 0:
        return choose.choice(["a", "b", "x", "[ab]", r"\1", r"\2", r"\1", "(?:a|)", "a?"])
    parts = [written(choose, depth - 1) for _ in range(choose.randint(1, 3))]
    shape = choose.choice(["{}", "{}", "({})", "({})", "(?:{})*", "(?:{})?", "(?:{}|b)"])
    return shape.format("".join(parts))


def test_random_patterns() -> None:
    """What is read means what it does to Python; the rest is refused."""
    choose = random.Random(5)
    n_read = 0
    for _ in range(400):
        pattern = written(choose, 3)
        try:
            re.compile(pattern)
            cfgmask.Grammar.from_regex(pattern)
        except (re.error, GrammarError):
            continue
        if re.search(r"\\[12]", pattern):
            n_read += 1
            check(pattern, "abx", 4)
    assert n_read > 5
