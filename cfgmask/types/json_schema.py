"""The JSON Schema of a type, made by Pydantic and tightened to what Pydantic then accepts.

Pydantic's own schemas describe types to people and other programs, so they are often wider: no keys are excluded, a
datetime needs no time zone, the keys of `dict[int, str]` are any text. `TypeSchema` says such things where JSON Schema
can, and notes where it cannot.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeAlias

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaValidator, from_json, to_json

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.formats import is_known
from cfgmask.types import texts
from cfgmask.types.keys import as_keys
from cfgmask.types.read import name_of
from cfgmask.types.texts import Whole

Schema: TypeAlias = dict[str, Any]
Dialect: TypeAlias = Literal["ecma", "python", "rust"]

_KEYWORDS: dict[str, dict[str, str]] = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
    "number": {
        "ge": "minimum",
        "gt": "exclusiveMinimum",
        "le": "maximum",
        "lt": "exclusiveMaximum",
        "multiple_of": "multipleOf",
    },
}
_KEYWORDS["integer"] = _KEYWORDS["number"]
_CONSTRAINTS = frozenset(name for names in _KEYWORDS.values() for name in names)
_UPDATES = _CONSTRAINTS | {"minLength", "maxLength", "minItems", "maxItems"}
_BOUNDS = ("gt", "ge", "lt", "le")
_MAX_FLAGS = 10

# Functions of Pydantic that check no more than the schema says: they build containers, or apply a constraint.
_STRUCTURAL_MODULES = re.compile(r"pydantic\._internal\._(generate_schema|std_types_schema|validators|validate_call)$")
_STRUCTURAL_TYPES = re.compile(r"(_?Secret|PathType|UuidVersion|_BaseUrl|_BaseMultiHostUrl|IPvAny)\w*\.")
_WITH_FUNCTIONS = frozenset({"function-before", "function-after", "function-wrap", "function-plain"})
# Classes that are called with a text that has been checked.
_MODULES_OF_KINDS = frozenset({"collections", "ipaddress", "pathlib"})

# Formats that Pydantic has beside those of JSON Schema: what they mean. None: any text
_ANY_ADDRESS = {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}
_FORMATS: dict[str, Schema] = {
    "binary": {},
    "path": {},
    "password": {},
    "base64": {"pattern": texts.base64("+/")},
    "base64url": {"pattern": texts.base64("_-")},
    "ipvanyaddress": _ANY_ADDRESS,
    **{f"uuid{version}": {"pattern": texts.uuid_of_version(version)} for version in range(1, 9)},
}
# Of these the format says too little, or nothing.
_LOOSE = {
    "file-path": "an existing file",
    "directory-path": "an existing directory",
    "zoneinfo": "a time zone",
    "regex": "a pattern that Python compiles",
    **{f"{kind}{part}": f"an IP {part}" for kind in ("ipv4", "ipv6", "ipvany") for part in ("interface", "network")},
}


class TypeSchema(GenerateJsonSchema):  # type: ignore[misc]  # mypy does not look into Pydantic
    """`problems`: what no JSON stands for; `notes`: where the schema is wider or narrower than the type."""

    ignored_warning_kinds = frozenset({"skipped-choice", "non-serializable-default", "skipped-discriminator"})

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(**options)
        self.problems: list[Diagnostic] = []
        self.notes: list[Diagnostic] = []
        self._place = name
        # What messages add to the place for a part, by the identity of its core schema.
        self._steps: dict[int, str] = {}
        self._dialects: set[Dialect] = set()

    def finished(self, schema: Schema, dialect: Dialect | None) -> tuple[Schema, Dialect]:
        """The schema with the anchors of its dialect, and that."""
        found: Dialect = dialect or (self._dialects.pop() if self._dialects else "ecma")
        anchored: Schema = _anchored(schema, found)
        return anchored, found

    # Places

    @contextmanager
    def _at(self, place: str) -> Iterator[None]:
        before, self._place = self._place, place
        try:
            yield
        finally:
            self._place = before

    def generate_inner(self, schema: Any) -> Schema:
        """The schema of a part."""
        for key, step in (("items_schema", "[]"), ("values_schema", "[]"), ("keys_schema", "[key]")):
            if isinstance(schema.get(key), dict):
                self._steps[id(schema[key])] = step
        with self._at(self._place + self._steps.get(id(schema), "")):
            if schema["type"] in _WITH_FUNCTIONS:
                schema = self._read_function(schema)
            result: Schema = super().generate_inner(schema)
            whole = self.resolve_ref_schema(result) if "ref" in schema and self._is_resolved(result) else result
            if "$ref" not in whole:
                self._read_format(whole)
        return result

    def _is_resolved(self, result: Schema) -> bool:
        return "$ref" not in result or self.get_schema_from_definitions(result["$ref"]) is not None

    def _read_format(self, result: Schema) -> None:
        """Replace a format of Pydantic's by what it means."""
        name = result.get("format")
        if not isinstance(name, str) or result.get("type") != "string":
            return
        if name in _FORMATS:
            del result["format"]
            result.update(_FORMATS[name])
        elif name in _LOOSE or not is_known(name):
            self._note(f"not all is checked that makes a text {_LOOSE.get(name, f'of the format {name!r:.40}')}")
            if not is_known(name):
                del result["format"]

    def _note(self, message: str, code: str = "type-inexact", help: str | None = None) -> None:
        found = Diagnostic(code, f"{self._place}: {message}", severity="note", help=help)
        if found not in self.notes:
            self.notes.append(found)

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> Schema:
        """Report a part that no JSON stands for; others may be reported, too."""
        name = str(error_info).removeprefix("core_schema.")
        found = Diagnostic("type-unsupported", f"{self._place}: no JSON stands for it ({name:.80})")
        if found not in self.problems:
            self.problems.append(found)
        return {}

    def is_subclass_schema(self, schema: Any) -> Schema:
        """A class is no JSON."""
        return self.handle_invalid_for_json_schema(schema, f"a class: {schema['cls']}")

    # Classes

    def model_schema(self, schema: Any) -> Schema:
        """Models are without keys that they have no field for, unless they keep them."""
        with self._at(name_of(schema["cls"])):
            if schema.get("custom_init"):
                self._note_code(schema["cls"].__init__)
            post_init = getattr(schema["cls"], schema.get("post_init") or "", None)
            if post_init is not None and not _is_of_pydantic(post_init):
                self._note_code(post_init)
            return _closed(super().model_schema(schema))

    def dataclass_schema(self, schema: Any) -> Schema:
        """Dataclasses are closed, too."""
        with self._at(name_of(schema["cls"])):
            if schema.get("post_init"):
                self._note_code(schema["cls"].__post_init__)
            return _closed(super().dataclass_schema(schema))

    def typed_dict_schema(self, schema: Any) -> Schema:
        """TypedDicts are closed, too."""
        cls = schema.get("cls")
        with self._at(self._place if cls is None else name_of(cls)):
            self._name_fields(schema["fields"].items())
            return _closed(super().typed_dict_schema(schema))

    def model_fields_schema(self, schema: Any) -> Schema:
        """The fields of a model."""
        self._name_fields(schema["fields"].items())
        return super().model_fields_schema(schema)  # type: ignore[no-any-return]

    def dataclass_args_schema(self, schema: Any) -> Schema:
        """The fields of a dataclass."""
        self._name_fields((field["name"], field) for field in schema["fields"])
        return super().dataclass_args_schema(schema)  # type: ignore[no-any-return]

    def field_is_present(self, field: Any) -> bool:
        """A dataclass sets by itself what is no argument of its constructor."""
        return field.get("init", True) is not False and bool(super().field_is_present(field))

    def named_tuple_schema(self, schema: Any) -> Schema:
        """An array."""
        self._name_fields((field["name"], field["schema"]) for field in schema["fields"])
        return super().named_tuple_schema(schema)  # type: ignore[no-any-return]

    def arguments_schema(self, schema: Any) -> Schema:
        """The arguments of a function or of a named tuple."""
        if schema.get("var_kwargs_mode") == "unpacked-typed-dict":
            return self.handle_invalid_for_json_schema(schema, "keywords of an unpacked TypedDict")
        self._name_fields((argument["name"], argument["schema"]) for argument in schema["arguments_schema"])
        return super().arguments_schema(schema)  # type: ignore[no-any-return]

    def _name_fields(self, fields: Any) -> None:
        self._steps.update((id(field), f".{name}") for name, field in fields)

    # Texts

    def str_schema(self, schema: Any) -> Schema:
        """Texts; patterns in the dialect of the engine that the model has."""
        result: Schema = super().str_schema(schema)
        config = self._config
        if config.str_min_length:
            result.setdefault("minLength", config.str_min_length)
        if config.str_max_length is not None:
            result.setdefault("maxLength", config.str_max_length)
        pattern = schema.get("pattern")
        if pattern is not None:
            result["pattern"] = self._pattern(pattern, schema.get("regex_engine") or config.regex_engine)
        demands = [Whole(r"[\x00-\x7f]*")] if schema.get("ascii_only") else []
        if schema.get("strip_whitespace", config.str_strip_whitespace) and len(result) > 1:
            # Pydantic strips the text before it checks lengths and patterns, so the grammar allows no space to strip.
            demands.append(texts.STRIPPED)
        return {**result, "allOf": [{"pattern": demand} for demand in demands]} if demands else result

    def _pattern(self, pattern: Any, engine: str | None) -> str:
        dialect: Dialect = "python" if engine == "python-re" or isinstance(pattern, re.Pattern) else "rust"
        self._dialects.add(dialect)
        if len(self._dialects) > 1:
            self.problems.append(
                Diagnostic(
                    "type-unsupported",
                    f"{self._place}: its patterns are for both of Pydantic's engines, Rust's and Python's",
                    help="set `regex_engine` alike, and write patterns as str",
                )
            )
        if isinstance(pattern, re.Pattern):
            flags = "".join(flag for flag in "aimsx" if pattern.flags & getattr(re, flag.upper()))
            return f"(?{flags}){pattern.pattern}" if flags else str(pattern.pattern)
        return str(pattern)

    def bytes_schema(self, schema: Any) -> Schema:
        """Texts in UTF-8, or as the model's `val_json_bytes` says."""
        result: Schema = {"type": "string"}
        coding = self._config.val_json_bytes
        if coding == "base64":
            result["pattern"] = texts.base64("_-")
        elif coding == "hex":
            result["pattern"] = texts.HEX
        elif schema.get("min_length") is not None:
            result["minLength"] = schema["min_length"]
        if schema.get("max_length") is not None or (coding != "utf8" and schema.get("min_length") is not None):
            self._note("the length in bytes is not checked")
        return result

    def date_schema(self, schema: Any) -> Schema:
        """`2024-02-29`."""
        return self._time(schema, texts.DATE)

    def time_schema(self, schema: Any) -> Schema:
        """`12:00:00`, with a time zone or without."""
        return self._time(schema, texts.clock(self._zone(schema)))

    def datetime_schema(self, schema: Any) -> Schema:
        """`2024-02-29T12:00:00`, with a time zone or without."""
        return self._time(schema, texts.date_and_time(self._zone(schema)))

    def timedelta_schema(self, schema: Any) -> Schema:
        """`P1DT2H`."""
        return self._time(schema, texts.DURATION)

    def _zone(self, schema: Any) -> str | None:
        zone = schema.get("tz_constraint")
        if isinstance(zone, int):
            self._note("the offset of the time zone is not checked")
            return "aware"
        return None if zone is None else str(zone)

    def _time(self, schema: Any, pattern: Whole) -> Schema:
        if schema.get("now_op"):
            self._note(f"that it lies in the {schema['now_op']} is not checked")
        bounds = [name for name in _BOUNDS if schema.get(name) is not None]
        if bounds:
            self._note(f"the bound `{bounds[0]}` is not checked")
        return {"type": "string", "pattern": pattern}

    def uuid_schema(self, schema: Any) -> Schema:
        """An identifier, perhaps of one version."""
        version = schema.get("version")
        format = {"format": "uuid"} if version is None else {"pattern": texts.uuid_of_version(version)}
        return {"type": "string", **format}

    def url_schema(self, schema: Any) -> Schema:
        """A URL of some schemes."""
        self._note("not all is checked that makes a text a URL")
        return self._with_schemes(super().url_schema(schema), schema)

    def multi_host_url_schema(self, schema: Any) -> Schema:
        """A URL of several hosts, of some schemes."""
        self._note("not all is checked that makes a text a URL")
        result: Schema = super().multi_host_url_schema(schema)
        del result["format"]
        return self._with_schemes(result, schema)

    def _with_schemes(self, result: Schema, schema: Any) -> Schema:
        schemes = schema.get("allowed_schemes")
        if schemes:
            result["pattern"] = Whole("(?:" + "|".join(map(re.escape, schemes)) + r")://[^/?#\\][\s\S]*")
        return result

    def complex_schema(self, schema: Any) -> Schema:
        """`1+2j`."""
        return {"type": "string", "pattern": texts.COMPLEX}

    def json_schema(self, schema: Any) -> Schema:
        """A text that is JSON again."""
        self._note("that the text is JSON itself is not checked")
        return {"type": "string"}

    # Numbers

    def float_schema(self, schema: Any) -> Schema:
        """A number of JSON, which has no NaN."""
        strange = self._config.ser_json_inf_nan in ("constants", "strings")
        if schema.get("allow_inf_nan") or (strange and schema.get("allow_inf_nan") is None):
            self._note("NaN and the infinities cannot be written: JSON has none")
        return super().float_schema(schema)  # type: ignore[no-any-return]

    def decimal_schema(self, schema: Any) -> Schema:
        """A number, or the same as a text."""
        if schema.get("allow_inf_nan"):
            self._note("NaN and the infinities cannot be written: JSON has none")
        bounds = {name: schema[name] for name in (*_BOUNDS, "multiple_of") if schema.get(name) is not None}
        most, places = schema.get("max_digits"), schema.get("decimal_places")
        if most is None and places is None:
            text: Schema | None = {"type": "string"} if bounds else {"type": "string", "pattern": texts.DECIMAL}
            number: Schema = {"type": "number"}
        else:
            text = {"type": "string", "pattern": texts.digits(most, places)}
            number = _numbers_of_digits(most, places)
        if bounds:
            pattern = texts.numbers(bounds)
            text = None if pattern is None else {**(text or {}), "allOf": [{"pattern": pattern}]}
            number = {**number, "allOf": [{_KEYWORDS["number"][name]: float(value) for name, value in bounds.items()}]}
        exact = all(map(texts.is_a_double, bounds.values()))
        kinds = [kind for kind in (number if exact else None, text) if kind is not None]
        if not kinds:
            return self.handle_invalid_for_json_schema(schema, "a decimal with such bounds")
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}

    def fraction_schema(self, schema: Any) -> Schema:
        """A text such as `1/3`; a number where there are bounds."""
        bounds = {name: float(schema[name]) for name in _BOUNDS if schema.get(name) is not None}
        if bounds:
            return {"type": "number", **{_KEYWORDS["number"][name]: value for name, value in bounds.items()}}
        return {"anyOf": [{"type": "number"}, {"type": "string", "pattern": texts.FRACTION}]}

    def literal_schema(self, schema: Any) -> Schema:
        """Some values, not called numbers: Pydantic does not read them from the keys of an object."""
        expected = [value.value if isinstance(value, enum.Enum) else value for value in schema["expected"]]
        return self._readable(schema, expected, schema["expected"])

    def enum_schema(self, schema: Any) -> Schema:
        """The values of an enum; `type` where Pydantic reads them from the keys of an object, too."""
        values = [member.value for member in schema["members"]]
        result = self._readable(schema, values, schema["members"])
        if values and issubclass(schema["cls"], enum.Flag):
            result["enum"] = self._combined(result["enum"])
        return {**result, "type": "integer"} if schema.get("sub_type") == "int" else result

    def _readable(self, schema: Any, values: list[Any], shown: list[Any]) -> Schema:
        """Those of the values that Pydantic reads back from JSON."""
        validator, found = SchemaValidator(schema), []
        for value, name in zip(values, shown, strict=True):
            try:
                text = to_json(value)
                validator.validate_json(text)
            except ValueError:  # of a value without JSON, and of one that is not read
                self._note(f"`{name!r:.60}` cannot be written: Pydantic does not read it from JSON")
            else:
                found.append(from_json(text))
        if values and not found:
            return self.handle_invalid_for_json_schema(schema, f"only values like {shown[0]!r:.40}")
        return {"enum": found}

    def _combined(self, flags: list[int]) -> list[int]:
        if len(flags) > _MAX_FLAGS:
            self._note(f"combinations of more than {_MAX_FLAGS} flags cannot be written")
            return flags
        combined = {0}
        for flag in flags:
            combined |= {value | flag for value in combined}
        return sorted(combined)

    # Containers

    def set_schema(self, schema: Any) -> Schema:
        """Different values that have a hash."""
        return self._set(schema, super().set_schema(schema))

    def frozenset_schema(self, schema: Any) -> Schema:
        """Different values that have a hash."""
        return self._set(schema, super().frozenset_schema(schema))

    def _set(self, schema: Any, result: Schema) -> Schema:
        items = self.resolve_ref_schema(result["items"]) if self._is_resolved(result["items"]) else {}
        if not items:
            result["items"] = {"type": ["null", "boolean", "number", "string"]}
        elif not _is_hashable(schema.get("items_schema", {})):
            self._note("its items have no hash, so Pydantic reads only an empty set")
        if schema.get("min_length", 0) > 1 and items.get("type") not in ("string", "integer", "boolean"):
            self._note("items that are written in different ways may be equal, so there may be fewer")
        return result

    def dict_schema(self, schema: Any) -> Schema:
        """An object; keys as JSON writes them."""
        return self._dict(schema)

    def frozendict_schema(self, schema: Any) -> Schema:
        """An object."""
        return self._dict(schema)

    def ordered_dict_schema(self, schema: Any) -> Schema:
        """An object."""
        return self._dict(schema)

    def counter_schema(self, schema: Any) -> Schema:
        """An object of integers."""
        return self._dict({**schema, "values_schema": {"type": "int"}})

    def _dict(self, schema: Any) -> Schema:
        values = self.generate_inner(schema["values_schema"]) if "values_schema" in schema else {}
        result: Schema = {"type": "object", "additionalProperties": values or True}
        if "keys_schema" in schema:
            written = self.generate_inner(schema["keys_schema"])
            names = as_keys(written, lambda part: self.resolve_ref_schema(part) if self._is_resolved(part) else None)
            if names is None:
                with self._at(f"{self._place}[key]"):
                    self.handle_invalid_for_json_schema(schema, "a key that is no text")
            elif names != {}:
                result["propertyNames"] = names
        for name, keyword in _KEYWORDS["object"].items():
            if schema.get(name) is not None:
                result[keyword] = schema[name]
        return result

    def tagged_union_schema(self, schema: Any) -> Schema:
        """One of some models; the key that tells them apart must be written, even if it has a default."""
        result: Schema = super().tagged_union_schema(schema)
        choices, told_by = result["oneOf"], schema["discriminator"]
        if callable(told_by):
            self._note(f"which of its types it is, a function says: `{_name_of(told_by)}`", "type-validator")
            return {"anyOf": choices}
        paths = [told_by] if isinstance(told_by, str) else told_by
        names = [path[0] if isinstance(path, list) and len(path) == 1 else path for path in paths]
        if not all(isinstance(name, str) for name in names):
            self._note("which of its types it is, is said deep inside")
            return {"anyOf": choices}
        demand: Schema = {"required": names} if len(names) == 1 else {"anyOf": [{"required": [name]} for name in names]}
        return {"anyOf": [{"allOf": [choice, demand]} for choice in choices]}

    # Python code

    def function_after_schema(self, schema: Any) -> Schema:
        """A value that a function looks at afterwards, perhaps one of Pydantic's that applies a constraint."""
        constraint = _constraint(schema)
        result: Schema = super().function_after_schema(schema)
        if constraint is None:
            return result
        name, value = constraint
        bounded = _constrained(result, name, value) if "$ref" not in result else None
        if bounded is None:
            self._note(f"the constraint `{name}` is not checked")
        return result if bounded is None else bounded

    def chain_schema(self, schema: Any) -> Schema:
        """Several checks, one after the other; a schema says the first."""
        if len(schema["steps"]) > 1:
            self._note("only the first of its checks is made")
        return super().chain_schema(schema)  # type: ignore[no-any-return]

    def _read_function(self, schema: Any) -> Any:
        """The schema; a note where its function checks what no schema says."""
        function = schema["function"]["function"]
        if schema["type"] == "function-after" and _constraint(schema) is not None:
            return _without_updates(schema)
        if not _is_structural(function):
            if _is_of_pydantic(function):
                self._note("not all that Pydantic checks is in the schema")
            else:
                self._note_code(function)
        return schema

    def _note_code(self, function: Any) -> None:
        self._note(f"the grammar does not know the Python code of `{_name_of(function)}`", "type-validator")


