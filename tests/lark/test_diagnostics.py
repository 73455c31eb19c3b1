"""What is reported about grammars, whole and rendered: the sections of `diagnostics.md`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cfgmask import GrammarError
from cfgmask.lark import parse_lark

TABLE = Path(__file__).with_name("diagnostics.md")
_SECTION = re.compile(r"^## ([^\n]*)\n\n```lark\n(.*?)\n```\n\n```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_SPECIAL = {"(nothing)": "", "{NUL}": "\0"}

# Needs a hundred errors; see test_hostile.py.
_NOT_IN_TABLE = {"lark-too-many-errors"}


def sections() -> list[tuple[str, str, str]]:
    """Title, grammar and report of each section."""
    return _SECTION.findall(TABLE.read_text("utf-8"))


def reported(grammar: str) -> str:
    for shown, meant in _SPECIAL.items():
        grammar = grammar.replace(shown, meant)
    try:
        found = parse_lark(grammar, name="g.lark").notes
    except GrammarError as error:
        found = error.diagnostics
    return "\n".join(diagnostic.render() for diagnostic in found)


@pytest.mark.parametrize(("grammar", "report"), [pytest.param(g, r, id=title) for title, g, r in sections()])
def test_report(grammar: str, report: str) -> None:
    assert reported(grammar) == report


def test_every_section_is_read() -> None:
    assert len(sections()) == TABLE.read_text("utf-8").count("\n## ")


def test_every_code_has_a_section() -> None:
    package = Path(__file__).parents[2] / "cfgmask" / "lark"
    sources = "\n".join(path.read_text("utf-8") for path in package.glob("*.py"))
    codes = set(re.findall(r'"(lark-[a-z-]*[a-z])"', sources))
    codes |= {f"lark-unsupported-{what}" for what in re.findall(r'_unsupported\(\s*"([a-z-]+)"', sources)}
    codes |= {"lark-unknown-rule", "lark-unknown-terminal"}
    shown = {title.partition(":")[0] for title, _, _ in sections()}
    assert codes - shown == _NOT_IN_TABLE
    assert {title for title in shown if title.startswith("lark-")} <= codes
