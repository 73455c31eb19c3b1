"""How marks and strings are written: a pass over the finished grammar, so that lowering need not know."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import Expr, GrammarIR, Rule, Terminal
from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    Alternation,
    Concatenation,
    Intersection,
    JsonString,
    RegexTree,
    text,
)
from cfgmask.grammar.walk import fold
from cfgmask.grammar.white_space import NATURAL_GAP, NATURAL_SPACE
from cfgmask.json_schema import lexemes, spacing
from cfgmask.json_schema.formats.pattern import one_of, read
from cfgmask.json_schema.options import JsonSchemaOptions, allowed_escapes


def marks(options: JsonSchemaOptions) -> dict[Terminal, RegexTree]:
    """How marks are written of which the options say more than the marks themselves."""
    found: dict[Terminal, RegexTree] = {}
    if options.whitespace == "natural" and options.indent is None:
        found = dict(_NATURAL)
    for usual, pattern, mark in (
        (lexemes.COMMA, options.item_separator, ","),
        (lexemes.COLON, options.key_separator, ":"),
    ):
        if pattern != mark:
            found[usual] = spacing.separator(pattern, mark)
    return found


_NATURAL = {
    lexemes.COMMA: Concatenation((text(","), Alternation((NATURAL_SPACE, NATURAL_GAP)))),
    lexemes.COLON: Concatenation((text(":"), NATURAL_SPACE)),
    **{mark: Concatenation((mark.regex, NATURAL_GAP)) for mark in lexemes.OPEN},
    **{mark: Concatenation((NATURAL_GAP, mark.regex)) for mark in (lexemes.CLOSE_OBJECT, lexemes.CLOSE_ARRAY)},
}


SHORT_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
"""What may follow a backslash, with the character that it writes."""
_ALL_ESCAPES = "".join(SHORT_ESCAPES) + "U"


def escapes_of(options: JsonSchemaOptions) -> str:
    """The escapes that strings may have, as `GuidedOptions.allowed_escapes`."""
    allowed = allowed_escapes(options)
    return _ALL_ESCAPES if allowed is None else allowed


def escaped_by_number(allowed: str) -> tuple[tuple[int, int], ...]:
    r"""The characters that may be written as `\uXXXX`."""
    if "U" in allowed:
        return ANY_CHAR.ranges
    return _CONTROLS if "u" in allowed else ()


_CONTROLS = ((0, 0x1F), (0x7F, 0x7F))


def spelled(grammar: GrammarIR, options: JsonSchemaOptions) -> GrammarIR:
    """The grammar with the separators and the escapes that the options ask for. Linear where they are not the usual."""
    changed = marks(options)
    has_usual_strings = options.escapes == "any" and allowed_escapes(options) is None
    if not changed and has_usual_strings:
        return grammar

    regexes = {id(mark.regex): regex for mark, regex in changed.items()}
    # By identity: there are few marks, and they come often.
    made: dict[int, Terminal] = {}

    def terminal(found: Terminal) -> Terminal:
        if id(found.regex) in regexes:
            if id(found) not in made:
                made[id(found)] = replace(found, regex=regexes[id(found.regex)])
            return made[id(found)]
        return found if has_usual_strings else replace(found, regex=string(found.regex, options))

    def combine(expr: Expr, parts: list[Expr]) -> Expr:
        if isinstance(expr, Terminal):
            return terminal(expr)
        return with_operands(expr, parts)

    def written(rule: Rule) -> Rule:
        body = fold(rule.body, combine)
        return rule if body is rule.body else replace(rule, body=body)

    return replace(grammar, rules=tuple(map(written, grammar.rules)))


def string(tree: RegexTree, options: JsonSchemaOptions) -> RegexTree:
    """A string, or one of several, with the escapes that the options allow. Other regexes stay as they are."""
    if isinstance(tree, Alternation):
        return Alternation(tuple(string(part, options) for part in tree.parts))
    if not isinstance(tree, JsonString):
        return tree
    if options.escapes == "canonical":
        return replace(tree, escapes="canonical")
    allowed = allowed_escapes(options)
    return tree if allowed is None else Intersection((tree, strings_with(allowed)))


@cache
def strings_with(allowed: str) -> RegexTree:
    """All strings of JSON with no escapes but these."""
    escapes = [re.escape(letter) for letter in SHORT_ESCAPES if letter in allowed]
    if "U" in allowed:
        escapes.append("u[0-9A-Fa-f]{4}")
    elif "u" in allowed:
        escapes += ["u00[01][0-9A-Fa-f]", "u007[fF]"]
    escaped = rf"|\\{one_of(*escapes)}" if escapes else ""
    return read(rf'"(?:[^\x00-\x1f"\\]{escaped})*"')
