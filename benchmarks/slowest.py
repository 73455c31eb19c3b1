"""The slowest masks of all: each schema with a vocabulary of its own, so that nothing is known before.

A schema one of whose positions takes long is measured again, and each figure is the least of its runs there.

Example: python benchmarks/slowest.py --data maskbench.jsonl.gz --vocab tokenizer.model --clock cpu
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np

from library import cases, measure, peers, report, runner, vocabularies

SCHEMAS = Path(__file__).resolve().parent / "data" / "schemas.jsonl"


@dataclass(frozen=True)
class Slow:
    """One position: the time to fill its mask and to consume the token there, and what the text is up to it."""

    case: str
    microseconds: float
    before: str


@click.command(help=__doc__)
@click.option("--data", type=click.Path(exists=True, path_type=Path), default=SCHEMAS, help="Schemas and their texts.")
@click.option("--only", multiple=True, help="Measure only the schema of this name; may be repeated.")
@click.option("--over", type=float, default=2.5, show_default=True, help="List masks that take so many milliseconds.")
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True)
@runner.json_option
@runner.vocab_option
@runner.limit_option
@runner.clock_option
def main(
    data: Path,
    only: tuple[str, ...],
    over: float,
    runs: int,
    json_path: Path | None,
    vocab: Path,
    limit: int | None,
    clock: str,
) -> None:
    vocabulary = vocabularies.load(vocab)
    chosen = [case for case in cases.sample(cases.read_schemas(data), limit) if not only or case.name in only]
    found = []
    with runner.progress() as bar:
        for case in bar.track(chosen, description="schemas"):
            found += slow_masks(case, vocabulary, measure.CLOCKS[clock], runs, 1e3 * over)
    found.sort(key=lambda slow: -slow.microseconds)
    click.echo(markdown(found))
    if json_path is not None:
        json_path.write_text(json.dumps([asdict(slow) for slow in found]), encoding="utf-8")


def slow_masks(
    case: cases.Case, vocabulary: vocabularies.BenchVocabulary, clock: measure.Clock, runs: int, over: float
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


def _before(case: cases.Case, vocabulary: vocabularies.BenchVocabulary, walk: int, n: int) -> str:
    """The text of the first `n` tokens of a walk."""
    texts = sorted(case.instances, key=lambda i: not i.valid)  # as they are measured
    tokens = vocabulary.encode(texts[walk].text)[:n]
    return b"".join(vocabulary.vocabulary.tokens[token] for token in tokens).decode(errors="replace")


def markdown(found: list[Slow]) -> str:
    rows = [[slow.case, report.number(slow.microseconds), f"`{slow.before[-40:]}`"] for slow in found]
    return report.numbers_table(["schema", "µs", "behind"], rows)


if __name__ == "__main__":
    main()
