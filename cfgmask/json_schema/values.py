"""JSON values with exact numbers, and how they are read from text or from Python objects.

Numbers are `int` where they are integral (`1.0` and `1e3` too: JSON Schema compares values, not spellings) and
`Fraction` elsewhere; there are no floats behind this module. `bool` is Python's own, so look at types before values.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeAlias

from cfgmask.diagnostics import Diagnostic, Source, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.json_schema.not_json import not_json
from cfgmask.json_schema.places import Places, named_by_pointer
from cfgmask.json_schema.problems import MAX_PROBLEMS, first_errors
from cfgmask.json_schema.session import current
from cfgmask.limits import Limits

Number: TypeAlias = int | Fraction
JsonValue: TypeAlias = bool | int | Fraction | str | list["JsonValue"] | dict[str, "JsonValue"] | None

# A number of more digits than this is an attack or a mistake: `1e999999999` would fill the memory when written out.
MAX_NUMBER_DIGITS = 400

# Each part of a schema has a JSON Pointer, which repeats the keys around it. All of them together may have so many
# characters for each byte that a schema may have, or this many, so that a long key with much inside costs no memory.
_POINTERS_PER_BYTE = 8
_FEW_POINTERS = 1_000_000

_MAX_SHOWN = 200
# What a number, array or object inside counts of the rules: it takes some five microseconds, and those of a schema are
# few beside its texts.
_RULES_PER_VALUE = 3
# So many values inside of one are looked at in one step of a session.
_VALUES_PER_STEP = 2

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Document:
    """A JSON value that was read.

    problems  what is wrong with it (schema-duplicate-key, schema-lone-surrogate, schema-not-json, schema-number): the
              value may be used only for finding what else is wrong
    unread    the pointers of parts that could not be read and stand as null
    places    where its parts stand; None if it was not read from a text
    """

    value: JsonValue
    problems: tuple[Diagnostic, ...]
    unread: tuple[str, ...]
    places: Places | None = None

    def placed(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """The diagnostics with places in the text, if there is one. Linear in the text."""
        return named_by_pointer(diagnostics) if self.places is None else self.places.attach(diagnostics)


def read_text(text: str, span: Span | None, limits: Limits) -> Document:
    """The document of a JSON text.

    span  where the text stands inside a larger source; without it the text is a source of its own
    Raises GrammarError (schema-syntax) and LimitExceeded. Linear.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.max_source_bytes:
        raise LimitExceeded("max_source_bytes", limits.max_source_bytes, "JSON Schema text")
    places = Places(text, span if span is not None else Span(Source("<schema>", text), 0, len(text)))
    duplicates = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal duplicates
        out = dict(pairs)
        duplicates = duplicates or len(out) != len(pairs)
        return out

    try:
        value = json.loads(
            text,
            object_pairs_hook=members,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=_Constant,
        )
    except json.JSONDecodeError as error:
        raise GrammarError([not_json(text, error.pos, error.msg, places)]) from None
    except RecursionError:
        raise LimitExceeded("max_nesting", limits.max_nesting, "JSON Schema text") from None
    try:
        document = _exact(value, limits)
    except GrammarError as error:
        raise GrammarError(places.attach(error.diagnostics)) from None
    repeated = places.duplicate_keys() if duplicates else []
    return replace(document, problems=(*repeated, *document.problems), places=places)


def read_object(value: Any, limits: Limits) -> Document:
    """The exact form of a Python object made of None, bool, int, float, Decimal, Fraction, str, list, tuple and dict.

    A float stands for the number that `repr` shows, since that is what its author wrote.
    Raises LimitExceeded. Linear.
    """
    return _exact(value, limits)


