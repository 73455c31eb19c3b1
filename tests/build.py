"""Short ways to write regex trees and grammars in tests."""

from __future__ import annotations

from typing import Any

from cfgmask.grammar import regex_tree
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, RuleRef, Scope, Sequence, Terminal, TokenSet
from cfgmask.grammar.regex_tree import Alternation, CharClass, Concatenation, RegexTree, Repetition

# Regexes. A string stands for itself wherever a regex may stand.


def lit(text: str | RegexTree) -> RegexTree:
    """A regex of exactly this text."""
    return regex_tree.text(text) if isinstance(text, str) else text


def cls(*ranges: str) -> CharClass:
    """A class: `cls("az", "_")` is `[a-z_]`."""
    return regex_tree.char_class([(ord(r[0]), ord(r[-1])) for r in ranges])


def cat(*parts: str | RegexTree) -> RegexTree:
    return Concatenation(tuple(map(lit, parts)))


def alt(*parts: str | RegexTree) -> RegexTree:
    return Alternation(tuple(map(lit, parts)))


def rep(body: str | RegexTree, minimum: int = 0, maximum: int | None = None) -> RegexTree:
    return Repetition(lit(body), minimum, maximum)


def opt(body: str | RegexTree) -> RegexTree:
    return Repetition(lit(body), 0, 1)


DIGITS = rep(cls("09"), 1)
WORD = rep(cls("az"), 1)

# Grammars. A string that starts with `$` is a reference, another string a terminal of that text.


def t(regex: str | RegexTree, priority: int = 0, name: str | None = None) -> Terminal:
    """A terminal; its name is its text, or `T`."""
    return Terminal(name or (repr(regex) if isinstance(regex, str) else "T"), lit(regex), priority)


def tokens(*ids: int, negated: bool = False) -> TokenSet:
    """The tokens with these ids, or all others."""
    return TokenSet(f"<{'^' if negated else ''}{list(ids)}>", (), tuple((i, i) for i in ids), negated)


def expr(value: str | RegexTree | Expr) -> Expr:
    """`"$name"` as a reference, another text or a regex as a terminal, an expression as it is."""
    if isinstance(value, str):
        return RuleRef(value[1:]) if len(value) > 1 and value[0] == "$" else t(value)
    if isinstance(value, Terminal | TokenSet | RuleRef | Sequence | Choice | Repeat):
        return value
    return t(value)


def seq(*parts: str | RegexTree | Expr) -> Expr:
    return Sequence(tuple(map(expr, parts)))


def choice(*parts: str | RegexTree | Expr) -> Expr:
    return Choice(tuple(map(expr, parts)))


def many(body: str | RegexTree | Expr, minimum: int = 0, maximum: int | None = None) -> Expr:
    return Repeat(expr(body), minimum, maximum)


def rule(name: str, body: str | RegexTree | Expr, scope: int = 0) -> Rule:
    return Rule(name, expr(body), scope)


def grammar(*rules: Rule, start: str = "start", **options: Any) -> GrammarIR:
    """A grammar of these rules; options are the fields of `GrammarIR`."""
    return GrammarIR(rules, start, **options)


def scope(*ignore: str | RegexTree, once: bool = False, name: str = "scope") -> Scope:
    return Scope(name, tuple(map(t, ignore)), once)


__all__ = [
    "DIGITS",
    "WORD",
    "alt",
    "cat",
    "choice",
    "cls",
    "expr",
    "grammar",
    "lit",
    "many",
    "opt",
    "rep",
    "rule",
    "scope",
    "seq",
    "t",
    "tokens",
]
