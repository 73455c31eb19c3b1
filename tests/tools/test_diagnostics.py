"""What is reported about tools, whole and rendered: the sections of `diagnostics.md`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from cfgmask import Grammar, GrammarError
from cfgmask.diagnostics import Diagnostic
from cfgmask.tools.read import MAX_TOOLS
from cfgmask.tools.style import names
from tests.diagnostic_tables import Section, codes_in, reported, sections

SECTIONS = sections(Path(__file__).with_name("diagnostics.md"), "json")

# These need a function (see test_read.py), and many tools (see below).
_NOT_IN_TABLE = {"tools-signature", "tools-too-many"}


def notes_of(arguments: str) -> Iterable[Diagnostic]:
    return Grammar.from_tools(**json.loads(arguments)).notes


@pytest.mark.parametrize("section", SECTIONS, ids=[section.title for section in SECTIONS])
def test_report(section: Section) -> None:
    assert reported(notes_of, section.text) == section.report.replace("{styles}", ", ".join(names()))


def test_every_code_has_a_section() -> None:
    assert codes_in("tools", "tools") - {section.code for section in SECTIONS} == _NOT_IN_TABLE


def test_too_many_tools() -> None:
    with pytest.raises(GrammarError) as raised:
        Grammar.from_tools([{"name": "f"}] * (MAX_TOOLS + 1), style="hermes")
    assert [found.code for found in raised.value.diagnostics] == ["tools-too-many"]
