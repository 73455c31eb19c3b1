"""The programs that measure growth run on small sizes, and their cases are what they say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import cfgmask
from tests.scripts import benchmark

SCALING = benchmark("scaling")
CASES, SCHEMAS, RANDOM = SCALING.growing_cases, SCALING.large_schemas, SCALING.random_cases
TOOLS = benchmark("tools")
SMALL = SCALING.vocabularies.synthetic(600)


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (["vocabulary", "--size", "400", "--size", "500", "--limit", "1", "--engine", "cfgmask"], 2),
        (["grammar", "--size", "3", "--engine", "cfgmask"], 1),
        (["grammar", "--rules", "--size", "3", "--engine", "cfgmask"], 1),
        (["schema", "--bytes", "2000", "--repeat", "1"], len(SCHEMAS.SHAPES)),
        (["blocks", "--limit", "2", "--repeat", "1"], 1 + len(SCALING.BESIDE)),
        (["text", "--bytes", "200", "--engine", "cfgmask"], 2),
        (["texts", "--texts", "1", "--texts", "2"], 2 * len(RANDOM.SERVED)),
        (["threads", "--rows", "4", "--repeat", "1"], 2),
        (["batches", "--rows", "2", "--shards", "2"], 2),
        (["apply", "--repeat", "1"], len(list(SCALING.logits_of_each_kind(1)))),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_table_comes_out(arguments: list[str], rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SCALING.vocabularies, "load", lambda _: SMALL)
    result = CliRunner().invoke(SCALING.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    table = result.stdout.splitlines()
    assert len(table) == rows + 2
    assert len({line.count("|") for line in table}) == 1
    assert "refused" not in result.stdout


@pytest.mark.long
def test_styles_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TOOLS.vocabularies, "load", lambda _: SMALL)
    arguments = ["--tools", "2", "--parameters", "2", "--repeats", "1", "--style", "hermes"]
    result = CliRunner().invoke(TOOLS.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["style", "hermes"]


@pytest.mark.parametrize(
    "make", [CASES.properties, CASES.optional, CASES.objects, CASES.rules, CASES.records, CASES.sums]
)
def test_growing_cases_are_in_their_languages(make: Any) -> None:
    for size in (1, 7, 300):
        case = make(size)
        read = cfgmask.Grammar.from_lark if case.kind == "lark" else cfgmask.Grammar.from_json_schema
        matcher = cfgmask.compile(read(case.source), SMALL.vocabulary).matcher()
        text = case.instances[0].text.encode()
        assert matcher.advance_bytes(text) == len(text)
        assert matcher.is_accepting


@pytest.mark.parametrize("make", [CASES.records, CASES.sums])
def test_texts_have_about_the_size_that_was_asked_for(make: Any) -> None:
    assert 900 < len(make(1_000).instances[0].text) < 1_100


@pytest.mark.parametrize("shape", SCHEMAS.SHAPES)
def test_schemas_have_about_the_size_that_was_asked_for_and_variations_differ(shape: str) -> None:
    texts = [SCHEMAS.of_bytes(shape, 30_000, variation) for variation in range(2)]
    assert texts[0] != texts[1]
    for text in texts:
        assert 25_000 < len(text) < 35_000
        assert cfgmask.Grammar.from_json_schema(text).lazy is not None


@pytest.mark.parametrize("case", RANDOM.SERVED, ids=lambda case: case.name)
def test_served_texts_are_valid_and_no_two_alike(case: Any) -> None:
    texts = list(case.texts(3, 23))
    assert len(set(texts)) == 20
    assert texts[5:] == list(case.texts(8, 23))
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(case.schema, **case.options), SMALL.vocabulary)
    for text in texts:
        matcher = compiled.matcher()
        assert matcher.advance_bytes(text.encode()) == len(text)
        assert matcher.is_accepting


def test_a_synthetic_vocabulary_writes_what_it_encodes() -> None:
    text = f"{SMALL.vocabulary.tokens[300].decode()}: 12.50 €"
    tokens = SMALL.encode(text)
    assert b"".join(SMALL.vocabulary.tokens[token] for token in tokens).decode() == text
    assert SMALL.vocabulary.n_vocab == 600
    assert tokens[0] == 300


def test_the_median_leaves_out_the_first_call_and_what_comes_before() -> None:
    calls: list[str] = []
    SCALING.microseconds(lambda: calls.append("call"), 2, lambda: calls.append("before"))
    assert calls == ["before", "call"] * 3


def test_each_kind_of_logits_can_be_masked() -> None:
    grammar = cfgmask.Grammar.from_regex("a")
    expected = np.flatnonzero([token == b"a" for token in SMALL.vocabulary.tokens])
    for dtype, layout, logits in SCALING.logits_of_each_kind(SMALL.vocabulary.n_vocab):
        cfgmask.compile(grammar, SMALL.vocabulary).matcher().apply(logits)
        values = np.array([float(value) for value in logits])
        assert np.flatnonzero(values == 0).tolist() == expected.tolist(), (dtype, layout)


def test_churn_samples_evenly_and_lets_everything_go() -> None:
    engine = SCALING.peers.ENGINES["cfgmask"](SMALL)
    samples = list(SCALING.churned(engine, 10, 4, SMALL, SCALING.measure.CLOCKS["wall"]))
    assert [sample.schemas for sample in samples] == [3, 5, 8, 10]
    assert [sample.refused for sample in samples] == [0, 0, 0, 0]
    assert [sample.first_mask_us["count"] for sample in samples] == [3, 2, 3, 2]
    assert SCALING.churn_table(samples).count("\n") == 5


def test_variations_differ_and_repeat() -> None:
    sources = [RANDOM.variation(number).source for number in range(200)]
    assert len(set(sources)) == 200
    assert RANDOM.variation(7) == RANDOM.variation(7)
    assert all(json.loads(source)["type"] == "object" for source in sources)
