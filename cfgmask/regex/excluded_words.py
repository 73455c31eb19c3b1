r"""Names that are none of some words: `(?!(?:and|break|while)\b)[a-z_]\w*`.

The lookahead looks at all that follows, so exactly it leaves a condition for each way in which a lexeme may be the
beginning of a word: `an` must not be followed by `d` and the end of a word. Next to a lexer that takes the longest
match most of these say nothing, since it goes on from `an` with any `d`. `alone` is what is left then:

- a name that is no word, and has none before a character of another kind (`and-x`), whatever follows;
- a word, if it is followed by a word character that a name does not have: `\b` does not hold there.

The core finds them in patterns (`core/pattern/excluded_words.h`).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    Literal,
    RegexTree,
    Repetition,
    char_class,
    negated,
)
from cfgmask.regex.trees import fold_tree


@dataclass(frozen=True, eq=False)
class ExcludedWords:
    r"""What the lookahead at the start of a lexeme excludes.

    words    their tree
    word     the characters of words, for `\b`
    letters  the characters of these words but for the first of each
    """

    words: RegexTree
    word: CharClass
    letters: CharClass

    @cached_property
    def condition(self) -> RegexTree:
        """A regex of all texts that may stand from the beginning of the lexeme to the end of the whole text."""
        return Complement(Alternation((self.words, Concatenation((self._then_other, ANY_TEXT)))))

    def alone(self, name: RegexTree) -> list[tuple[RegexTree, RegexTree | None]] | None:
        """The texts of `name` that may stand, each with what must follow; None if that is not known to be so.

        It holds where a lexeme ends only before what it cannot go on with, or with the text. Linear.
        """
        further = _further(name)
        if further is None or not _is_within(self.letters, further):
            return None
        if _is_within(_characters(name), self.word):
            left, words = self.words, self.words
        else:
            then_other = Concatenation((self._then_other, ANY_TEXT))
            left, words = Alternation((self.words, then_other)), Intersection((self.words, Complement(then_other)))
        found: list[tuple[RegexTree, RegexTree | None]] = [(Intersection((name, Complement(left))), None)]
        if not _is_within(self.word, further):
            found.append((Intersection((name, words)), Concatenation((self.word, ANY_TEXT))))
        return found

    @property
    def _then_other(self) -> RegexTree:
        return Concatenation((self.words, negated(self.word)))


def _further(tree: RegexTree) -> CharClass | None:
    """Characters of which any number may follow each text of a regex; None where none are known."""
    last = tree.parts[-1] if isinstance(tree, Concatenation) else tree
    is_endless = isinstance(last, Repetition) and last.maximum is None
    return last.body if is_endless and isinstance(last, Repetition) and isinstance(last.body, CharClass) else None


def _characters(tree: RegexTree) -> CharClass:
    """All characters of the texts of a tree that is made of a pattern; more where it has complements."""
    found: list[tuple[int, int]] = []

    def see(part: RegexTree, below: list[None]) -> None:
        del below
        if isinstance(part, CharClass):
            found.extend(part.ranges)
        elif isinstance(part, Literal):
            found.extend((ord(character), ord(character)) for character in part.data.decode())
        elif isinstance(part, Complement):
            found.append((0, 0x10FFFF))

    fold_tree(tree, {}, see)
    return char_class(found)


def _is_within(one: CharClass, other: CharClass) -> bool:
    """Whether all characters of a class are in another."""
    lows = [low for low, _ in other.ranges]
    places = ((bisect_right(lows, low) - 1, high) for low, high in one.ranges)
    return all(place >= 0 and high <= other.ranges[place][1] for place, high in places)
