"""What `Grammar.from_…` and `compile` refuse, and how they say it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import cfgmask
from cfgmask.grammar.ir import GrammarIR, Repeat, Rule, Terminal
from cfgmask.grammar.regex_tree import MAX_COUNT, Literal
from cfgmask.json_schema import JsonSchemaOptions

BYTES = cfgmask.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], eos_token_id=256)


def code_of(error: pytest.ExceptionInfo[cfgmask.GrammarError]) -> str:
    return error.value.diagnostics[0].code


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (cfgmask.Grammar.from_lark, b'start: "a"'),
        (lambda start: cfgmask.Grammar.from_lark('start: "a"', start=start), None),
        (cfgmask.Grammar.from_regex, ["a"]),
        (cfgmask.Grammar.from_choices, "abc"),
        (cfgmask.Grammar.from_choices, ["a", 1]),
    ],
)
def test_wrong_types_are_named(make: Any, argument: Any) -> None:
    with pytest.raises(TypeError, match="must be a"):
        make(argument)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (cfgmask.Grammar.from_lark, 'start: "a"'),
        (cfgmask.Grammar.from_gbnf, 'root ::= "a"'),
        (cfgmask.Grammar.from_json_schema, {}),
        (cfgmask.Grammar.from_type, int),
        (cfgmask.Grammar.from_regex, "a"),
        (cfgmask.Grammar.from_file, "none.lark"),
    ],
)
def test_limits_of_another_type_are_named(make: Any, argument: Any) -> None:
    with pytest.raises(TypeError, match=r"limits must be cfgmask\.Limits, not dict"):
        make(argument, limits={})


def test_none_is_no_schema() -> None:
    with pytest.raises(cfgmask.GrammarError, match="a schema must be an object or a boolean, not null"):
        cfgmask.Grammar.from_json_schema(None)  # type: ignore[arg-type]


def test_unknown_schema_option_is_named() -> None:
    with pytest.raises(TypeError, match="spaces"):
        cfgmask.Grammar.from_json_schema({}, spaces="none")  # type: ignore[call-arg]


# Calls of constructors are a syntax of types alone, and patterns of types are those of Pydantic's engine.
_OF_TYPES = {
    "syntax": ("json", "Literal['json', 'yaml', 'call']"),
    "pattern_dialect": (None, "Literal['ecma', 'python', 'rust'] | None"),
}


@pytest.mark.parametrize(
    "make", [cfgmask.Grammar.from_json_schema, cfgmask.Grammar.from_type, cfgmask.Grammar.from_file]
)
def test_schema_options_are_typed_one_by_one(make: Any) -> None:
    """Every field of the options is an argument of its own, in the same order, with the same default and type."""
    arguments = inspect.signature(make).parameters
    assert not [name for name, argument in arguments.items() if argument.kind is inspect.Parameter.VAR_KEYWORD]
    options = dataclasses.fields(JsonSchemaOptions)
    names = [option.name for option in options]
    assert [name for name in arguments if name in names] == names
    for option in options:
        argument = arguments[option.name]
        expected = option.default, option.type
        if make == cfgmask.Grammar.from_type:
            expected = _OF_TYPES.get(option.name, expected)
        assert (argument.default, argument.annotation) == expected, option.name


def test_defaults_fit_on_a_screen() -> None:
    for name, make in inspect.getmembers(cfgmask.Grammar, inspect.ismethod):
        for argument in inspect.signature(make).parameters.values():
            assert len(repr(argument.default)) < 60, (name, argument)


class _Model:
    pass


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (_Model, r"call Grammar\.from_type\(_Model\)"),
        (list[int], r"call Grammar\.from_type"),
        (Path("a.json"), r"call Grammar\.from_file\(path\)"),
        (b"{}", "decode it"),
        (MappingProxyType({}), r"call dict\(schema\)"),
        (cfgmask.Grammar.from_choices(["a"]), "is a Grammar already"),
    ],
)
def test_what_is_often_taken_for_a_schema(schema: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        cfgmask.Grammar.from_json_schema(schema)


def test_options_that_cannot_be_hashed() -> None:
    with pytest.raises(ValueError, match="is not supported"):
        cfgmask.Grammar.from_json_schema({}, whitespace=["a"])  # type: ignore[arg-type]


def test_a_grammar_is_not_made_by_its_class() -> None:
    with pytest.raises(TypeError, match=r"use Grammar\.from_lark"):
        cfgmask.Grammar(1)  # type: ignore[arg-type]


@pytest.mark.parametrize(("choices", "code"), [([], "choices-empty"), (["\ud800"], "choices-surrogate")])
def test_choices_that_are_none(choices: list[str], code: str) -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_choices(choices)
    assert code_of(error) == code


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [("g.txt", b'start: "a"', "file-suffix"), ("g.lark", b'start: "\xff"', "file-encoding")],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_file(path)
    assert code_of(error) == code


def test_file_over_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "g.lark"
    path.write_bytes(b"//" * 600)
    with pytest.raises(cfgmask.LimitExceeded, match="max_source_bytes = 1000"):
        cfgmask.Grammar.from_file(path, limits=cfgmask.Limits(max_source_bytes=1000))


class _Llama:
    def n_vocab(self) -> int:
        return 1

    def create_completion(self) -> None:
        pass


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, BYTES), "a Grammar first, not a NoneType"),
        (("start: A", BYTES), r"call Grammar\.from_lark\(text\)"),
        (({"type": "object"}, BYTES), r"call Grammar\.from_json_schema\(schema\)"),
        ((_Model, BYTES), r"call Grammar\.from_type\(_Model\)"),
        ((["a"], BYTES), r"call Grammar\.from_choices\(choices\)"),
        ((BYTES, cfgmask.Grammar.from_choices(["a"])), "the grammar comes first"),
        ((cfgmask.Grammar.from_choices(["a"]), None), "a Vocabulary second, not a NoneType"),
        ((cfgmask.Grammar.from_choices(["a"]), _Llama()), r"call Vocabulary\.from_llama\(llm\)"),
        ((cfgmask.Grammar.from_choices(["a"]), [b"a"]), r"call Vocabulary\.from_bytes"),
        ((cfgmask.Grammar.from_choices(["a"]), BYTES, {}), r"limits must be cfgmask\.Limits or None"),
    ],
)
def test_compile_names_the_right_call(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        cfgmask.compile(*arguments)


def test_compile_refuses_counts_that_the_core_cannot_hold() -> None:
    letter = Terminal("A", Literal(b"a"))
    ir = GrammarIR((Rule("start", Repeat(letter, 0, MAX_COUNT + 1)),), "start")
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.compile(ir, BYTES)
    assert code_of(error) == "count-too-large"


@pytest.mark.parametrize("schema", [{"type": "string", "minLength": 10**12}, {"minItems": 10**30}])
def test_schemas_count_no_further(schema: dict[str, Any]) -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_json_schema(schema)
    assert code_of(error) == "schema-count-too-large"


@pytest.mark.parametrize(
    "schema", [{"maxLength": 10**12}, {"maxItems": 10**30}, {"not": {"maxItems": 2**31 - 2}}, {"minLength": 2**31 - 2}]
)
def test_schemas_count_as_far_as_the_core(schema: dict[str, Any]) -> None:
    cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), BYTES)


@pytest.mark.parametrize(
    "schema",
    [
        '{"minimum": 1e399}',
        '{"minimum": -1e399, "maximum": 1e-399}',
        '{"exclusiveMinimum": 1e-399}',
        '{"type": "integer", "minimum": -0.0}',
        '{"minimum": 0e999999999}',
        '{"multipleOf": 1e-399}',
        '{"enum": [1e399, 1e-399]}',
        {"minimum": 5e-324, "maximum": 1.7e308},
    ],
)
def test_long_numbers_in_schemas(schema: Any) -> None:
    cfgmask.compile(cfgmask.Grammar.from_json_schema(schema, numbers="any"), BYTES)


@pytest.mark.parametrize("number", ["1e400", "-1E999999999", "1e-999999999", "1E99999999999999999999", "9" * 100_000])
def test_numbers_that_are_too_long_are_named(number: str) -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_json_schema(f'{{"items": {{"minimum": {number}}}}}')
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.pointer) == ("schema-number", "/items/minimum")


def test_compile_refuses_a_grammar_without_texts() -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.compile(cfgmask.Grammar.from_regex(r"[^\s\S]"), BYTES)
    assert code_of(error) == "grammar-empty"


@pytest.mark.parametrize("flags", ["", "i"])
def test_long_patterns(flags: str) -> None:
    """Nearly a million parts, whatever the flags; and more than that."""
    pattern = "".join(f"({chr(97 + n % 26)}{chr(97 + n * 7 % 26)})?" for n in range(100_000))
    assert cfgmask.Grammar.from_regex(pattern, flags=flags)
    with pytest.raises(cfgmask.LimitExceeded, match="max_regex_nodes"):
        cfgmask.Grammar.from_regex(2 * pattern, flags=flags)


def test_terminals_that_leave_a_grammar_without_texts_are_named() -> None:
    grammar = cfgmask.Grammar.from_lark('start: "a" B\nB: "x" & "y"')
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.compile(grammar, BYTES)
    [related] = error.value.diagnostics[0].related
    assert (related.span.text, related.message) == ("B", "this terminal matches no text")


@pytest.mark.parametrize(
    ("value", "error"), [("x", TypeError), (1.5, TypeError), (-1, ValueError), (2**63, ValueError)]
)
def test_limits_are_checked(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="max_items must be"):
        cfgmask.Limits(max_items=value)


def test_errors_survive_pickling() -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_choices([])
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.diagnostics) == (str(error.value), error.value.diagnostics)
    limit = pickle.loads(pickle.dumps(cfgmask.LimitExceeded("max_items", 3, "in a test")))
    assert (limit.limit, limit.value) == ("max_items", 3)


def test_a_file_of_a_schema_names_its_diagnostics(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"items": {"multipleOf": 1000000000000000003}}')
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_file(path)
    assert f"--> {path}:1:26\n" in str(error.value)
    path.write_text('{\n  "nullable": true\n}')
    grammar = cfgmask.Grammar.from_file(path)
    assert (grammar.name, len(grammar.notes)) == (str(path), 1)
    assert f"--> {path}:2:3\n" in grammar.notes[0].render()


@pytest.mark.parametrize(
    "grammar",
    [
        cfgmask.Grammar.from_lark('start: "12" | "3"'),
        cfgmask.Grammar.from_lark('start[lazy]: "12" | "3"', name="x"),
        cfgmask.Grammar.from_json_schema({"enum": [12, 3]}),
    ],
    ids=["plain Lark", "Lark", "a plain schema"],
)
def test_grammars_can_be_copied_and_pickled(grammar: cfgmask.Grammar) -> None:
    assert copy.copy(grammar) is grammar
    assert copy.deepcopy(grammar) is grammar
    again = pickle.loads(pickle.dumps(grammar))
    assert again.name == grammar.name
    assert again.ir == grammar.ir
    matcher = cfgmask.compile(again, BYTES).matcher()
    assert matcher.advance_bytes(b"12") == 2
    assert matcher.is_accepting
