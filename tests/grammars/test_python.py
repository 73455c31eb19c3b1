"""A sample of what `python_stdlib.py` does: files of the standard library and mutations of them, beside Lark."""

from __future__ import annotations

import random
import sysconfig
from functools import cache
from pathlib import Path

import pytest

from tests.grammars.python_stdlib import GOOD, compare, in_cfgmask, in_lark, mutated, texts

FILES = ["antigravity.py", "bisect.py", "colorsys.py", "contextlib.py", "keyword.py", "sched.py", "types.py"]


@cache
def library() -> dict[str, str]:
    return dict(texts(Path(sysconfig.get_path("stdlib")), 40_000, "*.py"))


@pytest.mark.parametrize("name", FILES)
def test_files_are_accepted(name: str) -> None:
    text = library()[name]
    assert in_lark(text) is None
    assert in_cfgmask(text) is None


@pytest.mark.parametrize("seed", range(60))
def test_mutated_files_are_refused_where_lark_refuses_them(seed: int) -> None:
    rng = random.Random(seed)
    lines = library()[rng.choice(FILES)].splitlines(keepends=True)
    text = mutated("".join(lines[: rng.randrange(5, 80)]) + "\n", rng)
    lark, ours = in_lark(text), in_cfgmask(text)
    assert compare(text, lark, ours) in GOOD, (lark, ours, text)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n  # indented comment\n",
        "if x:\n    y\n# outside\n    z\n",
        "if x:\n\ty\n        z\n",
        "x = [1,\n# comment\n2]\n",
        "x = # comment\n",
        "x = 1 \\\n    + 2\n",
        "if x:\n    y\n\f\nz\n",
        "if x:\n    y\n\f\n    z\n",
        "(\n)\n  x\n",
        "x = '''\n  a\n'''\n y\n",
        "print(1if 2 else 3)\n",
        "x.if = else\n",
        "for = 1\n",
        "a\r\nif b:\r\n  c\r\n",
        "\n  \n\n x\n",
        "  x\ny\n",
        "async = 1\n",
        "0_0 + 00 + 1__0\n",
        "'''a''''b'\n",
        "f(**a, *b)\n",
        "x = (\n",
    ],
)
def test_texts_that_are_hard_to_cut(text: str) -> None:
    assert compare(text, in_lark(text), in_cfgmask(text)) in GOOD


def test_the_lexer_never_backs_up() -> None:
    """`2e` may be a number that goes on: to Lark's regexes it is `2` and the rest of `else`."""
    text = "print(1if 2else 3)\n"
    assert in_lark(text) is None
    assert in_cfgmask(text) == text.index("lse")
