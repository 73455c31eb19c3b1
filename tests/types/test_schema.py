"""Grammars of Python types: which JSON they allow, and what is refused."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import re
import sys
import typing
import uuid
from typing import Annotated, Any, Literal, Optional, Union

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

import annotated_types as at  # noqa: E402
from typing_extensions import TypedDict  # noqa: E402

import cfgmask  # noqa: E402
from tests.lark.engine import VOCABULARY, accepts  # noqa: E402


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclasses.dataclass
class Person:
    name: Annotated[str, at.Len(1, 5), "how others call them"]
    age: Annotated[int, at.Ge(0), at.Lt(150)] = 0
    likes: list[Colour] = dataclasses.field(default_factory=list)
    seen: int = dataclasses.field(default=0, init=False)


class Point(TypedDict):
    x: float
    y: float | None


class Partial(TypedDict, total=False):
    a: int


@dataclasses.dataclass
class Tree:
    value: int
    children: list[Tree]


@dataclasses.dataclass
class Other:
    tree: Tree
    point: Point


# A type, texts that it allows, texts that it refuses.
CASES: dict[str, tuple[Any, list[str], list[str]]] = {
    "bool": (bool, ["true"], ["1"]),
    "int": (int, ["-12"], ["1.5", "true"]),
    "float": (float, ["1.5", "2"], ['"1"']),
    "str": (str, ['"a"'], ["a"]),
    "None": (None, ["null"], ["0"]),
    "Any": (Any, ["null", '{"a":[1]}'], [""]),
    "a date": (datetime.date, ['"2024-02-29"'], ['"2023-02-29"']),
    "a UUID": (uuid.UUID, ['"01234567-89ab-cdef-0123-456789abcdef"'], ['"x"']),
    "Literal": (Literal["a", 1, None], ['"a"', "1", "null"], ['"b"', "2"]),
    "Enum": (Colour, ['"red"'], ['"RED"', '"blue"']),
    "Optional": (Optional[int], ["1", "null"], ['"a"']),  # noqa: UP045  # the old spelling is what it is about
    "Union": (Union[int, str], ["1", '"a"'], ["null"]),  # noqa: UP007  # the old spelling, too
    "|": (int | None, ["1", "null"], ['"a"']),
    "list": (list[int], ["[]", "[1,2]"], ['["a"]', "1"]),
    "a plain list": (list, ["[]", '[1,"a"]'], ["1"]),
    "tuple": (tuple[int, str], ['[1,"a"]'], ["[1]", '[1,"a",2]', '["a",1]']),
    "a long tuple": (tuple[int, ...], ["[]", "[1,2,3]"], ['["a"]']),
    "set": (set[int], ["[1,2]"], ["[1,1]"]),
    "dict": (dict[str, int], ["{}", '{"a":1}'], ['{"a":"b"}']),
    "numbers": (Annotated[int, at.Ge(3), at.MultipleOf(2)], ["4", "10"], ["2", "5"]),
    "text": (Annotated[str, pydantic.Field(pattern="^a+$")], ['"aa"'], ['"b"']),
    "items": (Annotated[list[int], at.MinLen(1)], ["[1]"], ["[]"]),
    "dataclass": (
        Person,
        ['{"name":"Ann"}', '{"name":"Ann","age":3,"likes":["red"]}'],
        ['{"name":""}', '{"name":"Ann","age":150}', '{"name":"Ann","x":1}', '{"age":3}', '{"name":"Ann","seen":1}'],
    ),
    "TypedDict": (Point, ['{"x":1,"y":null}'], ['{"x":1}', '{"x":1,"y":2,"z":3}']),
    "a TypedDict that is not total": (Partial, ["{}", '{"a":1}'], ['{"b":1}']),
    "recursion": (
        Tree,
        ['{"value":1,"children":[{"value":2,"children":[]}]}'],
        ['{"value":1,"children":[2]}', '{"value":1}'],
    ),
    "classes of classes": (list[Other], ['[{"tree":{"value":1,"children":[]},"point":{"x":1,"y":2}}]'], ["[{}]"]),
}


@pytest.mark.parametrize("name", CASES)
def test_language(name: str) -> None:
    kind, allowed, refused = CASES[name]
    compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind, whitespace="compact"), VOCABULARY)
    assert [text for text in allowed if not accepts(compiled, text)] == []
    assert [text for text in refused if accepts(compiled, text)] == []


class Wrong(pydantic.BaseModel):
    first: typing.Callable[[], int]
    second: list[type[int]]
    third: dict[tuple[int, int], str]
    fourth: dict[Literal[1], str] | None
    fifth: Annotated[Colour, pydantic.Field(pattern="a"), pydantic.PlainSerializer(str)]


MESSAGES = [
    "Wrong.first: no JSON stands for it (CallableSchema)",
    "Wrong.second[]: no JSON stands for it (a class: <class 'int'>)",
    "Wrong.third[key]: no JSON stands for it (a key that is no text)",
    "Wrong.fourth[key]: no JSON stands for it (a key that is no text)",
]


def test_all_problems_are_reported() -> None:
    with pytest.raises(cfgmask.GrammarError) as caught:
        cfgmask.Grammar.from_type(Wrong)
    assert [problem.message for problem in caught.value.diagnostics] == MESSAGES
    assert {problem.code for problem in caught.value.diagnostics} == {"type-unsupported"}


def test_pydantic_may_refuse_to_read_a_type() -> None:
    """It stops at the first problem then, and does not say where that is."""
    kind = dataclasses.make_dataclass("Bad", [("a", int), ("b", bytearray)])
    with pytest.raises(cfgmask.GrammarError) as caught:
        cfgmask.Grammar.from_type(kind)
    (problem,) = caught.value.diagnostics
    assert problem.message == (
        "Bad: Pydantic cannot read it: Unable to generate pydantic-core schema for <class 'bytearray'>"
    )


@pytest.mark.parametrize("kind", [5, [5], {"a": int}, typing.Callable[[], int], bytearray, typing.NoReturn])
def test_what_is_no_type_of_json_is_refused(kind: Any) -> None:
    with pytest.raises(cfgmask.GrammarError, match="type-unsupported"):
        cfgmask.Grammar.from_type(kind)


@pytest.mark.parametrize("text", ["int", "__import__('no_such_module')"])
def test_texts_are_not_evaluated(text: str) -> None:
    """Pydantic takes a text as the name of a type, and evaluates that."""
    for kind in (text, typing.ForwardRef(text)):
        with pytest.raises(cfgmask.GrammarError, match="a text is no type"):
            cfgmask.Grammar.from_type(kind)


def test_depth_is_bounded() -> None:
    deep: Any = int
    for _ in range(150):
        deep = list[deep]
    with pytest.raises(cfgmask.GrammarError, match="stand inside each other"):
        cfgmask.Grammar.from_type(deep)


def test_size_is_bounded() -> None:
    """Where types are parts of others twice, each time: the schema is as large as a tree of them."""
    large: Any = int
    for _ in range(40):
        large = tuple[large, large]
    with pytest.raises(cfgmask.GrammarError, match="it has more than 100000 parts"):
        cfgmask.Grammar.from_type(dict[str, large])
    shared: Any = int
    for number in range(40):
        shared = dataclasses.make_dataclass(f"Pair{number}", [("a", shared), ("b", shared)])
    assert cfgmask.Grammar.from_type(shared)


@pytest.mark.parametrize("comment", [{"unit": "m"}, [1], bytearray(b"x"), object()])
def test_comments_may_be_anything(comment: Any) -> None:
    assert cfgmask.Grammar.from_type(list[Annotated[int, comment]]).notes == ()


def test_options_are_those_of_schemas() -> None:
    assert cfgmask.Grammar.from_type(int).name == "<int>"
    with pytest.raises(TypeError, match="colour"):
        cfgmask.Grammar.from_type(int, colour="red")  # type: ignore[call-arg]


def test_tuples() -> None:
    """`tuple` is of any length; `tuple[()]`, whose arguments are empty as well, is not."""
    cases = [
        (tuple, ["[]", "[1]", '["a", 2]'], []),
        (tuple[()], ["[]"], ["[1]"]),
        (tuple[int], ["[1]"], ["[]", "[1, 2]"]),
    ]
    for kind, accepted, rejected in [*cases, (typing.Tuple, ["[1]"], [])]:  # noqa: UP006, people write it
        compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind), VOCABULARY)
        for text in accepted:
            assert accepts(compiled, text), (kind, text)
        for text in rejected:
            assert not accepts(compiled, text), (kind, text)


def test_dataclasses_of_pydantic_keep_their_constraints() -> None:
    @pydantic.dataclasses.dataclass
    class Constrained:
        a: int = pydantic.Field(ge=3)

    for kind, wrap in ((Constrained, "{}"), (list[Constrained], "[{}]")):
        compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind), VOCABULARY)
        assert accepts(compiled, wrap.replace("{}", '{"a": 3}'))
        for text in ("{}", '{"a": 0}'):
            assert not accepts(compiled, wrap.replace("{}", text))


def test_fields_of_pydantic_in_other_dataclasses() -> None:
    kind = dataclasses.make_dataclass("Plain", [("a", int, pydantic.Field(ge=3))])
    compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind), VOCABULARY)
    assert accepts(compiled, '{"a": 3}')
    for text in ("{}", '{"a": 0}'):
        assert not accepts(compiled, text)


@pytest.mark.parametrize(("extra", "accepted"), [(None, False), ("ignore", False), ("forbid", False), ("allow", True)])
def test_models_have_further_keys_only_if_they_keep_them(extra: Any, accepted: bool) -> None:
    config = None if extra is None else pydantic.ConfigDict(extra=extra)
    inner = pydantic.create_model("Inner", a=(int, ...), __config__=config)
    for kind, wrap in (
        (inner, "{}"),
        (list[inner], "[{}]"),
        (pydantic.create_model("Outer", i=(inner, ...)), '{"i": {}}'),
    ):
        compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind), VOCABULARY)
        assert accepts(compiled, wrap.replace("{}", '{"a": 1}'))
        assert accepts(compiled, wrap.replace("{}", '{"a": 1, "b": 2}')) == accepted


def test_conint() -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_type(pydantic.conint(gt=3)), VOCABULARY)
    assert accepts(compiled, "4")
    assert not accepts(compiled, "3")


def test_pydantic() -> None:
    inner = pydantic.create_model("Inner", n=(Annotated[int, pydantic.Field(ge=1)], ...))
    model = pydantic.create_model("Model", inner=(inner, ...), __config__=pydantic.ConfigDict(extra="forbid"))
    kind = dataclasses.make_dataclass(
        "Holder", [("model", model), ("length", Annotated[str, pydantic.Field(max_length=2)])]
    )
    compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind, whitespace="compact"), VOCABULARY)
    assert accepts(compiled, '{"model":{"inner":{"n":1}},"length":"ab"}')
    assert not accepts(compiled, '{"model":{"inner":{"n":0}},"length":"ab"}')
    assert not accepts(compiled, '{"model":{"inner":{"n":1},"x":1},"length":"ab"}')
    assert not accepts(compiled, '{"model":{"inner":{"n":1}},"length":"abc"}')


def test_notes_have_places_and_places_are_told_once() -> None:
    inner = pydantic.create_model("Inner", url=(pydantic.HttpUrl, ...), even=(Annotated[int, at.Predicate(bool)], 2))
    outer = pydantic.create_model("Outer", one=(inner, ...), more=(dict[str, list[inner]], ...))
    grammar = cfgmask.Grammar.from_type(outer)
    messages = [
        "Inner.url: not all is checked that makes a text a URL",
        "Inner.even: not all that Pydantic checks is in the schema",
    ]
    assert [note.message for note in grammar.notes] == messages
    assert grammar.ir
    assert [note.message for note in grammar.notes] == messages


def test_keys_of_patterns_are_without_others() -> None:
    kind = dict[Annotated[str, pydantic.Field(pattern="^a")], int]
    compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind), VOCABULARY)
    assert accepts(compiled, '{"ab": 1}')
    assert not accepts(compiled, '{"b": 1}')


def test_patterns_of_one_type_are_of_one_engine() -> None:
    kind = tuple[Annotated[str, pydantic.Field(pattern="a")], Annotated[str, pydantic.Field(pattern=re.compile("b"))]]
    with pytest.raises(cfgmask.GrammarError, match="both of Pydantic's engines"):
        cfgmask.Grammar.from_type(kind)


def test_a_discriminator_must_be_written() -> None:
    """Pydantic needs it even if the field has a default, which its schema does not say."""
    cat = pydantic.create_model("Cat", kind=(Literal["cat"], "cat"), n=(int, ...))
    dog = pydantic.create_model("Dog", kind=(Literal["dog"], "dog"))
    kind = Annotated[Union[cat, dog], pydantic.Field(discriminator="kind")]  # noqa: UP007
    compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind), VOCABULARY)
    assert accepts(compiled, '{"kind": "cat", "n": 1}')
    assert accepts(compiled, '{"kind": "dog"}')
    for text in ('{"n": 1}', "{}", '{"kind": "dog", "n": 1}'):
        assert not accepts(compiled, text)


def test_a_typed_dict_of_typing_needs_a_newer_python() -> None:
    kind = typing.TypedDict("kind", {"a": int})  # noqa: UP013
    if sys.version_info >= (3, 12):
        assert cfgmask.Grammar.from_type(kind).parse('{"a": 1}') == {"a": 1}
    else:
        with pytest.raises(cfgmask.GrammarError, match=r"use `typing_extensions\.TypedDict`"):
            cfgmask.Grammar.from_type(kind)


def test_the_core_schema_of_a_model_stays_as_it_is() -> None:
    kind = Annotated[typing.Mapping[str, int], at.MinLen(1)]
    model = pydantic.create_model("Model", a=(kind, ...))
    before = model.model_json_schema()
    cfgmask.Grammar.from_type(model)
    assert model.model_json_schema() == before
