"""The slowest masks of all: each case with a vocabulary of its own, so that nothing is known before.

A case one of whose positions takes long is measured again, and each figure is the least of its runs there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from library import measure, peers, report, vocabularies
from library.cases import Case


@dataclass(frozen=True)
class Slow:
    """One position: the time to fill its mask and to consume the token there, and what the text is up to it."""

    case: str
    microseconds: float
    before: str


def slow_masks(
    case: Case, vocabulary: vocabularies.BenchVocabulary, clock: measure.Clock, runs: int, over: float
) -> list[Slow]:
    """The positions of a case that take at least `over` microseconds in each run; a run with none is the last one."""
    least = np.array([])
    for run in range(runs):
        own = vocabularies.anew(vocabulary)
        (row,) = measure.run([peers.CfgmaskEngine(own)], [case], own, clock)
        walks = row[peers.CfgmaskEngine.name].walks
        times = np.array([t for walk in walks for t in walk.nanoseconds]) / 1e3
        least = np.minimum(least, times) if run else times
        if not (least >= over).any():
            return []
    places = [(walk, n) for walk, times in enumerate(walks) for n in range(len(times.nanoseconds))]
    return [
        Slow(case.name, float(least[i]), _before(case, vocabulary, *places[i])) for i in np.flatnonzero(least >= over)
    ]


def _before(case: Case, vocabulary: vocabularies.BenchVocabulary, walk: int, n: int) -> str:
    """The text of the first `n` tokens of a walk."""
    texts = sorted(case.instances, key=lambda i: not i.valid)  # as they are measured
    tokens = vocabulary.encode(texts[walk].text)[:n]
    return b"".join(vocabulary.vocabulary.tokens[token] for token in tokens).decode(errors="replace")


def markdown(found: list[Slow]) -> str:
    rows = [[slow.case, report.number(slow.microseconds), f"`{slow.before[-40:]}`"] for slow in found]
    return report.numbers_table(["case", "µs", "after"], rows)
