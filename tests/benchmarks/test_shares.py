"""What the benchmarks say about masks, on grammars whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import cfgmask
from tests.scripts import benchmark

BYTES = cfgmask.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b"<end>"], eos_token_id=256)
MASKS = benchmark("masks")
shares = MASKS.shares


def words(*allowed: int) -> np.ndarray:
    mask = np.zeros(100, dtype=np.int32)
    for token in allowed:
        mask[token >> 5] |= np.array(1 << (token & 31), dtype=np.uint32).astype(np.int32)
    return mask


@pytest.mark.parametrize(
    ("allowed", "density"),
    [
        ((), "one token or none"),
        ((31,), "one token or none"),
        ((0, 31, 3199), "below 0.1%"),
        (range(32), "0.1% to 1%"),
        (range(33), "1% to 10%"),
        (range(2880), "10% to 90%"),
        (range(2881), "above 90%"),
    ],
)
def test_density(allowed: tuple[int, ...], density: str) -> None:
    assert shares.density(words(*allowed)) == density


def test_how_a_mask_was_answered() -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("[a-c]{40}"), BYTES)
    matcher, mask = compiled.matcher(), words()
    said = []
    for _ in range(2):
        before = compiled.stats()
        matcher.fill_mask(mask)
        said.append(shares.answered(before, compiled.stats()))
    assert said[0] in shares.ANSWERS[2:]
    assert said[1] == shares.REMEMBERED


def test_shares_are_printed() -> None:
    arguments = ["--limit", "2", "--engine", "cfgmask", "--shares"]
    result = CliRunner().invoke(MASKS.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    rows = [line.split("|")[1:4] for line in result.stdout.splitlines() if line.startswith("|") and "%" in line]
    names = {name.strip() for name, _positions, _time in rows}
    assert names <= {*shares.ANSWERS, *shares.DENSITIES}
    assert shares.REMEMBERED in names
    for kinds in (shares.ANSWERS, shares.DENSITIES):
        assert sum(float(row[1].strip(" %")) for row in rows if row[0].strip() in kinds) == pytest.approx(100, abs=1)
