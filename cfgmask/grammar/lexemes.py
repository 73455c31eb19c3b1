"""Regular parts of a grammar as terminals, where every way to cut a text into lexemes counts.

With the lexer `complete` a grammar of single characters means the same as one whose regular parts are regexes, and is
an order slower: each character is then a lexeme that the parser has to scan. How much to put into one terminal is a
choice of speed alone:

- A rule becomes a terminal if it is regular and has at most one loop over text. Tokens that stay inside of such a loop
  are most of a vocabulary; the core finds them once for each rest of a regex, and a regex that has two loops has twice
  as many rests with few in common.
- Of other rules, and of the start rule, the parts without names become terminals. So messages still tell what may come
  by the names that the grammar has for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cfgmask.diagnostics import Span, shortened
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Guarded, Repeat, Rule, RuleRef, Sequence, Terminal, TokenSet
from cfgmask.grammar.reachable import without_unreachable
from cfgmask.grammar.regex_tree import (
    Alternation,
    CharClass,
    Concatenation,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.grammar.walk import fold, inside

_TEXT_SIZE = 256
"""A class of so many characters is one of text: it holds a good part of a vocabulary's tokens."""
_MANY = 16
"""A repetition that may go on so long is a loop."""
_MAX_DEPTH = 60
"""Levels of nesting that terminals may come to, well below what `Limits.max_nesting` allows by default."""
_MAX_LITERAL = 1_000


def with_lexemes(grammar: GrammarIR) -> GrammarIR:
    """The same language with regular rules and parts of rules as terminals. Linear.

    Every rule must be defined, and the grammar has the lexer `complete` and ignores nothing.
    """
    assert grammar.lexer == "complete", "other lexers cut lexemes where terminals end"
    assert not any(scope.ignore for scope in grammar.scopes), "ignored text may stand between lexemes"
    terminals: dict[str, _Lexeme] = {}
    known = {rule.name: rule for rule in grammar.rules}
    for name in _callees_first(grammar.rules):
        mergeable = name != grammar.start and known[name] == Rule(name, known[name].body)
        whole = _Merge(terminals, across_names=True).merged(known[name].body) if mergeable else None
        if isinstance(whole, _Lexeme):
            terminals[name] = replace(whole, name=name, is_atom=True, has_names=True, span=known[name].span)
    rules = [_structured(rule, terminals) for rule in grammar.rules if rule.name not in terminals]
    return without_unreachable(replace(grammar, rules=tuple(rules)))


def _structured(rule: Rule, terminals: Mapping[str, _Lexeme]) -> Rule:
    return replace(rule, body=_as_expr(_Merge(terminals, across_names=False).merged(rule.body)))


def _callees_first(rules: tuple[Rule, ...]) -> list[str]:
    """The rules that lead to no recursion, each after all that it uses."""
    users: dict[str, list[str]] = {rule.name: [] for rule in rules}
    missing: Counter[str] = Counter()
    for rule in rules:
        for used in {expr.name for expr in inside(rule) if isinstance(expr, RuleRef)}:
            users[used].append(rule.name)
            missing[rule.name] += 1
    order = [rule.name for rule in rules if not missing[rule.name]]
    for name in order:
        for user in users[name]:
            missing[user] -= 1
            if not missing[user]:
                order.append(user)
    return order


@dataclass(frozen=True)
class _Lexeme:
    """A regular expression that may become a terminal, or a part of one.

    name       how it is written, or the name of the rule that it was
    is_atom    whether it can be repeated as it is written
    has_names  whether names of rules occur in it
    of_text    whether some class in it is one of text
    n_loops    loops over such classes
    span       where it is written; of a rule, where that is defined
    """

    name: str
    tree: RegexTree
    is_atom: bool = True
    has_names: bool = False
    of_text: bool = False
    n_loops: int = 0
    depth: int = 0
    span: Span | None = None


