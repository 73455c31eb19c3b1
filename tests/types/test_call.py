"""Constructor calls: what is written is read back, in every way Python has to write it, and nothing else is written."""

from __future__ import annotations

import ast
import dataclasses
import enum
import random
import re
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import cfgmask
from cfgmask.grammar.ir import GrammarIR, Rule, Terminal
from cfgmask.grammar.regex_tree import Complement, Intersection, text
from cfgmask.json_schema import JsonSchemaOptions
from cfgmask.limits import Limits
from cfgmask.regex import parse_regex
from cfgmask.types.call import read_call, shape_of, write_call
from cfgmask.types.call.python_string import python_string
from cfgmask.types.call.rules import call_grammar
from cfgmask.types.call.tree import Leaf
from cfgmask.types.hints import hints_of


class Color(enum.Enum):
    RED = 1
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass(frozen=True)
class Tag:
    name: str
    weight: float = 1.0


@dataclasses.dataclass
class Node:
    value: int
    left: Node | None = None
    right: Node | None = None


class Pair(typing.NamedTuple):
    first: int
    second: str = "b"


ZERO = Pair(0)


class Options(typing.TypedDict, total=False):
    depth: int
    color: Color


@dataclasses.dataclass
class Everything:
    x: int
    name: str
    color: Color
    ratio: float = 0.5
    on: bool = False
    level: Level = Level.LOW
    tag: Tag | None = None
    tags: list[Tag] = dataclasses.field(default_factory=list)
    both: int | str | bool | Tag = 0
    pair: tuple[int, str] = (0, "")
    one: tuple[Tag, ...] = ()
    named: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    by_color: dict[Color, float] = dataclasses.field(default_factory=dict)
    numbers: set[int] = dataclasses.field(default_factory=set)
    words: frozenset[str] = frozenset()
    tree: Node | None = None
    mode: Literal["a", "b", 3, Color.RED] = "a"
    point: Pair = ZERO
    options: Options = dataclasses.field(default_factory=Options)  # type: ignore[assignment]  # a TypedDict is a dict
    _: dataclasses.KW_ONLY
    last: int = 7


CHARACTERS = "ab'\"\\\n\r\t\0\x1f\x7f\x9f\xad é漢\u200b\ue000😀{}()[],=:"


