"""What a part of a pattern means where assertions are around: texts, under conditions on what stands beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from cfgmask.grammar.regex_tree import ANY_TEXT, EMPTY_TEXT, RegexTree
from cfgmask.regex.syntax import Node


@dataclass(frozen=True, eq=False)
class Case:
    """Texts of a part, where they stand between certain others.

    before   what all that stands before must be, read backwards; ANY_TEXT: no condition, EMPTY_TEXT: the text begins
    tree     the texts
    after    what all that follows must be
    origins  the assertions that the conditions come from
    """

    before: RegexTree
    tree: RegexTree
    after: RegexTree
    origins: frozenset[Node] = frozenset()

    @property
    def is_plain(self) -> bool:
        """Whether it may stand anywhere."""
        return self.before is ANY_TEXT and self.after is ANY_TEXT


Meaning: TypeAlias = tuple[Case, ...]


def plain(tree: RegexTree) -> Meaning:
    """These texts, anywhere."""
    return (Case(ANY_TEXT, tree, ANY_TEXT),)


NO_TEXT = plain(EMPTY_TEXT)
START: Meaning = (Case(EMPTY_TEXT, EMPTY_TEXT, ANY_TEXT),)
END: Meaning = (Case(ANY_TEXT, EMPTY_TEXT, EMPTY_TEXT),)


def is_plain(meaning: Meaning) -> bool:
    """Whether the part has no assertion that matters."""
    return len(meaning) == 1 and meaning[0].is_plain
