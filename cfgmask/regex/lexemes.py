"""What a pattern means as a lexeme: texts, under conditions on the text around them.

A lexeme stands somewhere in a larger text, and the assertions at its edges look at that. A `LexemeCase` says what they
ask for. Patterns that are put together to one terminal are put together here, since an assertion at the edge of one
looks at the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import TypeAlias

from cfgmask import _core
from cfgmask.diagnostics import Span
from cfgmask.grammar import ir
from cfgmask.grammar.regex_tree import EMPTY_TEXT, Alternation, RegexTree
from cfgmask.regex.algebra import matches
from cfgmask.regex.excluded_words import ExcludedWords


class TooEntangled(Exception):
    """Assertions whose meaning takes more states, cases or steps than are allowed for one lexeme.

    Also a tree of other kinds than patterns are made of next to an assertion.
    """


@dataclass(frozen=True)
class LexemeCase:
    """Texts of a lexeme, where they stand between certain others.

    before  what all of the text before must be, None: anything
    after   what all of the text behind must be, None: anything
    excluded  words that the lexeme and what follows it must not begin with; see `excluded_words.py`
    """

    tree: RegexTree
    before: RegexTree | None = None
    after: RegexTree | None = None
    excluded: ExcludedWords | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the texts may stand anywhere."""
        return self.before is None and self.after is None and self.excluded is None


Lexeme: TypeAlias = tuple[LexemeCase, ...]


def alone(lexeme: Lexeme) -> Lexeme:
    """The same lexeme, if it ends only before what it cannot go on with, and there is nothing but text."""
    if len(lexeme) != 1 or lexeme[0].excluded is None:
        return lexeme
    cases = lexeme[0].excluded.alone(lexeme[0].tree)
    return lexeme if cases is None else tuple(LexemeCase(tree, after=after) for tree, after in cases)


def in_cases(lexeme: Lexeme) -> Lexeme:
    """The same lexeme without excluded words, by what may follow each of its texts. Raises TooEntangled."""
    return in_sequence([lexeme]) if any(case.excluded for case in lexeme) else lexeme


def texts_anywhere(lexeme: Lexeme) -> RegexTree | None:
    """The texts of a lexeme that may stand anywhere; None where some ask for certain others around them."""
    if not all(case.is_plain for case in lexeme):
        return None
    return lexeme[0].tree if len(lexeme) == 1 else Alternation(tuple(case.tree for case in lexeme))


def terminals_of(lexeme: Lexeme, name: str, priority: int = 0, span: Span | None = None) -> ir.Expr:
    """A terminal for each case."""
    made = [ir.Terminal(name, c.tree, priority, before=c.before, after=c.after, span=span) for c in lexeme]
    return made[0] if len(made) == 1 else ir.Choice(tuple(made))


def is_empty_by_assertion(lexeme: Lexeme) -> bool:
    """Whether the empty text matches, but only between certain others."""
    empty = [case.is_plain for case in lexeme if matches(case.tree, b"")]
    return bool(empty) and not any(empty)


def in_sequence(parts: Sequence[Lexeme]) -> Lexeme:
    """One after the other. Raises TooEntangled, as all that put lexemes together."""
    return _combined("sequence", parts)


def any_of(parts: Sequence[Lexeme]) -> Lexeme:
    """Any of them."""
    return _combined("alternation", parts)


def all_of(parts: Sequence[Lexeme]) -> Lexeme:
    """What is a text of each, where it stands."""
    return _combined("intersection", parts)


def repeated(part: Lexeme, minimum: int, maximum: int | None) -> Lexeme:
    """From `minimum` to `maximum` of them, one after the other."""
    return _combined("repetition", [part], minimum, maximum)


_How: TypeAlias = OneOf["sequence", "alternation", "intersection", "repetition"]


def _combined(how: _How, parts: Sequence[Lexeme], minimum: int = 0, maximum: int | None = None) -> Lexeme:
    cases = [_without_excluded(part) for part in parts]
    given = [[(case.tree, case.before, case.after) for case in part] for part in cases]
    made = _core.combined_lexemes(how, given, minimum, maximum)
    if made is None:
        raise TooEntangled
    return tuple(LexemeCase(*case) for case in made)


def _without_excluded(lexeme: Lexeme) -> Lexeme:
    if len(lexeme) != 1 or lexeme[0].excluded is None:
        return lexeme
    ahead = LexemeCase(EMPTY_TEXT, after=lexeme[0].excluded.condition)
    return _combined("sequence", [(ahead,), (replace(lexeme[0], excluded=None),)])
