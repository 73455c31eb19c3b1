"""How many schemas compile, and whether the grammars tell their valid instances from their invalid ones.

Every instance is written compactly and as `json.dumps` writes it. A valid one that is refused is tried again in every
order of its keys; if one of them is accepted, it was refused for its order alone.

Example: python benchmarks/correctness.py --data maskbench.jsonl.gz --limit 1000
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

import cfgmask
from library import command_line
from library.any_order import Undecided, accepts_in_some_order
from library.cases import Case, Instance, read_schemas, sample
from library.vocabularies import bytewise


@dataclass(frozen=True)
class Mistake:
    """An instance on which grammar and test disagree, and how far its text was taken."""

    schema: str
    test: int
    what: str
    text: str


@dataclass
class Tally:
    schemas: int = 0
    compiled: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    refused_schemas: dict[str, list[str]] = field(default_factory=dict)
    instances: Counter[str] = field(default_factory=Counter)
    mistakes: list[Mistake] = field(default_factory=list)


def measure(case: Case, vocabulary: cfgmask.Vocabulary, tally: Tally, property_order: str = "schema") -> None:
    """Compile one schema and run its tests."""
    tally.schemas += 1
    try:
        # The tests count values, not how they are written: `1.0` is an integer.
        grammar = cfgmask.Grammar.from_json_schema(case.source, property_order=property_order, numbers="any")
        compiled = cfgmask.compile(grammar, vocabulary)
    except cfgmask.GrammarError as error:
        _refuse(case, {_reason(d) for d in error.diagnostics if d.severity == "error"}, tally)
        return
    except cfgmask.LimitExceeded as error:
        _refuse(case, {f"limit {error.limit}"}, tally)
        return
    tally.compiled += 1
    for number, instance in enumerate(case.instances):
        for spelling, text in (("compact", instance.text), ("json.dumps", json.dumps(json.loads(instance.text)))):
            outcome, shown = _outcome(compiled, instance, text.encode())
            tally.instances[outcome] += 1
            if outcome in WRONG:
                tally.mistakes.append(Mistake(case.name, number, f"{outcome} ({spelling})", shown))


INVALID_ACCEPTED, VALID_REFUSED, FAILED = "invalid accepted", "valid refused", "failed"
ORDER, RIGHT = "valid refused for the order of its keys", "right"
WRONG = (INVALID_ACCEPTED, VALID_REFUSED, FAILED)


def _outcome(compiled: cfgmask.CompiledGrammar, instance: Instance, data: bytes) -> tuple[str, str]:
    try:
        matcher = compiled.matcher()
        taken = matcher.advance_bytes(data)
        shown = f"{data[max(0, taken - 60) : taken].decode(errors='replace')}  <here>  " + data[
            taken : taken + 40
        ].decode(errors="replace")
        if (taken == len(data) and matcher.is_accepting) == instance.valid:
            return RIGHT, ""
        if not instance.valid:
            return INVALID_ACCEPTED, shown
        return (ORDER if accepts_in_some_order(compiled, json.loads(instance.text)) else VALID_REFUSED), shown
    except (cfgmask.CfgmaskError, Undecided) as error:
        return FAILED, f"{type(error).__name__}: {error}"


def _reason(diagnostic: cfgmask.Diagnostic) -> str:
    """The code of a diagnostic, with the keyword where one code stands for several."""
    if diagnostic.code == "schema-keyword-value":
        return f"{diagnostic.code} {(diagnostic.pointer or '').rpartition('/')[2]}"
    return diagnostic.code


def _refuse(case: Case, reasons: set[str], tally: Tally) -> None:
    tally.refused.update(reasons)
    for reason in reasons:
        tally.refused_schemas.setdefault(reason, []).append(case.name)


def _tables(tally: Tally) -> Iterator[Table]:
    summary = Table(title="JSON Schemas")
    summary.add_column("")
    summary.add_column("count", justify="right")
    summary.add_row("schemas", str(tally.schemas))
    summary.add_row("compiled", f"{tally.compiled} ({tally.compiled / max(1, tally.schemas):.1%})")
    for outcome in (RIGHT, ORDER, *WRONG):
        summary.add_row(f"instances {outcome}", str(tally.instances[outcome]))
    yield summary
    refused = Table(title="refused schemas by reason (a schema may have several)")
    for column in ("reason", "schemas", "for example"):
        refused.add_column(column)
    for reason, count in tally.refused.most_common():
        refused.add_row(reason, str(count), tally.refused_schemas[reason][0])
    yield refused


@click.command(help=__doc__)
@command_line.data_option
@command_line.limit_option
@click.option("--property-order", type=click.Choice(["schema", "any"]), default="schema", show_default=True)
@command_line.json_option
def main(data: Path, limit: int | None, property_order: str, json_path: Path | None) -> None:
    tally, vocabulary, console = Tally(), bytewise().vocabulary, Console()
    for case in track(sample(read_schemas(data), limit), "schemas", console=console):
        measure(case, vocabulary, tally, property_order)
    for table in _tables(tally):
        console.print(table)
    for mistake in tally.mistakes:
        console.print(f"{mistake.schema} test {mistake.test}: {mistake.what}", markup=False)
        console.print(f"    {mistake.text}", markup=False, highlight=False)
    if json_path is not None:
        report = {
            "schemas": tally.schemas,
            "compiled": tally.compiled,
            "instances": tally.instances,
            "refused": tally.refused_schemas,
            "mistakes": [vars(mistake) for mistake in tally.mistakes],
        }
        json_path.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
