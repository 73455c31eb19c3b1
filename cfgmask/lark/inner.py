"""What is inside a grammar with rules, ignored text and names of its own: `%json` and `%lark` blocks, and `@name`."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cfgmask.diagnostics import Diagnostic, Source, Span
from cfgmask.errors import GrammarError
from cfgmask.grammar import ir
from cfgmask.grammar.embedding import include, with_prefix
from cfgmask.lark import nodes
from cfgmask.lark.options import NO_OPTIONS, GrammarOptions
from cfgmask.lark.patterns import PatternAccount
from cfgmask.lark.problems import Problems
from cfgmask.lark.reader import read
from cfgmask.limits import Limits
from cfgmask.suggest import did_you_mean
from cfgmask.text import check_text

if TYPE_CHECKING:
    from cfgmask.json_schema import JsonSchemaOptions
    from cfgmask.json_schema.session import Session

GivenGrammar: TypeAlias = str | ir.GrammarIR
"""What `@name` may stand for: a text in this language, or a grammar that was read."""

JSON_PREFIX = "%json#"
"""Before the names of rules in `%json` blocks."""

MAX_DEPTH = 20
"""How deep `%lark` blocks may stand in each other: a text in them is cut into tokens once for each."""


@dataclass(frozen=True, eq=False)
class GrammarText:
    """A grammar that was read; `prefix` goes before the names of its rules, `depth` counts the blocks around it."""

    document: nodes.Document
    options: GrammarOptions
    prefix: str
    depth: int
    start: str = nodes.START


class InnerGrammars:
    """The rules and scopes of a grammar and of all that is inside it, as far as they are lowered.

    `patterns` counts the patterns of all grammars together. `pending` has the texts that are still to be lowered;
    whatever is lowered may add to it. `places` has the names that the texts themselves define, and where.
    `embedded`: all of it becomes part of another grammar.
    """

    def __init__(
        self,
        given: Mapping[str, GivenGrammar],
        json_options: JsonSchemaOptions | None,
        lexer: str,
        limits: Limits,
        problems: Problems,
        *,
        lazy: bool = False,
        held: bytes | None = None,
        embedded: bool = False,
    ) -> None:
        self.embedded = embedded
        self._lazy = lazy
        self._held = held
        self._given = given
        self._json_options = json_options
        self._lexer = lexer
        self._limits = limits
        self._problems = problems
        self._n_blocks = 0
        # What all `%json` blocks may spend together.
        self._session: Session | None = None
        self._starts: dict[str, str] = {}
        self.patterns = PatternAccount(limits)
        self.pending: deque[GrammarText] = deque()
        self.rules: list[ir.Rule] = []
        self.scopes: list[ir.Scope] = []
        self.indenter: ir.Indenter | None = None
        self.places: dict[str, Span] = {}

    def open_scope(self, grammar: GrammarText) -> int:
        """The number of a scope for the grammar, which is to be put into `scopes`."""
        self.scopes.append(ir.Scope(grammar.prefix.rstrip(":") or "main"))
        return len(self.scopes) - 1

    def lower(self, node: nodes.Inner, around: GrammarText) -> ir.Expr:
        """What stands for the node in a rule of the grammar around it. Reports what is wrong inside."""
        if isinstance(node, nodes.JsonBlock):
            return self._json(node)
        if isinstance(node, nodes.LarkBlock):
            return self._lark(node, around)
        return self._subgrammar(node)

    def _json(self, block: nodes.JsonBlock) -> ir.Expr:
        # Most grammars have no blocks and need not wait for what reads them.
        from cfgmask.json_schema import JsonSchemaOptions, schema_part
        from cfgmask.json_schema.session import STEPS_PER_BLOCK, Session, inside

        span, options, limits = block.value, self._json_options or JsonSchemaOptions(), self._limits
        text = span.source.text[span.start : span.end]
        if self._session is None:
            self._session = Session(limits)
        self._session.spend(STEPS_PER_BLOCK)
        prefix = self._new_prefix(JSON_PREFIX)
        try:
            with inside(self._session):
                part = schema_part(text, prefix, options=options, span=span, limits=limits, held=self._held)
                if isinstance(part, ir.Terminal):
                    return part
                if self._lazy:
                    return replace(part, notes=lambda: tuple(_placed(note, block) for note in part.notes()))
                lowered = replace(part.lower(prefix), notes=part.notes())
        except GrammarError as error:
            self._problems.extend(_placed(diagnostic, block) for diagnostic in error.diagnostics)
            return ir.Sequence(())
        self._problems.extend(_placed(note, block) for note in lowered.notes)
        return ir.RuleRef(include(lowered, self.rules, self.scopes), block.span)

    def _lark(self, block: nodes.LarkBlock, around: GrammarText) -> ir.Expr:
        if around.depth == MAX_DEPTH:
            message = f"grammars stand more than {MAX_DEPTH} deep in each other"
            help = "hand one over as a grammar of its own, and write `@name`"
            self._problems.error("lark-nested-too-deep", message, block.span, help=help)
            return ir.Sequence(())
        prefix = self._new_prefix("%lark#")
        self._read(block.value.within(1, block.value.end - block.value.start - 1), prefix, around.depth + 1)
        return ir.RuleRef(prefix + nodes.START, block.span)

    def _read(self, text: Span, prefix: str, depth: int) -> None:
        document = read(text, self._limits, self._problems)
        for options in document.options:
            message = "options are the outermost grammar's and hold for all of it"
            self._problems.error("lark-nested-options", message, options.span)
        self.pending.append(GrammarText(document, NO_OPTIONS, prefix, depth))

    def _subgrammar(self, use: nodes.Subgrammar) -> ir.Expr:
        if use.name not in self._given:
            hand_over = f'hand it over as `Grammar.from_lark(..., grammars={{"{use.name}": ...}})`'
            help = did_you_mean(use.name, self._given) or hand_over
            self._problems.error("lark-unknown-grammar", f"there is no grammar `{use.name}`", use.span, help=help)
            return ir.Sequence(())
        if use.name not in self._starts:
            # Known before it is read: grammars may use each other.
            prefix = f"@{use.name}:"
            given = self._given[use.name]
            self._starts[use.name] = prefix + (nodes.START if isinstance(given, str) else given.start)
            if isinstance(given, str):
                source = Source(f"@{use.name}", given)
                check_text(source, self._limits, self._problems, "lark-not-text")
                self._read(Span(source, 0, len(given)), prefix, 0)
            else:
                self._include_given(given, use, prefix)
        return ir.RuleRef(self._starts[use.name], use.span)

    def _include_given(self, given: ir.GrammarIR, use: nodes.Subgrammar, prefix: str) -> None:
        if given.lexer != self._lexer:
            message = f'the lexer of `@{use.name}` is "{given.lexer}", and that of this grammar "{self._lexer}"'
            help = f'write `%cfgmask {{"lexer": "{given.lexer}"}}`' if given.lexer == "complete" else None
            self._problems.error("lark-subgrammar-lexer", message, use.span, help=help)
        if given.indenter is not None:
            message = f"the lines of `@{use.name}` are indented, which only those of the outermost grammar can be"
            self._problems.error("lark-subgrammar-indenter", message, use.span)
        self._problems.extend(given.notes)
        include(with_prefix(given, prefix), self.rules, self.scopes)

    def _new_prefix(self, kind: str) -> str:
        """What goes before the names of a block's rules: no rule of a Lark grammar can have such a name."""
        self._n_blocks += 1
        return f"{kind}{self._n_blocks}:"


def _placed(diagnostic: Diagnostic, block: nodes.JsonBlock) -> Diagnostic:
    """The diagnostic with the block as its place if it has none."""
    return diagnostic if diagnostic.span is not None else replace(diagnostic, span=block.span)
