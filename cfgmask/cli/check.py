"""`cfgmask check`: everything that is wrong with a grammar, and what it says to texts."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import cfgmask
from cfgmask.analysis import QUICK, THOROUGH, Flat, Text, Texts, find, without_superseded, written_rules
from cfgmask.cli.arguments import (
    FILE,
    FILE_OR_STDIN,
    GRAMMAR_FILE,
    json_option,
    read_bytes,
    read_vocabulary,
    start_option,
    text_bytes,
)
from cfgmask.cli.coverage import print_coverage, summary_of
from cfgmask.cli.failures import PROBLEM, ReportingCommand, diagnostics_of
from cfgmask.cli.output import bytes_to_json, print_diagnostics, print_json, print_labelled
from cfgmask.cli.schema_options import check_schema_options, schema_option
from cfgmask.cli.stand_in import stand_in_vocabulary
from cfgmask.cli.subject import read_subject, rules_of
from cfgmask.cli.verdict import Verdict, judge
from cfgmask.diagnostics import Diagnostic, in_order, quoted
from cfgmask.errors import CfgmaskError
from cfgmask.grammar.ir import GrammarIR
from cfgmask.regex.algebra import RegexAlgebra

if TYPE_CHECKING:
    from cfgmask.json_schema import Covered

_EXAMPLES = """\b
Examples:
  cfgmask check grammars/json.lark
  cfgmask check schema.json --text '{"name": "Anna"}'
  cfgmask check schema.json --coverage --option property_order=any
  cfgmask check grammars/csv.lark --input a.csv --input b.csv
  cfgmask check grammars/csv.lark --examples --sample 5 --seed 1
  generate-something | cfgmask check grammars/json.lark --input -
  cfgmask check tool_call.lark --vocab model.gguf --json"""


@dataclass(frozen=True)
class _Report:
    path: Path
    diagnostics: tuple[Diagnostic, ...]
    verdicts: tuple[Verdict, ...] = ()
    coverage: tuple[Covered, ...] | None = None
    strict: bool = False
    examples: tuple[tuple[str, Text | None], ...] = ()
    samples: tuple[Text, ...] = ()

    @property
    def is_fine(self) -> bool:
        failing = ("error", "warning") if self.strict else ("error",)
        problems = any(diagnostic.severity in failing for diagnostic in self.diagnostics)
        return not problems and all(verdict.outcome == "accepted" for verdict in self.verdicts)


@dataclass(frozen=True)
class _Shown:
    """Which texts of the grammar to show."""

    examples: bool
    n_samples: int
    seed: int

    @property
    def anything(self) -> bool:
        return self.examples or self.n_samples > 0


@click.command(cls=ReportingCommand, short_help="Report what is wrong with a grammar, try texts.", epilog=_EXAMPLES)
@click.argument("file", type=GRAMMAR_FILE)
@start_option
@schema_option
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="A text to try; may be repeated.")
@click.option("--input", "inputs", multiple=True, type=FILE_OR_STDIN, help="A file to try (-: stdin); may be repeated.")
@click.option(
    "--vocab", "vocabulary", type=FILE, help="Compile for the vocabulary of this GGUF file or saved vocabulary."
)
@click.option("--coverage", "with_coverage", is_flag=True, help="List what becomes of each keyword of a JSON Schema.")
@click.option("--examples", "with_examples", is_flag=True, help="Show a shortest text of each rule.")
@click.option("--sample", "n_samples", type=click.IntRange(0, 10_000), default=0, help="Show so many random texts.")
@click.option("--seed", type=int, default=0, help="For --sample: the same seed gives the same texts.  [default: 0]")
@click.option(
    "--thorough",
    is_flag=True,
    help="Look longer for dead ends, ambiguity and texts that longest match rejects: for seconds, it may be.",
)
@click.option("--strict", is_flag=True, help="Count warnings as problems.")
@json_option("the report")
@click.pass_context
def check(
    ctx: click.Context,
    file: Path,
    start: str | None,
    options: dict[str, Any],
    texts: tuple[str, ...],
    inputs: tuple[str, ...],
    vocabulary: Path | None,
    with_coverage: bool,
    with_examples: bool,
    n_samples: int,
    seed: int,
    thorough: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Report every problem of the grammar in FILE, and whether texts are in its language.

    A text is accepted, refused (at which byte, and what was expected there) or incomplete (what is missing).
    Texts are tried byte by byte; a vocabulary is needed only for grammars that name special tokens of it.
    Of a JSON Schema it also counts what becomes of its keywords: enforced, annotations, idle, relaxed, refused.

    Exit code 0: the grammar is sound and every text accepted; 1: something is not; 2: misuse.
    """
    if with_coverage and file.suffix != ".json":
        raise click.UsageError("--coverage is for JSON Schemas, whose names end in .json")
    check_schema_options(file, options)
    candidates = [(f"text {number}", text_bytes(text)) for number, text in enumerate(texts, 1)]
    candidates += [("stdin" if path == "-" else path, read_bytes(path)) for path in inputs]
    shown = _Shown(with_examples, n_samples, seed)
    report = replace(_examine(file, start, options, candidates, vocabulary, shown, thorough=thorough), strict=strict)
    if as_json:
        _print_as_json(report)
    else:
        _print_for_people(report)
        if report.coverage is not None:
            print_coverage(report.coverage if with_coverage else ())
            sys.stdout.write(f"coverage: {summary_of(report.coverage)}\n")
    ctx.exit(0 if report.is_fine else PROBLEM)