class Random:
    """Random instances, each with a way to write it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def text(self) -> str:
        return "".join(self.rng.choices(CHARACTERS, k=self.rng.choice([0, 1, 2, 5])))

    def number(self) -> float:
        rng = self.rng
        return rng.choice(
            [0.0, -0.0, 1.0, -1.5, 1e16, 1e-7, 5e-324, 1.7976931348623157e308, rng.uniform(-9, 9), rng.gauss(0, 1e200)]
        )

    def integer(self) -> int:
        return self.rng.choice([0, -1, 7, 10**18, -(10**30), self.rng.randrange(-999, 999)])

    def of(self, kind: Any, depth: int = 0) -> Any:
        rng, origin, arguments = self.rng, typing.get_origin(kind), typing.get_args(kind)
        if kind in (int, str, float, bool):
            return {int: self.integer, str: self.text, float: self.number, bool: lambda: rng.random() < 0.5}[kind]()
        if kind is type(None):
            return None
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return rng.choice(list(kind))
        if origin is Literal:
            return rng.choice(arguments)
        if kind is Options:
            return {
                k: v for k, v in (("depth", self.integer()), ("color", rng.choice(list(Color)))) if rng.random() < 0.5
            }
        n = rng.choice([0, 1, 1, 2, 3]) if depth < 4 else 0
        if origin is tuple and arguments[-1] is not Ellipsis:
            return tuple(self.of(one, depth + 1) for one in arguments)
        if origin in (list, tuple, set, frozenset):
            return origin(self.of(arguments[0], depth + 1) for _ in range(n))
        if origin is dict:
            return {self.of(arguments[0], depth + 1): self.of(arguments[1], depth + 1) for _ in range(n)}
        if dataclasses.is_dataclass(kind) or kind is Pair:
            hints = hints_of(kind)
            return kind(**{name: self.of(hint, depth + 1) for name, hint in hints.items() if name != "_"})
        if arguments:
            plain = [one for one in arguments if not dataclasses.is_dataclass(one)]
            return self.of(rng.choice(arguments if depth < 4 or not plain else plain), depth + 1)
        raise AssertionError(kind)

    def string(self, value: str) -> str:
        rng = self.rng
        quote = rng.choice("'\"")
        written = []
        for one in value:
            ways = [f"\\u{ord(one):04x}" if ord(one) < 0x10000 else f"\\U{ord(one):08X}"]
            if ord(one) < 0x100:
                ways.append(f"\\x{ord(one):02X}")
            if one.isprintable() and one not in ("\\", quote):
                ways += [one] * 4
            if one in "'\"\\":
                ways += ["\\" + one] * 2
            ways += [{"\n": "\\n", "\t": "\\t", "\r": "\\r"}[one]] if one in "\n\t\r" else []
            written.append(rng.choice(ways))
        return quote + "".join(written) + quote

    def write(self, value: Any) -> str:
        """As Python may write it: arguments by place and by name, in any order, and strings in any quotes."""
        rng = self.rng
        if isinstance(value, enum.Enum) or value is None or isinstance(value, (bool, int, float)):
            return write_call(value)
        if isinstance(value, str):
            # Literals are written as they are, in any quotes.
            return repr(value) if value in ("a", "b") else self.string(value)
        if dataclasses.is_dataclass(value) or isinstance(value, Pair):
            names = list(value._fields) if isinstance(value, Pair) else [one.name for one in dataclasses.fields(value)]
            by_name = () if isinstance(value, Pair) else [one.name for one in dataclasses.fields(value) if one.kw_only]
            places = [name for name in names if name not in by_name]
            n = rng.choice([0, 0, rng.randrange(len(places) + 1), len(places)])
            rest = [name for name in names if name not in places[:n]]
            rng.shuffle(rest)
            if isinstance(value, Everything):
                default = Everything(value.x, value.name, value.color)
                rest = [
                    name
                    for name in rest
                    if name in ("x", "name", "color")
                    or rng.random() < 0.7
                    or write_call(getattr(value, name)) != write_call(getattr(default, name))
                ]
            written = [self.write(getattr(value, name)) for name in places[:n]]
            written += [f"{name}={self.write(getattr(value, name))}" for name in rest]
            return f"{type(value).__name__}({', '.join(written)})"
        if isinstance(value, dict):
            # The keys of a TypedDict are names, without escapes.
            names = [repr(key) if key in ("depth", "color") else self.write(key) for key in value]
            return (
                "{"
                + ", ".join(f"{name}: {self.write(item)}" for name, item in zip(names, value.values(), strict=True))
                + "}"
            )
        inside = [self.write(item) for item in value]
        if isinstance(value, list):
            return f"[{', '.join(inside)}]"
        if isinstance(value, tuple):
            return f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"
        if not inside:
            return f"{type(value).__name__}()"
        whole = "{" + ", ".join(inside) + "}"
        return f"frozenset({whole})" if isinstance(value, frozenset) else whole


@pytest.fixture(scope="module")
def everything() -> cfgmask.Grammar:
    return cfgmask.Grammar.from_type(Everything, syntax="call")


def same(one: Any, other: Any) -> bool:
    """Equal, with the same types inside: 1 is not True, and 0.0 is not -0.0."""
    return one == other and write_call(one) == write_call(other) if not _has_sets(one) else one == other


def _has_sets(value: Everything) -> bool:
    # Their order is not that of the text.
    return len(value.numbers) > 1 or len(value.words) > 1


@pytest.mark.parametrize("part", range(5))
def test_round_trips(everything: cfgmask.Grammar, part: int) -> None:
    """5,000 random instances."""
    source = Random(part)
    for _ in range(1000):
        value = source.of(Everything)
        for written in (write_call(value), source.write(value))[: 2 if source.rng.random() < 0.5 else 1]:
            assert same(everything.parse(written), value), written


def random_class(rng: random.Random, depth: int = 0) -> type:
    fields: list[Any] = []
    has_default = False
    for n in range(rng.randrange(0, 6)):
        kind = random_kind(rng, depth)
        has_default = has_default or rng.random() < 0.2
        name = rng.choice(["a", "ab", "x_", "É", "value", "match", "_p"]) + str(n)
        fields.append((name, kind, dataclasses.field(default=None)) if has_default else (name, kind))
    return dataclasses.make_dataclass(f"C{rng.randrange(10**9)}", fields, kw_only=rng.random() < 0.2)


def random_kind(rng: random.Random, depth: int) -> Any:
    if depth > 2 or rng.random() < 0.4:
        return rng.choice([int, str, float, bool, type(None), Color, Literal["a", 1, True, None]])
    inner = random_kind(rng, depth + 1)
    kinds: list[Callable[[], Any]] = [
        lambda: list[inner],
        lambda: tuple[inner, ...],
        lambda: tuple[inner, random_kind(rng, depth + 1)],
        lambda: dict[str, inner],
        lambda: inner | None if inner is not type(None) else int,
        lambda: random_class(rng, depth + 1),
    ]
    return rng.choice(kinds)()


def test_round_trips_of_random_classes() -> None:
    rng = random.Random(5)
    for seed in range(60):
        kind = random_class(rng)
        grammar = cfgmask.Grammar.from_type(kind, syntax="call")
        source = Random(seed)
        for _ in range(8):
            value = source.of(kind)
            for written in (write_call(value), source.write(value)):
                found = grammar.parse(written)
                assert found == value, written
                assert write_call(found) == write_call(value)


def test_what_repr_writes_is_read(everything: cfgmask.Grammar) -> None:
    source = Random(9)
    grammar = cfgmask.Grammar.from_type(Node, syntax="call")
    tags = cfgmask.Grammar.from_type(list[Tag], syntax="call")
    for _ in range(300):
        node = source.of(Node)
        assert grammar.parse(repr(node)) == node
        tag = [Tag("".join(map(chr, source.rng.choices(range(0xD800), k=5))), source.number())]
        assert tags.parse(repr(tag)) == tag


REFUSED = [
    "__import__('os')",
    "Tag(__import__('os'))",
    "Tag(name=__import__('os').name)",
    "Tag('a').name",
    "Tag('a').__class__",
    "Tag('a').name.upper()",
    "Tag('a'.upper())",
    "Tag(name=str(1))",
    "Tag([c for c in 'a'])",
    "[Tag('a') for _ in (1, 2)]",
    "Tag((lambda: 'a')())",
    "Tag(name:='a')",
    "Tag(f'a')",
    "Tag(b'a')",
    "Tag(r'a')",
    "Tag('a' 'b')",
    "Tag('a' + 'b')",
    "Tag('a' if 1 else 'b')",
    "Tag(*['a'])",
    "Tag(**{'name': 'a'})",
    "Tag(...)",
    "Tag('a', 1j)",
    "Tag('a', 1 + 1)",
    "Tag('a', 0x1)",
    "Tag('a', 1_0.0)",
    "Tag('a', nan)",
    "Tag('a', float('nan'))",
    "Tag(name)",
    "Tag(name='a', name='b')",
    "Tag('a', name='b')",
    "Tag(weight=1.0)",
    "Tag('a', other=1)",
    "Tag('a',)",
    "Tag ('a')",
    "Tag('a')\n",
    "Tag('a'); Tag('b')",
    "Tag('''a''')",
    "Tag('\\N{BULLET}')",
    "Tag('\\ud800')",
    "Tag('\\U00110000')",
    "Tag('\\101')",
    "Tag('\\\n')",
    "Tag('\0')",
    "Tag(Color.RED)",
    "Color.RED",
    "Node(1)",
    "Tag",
    "Tag.name",
    "",
]


def test_nothing_but_constructors_is_accepted() -> None:
    grammar = cfgmask.Grammar.from_type(Tag, syntax="call")
    for written in REFUSED:
        with pytest.raises(cfgmask.ParseError):
            grammar.parse(written)


# Parentheses, commas at the end and other spellings of the same literals mean the same to the reader of texts.
HARMLESS = {"Tag('a',)", "Tag ('a')", "Tag('a')\n", "Tag('''a''')", "Tag(r'a')", "Tag('a' 'b')", "Tag('\\N{BULLET}')"}
HARMLESS |= {"Tag('a', 0x1)", "Tag('a', 1_0.0)", "Tag('\\101')", "Tag('\\\n')"}


def test_the_reader_of_texts_refuses_them_by_itself() -> None:
    """Without a look at the grammar."""
    shape = shape_of(Tag)
    for written in REFUSED:
        if written in HARMLESS:
            assert isinstance(read_call(shape, written), Tag)
        elif "ud800" not in written:  # a lone surrogate is a text of Python
            with pytest.raises((ValueError, TypeError)):
                read_call(shape, written)
    for written in ("Color.mro", "Color.__class__", "Color.RED.name", "Other.RED", "Color['RED']", "Color(1)"):
        with pytest.raises(ValueError, match="does not belong"):
            read_call(shape_of(Color), written)


HOSTILE = [
    "__import__",
    "('os')",
    ".system",
    "eval(",
    "lambda",
    " for ",
    " in ",
    "*",
    "**",
    ".",
    "open",
    "[i",
    ":=",
    "@",
]
ALLOWED_NODES = (
    *(ast.Call, ast.Name, ast.Load, ast.Constant, ast.keyword, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Attribute),
    *(ast.UnaryOp, ast.USub, ast.Expression),
)


def test_nothing_but_constructors_is_generated(everything: cfgmask.Grammar) -> None:
    """Random walks through the masks, over a vocabulary with pieces of other code: every text is looked at."""
    words = [
        "Everything(",
        "Tag(",
        "Node(",
        "Pair(",
        "Color",
        ".RED",
        "=",
        ", ",
        "name",
        "x",
        "None",
        "True",
        "'",
        "set()",
    ]
    tokens = [*(bytes([byte]) for byte in range(256)), *(word.encode() for word in HOSTILE + words), b""]
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=len(tokens) - 1)
    compiled = cfgmask.compile(everything, vocabulary)
    bits = np.zeros(-(-len(tokens) // 32), dtype="<u4")
    hostile = range(256, 256 + len(HOSTILE))
    rng = random.Random(3)
    n_hostile = 0
    for _ in range(40):
        matcher, text = compiled.matcher(max_tokens=150), b""
        while not matcher.is_finished:
            matcher.fill_mask(bits)
            allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
            wanted = [token for token in allowed.tolist() if token in hostile or token > 256 + len(HOSTILE)]
            token = rng.choice(wanted if wanted and rng.random() < 0.8 else allowed.tolist())
            n_hostile += token in hostile
            matcher.advance(token)
            text += tokens[token]
        tree = ast.parse(text.decode(), mode="eval")
        for node in ast.walk(tree):
            assert isinstance(node, ALLOWED_NODES), text
            if isinstance(node, ast.Call):
                assert isinstance(node.func, ast.Name), text
                assert node.func.id in {"Everything", "Tag", "Node", "Pair", "set", "frozenset"}, text
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) in {"Color.RED", "Color.BLUE", "Level.LOW", "Level.HIGH"}, text
        assert isinstance(everything.parse(text), Everything)
    assert n_hostile > 20  # inside of strings they are allowed


PATTERNS = ["[a-c']{0,4}", '(?:"|\\\\|x)+', "[^a]{1,3}", "(?!ab)[ab'\n]{2}", "a|b'|\"", "\\w+ \\S", "[\\x00-\\x20]é?"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_strings_of_a_pattern_are_its_literals(pattern: str) -> None:
    """Of random literals, those whose value the pattern matches; all that the writer writes."""
    body = Intersection((parse_regex(pattern), Complement(text("ab"))))
    rule = Rule("start", Terminal("STRING", python_string(body)))
    grammar = cfgmask.Grammar(GrammarIR((rule,), "start", ignore_initial=False, ignore_final=False))
    source = Random(1)
    n_accepted = 0
    for _ in range(1500):
        value = "".join(source.rng.choices("aabbcx'\"\\\n\t \0é漢_", k=source.rng.randrange(4)))
        matches = re.fullmatch(pattern, value) is not None and value != "ab"
        assert _is_accepted(grammar, write_call(value)) == matches, value
        n_accepted += matches
        written = source.string(value)
        assert ast.literal_eval(written) == value
        assert matches or not _is_accepted(grammar, written), written
    assert n_accepted >= 10


def _is_accepted(grammar: cfgmask.Grammar, written: str) -> bool:
    try:
        grammar.parse(written)
    except cfgmask.ParseError:
        return False
    return True


def grammar_of(kind: Any, **options: Any) -> cfgmask.Grammar:
    return cfgmask.Grammar.from_type(kind, syntax="call", **options)


def test_constraints_of_types_hold() -> None:
    pytest.importorskip("pydantic", reason="pydantic reads constraints")
    at = pytest.importorskip("annotated_types", reason="annotated_types is not installed")
    kinds: dict[str, Any] = {
        "n": Annotated[int, at.Ge(3), at.Lt(10)],
        "s": Annotated[str, at.Len(2, 3)],
        "items": Annotated[list[Tag], at.Len(1, 2)],
        "row": Annotated[tuple[int, ...], at.Len(2, 3)],
    }
    bounded = dataclasses.make_dataclass("Bounded", list(kinds.items()))
    grammar = grammar_of(bounded)
    assert grammar.parse("Bounded(3, 'ab', [Tag('a')], (1, 2))") == bounded(3, "ab", [Tag("a")], (1, 2))
    assert grammar.parse("Bounded(9, '\\'\\x00', [Tag('a'), Tag('b')], (1, 2, 3))").n == 9
    for arguments in (
        "2, 'ab', [Tag('a')], (1, 2)",
        "3, 'a', [Tag('a')], (1, 2)",
        "3, 'abcd', [Tag('a')], (1, 2)",
        "3, 'ab', [], (1, 2)",
        "3, 'ab', [Tag('a'), Tag('b'), Tag('c')], (1, 2)",
        "3, 'ab', [Tag('a')], (1,)",
    ):
        with pytest.raises(cfgmask.ParseError):
            grammar.parse(f"Bounded({arguments})")


def test_models() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

    class Inner(pydantic.BaseModel):  # type: ignore[name-defined,misc]  # pydantic may be missing
        kind: Literal["inner"] = "inner"
        n: Annotated[int, pydantic.Field(ge=0)]

    class Other(pydantic.BaseModel):  # type: ignore[name-defined,misc]  # pydantic may be missing
        n: int = pydantic.Field(alias="count")

    T = typing.TypeVar("T")

    class Box(pydantic.BaseModel, typing.Generic[T]):  # type: ignore[name-defined,misc]  # pydantic may be missing
        item: T
        more: list[Inner | Other] = pydantic.Field(default_factory=list)

    grammar = grammar_of(Box[Inner])
    value = Box[Inner](item=Inner(n=1), more=[Other(count=2), Inner(n=3)])
    assert write_call(value) == "Box(item=Inner(kind='inner', n=1), more=[Other(count=2), Inner(kind='inner', n=3)])"
    assert grammar.parse(write_call(value)) == value
    assert grammar.parse("Box(more=[], item=Inner(n=0))") == Box[Inner](item=Inner(n=0))
    for wrong in ("Box(Inner(n=1))", "Box(item=Inner(n=-1))", "Box(item=Other(count=1))", "Box(item=Inner(n=1), x=1)"):
        with pytest.raises(cfgmask.ParseError):
            grammar.parse(wrong)


def test_functions_give_their_arguments() -> None:
    def weather(city: str, days: int = 1, *, unit: Literal["C", "F"] = "C") -> None:
        raise AssertionError("it is not called")

    grammar = grammar_of(weather)
    bound = grammar.parse("weather('Lima', unit='F')")
    assert bound.arguments == {"city": "Lima", "unit": "F"}
    with pytest.raises(cfgmask.ParseError):
        grammar.parse("weather('Lima', 1, 'F')")


def test_kinds() -> None:
    for kind, written, value in (
        (Color, "Color.BLUE", Color.BLUE),
        (int | None, "None", None),
        (int | bool, "True", True),
        (int | str, "'1'", "1"),
        (list[int] | list[str], "['1']", ["1"]),
        (Literal[Color.RED, "x"], "Color.RED", Color.RED),
        (Literal[Color.RED, "x"], '"x"', "x"),
        (tuple[int], "(1,)", (1,)),
        (tuple[()], "()", ()),
        (Pair, "Pair(1)", Pair(1)),
        (Pair, "Pair(second='x', first=2)", Pair(2, "x")),
        (Options, "{\"color\": Color.RED, 'depth': 3}", {"color": Color.RED, "depth": 3}),
        (dict[int, Tag], "{1: Tag('a')}", {1: Tag("a")}),
        (float, "1", 1.0),
        (Any, "{'a': [1, None, 'x']}", {"a": [1, None, "x"]}),
        (dict, "{}", {}),
    ):
        found = grammar_of(kind).parse(written)
        assert found == value
        assert type(found) is type(value)
    for kind, wrong in (
        (Literal[Color.RED, "x"], "Color.BLUE"),
        (Options, "{'depth': 1, 'depth': 2}"),
        (tuple[int], "(1)"),
        (tuple[int, int], "[1, 2]"),
        (bool, "1"),
        (bool, "true"),
        (type(None), "null"),
        (set[int], "{}"),
    ):
        with pytest.raises(cfgmask.ParseError):
            grammar_of(kind).parse(wrong)


def test_names_that_a_register_cannot_hold() -> None:
    kind = dataclasses.make_dataclass("K", [("a", int), ("null", int), ("true", int, dataclasses.field(default=1))])
    grammar = grammar_of(kind)
    for written in ("K(1, 2, 3)", "K(a=1, null=2, true=3)", "K(1, null=2)", "K(1, 2, true=3)", "K(1, 2)"):
        assert (grammar.parse(written).a, grammar.parse(written).null) == (1, 2)  # type: ignore[attr-defined]  # made above
    for wrong in ("K(null=2, a=1)", "K(1)", "K(a=1)", "K(1, true=3)", "K(a=1, null=2, )"):
        with pytest.raises(cfgmask.ParseError):
            grammar.parse(wrong)


def test_refusals() -> None:
    pytest.importorskip("pydantic", reason="pydantic reads constraints")
    at = pytest.importorskip("annotated_types", reason="annotated_types is not installed")
    same_name = dataclasses.make_dataclass("Tag", [("x", int)])
    endless = dataclasses.make_dataclass("Endless", [("x", "Endless")])
    endless.__annotations__["x"] = endless
    for kind, message in (
        (tuple[Tag, same_name], "two classes are called `Tag`"),
        (Annotated[set[int], at.MinLen(2)], "counts equal ones once"),
        (Annotated[dict[str, int], at.MinLen(2)], "counts equal ones once"),
        (Annotated[Tag, at.Ge(3)], "cannot be kept in a call"),
        (endless, "without end"),
        (lambda *a: None, "has no name of its own"),
        (lambda a: None, "`<lambda>` is no name"),
    ):
        with pytest.raises(cfgmask.GrammarError, match=message):
            grammar_of(kind)
    with pytest.raises(TypeError, match="'whitespace' is for JSON"):
        grammar_of(Tag, whitespace="compact")
    with pytest.raises(TypeError, match="has no constructor call"):
        write_call(object())
    with pytest.raises(ValueError, match="no literal"):
        write_call(float("inf"))


def test_values_too_deep_for_pythons_parser_are_a_limit() -> None:
    grammar = grammar_of(Node)
    written = "Node(1, " * 400 + "None" + ")" * 400
    with pytest.raises(cfgmask.LimitExceeded, match="max_nesting"):
        grammar.parse(written)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(cfgmask.LimitExceeded, match="max_nesting"):
        write_call(endless)


def test_large_classes_compile_fast_enough() -> None:
    kind = dataclasses.make_dataclass("Large", [(f"field{n}", int) for n in range(60)])
    grammar = grammar_of(kind)
    value = kind(*range(60))
    written = write_call(value)
    assert grammar.parse(written) == value
    assert grammar.parse(f"Large({', '.join(map(str, range(60)))})") == value


def test_notes_say_what_calls_do_not_check() -> None:
    @dataclasses.dataclass
    class Even:
        n: int

        def __post_init__(self) -> None:
            if self.n % 2:
                raise ValueError("odd")

    grammar = cfgmask.Grammar.from_type(list[Even], syntax="call")
    assert [note.code for note in grammar.notes] == ["type-validator"]
    assert grammar.notes == cfgmask.Grammar.from_type(list[Even]).notes
    with pytest.raises(cfgmask.GrammarError, match="type-validator"):
        cfgmask.Grammar.from_type(list[Even], syntax="call", strict=True)
    assert cfgmask.Grammar.from_type(Tag, syntax="call").notes == ()


@pytest.mark.parametrize(
    ("items", "texts"),
    [
        ({"type": ["boolean", "null"]}, ["[True, False]", "[None, True]", "[]"]),
        ({"type": "array", "items": {"type": "boolean"}}, ["[[True], [False]]", "[[True], [True, True]]"]),
        ({"type": "string"}, ['["a", "b"]']),
        ({"type": "integer"}, ["[1, 2]"]),
    ],
)
def test_values_that_must_differ_are_literals_too(items: dict[str, Any], texts: list[str]) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": items}
    grammar = call_grammar(Leaf(Any, schema, None, lambda value: value), JsonSchemaOptions(), Limits())
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)
    compiled = cfgmask.compile(grammar, vocabulary)
    for written in texts:
        assert len(ast.literal_eval(written)) == len({repr(item) for item in ast.literal_eval(written)})
        matcher = compiled.matcher()
        assert matcher.advance_bytes(written.encode()) == len(written), written
        assert matcher.is_accepting
    for written in ("[true", "[null", "[True, True]", "[[True], [True]]", '["a", "a"]', "[1, 1]"):
        assert compiled.matcher().advance_bytes(written.encode()) < len(written), written
