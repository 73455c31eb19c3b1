r"""The meaning of patterns with anchors, without anchors.

An anchor holds or fails by where it stands in the text. So every part of a pattern gets a language for each *context*:
whether it begins where the text begins, and what text is left behind it. Of the latter only three cases matter:
nothing (`\Z` holds, and `$`), one line break and nothing else (Python's `$` holds), anything else.
In a sequence the context of a part follows from which of its neighbours match the empty text. Worked out from the
bottom up this is exact and needs no automaton: an anchor in its place becomes the empty text, one in any other place
becomes nothing, and `(^|x)a` anywhere in a text becomes "`a`, then anything, or anything, `xa`, anything".

Anchors only restrict, so a language grows from the context `ELSEWHERE` over `BEFORE_NEWLINE` to `AT_END`, and with
`at_start`. That is why a part of a sequence may be used in the weakest context without asking whether its neighbour is
really not empty: if it is, the stronger context gives the same text as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from cfgmask.grammar.regex_tree import ANY_TEXT, EMPTY_TEXT, NOTHING, RegexTree
from cfgmask.regex.trees import TreeBuilder

ELSEWHERE, BEFORE_NEWLINE, AT_END = 0, 1, 2


@dataclass(frozen=True)
class Context:
    """at_start  the part begins where the text begins
    left      what is left of the text behind the part
    """

    at_start: bool
    left: int


CONTEXTS = tuple(Context(at_start, left) for at_start in (False, True) for left in (ELSEWHERE, BEFORE_NEWLINE, AT_END))
WHOLE_TEXT = Context(True, AT_END)


@dataclass(frozen=True)
class Reading:
    """The language of a part in one context.

    nullable  whether the empty text is in it
    newline   whether the text of one line break is in it
    """

    tree: RegexTree
    nullable: bool
    newline: bool


class Meaning:
    """The readings of a part in every context; a part without anchors has one for all."""

    __slots__ = ("_readings", "anchored")

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._readings = tuple(readings)
        self.anchored = len(self._readings) > 1

    def at(self, at_start: bool, left: int) -> Reading:
        """The reading in the context of these two parts."""
        return self._readings[3 * at_start + left] if self.anchored else self._readings[0]

    def within(self, context: Context) -> Reading:
        """The reading in a context."""
        return self.at(context.at_start, context.left)


_EMPTY = Reading(EMPTY_TEXT, True, False)
_NEVER = Reading(NOTHING, False, False)
NO_TEXT = Meaning([_EMPTY])
ANYTHING = Meaning([Reading(ANY_TEXT, True, True)])


@cache
def anchor(kind: str) -> Meaning:
    """The meaning of an anchor; `kind` as in `syntax.Anchor`."""
    holds: dict[str, Callable[[Context], bool]] = {
        "start": lambda context: context.at_start,
        "end": lambda context: context.left == AT_END,
        "end-or-newline": lambda context: context.left >= BEFORE_NEWLINE,
    }
    return Meaning([_EMPTY if holds[kind](context) else _NEVER for context in CONTEXTS])


class Combiner:
    """Puts meanings together. Linear in the pattern, with a factor for the six contexts where there are anchors."""

    def __init__(self, trees: TreeBuilder) -> None:
        self._trees = trees

    def alternation(self, parts: Sequence[Meaning]) -> Meaning:
        """Any of the parts."""

        def reading(context: Context) -> Reading:
            readings = [part.within(context) for part in parts]
            return Reading(
                self._trees.alternation(r.tree for r in readings),
                any(r.nullable for r in readings),
                any(r.newline for r in readings),
            )

        return _meaning(parts, reading)

    def sequence(self, parts: Sequence[Meaning]) -> Meaning:
        """The parts in order."""
        # Runs of parts without anchors first, each as one; then by halves, so that the tree stays flat.
        groups: list[list[Meaning]] = []
        for part in parts:
            if groups and not part.anchored and not groups[-1][-1].anchored:
                groups[-1].append(part)
            else:
                groups.append([part])
        meanings = [self._plain_sequence(group) if len(group) > 1 else group[0] for group in groups]
        while len(meanings) > 1:
            pairs = [self._pair(a, b) for a, b in zip(meanings[::2], meanings[1::2], strict=False)]
            meanings = pairs + meanings[len(pairs) * 2 :]
        return meanings[0] if meanings else NO_TEXT

    def repetition(self, body: Meaning, minimum: int, maximum: int | None) -> Meaning:
        """`body` from `minimum` to `maximum` times."""
        if not body.anchored:
            inner = body.within(WHOLE_TEXT)
            tree = self._trees.repetition(inner.tree, minimum, maximum)
            one = maximum != 0 and (minimum <= 1 or inner.nullable)
            return Meaning([Reading(tree, minimum == 0 or inner.nullable, inner.newline and one)])
        return Meaning([self._repetition_reading(body, minimum, maximum, context) for context in CONTEXTS])

    def _plain_sequence(self, parts: Sequence[Meaning]) -> Meaning:
        readings = [part.within(WHOLE_TEXT) for part in parts]
        tree = self._trees.concatenation(reading.tree for reading in readings)
        needed = [reading for reading in readings if not reading.nullable]
        candidates = needed or readings
        newline = len(needed) <= 1 and any(reading.newline for reading in candidates)
        return Meaning([Reading(tree, not needed, newline)])

    def _pair(self, first: Meaning, second: Meaning) -> Meaning:
        # Of the six contexts many look the same to a pair: `^a` depends on the start alone.
        made: dict[tuple[int, ...], Reading] = {}

        def reading(context: Context) -> Reading:
            start, left = context.at_start, context.left
            weak = first.at(start, ELSEWHERE), second.at(False, left)
            full = first.within(context), second.within(context)
            before_newline = first.at(start, BEFORE_NEWLINE if left == AT_END else ELSEWHERE)
            key = tuple(id(part) for part in (*weak, *full, before_newline))
            if key not in made:
                made[key] = self._pair_reading(*weak, *full, before_newline)
            return made[key]

        return _meaning([first, second], reading)

    def _pair_reading(
        self, weak_first: Reading, weak_second: Reading, first: Reading, second: Reading, before_newline: Reading
    ) -> Reading:
        """One reading of a sequence of two.

        weak_first      the first part with anything behind it
        weak_second     the second part with anything before it
        first, second   both with nothing in between them and the context of the pair
        before_newline  the first part where the second one is a line break and then the text ends
        """
        trees = self._trees
        ways = [trees.concatenation([weak_first.tree, weak_second.tree])]
        if weak_first.nullable and second.tree is not weak_second.tree:
            ways.append(second.tree)
        if weak_second.nullable and first.tree is not weak_first.tree:
            ways.append(first.tree)
        nullable = first.nullable and second.nullable
        if nullable and not weak_first.nullable and not weak_second.nullable:
            ways.append(EMPTY_TEXT)
        if weak_second.newline and before_newline.tree is not weak_first.tree:
            ways.append(trees.concatenation([before_newline.tree, trees.literal(b"\n")]))
        if second.newline and before_newline.nullable and not weak_first.nullable:
            ways.append(trees.literal(b"\n"))
        newline = (first.newline and weak_second.nullable) or (before_newline.nullable and second.newline)
        return Reading(trees.alternation(ways), nullable, newline)

    def _repetition_reading(self, body: Meaning, minimum: int, maximum: int | None, context: Context) -> Reading:
        start, left = context.at_start, context.left
        full, after = body.within(context), body.at(False, left)
        before_newline = body.at(start, BEFORE_NEWLINE if left == AT_END else ELSEWHERE)
        trees = self._trees
        ways = [self._rounds(body, minimum, maximum, context)]
        if left == AT_END and maximum != 0:
            if after.newline:
                # The last round takes a final line break, before which Python's `$` holds in the rounds before it.
                rest = max(minimum - 1, 0) if not after.nullable else 0
                bound = None if maximum is None else maximum - 1
                rounds = self._rounds(body, rest, bound, Context(start, BEFORE_NEWLINE))
                ways.append(trees.concatenation([rounds, trees.literal(b"\n")]))
            if full.newline and before_newline.nullable:
                ways.append(trees.literal(b"\n"))
        padded = minimum <= 1 or before_newline.nullable or after.nullable
        return Reading(
            trees.alternation(ways),
            minimum == 0 or full.nullable,
            maximum != 0 and full.newline and padded,
        )

    def _rounds(self, body: Meaning, minimum: int, maximum: int | None, context: Context) -> RegexTree:
        """The rounds of a repetition, those that match something: one, or a first one, any in between and a last one.

        Rounds that match nothing can stand before the first (or after the last) where the body is nullable there;
        they then make up for any number that is missing from `minimum`.
        No reading of the body is used twice (or only one of a weaker context is), so that nested repetitions do not
        double what they contain.
        """
        trees = self._trees
        first, last = body.at(context.at_start, ELSEWHERE), body.at(False, context.left)
        only, middle = body.within(context), body.at(False, ELSEWHERE)
        begins, ends = only.tree is first.tree, only.tree is last.tree
        if begins and ends and middle.tree is only.tree:
            return trees.repetition(only.tree, minimum, maximum)
        needed = 0 if first.nullable or last.nullable else minimum

        def further(taken: int) -> RegexTree:
            bound = None if maximum is None else maximum - taken
            return trees.repetition(middle.tree, max(needed - taken, 0), bound)

        ways: list[RegexTree] = [EMPTY_TEXT] if minimum == 0 or only.nullable else []
        if maximum == 0:
            return trees.alternation(ways)
        if begins and last.tree is middle.tree:
            return trees.alternation([*ways, trees.concatenation([first.tree, further(1)])])
        if ends and first.tree is middle.tree:
            return trees.alternation([*ways, trees.concatenation([further(1), last.tree])])
        if needed <= 1:
            ways.append(only.tree)
        if maximum is None or maximum >= 2:
            ways.append(trees.concatenation([first.tree, further(2), last.tree]))
        return trees.alternation(ways)


def _meaning(parts: Sequence[Meaning], reading: Callable[[Context], Reading]) -> Meaning:
    """One reading for all contexts if no part has an anchor, else one for each."""
    if any(part.anchored for part in parts):
        return Meaning([reading(context) for context in CONTEXTS])
    return Meaning([reading(WHOLE_TEXT)])
