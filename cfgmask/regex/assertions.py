r"""The meaning of patterns with assertions (anchors, word boundaries, lookaround) without assertions.

An assertion looks at what stands before or behind it. So a part of a pattern means a set of *cases*: texts, with a
condition on all that stands before them and one on all that follows. `\b` has two cases, both of the empty text: a word
character before and none behind, and the other way round.

In a sequence the condition that one part has on what follows it falls on the next part, and what that part does not
decide is left for the one behind (`splits`). At the ends of the whole text the conditions must hold of nothing more.
So `a(?!b)` and then `[a-z]*` is `a([ac-z][a-z]*)?`, with the condition that no `b` follows where the repetition takes
nothing. That is exact, and bounded: a condition has finitely many states, and each pair of conditions is one case.

In a repetition the conditions of one round fall on the rounds before and behind it; see `rounds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cfgmask.grammar.regex_tree import ANY_CHAR, ANY_TEXT, EMPTY_TEXT, NOTHING, CharClass, RegexTree
from cfgmask.regex.cases import END, NO_TEXT, START, Case, Meaning, is_plain, plain
from cfgmask.regex.derivatives import TooEntangled
from cfgmask.regex.rounds import rounds
from cfgmask.regex.splits import Splitter
from cfgmask.regex.syntax import Node
from cfgmask.regex.trees import TreeBuilder

# Bounds on what one pattern may grow to. Patterns in use stay below a quarter of them.
_MAX_CASES = 48
_MAX_ROUNDS = 64
# Longer sequences of parts with assertions are put together by halves, so that the tree stays flat.
_MAX_IN_ORDER = 32


@dataclass(frozen=True, eq=False)
class Tempered:
    """Single characters, `minimum` to `maximum` of them, before each of which an assertion holds: `(?:(?!foo).)*`.

    Next to the ends of the text this is one complement, however much the assertion looks for; elsewhere it is a
    repetition like others.
    """

    guard: Meaning
    character: RegexTree
    minimum: int
    maximum: int | None


Part: TypeAlias = "Meaning | Tempered"


class Combiner:
    """Puts meanings together. All methods raise TooEntangled where that takes more than the bounds above."""

    def __init__(self, trees: TreeBuilder) -> None:
        self._trees = trees
        self._splitter = Splitter(trees)

    def whole_text(self, parts: Sequence[Part]) -> RegexTree:
        """The texts that the parts in order are, all of them from their first to their last character."""
        return self._trees.alternation(case.tree for case in self.sequence([START, *parts, END]))

    def alternation(self, parts: Sequence[Meaning]) -> Meaning:
        """Any of the parts."""
        return self._merged(case for part in parts for case in part)

    def intersection(self, parts: Sequence[Meaning]) -> Meaning:
        """What is a text of each of the parts, where it stands."""
        found = parts[0]
        for part in parts[1:]:
            found = self._merged(self._common(left, right) for left in found for right in part)
        return found

    def _common(self, left: Case, right: Case) -> Case:
        both = self._splitter.both
        sides = both(left.before, right.before), both(left.tree, right.tree), both(left.after, right.after)
        return Case(*sides, left.origins | right.origins)

    def sequence(self, parts: Sequence[Part]) -> Meaning:
        """The parts in order."""
        if len(parts) == 1:
            return self._cases(parts[0])
        joined = self.joined(parts)
        if len(joined) > _MAX_IN_ORDER:
            return self._halves([self._cases(part) for part in joined])
        # From the end, where the end of the text may be known: a condition on all that follows is then met at once.
        found = self._cases(joined[-1]) if joined else NO_TEXT
        for place, part in reversed(list(enumerate(joined[:-1]))):
            if isinstance(part, Tempered) and _is_end(found):
                at_start = place > 0 and _is_start(joined[place - 1])
                found = self._tempered_to_end(part, at_start) or self._pair(self._cases(part), found)
            else:
                found = self._pair(self._cases(part), found)
        return found

    def repetition(self, parts: Sequence[Part], minimum: int, maximum: int | None) -> Part:
        """The parts in order, from `minimum` to `maximum` times."""
        if len(parts) == 2 and not any(isinstance(part, Tempered) for part in parts):
            guard, step = (self._cases(part) for part in parts)
            conditions = all(case.tree is EMPTY_TEXT for case in guard)
            if conditions and is_plain(step) and self._trees.fixed_size(step[0].tree) == 1:
                return Tempered(guard, step[0].tree, minimum, maximum)
        return self._repetition(self.sequence(parts), minimum, maximum)

    def _repetition(self, body: Meaning, minimum: int, maximum: int | None) -> Meaning:
        if is_plain(body):
            return plain(self._trees.repetition(body[0].tree, minimum, maximum))
        if maximum == 0 or not body:
            return NO_TEXT if minimum == 0 or maximum == 0 else ()
        if all(case.tree is EMPTY_TEXT for case in body):
            return NO_TEXT if minimum == 0 else body
        if minimum == 0 and maximum == 1:
            return self._merged([*NO_TEXT, *body])
        if minimum <= 1 and maximum is None:
            any_times = self._any_times(body)
            return any_times if minimum == 0 else self._pair(body, any_times)
        size = self._common_size(body)
        if size is not None:
            counted = self._trees.repetition(ANY_CHAR, minimum * size, None if maximum is None else maximum * size)
            return self._merged(
                Case(case.before, self._splitter.both(case.tree, counted), case.after, case.origins)
                for case in self._any_times(body)
            )
        return self._unrolled(body, minimum, maximum)

    def lookahead(self, parts: Sequence[Part], negative: bool, node: Node) -> Meaning:
        """The empty text, where the parts in order begin what follows; with `negative`, where they do not."""
        found = self.sequence([*parts, plain(ANY_TEXT), END])
        holds = self._merged(Case(case.before, EMPTY_TEXT, case.tree, frozenset([node])) for case in found)
        return self._negation(holds) if negative else holds

    def lookbehind(self, parts: Sequence[Part], negative: bool, node: Node) -> Meaning:
        """The empty text, where the parts in order end what stands before; with `negative`, where they do not."""
        found = self.sequence([START, plain(ANY_TEXT), *parts])
        reversal = self._splitter.reversal
        holds = self._merged(Case(reversal(case.tree), EMPTY_TEXT, case.after, frozenset([node])) for case in found)
        return self._negation(holds) if negative else holds

    def between(self, sides: Iterable[tuple[RegexTree, RegexTree]], node: Node | None = None) -> Meaning:
        """The empty text between two conditions, of any pair of them; `node` where what is beside a lexeme matters."""
        origins = frozenset() if node is None else frozenset([node])
        return self._merged(Case(before, EMPTY_TEXT, after, origins) for before, after in sides)

    def reversal(self, tree: RegexTree) -> RegexTree:
        """The texts of a condition read backwards."""
        return self._splitter.reversal(tree)

    def beginning(self, members: CharClass) -> RegexTree:
        """The condition that a character of a class comes next, in the direction of the condition."""
        return self._trees.concatenation([self._trees.char_class(members), ANY_TEXT])

    def joined(self, parts: Sequence[Part]) -> list[Part]:
        """The parts, with what needs no thought put together: texts anywhere, and conditions at their outer sides."""
        if len(parts) < 2:
            return list(parts)
        runs: list[list[Part]] = []
        for part in parts:
            if runs and _is_run(runs[-1][-1], part):
                runs[-1].append(part)
            else:
                runs.append([part])
        return [
            run[0] if len(run) == 1 else self._run([case for part in run for case in self._cases(part)]) for run in runs
        ]

    def _run(self, cases: list[Case]) -> Meaning:
        tree = self._trees.concatenation(case.tree for case in cases)
        origins = cases[0].origins | cases[-1].origins
        return self._merged([Case(cases[0].before, tree, cases[-1].after, origins)])

    def _cases(self, part: Part) -> Meaning:
        if not isinstance(part, Tempered):
            return part
        body = self._pair(part.guard, plain(part.character))
        return self._repetition(body, part.minimum, part.maximum)

    def _tempered_to_end(self, part: Tempered, at_start: bool) -> Meaning | None:
        """The part where the text ends behind it; None where its assertion looks at more than is known before it.

        The assertion must fail nowhere: no text of what does not meet it may stand behind any place but the last.
        """
        trees = self._trees
        fails = self._negation(part.guard)
        if not at_start and any(case.before is not ANY_TEXT for case in fails):
            return None
        something = trees.repetition(ANY_CHAR, 1, None)
        wrong = trees.alternation(
            trees.concatenation([self._splitter.reversal(case.before), self._splitter.both(case.after, something)])
            for case in fails
        )
        counted = trees.repetition(part.character, part.minimum, part.maximum)
        tree = trees.intersection([counted, trees.complement(wrong)])
        origins = frozenset[Node]().union(*(case.origins for case in part.guard))
        return self._merged([Case(EMPTY_TEXT if at_start else ANY_TEXT, tree, EMPTY_TEXT, origins)])

    def _halves(self, meanings: list[Meaning]) -> Meaning:
        while len(meanings) > 1:
            pairs = [self._pair(a, b) for a, b in zip(meanings[::2], meanings[1::2], strict=False)]
            meanings = pairs + meanings[len(pairs) * 2 :]
        return meanings[0]

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
            if case.before is not NOTHING and case.tree is not NOTHING and case.after is not NOTHING:
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

    def _negation(self, holds: Meaning) -> Meaning:
        """Where no case of an assertion holds: each of them fails on one of its sides."""
        found = NO_TEXT
        for case in holds:
            fails = [
                Case(self._trees.complement(case.before), EMPTY_TEXT, ANY_TEXT, case.origins),
                Case(ANY_TEXT, EMPTY_TEXT, self._trees.complement(case.after), case.origins),
            ]
            found = self._pair(found, self._merged(fails))
        return found

    def _common_size(self, body: Meaning) -> int | None:
        """How many characters every text of the body has, if they agree."""
        sizes = {self._trees.fixed_size(case.tree) for case in body}
        return sizes.pop() if len(sizes) == 1 else None

    def _any_times(self, body: Meaning) -> Meaning:
        return self._merged(rounds(body, self._trees, self._splitter))

    def _unrolled(self, body: Meaning, minimum: int, maximum: int | None) -> Meaning:
        if max(minimum, maximum or 0) > _MAX_ROUNDS:
            raise TooEntangled
        found = self._any_times(body) if maximum is None else NO_TEXT
        for _ in range(minimum, maximum or 0):
            found = self._merged([*NO_TEXT, *self._pair(body, found)])
        for _ in range(minimum):
            found = self._pair(body, found)
        return found


def _is_end(meaning: Meaning) -> bool:
    """Whether the text ends here, whatever it was."""
    if len(meaning) != 1 or meaning[0].before is not ANY_TEXT:
        return False
    return meaning[0].tree is meaning[0].after is EMPTY_TEXT


def _is_start(part: Part) -> bool:
    """Whether the text begins here, whatever it will be."""
    if isinstance(part, Tempered) or len(part) != 1 or part[0].after is not ANY_TEXT:
        return False
    return part[0].before is part[0].tree is EMPTY_TEXT


def _is_run(first: Part, second: Part) -> bool:
    """Whether nothing that the one part says concerns the other."""
    if isinstance(first, Tempered) or isinstance(second, Tempered) or not len(first) == len(second) == 1:
        return False
    return first[0].after is ANY_TEXT and second[0].before is ANY_TEXT
