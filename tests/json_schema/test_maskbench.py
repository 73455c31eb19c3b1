"""A sample of MaskBench: real schemas with valid and invalid instances."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / ".." / "shared" / "data" / "maskbench-dev.jsonl.gz"
SAMPLE = 200


def benchmark() -> ModuleType:
    """The benchmark, which is a script: its neighbours are imported by their bare names."""
    folder = str(ROOT / "benchmarks")
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("maskbench_correctness", f"{folder}/maskbench_correctness.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="MaskBench is not beside the repository")
def test_a_sample_is_told_right() -> None:
    script = benchmark()
    tally, vocabulary = script.Tally(), script.byte_vocabulary()
    for record in script.read(DATA, SAMPLE):
        script.measure(record, vocabulary, tally)
    assert [m for m in tally.mistakes if not m.what.startswith(script.FAILED)] == []
    assert tally.compiled >= 0.95 * tally.schemas
