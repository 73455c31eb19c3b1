"""One linear pass over every schema that can matter: are its keywords well formed, do its references lead somewhere,
which of its keywords restrict nothing.

It does not decide whether a keyword can be enforced: that depends on what it meets, and the core says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.regex_tree import MAX_COUNT
from cfgmask.json_schema.contradictions import Contradiction, plain_contradictions
from cfgmask.json_schema.doubles import GREATEST, is_held
from cfgmask.json_schema.drafts import EXTENSIONS, Draft
from cfgmask.json_schema.formats import is_known
from cfgmask.json_schema.nodes import REFERENCES, Node, keyword_note, quoted, subschema_places
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.problems import MAX_PROBLEMS
from cfgmask.json_schema.resolve import Schemas
from cfgmask.json_schema.values import Document, JsonValue, Number, around, is_number, kind, magnitude, plain_decimal
from cfgmask.suggest import closest, question

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


@dataclass
class Survey:
    """What the pass found: `errors` stop the schema from being used, `notes` do not.

    idle      the places of keywords that count as absent, since no text can be long enough to break them
    reached   the schemas that were looked at
    complete  False where the pass stopped early since there were more than `MAX_PROBLEMS` errors
    """

    errors: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    reached: list[Node] = field(default_factory=list)
    complete: bool = True


def survey(schemas: Schemas, options: JsonSchemaOptions) -> Survey:
    """Look at every schema that the root reaches through keywords and references; definitions only if referred to."""
    found = Survey()
    seen = {schemas.root}
    todo = [schemas.root]
    while todo and found.complete:
        node = todo.pop()
        found.reached.append(node)
        for reached in reversed(_examine(node, schemas, options, found)):
            if reached not in seen:
                seen.add(reached)
                todo.append(reached)
        found.complete = len(found.errors) <= MAX_PROBLEMS
    found.notes += schemas.notes
    return found


def allowed_types(node: Node) -> frozenset[str]:
    """The names in `type`; all of them where it is absent. "number" includes integers."""
    named = node.get("type")
    if isinstance(named, list):
        return frozenset(str(name) for name in named)
    return frozenset(TYPES) if named is None else frozenset([str(named)])


def surveyed(schemas: Schemas, document: Document, options: JsonSchemaOptions) -> Survey:
    """What the survey finds beside the problems of reading; what it finds wrong is disregarded from then on."""
    schemas.disregard(document.unread)
    found = survey(schemas, options)
    # The value of a keyword that holds something unread is no worse than that.
    known = {outer for pointer in document.unread for outer in around(pointer) if outer}
    found.errors = [error for error in found.errors if error.pointer not in known]
    schemas.disregard(error.pointer for error in found.errors if error.pointer is not None)
    schemas.disregard(found.idle)
    return found


def _examine(node: Node, schemas: Schemas, options: JsonSchemaOptions, found: Survey) -> list[Node]:
    """Check one schema; the schemas that it leads to."""
    value = node.value
    if isinstance(value, bool):
        return []
    if not isinstance(value, dict):
        message = f"a schema must be an object or a boolean, not {_a(kind(value))}"
        found.errors.append(Diagnostic("schema-not-a-schema", message, pointer=node.pointer))
        return []
    if node.is_only_reference:
        _note_hidden(node, value, found)
    wrong = [problem for keyword in node.keywords if (problem := form_problem(node, keyword, options)) is not None]
    found.errors += wrong
    if not node.is_only_reference:
        notes = [note for keyword in value if (note := keyword_note(node, keyword)) is not None]
        if options.unknown_keywords == "error":
            found.errors += [replace(note, severity="error") for note in notes if _is_unknown(note)]
            notes = [note for note in notes if not _is_unknown(note)]
        found.notes += notes
    if not wrong:
        found.notes += [_contradiction_note(c) for c in plain_contradictions(node)]
    if (note := _format_note(node, options)) is not None:
        found.notes.append(note)
    for keyword in _MAXIMA:
        most = node.get(keyword)
        if isinstance(most, int) and _is_count(most) and most >= MAX_COUNT:
            found.idle.append(node.at(keyword))
            found.notes.append(_idle_note(node, keyword))
    ill_formed = {problem.pointer for problem in wrong}
    reached = [
        schemas.child(node, *path)
        for path in subschema_places(value)
        if node.has(path[0]) and node.at(path[0]) not in ill_formed
    ]
    for keyword in REFERENCES:
        if node.has(keyword) and node.at(keyword) not in ill_formed:
            target = schemas.target(node, keyword)
            if isinstance(target, Diagnostic):
                found.errors.append(target)
            else:
                reached.append(target)
    return reached


def _is_unknown(note: Diagnostic) -> bool:
    """Whether a note is about a keyword that no draft has and that is nobody's extension by its name."""
    if note.code == "schema-misspelt-keyword":
        return True
    keyword = (note.pointer or "").rpartition("/")[2]
    return note.code == "schema-unknown-keyword" and keyword not in EXTENSIONS and keyword[:2].lower() != "x-"


