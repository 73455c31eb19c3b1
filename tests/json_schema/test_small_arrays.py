"""Some of the schemas of `small_arrays.py`, and with `--slow` all of them."""

from __future__ import annotations

import itertools
import json

import pytest

import cfgmask
from tests.json_schema import small_arrays
from tests.json_schema.small_arrays import Case, Disagreement


def wrong(every: int, seed: int) -> list[tuple[str, list[Disagreement]]]:
    cases = itertools.islice(small_arrays.cases(seed), seed % every, None, every)
    return [(json.dumps(case.schema), found) for case in cases if (found := list(small_arrays.disagreements(case)))]


def test_some_small_schemas() -> None:
    assert wrong(every=41, seed=2) == []


def test_few_are_refused() -> None:
    """The core does not count all arrays that must differ from each other, or from what stands beside them."""

    def is_refused(case: Case) -> bool:
        try:
            cfgmask.Grammar.from_json_schema(case.schema)
        except cfgmask.GrammarError as error:
            return {problem.code for problem in error.diagnostics} == {"schema-unique-items"}
        return False

    cases = list(itertools.islice(small_arrays.cases(), 0, None, 11))
    refused = [case.schema for case in cases if is_refused(case)]
    assert 0 < len(refused) < len(cases) / 10
    assert all("uniqueItems" in schema for schema in refused)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_all_small_schemas(seed: int) -> None:
    assert wrong(every=1, seed=seed) == []


def test_there_are_thousands_of_schemas() -> None:
    """Arrays with and without equal items, in two drafts, some of which nothing satisfies."""
    cases = list(small_arrays.cases())
    assert len(cases) == len({json.dumps(case.schema) for case in cases}) > 4_500
    assert all(
        sum(keyword in case.schema for case in cases) > 500 for keyword in ("uniqueItems", "$schema", "minItems")
    )


@pytest.mark.parametrize(
    ("schema", "texts", "what"),
    [
        ({"type": "array", "items": {"type": "null"}}, ["[null]", "[]", "[1]"], set()),
        ({"type": "array", "items": {"type": "null"}, "minItems": 1}, ["[null]", "[]", "[1]"], {"not accepted"}),
        ({"type": "array", "items": {"type": ["null", "integer"]}}, ["[1]"], {"accepted", "completed wrongly"}),
        (False, ["[null]", "[]", "[1]"], {"nothing satisfies it"}),
    ],
)
def test_what_is_wrong_is_told(
    schema: object, texts: list[str], what: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge says that arrays of nulls are right, whatever the schema that the grammar is made of."""
    judged = {"type": "array", "items": {"type": "null"}}
    from_schema = small_arrays.cfgmask.Grammar.from_json_schema
    monkeypatch.setattr(small_arrays.cfgmask.Grammar, "from_json_schema", lambda _: from_schema(schema))
    assert {each.what for each in small_arrays.disagreements(Case(judged, texts))} == what
