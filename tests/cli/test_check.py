"""`cfgmask check`: whole outputs of the main cases, and every outcome of a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_a_sound_grammar(run: Run) -> None:
    result = run("check", "greeting.lark")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "greeting.lark: fine\n", "")


def test_texts(run: Run) -> None:
    result = run("check", "greeting.lark", "--text", "hello anna, ben!", "--text", "hello Ben!", "--text", "hello anna")
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
text 1: accepted
error[text-refused]: the text is refused at byte 6
  --> text 2:1:7
1 | hello Ben!
  |       ^
  help: expected NAME

error[text-incomplete]: the text is incomplete at its end, byte 10
  --> text 3:1:11
1 | hello anna
  |           ^
  help: expected NAME, "!" or ","

greeting.lark: 1 text refused, 1 text incomplete
"""
    )


def test_a_grammar_that_takes_long_to_look_at(run: Run, folder: Path) -> None:
    rules = "".join(f'r{i}: "a{i}" r{i + 1}\n' for i in range(900))
    (folder / "long.lark").write_text(f'start: r0\n{rules}r900: "b"\n')
    assert "grammar-dead-end-undecided" in run("check", "long.lark").stdout
    assert run("check", "long.lark", "--thorough").stdout == "long.lark: fine\n"


def test_every_problem_at_once(run: Run, folder: Path) -> None:
    (folder / "bad.lark").write_text('start: missing A\nother: "x" gone\nA: /[/\n')
    result = run("check", "bad.lark")
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
error[lark-unknown-rule]: there is no rule `missing`
  --> bad.lark:1:8
1 | start: missing A
  |        ^^^^^^^

error[lark-unknown-rule]: there is no rule `gone`
  --> bad.lark:2:12
2 | other: "x" gone
  |            ^^^^

error[regex-unclosed-class]: this class is never closed
  --> bad.lark:3:5
3 | A: /[/
  |     ^
  help: add `]`

bad.lark: 3 errors
"""
    )


def test_a_schema_whose_rules_are_too_many_to_be_made_all_at_once(run: Run, folder: Path) -> None:
    members = {f"p{n}": {"type": "integer"} for n in range(500)}
    schema = {"type": "object", "properties": members, "maxProperties": 300}
    (folder / "many.json").write_text(json.dumps(schema))
    (folder / "many.lark").write_text(f'start: "x" %json {json.dumps(schema)}')
    for file, before in (("many.json", ""), ("many.lark", "x")):
        result = run("check", file, "--text", before + '{"p1": 80}', "--text", before + '{"p1": "1"}')
        assert "text 1: accepted\n" in result.stdout
        assert f"error[text-refused]: the text is refused at byte {7 + len(before)}\n" in result.stdout
        assert "note[check-not-analysed]" in result.stdout


def test_a_schema(run: Run, folder: Path) -> None:
    (folder / "schema.json").write_text(
        '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
    )
    result = run("check", "schema.json", "--text", '{"n": 1}', "--text", '{"n": "1"}')
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
text 1: accepted
error[text-refused]: the text is refused at byte 6
  --> text 2:1:7
1 | {"n": "1"}
  |       ^
  help: expected INTEGER

schema.json: 1 text refused
coverage: 4 enforced
"""
    )


def test_a_schema_that_cannot_be_enforced(run: Run, folder: Path) -> None:
    (folder / "schema.json").write_text(
        '{"properties": {"a": {"multipleOf": 1000000000000000003}, "b": {"multipleOf": 1000000000000000003}}}'
    )
    result = run("check", "schema.json", "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [d["pointer"] for d in answer["diagnostics"]] == ["/properties/a/multipleOf", "/properties/b/multipleOf"]


def test_json(run: Run) -> None:
    result = run("check", "greeting.lark", "--json", "--text", "hello 1")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "file": "greeting.lark",
        "ok": False,
        "diagnostics": [],
        "texts": [
            {
                "source": "text 1",
                "outcome": "refused",
                "offset": 6,
                "line": 1,
                "column": 7,
                "expected": ["NAME"],
                "may_end": False,
                "forced": {"text": "", "hex": ""},
            }
        ],
        "examples": {},
        "samples": [],
        "coverage": None,
    }


