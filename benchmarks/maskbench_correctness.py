"""How many schemas of MaskBench compile, and whether the grammars tell their valid instances from their invalid ones.

Every instance is written compactly and as `json.dumps` writes it. A valid one that is refused is tried again in every
order of its keys; if one of them is accepted, it was refused for its order alone.

Example: python benchmarks/maskbench_correctness.py --data maskbench.jsonl.gz --limit 1000
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

import cfgmask
from library.any_order import Undecided, accepts_in_some_order

SPELLINGS: dict[str, dict[str, Any]] = {
    "compact": {"separators": (",", ":"), "ensure_ascii": False},
    "json.dumps": {},
}


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


def read(path: Path, limit: int | None = None) -> list[dict[str, Any]]:
    """The records of a `.jsonl` or `.jsonl.gz` file; with a limit, so many of them, evenly spread."""
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    records = [json.loads(line) for line in lines]
    if limit is None or limit >= len(records):
        return records
    return [records[i * len(records) // limit] for i in range(limit)]


def byte_vocabulary() -> cfgmask.Vocabulary:
    """One token a byte: what a grammar accepts does not depend on the vocabulary."""
    return cfgmask.Vocabulary.from_bytes([bytes([i]) for i in range(256)] + [b""], eos_token_id=256)


def measure(
    record: dict[str, Any], vocabulary: cfgmask.Vocabulary, tally: Tally, property_order: str = "schema"
) -> None:
    """Compile one schema and run its tests."""
    tally.schemas += 1
    try:
        grammar = cfgmask.Grammar.from_json_schema(record["schema"], property_order=property_order)
        compiled = cfgmask.compile(grammar, vocabulary)
    except cfgmask.GrammarError as error:
        _refuse(record, {_reason(d) for d in error.diagnostics if d.severity == "error"}, tally)
        return
    except cfgmask.LimitExceeded as error:
        _refuse(record, {f"limit {error.limit}"}, tally)
        return
    tally.compiled += 1
    for number, test in enumerate(record["tests"]):
        for spelling, options in SPELLINGS.items():
            outcome, text = _outcome(compiled, test, json.dumps(test["data"], **options).encode())
            tally.instances[outcome] += 1
            if outcome in WRONG:
                tally.mistakes.append(Mistake(record["id"], number, f"{outcome} ({spelling})", text))


INVALID_ACCEPTED, VALID_REFUSED, FAILED = "invalid accepted", "valid refused", "failed"
ORDER, RIGHT = "valid refused for the order of its keys", "right"
WRONG = (INVALID_ACCEPTED, VALID_REFUSED, FAILED)


def _outcome(compiled: cfgmask.CompiledGrammar, test: dict[str, Any], data: bytes) -> tuple[str, str]:
    try:
        matcher = compiled.matcher()
        taken = matcher.advance_bytes(data)
        shown = f"{data[max(0, taken - 60) : taken].decode(errors='replace')}  <here>  " + data[
            taken : taken + 40
        ].decode(errors="replace")
        if (taken == len(data) and matcher.is_accepting) == test["valid"]:
            return RIGHT, ""
        if not test["valid"]:
            return INVALID_ACCEPTED, shown
        return (ORDER if accepts_in_some_order(compiled, test["data"]) else VALID_REFUSED), shown
    except (cfgmask.CfgmaskError, Undecided) as error:
        return FAILED, f"{type(error).__name__}: {error}"


def _reason(diagnostic: cfgmask.Diagnostic) -> str:
    """The code of a diagnostic, with the keyword where one code stands for several."""
    if diagnostic.code == "schema-keyword-value":
        return f"{diagnostic.code} {(diagnostic.pointer or '').rpartition('/')[2]}"
    return diagnostic.code


def _refuse(record: dict[str, Any], reasons: set[str], tally: Tally) -> None:
    tally.refused.update(reasons)
    for reason in reasons:
        tally.refused_schemas.setdefault(reason, []).append(record["id"])


def _tables(tally: Tally) -> Iterator[Table]:
    summary = Table(title="MaskBench")
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
@click.option("--data", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--limit", type=click.IntRange(min=1), help="So many schemas, evenly spread over the file.")
@click.option("--property-order", type=click.Choice(["schema", "any"]), default="schema", show_default=True)
@click.option("--json", "out", type=click.Path(dir_okay=False, path_type=Path), help="Write everything found here too.")
def main(data: Path, limit: int | None, property_order: str, out: Path | None) -> None:
    tally, vocabulary, console = Tally(), byte_vocabulary(), Console()
    for record in track(read(data, limit), "schemas", console=console):
        measure(record, vocabulary, tally, property_order)
    for table in _tables(tally):
        console.print(table)
    for mistake in tally.mistakes:
        console.print(f"{mistake.schema} test {mistake.test}: {mistake.what}", markup=False)
        console.print(f"    {mistake.text}", markup=False, highlight=False)
    if out is not None:
        report = {
            "schemas": tally.schemas,
            "compiled": tally.compiled,
            "instances": tally.instances,
            "refused": tally.refused_schemas,
            "mistakes": [vars(mistake) for mistake in tally.mistakes],
        }
        out.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
