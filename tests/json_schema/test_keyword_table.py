"""The table of keyword by engine: its cases are right, cover everything, and cfgmask is exact in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cfgmask.json_schema.drafts import ASSERTIONS
from cfgmask.json_schema.formats import FORMATS
from tests.json_schema import ecma
from tests.json_schema.judge import is_valid
from tests.scripts import benchmark

ROOT = Path(__file__).parents[2]

KEYWORDS = benchmark("keywords")
CASES = KEYWORDS.read()


@pytest.fixture(scope="module")
def outcomes() -> list[Any]:
    return list(KEYWORDS.in_this_process("cfgmask", CASES))


def test_every_keyword_and_format_has_cases() -> None:
    named = {case.name for case in CASES}
    assert set(ASSERTIONS) - named == {"format"}
    assert {f"format: {name}" for name in FORMATS} <= named


@pytest.mark.skipif(not ecma.IS_INSTALLED, reason="node is not installed")
@pytest.mark.parametrize("case", [c for c in CASES if not c.name.startswith("format")], ids=lambda case: case.source)
def test_validator_agrees_with_the_cases(case: Any) -> None:
    """Formats have tests of their own."""
    if "\\p{" in case.source:
        pytest.skip("the metaschema's check of patterns is Python's, which has no properties of Unicode")
    with ecma.ecma_patterns():
        wrong = [i for i in case.instances if is_valid(case.source, i.text) != i.valid]
    assert wrong == []


def test_cfgmask_is_exact(outcomes: list[Any]) -> None:
    assert [(o.case.source, o.why) for o in outcomes if o.verdict != KEYWORDS.EXACT] == []


@pytest.mark.parametrize(
    ("verdicts", "cell"),
    [
        (["exact", "exact"], "exact"),
        (["exact", "refused"], "refused (1 of 2)"),
        (["ignored", "ignored"], "ignored"),
        (["ignored", "refused"], "accepts invalid (1 of 2)"),
        (["rejects valid", "accepts invalid", "ignored"], "accepts invalid (2 of 3)"),
        (["refused", "rejects valid", "exact"], "rejects valid (1 of 3)"),
        (["crash", "exact"], "crash (1 of 2)"),
    ],
)
def test_cells(verdicts: list[str], cell: str) -> None:
    assert KEYWORDS.cell(verdicts) == cell


def test_documentation_has_the_table_of_these_cases(outcomes: list[Any]) -> None:
    page = (ROOT / "docs" / "keywords.md").read_text("utf-8").splitlines()
    for row in KEYWORDS.markdown({"cfgmask": outcomes}).splitlines()[2:]:
        assert any(line.startswith(row) for line in page), row
