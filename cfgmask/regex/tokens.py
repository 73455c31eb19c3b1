"""Patterns some of whose groups are tokens: terminals for what has text, and token sets between them."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import TypeAlias

from cfgmask.diagnostics import Span
from cfgmask.grammar import ir
from cfgmask.regex.dialects import Dialect
from cfgmask.regex.lazy import walk
from cfgmask.regex.lexemes import is_empty_by_assertion, terminals_of
from cfgmask.regex.named_groups import TOKEN_GROUPS
from cfgmask.regex.problems import Problems
from cfgmask.regex.syntax import Anchor, Atomic, Choice, Group, Lookaround, Node, Repeat, Sequence, children, fold
from cfgmask.regex.translate import translate, translate_lexeme

TokenContext: TypeAlias = OneOf["text", "lexeme"]

_Piece: TypeAlias = Node | ir.TokenSet | ir.Sequence | ir.Choice | ir.Repeat
"""A node without tokens, or what stands for one that has some."""

_EXPRESSIONS = (ir.TokenSet, ir.Sequence, ir.Choice, ir.Repeat)


def with_tokens(
    pattern: str, root: Node, dialect: Dialect, context: TokenContext, span: Span, problems: Problems
) -> ir.Expr:
    """What a rule that is the pattern holds; `context` is that of a pattern without tokens. Linear.

    Between tokens stand whole lexemes; what their assertions see of a token is that it has no text.
    """
    return _Splitter(pattern, dialect, context, span, problems).split(root)


class _Splitter:
    def __init__(self, pattern: str, dialect: Dialect, context: TokenContext, span: Span, problems: Problems) -> None:
        self._pattern = pattern
        self._dialect = dialect
        self._context = context
        self._span = span
        self._problems = problems

    def split(self, root: Node) -> ir.Expr:
        if not any(name in self._pattern for name in TOKEN_GROUPS):
            return self._terminal(root, self._context)
        whole = fold(root, children, self._combine)
        if not isinstance(whole, _EXPRESSIONS):
            return self._terminal(whole, self._context)
        self._refuse_anchors(root)
        return whole

    def _combine(self, node: Node, parts: list[_Piece]) -> _Piece:
        if isinstance(node, Group) and node.name in TOKEN_GROUPS:
            return self._token(node)
        if not any(isinstance(part, _EXPRESSIONS) for part in parts):
            return node
        if isinstance(node, Sequence):
            return ir.Sequence(tuple(self._runs(parts)))
        if isinstance(node, Choice):
            return ir.Choice(tuple(map(self._expr, parts)))
        if isinstance(node, Repeat):
            return ir.Repeat(self._expr(parts[0]), node.minimum, node.maximum)
        if isinstance(node, (Lookaround, Atomic)) or (
            isinstance(node, Group) and node.name in self._dialect.named_groups
        ):
            self._report(node, "tokens cannot stand in a group that looks at its text", "take the token out of it")
        return parts[0]

    def _token(self, node: Group) -> ir.TokenSet:
        name = node.name or ""
        if not isinstance(node.body, Sequence) or node.body.parts:
            self._report(node, f"the group `{name}` has no body", f"write `(?P<{name}>)`")
        place = self._span.within(node.start, node.end)
        return ir.TokenSet(self._pattern[node.start : node.end], kind=TOKEN_GROUPS[name], span=place)

    def _runs(self, parts: list[_Piece]) -> list[ir.Expr]:
        """The parts in order; neighbours without tokens are one terminal."""
        found: list[ir.Expr] = []
        run: list[Node] = []
        for part in [*parts, None]:
            if part is not None and not isinstance(part, _EXPRESSIONS):
                run.append(part)
                continue
            if run:
                found.append(self._expr(Sequence(run[0].start, run[-1].end, tuple(run))))
                run = []
            if part is not None:
                found.append(part)
        return found

    def _expr(self, piece: _Piece) -> ir.Expr:
        return piece if isinstance(piece, _EXPRESSIONS) else self._terminal(piece, "lexeme")

    def _terminal(self, node: Node, context: TokenContext) -> ir.Expr:
        place = self._span.within(node.start, node.end)
        name = self._pattern[node.start : node.end]
        if context == "text":
            return ir.Terminal(name, translate(node, self._dialect, context, self._problems), span=place)
        lexeme = translate_lexeme(node, self._dialect, self._problems)
        # An anchor is refused by itself.
        if not any(isinstance(part, Anchor) for part in walk(node)) and is_empty_by_assertion(lexeme):
            message = "what stands beside a token may be empty here, depending on the text around it"
            self._report(node, message, "let it match one character at least")
        return terminals_of(lexeme, name, span=place)

    def _refuse_anchors(self, root: Node) -> None:
        for node in walk(root):
            if isinstance(node, Anchor):
                self._report(node, "a pattern with tokens has no anchors", "leave it out: the whole text is matched")

    def _report(self, node: Node, message: str, help: str) -> None:
        self._problems.report("token-group", node.start, node.end, message, help)
