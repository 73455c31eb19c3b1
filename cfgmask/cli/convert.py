"""`cfgmask convert`: a grammar of another format as extended Lark."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import cfgmask
from cfgmask.cli.arguments import GRAMMAR_FILE, start_option
from cfgmask.cli.failures import ReportingCommand
from cfgmask.cli.output import print_diagnostics

_EXAMPLES = """\b
Examples:
  cfgmask convert chess.gbnf
  cfgmask convert chess.gbnf -o chess.lark"""


@click.command(cls=ReportingCommand, short_help="Write a GBNF grammar as Lark.", epilog=_EXAMPLES)
@click.argument("file", type=GRAMMAR_FILE)
@start_option
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file to write, not stdout.")
def convert(file: Path, start: str | None, output: Path | None) -> None:
    """Write the GBNF grammar in FILE as extended Lark, with the same language.

    Rules that are regular become terminals; names are changed where Lark has none such, and comments are left out.
    """
    # The writer is not needed by the other commands.
    from cfgmask.lark.write import write_lark

    if file.suffix != ".gbnf":
        raise click.UsageError("only GBNF grammars can be converted, whose names end in .gbnf")
    grammar = cfgmask.Grammar.from_file(file, start=start)
    text = write_lark(grammar.ir)
    print_diagnostics(grammar.notes, sys.stderr)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
