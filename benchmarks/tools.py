"""From a list of tools to the first mask, for every style, beside one schema of the same arguments.

The schema is an object with the name of a tool and its arguments, one alternative a tool. Times are the thread's own,
the least of several, with everything imported and the caches of the process warm.

Example: python benchmarks/tools.py --vocab tokenizer.gguf --tools 128 --parameters 12
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any

import click
import numpy as np

import cfgmask
import vocabularies
from cfgmask.tools import style as styles

SCHEMAS: tuple[dict[str, Any], ...] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "boolean"},
    {"type": "array", "items": {"type": "string"}},
    {"enum": ["low", "middle", "high"]},
    {"type": "number"},
)


def tool(number: int, n_parameters: int) -> dict[str, Any]:
    """A tool, half of whose parameters are required."""
    names = [f"parameter_{number}_{i}" for i in range(n_parameters)]
    parameters = {
        "type": "object",
        "properties": {name: SCHEMAS[i % len(SCHEMAS)] for i, name in enumerate(names)},
        "required": names[::2],
        "additionalProperties": False,
    }
    described = {"name": f"tool_{number}", "description": "Does something. " * 6, "parameters": parameters}
    return {"type": "function", "function": described}


def one_schema(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The same arguments as one schema."""

    def call(function: dict[str, Any]) -> dict[str, Any]:
        properties = {"name": {"const": function["name"]}, "arguments": function["parameters"]}
        required = ["name", "arguments"]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    return {"anyOf": [call(one["function"]) for one in tools]}


def milliseconds(make: Callable[[], cfgmask.Grammar], vocabulary: cfgmask.Vocabulary, repeats: int) -> float:
    """The least time to the first mask."""
    bits = np.zeros((vocabulary.n_vocab + 31) // 32, np.int32)
    times = []
    for _ in range(repeats):
        start = thread_time()
        grammar = make()
        matcher = cfgmask.compile(grammar, vocabulary).matcher()
        matcher.fill_mask(bits)
        times.append(thread_time() - start)
        del grammar, matcher
    return min(times) * 1e3


@click.command(help=__doc__)
@click.option("--vocab", required=True, type=click.Path(path_type=Path), help="A tokenizer, as for masks.py.")
@click.option("--tools", "n_tools", default=128, show_default=True)
@click.option("--parameters", "n_parameters", default=12, show_default=True)
@click.option("--style", "chosen", multiple=True, help="Styles to measure; all of them if left out.")
@click.option("--repeats", default=20, show_default=True)
def main(vocab: Path, n_tools: int, n_parameters: int, chosen: tuple[str, ...], repeats: int) -> None:
    """Print a row for each style."""
    vocabulary = vocabularies.load(vocab).vocabulary
    tools = [tool(number, n_parameters) for number in range(n_tools)]
    schema = one_schema(tools)
    gc.disable()
    click.echo(f"{'style':20} {'schema ms':>10} {'tools ms':>10} {'times':>6}")
    for name in chosen or styles.names():
        # Each beside the schema, since other programs make the machine slower for a while.
        alone = milliseconds(lambda: cfgmask.Grammar.from_json_schema(schema), vocabulary, repeats)
        together = milliseconds(lambda name=name: cfgmask.Grammar.from_tools(tools, style=name), vocabulary, repeats)
        gc.collect()
        click.echo(f"{name:20} {alone:10.2f} {together:10.2f} {together / alone:6.2f}")


if __name__ == "__main__":
    main()