def _examine(
    file: Path,
    start: str | None,
    options: dict[str, Any],
    candidates: list[tuple[str, bytes]],
    vocabulary: Path | None,
    shown: _Shown,
    *,
    thorough: bool,
) -> _Report:
    known = read_vocabulary(vocabulary) if vocabulary else None
    subject = read_subject(file, start, options)
    if subject.grammar is None:
        return _Report(file, subject.problems, coverage=subject.coverage)
    grammar = subject.grammar
    vocab = known or stand_in_vocabulary(grammar)
    try:
        compiled = cfgmask.compile(grammar, vocab)
    except CfgmaskError as error:
        return _Report(file, diagnostics_of(error), coverage=subject.coverage)
    ir = rules_of(grammar)
    if ir is None:
        # There is nothing to look at as a whole, and no rules to show examples of.
        verdicts = tuple(judge(compiled, name, data) for name, data in candidates)
        return _Report(file, in_order((*grammar.notes, _NOT_ANALYSED)), verdicts, subject.coverage)
    findings = find(ir, compiled, None if known is None else known.tokens, THOROUGH if thorough else QUICK)
    found = in_order((*without_superseded(grammar.notes, findings), *findings))
    verdicts = tuple(judge(compiled, name, data) for name, data in candidates)
    texts = Texts(Flat(ir, RegexAlgebra()), vocab) if shown.anything else None
    return _Report(
        file,
        found,
        verdicts,
        subject.coverage,
        examples=_examples(ir, texts) if texts and shown.examples else (),
        samples=tuple(texts.samples(compiled, shown.n_samples, shown.seed)) if texts else (),
    )


_NOT_ANALYSED = Diagnostic(
    "check-not-analysed",
    "the rules of this grammar are too many to be made all at once: they were not analysed, and no texts are shown",
    severity="note",
    help="`compile` makes those that a text comes to; the texts given with --text and --input were tried",
)


def _examples(ir: GrammarIR, texts: Texts) -> tuple[tuple[str, Text | None], ...]:
    """Of each rule that was written as such; of a schema, whose rules were made, of the whole."""
    names = [rule.name for rule in written_rules(ir)] or [ir.start]
    return tuple((name, texts.example(name)) for name in names)


def _print_as_json(report: _Report) -> None:
    print_json(
        {
            "file": str(report.path),
            "ok": report.is_fine,
            "diagnostics": [diagnostic.to_json() for diagnostic in report.diagnostics],
            "texts": [verdict.to_json() for verdict in report.verdicts],
            "examples": {name: _text_to_json(text) for name, text in report.examples},
            "samples": [_text_to_json(text) for text in report.samples],
            "coverage": None if report.coverage is None else [asdict(covered) for covered in report.coverage],
        }
    )


def _text_to_json(text: Text | None) -> dict[str, str | None] | None:
    return None if text is None else bytes_to_json(text.shown)


def _print_texts(report: _Report) -> None:
    width = max((len(name) for name, _ in report.examples), default=0)
    for name, text in report.examples:
        print_labelled(name.ljust(width), "(none was found)" if text is None else quoted(text.shown))
    for number, sample in enumerate(report.samples, 1):
        print_labelled(f"sample {number}", quoted(sample.shown))


def _print_for_people(report: _Report) -> None:
    print_diagnostics(report.diagnostics)
    for verdict in report.verdicts:
        diagnostic = verdict.diagnostic()
        if diagnostic is None:
            sys.stdout.write(f"{verdict.source.name}: accepted\n")
        else:
            print_diagnostics([diagnostic])
    _print_texts(report)
    sys.stdout.write(f"{report.path}: {_summary(report)}\n")


def _summary(report: _Report) -> str:
    counts = [
        _counted(sum(d.severity == severity for d in report.diagnostics), severity)
        for severity in ("error", "warning", "note")
    ]
    for outcome in ("refused", "incomplete"):
        number = sum(verdict.outcome == outcome for verdict in report.verdicts)
        counts.append(f"{_counted(number, 'text')} {outcome}" if number else "")
    return ", ".join(part for part in counts if part) or "fine"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number > 1 else ''}" if number else ""
