"""`cfgmask tools`: the grammar of a list of tools in the style of a model family."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

import cfgmask
from cfgmask.cli.arguments import FILE, FILE_OR_STDIN, json_option, read_bytes, read_vocabulary, text_bytes
from cfgmask.cli.failures import PROBLEM, ReportingCommand
from cfgmask.cli.output import print_diagnostics, print_json, print_rows
from cfgmask.cli.stand_in import stand_in_vocabulary
from cfgmask.cli.verdict import Verdict, judge
from cfgmask.limits import Limits
from cfgmask.source_file import read_source

_EXAMPLES = """\b
Examples:
  cfgmask tools --list
  cfgmask tools tools.json --style hermes
  cfgmask tools tools.json --style qwen_3_coder --choice required --input answer.txt
  cfgmask tools tools.json --style auto --template model.gguf --vocab model.gguf"""


@click.command(cls=ReportingCommand, short_help="Write the grammar of tools, try texts.", epilog=_EXAMPLES)
@click.argument("file", type=FILE, required=False)
@click.option("--style", default="auto", show_default=True, help="How the model writes; `--list` lists the styles.")
@click.option("--list", "is_list", is_flag=True, help="List the styles.")
@click.option("--template", type=FILE, help="A chat template or a GGUF file, in which `--style auto` looks.")
@click.option("--choice", default="auto", show_default=True, help="auto, required, none, or the name of a tool.")
@click.option("--parallel", default="yes", show_default=True, help="yes, no, or how many calls there are at most.")
@click.option("--reasoning", default="auto", show_default=True, help="enabled, disabled, or auto.")
@click.option("--prompt", help="The end of the rendered prompt.")
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="A text to try; may be repeated.")
@click.option("--input", "inputs", multiple=True, type=FILE_OR_STDIN, help="A file to try (-: stdin); may be repeated.")
@click.option("--vocab", "vocabulary", type=FILE, help="Write markers by the tokens of this vocabulary.")
@json_option("the styles, or what becomes of the texts")
@click.pass_context
def tools(
    ctx: click.Context,
    file: Path | None,
    style: str,
    is_list: bool,
    template: Path | None,
    choice: str,
    parallel: str,
    reasoning: str,
    prompt: str | None,
    texts: tuple[str, ...],
    inputs: tuple[str, ...],
    vocabulary: Path | None,
    as_json: bool,
) -> None:
    """Write the grammar of the tools in FILE, a JSON list as OpenAI or MCP have it, as extended Lark; or try texts.

    Exit code 0: all is well and every text accepted; 1: something is not; 2: misuse.
    """
    if is_list:
        _list(as_json=as_json)
        return
    if file is None:
        raise click.UsageError("name a file with tools, or use --list")
    grammar = _grammar(file, style, template, choice, parallel, reasoning, prompt)
    known = read_vocabulary(vocabulary) if vocabulary else None
    print_diagnostics(grammar.notes, sys.stderr)
    if not texts and not inputs:
        # The writer is not needed where texts are tried.
        from cfgmask.tools.write import write_tools

        sys.stdout.write(write_tools(grammar.ir_for(known or stand_in_vocabulary(grammar))))
        return
    candidates = [(f"text {number}", text_bytes(text)) for number, text in enumerate(texts, 1)]
    candidates += [("stdin" if path == "-" else path, read_bytes(path)) for path in inputs]
    compiled = cfgmask.compile(grammar, known or stand_in_vocabulary(grammar))
    verdicts = [judge(compiled, name, data) for name, data in candidates]
    _print(verdicts, as_json=as_json)
    ctx.exit(0 if all(verdict.outcome == "accepted" for verdict in verdicts) else PROBLEM)


def _grammar(
    file: Path, style: str, template: Path | None, choice: str, parallel: str, reasoning: str, prompt: str | None
) -> cfgmask.Grammar:
    """The grammar that the command line asks for. Raises click.UsageError for values that an argument does not have."""
    try:
        listed = json.loads(read_source(file, Limits()))
    except ValueError as error:
        raise click.UsageError(f"{file} is not JSON: {error}") from None
    except RecursionError:
        raise click.UsageError(f"{file} is nested too deeply") from None
    source: Any = template
    if template is not None and template.suffix != ".gguf":
        source = read_source(template, Limits())
    is_named = choice not in ("auto", "required", "none")
    counts = {"yes": True, "no": False}
    if parallel not in counts and not parallel.isdecimal():
        raise click.UsageError(f"--parallel is yes, no or a number, not {parallel!r}")
    try:
        return cfgmask.Grammar.from_tools(
            listed,
            style=style,
            template=source,
            tool_choice={"type": "function", "function": {"name": choice}} if is_named else choice,
            parallel_tool_calls=counts[parallel] if parallel in counts else int(parallel),
            reasoning=reasoning,
            prompt=prompt,
        )
    except cfgmask.CfgmaskError:
        raise
    except (ValueError, TypeError) as error:
        raise click.UsageError(str(error)) from None


def _list(*, as_json: bool) -> None:
    from cfgmask.tools.style import names, style

    styles = [style(name) for name in names()]
    if as_json:
        print_json(
            [{"name": s.name, "about": s.about, "families": list(s.families), "evidence": s.evidence} for s in styles]
        )
        return
    width = max(len(s.name) for s in styles)
    print_rows((s.name.ljust(width), "bold", f"{s.about} ({', '.join(s.families) or 'any model'})") for s in styles)


def _print(verdicts: list[Verdict], *, as_json: bool) -> None:
    if as_json:
        print_json([verdict.to_json() for verdict in verdicts])
        return
    for verdict in verdicts:
        diagnostic = verdict.diagnostic()
        if diagnostic is None:
            sys.stdout.write(f"{verdict.source.name}: accepted\n")
        else:
            print_diagnostics([diagnostic])