def _anchored(part: Any, dialect: Dialect) -> Any:
    if isinstance(part, dict):
        return {key: _anchored(value, dialect) for key, value in part.items()}
    if isinstance(part, list):
        return [_anchored(value, dialect) for value in part]
    return part.anchored(dialect) if isinstance(part, Whole) else part


def _closed(schema: Schema) -> Schema:
    if "properties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


def _constrained(schema: Schema, name: str, value: Any) -> Schema | None:
    """The schema with a constraint; None where there is no keyword for it."""
    keyword = _KEYWORDS.get(str(schema.get("type")), {}).get(name)
    return None if keyword is None else {**schema, "allOf": [*schema.get("allOf", ()), {keyword: value}]}


def _constraint(schema: Any) -> tuple[str, Any] | None:
    """The constraint that a function of Pydantic's applies."""
    function = schema["function"]["function"]
    if not isinstance(function, partial) or not _is_structural(function):
        return None
    named = [(name, value) for name, value in function.keywords.items() if name in _CONSTRAINTS]
    return named[0] if len(named) == 1 else None


def _without_updates(schema: Any) -> Any:
    """The schema of such a function without the keyword that Pydantic has for it, which may be one of another type."""
    metadata = schema.get("metadata", {})
    updates = metadata.get("pydantic_js_updates", {})
    kept = {key: value for key, value in updates.items() if key not in _UPDATES}
    return {**schema, "metadata": {**metadata, "pydantic_js_updates": kept}}


