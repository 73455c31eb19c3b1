"""What is reported about structural tags, whole and rendered: the sections of `diagnostics.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cfgmask import Grammar, GrammarError, Limits
from cfgmask.tags.lower import MAX_DEPTH
from tests.diagnostic_tables import Section, codes_in, reported, sections

SECTIONS = sections(Path(__file__).with_name("diagnostics.md"), "json")

# Needs content that is nested too deeply; see below.
_NOT_IN_TABLE = {"tag-too-deep"}
# JSON itself is read as that of schemas, whose codes begin otherwise.
_OF_JSON = {"tag-syntax", "tag-duplicate-key"}


@pytest.mark.parametrize("section", SECTIONS, ids=[section.title for section in SECTIONS])
def test_report(section: Section) -> None:
    assert reported(lambda text: Grammar.from_structural_tag(text).notes, section.text) == section.report


def test_every_code_has_a_section() -> None:
    assert (codes_in("tags", "tag") | _OF_JSON) - {section.code for section in SECTIONS} == _NOT_IN_TABLE


def test_what_is_nested_too_deeply() -> None:
    content: dict[str, Any] = {"type": "const_string", "value": "1"}
    for _ in range(MAX_DEPTH + 1):
        content = {"type": "optional", "content": content}
    with pytest.raises(GrammarError) as raised:
        Grammar.from_structural_tag({"format": content}, limits=Limits(max_nesting=10_000))
    assert [found.code for found in raised.value.diagnostics] == ["tag-too-deep"]
