"""What the benchmark commands share: their options, the progress bar, and writing what was found."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import cfgmask.demo
from library import measure, peers, plot, report, shares, vocabularies
from library.cases import Case, sample
from library.memory import memory_of_grammars

Command = Callable[..., None]

json_option = click.option(
    "--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write every figure here."
)
clock_option = click.option(
    "--clock",
    type=click.Choice(list(measure.CLOCKS)),
    default="wall",
    show_default=True,
    help="What to time by; cpu on a machine that does other work too.",
)
limit_option = click.option(
    "--limit", type=click.IntRange(min=1), help="Measure at most this many cases, evenly spread."
)
engine_option = click.option(
    "--engine",
    "engine_names",
    type=click.Choice(list(peers.ENGINES)),
    multiple=True,
    help="An engine to measure; may be repeated; by default all that are installed.",
)
vocab_option = click.option(
    "--vocab",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=cfgmask.demo.model_path,
    help="A .gguf file, or Llama 3's tokenizer.model; by default the model that ships with cfgmask.",
)


def options(command: Command) -> Command:
    """The options that every comparison has; `run_cases` takes them as they are."""
    memory = click.option("--memory", is_flag=True, help="Measure memory too, each engine in a process of its own.")
    shares_option = click.option("--shares", "with_shares", is_flag=True, help="Say how cfgmask's masks were answered.")
    plot_option = click.option(
        "--plot",
        "plot_path",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Draw how many take how long, with matplotlib, in the format that the file's ending names.",
    )
    for option in (
        json_option,
        plot_option,
        shares_option,
        memory,
        clock_option,
        limit_option,
        engine_option,
        vocab_option,
    ):
        command = option(command)
    return command


def run_cases(
    cases: list[Case],
    *,
    vocab: Path,
    engine_names: tuple[str, ...],
    limit: int | None,
    clock: str,
    memory: bool,
    with_shares: bool,
    plot_path: Path | None,
    json_path: Path | None,
) -> None:
    """Measure, and print a Markdown table on stdout; progress goes to stderr."""
    if plot_path is not None and importlib.util.find_spec("matplotlib") is None:
        raise click.UsageError("--plot needs matplotlib: pip install 'cfgmask[bench]'")
    vocabulary = vocabularies.load(vocab)
    engines = peers.make(engine_names, vocabulary)
    chosen = sample(cases, limit)
    notes = shares.notes if with_shares else None
    results = []
    with progress() as bar:
        task = bar.add_task(" beside ".join(engine.name for engine in engines), total=len(chosen))
        for row in measure.run(engines, chosen, vocabulary, measure.CLOCKS[clock], notes):
            results.append({engine.name: row[engine.name] for engine in engines})
            bar.advance(task)
    sizes = {e.name: memory_of_grammars(e.name, vocab, chosen) for e in engines} if memory else {}
    summary = report.summarise(results, sizes)
    click.echo(f"Vocabulary: {vocabulary.name}, {vocabulary.vocabulary.n_vocab:,} tokens.\n")
    click.echo(report.markdown(summary))
    own = peers.CfgmaskEngine.name
    if with_shares and own in summary["engines"]:
        click.echo(f"\n{shares.markdown([row[own] for row in results])}")
    if plot_path is not None:
        plot.save(results, plot_path)
    if json_path is not None:
        rows = [{name: asdict(result) for name, result in row.items()} for row in results]
        json_path.write_text(json.dumps({"summary": summary, "results": rows}), encoding="utf-8")


def progress() -> Progress:
    """A bar on stderr."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(file=sys.stderr))