@dataclass(frozen=True)
class _Merge:
    """Makes lexemes of expressions, from their leaves up.

    terminals     rules that are terminals
    across_names  whether a lexeme may join them with others
    """

    terminals: Mapping[str, _Lexeme]
    across_names: bool

    def merged(self, body: Expr) -> _Lexeme | Expr:
        return fold(body, self._combine)

    def _combine(self, expr: Expr, parts: list[_Lexeme | Expr]) -> _Lexeme | Expr:
        if isinstance(expr, Terminal):
            if expr.lazy or expr.distinct or expr.closes_set or expr.step.place or expr.max_tokens is not None:
                return expr
            is_text = isinstance(expr.regex, CharClass) and _size(expr.regex) >= _TEXT_SIZE
            return _Lexeme(expr.name, expr.regex, of_text=is_text, span=expr.span)
        if isinstance(expr, RuleRef):
            return self.terminals.get(expr.name, expr)
        if isinstance(expr, TokenSet):
            return expr
        if isinstance(expr, Guarded):
            return replace(expr, body=_as_expr(parts[0]))
        if isinstance(expr, Repeat):
            body = parts[0]
            joined = _repeated(body, expr) if isinstance(body, _Lexeme) else None
            return joined or replace(expr, body=_as_expr(body))
        if isinstance(expr, Choice):
            joined = self._joined(parts, is_choice=True)
            return joined or Choice(tuple(map(_as_expr, parts)))
        return self._sequence(parts)

    def _sequence(self, parts: list[_Lexeme | Expr]) -> _Lexeme | Expr:
        """One lexeme, or a sequence in which neighbours are joined where they can be."""
        whole = self._joined(parts, is_choice=False)
        if whole is not None:
            return whole
        out: list[_Lexeme | Expr] = []
        for part in parts:
            joined = self._joined([out[-1], part], is_choice=False) if out else None
            if joined is not None:
                out[-1] = joined
            else:
                out.append(part)
        return Sequence(tuple(map(_as_expr, out)))

    def _joined(self, parts: list[_Lexeme | Expr], *, is_choice: bool) -> _Lexeme | None:
        """The parts one after the other, or a choice of them; None if they should stay apart."""
        lexemes = [part for part in parts if isinstance(part, _Lexeme)]
        if len(lexemes) < len(parts) or (is_choice and not parts):
            return None
        if len(lexemes) == 1:
            return lexemes[0]
        joined = _Lexeme(
            _written(lexemes, is_choice),
            _tree([lexeme.tree for lexeme in lexemes], is_choice),
            is_atom=not lexemes,
            has_names=any(lexeme.has_names for lexeme in lexemes),
            of_text=any(lexeme.of_text for lexeme in lexemes),
            n_loops=sum(lexeme.n_loops for lexeme in lexemes),
            depth=1 + max((lexeme.depth for lexeme in lexemes), default=0),
            span=_across(lexemes),
        )
        return joined if self._is_wanted(joined) else None

    def _is_wanted(self, lexeme: _Lexeme) -> bool:
        if lexeme.has_names and not self.across_names:
            return False
        return lexeme.n_loops <= 1 and lexeme.depth <= _MAX_DEPTH


def _tree(trees: list[RegexTree], is_choice: bool) -> RegexTree:
    if is_choice:
        return Alternation(tuple(trees))
    literals = [tree.data for tree in trees if isinstance(tree, Literal)]
    # Rules may double a text again and again.
    if len(literals) == len(trees) and sum(map(len, literals)) <= _MAX_LITERAL:
        return Literal(b"".join(literals))
    return Concatenation(tuple(trees))


def _repeated(body: _Lexeme, repeat: Repeat) -> _Lexeme | None:
    is_loop = body.of_text and (repeat.maximum is None or repeat.maximum >= _MANY)
    if body.depth >= _MAX_DEPTH:
        return None
    return replace(
        body,
        name=shortened((body.name if body.is_atom else f"({body.name})") + _operator(repeat)),
        tree=Repetition(body.tree, repeat.minimum, repeat.maximum),
        is_atom=False,
        n_loops=max(body.n_loops, int(is_loop)),
        depth=body.depth + 1,
    )


def _operator(repeat: Repeat) -> str:
    for bounds, operator in (((0, 1), "?"), ((0, None), "*"), ((1, None), "+")):
        if (repeat.minimum, repeat.maximum) == bounds:
            return operator
    if repeat.minimum == repeat.maximum:
        return f"{{{repeat.minimum}}}"
    return f"{{{repeat.minimum},{'' if repeat.maximum is None else repeat.maximum}}}"


def _written(lexemes: list[_Lexeme], is_choice: bool) -> str:
    if not lexemes:
        return '""'
    names = [
        f"({part.name})" if not is_choice and isinstance(part.tree, Alternation) and not part.is_atom else part.name
        for part in lexemes
    ]
    return shortened((" | " if is_choice else " ").join(names))


def _across(lexemes: list[_Lexeme]) -> Span | None:
    """From the first to the last, where these stand in one place after the other."""
    first, last = (lexemes[0].span, lexemes[-1].span) if lexemes else (None, None)
    if first is None or last is None or first.source is not last.source or first.start > last.end:
        return first
    return Span(first.source, first.start, last.end)


def _size(members: CharClass) -> int:
    return sum(last - first + 1 for first, last in members.ranges)


def _as_expr(part: _Lexeme | Expr) -> Expr:
    if not isinstance(part, _Lexeme):
        return part
    if isinstance(part.tree, Literal) and not part.tree.data:
        return Sequence(())
    return Terminal(part.name, part.tree, span=part.span)
