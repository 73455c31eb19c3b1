"""What is reported about grammars, whole and rendered: the sections of `diagnostics.md`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cfgmask import GrammarError
from cfgmask.gbnf import parse_gbnf

TABLE = Path(__file__).with_name("diagnostics.md")
_SECTION = re.compile(r"^## ([^\n]*)\n\n```gbnf\n(.*?)\n```\n\n```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_SPECIAL = {"(nothing)": "", "{NUL}": "\0"}

# Needs a hundred errors; see test_hostile.py.
_NOT_IN_TABLE = {"gbnf-too-many-errors"}


def sections() -> list[tuple[str, str, str]]:
    """Title, grammar and report of each section."""
    return _SECTION.findall(TABLE.read_text("utf-8"))


def reported(grammar: str) -> str:
    for shown, meant in _SPECIAL.items():
        grammar = grammar.replace(shown, meant)
    try:
        found = parse_gbnf(grammar, name="g.gbnf").notes
    except GrammarError as error:
        found = error.diagnostics
    return "\n".join(diagnostic.render() for diagnostic in found)


@pytest.mark.parametrize(("grammar", "report"), [pytest.param(g, r, id=title) for title, g, r in sections()])
def test_report(grammar: str, report: str) -> None:
    assert reported(grammar) == report


def test_every_section_is_read() -> None:
    assert len(sections()) == TABLE.read_text("utf-8").count("\n## ")


def test_every_code_has_a_section() -> None:
    package = Path(__file__).parents[2] / "cfgmask" / "gbnf"
    sources = "\n".join(path.read_text("utf-8") for path in package.glob("*.py"))
    codes = set(re.findall(r'"(gbnf-[a-z-]*[a-z])"', sources))
    shown = {title.partition(":")[0] for title, _, _ in sections()}
    assert codes - shown == _NOT_IN_TABLE
    assert {title for title in shown if title.startswith("gbnf-")} <= codes
