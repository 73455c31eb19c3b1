"""`--option NAME=VALUE`: how a JSON Schema is read, by every command that reads one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cfgmask
from tests.cli.conftest import Run

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "format": "date"}, "n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.fixture
def schema(folder: Path) -> str:
    (folder / "s.json").write_text(json.dumps(SCHEMA))
    return "s.json"


@pytest.mark.parametrize(
    ("options", "accepted", "refused"),
    [
        ([], '{"name": "2025-01-02", "n": 1}', '{"n": 1, "name": "2025-01-02"}'),
        (["property_order=any"], '{"n": 1, "name": "2025-01-02"}', '{"n": 1, "n": 1}'),
        (["property-order=any", "whitespace=compact"], '{"n":1,"name":"2025-01-02"}', '{"n": 1}'),
        (["formats=annotate"], '{"name": "soon", "n": 1}', '{"name": 1, "n": 1}'),
        (["indent=2"], '{\n  "n": 1\n}', '{"n": 1}'),
        (["max_digits=2"], '{"n": 12}', '{"n": 123}'),
        (["max_digits=none"], '{"n": ' + "1" * 200 + "}", '{"n": 01}'),
        (["whitespace=compact", "key_separator=: "], '{"n": 1}', '{"n":1}'),
        (["syntax=yaml"], "n: 1", '{"n": 1}'),
    ],
)
def test_what_options_mean(run: Run, schema: str, options: list[str], accepted: str, refused: str) -> None:
    given = [argument for option in options for argument in ("--option", option)]
    result = run("check", schema, *given, "--text", accepted, "--text", refused, "--json")
    assert [text["outcome"] for text in json.loads(result.stdout)["texts"]] == ["accepted", "refused"]


def test_what_is_relaxed_is_covered(run: Run, folder: Path) -> None:
    (folder / "order.json").write_text('{"properties": {"tags": {"multipleOf": 1000000000000000003}}}')
    result = run("check", "order.json", "--option", "on_unsupported=relax")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "coverage: 1 enforced, 1 relaxed"


def test_masks(run: Run, folder: Path, schema: str) -> None:
    cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], 256).save(folder / "v.json")
    arguments = ("mask", schema, "--vocab", "v.json", "--prefix", '{"n":', "--why", " ")
    assert run(*arguments).exit_code == 0
    assert run(*arguments, "--option", "whitespace=compact").exit_code == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["property_ordr=any"], "there is no option 'property_ordr': did you mean `property_order`?"),
        (["property_order"], "'property_order' is not NAME=VALUE"),
        (["property_order=random"], """property_order='random' is not supported; it may be "schema", "any\""""),
        (["indent=two"], "indent='two' is not supported; it may be None or from 0 to 16"),
        (["indent=99999999999"], "indent='99999999999' is not supported; it may be None or from 0 to 16"),
        (["indent=2", "indent=4"], "indent is given twice"),
        (["indent=2", "property_order=any"], 'indent is not supported with property_order="any"'),
        (["whitespace=("], "whitespace='('"),
    ],
)
@pytest.mark.parametrize("command", ["check", "mask", "generate"])
def test_misuse(run: Run, schema: str, command: str, options: list[str], message: str) -> None:
    given = [argument for option in options for argument in ("--option", option)]
    result = run(command, schema, *given, *(("--prompt", "x") if command == "generate" else ()))
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("command", ["check", "mask", "generate"])
def test_of_other_grammars_there_are_no_options(run: Run, command: str) -> None:
    prompt = ("--prompt", "x") if command == "generate" else ()
    result = run(command, "greeting.lark", "--option", "syntax=yaml", *prompt)
    assert result.exit_code == 2
    assert "--option is for JSON Schemas, whose names end in .json" in result.stderr


def test_files_are_read_with_options(folder: Path, schema: str) -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], 256)
    grammar = cfgmask.Grammar.from_file(folder / schema, syntax="yaml")
    assert cfgmask.compile(grammar, vocabulary).matcher().advance_bytes(b"n: 1") == 4
    with pytest.raises(TypeError, match=r"the option 'syntax' is for a JSON Schema, and greeting.lark is none"):
        cfgmask.Grammar.from_file(folder / "greeting.lark", syntax="yaml")
    with pytest.raises(TypeError, match="syntx"):
        cfgmask.Grammar.from_file(folder / schema, syntx="yaml")  # type: ignore[call-arg]
