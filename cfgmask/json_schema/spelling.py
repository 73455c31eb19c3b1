"""How separators and strings are written: a pass over the finished grammar, so that lowering need not know."""

from __future__ import annotations

from dataclasses import replace

from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Sequence, Terminal
from cfgmask.grammar.regex_tree import Alternation, JsonString, RegexTree
from cfgmask.grammar.walk import fold
from cfgmask.json_schema import lexemes, spacing
from cfgmask.json_schema.options import JsonSchemaOptions


def spelled(grammar: GrammarIR, options: JsonSchemaOptions) -> GrammarIR:
    """The grammar with the separators and the escapes that the options ask for. Linear where they are not the usual."""
    changed = {
        usual: spacing.separator(pattern, mark)
        for usual, pattern, mark in (
            (lexemes.COMMA, options.item_separator, ","),
            (lexemes.COLON, options.key_separator, ":"),
        )
        if pattern != mark
    }
    canonical = options.escapes == "canonical"
    if not changed and not canonical:
        return grammar

    def terminal(found: Terminal) -> Terminal:
        mark = lexemes.mark(found)
        if mark in changed:
            return replace(found, regex=changed[mark])
        return replace(found, regex=_canonical(found.regex)) if canonical else found

    def combine(expr: Expr, parts: list[Expr]) -> Expr:
        if isinstance(expr, Terminal):
            return terminal(expr)
        if isinstance(expr, Repeat):
            return replace(expr, body=parts[0])
        return replace(expr, parts=tuple(parts)) if isinstance(expr, (Sequence, Choice)) else expr

    return replace(grammar, rules=tuple(replace(rule, body=fold(rule.body, combine)) for rule in grammar.rules))


def _canonical(tree: RegexTree) -> RegexTree:
    """A string, or one of several, with every character in its one spelling."""
    if isinstance(tree, Alternation):
        return Alternation(tuple(map(_canonical, tree.parts)))
    return replace(tree, escapes="canonical") if isinstance(tree, JsonString) else tree
