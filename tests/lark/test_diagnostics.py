"""What is reported about grammars, whole and rendered: the sections of `diagnostics.md`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import cfgmask
from cfgmask import GrammarError
from cfgmask.diagnostics import Diagnostic
from cfgmask.lark import parse_lark
from tests.lark.engine import VOCABULARY

TABLE = Path(__file__).with_name("diagnostics.md")
_FILE = r"```lark ([\w./-]+)\n(.*?)\n```\n\n"
_SECTION = re.compile(
    rf"^## ([^\n]*)\n\n```lark\n(.*?)\n```\n\n((?:{_FILE})*)```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL
)
_SPECIAL = {"(nothing)": "", "{NUL}": "\0"}

# These need a hundred errors (test_hostile.py), a link (test_imports.py) and a second grammar (test_inner.py).
_NOT_IN_TABLE = {"lark-too-many-errors", "lark-import-outside", "lark-subgrammar-lexer", "lark-subgrammar-indenter"}

# What a vocabulary decides, or what grammars that are put together do.
_WHEN_COMPILED = {"token-unknown", "token-beyond-vocabulary"}


def sections() -> list[tuple[str, str, str]]:
    """Title, grammar and report of each section."""
    return [(title, grammar, report) for title, grammar, _, _, _, report in _SECTION.findall(TABLE.read_text("utf-8"))]


def files() -> dict[str, dict[str, str]]:
    """The files beside the grammars of the sections that have some, by title and path."""
    found = _SECTION.findall(TABLE.read_text("utf-8"))
    return {title: dict(re.findall(_FILE, others, re.DOTALL)) for title, _, others, _, _, _ in found if others}


def reported(grammar: str, folder: Path | None = None, *, compiled: bool = False) -> str:
    try:
        if compiled:
            cfgmask.compile(cfgmask.Grammar.from_lark(grammar, name="g.lark"), VOCABULARY)
        found = parse_lark(_meant(grammar), name="g.lark", folder=folder).notes
    except GrammarError as error:
        found = error.diagnostics
    report = "\n".join(diagnostic.render() for diagnostic in found)
    return report if folder is None else report.replace(f"{folder}{os.sep}", "")


def _meant(text: str) -> str:
    for shown, meant in _SPECIAL.items():
        text = text.replace(shown, meant)
    return text


def write(files: dict[str, str], folder: Path) -> Path:
    """The folder, with files in it."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(_meant(text), "utf-8")
    return folder


@pytest.mark.parametrize(("title", "grammar", "report"), [pytest.param(*s, id=s[0]) for s in sections()])
def test_report(title: str, grammar: str, report: str, tmp_path: Path) -> None:
    beside = files().get(title)
    folder = None if beside is None else write(beside, tmp_path)
    assert reported(grammar, folder, compiled=title.partition(":")[0] in _WHEN_COMPILED) == report


def test_what_to_write_mends_it() -> None:
    mended = set()
    for _, grammar, report in sections():
        if "\n  write: " not in report:
            continue
        for found in diagnostics(grammar):
            if found.fix is not None:
                place = found.fix.span
                corrected = grammar[: place.start] + found.fix.replacement + grammar[place.end :]
                assert (found.code, found.span.start) not in {(d.code, d.span.start) for d in diagnostics(corrected)}
                mended.add(found.code)
    assert mended >= {"lark-unknown-rule", "lark-unknown-terminal", "lark-unknown-directive", "lark-unknown-attribute"}


def diagnostics(grammar: str) -> tuple[Diagnostic, ...]:
    try:
        return parse_lark(grammar, name="g.lark").notes
    except GrammarError as error:
        return tuple(error.diagnostics)


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
