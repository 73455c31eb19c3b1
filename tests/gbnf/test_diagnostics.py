"""What is reported about grammars, whole and rendered: the sections of `diagnostics.md`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgmask.gbnf import parse_gbnf
from tests.diagnostic_tables import Section, codes_in, reported, sections

SECTIONS = sections(Path(__file__).with_name("diagnostics.md"), "gbnf")

# Needs a hundred errors; see test_hostile.py.
_NOT_IN_TABLE = {"gbnf-too-many-errors"}


@pytest.mark.parametrize("section", SECTIONS, ids=[section.title for section in SECTIONS])
def test_report(section: Section) -> None:
    assert reported(lambda text: parse_gbnf(text, name="g.gbnf").notes, section.text) == section.report


def test_every_code_has_a_section() -> None:
    assert codes_in("gbnf", "gbnf") - {section.code for section in SECTIONS} == _NOT_IN_TABLE
