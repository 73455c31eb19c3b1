"""JSON without white space as literals of Python, terminal by terminal.

Values of JSON and literals of Python have the same structure. So rules stay as they are; marks, words and strings are
written anew. A register reads strings as JSON does: those that must differ have one spelling, in double quotes. Keys
without names, which it tells apart, are in single quotes, as `repr` writes them.
"""

from __future__ import annotations

import json
from dataclasses import replace

from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import NO_STEP, Expr, GrammarIR, Terminal
from cfgmask.grammar.regex_tree import (
    Alternation,
    Concatenation,
    Intersection,
    JsonString,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
    char_class,
    negated,
    text,
)
from cfgmask.grammar.walk import fold
from cfgmask.types.call.python_string import python_string

_FIXED = {b":": text(": "), b",": text(", "), b"null": text("None"), b"true": text("True"), b"false": text("False")}
_QUOTES = [(0x22, 0x22), (0x27, 0x27), (0x5C, 0x5C)]
_KEY = Repetition(negated(char_class([(0, 0x1F), *_QUOTES, (0x7F, 0x9F)])), 1, None)
# The name of terminals that are keys without names.
_OTHER_KEYS = "KEY"


def as_literals(grammar: GrammarIR) -> GrammarIR:
    """The literals, with ", " and ": " as `repr` has them, of the values whose rules a grammar is.

    grammar  made by `core_grammar`, of JSON without white space
    Raises NoLiteralError for strings that are no text. Cost: linear.
    """
    known: dict[Terminal, Terminal] = {}

    def combine(expr: Expr, operands: list[Expr]) -> Expr:
        if not isinstance(expr, Terminal):
            return with_operands(expr, operands)
        if expr not in known:
            known[expr] = _written(expr)
        return known[expr]

    return replace(grammar, rules=tuple(replace(rule, body=fold(rule.body, combine)) for rule in grammar.rules))


def _written(terminal: Terminal) -> Terminal:
    bodies = _bodies(terminal.regex)
    if bodies is None:
        regex = terminal.regex
        written = _FIXED.get(regex.data.strip()) if isinstance(regex, Literal) else None
        return terminal if written is None else replace(terminal, regex=written)
    if terminal.name == _OTHER_KEYS:
        keys = Alternation(tuple(Intersection((body, _KEY)) for body in bodies))
        return replace(terminal, regex=Concatenation((text("'"), keys, text("'"))), endless="")
    if terminal.distinct or terminal.step != NO_STEP:
        regex = Alternation(tuple(JsonString(body, "canonical") for body in bodies))
        return replace(terminal, regex=regex, endless="")
    return replace(terminal, regex=Alternation(tuple(map(python_string, bodies))), endless="")


def _bodies(regex: RegexTree) -> list[RegexTree] | None:
    """What the strings of JSON say, in the parts that a regex has; None if there are none in it."""
    if isinstance(regex, JsonString):
        return [regex.body]
    if isinstance(regex, Literal):
        return [text(json.loads(regex.data))] if regex.data.startswith(b'"') else None
    if isinstance(regex, KeySet):
        if not all(key.startswith(b'"') for key in regex.keys):
            return None
        return [KeySet(tuple(json.loads(key).encode() for key in regex.keys))]
    if not isinstance(regex, Alternation):
        return None
    found: list[RegexTree] = []
    for part in regex.parts:
        bodies = _bodies(part)
        if bodies is None:
            return None
        found += bodies
    return found
