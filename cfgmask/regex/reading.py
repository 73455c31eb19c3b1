"""Patterns to regex trees: the way in."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from cfgmask.diagnostics import Source, Span
from cfgmask.errors import LimitExceeded
from cfgmask.grammar import ir
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.limits import Limits
from cfgmask.regex import parser
from cfgmask.regex.dialects import DialectName, Digits, check_dialect
from cfgmask.regex.excluded_words import ExcludedWords
from cfgmask.regex.lexemes import Lexeme, LexemeCase, terminals_of
from cfgmask.regex.named_groups import TOKEN_GROUPS
from cfgmask.regex.problems import Problems

Context: TypeAlias = Literal["text", "search"]
TokenContext: TypeAlias = Literal["text", "lexeme"]

_LAZY = re.compile(r"[*+?}]\?")
"""What may be a lazy quantifier; inside a class it is none."""

__all__ = [
    "Context",
    "DialectName",
    "Digits",
    "Lexeme",
    "LexemeCase",
    "has_lazy",
    "parse_extended",
    "parse_lexeme",
    "parse_regex",
]


def parse_regex(
    pattern: str,
    *,
    dialect: DialectName = "python",
    flags: str = "",
    context: Context = "text",
    span: Span | None = None,
    limits: Limits = Limits(),  # noqa: B008  # immutable
    source_name: str = "<pattern>",
    named_groups: bool = False,
    digits: Digits = "unicode",
) -> RegexTree:
    r"""The tree of the texts that `pattern` matches.

    dialect      whose syntax and meaning: Python's `re` (with properties, as in `regex`), Rust's `regex`, ECMA-262
    flags        letters as they follow a pattern: i, m, s, x, ..., as far as the dialect has them
    context      "text": the whole text must match. "search": some part of it must, as for `pattern` in JSON Schema.
    span         where the pattern stands in a larger source (character i at `span.start + i`); None: it is the source
    source_name  the name of that source, where `span` is None
    named_groups whether groups as `(?P<QUOTED_TEXT>)` mean more than grouping; see docs/lark.md
    digits       which digits `\d` matches: "unicode", those of the dialect; "ascii"

    What a match captures plays no role, and which of several it is only for lexemes: lazy quantifiers mean the same as
    greedy ones but for lexemes, where they end as soon as the rest of the pattern can match (`core/pattern/lazy.h`).
    Python's `$` holds at the end and before a line break that ends the text, `\Z` at the end only; so `a$` as a whole
    text is `a`, while `a$\n` matches `a` and a line break. In Rust and ECMA `$` is the end.
    Lookaround, word boundaries and anchors hold or fail as in an engine that backtracks; they leave no trace in the
    tree but intersections and complements. Lookbehind may be of any length, and `\B` holds in the empty text.
    Errors: GrammarError with every problem (codes `regex-...`), each with its place in the pattern.
    LimitExceeded: max_source_bytes, max_nesting, max_regex_nodes. ValueError: no such dialect.
    Cost: linear in the pattern, of which a million parts take some 0.6 s and more than that are refused, and some 2 ms
    once for each Unicode property that is used. Counts cost nothing.
    Assertions other than anchors are refused as too complex before they take a second.
    """
    tree: RegexTree = _read(
        pattern, dialect, flags, context, span, limits, source_name, named_groups=named_groups, digits=digits
    )
    return tree


def parse_lexeme(
    pattern: str,
    *,
    dialect: DialectName = "python",
    flags: str = "",
    span: Span | None = None,
    limits: Limits = Limits(),  # noqa: B008  # immutable
    source_name: str = "<pattern>",
    named_groups: bool = False,
    keep_excluded: bool = False,
) -> Lexeme:
    r"""The texts that `pattern` matches somewhere in a larger text, and what they ask of the text around them.

    Assertions look at the whole of that text, as in `re.compile(pattern).match(text, pos)`: `(?<!a)b` at what stands
    before the lexeme, `\bif\b` at both sides; `^` is the start of the text, and `$` its end.
    The cases are one for each pair of conditions, none of which says nothing: a pattern without assertions at its edges
    has one case, without conditions.
    keep_excluded  whether words that the lexeme must not begin with, as in `(?!(?:if|else)\b)[a-z]+`, may stay words of
                   its only case: for `alone` and `in_cases` of `lexemes.py`
    Other arguments, errors and cost are those of `parse_regex`.
    """
    cases, excluded = _read(
        pattern,
        dialect,
        flags,
        "lexeme",
        span,
        limits,
        source_name,
        named_groups=named_groups,
        keep_excluded=keep_excluded,
    )
    words = None if excluded is None else ExcludedWords(*excluded)
    return tuple(LexemeCase(tree, before, after, words) for tree, before, after in cases)


def parse_extended(
    pattern: str,
    *,
    dialect: DialectName = "python",
    flags: str = "",
    context: TokenContext = "text",
    span: Span,
    limits: Limits = Limits(),  # noqa: B008  # immutable
    digits: Digits = "unicode",
) -> ir.Expr:
    """What a rule that is `pattern` holds: a terminal, or terminals and tokens where a group is a token.

    context  what a pattern without tokens is: a whole text, or a lexeme in some text
    Everything else is as in `parse_regex` with `named_groups`.
    """
    use: parser.Use = "extended-text" if context == "text" else "extended-lexeme"
    made = _read(pattern, dialect, flags, use, span, limits, "", named_groups=True, digits=digits)
    found: list[ir.Expr] = []
    for expr in made:
        found.append(_expression(expr, pattern, span, found))
    return found[-1]


def _expression(made: Any, pattern: str, span: Span, found: list[ir.Expr]) -> ir.Expr:
    """An expression of the core; `found` are those before it."""
    kind, start, end, inside, *counts = made
    place, name = span.within(start, end), pattern[start:end]
    if kind == "text":
        return ir.Terminal(name, inside, span=place)
    if kind == "lexeme":
        return terminals_of(tuple(LexemeCase(*case) for case in inside), name, span=place)
    if kind == "token":
        return ir.TokenSet(name, kind=TOKEN_GROUPS[inside], span=place)
    parts = tuple(found[part] for part in inside)
    if kind == "repeat":
        return ir.Repeat(parts[0], *counts)
    return ir.Sequence(parts) if kind == "sequence" else ir.Choice(parts)


def _read(
    pattern: str,
    dialect: DialectName,
    flags: str,
    use: parser.Use,
    span: Span | None,
    limits: Limits,
    source_name: str,
    *,
    named_groups: bool,
    digits: Digits = "unicode",
    keep_excluded: bool = False,
) -> Any:
    size = len(pattern.encode(errors="surrogatepass"))
    if size > limits.max_source_bytes:
        raise LimitExceeded("max_source_bytes", limits.max_source_bytes, f"a regex of {size} bytes")
    check_dialect(dialect, digits)
    problems = Problems(Span(Source(source_name, pattern), 0, len(pattern)) if span is None else span)
    return parser.read(
        pattern,
        dialect,
        flags,
        use,
        problems,
        limits,
        named_groups=named_groups,
        digits=digits,
        keep_excluded=keep_excluded,
    )


def has_lazy(pattern: str, flags: str = "", dialect: DialectName = "python") -> bool:
    """Whether a pattern has lazy quantifiers that matter, see `core/pattern/lazy.h`. False where it has errors."""
    return _LAZY.search(pattern) is not None and parser.has_lazy(pattern, flags, dialect, Limits())
