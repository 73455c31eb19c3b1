"""What a pattern means as a lexeme: texts, under conditions on the text around them.

A lexeme stands somewhere in a larger text, and the assertions at its edges look at that. A `LexemeCase` says what they
ask for. Patterns that are put together to one terminal are put together here, since an assertion at the edge of one
looks at the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cfgmask.diagnostics import Span
from cfgmask.grammar import ir
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    EMPTY_TEXT,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.regex.assertions import Combiner
from cfgmask.regex.cases import Case, Meaning
from cfgmask.regex.derivatives import TooEntangled
from cfgmask.regex.excluded_words import ExcludedWords
from cfgmask.regex.trees import TreeBuilder, fold_tree


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
    return LexemeCombiner().sequence([lexeme]) if any(case.excluded for case in lexeme) else lexeme


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
    trees = TreeBuilder()
    empty = [case.is_plain for case in lexeme if trees.is_nullable(case.tree)]
    return bool(empty) and not any(empty)


class LexemeCombiner:
    """Puts lexemes together. All methods raise TooEntangled where that takes too much, or holds a tree of other kinds
    than patterns are made of next to an assertion.
    """

    def __init__(self) -> None:
        self._trees = TreeBuilder()
        self._combiner = Combiner(self._trees)
        self._adopted: dict[int, RegexTree] = {}

    def sequence(self, parts: Sequence[Lexeme]) -> Lexeme:
        """One after the other."""
        return lexeme_of(self._combiner.sequence([self._meaning(part) for part in parts]), self._combiner)

    def alternation(self, parts: Sequence[Lexeme]) -> Lexeme:
        """Any of them."""
        return lexeme_of(self._combiner.alternation([self._meaning(part) for part in parts]), self._combiner)

    def intersection(self, parts: Sequence[Lexeme]) -> Lexeme:
        """What is a text of each, where it stands."""
        return lexeme_of(self._combiner.intersection([self._meaning(part) for part in parts]), self._combiner)

    def repetition(self, part: Lexeme, minimum: int, maximum: int | None) -> Lexeme:
        """From `minimum` to `maximum` of them, one after the other."""
        repeated = self._combiner.repetition([self._meaning(part)], minimum, maximum)
        return lexeme_of(self._combiner.sequence([repeated]), self._combiner)

    def _meaning(self, lexeme: Lexeme) -> Meaning:
        found = tuple(
            Case(
                self._combiner.reversal(self._condition(case.before)),
                self._adopt(case.tree),
                self._condition(case.after),
            )
            for case in lexeme
        )
        if len(lexeme) != 1 or lexeme[0].excluded is None:
            return found
        ahead = Case(ANY_TEXT, EMPTY_TEXT, self._adopt(lexeme[0].excluded.condition))
        return self._combiner.sequence([(ahead,), found])

    def _condition(self, condition: RegexTree | None) -> RegexTree:
        return ANY_TEXT if condition is None else self._adopt(condition)

    def _adopt(self, tree: RegexTree) -> RegexTree:
        """The same tree, made by this builder."""
        return fold_tree(tree, self._adopted, self._rebuild)

    def _rebuild(self, tree: RegexTree, below: list[RegexTree]) -> RegexTree:
        trees = self._trees
        if isinstance(tree, Literal):
            return trees.literal(tree.data)
        if isinstance(tree, CharClass):
            return trees.char_class(tree)
        if isinstance(tree, Concatenation):
            return trees.concatenation(below)
        if isinstance(tree, Alternation):
            return trees.alternation(below)
        if isinstance(tree, Repetition):
            return trees.repetition(below[0], tree.minimum, tree.maximum)
        if isinstance(tree, Intersection):
            return trees.intersection(below)
        if isinstance(tree, Complement):
            return trees.complement(below[0])
        raise TooEntangled


def lexeme_of(meaning: Meaning, combiner: Combiner) -> Lexeme:
    """A meaning, told as lexemes are: with what stands before read forwards."""
    return tuple(
        LexemeCase(case.tree, _or_none(combiner.reversal(case.before)), _or_none(case.after)) for case in meaning
    )


def _or_none(condition: RegexTree) -> RegexTree | None:
    return None if condition is ANY_TEXT else condition