def test_examples_and_samples(run: Run) -> None:
    result = run("check", "greeting.lark", "--examples", "--sample", "3", "--seed", "1")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == 'start  "helloa!"'
    assert [line.partition("  ")[0] for line in lines[1:4]] == ["sample 1", "sample 2", "sample 3"]
    samples = [line.partition("  ")[2].strip('"') for line in lines[1:4]]
    assert run("check", "greeting.lark", *(arg for text in samples for arg in ("--text", text))).exit_code == 0
    assert run("check", "greeting.lark", "--examples", "--sample", "3", "--seed", "1").stdout == result.stdout


def test_strict_counts_warnings(run: Run, folder: Path) -> None:
    (folder / "slow.lark").write_text("start: /[a-z]/+\n")
    assert run("check", "slow.lark").exit_code == 0
    assert run("check", "slow.lark", "--strict").exit_code == 1


def test_files_and_stdin(run: Run, folder: Path) -> None:
    (folder / "good.txt").write_bytes(b"hello you!")
    (folder / "line.txt").write_bytes(b"hello you!\n")
    result = run("check", "greeting.lark", "--input", "good.txt", "--input", "line.txt", "--input", "-", stdin=b"hello")
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
good.txt: accepted
error[text-refused]: the text is refused at byte 10
  --> line.txt:1:11
1 | hello you!
  |           ^
  help: it is accepted without the line break at its end

error[text-incomplete]: the text is incomplete at its end, byte 5
  --> stdin:1:6
1 | hello
  |      ^
  help: expected NAME

greeting.lark: 1 text refused, 1 text incomplete
"""
    )


def test_an_empty_text_is_a_text(run: Run, folder: Path) -> None:
    (folder / "empty.txt").write_bytes(b"")
    (folder / "maybe.lark").write_text('start: "a"?\n')
    result = run("check", "maybe.lark", "--text", "", "--input", "empty.txt")
    assert (result.exit_code, result.stdout) == (0, "text 1: accepted\nempty.txt: accepted\nmaybe.lark: fine\n")


def test_special_tokens_need_a_vocabulary_only_when_one_is_given(run: Run, folder: Path) -> None:
    from cfgmask.demo import model_path

    (folder / "special.lark").write_text('start: <think> /[a-z]*/ </think> "." <[5-9]>\n')
    assert run("check", "special.lark").exit_code == 0
    assert run("check", "special.lark", "--vocab", str(model_path())).exit_code == 0
    (folder / "special.lark").write_text("start: <|unheard_of|> <[5000]>\n")
    assert run("check", "special.lark").exit_code == 0
    result = run("check", "special.lark", "--vocab", str(model_path()))
    assert result.exit_code == 1
    assert "special.lark: 2 errors" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "missing.lark"],
        ["check", "."],
        ["check", "greeting.lark", "--input", "missing.txt"],
        ["check", "greeting.lark", "--vocab", "missing.gguf"],
        ["check", "greeting.lark", "--unknown"],
        ["unknown"],
    ],
)
def test_misuse(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["check", "g.lark", "--text", "7"],
        ["mask", "g.lark", "--prefix", "7"],
        ["generate", "g.lark", "--prompt", "x", "--max-tokens", "9"],
        ["convert", "g.gbnf"],
    ],
)
def test_another_start_rule(run: Run, folder: Path, command: list[str]) -> None:
    (folder / "g.lark").write_text("start: other\nnumber: /[0-9]/\nother: number number\n")
    (folder / "g.gbnf").write_text("number ::= [0-9]")
    assert run(*command, "--start", "number").exit_code == 0
    assert run(*command).exit_code == 1 or command[0] in ("mask", "generate")
    missing = run(*command, "--start", "missing")
    assert missing.exit_code == 1
    assert "the grammar has no rule `missing`" in missing.stdout + missing.stderr
