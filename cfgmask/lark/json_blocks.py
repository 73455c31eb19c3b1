"""`%json {...}`: a JSON Schema as part of a rule, with scopes of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.grammar import ir
from cfgmask.lark import nodes
from cfgmask.lark.problems import Problems
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask.json_schema import JsonSchemaOptions


class JsonBlocks:
    """Lowers the blocks of one grammar and keeps the rules and scopes that they add to it."""

    def __init__(self, options: JsonSchemaOptions | None, limits: Limits, problems: Problems) -> None:
        self._options = options
        self._limits = limits
        self._problems = problems
        self._n_blocks = 0
        self.rules: list[ir.Rule] = []
        self.scopes: list[ir.Scope] = []

    def lower(self, block: nodes.JsonBlock) -> ir.Expr:
        """What stands for the block in its rule. Reports what its schema has that cannot be enforced."""
        # Most grammars have no blocks and need not wait for what reads them.
        from cfgmask.json_schema import JsonSchemaOptions, lower_schema

        span = block.value
        self._n_blocks += 1
        try:
            schema = lower_schema(
                span.source.text[span.start : span.end],
                options=self._options or JsonSchemaOptions(),
                # No rule of a Lark grammar can have such a name.
                prefix=f"%json#{self._n_blocks}:",
                span=span,
                limits=self._limits,
            )
        except GrammarError as error:
            self._problems.extend(_placed(diagnostic, block) for diagnostic in error.diagnostics)
            return ir.Sequence(())
        self._problems.extend(_placed(note, block) for note in schema.notes)
        # Scope 0 is the Lark grammar's own.
        first_scope = 1 + len(self.scopes)
        self.scopes.extend(schema.scopes)
        self.rules.extend(replace(rule, scope=rule.scope + first_scope) for rule in schema.rules)
        return ir.RuleRef(schema.start, block.span)


def _placed(diagnostic: Diagnostic, block: nodes.JsonBlock) -> Diagnostic:
    """The diagnostic with the block as its place if it has none."""
    return diagnostic if diagnostic.span is not None else replace(diagnostic, span=block.span)