def _contradiction_note(found: Contradiction) -> Diagnostic:
    message = f"{found.message}: {found.leaves} satisfies this"
    return Diagnostic("schema-contradiction", message, pointer=found.pointer, severity="warning")


def _idle_note(node: Node, keyword: str) -> Diagnostic:
    return Diagnostic(
        "schema-idle-maximum",
        f"{keyword} restricts nothing: a text that breaks it would be longer than any model writes",
        pointer=node.at(keyword),
        severity="note",
    )


def _format_note(node: Node, options: JsonSchemaOptions) -> Diagnostic | None:
    """What to report about a `format` that restricts nothing."""
    name = node.get("format")
    if not isinstance(name, str) or (options.formats == "assert" and is_known(name)):
        return None
    if options.formats == "annotate":
        message = f'the format "{name}" is taken as an annotation, as the options say'
    else:
        message = f'"{name}" is no format of JSON Schema and restricts nothing'
    return Diagnostic("schema-format-annotation", message, pointer=node.at("format"), severity="note")


def _note_hidden(node: Node, value: dict[str, JsonValue], found: Survey) -> None:
    hidden = [keyword for keyword in value if keyword != "$ref" and node.dialect.asserts(keyword)]
    for keyword in hidden:
        found.notes.append(
            Diagnostic(
                "schema-hidden-by-reference",
                f"{keyword} stands beside $ref and restricts nothing in {node.dialect.draft.label}",
                pointer=node.at(keyword),
                severity="warning",
                help="put the reference into an allOf",
            )
        )


# The forms that keywords' values must have

_MINIMA = ("minLength", "minItems", "minProperties", "minContains")
# One that is as large as the largest count, which is two thousand million, can be left out: what breaks it has more
# characters, items or keys than that, and no context window is so long. Its negation would be a minimum above the
# largest count, and nothing is allowed instead, which is as exact.
_MAXIMA = ("maxLength", "maxItems", "maxProperties", "maxContains")


def form_problem(node: Node, keyword: str, options: JsonSchemaOptions) -> Diagnostic | None:
    """What is wrong with the form of a keyword's value."""
    value = node.get(keyword)
    expected = _FORMS[keyword](node, value)
    if expected is None:
        if keyword in _MINIMA:
            return _too_large(node, keyword)
        return _not_held(node, keyword) if options.numbers == "plain" and keyword in _OF_NUMBERS else None
    message = f"{keyword} must be {expected}, not {_shown(value)}"
    help = _HELP[keyword](node, value) if keyword in _HELP else None
    return Diagnostic("schema-keyword-value", message, pointer=node.at(keyword), help=help)


def _too_large(node: Node, keyword: str) -> Diagnostic | None:
    least = node.get(keyword)
    if not isinstance(least, int) or least <= MAX_COUNT:
        return None
    message = f"{keyword} can be enforced up to {MAX_COUNT}"
    return Diagnostic("schema-count-too-large", message, pointer=node.at(keyword), help="lower it, or leave it out")


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_OF_NUMBERS = (*_BOUNDS, "multipleOf", "const", "enum")


