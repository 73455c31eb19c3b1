r"""The meaning of patterns with assertions (anchors, word boundaries, lookaround) without assertions.

An assertion looks at what stands before or behind it. So a part of a pattern means a set of *cases*: texts, with a
condition on all that stands before them and one on all that follows. `\b` has two cases, both of the empty text: a word
character before and none behind, and the other way round.

In a sequence the condition that one part has on what follows it falls on the next part, and what that part does not
decide is left for the one behind (`splits`). At the ends of the whole text the conditions must hold of nothing more.
So `a(?!b)` and then `[a-z]*` is `a([ac-z][a-z]*)?`, with the condition that no `b` follows where the repetition takes
nothing. That is exact, and bounded: a condition has finitely many states, and each pair of conditions is one case.

In a repetition the conditions of one round fall on the rounds before and behind it. With a node for each pair of
conditions that is pending between two rounds, a round leads from node to node, and the ways through that graph are the
repetition (`paths`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from cfgmask.grammar.regex_tree import ANY_CHAR, ANY_TEXT, EMPTY_TEXT, NOTHING, CharClass, RegexTree
from cfgmask.regex.derivatives import TooEntangled
from cfgmask.regex.paths import paths
from cfgmask.regex.splits import Splitter
from cfgmask.regex.syntax import Node
from cfgmask.regex.trees import TreeBuilder

# Bounds on what one pattern may grow to. Patterns in use stay below a quarter of them.
_MAX_CASES = 48
_MAX_NODES = 32
_MAX_ROUNDS = 64
_MAX_WEIGHT = 5_000  # or as many times that of the repetition's body as there may be nodes, where that is more
# Longer sequences of parts with assertions are put together by halves, so that the tree stays flat.
_MAX_IN_ORDER = 32


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


class Combiner:
    """Puts meanings together. All methods raise TooEntangled where that takes more than the bounds above."""

    def __init__(self, trees: TreeBuilder) -> None:
        self._trees = trees
        self._splitter = Splitter(trees)

    def whole_text(self, parts: Sequence[Meaning]) -> RegexTree:
        """The texts that the parts in order are, all of them from their first to their last character."""
        return self._trees.alternation(case.tree for case in self.sequence([START, *parts, END]))

    def alternation(self, parts: Sequence[Meaning]) -> Meaning:
        """Any of the parts."""
        return self._merged(case for part in parts for case in part)

    def sequence(self, parts: Sequence[Meaning]) -> Meaning:
        """The parts in order."""
        meanings = self.joined(parts)
        while len(meanings) > _MAX_IN_ORDER:
            pairs = [self._pair(a, b) for a, b in zip(meanings[::2], meanings[1::2], strict=False)]
            meanings = pairs + meanings[len(pairs) * 2 :]
        # From the end, where the end of the text may be known: a condition on all that follows is then met at once.
        found = meanings[-1] if meanings else NO_TEXT
        for part in reversed(meanings[:-1]):
            found = self._pair(part, found)
        return found

    def repetition(self, body: Meaning, minimum: int, maximum: int | None) -> Meaning:
        """`body` from `minimum` to `maximum` times."""
        if is_plain(body):
            return plain(self._trees.repetition(body[0].tree, minimum, maximum))
        if maximum == 0 or not body:
            return NO_TEXT if minimum == 0 or maximum == 0 else ()
        if all(case.tree is EMPTY_TEXT for case in body):
            return NO_TEXT if minimum == 0 else body
        if minimum == 0 and maximum == 1:
            return self._merged([*NO_TEXT, *body])
        if minimum <= 1 and maximum is None:
            rounds = self._rounds(body)
            return rounds if minimum == 0 else self._pair(body, rounds)
        size = self._common_size(body)
        if size is not None:
            counted = self._trees.repetition(ANY_CHAR, minimum * size, None if maximum is None else maximum * size)
            return self._merged(
                Case(case.before, self._splitter.both(case.tree, counted), case.after, case.origins)
                for case in self._rounds(body)
            )
        return self._unrolled(body, minimum, maximum)

    def lookahead(self, parts: Sequence[Meaning], negative: bool, node: Node) -> Meaning:
        """The empty text, where the parts in order begin what follows; with `negative`, where they do not."""
        found = self.sequence([*parts, plain(ANY_TEXT), END])
        holds = self._merged(Case(case.before, EMPTY_TEXT, case.tree, frozenset([node])) for case in found)
        return self._negation(holds, node) if negative else holds

    def lookbehind(self, parts: Sequence[Meaning], negative: bool, node: Node) -> Meaning:
        """The empty text, where the parts in order end what stands before; with `negative`, where they do not."""
        found = self.sequence([START, plain(ANY_TEXT), *parts])
        reversal = self._splitter.reversal
        holds = self._merged(Case(reversal(case.tree), EMPTY_TEXT, case.after, frozenset([node])) for case in found)
        return self._negation(holds, node) if negative else holds

    def between(self, sides: Iterable[tuple[RegexTree, RegexTree]], node: Node | None = None) -> Meaning:
        """The empty text between two conditions, of any pair of them; `node` where what is beside a lexeme matters."""
        origins = frozenset() if node is None else frozenset([node])
        return self._merged(Case(before, EMPTY_TEXT, after, origins) for before, after in sides)

    def beginning(self, members: CharClass) -> RegexTree:
        """The condition that a character of a class comes next, in the direction of the condition."""
        return self._trees.concatenation([self._trees.char_class(members), ANY_TEXT])

    def joined(self, parts: Sequence[Meaning]) -> list[Meaning]:
        """The parts, with what needs no thought put together: texts anywhere, and conditions at their outer sides."""
        runs: list[list[Meaning]] = []
        for part in parts:
            last = runs[-1][-1] if runs else ()
            if len(last) == len(part) == 1 and last[0].after is ANY_TEXT and part[0].before is ANY_TEXT:
                runs[-1].append(part)
            else:
                runs.append([part])
        return [run[0] if len(run) == 1 else self._run([part[0] for part in run]) for run in runs]

    def _run(self, cases: list[Case]) -> Meaning:
        tree = self._trees.concatenation(case.tree for case in cases)
        origins = cases[0].origins | cases[-1].origins
        return self._merged([Case(cases[0].before, tree, cases[-1].after, origins)])

    def _pair(self, first: Meaning, second: Meaning) -> Meaning:
        return self._merged(case for left in first for right in second for case in self._neighbours(left, right))

    def _neighbours(self, left: Case, right: Case) -> list[Case]:
        """The texts of one case and then those of another."""
        origins = left.origins | right.origins
        return [
            Case(before, self._trees.concatenation([first, second]), after, origins)
            for first, before in self._before(left, right.before)
            for second, after in self._after(right, left.after)
        ]

    def _before(self, case: Case, condition: RegexTree) -> list[tuple[RegexTree, RegexTree]]:
        """The texts of a case under a condition on them and what stands before them, with what must stand there."""
        splitter = self._splitter
        if case.before is EMPTY_TEXT:
            return [(splitter.restrict(case.tree, splitter.reversal(condition)), EMPTY_TEXT)]
        return [(tree, splitter.both(case.before, rest)) for tree, rest in splitter.split_back(case.tree, condition)]

    def _after(self, case: Case, condition: RegexTree) -> list[tuple[RegexTree, RegexTree]]:
        """The texts of a case under a condition on them and what follows them, with what must follow."""
        splitter = self._splitter
        if case.after is EMPTY_TEXT:
            return [(splitter.restrict(case.tree, condition), EMPTY_TEXT)]
        return [(tree, splitter.both(case.after, rest)) for tree, rest in splitter.split(case.tree, condition)]

    def _merged(self, cases: Iterable[Case]) -> Meaning:
        """One case for each pair of conditions, without those that cannot be met."""
        found: dict[tuple[int, int], list[Case]] = {}
        for case in cases:
            if NOTHING not in (case.before, case.tree, case.after):
                found.setdefault((id(case.before), id(case.after)), []).append(case)
        if len(found) > _MAX_CASES:
            raise TooEntangled
        return tuple(self._union(same) for same in found.values())

    def _union(self, cases: list[Case]) -> Case:
        if len(cases) == 1 and not cases[0].is_plain:
            return cases[0]
        tree = self._trees.alternation(case.tree for case in cases)
        if cases[0].is_plain:
            return Case(ANY_TEXT, tree, ANY_TEXT)
        return Case(cases[0].before, tree, cases[0].after, frozenset().union(*(case.origins for case in cases)))

    def _negation(self, holds: Meaning, node: Node) -> Meaning:
        """Where no case of an assertion holds: each of them fails on one of its sides."""
        found = NO_TEXT
        for case in holds:
            fails = [
                Case(self._trees.complement(case.before), EMPTY_TEXT, ANY_TEXT, frozenset([node])),
                Case(ANY_TEXT, EMPTY_TEXT, self._trees.complement(case.after), frozenset([node])),
            ]
            found = self._pair(found, self._merged(fails))
        return found

    def _common_size(self, body: Meaning) -> int | None:
        """How many characters every text of the body has, if they agree."""
        sizes = {self._trees.fixed_size(case.tree) for case in body}
        return sizes.pop() if len(sizes) == 1 else None

    def _unrolled(self, body: Meaning, minimum: int, maximum: int | None) -> Meaning:
        if max(minimum, maximum or 0) > _MAX_ROUNDS:
            raise TooEntangled
        found = self._rounds(body) if maximum is None else NO_TEXT
        for _ in range(minimum, maximum or 0):
            found = self._merged([*NO_TEXT, *self._pair(body, found)])
        for _ in range(minimum):
            found = self._pair(body, found)
        return found

    def _rounds(self, body: Meaning) -> Meaning:
        """The body any number of times."""
        split, split_back = self._splitter.split, self._splitter.split_back
        ahead = self._pending([(case.tree, case.after) for case in body], back=False)
        behind = self._pending([(case.tree, case.before) for case in body], back=True)
        nodes = list(product(ahead, behind))
        if len(nodes) > _MAX_NODES:
            raise TooEntangled
        number = {(id(after), id(before)): place for place, (after, before) in enumerate(nodes)}
        steps: dict[tuple[int, int], list[RegexTree]] = {}
        for case, after, before in product(body, ahead, behind):
            for front, left in split(case.tree, after):
                for text, needed in split_back(front, before):
                    pending = self._splitter.both(left, case.after), self._splitter.both(needed, case.before)
                    if text is not NOTHING and NOTHING not in pending:
                        start, end = number.get((id(after), id(pending[1]))), number.get((id(pending[0]), id(before)))
                        if start is None or end is None:
                            # A part of what is empty, which a search that was given up did not find out.
                            raise TooEntangled
                        steps.setdefault((start, end), []).append(text)
        edges = {ends: self._trees.alternation(texts) for ends, texts in steps.items()}
        origins = frozenset[Node]().union(*(case.origins for case in body))
        rounds = self._merged(
            Case(nodes[start][1], tree, nodes[end][0], origins)
            for (start, end), tree in paths(self._trees, len(nodes), edges).items()
            if nodes[start][0] is ANY_TEXT and nodes[end][1] is ANY_TEXT
        )
        if self._weight(rounds) > max(_MAX_WEIGHT, _MAX_NODES * self._weight(body)):
            raise TooEntangled
        return rounds

    def _weight(self, meaning: Meaning) -> int:
        return sum(self._trees.weight(case.tree) for case in meaning)

    def _pending(self, rounds: list[tuple[RegexTree, RegexTree]], back: bool) -> list[RegexTree]:
        """Every condition that may be left of the rounds on one side, none included."""
        split = self._splitter.split_back if back else self._splitter.split
        found: dict[int, RegexTree] = {id(ANY_TEXT): ANY_TEXT}
        pending: list[RegexTree] = [ANY_TEXT]
        while pending:
            condition = pending.pop()
            for tree, own in rounds:
                for _, rest in split(tree, condition):
                    joint = self._splitter.both(rest, own)
                    if joint is not NOTHING and id(joint) not in found:
                        found[id(joint)] = joint
                        pending.append(joint)
            if len(found) > _MAX_NODES:
                raise TooEntangled
        return list(found.values())
