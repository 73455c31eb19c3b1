"""Kinds of grammar that are known to be slow somewhere, one row each, every installed engine beside cfgmask.

Each engine starts anew for each run, and each figure is the least of the runs at the same position. Whoever goes first
with a kind goes second in the next run.

Example: python benchmarks/kinds.py --vocab tokenizer.model --engine cfgmask --engine llguidance --clock cpu
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import click
import numpy as np

from library import command_line, growing_cases, measure, peers, report, vocabularies
from library.cases import Case, lark_case, schema_case

FIGURES = ("first mask", "avg", "p50", "max")

WORDS = "the quick brown fox jumps over a lazy dog and then it rests in the shade of an old tree"


def all_kinds() -> list[Case]:
    rng = random.Random(1)
    words = WORDS.split()
    prose = " ".join(rng.choices(words, k=300))
    names = [f"name-{rng.randrange(10**9):x}" for _ in range(10_000)]
    lines = "".join(f"{prose[i : i + 99]}\n" for i in range(0, 990, 99))
    degrees = {"type": "number", "minimum": -180, "maximum": 180}
    keys = [f"{rng.choice(words)}_{i}" for i in range(1_000)]
    return [
        _string("label, [a-z0-9-]{1,63}", {"pattern": "^[a-z0-9-]{1,63}$"}, _spread(rng, "abcxyz019-", 63)),
        _string("identifier, [A-Za-z0-9_]{1,40}", {"pattern": "^[A-Za-z0-9_]{1,40}$"}, _spread(rng, "abXY_019", 40)),
        _string("no more than 200 characters", {"maxLength": 200}, [prose[i : i + 200] for i in range(0, 1_000, 200)]),
        _string("free text in JSON", {}, [prose, '\u00e9\u00e8 \u4f60\u597d \n\t"quoted" \\ ' * 40]),
        lark_case("free text", r"start: /(.|\n)*/", prose),
        lark_case("free text up to a line", 'start: text "\\n"\ntext[stop="\\n"]: /(.|\\n)*/', prose[:900] + "\n\n"),
        lark_case("lines of at most 400", r"start: (/[^\n]{0,400}/ /\n/)*", lines),
        _string("dates", {"format": "date"}, ["2024-02-29", "1999-12-31"] * 20),
        _string("times", {"format": "date-time"}, ["2024-02-29T23:59:59.5+01:00", "1999-12-31T00:00:00Z"] * 10),
        _string("e-mail addresses", {"format": "email"}, ["a.person@example.com", "x+y@mail.example.org"] * 10),
        _string("URIs", {"format": "uri"}, ["https://example.com/a/b?c=d#e", "mailto:me@example.com"] * 10),
        _string("a pattern without anchors", {"pattern": "[0-9]{3}"}, ["room 123 is free", "404"] * 10),
        _string("versions", {"pattern": r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$"}, ["1.2.3", "10.20.30-rc.1"] * 10),
        _string("an enum of 10,000", {"enum": names}, names[:40]),
        schema_case("numbers", {"items": degrees}, [12.5, -179.25, 0, 1e2] * 40),
        growing_cases.properties(1_000),
        schema_case("1,000 properties, few of them there", _object(keys, required=[]), dict.fromkeys(keys[::50], 1)),
        schema_case("any keys", {"additionalProperties": {"type": "integer"}}, dict.fromkeys(keys[:200], 1)),
        schema_case("one of 100 objects", _tagged(100), {"kind": "kind99", "value99": 1}),
        schema_case("arrays 200 deep", _tree(), _nested(200)),
        lark_case("ambiguous", 'start: e\ne: e "+" e | e "*" e | "a"', "a" + "+a*a" * 60),
        lark_case("right-recursive", 'start: "a" start | "a"', "a" * 2_000),
        lark_case("left-recursive", 'start: start "a" | "a"', "a" * 2_000),
        lark_case("parentheses", 'start: "(" start? ")"', "(" * 500 + ")" * 500),
        growing_cases.sums(4_000),
        growing_cases.records(8_000),
    ]


def _string(name: str, schema: dict[str, Any], texts: list[str]) -> Case:
    """An array of such strings."""
    return schema_case(name, {"type": "array", "items": {"type": "string", **schema}}, texts)


def _spread(rng: random.Random, letters: str, longest: int) -> list[str]:
    return ["".join(rng.choices(letters, k=rng.randint(1, longest))) for _ in range(20)]


def _object(keys: list[str], required: list[str]) -> dict[str, Any]:
    properties = {key: {"type": "integer"} for key in keys}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _tagged(n: int) -> dict[str, Any]:
    def branch(i: int) -> dict[str, Any]:
        value = _object([f"value{i}"], [])
        return {**value, "properties": {"kind": {"const": f"kind{i}"}, **value["properties"]}, "required": ["kind"]}

    return {"anyOf": [branch(i) for i in range(n)]}


def _tree() -> dict[str, Any]:
    return {"$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "$ref": "#/$defs/node"}


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@click.command(help=__doc__)
@click.option("--only", multiple=True, help="Measure only kinds whose name has this in it; may be repeated.")
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True)
@command_line.json_option
@command_line.vocab_option
@command_line.engine_option
@command_line.clock_option
def main(
    only: tuple[str, ...], runs: int, json_path: Path | None, vocab: Path, engine_names: tuple[str, ...], clock: str
) -> None:
    kinds = [case for case in all_kinds() if not only or any(part in case.name for part in only)]
    times: dict[str, dict[str, list[measure.Result]]] = {case.name: {} for case in kinds}
    with command_line.progress() as bar:
        task = bar.add_task("kinds", total=runs * len(kinds))
        for run in range(runs):
            vocabulary = vocabularies.load(vocab)
            engines = peers.make(engine_names, vocabulary)
            # Each kind is met behind what the other engine did with it in every other run only.
            turn = run % len(engines)
            for row in measure.run(engines[turn:] + engines[:turn], kinds, vocabulary, measure.CLOCKS[clock]):
                bar.advance(task)
                for engine, result in row.items():
                    times[result.case].setdefault(engine, []).append(result)
    figures = {case: {engine: least(results) for engine, results in row.items()} for case, row in times.items()}
    click.echo(markdown(figures))
    if json_path is not None:
        json_path.write_text(json.dumps(figures), encoding="utf-8")


def least(results: list[measure.Result]) -> dict[str, float] | None:
    """Microseconds, each the least of all runs at its position; None where the engine does not accept the text."""
    if not all(result.accepts_all_valid for result in results):
        return None
    positions = np.array([[t for walk in result.walks for t in walk.nanoseconds] for result in results]).min(axis=0)
    first = min(result.first_mask_nanoseconds for result in results) / 1e3
    return {"first mask": first, **report.figures(positions.tolist())}


def markdown(figures: dict[str, dict[str, dict[str, float] | None]], of: str = "cfgmask") -> str:
    """For each kind the figures of `of`, and how many times as long every other engine takes."""
    rows = []
    for case, row in figures.items():
        own = row.get(of)
        cells = [report.number(own[figure]) if own else "–" for figure in FIGURES]
        for engine, other in row.items():
            if engine != of:
                cells += [f"{other[f] / own[f]:.1f}x" if own and other and own[f] else "–" for f in FIGURES]
        rows.append([case, *cells])
    engines = next(iter(figures.values()), {})
    titles = [f"{of}: {figure} (µs)" for figure in FIGURES]
    titles += [f"{engine} / {of}: {figure}" for engine in engines if engine != of for figure in FIGURES]
    return report.numbers_table(["", *titles], rows)


if __name__ == "__main__":
    main()
