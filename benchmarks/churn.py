"""Many different schemas in one process, each let go after its text: whether memory and speed stay as they are.

Example: python benchmarks/churn.py --schemas 100000 --vocab tokenizer.model
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from library import command_line, measure, peers, report, vocabularies
from library.memory import resident_kilobytes
from library.variations import variation

# Schemas between two looks at what is resident, which take a while.
_BETWEEN_LOOKS = 250


@dataclass(frozen=True)
class Sample:
    """After so many schemas: the most that was resident since the sample before, and the times, in microseconds.

    What is shared by grammars grows up to a bound and is then begun anew, so what is resident goes up and down.

    refused  schemas since then that did not compile, or whose text was not accepted
    """

    schemas: int
    resident_kilobytes: float
    refused: int
    first_mask_us: dict[str, float]
    tbm_us: dict[str, float]


def run(
    engine: peers.Engine, n: int, samples: int, vocabulary: vocabularies.BenchVocabulary, clock: measure.Clock
) -> Iterator[Sample]:
    """At most `samples` samples, evenly spread; the last is after all `n` schemas."""
    first, times, refused, resident = [], [], 0, 0.0
    cases = map(variation, range(n))
    for done, row in enumerate(measure.run([engine], cases, vocabulary, clock), 1):
        result = row[engine.name]
        refused += not result.accepts_all_valid
        first.append(result.first_mask_nanoseconds)
        times += [t for walk in result.walks for t in walk.nanoseconds]
        if done % _BETWEEN_LOOKS == 0 or done == n:
            resident = max(resident, resident_kilobytes())
        if done * samples // n > (done - 1) * samples // n:
            yield Sample(done, resident, refused, report.figures(first), report.figures(times))
            first, times, refused, resident = [], [], 0, 0.0


def markdown(samples: list[Sample]) -> str:
    titles = [
        "schemas",
        "most resident (MB)",
        "first mask p50 (µs)",
        "p99",
        "mask + commit avg (µs)",
        "p50",
        "p99",
        "refused",
    ]
    rows = [
        [
            f"{sample.schemas:,}",
            f"{sample.resident_kilobytes / 1024:,.1f}",
            *(report.number(sample.first_mask_us.get(figure)) for figure in ("p50", "p99")),
            *(report.number(sample.tbm_us.get(figure)) for figure in ("avg", "p50", "p99")),
            str(sample.refused),
        ]
        for sample in samples
    ]
    return report.numbers_table(titles, rows)


@click.command(help=__doc__)
@click.option("--schemas", "n", type=click.IntRange(min=1), default=100_000, show_default=True)
@click.option("--samples", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--engine", "name", type=click.Choice(list(peers.ENGINES)), default="cfgmask", show_default=True)
@command_line.vocab_option
@command_line.clock_option
@command_line.json_option
def main(n: int, samples: int, name: str, vocab: Path, clock: str, json_path: Path | None) -> None:
    vocabulary = vocabularies.load(vocab)
    engine = peers.ENGINES[name](vocabulary)
    taken = []
    with command_line.progress() as bar:
        task = bar.add_task(name, total=n)
        for sample in run(engine, n, samples, vocabulary, measure.CLOCKS[clock]):
            taken.append(sample)
            bar.update(task, completed=sample.schemas)
    click.echo(markdown(taken))
    if json_path is not None:
        json_path.write_text(json.dumps([asdict(sample) for sample in taken]), encoding="utf-8")


if __name__ == "__main__":
    main()
