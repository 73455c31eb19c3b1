"""What serving engines ask for, as grammars: kinds of requests and their texts, the same for all engines."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, TypeAlias

from cfgmask import Grammar

RequestKind: TypeAlias = Literal["json", "json_object", "regex", "grammar", "choice", "structural_tag"]

_LARK = re.compile(r"^\s*(?:\??start\b[^:=\n]*:(?![:=])|%(?:llguidance|cfgmask|grammar_options)\b)", re.MULTILINE)


def request_grammar(kind: RequestKind, text: str, *, compact: bool = False) -> Grammar:
    r"""The grammar of a request.

    kind     "json": a JSON Schema; "json_object": any object; "regex": of Python's `re`, matched as a whole, but
             that `\d` is 0 to 9; "grammar": Lark with a rule `start`, or else GBNF with a rule `root`; "choice": a list
             of texts in JSON;
             "structural_tag": see docs/structural_tags.md
    compact  whether JSON has no white space
    Errors: GrammarError; ValueError for JSON that is none; LimitExceeded.
    """
    whitespace = "compact" if compact else "natural"
    if kind == "json":
        return Grammar.from_json_schema(text, whitespace=whitespace)
    if kind == "json_object":
        return Grammar.from_json_schema({"type": "object"}, whitespace=whitespace)
    if kind == "regex":
        return Grammar.from_regex(text, digits="ascii")
    if kind == "grammar":
        return Grammar.from_lark(text) if _LARK.search(text) else Grammar.from_gbnf(text)
    if kind == "choice":
        return Grammar.from_choices(_read_json(text))
    return Grammar.from_structural_tag(text, whitespace=whitespace)


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the choices are nested too deeply: they are a list of texts") from None
