"""Random strings of syntax against the engines: what they refuse is refused, what they read means the same."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import warnings

import pytest

from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.regex import DialectName, parse_regex
from tests.regex.tree_matcher import matches

UNSUPPORTED = {
    f"regex-{name}"
    for name in ("backreference", "atomic-group", "possessive", "conditional", "recursion", "assertions-too-complex")
}

COMMON = [*"aab()[]{}|*+?.^$,-01:=!<>dKs_&\néſ", "(?", "(?:", "[^", "{1,", "{2}", "[a-", "[a-k]", "[^a]", "|"]
COMMON += [r"\x41", r"\d", r"\w", r"\W", r"\S", r"\-", r"\/", r"\0"]
PYTHON = [*COMMON, "(?=", "(?!", r"\b", "(?m)"]
PYTHON += [*"\\#nPix", "(?P<", "(?i", "(?x", "(?i:", "(?s:", "(?-i:", r"\1", r"\012", "(?#"]
ECMA = [*COMMON, "(?<n>", r"\cA", "(?=", "(?!", "(?<=", "(?<!", r"\b", r"\B", "[]", "[^]"]
ECMA_UNICODE = [*ECMA, *"\\ku", r"\u{61}", r"\p{Lu}", r"\P{Lu}", r"\p{L}"]
ECMA_SETS = [*ECMA_UNICODE, "&&", "--", "[a&&", r"[\w--", "[[a-k]&&", "]]", r"\&", "[["]
TEXTS = ["", *"ab0{]-1^AKsſSéÉk_&\n\u212a\u2028", "ab", "aa", "a\n", "ba", "aab"]


def random_patterns(fragments: list[str], count: int) -> list[str]:
    source = random.Random(0)
    return ["".join(source.choices(fragments, k=source.randint(1, 9))) for _ in range(count)]


def read(pattern: str, dialect: DialectName, flags: str, search: bool) -> RegexTree | None:
    """The tree, or None where the syntax is wrong; what is right and not supported skips the pattern."""
    try:
        return parse_regex(pattern, dialect=dialect, flags=flags, context="search" if search else "text")
    except GrammarError as error:
        if {d.code for d in error.diagnostics} & UNSUPPORTED:
            raise NotImplementedError from None
        return None


def compiled(pattern: str) -> re.Pattern[str] | None:
    with warnings.catch_warnings():
        # The first is about sets that a later version may nest, the other about flags that 3.11 refuses.
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return re.compile(pattern)
        except (re.error, OverflowError, DeprecationWarning):
            return None


def test_python_against_re() -> None:
    for pattern in random_patterns(PYTHON, 1000):
        if r"\P" in pattern or "(?<" in pattern:
            continue  # Properties and names in this form are those of `regex`.
        expected = compiled(pattern)
        try:
            whole, found = (read(pattern, "python", "", search) for search in (False, True))
        except NotImplementedError:
            continue
        assert (whole is None) == (expected is None), pattern
        if whole is None or found is None or expected is None:
            continue
        for text in TEXTS:
            assert matches(whole, text) == bool(expected.fullmatch(text)), (pattern, text)
            assert matches(found, text) == bool(expected.search(text)), (pattern, text)


_JAVASCRIPT = """
const [flags, patterns, texts] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const results = patterns.map(pattern => {
  try {
    const found = new RegExp(pattern, flags), whole = new RegExp(`(?<![^])(?:${pattern})(?![^])`, flags);
    return texts.map(text => [whole.test(text), found.test(text)]);
  } catch { return null; }
});
console.log(JSON.stringify(results));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize(
    ("flags", "fragments"),
    [
        *[("", ECMA), ("i", ECMA), ("m", ECMA)],
        *[("u", ECMA_UNICODE), ("imsu", ECMA_UNICODE), ("v", ECMA_SETS), ("iv", ECMA_SETS)],
    ],
)
def test_ecma_against_v8(flags: str, fragments: list[str]) -> None:
    # Octal escapes are refused, where V8 reads them without the flags u and v.
    patterns = [pattern for pattern in random_patterns(fragments, 400) if not re.search(r"\\0\d", pattern)]
    question = json.dumps([flags, patterns, TEXTS])
    node = subprocess.run(["node", "-e", _JAVASCRIPT], input=question, capture_output=True, text=True, check=True)
    for pattern, answers in zip(patterns, json.loads(node.stdout), strict=True):
        try:
            whole, found = (read(pattern, "ecma", flags, search) for search in (False, True))
        except NotImplementedError:
            continue
        assert (whole is None) == (answers is None), pattern
        if whole is None or found is None:
            continue
        for text, (in_whole, in_found) in zip(TEXTS, answers, strict=True):
            assert matches(whole, text) == in_whole, (pattern, text)
            assert matches(found, text) == in_found, (pattern, text)
