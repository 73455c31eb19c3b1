"""What a text of YAML says: PyYAML reads it as YAML 1.1, ruamel.yaml as 1.2, and they must agree."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import ruamel.yaml
import yaml

from tests.json_schema.judge import Schema, accepts, compiled, is_valid


class _Exact(yaml.SafeLoader):
    """Numbers with a point keep their digits."""


_Exact.add_constructor(
    "tag:yaml.org,2002:float", lambda loader, node: Decimal(loader.construct_scalar(node).replace("_", ""))
)


def read_new(text: str) -> Any:
    """The value to YAML 1.2."""
    reader = ruamel.yaml.YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    return reader.load(text)


def value(text: str) -> Any:
    """The value to both, with decimals for floats. Raises ValueError where they differ or one refuses the text."""
    try:
        old, new = yaml.safe_load(text), read_new(text)
    except (yaml.YAMLError, ruamel.yaml.error.YAMLError) as error:
        raise ValueError(str(error)) from error
    if _typed(old) != _typed(new):
        raise ValueError(f"{old!r} to YAML 1.1, {new!r} to 1.2")
    return yaml.load(text, _Exact)


# A number to the core schema of YAML 1.2, though ruamel.yaml takes it for a string.
_CORE_NUMBER = re.compile(r"[-+]?\.[0-9]+[eE][0-9]+")


def is_string(text: str, *, key: bool = False) -> bool:
    """Whether both take a text as itself, wherever a scalar may stand: alone, after a dash, and after a key.

    key  as a key
    """
    places = {f"{text}: 1\n": {text: 1}} if key else {text: text, f"- {text}\n": [text], f"k: {text}\n": {"k": text}}
    try:
        return not _CORE_NUMBER.fullmatch(text) and all(value(written) == said for written, said in places.items())
    except ValueError:
        return False


def says(schema: Schema, text: str) -> bool:
    """Whether both read the same valid value."""
    try:
        return is_valid(schema, as_json(value(text)))
    except ValueError:
        return False


def check(
    schema: Schema, valid: Sequence[str], invalid: Sequence[str] = (), other: Sequence[str] = (), **options: Any
) -> None:
    """Texts that are valid and written as the docs say, texts that are invalid, and valid ones written otherwise."""
    grammar = compiled(schema, syntax="yaml", **options)
    for text in (*valid, *other):
        assert says(schema, text), f"the judges refuse {text!r}"
    for text in invalid:
        assert not says(schema, text), f"the judges accept {text!r}"
    for text in valid:
        assert accepts(grammar, text), f"refused: {text!r}"
    for text in (*invalid, *other):
        assert not accepts(grammar, text), f"accepted: {text!r}"


def as_json(read: Any) -> str:
    """A value as JSON. Raises ValueError for one that JSON does not have."""
    if isinstance(read, Decimal):
        return str(read)
    if isinstance(read, list):
        return f"[{','.join(map(as_json, read))}]"
    if isinstance(read, dict):
        if not all(isinstance(key, str) for key in read):
            raise ValueError("a key is no string")
        return "{" + ",".join(f"{json.dumps(key)}:{as_json(held)}" for key, held in read.items()) + "}"
    if isinstance(read, str):
        read.encode()  # half a pair of surrogates is no character
    if read is not None and not isinstance(read, (bool, int, str)):
        raise ValueError(f"a {type(read).__name__} is no value of JSON")
    return json.dumps(read)


def _typed(read: Any) -> Any:
    """The value with its types: 1, 1.0 and True are three."""
    if isinstance(read, list):
        return [*map(_typed, read)]
    if isinstance(read, dict):
        return [(_typed(key), _typed(held)) for key, held in read.items()]
    return type(read).__name__, repr(read)
