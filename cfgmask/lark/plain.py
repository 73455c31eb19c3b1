"""The short way: the grammars that the core reads by itself.

Most grammars are rules and terminals of strings, plain regexes and operators, with terminals of Lark's modules, special
tokens, limits on tokens, and `%json` blocks of plain schemas. The core brings those to rules some ten times faster than
the stages of this package do; everything else, whatever is wrong, and whatever is to be warned of is left to them. Both
make the same grammar, which the tests hold against each other.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cfgmask import _core
from cfgmask.diagnostics import Source, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import GrammarIR, TokenSet
from cfgmask.grammar.regex_tree import EMPTY_TEXT, NOTHING, CharClass, char_class
from cfgmask.lark.library import LIBRARY, library_texts
from cfgmask.lark.literals import LiteralError, parse_special_tokens
from cfgmask.lark.patterns import ASSERTING, TOKEN_GROUP, PatternAccount
from cfgmask.lark.problems import Problems
from cfgmask.lark.tokens import BYTES_PER_TOKEN
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask.json_schema.session import Session

_SHORT = 200
"""Patterns of so many characters are remembered: `\\d+` and `\\w+` stand in many grammars."""

_MOST_ASSERTING = 16
"""Each takes up to two milliseconds, which are lost if one of them asks something of the text around it."""


@dataclass(eq=False)
class PlainGrammar:
    """A plain grammar. Not changed.

    core   as the core read it
    lower  gives its intermediate form, in which `%json` blocks are parts
    """

    core: _core.PlainLark
    lower: Callable[[], GrammarIR]

    def token_sets(self) -> list[TokenSet]:
        """The sets of special tokens, in the order in which `core` is given their ids."""
        return [_token_set(text) for text in self.core.token_sets]


def plain_grammar(text: str, start: str, limits: Limits) -> _core.PlainLark | None:
    """The grammar if it is plain and nothing is wrong with it or to be warned of.

    start  the rule that every text is
    Linear; a grammar that is not plain costs a small part of lowering it.
    """
    if len(text) * (1 if text.isascii() else 4) > limits.max_source_bytes:
        return None
    max_tokens = limits.max_source_bytes // BYTES_PER_TOKEN
    return _READER.read(
        text, start, vars(limits), max_tokens, _Patterns(limits).regex, _options, _Schemas(limits).schema, _is_token_set
    )


def _token_set(text: str) -> TokenSet:
    read = parse_special_tokens(text)
    return TokenSet(text, read.names, read.ranges, read.negated)


def _is_token_set(text: str) -> bool:
    try:
        _token_set(text)
    except LiteralError:
        return False
    return True


class _Patterns:
    """The patterns of one grammar that the core does not read."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._account = PatternAccount(limits)
        self._n_asserting = 0

    def regex(self, text: str, flags: str) -> _core.PortableRegex | None:
        """A pattern that is one lexeme wherever it stands."""
        self._n_asserting += ASSERTING.search(text) is not None
        if self._n_asserting > _MOST_ASSERTING or TOKEN_GROUP.search(text):
            return None
        try:
            self._account.charge(text)
            return _portable(text, flags, self._limits) if len(text) <= _SHORT else _read(text, flags, self._limits)
        except (GrammarError, LimitExceeded):
            # It is told of with its place.
            return None


class _Schemas:
    """The `%json` blocks of one grammar. What they may spend together is what those of the stages may."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._session: Session | None = None

    def schema(self, text: str) -> _core.PlainSchema | None:
        """The schema in a block."""
        # Most grammars have no blocks and need not wait for what reads them.
        from cfgmask.json_schema import plain_schema
        from cfgmask.json_schema.options import DEFAULTS
        from cfgmask.json_schema.session import STEPS_PER_BLOCK, Session, inside

        if self._session is None:
            self._session = Session(self._limits)
        try:
            self._session.spend(STEPS_PER_BLOCK)
            with inside(self._session):
                return plain_schema(text, options=DEFAULTS, limits=self._limits)
        except LimitExceeded:
            return None


def _read(text: str, flags: str, limits: Limits) -> _core.PortableRegex | None:
    # Most patterns are read by the core, and need not wait for what reads the others.
    from cfgmask.regex import parse_lexeme
    from cfgmask.regex.lexemes import texts_anywhere

    tree = texts_anywhere(parse_lexeme(text, flags=flags, limits=limits, named_groups=True, keep_excluded=True))
    # The empty text, or no text at all, as it is plain to see: there is more to say about that.
    if tree in (None, EMPTY_TEXT, NOTHING, CharClass(())):
        return None
    return _core.portable_regex(tree, limits.max_nesting)


_portable = lru_cache(maxsize=64)(_read)


def _options(blocks: list[tuple[str, bool]]) -> tuple[bool, bool, bool, bool] | None:
    # Most grammars have none and need not wait for what reads them.
    from cfgmask.lark.nodes import Options
    from cfgmask.lark.options import read_options

    problems = Problems()
    written = []
    for text, of_llguidance in blocks:
        span = Span(Source("<options>", text), 0, len(text))
        written.append(Options(span, span, of_llguidance))
    found = read_options(written, problems)
    if problems.has_errors or found.indenter is not None or found.declared:
        return None
    return found.lexer == "complete", found.ignore_initial, found.ignore_final, found.ignore_once


def _texts(module: str) -> list[str] | None:
    return list(library_texts(module).values()) if module in LIBRARY else None


def _any_case(character: int) -> abc.Sequence[tuple[int, int]]:
    from cfgmask.regex.case_folding import closure

    return closure(char_class([(character, character)]), "python").ranges


_READER = _core.PlainLarkReader(_texts, _any_case)
