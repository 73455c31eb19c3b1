"""Texts that must not appear in the strings of JSON values."""

from __future__ import annotations

from dataclasses import replace

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.grammar import ir
from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.productive import NOTHING, productive_rules, without_nonproductive
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    JsonString,
    KeySet,
    Literal,
    RegexTree,
    text,
)
from cfgmask.grammar.walk import fold
from cfgmask.limits import Limits
from cfgmask.regex.algebra import RegexAlgebra
from cfgmask.regex.trees import parts_of

_QUOTE = Literal(b'"')


def without_texts(grammar: ir.GrammarIR, excludes: tuple[str, ...], limits: Limits) -> ir.GrammarIR:
    r"""The values of a JSON Schema without strings and names of properties in which one of `excludes` occurs.

    A text occurs in a string if it does in what is written between the quotes: `\u003cend>` does not hold `<end>`.
    All other conditions on the strings stay.
    Errors: GrammarError (tag-excludes) if no value is left, LimitExceeded.
    """
    found = Alternation(tuple(text(excluded) for excluded in excludes))
    allowed = Concatenation((_QUOTE, Complement(Concatenation((ANY_TEXT, found, ANY_TEXT))), _QUOTE))
    algebra = RegexAlgebra(limits)

    def combine(expr: ir.Expr, parts: list[ir.Expr]) -> ir.Expr:
        if isinstance(expr, ir.Terminal) and _is_string(expr.regex):
            regex = Intersection((expr.regex, allowed))
            # Names that never run out may do so without the texts.
            return NOTHING if algebra.is_empty(regex) else replace(expr, regex=regex, endless="")
        return with_operands(expr, parts)

    rules = []
    for rule in grammar.rules:
        opens = rule.opens_set
        bounds = replace(opens, endless=False) if opens is not None else None
        rules.append(replace(rule, body=fold(rule.body, combine), opens_set=bounds))
    made = replace(grammar, rules=tuple(rules))
    productive = productive_rules(made)
    if grammar.start not in productive:
        message = "no value of the schema is without the excluded texts"
        raise GrammarError([Diagnostic("tag-excludes", message, pointer="", help="exclude less")])
    return without_nonproductive(made, productive)


def _is_string(regex: RegexTree) -> bool:
    """Whether a terminal of JSON is strings: no other has JSON strings, or texts that begin with a quote, as parts."""
    pending = [regex]
    while pending:
        tree = pending.pop()
        if isinstance(tree, JsonString):
            return True
        if isinstance(tree, Literal) and tree.data.startswith(b'"'):
            return True
        if isinstance(tree, KeySet) and any(key.startswith(b'"') for key in tree.keys):
            return True
        pending += parts_of(tree)
    return False
