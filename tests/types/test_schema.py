"""Grammars of Python types: which JSON they allow, and what is refused."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import typing
import uuid
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pytest

import cfgmask
from tests.lark.engine import VOCABULARY, accepts


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Bound:
    """As those of `annotated_types` are."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __repr__(self) -> str:
        return "Bound"


@dataclasses.dataclass
class Person:
    name: Annotated[str, Bound(min_length=1, max_length=5), "how others call them"]
    age: Annotated[int, Bound(ge=0), Bound(lt=150)] = 0
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
    "numbers": (Annotated[int, Bound(ge=3, multiple_of=2)], ["4", "10"], ["2", "5"]),
    "text": (Annotated[str, Bound(pattern="^a+$")], ['"aa"'], ['"b"']),
    "items": (Annotated[list[int], Bound(min_length=1)], ["[1]"], ["[]"]),
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


@dataclasses.dataclass
class Wrong:
    first: bytes
    second: list[complex]
    third: dict[int, str]
    fourth: Annotated[int, Bound(min_length=1)]
    fifth: Annotated[int, object]
    sixth: Literal[b"a"]


MESSAGES = [
    "Wrong.first: the class `bytes` has no JSON Schema",
    "Wrong.second[]: the class `complex` has no JSON Schema",
    "Wrong.third: the keys of a dict must be str",
    "Wrong.fourth: `Bound` does not apply here: there is no `min_length` of such values",
    "Wrong.fifth: `<class 'object'>` is not a constraint that a schema can hold",
    "Wrong.sixth: the value `b'a'` has no JSON",
]


def test_all_problems_are_reported() -> None:
    with pytest.raises(cfgmask.GrammarError) as caught:
        cfgmask.Grammar.from_type(Wrong)
    assert [problem.message for problem in caught.value.diagnostics] == MESSAGES
    assert {problem.code for problem in caught.value.diagnostics} == {"type-unsupported"}


@pytest.mark.parametrize("kind", [5, "int", typing.TypeVar("T"), typing.Callable[[], int], object])
def test_what_is_no_type_of_json_is_refused(kind: Any) -> None:
    with pytest.raises(cfgmask.GrammarError, match="type-unsupported"):
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


@pytest.mark.parametrize("comment", [{"unit": "m"}, [1], bytearray(b"x")])
def test_what_has_no_hash_is_no_constraint(comment: Any) -> None:
    with pytest.raises(cfgmask.GrammarError, match="is not a constraint that a schema can hold"):
        cfgmask.Grammar.from_type(list[Annotated[int, comment]])
    with pytest.raises(cfgmask.GrammarError, match="has no JSON"):
        cfgmask.Grammar.from_type(list[Literal[comment]])


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
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

    @pydantic.dataclasses.dataclass
    class Constrained:
        a: int = pydantic.Field(ge=3)

    for kind, wrap in ((Constrained, "{}"), (list[Constrained], "[{}]")):
        compiled = cfgmask.compile(cfgmask.Grammar.from_type(kind), VOCABULARY)
        assert accepts(compiled, wrap.replace("{}", '{"a": 3}'))
        for text in ("{}", '{"a": 0}'):
            assert not accepts(compiled, wrap.replace("{}", text))


def test_fields_of_pydantic_do_nothing_in_other_dataclasses() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    kind = dataclasses.make_dataclass("Plain", [("a", int, pydantic.Field(ge=3))])
    with pytest.raises(cfgmask.GrammarError, match="as a default does nothing in this dataclass"):
        cfgmask.Grammar.from_type(kind)


@pytest.mark.parametrize(("extra", "accepted"), [(None, False), ("ignore", False), ("forbid", False), ("allow", True)])
def test_models_have_further_keys_only_if_they_keep_them(extra: Any, accepted: bool) -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
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
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    compiled = cfgmask.compile(cfgmask.Grammar.from_type(pydantic.conint(gt=3)), VOCABULARY)
    assert accepts(compiled, "4")
    assert not accepts(compiled, "3")


def test_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
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
