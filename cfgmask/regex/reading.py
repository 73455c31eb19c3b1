"""Patterns to regex trees: the way in."""

from __future__ import annotations

from dataclasses import replace

from cfgmask.diagnostics import Source, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar import ir
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.limits import Limits
from cfgmask.regex.backreferences import without_backreferences
from cfgmask.regex.dialects import Dialect, DialectName, Digits, dialect_of
from cfgmask.regex.excluded_words import excluded_words
from cfgmask.regex.lazy import MAX_LAZY, is_lazy, report_too_many, without_lazy
from cfgmask.regex.lexemes import Lexeme, LexemeCase
from cfgmask.regex.named_groups import NAMED_GROUPS
from cfgmask.regex.parser import TooManyLazy, parse
from cfgmask.regex.plain import LAZY, plain_text
from cfgmask.regex.problems import Problems
from cfgmask.regex.syntax import Node
from cfgmask.regex.tokens import TokenContext, with_tokens
from cfgmask.regex.translate import Context, translate, translate_lexeme

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
    greedy ones but for the context "lexeme", where they end as soon as the rest of the pattern can match (`lazy.py`).
    Python's `$` holds at the end and before a line break that ends the text, `\Z` at the end only; so `a$` as a whole
    text is `a`, while `a$\n` matches `a` and a line break. In Rust and ECMA `$` is the end.
    Lookaround, word boundaries and anchors hold or fail as in an engine that backtracks; they leave no trace in the
    tree but intersections and complements. Lookbehind may be of any length, and `\B` holds in the empty text.
    Errors: GrammarError with every problem (codes `regex-...`), each with its place in the pattern.
    LimitExceeded: max_source_bytes, max_nesting, max_regex_nodes. ValueError: no such dialect.
    Cost: linear in the pattern, of which a million parts take some 4 s and more than that are refused, and some 2 ms
    once for each Unicode property that is used. Counts cost nothing.
    Assertions other than anchors take milliseconds, and are refused as too complex before they take many seconds.
    """
    problems, syntax, rules = _parsed(pattern, dialect, flags, span, limits, source_name, named_groups, digits=digits)
    tree = translate(syntax, rules, context, problems)
    problems.raise_if_any()
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
    problems, syntax, rules = _parsed(pattern, dialect, flags, span, limits, source_name, named_groups, MAX_LAZY)
    syntax = without_lazy(syntax, problems)
    problems.raise_if_any()
    found = excluded_words(syntax, rules) if keep_excluded else None
    if found is not None:
        words, rest = found
        lexeme = translate_lexeme(rest, rules, problems)
        problems.raise_if_any()
        if len(lexeme) == 1 and lexeme[0].is_plain:
            return (replace(lexeme[0], excluded=words),)
    lexeme = translate_lexeme(syntax, rules, problems)
    problems.raise_if_any()
    return lexeme


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
    if dialect == "python" and context == "text":
        plain = plain_text(pattern, flags, limits)
        if plain is not None:
            return ir.Terminal(pattern, plain, span=span)
    problems, syntax, rules = _parsed(pattern, dialect, flags, span, limits, "", True, digits=digits)
    if context == "lexeme" and is_lazy(syntax):
        message = "a lazy repetition beside groups that are tokens is not supported"
        problems.report("lazy-with-tokens", 0, len(pattern), message, "write what it may hold as a class")
    expr = with_tokens(pattern, syntax, rules, context, span, problems)
    problems.raise_if_any()
    return expr


def _parsed(
    pattern: str,
    dialect: DialectName,
    flags: str,
    span: Span | None,
    limits: Limits,
    source_name: str,
    named_groups: bool,
    max_lazy: int | None = None,
    digits: Digits = "unicode",
) -> tuple[Problems, Node, Dialect]:
    size = len(pattern.encode(errors="surrogatepass"))
    if size > limits.max_source_bytes:
        raise LimitExceeded("max_source_bytes", limits.max_source_bytes, f"a regex of {size} bytes")
    place = Span(Source(source_name, pattern), 0, len(pattern)) if span is None else span
    problems = Problems(place)
    rules = dialect_of(dialect, flags, NAMED_GROUPS if named_groups else frozenset(), digits)
    try:
        syntax = parse(pattern, rules, flags, problems, limits, max_lazy)
        return problems, syntax if rules.name == "rust" else without_backreferences(syntax), rules
    except TooManyLazy:
        report_too_many(0, len(pattern), problems)
        problems.raise_if_any()
        raise


def has_lazy(pattern: str, flags: str = "", dialect: DialectName = "python") -> bool:
    """Whether a pattern has lazy quantifiers that matter, see `lazy.py`. False where it has errors."""
    if not LAZY.search(pattern):
        return False
    problems = Problems(Span(Source("<pattern>", pattern), 0, len(pattern)))
    try:
        syntax = parse(pattern, dialect_of(dialect, flags), flags, problems, Limits())
        problems.raise_if_any()
    except (GrammarError, LimitExceeded):
        return False
    return is_lazy(syntax)
