"""The command group and its entry point."""

from __future__ import annotations

import gc
from importlib import metadata

import click

from cfgmask.cli.check import check
from cfgmask.cli.convert import convert
from cfgmask.cli.generate import generate
from cfgmask.cli.mask import mask
from cfgmask.cli.output import make_streams_tolerant
from cfgmask.cli.tools import tools

_OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""Some 20 MB."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, wanted: _print_version(ctx) if wanted else None,
    help="Show the version and exit.",
)
def main() -> None:
    """Grammars for language models: check them, look at their masks, generate under them.

    A grammar FILE is extended Lark (.lark), GBNF (.gbnf) or a JSON Schema (.json), or the name of a grammar that comes
    with cfgmask, such as json or sql_select.

    Exit codes: 0 all is well, 1 a problem was found, 2 the command was misused (a missing file too).
    """
    make_streams_tolerant()
    # Nearly all that a command makes lives until it ends: looking for garbage takes a fifth of a check, and finds none.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)


def _print_version(ctx: click.Context) -> None:
    try:
        version = metadata.version("cfgmask")
    except metadata.PackageNotFoundError:
        # A source tree on the path, not installed: there is no metadata to ask.
        version = "0+unknown"
    click.echo(f"cfgmask {version}")
    ctx.exit()


main.add_command(check)
main.add_command(convert)
main.add_command(generate)
main.add_command(mask)
main.add_command(tools)