def kind(value: JsonValue) -> str:
    """The JSON type of a value: null, boolean, number, string, array or object."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, Fraction)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def is_number(value: JsonValue) -> bool:
    """Whether the value is a number; booleans, which Python counts among them, are not."""
    return isinstance(value, (int, Fraction)) and not isinstance(value, bool)


def identity(value: JsonValue) -> Any:
    """A hashable object that two values share exactly when JSON Schema calls them equal."""
    # Values are no deeper than the limit on nesting, which the readers above enforce, but that may be any number.
    done: list[Any] = []
    todo: list[tuple[bool, JsonValue]] = [(False, value)]
    n_looked_at = 0
    while todo:
        n_looked_at += 1
        built, item = todo.pop()
        if isinstance(item, list):
            if built:
                count = len(item)
                parts = tuple(done[len(done) - count :])
                del done[len(done) - count :]
                done.append(("array", parts))
            else:
                todo.append((True, item))
                todo.extend((False, child) for child in reversed(item))
        elif isinstance(item, dict):
            if built:
                count = len(item)
                pairs = frozenset(zip(item, done[len(done) - count :], strict=True))
                del done[len(done) - count :]
                done.append(("object", pairs))
            else:
                todo.append((True, item))
                todo.extend((False, child) for child in reversed(item.values()))
        elif isinstance(item, (int, Fraction)) and not isinstance(item, bool):
            done.append(("number", number_key(item)))
        else:
            done.append((kind(item), item))
    current().spend(n_looked_at // _VALUES_PER_STEP)
    return done[0]


def number_key(number: Number) -> str:
    """A text that two numbers share exactly if they are equal.

    For hash tables: the hashes of texts have a seed, those of integers have none, so that a stranger can list thousands
    of integers with one hash.
    """
    if isinstance(number, int):
        return f"{number:x}"
    return f"{number.numerator:x}/{number.denominator:x}" if number.denominator != 1 else f"{number.numerator:x}"


def escape(token: str) -> str:
    """A key as one token of a JSON Pointer (RFC 6901)."""
    if "~" not in token and "/" not in token:
        return token
    return token.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """A key from one token of a JSON Pointer."""
    return token.replace("~1", "/").replace("~0", "~")


def around(pointer: str) -> Iterator[str]:
    """The pointer of a value and those of all values that it is inside of, the whole document last."""
    yield pointer
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


class _Constant:
    """NaN, Infinity or -Infinity, which `json` reads though JSON has none."""

    def __init__(self, name: str) -> None:
        self.name = name


def _integer(text: str) -> int | Decimal:
    """The integer that a text spells; as a `Decimal` where it is too long to be worth reading."""
    return int(text) if len(text) <= MAX_NUMBER_DIGITS else _decimal(text)


def _decimal(text: str) -> Decimal:
    """The number that a text spells; NaN where `Decimal` has no exponent so large."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("NaN")


def _exact(value: Any, limits: Limits) -> Document:
    """A copy of `value` with exact numbers; iterative, so that depth is bounded by the limit alone.

    Raises GrammarError for more problems than are ever reported, LimitExceeded (max_nesting, max_source_bytes,
    max_rules) for too much inside.
    """
    problems: list[Diagnostic] = []
    unread: list[str] = []
    n_read, most_read = 0, limits.max_rules // _RULES_PER_VALUE
    pointers, most = 0, max(_FEW_POINTERS, _POINTERS_PER_BYTE * limits.max_source_bytes)
    root: list[JsonValue] = [None]
    todo: list[tuple[Any, str, int, Any, Any]] = [(value, "", 0, root, 0)]
    while todo:
        if len(problems) > MAX_PROBLEMS:
            raise GrammarError(first_errors(problems))
        item, pointer, depth, parent, key = todo.pop()
        n_read += 1
        if n_read > most_read:
            raise LimitExceeded("max_rules", limits.max_rules, f"at {pointer[:_MAX_SHOWN]}")
        if depth > limits.max_nesting:
            raise LimitExceeded("max_nesting", limits.max_nesting, f"at {pointer[:_MAX_SHOWN]}")
        if isinstance(item, (dict, list, tuple)):
            pointers += len(item) * len(pointer)
            if pointers > most:
                detail = f"keys of {len(pointer)} characters around many parts, at {pointer[:_MAX_SHOWN]}"
                raise LimitExceeded("max_source_bytes", limits.max_source_bytes, detail)
        if isinstance(item, dict):
            wrong = [(name, problem) for name in item if (problem := _key_problem(name, pointer)) is not None]
            problems += [problem for _, problem in wrong]
            copy = dict.fromkeys(item)
            for name, _ in wrong:
                del copy[name]
            parent[key] = copy
            for name in reversed(copy):
                child = item[name]
                if depth < limits.max_nesting and _is_plain(child):
                    copy[name] = child
                else:
                    todo.append((child, f"{pointer}/{escape(name)}", depth + 1, copy, name))
        elif isinstance(item, (list, tuple)):
            parent[key] = elements = [None] * len(item)
            for i in reversed(range(len(item))):
                if depth < limits.max_nesting and _is_plain(item[i]):
                    elements[i] = item[i]
                else:
                    todo.append((item[i], f"{pointer}/{i}", depth + 1, elements, i))
        else:
            read = _scalar(item, pointer)
            if isinstance(read, Diagnostic):
                problems.append(read)
                unread.append(pointer)
            else:
                parent[key] = read
    return Document(root[0], tuple(problems), tuple(unread))


