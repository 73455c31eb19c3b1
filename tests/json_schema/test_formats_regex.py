"""The format `regex`: what it accepts is a pattern to V8 and to the reader of this package."""

from __future__ import annotations

import json
import random
import shutil
import subprocess

import pytest

from cfgmask.json_schema.formats import format_regex
from cfgmask.json_schema.formats.ecma import MAX_DEPTH
from cfgmask.regex.algebra import RegexAlgebra

ALGEBRA = RegexAlgebra()

VALID = [
    *["", "abc", "^a+$", "[a-z0-9_]*", r"\d{3}-\w{2,}", "(a|b)?c", "(?:x(?=y)|z(?!w))*?", r"[\]\\^-]", "[]", "[^]"],
    *["(?<=a+)b", "(?<!a)b", r"\cA", r"\u00e9\x41", "a{0}", "a{2,10}", "a{12,20}", "a{99,100}", "a{9,10}?", "|", "()"],
    *["[-a]", "[a-]", "[--]", "[^-a-c]", r"[\w.-]", r"[\b\-]", "/", "é\n", "[[]", r"https?:\/\/[^\s/$.?#].[^\s]*"],
]
INVALID = [
    *["(", ")", "[", "]", "{", "}", "a{", "a}", "*", "a**", "a{2,1}", "a{12,3}", "a{100,99}", "[b-a]", "[9-0]", "\\"],
    *[r"\a", r"\-", r"\1", r"\u12", r"\x1", r"\c1", "(?i)a", "(?P<n>x)", "(?#c)", "(?=a)*", "^*", r"\b+"],
    *[r"[\w-a]", r"[a-\d]", r"[\1]", "(?", "(?:", "a|*", "(?<n>", r"\p{", r"\k<n>"],
]

# Patterns that are valid and not generated.
LEFT_OUT = [r"(a)\1", "(?<n>x)", r"\p{L}", r"\0", "[%-+]", "a{100,200}", "a{12,12}", "[c-d]", "(?=((a)))"]


def accepts(pattern: str) -> bool:
    tree = format_regex("regex")
    assert tree is not None
    return ALGEBRA.matches(tree, pattern.encode())


@pytest.mark.parametrize("pattern", VALID)
def test_valid(pattern: str) -> None:
    assert accepts(pattern)


@pytest.mark.parametrize("pattern", INVALID + LEFT_OUT)
def test_invalid(pattern: str) -> None:
    assert not accepts(pattern)


def test_groups_nest_to_a_bound() -> None:
    assert accepts("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH)
    assert not accepts("(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1))


PIECES = [
    *["(", "(?:", "(?=", "(?!", "(?<=", "(?<!", ")", "|", "[", "[^", "]", "-", "a", "b", "z", "A", "0", "9", ",", "{"],
    *["}", "{2}", "{2,}", "{1,3}", "{10,9}", "{7,12}", "?", "*", "+", "^", "$", ".", "\\", r"\d", r"\b", r"\B", r"\]"],
    *[r"\u00e9", r"\x41", r"\cJ", r"\/", r"\-", "a-z", "A-Z", "0-9", "é", "/"],
]


def random_patterns() -> list[str]:
    source = random.Random(5)
    found = {"".join(source.choices(PIECES, k=source.randint(1, 9))) for _ in range(20_000)}
    return [*VALID, *(pattern for pattern in sorted(found) if accepts(pattern))]


_JAVASCRIPT = """
const patterns = JSON.parse(require("fs").readFileSync(0, "utf8"));
const isValid = pattern => {
  try { new RegExp(pattern); new RegExp(pattern, "u"); return true; } catch { return false; }
};
console.log(JSON.stringify(patterns.filter(pattern => !isValid(pattern))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_against_v8() -> None:
    patterns = random_patterns()
    assert len(patterns) > 2_000
    assert refused_by_v8(patterns + LEFT_OUT) == []
    assert refused_by_v8(INVALID) == INVALID


def refused_by_v8(patterns: list[str]) -> list[str]:
    node = subprocess.run(
        ["node", "-e", _JAVASCRIPT], input=json.dumps(patterns), capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(node.stdout)
    return found
