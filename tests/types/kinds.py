"""Kinds of types, and values of each: `KINDS` hold both ways, `WIDER` and `NARROWER` are tables of docs/types.md."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar, Union

import annotated_types as at
import pydantic
import typing_extensions as te
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
INT = st.integers(-(10**30), 10**30)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
ZONES = st.sampled_from([None, datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=-5, minutes=-30))])
AWARE = st.sampled_from([datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=14))])


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2
    NONE = None


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


@dataclasses.dataclass
class Tree:
    value: Annotated[int, at.Ge(0)]
    children: list[Tree] = dataclasses.field(default_factory=list)


@pydantic.dataclasses.dataclass
class Constrained:
    a: int = Field(ge=3)
    b: str = Field("", max_length=2)


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
class Open:
    a: int


class Movie(te.TypedDict, total=False):
    title: te.Required[str]
    year: int


class Place(te.TypedDict):
    name: str
    height: te.NotRequired[Optional[int]]  # noqa: UP045


class Pair(NamedTuple):
    first: int
    second: str = "x"


class User(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(min_length=1, max_length=4)]
    born: datetime.date | None = None
    tags: set[str] = set()


class Node(BaseModel):
    value: int
    next: Optional[Node] = None  # noqa: UP045


class Aliased(BaseModel):
    user_name: str = Field(alias="userName")
    age: int = Field(validation_alias=pydantic.AliasChoices("years", "age"), serialization_alias="years")


class Bag(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    n: int
    x: float
    on: datetime.datetime
    of: tuple[bytes, ...]
    by: dict[int, decimal.Decimal]


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog", "wolf"]
    name: str


Item = TypeVar("Item")


class Box(BaseModel, Generic[Item]):
    item: Item
    more: list[Item] = []


class Numbers(RootModel[list[int]]):
    pass


class Rusty(BaseModel):
    word: Annotated[str, Field(pattern=r"^\pL+\d$", max_length=5)]


class Pythonic(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    word: Annotated[str, Field(pattern=r"^a(?=b)\w\Z")]


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, str_max_length=4)
    word: Annotated[str, Field(min_length=1)]


class Hex(BaseModel):
    model_config = ConfigDict(val_json_bytes="hex", ser_json_bytes="hex")
    data: bytes


Metres = NewType("Metres", Annotated[int, Field(ge=0)])  # type: ignore[valid-newtype]
Names = te.TypeAliasType("Names", list[str])
Json = te.TypeAliasType("Json", "int | list[Json] | dict[str, Json] | None")


def book(title: str, year: int = 1999, *, tags: list[str]) -> None:
    raise AssertionError("not called")


def add(a: int, /, *more: int) -> None:
    raise AssertionError("not called")


def label(name: str, **rest: int) -> None:
    raise AssertionError("not called")


def _tree() -> st.SearchStrategy[Tree]:
    return st.recursive(
        st.builds(Tree, st.integers(0, 9)),
        lambda inner: st.builds(Tree, st.integers(0, 9), st.lists(inner, max_size=2)),
        max_leaves=4,
    )


def _decimals(**options: Any) -> st.SearchStrategy[decimal.Decimal]:
    return st.decimals(allow_nan=False, allow_infinity=False, **options)


def _is_even(n: int) -> int:
    if n % 2:
        raise ValueError("odd")
    return n


@dataclasses.dataclass
class Checked:
    n: int

    def __post_init__(self) -> None:
        _is_even(self.n)


@dataclasses.dataclass
class Counted:
    n: int
    seen: int = dataclasses.field(default=0, init=False)


class Computed(BaseModel):
    n: int

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def double(self) -> int:
        return 2 * self.n


class Renamed(BaseModel):
    n: int = Field(serialization_alias="m")


class Hidden(BaseModel):
    n: int = Field(exclude=True)


class Infinite(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="constants")
    x: float


class Seconds(BaseModel):
    model_config = ConfigDict(ser_json_timedelta="float")
    lasts: datetime.timedelta


class Strange(enum.Enum):
    PAIR = (1, 2)
    ONE = 1


def _kind_of(value: Any) -> str:
    return "cat" if value.get("lives", 0) > 1 else "dog"


# A name, the type, and values of it.
KINDS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "bool": (bool, st.booleans()),
    "int": (int, INT),
    "float": (float, FLOAT),
    "str": (str, TEXT),
    "None": (None, st.none()),
    "Any": (Any, st.recursive(st.none() | INT | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner))),
    "object": (object, st.lists(INT)),
    "JsonValue": (pydantic.JsonValue, st.dictionaries(TEXT, INT | st.none())),
    "StrictInt": (pydantic.StrictInt, INT),
    "StrictFloat": (pydantic.StrictFloat, FLOAT),
    "StrictStr": (pydantic.StrictStr, TEXT),
    "StrictBool": (pydantic.StrictBool, st.booleans()),
    "PositiveInt": (pydantic.PositiveInt, st.integers(1, 10**20)),
    "conint(gt=3)": (pydantic.conint(gt=3), st.integers(4, 10**20)),
    "float, multiples": (Annotated[float, at.MultipleOf(0.5)], st.integers(-99, 99).map(lambda n: n / 2)),
    "float, bounds": (Annotated[float, Field(gt=-1, le=2.5)], st.floats(-1, 2.5, exclude_min=True)),
    "FiniteFloat": (pydantic.FiniteFloat, FLOAT),
    "bytes": (bytes, TEXT.map(str.encode)),
    "Base64Bytes": (pydantic.Base64Bytes, st.binary(max_size=6)),
    "Base64UrlBytes": (pydantic.Base64UrlBytes, st.binary(max_size=6)),
    "bytes in hex": (Hex, st.builds(Hex, data=st.binary(max_size=4).map(lambda data: data.hex().encode()))),
    "date": (datetime.date, st.dates()),
    "time": (datetime.time, st.times(timezones=ZONES)),
    "datetime": (datetime.datetime, st.datetimes(timezones=ZONES)),
    "AwareDatetime": (pydantic.AwareDatetime, st.datetimes(timezones=AWARE)),
    "NaiveDatetime": (pydantic.NaiveDatetime, st.datetimes()),
    "timedelta": (
        datetime.timedelta,
        st.timedeltas(datetime.timedelta(-980_000_000), datetime.timedelta(980_000_000)),
    ),
    "UUID": (uuid.UUID, st.uuids()),
    "UUID4": (pydantic.UUID4, st.uuids(version=4)),
    "Decimal": (decimal.Decimal, _decimals()),
    "Decimal, bounds": (
        Annotated[decimal.Decimal, Field(ge=0, lt=decimal.Decimal("12.5"))],
        _decimals(min_value=0, max_value=12, places=3),
    ),
    "Decimal, places": (
        pydantic.condecimal(max_digits=5, decimal_places=2),
        _decimals(min_value=-999, max_value=999, places=2),
    ),
    "Decimal, digits": (pydantic.condecimal(max_digits=3), st.integers(-999, 999).map(decimal.Decimal)),
    "complex": (complex, st.complex_numbers(allow_nan=False, allow_infinity=False, max_magnitude=1e9)),
    "Fraction": (fractions.Fraction, st.fractions()),
    "IPv4Address": (ipaddress.IPv4Address, st.ip_addresses(v=4)),
    "IPv6Address": (ipaddress.IPv6Address, st.ip_addresses(v=6)),
    "IPvAnyAddress": (pydantic.IPvAnyAddress, st.ip_addresses()),
    "Path": (pathlib.Path, st.text("abc/.", min_size=1).map(pathlib.Path)),
    "Literal": (Literal["a", 1, None], st.sampled_from(["a", 1, None])),
    "Enum": (Colour, st.sampled_from(Colour)),
    "IntEnum": (Level, st.sampled_from(Level)),
    "Flag": (Access, st.integers(0, 7).map(Access)),
    "Optional": (Optional[int], st.none() | INT),  # noqa: UP045, as people write it
    "Union": (Union[int, str], INT | TEXT),  # noqa: UP007
    "|": (int | list[str], INT | st.lists(TEXT)),
    "Optional with a length": (Annotated[Optional[str], at.MinLen(2)], st.none() | st.text("abc", min_size=2)),  # noqa: UP045
    "list": (list[int], st.lists(INT)),
    "list without items": (list, st.lists(INT | TEXT)),
    "list of a length": (Annotated[list[int], at.Len(1, 3)], st.lists(INT, min_size=1, max_size=3)),
    "Sequence": (Sequence[int], st.lists(INT)),
    "Sequence of a length": (Annotated[Sequence[int], at.MinLen(1)], st.lists(INT, min_size=1)),
    "deque": (collections.deque[int], st.lists(INT).map(collections.deque)),
    "tuple": (tuple[int, str], st.tuples(INT, TEXT)),
    "tuple of any length": (tuple[int, ...], st.lists(INT).map(tuple)),
    "tuple without items": (tuple, st.tuples(INT)),
    "tuple[()]": (tuple[()], st.just(())),
    "NamedTuple": (Pair, st.builds(Pair, INT, TEXT)),
    "set": (set[int], st.sets(INT)),
    "set without items": (set, st.sets(TEXT | INT)),
    "frozenset": (frozenset[Level], st.frozensets(st.sampled_from(Level))),
    "AbstractSet": (AbstractSet[str], st.frozensets(TEXT)),
    "dict": (dict[str, int], st.dictionaries(TEXT, INT)),
    "dict without items": (dict, st.dictionaries(TEXT, INT)),
    "dict of a length": (Annotated[dict[str, int], at.MinLen(1)], st.dictionaries(TEXT, INT, min_size=1)),
    "Mapping": (Mapping[str, list[int]], st.dictionaries(TEXT, st.lists(INT))),
    "Mapping of a length": (Annotated[Mapping[str, int], at.MinLen(1)], st.dictionaries(TEXT, INT, min_size=1)),
    "OrderedDict": (
        collections.OrderedDict[str, int],
        st.dictionaries(TEXT, INT).map(collections.OrderedDict),
    ),
    "defaultdict": (collections.defaultdict[str, list[int]], st.dictionaries(TEXT, st.lists(INT))),
    "Counter": (collections.Counter[str], st.dictionaries(TEXT, INT).map(collections.Counter)),
    "dict[Literal, …]": (dict[Literal["a", "b"], int], st.dictionaries(st.sampled_from(["a", "b"]), INT)),
    "dict[int, …]": (dict[int, str], st.dictionaries(INT, TEXT)),
    "dict[int, …] with bounds": (dict[pydantic.PositiveInt, str], st.dictionaries(st.integers(1, 10**9), TEXT)),
    "dict[float, …]": (dict[float, int], st.dictionaries(FLOAT, INT)),
    "dict[bool, …]": (dict[bool, int], st.dictionaries(st.booleans(), INT)),
    "dict[IntEnum, …]": (dict[Level, int], st.dictionaries(st.sampled_from(Level), INT)),
    "dict[date, …]": (dict[datetime.date, int], st.dictionaries(st.dates(), INT)),
    "dict[UUID | int, …]": (dict[uuid.UUID | int, int], st.dictionaries(st.uuids() | INT, INT)),
    "dict with a pattern for keys": (
        dict[Annotated[str, Field(pattern="^a")], int],
        st.dictionaries(TEXT.map("a".__add__), INT),
    ),
    "NewType": (Metres, st.integers(0, 10**9)),
    "alias": (Names, st.lists(TEXT)),
    "recursive alias": (
        Json,
        st.recursive(st.none() | INT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=5),
    ),
    "dataclass": (Point, st.builds(Point, INT, FLOAT)),
    "recursive dataclass": (Tree, _tree()),
    "dataclass of Pydantic": (Constrained, st.builds(Constrained, st.integers(3, 99), st.text("ab", max_size=2))),
    "dataclass with further keys": (Open, st.builds(Open, a=INT)),
    "TypedDict": (Place, st.tuples(TEXT, st.none() | INT).map(lambda pair: {"name": pair[0], "height": pair[1]})),
    "TypedDict, not total": (Movie, st.builds(dict, title=TEXT)),
    "model": (
        User,
        st.builds(User, name=st.text("aé", min_size=1, max_size=4), born=st.none() | st.dates(), tags=st.sets(TEXT)),
    ),
    "recursive model": (
        Node,
        st.recursive(st.builds(Node, value=INT), lambda n: st.builds(Node, value=INT, next=n), max_leaves=3),
    ),
    "aliases of fields": (Aliased, st.builds(Aliased, userName=TEXT, years=INT)),
    "model with further keys": (Bag, st.builds(Bag, a=INT, b=TEXT)),
    "strict model": (
        Strict,
        st.builds(
            Strict,
            n=INT,
            x=FLOAT,
            on=st.datetimes(timezones=ZONES),
            of=st.tuples(TEXT.map(str.encode)),
            by=st.dictionaries(INT, _decimals()),
        ),
    ),
    "discriminated union": (
        Annotated[Union[Cat, Dog], Field(discriminator="kind")],  # noqa: UP007
        st.builds(Cat, lives=INT) | st.builds(Dog, kind=st.just("wolf"), name=TEXT),
    ),
    "generic model": (Box[int], st.builds(Box[int], item=INT, more=st.lists(INT))),
    "root model": (Numbers, st.builds(Numbers, st.lists(INT))),
    "pattern of Rust": (Rusty, st.builds(Rusty, word=st.sampled_from(["aé1", "ж٣"]))),
    "pattern of Python": (Pythonic, st.builds(Pythonic, word=st.just("ab"))),
    "compiled pattern": (
        Annotated[str, Field(pattern=re.compile("^a+$", re.IGNORECASE))],
        st.sampled_from(["a", "aA"]),
    ),
    "stripped text": (Stripped, st.builds(Stripped, word=st.text("ab", min_size=1, max_size=4))),
}

# Functions, texts of their arguments, and what those are.
FUNCTIONS: list[tuple[Any, str, tuple[Any, ...], dict[str, Any]]] = [
    (book, '{"title": "a", "tags": ["b"]}', ("a", 1999), {"tags": ["b"]}),
    (add, "[1, 2, 3]", (1, 2, 3), {}),
    (label, '{"name": "a", "b": 1}', ("a",), {"b": 1}),
]

# Wider than the type: a text that the grammar writes and Pydantic refuses. Notes say so.
WIDER: dict[str, tuple[Any, str]] = {
    "Python validators, `Predicate`": (Annotated[int, pydantic.AfterValidator(_is_even)], "1"),
    "`__post_init__`, `__init__`, `model_post_init`": (Checked, '{"n": 1}'),
    "`HttpUrl`, other URLs, DSNs": (pydantic.HttpUrl, '"http://1.2.3.999/"'),
    "`EmailStr`, `NameEmail`": ("EmailStr", '"a@b.test"'),
    "IP networks and interfaces": (ipaddress.IPv4Network, '"x"'),
    "`re.Pattern`": (re.Pattern, '"(?<=a*)b"'),
    "`FilePath`, `DirectoryPath`": (pydantic.FilePath, '"nowhere"'),
    "`ZoneInfo`, `ImportString`": (pydantic.ImportString, '"nowhere.x"'),
    "`ByteSize`": (pydantic.ByteSize, '"1zz"'),
    "`Base64Str`": (pydantic.Base64Str, '"/w=="'),
    "`Json[T]`": (pydantic.Json[list[int]], '"x"'),
    "bytes of a greatest length": (Annotated[bytes, Field(max_length=3)], '"éé"'),
    "bounds of dates, times and durations": (
        Annotated[datetime.date, at.Ge(datetime.date(2020, 1, 1))],
        '"2019-01-01"',
    ),
    "`PastDate`, `FutureDatetime`": (pydantic.PastDate, '"9999-01-01"'),
    "constraints on unions of several kinds": (Annotated[int | str, at.Gt(3)], "1"),
    "unions that a function tells apart": (
        Annotated[
            Annotated[Cat, pydantic.Tag("cat")] | Annotated[Dog, pydantic.Tag("dog")],
            pydantic.Discriminator(_kind_of),
        ],
        '{"kind": "cat", "lives": 1}',
    ),
    "sets of a least length": (Annotated[set[float | bool], Field(min_length=2)], "[1, true]"),
    "sets of what has no hash, `Hashable`": (set[list[int]], "[[1]]"),
}

# Narrower than the type: a value that Pydantic writes and the grammar refuses.
NARROWER: dict[str, tuple[Any, Any]] = {
    "NaN and the infinities": (Infinite, Infinite(x=float("nan"))),
    "integers of more than 100 digits": (int, 10**100),
    "`timedelta` beyond 2.7 million years": (datetime.timedelta, datetime.timedelta.max),
    "`Decimal` with bounds, `max_digits` or `decimal_places`, written with an exponent": (
        Annotated[decimal.Decimal, Field(ge=0)],
        decimal.Decimal("1E+2"),
    ),
    "`Decimal` with `multiple_of`, written as a text": (
        Annotated[decimal.Decimal, Field(multiple_of=decimal.Decimal("0.5"))],
        decimal.Decimal("1.5"),
    ),
    "`Decimal` with zeros beyond `decimal_places`": (pydantic.condecimal(decimal_places=1), decimal.Decimal("1.50")),
    "`Fraction` with bounds": (Annotated[fractions.Fraction, Field(ge=0)], fractions.Fraction(1, 3)),
    "enum members that are no scalars of JSON": (Strange, Strange.PAIR),
    "`Literal` of members of an enum that is no `str`": (Literal[1, Colour.RED], Colour.RED),
    "TypedDict with keys in another order": (Place, {"height": 1, "name": "a"}),
    "`field(init=False)`": (Counted, Counted(1)),
    "computed fields": (Computed, Computed(n=1)),
    "`exclude=True`": (Hidden, Hidden(n=1)),
    "`serialization_alias`": (Renamed, Renamed(n=1)),
    "serializers": (Annotated[int, pydantic.PlainSerializer(str)], 1),
    "`ser_json_…` other than how Pydantic reads": (Seconds, Seconds(lasts=datetime.timedelta(1))),
}
