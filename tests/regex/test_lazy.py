"""Lazy quantifiers in terminals: a repetition ends where the rest of the pattern first matches."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask.errors import GrammarError
from cfgmask.regex import parse_lexeme, parse_regex
from cfgmask.regex.algebra import RegexAlgebra


def texts(alphabet: str, longest: int) -> list[str]:
    return ["".join(letters) for n in range(longest + 1) for letters in product(alphabet, repeat=n)]


def language(pattern: str, candidates: list[str], flags: str = "") -> list[str]:
    """The texts that are a lexeme with nothing around it."""
    algebra = RegexAlgebra()
    trees = [
        case.tree
        for case in parse_lexeme(pattern, flags=flags)
        if all(side is None or algebra.matches(side, b"") for side in (case.before, case.after))
    ]
    return [text for text in candidates if any(algebra.matches(tree, text.encode()) for tree in trees)]


def found_by_re(pattern: str, candidates: list[str], flags: int = 0) -> list[str]:
    """The texts of which the first match is the whole."""
    compiled = re.compile(pattern, flags)
    return [text for text in candidates if (match := compiled.match(text)) and match.end() == len(text)]


# Patterns whose rounds are told apart by their length, and the characters of texts up to a length.
SAME_AS_RE = {
    "a quoted string": ('".*?"', '"a\n', 6),
    "nothing behind": ("a+?", "ab", 4),
    "nothing behind, and nothing needed": ("ba*?", "ab", 4),
    "counts": ("a{2,4}?b?", "ab", 6),
    "lazy and optional": ("a??b", "ab", 4),
    "lazy and optional, with the same behind it": ("a??ab?", "ab", 4),
    "a longer end": ("<.*?-->", "<->", 7),
    "an end that overlaps itself": ("a.*?aba", "ab", 9),
    "two of them": ("a.*?b.*?a", "ab", 8),
    "in alternatives": ("(?:a.*?b|b.*?a)", "ab", 7),
    "in a repetition": ("(?:a.*?b)+", "ab", 8),
    "one in the other": ("(?:a.*?b)*?c", "abc", 6),
    "in an optional group": ("(?:a.*?b)?c", "abc", 6),
    "comments": (r"/\*[\s\S]*?\*/", "/*a", 8),
    "an escaped end": (r'"(?:\\.|[^\\])*?"', '"\\a', 6),
    "with lookbehind": (r'".*?(?<!\\)(\\\\)*?"', '"\\a', 8),
    "with lookahead inside": ("a(?!b).*?b", "abc", 6),
    "an anchor behind": ("a.*?$", "ab\n", 5),
    "a class": ("[ab]*?b", "ab", 6),
    "in lookahead it means nothing": ("(?=a.*?c)[abc]*c", "abc", 4),
}


@pytest.mark.parametrize("name", SAME_AS_RE)
def test_same_as_re(name: str) -> None:
    pattern, alphabet, longest = SAME_AS_RE[name]
    candidates = texts(alphabet, longest)
    found = language(pattern, candidates)
    assert found == found_by_re(pattern, candidates)
    assert found


LONG_STRING = r'''([ubf]?r?|r[ubf])(""".*?(?<!\\)(\\\\)*?"""|\'\'\'.*?(?<!\\)(\\\\)*?\'\'\')'''.replace(r"\'", "'")


def test_long_strings_of_python() -> None:
    candidates = ['"""' + text + end for text in texts('"\\a', 6) for end in ("", '"""')]
    candidates += ["rB'''" + text + "'''" for text in texts("'\n\\", 5)]
    found = language(LONG_STRING, candidates, "is")
    assert found == found_by_re(LONG_STRING, candidates, re.IGNORECASE | re.DOTALL)
    assert len(found) > 100


class_of = st.sampled_from(["a", "b", "[ab]", "[^a]", "."])
assertions = ["(?=a)", "(?!b)", "(?<=a)", "(?<!b)"]
fixed = st.one_of(class_of, st.sampled_from(["ab", "(?:ab|ba)", "(?:a|b)", *assertions]))
lazy = st.tuples(class_of, st.sampled_from(["*?", "+?", "??", "{1,3}?", "{2,}?"])).map("".join)


