"""The grammars that the `lark` package ships with, unchanged: which load, and what keeps the others from it."""

from __future__ import annotations

from importlib.resources import files

import pytest

from cfgmask import GrammarError
from cfgmask.lark import parse_lark

# What a grammar needs beside its text: its start rule, and what its declared terminals are.
BEFORE = {
    "common": "start: SIGNED_NUMBER\n",
    "lark": "",
    "python": 'start: file_input\n%cfgmask {"indenter": true}\n',
    "unicode": "start: WS\n",
}


def codes(name: str) -> set[str]:
    text = files("lark").joinpath(f"grammars/{name}.lark").read_text("utf-8")
    try:
        parse_lark(BEFORE[name] + text)
    except GrammarError as error:
        return {problem.code for problem in error.diagnostics if problem.severity == "error"}
    return set()


@pytest.mark.parametrize("name", BEFORE)
def test_all_load(name: str) -> None:
    assert codes(name) == set()


def test_all_are_tried() -> None:
    shipped = files("lark").joinpath("grammars").iterdir()
    assert {path.name.removesuffix(".lark") for path in shipped if path.name.endswith(".lark")} == set(BEFORE)


IMPORTED = {
    "common": "ESCAPED_STRING C_COMMENT SIGNED_NUMBER CNAME NEWLINE",
    "python": "LONG_STRING FLOAT_NUMBER HEX_NUMBER NAME name",
    "lark": "STRING REGEXP name priority",
    "unicode": "WS WS_INLINE",
}


@pytest.mark.parametrize("module", IMPORTED)
def test_parts_are_imported(module: str) -> None:
    names = IMPORTED[module].split()
    text = f"start: {' | '.join(names)}\n%import {module} ({', '.join(names)})"
    assert parse_lark(text).start == "start"
