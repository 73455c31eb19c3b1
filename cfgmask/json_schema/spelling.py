"""How marks and strings are written: a pass over the finished grammar, so that lowering need not know."""

from __future__ import annotations

from dataclasses import replace

from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import Expr, GrammarIR, Rule, Terminal
from cfgmask.grammar.regex_tree import Alternation, Concatenation, JsonString, RegexTree, text
from cfgmask.grammar.walk import fold
from cfgmask.grammar.white_space import NATURAL_GAP, NATURAL_SPACE
from cfgmask.json_schema import lexemes, spacing
from cfgmask.json_schema.options import JsonSchemaOptions


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


def spelled(grammar: GrammarIR, options: JsonSchemaOptions) -> GrammarIR:
    """The grammar with the separators and the escapes that the options ask for. Linear where they are not the usual."""
    changed = marks(options)
    canonical = options.escapes == "canonical"
    if not changed and not canonical:
        return grammar

    regexes = {id(mark.regex): regex for mark, regex in changed.items()}
    # By identity: there are few marks, and they come often.
    made: dict[int, Terminal] = {}

    def terminal(found: Terminal) -> Terminal:
        if id(found.regex) in regexes:
            if id(found) not in made:
                made[id(found)] = replace(found, regex=regexes[id(found.regex)])
            return made[id(found)]
        return replace(found, regex=_canonical(found.regex)) if canonical else found

    def combine(expr: Expr, parts: list[Expr]) -> Expr:
        if isinstance(expr, Terminal):
            return terminal(expr)
        return with_operands(expr, parts)

    def written(rule: Rule) -> Rule:
        body = fold(rule.body, combine)
        return rule if body is rule.body else replace(rule, body=body)

    return replace(grammar, rules=tuple(map(written, grammar.rules)))


def _canonical(tree: RegexTree) -> RegexTree:
    """A string, or one of several, with every character in its one spelling."""
    if isinstance(tree, Alternation):
        return Alternation(tuple(map(_canonical, tree.parts)))
    return replace(tree, escapes="canonical") if isinstance(tree, JsonString) else tree
