"""A sample of MaskBench: real schemas with valid and invalid instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scripts import benchmark

ROOT = Path(__file__).parents[2]
DATA = ROOT / ".." / "shared" / "data" / "maskbench-dev.jsonl.gz"
SAMPLE = 200


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="MaskBench is not beside the repository")
def test_a_sample_is_told_right() -> None:
    script = benchmark("correctness")
    tally, vocabulary = script.Tally(), script.bytewise().vocabulary
    for case in script.sample(script.read_schemas(DATA), SAMPLE):
        script.measure(case, vocabulary, tally)
    assert [m for m in tally.mistakes if not m.what.startswith(script.FAILED)] == []
    assert tally.compiled >= 0.95 * tally.schemas
