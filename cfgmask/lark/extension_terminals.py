"""Terminals that every grammar has unless it defines or imports others of their names: `QUOTED_TEXT` and the like.

They mean what the named groups of regexes mean; see `cfgmask.regex.named_groups`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cfgmask.grammar.ir import TokenSet
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.lark import nodes
from cfgmask.regex.named_groups import (
    TEXT_GROUPS,
    TOKEN_GROUPS,
    delimited_list,
    delimited_subsequence,
    substring_of,
    text_until,
)

EXTENSION_TEXTS = TEXT_GROUPS
"""What the names stand for that are terminals without arguments."""

EXTENSION_TOKENS = {name: TokenSet(name, kind=kind) for name, kind in TOKEN_GROUPS.items()}
"""What the names stand for that are one token of the vocabulary, taken by its id."""

_Trees: TypeAlias = Sequence[RegexTree]


@dataclass(frozen=True)
class ExtensionTemplate:
    """A terminal with arguments, which are terminal expressions.

    arguments  what they are, for messages
    build      the texts, of the arguments' texts; None where the argument is a plain text, see `substring_of`
    """

    arguments: str
    minimum: int
    maximum: int | None
    build: Callable[[_Trees], RegexTree] | None

    def takes(self, number: int) -> bool:
        """Whether it may have so many arguments."""
        return self.minimum <= number and (self.maximum is None or number <= self.maximum)


EXTENSION_TEMPLATES = {
    "TEXT_UNTIL": ExtensionTemplate("{end}", 1, 1, lambda trees: text_until(trees[0])),
    "SUBSTRING_OF": ExtensionTemplate('{"a text"}', 1, 1, None),
    "DELIMITED_LIST": ExtensionTemplate(
        "{delimiter, item, ...}", 2, None, lambda trees: delimited_list(trees[0], trees[1:])
    ),
    "DELIMITED_SUBSEQUENCE_OF": ExtensionTemplate(
        "{delimiter, item, ...}", 2, None, lambda trees: delimited_subsequence(trees[0], trees[1:])
    ),
}

EXTENSION_TERMINALS = frozenset({*EXTENSION_TEXTS, *EXTENSION_TOKENS, *EXTENSION_TEMPLATES})


def substring_argument(node: nodes.Expression) -> RegexTree | None:
    """The texts of `SUBSTRING_OF{node}`; None where the node is no plain text."""
    is_text = isinstance(node, nodes.String) and not node.ignore_case
    return substring_of(node.value) if is_text and isinstance(node, nodes.String) else None
