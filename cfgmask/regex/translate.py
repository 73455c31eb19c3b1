"""Syntax tree to regex tree: flags, dialects and anchors are resolved here."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf

from cfgmask.grammar.regex_tree import CharClass, RegexTree
from cfgmask.regex.anchors import ANYTHING, NO_TEXT, WHOLE_TEXT, Combiner, Meaning, Reading, anchor
from cfgmask.regex.dialects import Dialect
from cfgmask.regex.problems import Problems
from cfgmask.regex.sets import SetResolver
from cfgmask.regex.syntax import (
    Anchor,
    Atomic,
    Backreference,
    CharacterSet,
    Choice,
    Dot,
    Flags,
    Group,
    Leaf,
    Lookaround,
    Node,
    Property,
    Repeat,
    Sequence,
    Shorthand,
    Text,
    WordBoundary,
    children,
    fold,
)
from cfgmask.regex.trees import TreeBuilder


def translate(root: Node, dialect: Dialect, search: bool, problems: Problems) -> RegexTree:
    """The tree of the texts that match as a whole or, with `search`, that have a match somewhere.

    What cannot be translated is reported to `problems`, all of it; the tree is then of no use. Linear in the pattern.
    """
    return _Translator(dialect, problems).translate(root, search)


class _Translator:
    def __init__(self, dialect: Dialect, problems: Problems) -> None:
        self._dialect = dialect
        self._problems = problems
        self._sets = SetResolver(dialect, problems)
        self._trees = TreeBuilder()
        self._combiner = Combiner(self._trees)
        self._cased: dict[tuple[str, bool], Meaning] = {}

    def translate(self, root: Node, search: bool) -> RegexTree:
        branches = [fold(branch, children, self._combine) for branch in _branches(root)]
        if not search:
            return self._combiner.alternation(branches).within(WHOLE_TEXT).tree
        # Branches with anchors are searched for one by one: `^a|b` then needs no text before `a`.
        plain = [branch for branch in branches if not branch.anchored]
        anchored = [branch for branch in branches if branch.anchored]
        sought = [self._combiner.alternation(plain)] if plain else []
        found = [self._combiner.sequence([ANYTHING, branch, ANYTHING]) for branch in sought + anchored]
        return self._combiner.alternation(found).within(WHOLE_TEXT).tree

    def _combine(self, node: Node, parts: list[Meaning]) -> Meaning:
        if isinstance(node, Sequence):
            return self._combiner.sequence(parts)
        if isinstance(node, Choice):
            return self._combiner.alternation(parts)
        if isinstance(node, Repeat):
            if node.mode == "possessive":
                self._refuse(node, "possessive", "possessive repetition", "drop the `+`, which may allow more texts")
            return self._combiner.repetition(parts[0], node.minimum, node.maximum)
        if isinstance(node, Group):
            return parts[0]
        if isinstance(node, Atomic):
            self._refuse(node, "atomic-group", "an atomic group", "write `(?:...)`, which may allow more texts")
            return parts[0]
        if isinstance(node, Lookaround):
            return self._lookaround(node)
        return self._leaf(node)

    def _leaf(self, node: Leaf) -> Meaning:
        if isinstance(node, Text):
            return self._text(node.text, node.flags)
        if isinstance(node, Dot):
            return self._class(self._sets.dot(node))
        if isinstance(node, Shorthand):
            return self._class(self._sets.shorthand(node))
        if isinstance(node, Property):
            return self._class(self._sets.property(node))
        if isinstance(node, CharacterSet):
            return self._class(self._sets.character_set(node))
        if isinstance(node, Anchor):
            return self._anchor(node)
        return self._unsupported_leaf(node)

    def _text(self, text: str, flags: Flags) -> Meaning:
        if flags.ignore_case:
            return self._combiner.sequence([self._cased_character(c, flags) for c in text])
        # Lone surrogates have been reported by now.
        tree = self._trees.literal(text.encode(errors="replace"))
        return Meaning([Reading(tree, False, text == "\n")])

    def _cased_character(self, character: str, flags: Flags) -> Meaning:
        key = (character, flags.ascii)
        if key not in self._cased:
            self._cased[key] = self._class(self._sets.character(ord(character), flags))
        return self._cased[key]

    def _class(self, members: CharClass) -> Meaning:
        newline = any(low <= 0x0A <= high for low, high in members.ranges)
        return Meaning([Reading(self._trees.char_class(members), False, newline)])

    def _anchor(self, node: Anchor) -> Meaning:
        if node.multi_line:
            self._problems.report(
                "multi-line-anchor",
                node.start,
                node.end,
                "an anchor under the flag m holds at every line and is not supported",
                "drop the flag m, or write the line breaks as `\\n`",
            )
        return anchor(node.kind)

    def _lookaround(self, node: Lookaround) -> Meaning:
        name = "lookbehind" if node.behind else "lookahead"
        self._refuse(node, name, name, "write what may stand there as part of the pattern")
        return NO_TEXT

    def _unsupported_leaf(self, node: WordBoundary | Backreference) -> Meaning:
        if isinstance(node, WordBoundary):
            self._refuse(node, "word-boundary", "a word boundary", "write which characters may stand there")
        else:
            self._refuse(node, "backreference", "a backreference", "write the possible texts as alternatives")
        return NO_TEXT

    def _refuse(self, node: Node, code: str, what: str, help: str) -> None:
        self._problems.report(code, node.start, node.end, f"{what} is not supported", help)


def _branches(root: Node) -> SequenceOf[Node]:
    """The alternatives of a whole pattern."""
    return root.parts if isinstance(root, Choice) else (root,)
