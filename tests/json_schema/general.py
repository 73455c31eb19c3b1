"""The rules that the lowering in Python makes of a schema, which the core is tested against."""

from __future__ import annotations

from dataclasses import replace

import cfgmask
from cfgmask.compiler.recipe import Documents
from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import Expr, GrammarIR, Part
from cfgmask.grammar.parts import expanded, parts_of
from cfgmask.grammar.variants import spread
from cfgmask.grammar.walk import fold
from cfgmask.json_schema import lower_schema
from cfgmask.tags.forms import _About, lowered_rules
from cfgmask.tags.token_ids import TokenIds


def general_rules(grammar: cfgmask.Grammar) -> GrammarIR:
    """The rules of a grammar from `from_json_schema`. Raises GrammarError, LimitExceeded."""
    assert grammar._recipe is not None
    assert grammar._recipe.reader == "json_schema"
    given = grammar._recipe.arguments()
    kept = given["documents"]
    retrieve = None if kept is None else Documents(None, kept)
    return lower_schema(given["schema"].value, options=given["options"], limits=given["limits"], retrieve=retrieve)


def expanded_generally(grammar: GrammarIR, ids: TokenIds) -> GrammarIR:
    """The grammar of tags with such rules in place of all parts. `ids`: those that it was made with."""
    grammar = spread(grammar)
    rules_of = {id(part): part.lower for part in parts_of(grammar)}

    def combine(expr: Expr, operands: list[Expr]) -> Expr:
        if not isinstance(expr, Part):
            return with_operands(expr, operands)
        about = rules_of[id(expr)]
        assert isinstance(about, _About)
        return replace(expr, lower=lambda name: lowered_rules(about.node, name, about.limits, ids))

    return expanded(replace(grammar, rules=tuple(replace(r, body=fold(r.body, combine)) for r in grammar.rules)))
