"""Options that several commands have, and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import cfgmask.demo
from library import measure, peers
from library.cases import SCHEMAS

Command = Callable[..., None]

data_option = click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    default=SCHEMAS,
    help="A .jsonl or .jsonl.gz file of schemas with texts, or a MaskBench folder; by default a few everyday schemas.",
)
json_option = click.option(
    "--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write every figure here."
)
clock_option = click.option(
    "--clock",
    type=click.Choice(list(measure.CLOCKS)),
    default="wall",
    show_default=True,
    help="The clock to time by; cpu on a machine that does other work too.",
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


def progress() -> Progress:
    """A bar on stderr."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(file=sys.stderr))
