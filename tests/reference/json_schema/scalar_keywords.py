"""What `type`, `enum`, `const` and the keywords for numbers and strings say, in normal form."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import ANY_TEXT, RegexTree
from cfgmask.json_schema.drafts import Draft
from cfgmask.json_schema.formats import format_regex, possible_regex
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.pattern_problems import pattern_errors
from cfgmask.json_schema.session import current
from cfgmask.json_schema.values import JsonValue, Number, is_number
from cfgmask.limits import Limits
from cfgmask.regex import DialectName, parse_regex
from tests.reference.json_schema import numbers, strings
from tests.reference.json_schema.normal_form import (
    NEVER,
    ArrayShape,
    Constant,
    Member,
    Normal,
    ObjectShape,
)
from tests.reference.json_schema.number_list import NumberList
from tests.reference.json_schema.numbers import ALL_NUMBERS, NumberShape
from tests.reference.json_schema.strings import ALL_STRINGS, StringSet

# Constants


def constants(values: Iterable[JsonValue]) -> Normal:
    """Exactly these values."""
    listed = list(values)
    numeric = NumberList(v for v in listed if isinstance(v, (int, Fraction)) and not isinstance(v, bool))
    texts = tuple(dict.fromkeys(v for v in listed if isinstance(v, str)))
    return Normal(
        null=any(v is None for v in listed),
        booleans=frozenset(v for v in listed if isinstance(v, bool)),
        numbers=(NumberShape(values=numeric),) if numeric else (),
        strings=StringSet(texts),
        arrays=tuple(dict.fromkeys(_constant_array(v) for v in listed if isinstance(v, list))),
        objects=tuple(dict.fromkeys(_constant_object(v) for v in listed if isinstance(v, dict))),
    )


def _constant_array(value: list[JsonValue]) -> ArrayShape:
    items = tuple((Constant.of(item),) for item in value)
    return ArrayShape(items, NEVER, len(items), len(items))


def _constant_object(value: dict[str, JsonValue]) -> ObjectShape:
    members = tuple(Member(name, (Constant.of(item),), required=True) for name, item in value.items())
    return ObjectShape(members, others=())


# Numbers


def number_shapes(node: Node, types: frozenset[str]) -> tuple[NumberShape, ...]:
    """The numbers that `type` and the keywords for numbers allow."""
    if "number" in types:
        shape = ALL_NUMBERS
    elif "integer" in types:
        shape = numbers.PLAIN_INTEGERS if node.dialect.draft is Draft.DRAFT_4 else numbers.INTEGERS
    else:
        return ()
    conditions = [shape, *_bounds(node), *_steps(node)]
    for condition in conditions[1:]:
        both = numbers.intersect(shape, condition)
        if both is None:
            return ()
        shape = both
    return (shape,)


def _bounds(node: Node) -> list[NumberShape]:
    minimum, maximum = _number(node, "minimum"), _number(node, "maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    found = []
    if minimum is not None:
        found.append(NumberShape(low=minimum, low_open=above is True))
    if maximum is not None:
        found.append(NumberShape(high=maximum, high_open=below is True))
    if (low := _number(node, "exclusiveMinimum")) is not None:
        found.append(NumberShape(low=low, low_open=True))
    if (high := _number(node, "exclusiveMaximum")) is not None:
        found.append(NumberShape(high=high, high_open=True))
    return found


def _steps(node: Node) -> list[NumberShape]:
    step = _number(node, "multipleOf")
    return [] if step is None else [NumberShape(step=step, step_at=node.at("multipleOf"))]


def _number(node: Node, keyword: str) -> Number | None:
    value = node.get(keyword)
    return value if isinstance(value, (int, Fraction)) and is_number(value) else None


# Strings


def string_set(node: Node, options: JsonSchemaOptions, limits: Limits) -> StringSet:
    """The strings that the keywords for strings allow."""
    conditions = []
    shortest, longest = node.get("minLength"), node.get("maxLength")
    if isinstance(shortest, int) or isinstance(longest, int):
        low = shortest if isinstance(shortest, int) else 0
        conditions.append(StringSet(pattern=strings.of_lengths(low, longest if isinstance(longest, int) else None)))
    pattern = node.get("pattern")
    if isinstance(pattern, str):
        conditions.append(read_pattern(pattern, node.at("pattern"), limits, options.pattern_dialect))
    name = node.get("format")
    if isinstance(name, str) and options.formats == "assert":
        conditions.append(_format(name))
    found = ALL_STRINGS
    for condition in conditions:
        found = strings.intersect(found, condition)
    return found


def read_pattern(pattern: str, pointer: str, limits: Limits, dialect: DialectName) -> StringSet:
    """The texts in which the pattern is found; all texts, with refusals, where it cannot be read.

    Raises LimitExceeded: what reading a pattern raises, and max_rules where too many are not read by the core.
    """
    # Each character takes a microsecond or two.
    current().spend(len(pattern))
    try:
        tree: RegexTree = parse_regex(pattern, dialect=dialect, context="search", limits=limits)
    except GrammarError:
        refusals = frozenset(pattern_errors(pattern, pointer, limits, dialect))
        return StringSet(pattern=ANY_TEXT, refusals=refusals)
    return StringSet(pattern=tree)


def _format(name: str) -> StringSet:
    tree = format_regex(name)
    return ALL_STRINGS if tree is None else StringSet(pattern=tree, possible=possible_regex(name))
