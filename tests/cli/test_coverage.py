"""`cfgmask check` of a schema: what becomes of each keyword, in one line, as a list and as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

SCHEMA: dict[str, Any] = {
    "title": "x",
    "description": "y",
    "type": "object",
    "properties": {
        "tags": {"multipleOf": 1000000000000000003},
        "n\u001b": {"type": "integer", "minLength": 2, "nullable": True},
    },
}


@pytest.mark.parametrize(
    ("schema", "code", "line"),
    [
        ({"type": "integer", "minimum": 1}, 0, "coverage: 2 enforced"),
        ({"title": "x", "type": "null"}, 0, "coverage: 1 enforced, 1 annotation"),
        ({"pattern": r"(.)\1", "x-guidance": {"lenient": True}}, 0, "coverage: 1 annotation, 1 relaxed"),
        (SCHEMA, 1, "coverage: 3 enforced, 3 annotations, 1 idle, 1 refused"),
        (True, 0, "coverage: no keywords"),
        (False, 1, "coverage: 1 refused"),
        ({"$ref": "#"}, 1, "coverage: 1 enforced, 1 refused"),
    ],
)
def test_the_last_line_counts(run: Run, folder: Path, schema: Any, code: int, line: str) -> None:
    (folder / "schema.json").write_text(json.dumps(schema))
    result = run("check", "schema.json")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (code, line)


def test_the_list(run: Run, folder: Path) -> None:
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    result = run("check", "schema.json", "--coverage")
    assert result.exit_code == 1
    # Plain text, since this is no terminal; control characters of the schema are spelled out everywhere.
    assert (
        result.stdout.partition("schema.json: 1 error\n")[2]
        == r"""annotation  /title
annotation  /description
enforced    /type
enforced    /properties
refused     /properties/tags/multipleOf  (schema-multiple-of)
enforced    /properties/n\x1b/type
idle        /properties/n\x1b/minLength
annotation  /properties/n\x1b/nullable  (schema-unknown-keyword)
coverage: 3 enforced, 3 annotations, 1 idle, 1 refused
"""
    )


@pytest.mark.parametrize("arguments", [(), ("--coverage",)])
def test_the_data(run: Run, folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "schema.json").write_text('{"title": "", "multipleOf": 1000000000000000003}')
    answer = json.loads(run("check", "schema.json", "--json", *arguments).stdout)
    assert answer["coverage"] == [
        {"pointer": "/title", "keyword": "title", "status": "annotation", "code": None},
        {"pointer": "/multipleOf", "keyword": "multipleOf", "status": "refused", "code": "schema-multiple-of"},
    ]


@pytest.mark.parametrize("data", [b"{", b"\xff", b""])
def test_what_is_no_json_has_none(run: Run, folder: Path, data: bytes) -> None:
    (folder / "schema.json").write_bytes(data)
    result = run("check", "schema.json", "--coverage")
    assert result.exit_code == 1
    assert result.stdout.endswith("\n\nschema.json: 1 error\n")
    assert json.loads(run("check", "schema.json", "--json").stdout)["coverage"] is None


def test_grammars_in_lark_have_none(run: Run) -> None:
    assert run("check", "greeting.lark").stdout == "greeting.lark: fine\n"
    result = run("check", "greeting.lark", "--coverage")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--coverage is for JSON Schemas" in result.stderr