def _is_plain(item: Any) -> bool:
    """Whether a value is its own exact form without a closer look, as nearly all texts and constants are."""
    return item is None or item is True or item is False or (type(item) is str and item.isascii())


def _key_problem(name: Any, pointer: str) -> Diagnostic | None:
    """What is wrong with a key of the object at a place."""
    if not isinstance(name, str):
        message = f"an object key must be a string, not {type(name).__name__}"
        return Diagnostic("schema-not-json", message, pointer=pointer)
    return None if name.isascii() or not _SURROGATE.search(name) else _lone_surrogate(pointer)


def _scalar(item: Any, pointer: str) -> JsonValue | Diagnostic:
    if isinstance(item, str):
        return item if item.isascii() or not _SURROGATE.search(item) else _lone_surrogate(pointer)
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, (int, float, Decimal, Fraction)):
        number = _number(item)
        if number is not None:
            return number
        message = f"a number must be finite, decimal and of at most {MAX_NUMBER_DIGITS} digits"
        return Diagnostic("schema-number", message, pointer=pointer, help="round it, or leave the keyword out")
    if isinstance(item, _Constant):
        return Diagnostic("schema-number", f"{item.name} is not a JSON number", pointer=pointer)
    return Diagnostic("schema-not-json", f"{type(item).__name__} is not a JSON type", pointer=pointer)


def _lone_surrogate(pointer: str) -> Diagnostic:
    message = "a string holds half of a surrogate pair, which is no character"
    return Diagnostic("schema-lone-surrogate", message, pointer=pointer, help="write the whole pair or leave it out")


def _number(item: int | float | Decimal | Fraction) -> Number | None:
    """The exact value; None where it is not finite, has no finite decimal form or is too long."""
    if isinstance(item, Fraction):
        fraction: Number = item
    elif isinstance(item, int):
        fraction = int(item)
    else:
        if isinstance(item, float):
            if not math.isfinite(item):
                return None
            item = Decimal(repr(item))
        if not item.is_finite() or digits_of(item) > MAX_NUMBER_DIGITS:
            return None
        # Not Fraction() for zero: that writes out the exponent of `0e999999999`.
        fraction = Fraction(item) if item else 0
    if isinstance(fraction, Fraction):
        if fraction.denominator == 1:
            fraction = fraction.numerator
        elif decimal_places(fraction) is None:
            return None
    return fraction if abs(fraction) < 10**MAX_NUMBER_DIGITS else None


def digits_of(number: Decimal) -> int:
    """How many digits it takes to write the number without an exponent."""
    if not number:
        return 1
    _sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    return max(len(digits) + exponent, -exponent, len(digits))


def decimal_places(number: Number) -> int | None:
    """How many digits after the point `number` needs; None where no finite number of them is enough."""
    denominator = number.denominator
    places = {2: 0, 5: 0}
    for prime in places:
        while denominator % prime == 0:
            denominator //= prime
            places[prime] += 1
    return max(places.values()) if denominator == 1 else None


def magnitude(number: Number) -> Number:
    """The number without its sign."""
    return -number if number < 0 else number


def plain_decimal(number: Number) -> str:
    """The number without an exponent and without superfluous zeros: `-0.25`, `10`."""
    places = decimal_places(number)
    assert places is not None, "the readers refuse numbers without a finite decimal form"
    scaled = abs(number) * 10**places
    digits = _decimal_text(int(scaled)).rjust(places + 1, "0")
    whole, fraction = digits[: len(digits) - places], digits[len(digits) - places :]
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def _decimal_text(number: int) -> str:
    # Not str(): it refuses integers of more than 4,300 digits, which intermediate results may have.
    return f"{Decimal(number):f}"