def _numbers_of_digits(most: int | None, places: int | None) -> Schema:
    """Numbers with so many digits; integers where the number of places depends on that of the others."""
    if places is None:
        assert most is not None
        limit = 10**most - 1
        return {"type": "integer", "minimum": -limit, "maximum": limit}
    result: Schema = {"type": "number", "multipleOf": float(f"1e-{places}") if places else 1}
    if most is not None:
        limit_text = "9" * (most - places) + "." + "9" * places
        limit_number = float(limit_text) if places else int("9" * most)
        result |= {"minimum": -limit_number, "maximum": limit_number}
    return result


def _is_hashable(schema: Any) -> bool:
    """Whether values of a core schema have a hash, as far as its kind says."""
    kind = schema.get("type")
    if kind == "model":
        return bool(schema["cls"].__hash__)
    if kind == "dataclass":
        return schema["cls"].__hash__ is not None
    return kind not in ("list", "set", "dict", "typed-dict", "deque", "counter", "ordered-dict")


def _whole(function: Any) -> Any:
    return inspect.unwrap(function.func if isinstance(function, partial) else function)


def _is_structural(function: Any) -> bool:
    whole = _whole(function)
    module = getattr(whole, "__module__", None) or ""
    if isinstance(whole, type):
        return module in _MODULES_OF_KINDS
    if module not in ("pydantic.types", "pydantic.networks"):
        return _STRUCTURAL_MODULES.match(module) is not None and whole.__qualname__ != "import_string"
    if whole.__qualname__ == "EncodedBytes.decode":
        return bool(whole.__self__.encoder.__module__ == "pydantic.types")
    return _STRUCTURAL_TYPES.match(whole.__qualname__) is not None


def _is_of_pydantic(function: Any) -> bool:
    return (getattr(_whole(function), "__module__", None) or "").partition(".")[0] == "pydantic"


def _name_of(function: Any) -> str:
    function = _whole(function)
    return name_of(function if hasattr(function, "__qualname__") else type(function))
