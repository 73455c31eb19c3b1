r"""Names that are none of some words: `(?!(?:and|break|while)\b)[a-z_]\w*`.

The lookahead looks at all that follows, so exactly it leaves a condition for each way in which a lexeme may be the
beginning of a word: `an` must not be followed by `d` and the end of a word. Next to a lexer that takes the longest
match most of these say nothing, since it goes on from `an` with any `d`. `alone` is what is left then:

- a name that is no word, and has none before a character of another kind (`and-x`), whatever follows;
- a word, if it is followed by a word character that a name does not have: `\b` does not hold there.
"""

from __future__ import annotations

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
from cfgmask.regex.dialects import Dialect
from cfgmask.regex.problems import Problems
from cfgmask.regex.sets import SetResolver, is_within
from cfgmask.regex.syntax import Choice, Flags, Group, Lookaround, Node, Sequence, Shorthand, Text, WordBoundary
from cfgmask.regex.trees import fold_tree

_MOST_WORDS = 10_000
_NONE: list[tuple[str, Flags]] = []


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
        if further is None or not is_within(self.letters, further):
            return None
        if is_within(_characters(name), self.word):
            left, words = self.words, self.words
        else:
            then_other = Concatenation((self._then_other, ANY_TEXT))
            left, words = Alternation((self.words, then_other)), Intersection((self.words, Complement(then_other)))
        found: list[tuple[RegexTree, RegexTree | None]] = [(Intersection((name, Complement(left))), None)]
        if not is_within(self.word, further):
            found.append((Intersection((name, words)), Concatenation((self.word, ANY_TEXT))))
        return found

    @property
    def _then_other(self) -> RegexTree:
        return Concatenation((self.words, negated(self.word)))


def excluded_words(root: Node, dialect: Dialect) -> tuple[ExcludedWords, Node] | None:
    """The words that a pattern excludes at its start, and the rest of it; None for any other pattern. Linear."""
    parts = root.parts if isinstance(root, Sequence) else ()
    if len(parts) < 2 or not isinstance(parts[0], Lookaround):
        return None
    look = parts[0]
    body = look.body.parts if isinstance(look.body, Sequence) else ()
    if look.behind or not look.negated or len(body) < 2:
        return None
    boundary = body[-1]
    if not isinstance(boundary, WordBoundary) or boundary.kind != "boundary":
        return None
    words = _words(body[:-1])
    if not words:
        return None
    sets = SetResolver(dialect, Problems.unseen())
    word = sets.shorthand(Shorthand(boundary.start, boundary.end, "w", False, boundary.flags))
    flags = words[0][1]
    of_character = {c: sets.character(ord(c), flags) for c in sorted({c for text, _ in words for c in text})}
    ends = {text[-1:] for text, _ in words}
    if any(other != flags for _, other in words) or not all(end and is_within(of_character[end], word) for end in ends):
        return None
    letters = [pair for c in {c for text, _ in words for c in text[1:]} for pair in of_character[c].ranges]
    trees: list[RegexTree] = [
        Concatenation(tuple(of_character[c] for c in text)) if flags.ignore_case else Literal(text.encode())
        for text, _ in words
    ]
    rest = Sequence(parts[1].start, root.end, parts[1:])
    tree = trees[0] if len(trees) == 1 else Alternation(tuple(trees))
    return ExcludedWords(tree, word, char_class(letters)), rest


def _words(parts: tuple[Node, ...]) -> list[tuple[str, Flags]]:
    """The texts of nodes in order if these are few, with the flags of all their characters; otherwise none."""
    found: list[tuple[str, Flags]] | None = None
    for part in parts:
        more = _ways(part)
        if found is None:
            found = more
        elif len(found) * len(more) > _MOST_WORDS or any(one[1] != other[1] for one in found for other in more):
            return _NONE
        else:
            found = [(text + end, flags) for text, flags in found for end, _ in more]
    return found or _NONE


def _ways(node: Node) -> list[tuple[str, Flags]]:
    """As `_words`, of a text or a group of alternatives that are texts."""
    if isinstance(node, Text):
        return [(node.text, node.flags)]
    if not isinstance(node, Group) or node.name is not None:
        return _NONE
    branches = node.body.parts if isinstance(node.body, Choice) else (node.body,)
    found: list[tuple[str, Flags]] = []
    for branch in branches:
        texts = branch.parts if isinstance(branch, Sequence) else ()
        if not texts or not all(isinstance(text, Text) for text in texts) or len(found) >= _MOST_WORDS:
            return _NONE
        flags = {text.flags for text in texts if isinstance(text, Text)}
        if len(flags) > 1:
            return _NONE
        found.append(("".join(text.text for text in texts if isinstance(text, Text)), flags.pop()))
    return found


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
