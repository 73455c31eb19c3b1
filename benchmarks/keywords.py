"""Which engine enforces which keyword of JSON Schema: a Markdown table of keyword by engine.

Each keyword has a few schemas in `data/keywords.jsonl`, with instances that it allows and instances that it forbids,
written compactly with their properties in the order of the schema. An engine gets them a byte at a time, so that the
vocabulary decides nothing. It works in a process of its own; one that crashes or hangs is started again for the next
schema.

Example: python benchmarks/keywords.py --engine cfgmask --engine llguidance
"""

from __future__ import annotations

import importlib.metadata
import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, TimeoutError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import date
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import click

from library import command_line, peers
from library.cases import SCHEMAS, Case, Instance, compact
from library.measure import walk
from library.report import table
from library.vocabularies import BYTEWISE_END, bytewise

TABLE = SCHEMAS.with_name("keywords.jsonl")
SECONDS = 20

EXACT, REFUSED, IGNORED = "exact", "refused", "ignored"
ACCEPTS_INVALID, REJECTS_VALID, CRASH = "accepts invalid", "rejects valid", "crash"
# What a keyword's cell says where its schemas differ: the first of these that one of them is.
BY_WEIGHT = (CRASH, ACCEPTS_INVALID, IGNORED, REJECTS_VALID, REFUSED, EXACT)


@dataclass(frozen=True)
class Outcome:
    """What an engine makes of one schema; `why` is the engine's own word, or the texts that it gets wrong."""

    case: Case
    verdict: str
    why: str = ""


def read(path: Path = TABLE) -> list[Case]:
    """The cases, each named by its keyword; a keyword has several."""
    return [_case(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _case(record: dict[str, object]) -> Case:
    def instances(key: str, valid: bool) -> list[Instance]:
        values = record[key]
        assert isinstance(values, list)
        return [Instance(compact(value), valid) for value in values]

    source = compact(record["schema"])
    return Case(
        str(record["keyword"]), "json_schema", source, (*instances("valid", True), *instances("invalid", False))
    )


def judge(engine: peers.Engine, case: Case) -> Outcome:
    """Run one case; whatever a peer raises is a finding about it."""
    try:
        session = engine.start(case)
        told = [(i, walk(session, list(i.text.encode()), BYTEWISE_END, i.valid).accepted) for i in case.instances]
    except peers.Refused as refused:
        return Outcome(case, REFUSED, str(refused))
    except Exception as error:
        return Outcome(case, CRASH, f"{type(error).__name__}: {error}")
    wrong = [instance for instance, accepted in told if accepted != instance.valid]
    return Outcome(case, _verdict(case, wrong), " ".join(instance.text for instance in wrong))


def _verdict(case: Case, wrong: list[Instance]) -> str:
    if not wrong:
        return EXACT
    if wrong == [instance for instance in case.instances if not instance.valid]:
        return IGNORED
    return REJECTS_VALID if all(instance.valid for instance in wrong) else ACCEPTS_INVALID


def cell(verdicts: list[str]) -> str:
    """The verdict on a keyword: the worst one of its schemas, with their number where it is not all of them."""
    counts = Counter(verdicts)
    if counts[IGNORED] < len(verdicts):
        # Ignored is a keyword that never does anything; one that does sometimes accepts what is invalid.
        counts[ACCEPTS_INVALID] += counts.pop(IGNORED, 0)
    worst = next(verdict for verdict in BY_WEIGHT if counts[verdict])
    return worst if counts[worst] == len(verdicts) else f"{worst} ({counts[worst]} of {len(verdicts)})"


def in_this_process(name: str, cases: list[Case]) -> Iterator[Outcome]:
    for case in cases:
        yield _judge(name, case)


def in_a_process(name: str, cases: list[Case]) -> Iterator[Outcome]:
    """The outcomes of an engine that may crash or hang."""
    pool = _new_pool()
    for case in cases:
        try:
            yield pool.submit(_judge, name, case).result(timeout=SECONDS)
        except (BrokenProcessPool, TimeoutError) as error:
            yield Outcome(case, CRASH, type(error).__name__)
            _end(pool)
            pool = _new_pool()
    pool.shutdown()


def _new_pool() -> ProcessPoolExecutor:
    # A forked process would share the threads' locks of a library that was used before.
    return ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))


def _end(pool: ProcessPoolExecutor) -> None:
    for process in list(getattr(pool, "_processes", {}).values()):
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)


def _judge(name: str, case: Case) -> Outcome:
    return judge(_engine(name), case)


class ExactNumbers(peers.CfgmaskEngine):
    """cfgmask with numbers as JSON Schema reads them: a value is valid or not, however it is written."""

    schema_options: ClassVar[dict[str, Any]] = {"numbers": "any"}


@cache
def _engine(name: str) -> peers.Engine:
    make = ExactNumbers if name == ExactNumbers.name else peers.ENGINES[name]
    return make(bytewise())


def markdown(outcomes: dict[str, list[Outcome]]) -> str:
    """A row a keyword, in the order of the table of cases, and a row that counts schemas."""
    names = list(outcomes)
    keywords = list(dict.fromkeys(outcome.case.name for outcome in outcomes[names[0]]))
    rows = [["Keyword", "Schemas", *names], ["---", "---:", *["---"] * len(names)]]
    for keyword in keywords:
        by_engine = [[o.verdict for o in outcomes[name] if o.case.name == keyword] for name in names]
        rows.append([f"`{keyword}`", str(len(by_engine[0])), *map(cell, by_engine)])
    exact = [str(sum(o.verdict == EXACT for o in outcomes[name])) for name in names]
    rows.append(["schemas that are exact", str(len(outcomes[names[0]])), *exact])
    wrong = [str(sum(o.verdict in (ACCEPTS_INVALID, IGNORED) for o in outcomes[name])) for name in names]
    rows.append(["schemas where something invalid is accepted", "", *wrong])
    return table(rows)


def versions(names: list[str]) -> str:
    """The engines with their versions; cfgmask itself is the one of this checkout."""
    installed = importlib.metadata.version
    return ", ".join(name if name == "cfgmask" else f"{name} {installed(name.replace('_', '-'))}" for name in names)


def _details(outcomes: dict[str, list[Outcome]], write: Callable[[str], None]) -> None:
    for name, found in outcomes.items():
        for outcome in found:
            if outcome.verdict != EXACT:
                write(f"{name} {outcome.case.name} {outcome.verdict}: {outcome.case.source}\n    {outcome.why[:300]}")


@click.command(help=__doc__)
@command_line.engine_option
@click.option("--details", is_flag=True, help="Say on stderr what is not exact, and why.")
def main(engine_names: tuple[str, ...], details: bool) -> None:
    installed = peers.installed()
    names = [name for name in engine_names or peers.ENGINES if name in installed]
    for name in peers.ENGINES:
        if name not in installed:
            click.echo(f"{name} is not installed", err=True)
    cases = read()
    outcomes = {name: list(in_a_process(name, cases)) for name in names}
    click.echo(f"Run on {date.today().isoformat()} with {versions(names)}.\n")
    click.echo(markdown(outcomes))
    if details:
        _details(outcomes, lambda line: click.echo(line, err=True))


if __name__ == "__main__":
    main()
