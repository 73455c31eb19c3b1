"""From a list of tools to the first mask, for every style, beside one schema of the same arguments.

The schema is an object with the name of a tool and its arguments, one alternative a tool. Times are the thread's own,
the least of several, with everything imported and the caches of the process warm.

Example: python benchmarks/tools.py --vocab tokenizer.gguf --tools 128 --parameters 12
"""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path
from typing import Any

import click

import cfgmask
from cfgmask.tools import style as styles
from library import command_line, measure, vocabularies

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


@click.command(help=__doc__)
@command_line.vocab_option
@click.option("--tools", "n_tools", default=128, show_default=True)
@click.option("--parameters", "n_parameters", default=12, show_default=True)
@click.option("--style", "chosen", multiple=True, help="Styles to measure; all of them if left out.")
@click.option("--repeats", default=20, show_default=True)
def main(vocab: Path, n_tools: int, n_parameters: int, chosen: tuple[str, ...], repeats: int) -> None:
    """Print a row for each style."""
    vocabulary = vocabularies.load(vocab).vocabulary
    tools = [tool(number, n_parameters) for number in range(n_tools)]
    schema = one_schema(tools)
    now = measure.CLOCKS["cpu"]
    gc.disable()
    click.echo(f"{'style':20} {'schema ms':>10} {'tools ms':>10} {'times':>6}")
    for name in chosen or styles.names():
        # Each beside the schema, since other programs make the machine slower for a while.
        read_schema = partial(cfgmask.Grammar.from_json_schema, schema)
        read_tools = partial(cfgmask.Grammar.from_tools, tools, style=name)
        alone = measure.least_first_mask(read_schema, vocabulary, repeats, now)
        together = measure.least_first_mask(read_tools, vocabulary, repeats, now)
        gc.collect()
        click.echo(f"{name:20} {alone / 1e6:10.2f} {together / 1e6:10.2f} {together / alone:6.2f}")


if __name__ == "__main__":
    main()
