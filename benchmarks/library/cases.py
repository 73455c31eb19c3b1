"""What is measured: grammars, each with texts that it must accept and texts that it must refuse."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

# A few schemas of everyday use, with texts.
SCHEMAS = Path(__file__).resolve().parents[1] / "data" / "schemas.jsonl"

Kind = Literal["json_schema", "lark"]


@dataclass(frozen=True)
class Instance:
    text: str
    valid: bool


@dataclass(frozen=True)
class Case:
    """`source` is the text of a JSON Schema or of a Lark grammar, by `kind`; a grammar imports from `folder`."""

    name: str
    kind: Kind
    source: str
    instances: tuple[Instance, ...]
    folder: Path | None = None


def schema_case(name: str, schema: object, value: object) -> Case:
    """A JSON Schema with one valid value."""
    return Case(name, "json_schema", compact(schema), (Instance(compact(value), valid=True),))


def lark_case(name: str, source: str, text: str) -> Case:
    """A Lark grammar with one of its texts."""
    return Case(name, "lark", source, (Instance(text, valid=True),))


def read_schemas(path: Path) -> list[Case]:
    """The cases of a `.jsonl` or `.jsonl.gz` file, or of a folder of `.json` files (MaskBench's own form).

    A record is an object with `schema` and `tests`, a list of `{"valid": bool, "data": any}`.
    Instances are written compactly, their characters unescaped and their properties in the order of the file.
    """
    return [_schema_case(name, record) for name, record in _records(path)]


def read_grammars(grammars: Path, tables: Path) -> list[Case]:
    """A case for each table: a `.json` file of `{"grammar": "NAME.lark", "accept": [text], "refuse": [text]}`."""
    cases = []
    for file in sorted(tables.glob("*.json")):
        table = json.loads(file.read_text(encoding="utf-8"))
        source = (grammars / table["grammar"]).read_text(encoding="utf-8")
        texts = [Instance(text, kind == "accept") for kind in ("accept", "refuse") for text in table[kind]]
        cases.append(Case(table["grammar"], "lark", source, tuple(texts), grammars))
    return cases


def sample(cases: list[Case], limit: int | None) -> list[Case]:
    """At most `limit` cases, evenly spread over the whole, the same ones each time."""
    if limit is None or limit >= len(cases):
        return cases
    return [cases[i * len(cases) // limit] for i in range(limit)]


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.is_dir():
        for file in sorted(path.glob("*.json")):
            yield file.name, json.loads(file.read_text(encoding="utf-8"))
        return
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            yield record.get("id", f"line {number}"), record


def _schema_case(name: str, record: dict[str, Any]) -> Case:
    instances = tuple(Instance(compact(test["data"]), test["valid"]) for test in record.get("tests", ()))
    return Case(name, "json_schema", compact(record["schema"]), instances)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
