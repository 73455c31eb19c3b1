"""What the tests of the JSON Schema front end share: a grammar's verdict on a text, and the validator's.

The validator is `jsonschema`, with numbers read exactly and formats left to the tests that are about them.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema._utils import equal
from jsonschema.validators import extend, validates

import cfgmask

Schema = dict[str, Any] | bool | str
MASKBENCH = Path(__file__).parents[3] / "shared" / "data" / "maskbench-dev.jsonl.gz"


@cache
def vocabulary() -> cfgmask.Vocabulary:
    """A token for each byte: what is accepted does not depend on the vocabulary."""
    return cfgmask.Vocabulary.from_bytes([bytes([i]) for i in range(256)] + [b""], eos_token_id=256)


def compiled(schema: Schema, **options: Any) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_json_schema(schema, **options), vocabulary())


def accepts(grammar: cfgmask.CompiledGrammar, text: str) -> bool:
    matcher = grammar.matcher()
    data = text.encode("utf-8", "surrogatepass")
    return matcher.advance_bytes(data) == len(data) and matcher.is_accepting


def _is_integer(_checker: Any, instance: Any) -> bool:
    if isinstance(instance, Decimal):
        return instance == instance.to_integral_value()
    return _is_plain_integer(_checker, instance) or (isinstance(instance, float) and instance.is_integer())


def _is_plain_integer(_checker: Any, instance: Any) -> bool:
    return isinstance(instance, int) and not isinstance(instance, bool)


def _unique_items(validator: Any, unique: Any, instance: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
    """Each item with each: `jsonschema` sorts them, and finds no equal ones in `[[true], [1], [true]]`."""
    is_asked = unique and validator.is_type(instance, "array")
    if is_asked and any(equal(one, other) for one, other in combinations(instance, 2)):
        yield jsonschema.ValidationError("items are equal")


def _exact(draft: Any, integer: Any = _is_integer) -> Any:
    """The validator of a draft, for numbers that are read exactly, where a `$schema` inside names the draft, too."""
    types = draft.TYPE_CHECKER.redefine("integer", integer)
    return validates(f"exact {draft.__name__}")(extend(draft, {"uniqueItems": _unique_items}, type_checker=types))


_exact(jsonschema.Draft4Validator, _is_plain_integer)
_exact(jsonschema.Draft6Validator)
_exact(jsonschema.Draft7Validator)
_exact(jsonschema.Draft201909Validator)
_LATEST = _exact(jsonschema.Draft202012Validator)


def is_valid(schema: Schema, text: str) -> bool:
    """Whether the value of a JSON text satisfies a schema, in the dialect that the schema names."""
    return judge_of(schema)(text)


def judge_of(schema: Schema) -> Callable[[str], bool]:
    """The same for many texts of one schema. Raises SchemaError."""
    exact = read(json.dumps(schema) if not isinstance(schema, str) else schema)
    validator = jsonschema.validators.validator_for(exact, default=_LATEST)
    # A metaschema does not know what other drafts have inside.
    if not _has_drafts_inside(exact):
        validator.check_schema(exact)

    def says(text: str) -> bool:
        instance = read(text)
        with localcontext(prec=2_000, Emax=MAX_EMAX, Emin=MIN_EMIN):
            return bool(validator(exact).is_valid(instance))

    return says


def _has_drafts_inside(value: Any) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(
        (isinstance(part, dict) and isinstance(part.get("$schema"), str)) or _has_drafts_inside(part) for part in parts
    )


def read(text: str) -> Any:
    return json.loads(text, parse_float=Decimal)


def check(schema: Schema, valid: list[str], invalid: list[str], **options: Any) -> None:
    """The texts are judged by the validator first, so that a mistake in a table cannot hide one in the grammar.

    Numbers are read as JSON Schema reads them, unless the options say something else.
    """
    grammar = compiled(schema, **{"numbers": "any", **options})
    for text in valid:
        assert is_valid(schema, text), f"the validator refuses {text}"
        assert accepts(grammar, text), f"refused: {text}"
    for text in invalid:
        assert not is_valid(schema, text), f"the validator accepts {text}"
        assert not accepts(grammar, text), f"accepted: {text}"


def check_each_byte(matcher: cfgmask.Matcher, texts: set[bytes], followed: set[bytes] | None = None) -> None:
    """Bytes lead to these texts and to no others, as far as those bytes go that are in them, along some ways.

    followed  the beginnings behind which it is known what may come; None: all
    """
    beginnings = {text[:end] for text in texts for end in range(len(text) + 1)}
    alphabet = bytes(sorted({byte for text in beginnings for byte in text}))
    pending = [b""]
    while pending:
        begun = pending.pop()
        matcher.reset()
        assert matcher.advance_bytes(begun) == len(begun), begun
        assert matcher.is_accepting == (begun in texts), begun
        may_follow = {begun + bytes([b]) for b in alphabet if matcher.try_advance([b], consume=False)}
        assert may_follow == {begun + bytes([b]) for b in alphabet} & beginnings, begun
        known = may_follow if followed is None else may_follow & followed
        pending += random.Random(len(begun)).sample(sorted(known), min(len(known), 2))


def spellings(value: Any) -> list[str]:
    """Some ways to write a value, all with the same order of keys."""
    return [
        json.dumps(value, separators=(",", ":"), ensure_ascii=False),
        json.dumps(value),
        json.dumps(value, indent=2),
    ]


def is_beyond_judge(text: bytes) -> bool:
    """Whether the validator reads the text in another way: its patterns are Python's, to which `.` takes a carriage
    return, as it does not to ECMA's; and it has no exponents of more than 18 digits."""
    return rb"\r" in text or re.search(rb"[eE][+-]?\d{18}", text) is not None


def maskbench_schemas() -> list[dict[str, Any]]:
    """The schemas of MaskBench; none where its data does not lie beside the repository."""
    if not MASKBENCH.exists():
        return []
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["schema"] for line in lines]