@given(st.lists(st.one_of(fixed, lazy, lazy), min_size=1, max_size=5).map("".join))
def test_random_sequences_are_the_same_as_in_re(pattern: str) -> None:
    candidates = texts("ab\n", 5)
    assert language_if_supported(pattern, candidates) in (None, found_by_re(pattern, candidates))


def language_if_supported(pattern: str, candidates: list[str]) -> list[str] | None:
    """None where an assertion looks beyond the pattern."""
    try:
        return language(pattern, candidates)
    except GrammarError:
        return None


# The definition, by all matches: a node gives the ends of its matches from a place, when `rest` gives those of what
# follows. Greedy repetition and alternatives give all there are.
Rest: TypeAlias = Callable[[int], frozenset[int]]
Tree: TypeAlias = tuple[object, ...]


def ends(tree: Tree, text: str, place: int, rest: Rest) -> frozenset[int]:
    match tree:
        case ("text", str(wanted)):
            return rest(place + len(wanted)) if text.startswith(wanted, place) else frozenset()
        case ("sequence", *parts):
            if not parts:
                return rest(place)
            return ends(parts[0], text, place, lambda at: ends(("sequence", *parts[1:]), text, at, rest))
        case ("choice", *parts):
            return frozenset().union(*(ends(part, text, place, rest) for part in parts))
        case ("repeat", body, int(minimum), maximum, bool(is_lazy)):
            stop = rest(place) if minimum == 0 else frozenset[int]()
            if maximum == 0 or (is_lazy and stop):
                return stop
            following = ("repeat", body, max(minimum - 1, 0), None if maximum is None else maximum - 1, is_lazy)
            # Once a round had no text, the others need none.
            again = ends(body, text, place, lambda at: ends(following, text, at, rest) if at > place else rest(at))
            return stop | again
    raise TypeError(tree)


def pattern_of(tree: Tree) -> str:
    match tree:
        case ("text", str(wanted)):
            return wanted
        case ("sequence", *parts):
            return "".join(map(pattern_of, parts))
        case ("choice", *parts):
            return f"(?:{'|'.join(map(pattern_of, parts))})"
        case ("repeat", body, minimum, maximum, is_lazy):
            return f"(?:{pattern_of(body)}){{{minimum},{'' if maximum is None else maximum}}}{'?' * is_lazy}"
    raise TypeError(tree)


def grown(parts: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    several = st.lists(parts, min_size=2, max_size=3)
    counts = st.sampled_from([(0, None), (1, None), (0, 1)])
    return st.one_of(
        several.map(lambda found: ("sequence", *found)),
        several.map(lambda found: ("choice", *found)),
        st.builds(lambda part, count, lazily: ("repeat", part, *count, lazily), parts, counts, st.booleans()),
    )


trees = st.recursive(st.sampled_from(["a", "b", "ab", "ba"]).map(lambda text: ("text", text)), grown, max_leaves=6)


@given(trees)
def test_random_patterns_mean_what_is_defined(tree: Tree) -> None:
    candidates = texts("ab", 6)
    wanted = [text for text in candidates if len(text) in ends(tree, text, 0, lambda at: frozenset([at]))]
    assert language_if_supported(pattern_of(tree), candidates) in (None, wanted), pattern_of(tree)


def test_as_a_whole_text_lazy_is_greedy() -> None:
    tree = parse_regex('".*?"', context="text")
    assert RegexAlgebra().matches(tree, b'"a"b"')


REFUSED = {
    "(?:a.*?b){2,3}c": "regex-lazy-in-count",
    ".*?a" * 200: "regex-lazy-too-many",
    "a*?" * 100_000: "regex-lazy-too-many",
}


@pytest.mark.parametrize(("pattern", "code"), REFUSED.items())
def test_refused(pattern: str, code: str) -> None:
    with pytest.raises(GrammarError) as caught:
        parse_lexeme(pattern)
    assert [problem.code for problem in caught.value.diagnostics] == [code]


def test_of_a_large_pattern_no_more_is_read_than_says_that_it_is_refused() -> None:
    # What follows is wrong, which would be said as well.
    with pytest.raises(GrammarError) as caught:
        parse_lexeme("a*?b" * 250_000 + "(")
    assert [problem.code for problem in caught.value.diagnostics] == ["regex-lazy-too-many"]
