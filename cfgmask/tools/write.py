"""A grammar of tools as text in extended Lark, for people to read and to start from."""

from __future__ import annotations

from dataclasses import replace

from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import Expr, GrammarIR, Terminal
from cfgmask.grammar.parts import expanded, parts_of
from cfgmask.grammar.walk import fold
from cfgmask.lark.write import write_lark


def write_tools(grammar: GrammarIR) -> str:
    """Text that `Grammar.from_lark` reads back to the same language.

    grammar  with schemas as parts, which become `%json` blocks
    What a capture leaves out of a lexeme is not written, so captures of the text may be longer.
    Errors: GrammarError for what has no spelling in Lark, such as undeclared keys in a form that is not JSON.
    """
    grammar = expanded(grammar, [part for part in parts_of(grammar) if part.source is None])

    def combine(expr: Expr, operands: list[Expr]) -> Expr:
        return replace(expr, suffix=None) if isinstance(expr, Terminal) else with_operands(expr, operands)

    rules = tuple(replace(rule, scope=0, body=fold(rule.body, combine)) for rule in grammar.rules)
    return write_lark(replace(grammar, rules=rules, scopes=grammar.scopes[:1]))
