"""Syntax tree to regex tree: flags, dialects and assertions are resolved here."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from collections.abc import Sequence as SequenceOf
from typing import Literal, TypeAlias, TypeVar

from cfgmask.grammar.regex_tree import ANY_TEXT, EMPTY_TEXT, NOTHING, RegexTree, char_class, negated
from cfgmask.regex.assertions import Combiner, Part, Tempered
from cfgmask.regex.cases import END, NO_TEXT, START, Meaning, is_plain, plain
from cfgmask.regex.derivatives import TooEntangled
from cfgmask.regex.dialects import Dialect
from cfgmask.regex.lexemes import Lexeme, LexemeCase, lexeme_of
from cfgmask.regex.named_groups import (
    LIST_GROUPS,
    TEXT_GROUPS,
    TOKEN_GROUPS,
    delimited_list,
    delimited_subsequence,
    substring_of,
    text_until,
)
from cfgmask.regex.problems import Problems
from cfgmask.regex.sets import SetResolver, said_by
from cfgmask.regex.syntax import (
    Anchor,
    Atomic,
    Backreference,
    BoundaryKind,
    Choice,
    Flags,
    Group,
    Leaf,
    Lookaround,
    Node,
    Repeat,
    Sequence,
    Shorthand,
    Text,
    WordBoundary,
    children,
    fold,
)
from cfgmask.regex.trees import TreeBuilder

Context: TypeAlias = Literal["text", "search"]

# What a node means, as parts in order. They are put together where the whole sequence is known: next to the end of a
# text, an assertion is met by an intersection, without taking apart what stands there.
_Parts: TypeAlias = tuple[Part, ...]

_R = TypeVar("_R")


def translate(root: Node, dialect: Dialect, context: Context, problems: Problems) -> RegexTree:
    """The tree of the texts that match; `context` as in `parse_regex`.

    What cannot be translated is reported to `problems`, all of it; the tree is then of no use. Linear in a pattern
    whose assertions are anchors; bounded by constants for each other assertion.
    """
    return _Translator(dialect, problems).translate(root, context)


def translate_lexeme(root: Node, dialect: Dialect, problems: Problems) -> Lexeme:
    """The texts that match as a lexeme in a larger text, and what they ask of that. Otherwise as `translate`."""
    return _Translator(dialect, problems).lexeme(root)


class _Translator:
    def __init__(self, dialect: Dialect, problems: Problems) -> None:
        self._dialect = dialect
        self._problems = problems
        self._sets = SetResolver(dialect, problems)
        self._trees = TreeBuilder()
        self._combiner = Combiner(self._trees)
        self._newline_at_end = self._trees.repetition(self._trees.literal(b"\n"), 0, 1)
        self._cased: dict[tuple[str, bool], RegexTree] = {}
        self._characters: dict[Hashable, Meaning] = {}

    def translate(self, root: Node, context: Context) -> RegexTree:
        branches = self._folded(root)
        nothing: RegexTree = NOTHING
        return self._bounded(root, lambda: self._whole(branches, context), nothing)

    def _folded(self, root: Node) -> list[_Parts]:
        return [fold(branch, self._below, self._combine) for branch in _branches(root)]

    def lexeme(self, root: Node) -> Lexeme:
        branches = self._folded(root)
        if all(map(_is_simple, branches)):
            tree = self._whole(branches, "text")
            return (LexemeCase(tree),) if tree is not NOTHING else ()
        meaning = self._bounded(root, lambda: self._combiner.alternation(self._evaluated(branches)), NO_TEXT)
        if is_plain(meaning):
            return (LexemeCase(self._bounded(root, lambda: self._whole(branches, "text"), meaning[0].tree)),)
        if any(_is_guard(node) for case in meaning for node in case.origins):
            return self._guarded(root, branches, meaning)
        return lexeme_of(meaning, self._combiner)

    def _guarded(self, root: Node, branches: SequenceOf[_Parts], meaning: Meaning) -> Lexeme:
        """With guards of lazy repetitions at the edges, which see nothing beyond the lexeme."""
        conditional = [case for case in meaning if not case.is_plain]
        if not all(case.origins and all(map(_is_guard, case.origins)) for case in conditional):
            message = "a lazy repetition and an assertion meet at an edge here, which is not supported"
            help = "write what the repetition may hold as a class"
            self._problems.report("assertions-too-complex", root.start, root.end, message, help)
        return (LexemeCase(self._bounded(root, lambda: self._whole(branches, "text"), meaning[0].tree)),)

    def _whole(self, branches: SequenceOf[_Parts], context: Context) -> RegexTree:
        # Branches with assertions one by one: a search for `^a|b` then needs no text before `a`.
        around = (plain(ANY_TEXT),) if context == "search" else ()
        simple = self._combiner.alternation(self._evaluated(filter(_is_simple, branches)))
        sought = [(simple,), *(parts for parts in branches if not _is_simple(parts))]
        return self._trees.alternation(self._combiner.whole_text([*around, *parts, *around]) for parts in sought)

    def _combine(self, node: Node, parts: list[_Parts]) -> _Parts:
        if isinstance(node, Sequence):
            return tuple(self._combiner.joined([piece for part in parts for piece in part]))
        if isinstance(node, Choice):
            return (self._bounded(node, lambda: self._combiner.alternation(self._evaluated(parts)), NO_TEXT),)
        if isinstance(node, Repeat):
            empty: Part = NO_TEXT
            return (self._bounded(node, lambda: self._repetition(node, parts[0]), empty),)
        if isinstance(node, Group):
            return parts[0] if node.name not in self._dialect.named_groups else (self._named(node, parts),)
        if isinstance(node, Atomic):
            self._refuse(node, "atomic-group", "an atomic group", "write `(?:...)`, which may allow more texts")
            return parts[0]
        if isinstance(node, Lookaround):
            return (self._bounded(node, lambda: self._lookaround(node, parts[0]), NO_TEXT),)
        return (self._leaf(node),)

    def _below(self, node: Node) -> tuple[Node, ...]:
        """What is translated before a node: of a group that is a list, its alternatives one by one."""
        if isinstance(node, Group) and node.name in self._dialect.named_groups & LIST_GROUPS:
            return children(node.body) if isinstance(node.body, Choice) else (node.body,)
        return children(node)

    def _named(self, node: Group, parts: list[_Parts]) -> Meaning:
        """The meaning of a group that does more than group."""
        name = node.name or ""
        if name in TOKEN_GROUPS:
            message = f"`{name}` is a token, which has no text and cannot be part of a terminal"
            self._problems.report("token-group", node.start, node.end, message, "use it outside of terminals")
            return NO_TEXT
        if name in TEXT_GROUPS:
            if isinstance(node.body, Sequence) and not node.body.parts:
                return plain(TEXT_GROUPS[name])
            return self._misused(node, f"the group `{name}` has no body", f"write `(?P<{name}>)`")
        if name == "SUBSTRING_OF":
            whole = _text_of(node.body)
            if whole is not None:
                return plain(substring_of(whole))
            help = "write a backslash before those that do not, and no flag `i`"
            return self._misused(node, "`SUBSTRING_OF` takes characters that stand for themselves", help)
        if name in LIST_GROUPS and len(parts) < 2:
            help = f"write `(?P<{name}>, |item)`, the delimiter first"
            return self._misused(node, f"`{name}` takes a delimiter and items as alternatives", help)
        nothing: list[RegexTree] = [NOTHING] * len(parts)
        trees = self._bounded(node, lambda: [self._combiner.whole_text(part) for part in parts], nothing)
        if name == "TEXT_UNTIL":
            return plain(text_until(trees[0]))
        made = delimited_list if name == "DELIMITED_LIST" else delimited_subsequence
        return plain(made(trees[0], trees[1:]))

    def _misused(self, node: Group, message: str, help: str) -> Meaning:
        self._problems.report("named-group", node.start, node.end, message, help)
        return NO_TEXT

    def _evaluated(self, parts: Iterable[_Parts]) -> list[Meaning]:
        return [self._combiner.sequence(part) for part in parts]

    def _repetition(self, node: Repeat, body: _Parts) -> Part:
        if node.mode == "possessive":
            self._refuse(node, "possessive", "possessive repetition", "drop the `+`, which may allow more texts")
        return self._combiner.repetition(body, node.minimum, node.maximum)

    def _leaf(self, node: Leaf) -> Meaning:
        if isinstance(node, Anchor):
            return self._anchor(node)
        if isinstance(node, WordBoundary):
            return self._word_boundary(node)
        if isinstance(node, Backreference):
            help = "write the possible texts as alternatives"
            message = "a backreference is supported only to a group before it that has few texts"
            self._problems.report("backreference", node.start, node.end, message, help)
            return NO_TEXT
        if isinstance(node, Text):
            return self._remembered((node.flags, node.text), lambda: self._text(node.text, node.flags))
        return self._remembered(said_by(node), lambda: self._trees.char_class(self._sets.members(node)))

    def _remembered(self, said: Hashable, translate: Callable[[], RegexTree]) -> Meaning:
        """What characters mean. Those that come again mean the same, or have the same problem at another place."""
        known = self._characters.get(said)
        if known is None:
            n_problems = self._problems.count
            known = plain(translate())
            if self._problems.count == n_problems:
                self._characters[said] = known
        return known

    def _text(self, text: str, flags: Flags) -> RegexTree:
        if flags.ignore_case:
            return self._trees.concatenation([self._cased_character(c, flags) for c in text])
        # Lone surrogates have been reported by now.
        return self._trees.literal(text.encode(errors="replace"))

    def _cased_character(self, character: str, flags: Flags) -> RegexTree:
        key = (character, flags.ascii)
        if key not in self._cased:
            self._cased[key] = self._trees.char_class(self._sets.character(ord(character), flags))
        return self._cased[key]

    def _anchor(self, node: Anchor) -> Meaning:
        if node.multi_line:
            line_end = self._combiner.beginning(char_class([(ord(c), ord(c)) for c in self._dialect.line_ends]))
            at_line_end = self._trees.alternation([EMPTY_TEXT, line_end])
            sides = (at_line_end, ANY_TEXT) if node.kind == "start" else (ANY_TEXT, at_line_end)
            return self._combiner.between([sides], node)
        if node.kind == "end-or-newline":
            return self._combiner.between([(ANY_TEXT, self._newline_at_end)])
        return START if node.kind == "start" else END

    def _word_boundary(self, node: WordBoundary) -> Meaning:
        members = self._sets.shorthand(Shorthand(node.start, node.end, "w", False, node.flags))
        word = self._combiner.beginning(members)
        other = self._trees.alternation([EMPTY_TEXT, self._combiner.beginning(negated(members))])
        sides: dict[BoundaryKind, list[tuple[RegexTree, RegexTree]]] = {
            "boundary": [(word, other), (other, word)],
            "no-boundary": [(word, word), (other, other)],
            "start": [(other, word)],
            "end": [(word, other)],
            "start-half": [(other, ANY_TEXT)],
            "end-half": [(ANY_TEXT, other)],
        }
        return self._combiner.between(sides[node.kind], node)

    def _lookaround(self, node: Lookaround, body: _Parts) -> Meaning:
        name = "lookbehind" if node.behind else "lookahead"
        if self._dialect.name == "rust" and not node.is_guard:
            help = 'read the pattern as one of another dialect, `dialect="python"` for instance'
            self._problems.report(name, node.start, node.end, f"rust patterns have no {name}", help)
            return NO_TEXT
        look = self._combiner.lookbehind if node.behind else self._combiner.lookahead
        return look(body, node.negated, node)

    def _bounded(self, node: Node, work: Callable[[], _R], instead: _R) -> _R:
        """The result of some work, or `instead` and a report that names `node`."""
        try:
            return work()
        except TooEntangled:
            self._problems.report(
                "assertions-too-complex",
                node.start,
                node.end,
                "the assertions here depend on each other in too many ways",
                "write what may stand there as part of the pattern",
            )
            return instead

    def _refuse(self, node: Node, code: str, what: str, help: str) -> None:
        self._problems.report(code, node.start, node.end, f"{what} is not supported", help)


def _text_of(body: Node) -> str | None:
    """The characters of a body that has nothing else."""
    parts = body.parts if isinstance(body, Sequence) else (body,)
    texts = [part.text for part in parts if isinstance(part, Text) and not part.flags.ignore_case]
    return "".join(texts) if len(texts) == len(parts) else None


def _branches(root: Node) -> SequenceOf[Node]:
    """The alternatives of a whole pattern."""
    return root.parts if isinstance(root, Choice) else (root,)


def _is_simple(parts: _Parts) -> bool:
    """Whether the parts are texts that may stand anywhere; they are one part then, or none."""
    return not parts or (len(parts) == 1 and not isinstance(parts[0], Tempered) and is_plain(parts[0]))


def _is_guard(node: Node) -> bool:
    return isinstance(node, Lookaround) and node.is_guard
