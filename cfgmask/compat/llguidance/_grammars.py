"""Grammars as llguidance hands them around: Lark text, or JSON that holds Lark texts and schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from cfgmask.compiler import Grammar
from cfgmask.errors import GrammarError
from cfgmask.json_schema.guidance import KEYWORD, guided
from cfgmask.json_schema.options import DEFAULTS, GuidedOptions
from cfgmask.limits import Limits

GrammarFormat: TypeAlias = Literal[
    "lark", "gbnf", "ebnf", "cfg", "grammar", "json_schema", "json", "regex", "choice", "llguidance"
]
_GBNF_OR_LARK = ("gbnf", "ebnf", "cfg", "grammar")
_LARK_START = re.compile(r"^\s*(?:start\s*(?:\[[^\]]*\])?\s*:(?![:=])|%llguidance\b|%cfgmask\b)", re.MULTILINE)

# What the regexes of Python and Rust write for a character class, and the same in ASCII.
_ASCII_CLASSES = {"d": "0-9", "w": "0-9a-zA-Z_", "s": r" \t\n\r\f\v"}


class JsonCompileOptions(TypedDict, total=False):
    """What `x-guidance` of a schema may hold; docs/json_schema.md has what each means here."""

    item_separator: str | None
    key_separator: str | None
    whitespace_pattern: str | None
    whitespace_flexible: bool | None
    coerce_one_of: bool | None
    lenient: bool | None
    json_allowed_escapes: str | None
    json_allow_general_unicode_escapes: bool | None


def from_json_schema(
    schema: str | dict[str, Any],
    defaults: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> str:
    """A grammar for the JSON that a schema allows.

    defaults, overrides  options: those of `x-guidance` go before the first, and after the second
    Errors: ValueError for what is no JSON, and for options where the schema is no object. Whether the schema can be
    enforced is asked by `LLMatcher`.
    """
    if not defaults and not overrides:
        text = schema if isinstance(schema, str) else _json(schema)
        return f'{{ "grammars": [{{ "json_schema": {text} }}] }}'
    value = read_json(schema) if isinstance(schema, str) else schema
    if not isinstance(value, dict):
        raise ValueError("options can be applied to a schema that is an object, and to no other")
    own = value.get(KEYWORD)
    if own is None or isinstance(own, dict):
        value = {**value, KEYWORD: {**(defaults or {}), **(own or {}), **(overrides or {})}}
    return wrapped("json_schema", json_schema=value)


def from_regex(regex: str) -> str:
    """A grammar for the texts that match a regex as a whole. Errors: none; `LLMatcher` tells of them."""
    return wrapped("regex", lark_grammar=f"start: /{regex_to_lark(regex)}/")


def grammar_from(format: GrammarFormat, text: Any) -> str:
    """A grammar in the text form that `LLMatcher` takes.

    format  what the text is: "lark"; "gbnf", "ebnf", "cfg" or "grammar" (GBNF, or else Lark); "json_schema" or "json";
            "regex"; "choice", a list of texts, or one in JSON; "llguidance", which is given back
    Errors: ValueError for an unknown format, GBNF that is none, and choices that are no JSON.
    """
    if format in ("lark", "llguidance"):
        return str(text)
    if format in _GBNF_OR_LARK:
        return _gbnf_or_lark(text)
    if format in ("json_schema", "json"):
        return from_json_schema(text)
    if format == "regex":
        return from_regex(text)
    if format == "choice":
        choices = read_json(text) if isinstance(text, str) else text
        return "start: " + " | ".join(map(json.dumps, choices))
    raise ValueError(f"Unknown grammar type: {format}")


def gbnf_to_lark(text: str) -> str:
    """Lark text with the language of a GBNF grammar. Errors: GrammarError."""
    # The writer is for this alone.
    from cfgmask.lark.write import write_lark

    return "%llguidance {}\n\n" + write_lark(Grammar.from_gbnf(text).ir)


def any_to_lark(text: str) -> str:
    """Lark text as it is, and GBNF as Lark text. Errors: GrammarError."""
    return text if _LARK_START.search(text) else gbnf_to_lark(text)


def _gbnf_or_lark(text: str) -> str:
    try:
        return any_to_lark(text)
    except GrammarError as error:
        raise ValueError(f"Failed to convert the grammar from GBNF to Lark: {error}") from error


def regex_to_lark(regex: str, use_ascii: str = "d") -> str:
    r"""A regex as it is written between the slashes of a Lark pattern.

    use_ascii  with "d", "w" and "s" in it, which of the classes \d, \w and \s mean ASCII: they become ranges. "d" alone
               changes nothing, since in these patterns \d is ASCII already
    """
    ascii_classes = use_ascii if use_ascii != "d" else ""
    out = []
    position = 0
    while position < len(regex):
        char = regex[position]
        position += 1
        if char == "\\" and position < len(regex):
            letter = regex[position]
            position += 1
            named = _ASCII_CLASSES.get(letter.lower()) if letter.lower() in ascii_classes else None
            if named is None:
                out.append("\\n" if letter == "\n" else char + letter)
            else:
                out.append(f"[^{named}]" if letter.isupper() else f"[{named}]")
        else:
            out.append({"/": "\\/", "\n": "\\n"}.get(char, char))
    return "".join(out)


def read_grammar(text: str, limits: Limits) -> Grammar:
    """The grammar that a text of `grammar_from` says.

    Errors: GrammarError; ValueError for JSON of another form, and for what would change texts behind the model's back.
    """
    if not text.lstrip().startswith("{"):
        if not text.strip():
            raise ValueError("the grammar is empty")
        return Grammar.from_lark(text, limits=limits)
    document = read_json(text)
    if not isinstance(document, dict) or not isinstance(document.get("grammars"), list):
        raise ValueError("a grammar in JSON needs the member `grammars`, a list")
    if document.get("max_tokens") is not None:
        raise ValueError(
            "`max_tokens` of a whole grammar would cut its text off where no rule ends; "
            "give LLMatcher no limit, and the request one"
        )
    if not document["grammars"]:
        raise ValueError("`grammars` is empty")
    kinds = [_part(part) for part in document["grammars"]]
    parts = document["grammars"]
    named = {part["name"]: content for part, content in zip(parts, kinds, strict=True) if part.get("name") is not None}
    first = kinds[0]
    if isinstance(first, str):
        others = {name: content for name, content in named.items() if content is not first}
        return Grammar.from_lark(first, limits=limits, grammars=others)
    return _schema(first, limits)


def _part(part: Any) -> Any:
    """The Lark text, or the schema."""
    if not isinstance(part, dict):
        raise ValueError("each of `grammars` is an object")
    if not isinstance(part.get("name"), (str, type(None))):
        raise ValueError("the `name` of a grammar is a text")
    lark, schema = part.get("lark_grammar"), part.get("json_schema")
    if lark is not None and schema is not None:
        raise ValueError("each of `grammars` has a `lark_grammar` or a `json_schema`, not both")
    if lark is not None:
        if not isinstance(lark, str):
            raise ValueError("`lark_grammar` is a text")
        return lark
    if schema is None:
        raise ValueError("each of `grammars` needs a `lark_grammar` or a `json_schema`")
    if not isinstance(schema, (dict, bool)):
        raise ValueError("`json_schema` is an object, true or false")
    return schema


def _schema(schema: dict[str, Any] | bool, limits: Limits) -> Grammar:
    # What `x-guidance` says are options, so that the schema stays one that the core reads by itself.
    options, problems = guided(schema, DEFAULTS)
    if isinstance(schema, dict) and not problems and not isinstance(options, GuidedOptions):
        schema = {key: value for key, value in schema.items() if key != KEYWORD}
    else:
        options = DEFAULTS
    return Grammar.from_json_schema(schema, limits=limits, **vars(options))


def warnings_in(grammar: Grammar) -> list[str]:
    """What is to be warned of in a grammar."""
    return [note.render() for note in grammar.notes if note.severity == "warning"]


def wrapped(name: str, json_schema: Any = None, lark_grammar: str | None = None) -> str:
    """The text form of a grammar that is a schema, or Lark text."""
    part = {"name": name, "json_schema": json_schema, "lark_grammar": lark_grammar}
    return _json({"grammars": [part], "max_tokens": None})


def read_json(text: str) -> Any:
    """The value of a text in JSON. Errors: ValueError, also for one that is nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None


def _json(value: Any) -> str:
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except TypeError as error:
        raise ValueError(f"Value is not JSON serializable: {error}") from None