def _not_held(node: Node, keyword: str) -> Diagnostic | None:
    """A number in a keyword's value that is rounded where it is read as a double."""
    number = next((n for n in _numbers_in(node.get(keyword)) if not _is_held(n, node, keyword)), None)
    if number is None:
        return None
    return Diagnostic(
        "schema-number-rounded",
        f"no double holds {_shown_shortly(number)}, and most programs read numbers as doubles",
        pointer=node.at(keyword),
        help='round it, or read numbers exactly with numbers="any"',
    )


def _is_held(number: Number, node: Node, keyword: str) -> bool:
    """Whole numbers are written digit by digit, so doubles only matter where there are others."""
    if number.denominator != 1:
        return is_held(number)
    if keyword not in _BOUNDS or magnitude(number) <= GREATEST:
        return True
    types = node.get("type")
    return types is not None and "number" not in (types if isinstance(types, list) else [types])


def _numbers_in(value: JsonValue) -> Iterator[Number]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, list):
            todo += reversed(item)
        elif isinstance(item, dict):
            todo += reversed(item.values())
        elif isinstance(item, (int, Fraction)) and not isinstance(item, bool):
            yield item


def _shown_shortly(number: Number) -> str:
    """The number as text, with an exponent if it is long."""
    text = plain_decimal(number)
    return text if len(text) <= 30 else f"{Decimal(text).normalize():.20g}"


# A check gives what the value must be where it is not that, as the object of "must be".
_Check = Callable[[Node, JsonValue], "str | None"]


def _require(expected: str, test: Callable[[JsonValue], bool]) -> _Check:
    return lambda _node, value: None if test(value) else expected


def _is_schema(value: JsonValue) -> bool:
    return isinstance(value, (dict, bool))


def _is_count(value: JsonValue) -> bool:
    return is_number(value) and isinstance(value, int) and value >= 0


