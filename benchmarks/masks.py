"""Masks and first masks over JSON Schemas or Lark grammars, each installed engine beside cfgmask in one process.

Engines alternate case by case over one vocabulary, and their answers are counted in the same run.

Example: python benchmarks/masks.py --data maskbench.jsonl.gz --vocab tokenizer.model --limit 500 --json out.json
"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict
from pathlib import Path

import click

from library import command_line, growing_cases, measure, peers, report, shares, slowest, vocabularies
from library.cases import SCHEMAS, Case, read_grammars, read_schemas, sample
from library.memory import memory_of_grammars

ROOT = Path(__file__).resolve().parent.parent
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command(help=__doc__)
@command_line.data_option
@click.option(
    "--grammars",
    type=_FOLDER,
    is_flag=False,
    flag_value=str(ROOT / "grammars"),
    metavar="[FOLDER]",
    help="Measure Lark grammars instead: the .lark files here that the tables name; by default those of grammars/.",
)
@click.option(
    "--tables",
    type=_FOLDER,
    default=ROOT / "tests" / "grammars",
    help='With --grammars: a folder of .json files, {"grammar": "NAME.lark", "accept": [texts], "refuse": [texts]}.',
)
@click.option(
    "--long",
    "n_bytes",
    type=click.IntRange(min=0),
    default=100_000,
    show_default=True,
    help="With --grammars: size of an arithmetic text that is measured too; 0 for none.",
)
@click.option("--only", multiple=True, help="Measure only the case of this name; may be repeated.")
@command_line.limit_option
@command_line.vocab_option
@command_line.engine_option
@command_line.clock_option
@click.option("--memory", "with_memory", is_flag=True, help="Measure memory too, each engine in a process of its own.")
@click.option("--shares", "with_shares", is_flag=True, help="Say how cfgmask's masks were answered.")
@click.option(
    "--slowest",
    "slow_milliseconds",
    type=float,
    is_flag=False,
    flag_value=2.5,
    metavar="[MS]",
    help="Only list cfgmask's masks that take at least so many milliseconds; 2.5 by default. "
    "Each case has a vocabulary of its own, so that nothing is known before.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="With --slowest: runs that a mask must be slow in; each figure is the least of them.",
)
@click.option(
    "--plot",
    "plot_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw how many take how long, with matplotlib, in the format that the file's ending names.",
)
@command_line.json_option
def main(
    data: Path,
    grammars: Path | None,
    tables: Path,
    n_bytes: int,
    only: tuple[str, ...],
    limit: int | None,
    vocab: Path,
    engine_names: tuple[str, ...],
    clock: str,
    with_memory: bool,
    with_shares: bool,
    slow_milliseconds: float | None,
    runs: int,
    plot_path: Path | None,
    json_path: Path | None,
) -> None:
    """Print Markdown tables on stdout; progress goes to stderr."""
    if grammars is not None and data != SCHEMAS:
        raise click.UsageError("--data and --grammars exclude each other")
    if plot_path is not None and importlib.util.find_spec("matplotlib") is None:
        raise click.UsageError("--plot needs matplotlib: pip install 'cfgmask[bench]'")
    cases = read_schemas(data) if grammars is None else _lark_cases(grammars, tables, n_bytes)
    chosen = sample([case for case in cases if not only or case.name in only], limit)
    vocabulary = vocabularies.load(vocab)
    if slow_milliseconds is not None:
        found = _slowest(chosen, vocabulary, measure.CLOCKS[clock], runs, slow_milliseconds)
        click.echo(slowest.markdown(found))
        _write([asdict(slow) for slow in found], json_path)
        return
    engines = peers.make(engine_names, vocabulary)
    results = _results(chosen, vocabulary, engines, measure.CLOCKS[clock], shares.notes if with_shares else None)
    sizes = {e.name: memory_of_grammars(e.name, vocab, chosen) for e in engines} if with_memory else {}
    summary = report.summarise(results, sizes)
    click.echo(f"Vocabulary: {vocabulary.name}, {vocabulary.vocabulary.n_vocab:,} tokens.\n")
    click.echo(report.markdown(summary))
    own = peers.CfgmaskEngine.name
    if with_shares and own in summary["engines"]:
        click.echo(f"\n{shares.markdown([row[own] for row in results])}")
    if plot_path is not None:
        report.save_plot(results, plot_path)
    rows = [{name: asdict(result) for name, result in row.items()} for row in results]
    _write({"summary": summary, "results": rows}, json_path)


def _lark_cases(grammars: Path, tables: Path, n_bytes: int) -> list[Case]:
    return [*read_grammars(grammars, tables), *([growing_cases.sums(n_bytes)] if n_bytes else [])]


def _results(
    cases: list[Case],
    vocabulary: vocabularies.BenchVocabulary,
    engines: list[peers.Engine],
    clock: measure.Clock,
    notes: measure.Notes | None,
) -> list[dict[str, measure.Result]]:
    """The result of each case by engine, the engines in the order that was asked for."""
    names = [engine.name for engine in engines]
    results = []
    with command_line.progress() as bar:
        task = bar.add_task(" beside ".join(names), total=len(cases))
        for row in measure.run(engines, cases, vocabulary, clock, notes):
            results.append({name: row[name] for name in names})
            bar.advance(task)
    return results


def _slowest(
    cases: list[Case],
    vocabulary: vocabularies.BenchVocabulary,
    clock: measure.Clock,
    runs: int,
    milliseconds: float,
) -> list[slowest.Slow]:
    with command_line.progress() as bar:
        tracked = bar.track(cases, description="cases")
        found = [slow for c in tracked for slow in slowest.slow_masks(c, vocabulary, clock, runs, 1e3 * milliseconds)]
    return sorted(found, key=lambda slow: -slow.microseconds)


def _write(figures: object, path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