def _is_text_list(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_type(value: JsonValue) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _exclusive(node: Node, value: JsonValue) -> str | None:
    """A number since draft 6, a boolean beside the bound in draft 4, either where no draft is declared."""
    may_be_boolean = node.dialect.draft is Draft.DRAFT_4 or not node.dialect.declared
    may_be_number = node.dialect.draft is not Draft.DRAFT_4
    if (may_be_boolean and isinstance(value, bool)) or (may_be_number and is_number(value)):
        return None
    return "a number" if may_be_number else "a boolean"


def _items(node: Node, value: JsonValue) -> str | None:
    """A schema, or a list of schemas before draft 2020-12 and where no draft is declared."""
    if _is_schema(value):
        return None
    if node.dialect.draft is Draft.DRAFT_2020_12 and node.dialect.declared:
        return "a schema (a list of schemas is called prefixItems in draft 2020-12)"
    if isinstance(value, list) and node.has("prefixItems"):
        return "a schema beside prefixItems"
    return None if isinstance(value, list) else "a schema or a list of schemas"


def _is_dependency_map(value: JsonValue) -> bool:
    return isinstance(value, dict) and all(_is_text_list(v) for v in value.values() if isinstance(v, list))


def _help_with_required(node: Node, value: JsonValue) -> str | None:
    """A boolean is draft 3, where each property says it of itself."""
    if isinstance(value, str):
        return f"write `[{json.dumps(value, ensure_ascii=False)}]`"
    if not isinstance(value, bool):
        return None
    before, _, last = node.pointer.rpartition("/")
    name = last.replace("~1", "/").replace("~0", "~")
    if before.rpartition("/")[2] != "properties":
        return "a boolean is draft 3: now `required` lists names of properties"
    if not value:
        return f"a boolean is draft 3: leave it out, {quoted(name)} is optional then"
    outer = before.rpartition("/")[0] or "the root of the schema"
    return f'a boolean is draft 3: now the object around it says so, `"required": [{quoted(name)}]` at {outer}'


_OTHER_NAMES = {
    **dict.fromkeys(["str", "text", "char", "varchar", "date", "datetime", "uuid", "bytes", "enum"], "string"),
    **dict.fromkeys(["int", "long", "int32", "int64", "uint", "short"], "integer"),
    **dict.fromkeys(["float", "double", "decimal", "num", "real"], "number"),
    **dict.fromkeys(["bool"], "boolean"),
    **dict.fromkeys(["dict", "map", "struct", "record", "json"], "object"),
    **dict.fromkeys(["list", "tuple", "set", "sequence"], "array"),
    **dict.fromkeys(["none", "nil", "undefined", "void", "nonetype"], "null"),
}
"""What other languages call the types."""


def _help_with_type(_node: Node, value: JsonValue) -> str | None:
    wrong = [v for v in (value if isinstance(value, list) else [value]) if not isinstance(v, str) or v not in TYPES]
    name = wrong[0] if wrong else None
    if name is None and value is None:
        return 'write `"null"`, as a string'
    if not isinstance(name, str):
        return None
    if name.lower() == "any":
        return "leave the type out: then any value is allowed"
    meant = name.lower() if name.lower() in TYPES else _OTHER_NAMES.get(name.lower()) or closest(name, TYPES)
    return None if meant is None else question(meant)


_HELP: dict[str, Callable[[Node, JsonValue], str | None]] = {
    "required": _help_with_required,
    "type": _help_with_type,
}

_NUMBER = _require("a number", is_number)
_COUNT = _require("a whole number that is not negative", _is_count)
_TEXT = _require("a string", lambda value: isinstance(value, str))
_SCHEMA = _require("a schema", _is_schema)
# What is inside of these is examined by itself, so that each wrong element is named.
_SCHEMA_LIST = _require("a list of schemas with at least one element", lambda v: isinstance(v, list) and bool(v))
_SCHEMA_MAP = _require("an object of schemas", lambda value: isinstance(value, dict))

_FORMS: dict[str, _Check] = {
    **dict.fromkeys(["$ref", "$dynamicRef", "$recursiveRef", "pattern", "format"], _TEXT),
    **dict.fromkeys(["allOf", "anyOf", "oneOf", "prefixItems"], _SCHEMA_LIST),
    **dict.fromkeys(["not", "if", "then", "else", "contains", "propertyNames", "additionalItems"], _SCHEMA),
    **dict.fromkeys(["additionalProperties", "unevaluatedItems", "unevaluatedProperties"], _SCHEMA),
    **dict.fromkeys(["properties", "patternProperties", "dependentSchemas"], _SCHEMA_MAP),
    **dict.fromkeys([*_MINIMA, *_MAXIMA], _COUNT),
    **dict.fromkeys(["minimum", "maximum"], _NUMBER),
    **dict.fromkeys(["exclusiveMinimum", "exclusiveMaximum"], _exclusive),
    "type": _require(f"one of {', '.join(TYPES)}, or a list of them", _is_type),
    "enum": _require("a list", lambda value: isinstance(value, list)),
    "const": lambda _node, _value: None,
    "multipleOf": _require("a number above 0", lambda value: is_number(value) and _above_zero(value)),
    "items": _items,
    "uniqueItems": _require("a boolean", lambda value: isinstance(value, bool)),
    "required": _require("a list of strings", _is_text_list),
    "dependentRequired": _require(
        "an object of lists of strings",
        lambda value: isinstance(value, dict) and all(_is_text_list(names) for names in value.values()),
    ),
    "dependencies": _require("an object of schemas and lists of strings", _is_dependency_map),
}


def _above_zero(value: JsonValue) -> bool:
    return not isinstance(value, (str, list, dict, type(None))) and value > 0


def _shown(value: JsonValue) -> str:
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 40 else "a long string"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, Fraction)):
        number = plain_decimal(value)
        return number if len(number) <= 40 else "a long number"
    return _a(kind(value))


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else noun if noun == "null" else f"a {noun}"
