"""Whether each text of a grammar can be cut into lexemes in one way only as far as the next byte decides it.

Then the lexers `complete` and `longest` give the same texts and masks, and `longest` is the cheaper one: it has one
reading to follow where `complete` has one for each place at which a lexeme may have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Guarded, Repeat, RuleRef, Sequence, Terminal, TokenSet
from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    MAX_CODE_POINT,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
    char_class,
)
from cfgmask.grammar.walk import fold, walk
from cfgmask.limits import Limits
from cfgmask.regex.algebra import RegexAlgebra
from cfgmask.regex.trees import fold_tree, parts_of

_ALL_BYTES = (1 << 256) - 1
_NOT_EMPTY = Repetition(ANY_CHAR, 1, None)
# What one grammar may cost here, some tenths of a second at most; over it the answer is no.
_MAX_ROUNDS = 40
_MAX_OCCURRENCES = 1_000
_MAX_PAIRS = 20_000
_MAX_LOOKS = 1_000_000
_LIMITS = Limits(max_regex_nodes=200_000, max_search_steps=20_000)


def has_clear_boundaries(grammar: GrammarIR) -> bool:
    """Whether no byte can both go on with a lexeme and begin the next one, whatever came before it.

    The grammar is read as a finite automaton over its terminals: after a terminal comes whatever may follow it in some
    place. That allows more than the grammar does, so False means that it was not shown. Nothing may be ignored.
    Cost: linear in the grammar, and up to a millisecond for two terminals that can stand at one place and begin alike;
    bounded by some tenths of a second.
    """
    return unclear_texts(grammar) == frozenset()


def unclear_texts(grammar: GrammarIR) -> frozenset[tuple[bytes, int]] | None:
    """Fixed texts that another lexeme may end in, where the next one could begin, and after how many bytes.

    Cut there, they may have clear boundaries. Empty: all boundaries are clear; see `has_clear_boundaries`. None: these
    are not all that is unclear.
    """
    assert not any(scope.ignore for scope in grammar.scopes), "ignored text may follow any terminal"
    places = _Places(grammar)
    if not places.are_known:
        return None
    search = _Search(places)
    try:
        return frozenset(search.unclear) if search.is_clear_but_for_texts() else None
    except LimitExceeded:
        return None


@dataclass(frozen=True)
class _Start:
    """What an expression begins with, as bits, and whether it matches the empty text; neither less than it is."""

    bits: int = 0
    nullable: bool = True

    def then(self, other: _Start) -> _Start:
        return _Start(self.bits | (other.bits if self.nullable else 0), self.nullable and other.nullable)

    def either(self, other: _Start) -> _Start:
        return _Start(self.bits | other.bits, self.nullable or other.nullable)

    def both(self, other: _Start) -> _Start:
        return _Start(self.bits & other.bits, self.nullable and other.nullable)


_NOTHING = _Start(nullable=False)


@dataclass(eq=False)
class _Occurrence:
    """A terminal or token set where it stands in a rule; `follow` are the numbers of those that may come next, as bits.

    regex    None for a token set, which is matched by id
    start    first bytes of what matches
    lengths  how many bytes that has at least and (None: without bound) at most
    """

    regex: RegexTree | None
    start: _Start
    lengths: tuple[int, int | None] = (0, 0)
    follow: int = 0

    @property
    def key(self) -> object:
        """Equal only for equal regexes. Trees may share parts, and comparing large ones by value takes long."""
        return self.regex if isinstance(self.regex, (Literal, CharClass)) else id(self.regex)


class _Places:
    """The terminals and token sets of a grammar by number, what comes first and what comes after each.

    are_known  whether that was found out within the bounds
    """

    def __init__(self, grammar: GrammarIR) -> None:
        self.occurrences: list[_Occurrence] = []
        self._rules = {rule.name: rule.body for rule in grammar.rules}
        self._numbers: dict[int, int] = {}
        self._starts: dict[int, _Start] = {}
        self._start_of = dict.fromkeys(self._rules, _NOTHING)
        self._follow_of = dict.fromkeys(self._rules, 0)
        # Where a lazy terminal ends, others end with it; and what is guarded may not be there.
        self._is_plain = True
        self._enter()
        self.are_known = (
            self._is_plain
            and len(self.occurrences) <= _MAX_OCCURRENCES
            and _until_stable(self._update_starts)
            and _until_stable(self._update_follow)
        )
        self.first = self._start_of[grammar.start].bits

    def next(self, numbers: int) -> Iterator[int]:
        """The numbers in a set of bits."""
        while numbers:
            lowest = numbers & -numbers
            yield lowest.bit_length() - 1
            numbers ^= lowest

    def _enter(self) -> None:
        starts: dict[int, _Start] = {}
        lengths: dict[int, tuple[int, int | None]] = {}
        for body in self._rules.values():
            for expr in walk(body):
                self._is_plain &= not isinstance(expr, Guarded)
                if not isinstance(expr, (Terminal, TokenSet)):
                    continue
                self._numbers[id(expr)] = len(self.occurrences)
                if isinstance(expr, TokenSet):
                    self.occurrences.append(_Occurrence(None, _NOTHING))
                    continue
                self._is_plain &= not expr.lazy and expr.max_tokens is None
                start = fold_tree(expr.regex, starts, _start_of_tree, _not_complemented)
                length = fold_tree(expr.regex, lengths, _lengths_of_tree, _not_complemented)
                self.occurrences.append(_Occurrence(expr.regex, start, length))

    def _update_starts(self) -> bool:
        """One round over the rules, those that others use first; whether anything changed."""
        changed = False
        for name in reversed(self._rules):
            start = fold(self._rules[name], self._start)
            changed |= start != self._start_of[name]
            self._start_of[name] = start
        return changed

    def _start(self, expr: Expr, parts: list[_Start]) -> _Start:
        start = _NOTHING
        if isinstance(expr, (Terminal, TokenSet)):
            number = self._numbers[id(expr)]
            start = _Start(1 << number, self.occurrences[number].start.nullable)
        elif isinstance(expr, RuleRef):
            start = self._start_of[expr.name]
        elif isinstance(expr, Repeat):
            start = parts[0].either(_Start()) if not expr.minimum else parts[0]
        elif isinstance(expr, Sequence):
            start = reduce(_Start.then, parts, _Start())
        elif isinstance(expr, Choice):
            start = reduce(_Start.either, parts, _NOTHING)
        self._starts[id(expr)] = start
        return start

    def _update_follow(self) -> bool:
        changed = False
        for name, body in self._rules.items():
            pending: list[tuple[Expr, int]] = [(body, self._follow_of[name])]
            while pending:
                expr, after = pending.pop()
                if isinstance(expr, RuleRef):
                    changed |= bool(after & ~self._follow_of[expr.name])
                    self._follow_of[expr.name] |= after
                elif isinstance(expr, (Terminal, TokenSet)):
                    self.occurrences[self._numbers[id(expr)]].follow |= after
                else:
                    pending += self._parts(expr, after)
        return changed

    def _parts(self, expr: Expr, after: int) -> Iterator[tuple[Expr, int]]:
        """The parts of an expression, each with what may follow it."""
        if isinstance(expr, Choice):
            yield from ((part, after) for part in expr.parts)
        elif isinstance(expr, Repeat):
            again = self._starts[id(expr.body)].bits if expr.maximum != 1 else 0
            yield expr.body, after | again
        elif isinstance(expr, Sequence):
            for part in reversed(expr.parts):
                yield part, after
                start = self._starts[id(part)]
                after = start.bits | (after if start.nullable else 0)


def _until_stable(update: Callable[[], bool]) -> bool:
    """Whether the rounds come to an end in time."""
    return any(not update() for _ in range(_MAX_ROUNDS))


class _Search:
    """Goes through the pairs of terminals that can stand at one place.

    As long as no pair has a byte on which they disagree, all readings of a text have their lexemes end together; so two
    terminals stand at one place if they come first, or follow two others that do and match a common text.
    """

    def __init__(self, places: _Places) -> None:
        self._places = places
        self._algebra = RegexAlgebra(_LIMITS)
        self._seen: set[tuple[int, int]] = set()
        self._added: set[tuple[int, int]] = set()
        self._n_looks = 0
        self._pending: list[tuple[int, int]] = []
        self._answers: dict[object, bool] = {}
        self.unclear: set[tuple[bytes, int]] = set()

    def is_clear_but_for_texts(self) -> bool:
        """Whether no pair disagrees but for fixed texts, which are `unclear` then."""
        self._add(self._places.first, self._places.first)
        while self._pending:
            if len(self._seen) > _MAX_PAIRS or self._n_looks > _MAX_LOOKS:
                return False
            pair = self._pending.pop()
            one, other = (self._places.occurrences[number] for number in pair)
            if not self._agree(one, other) or not self._agree(other, one):
                return False
            if one is other or self._overlap(one, other):
                self._add(one.follow, other.follow)
        return True

    def _add(self, some: int, others: int) -> None:
        if (some, others) in self._added:
            return
        self._added.add((some, others))
        self._n_looks += some.bit_count() * others.bit_count()
        for one in self._places.next(some):
            for other in self._places.next(others):
                pair = (min(one, other), max(one, other))
                if pair not in self._seen:
                    self._seen.add(pair)
                    self._pending.append(pair)

    def _overlap(self, one: _Occurrence, other: _Occurrence) -> bool:
        """Whether both may match the same."""
        if one.regex is None or other.regex is None:
            return one.regex is other.regex
        if not one.start.bits & other.start.bits:
            return False
        if isinstance(one.regex, Literal) and isinstance(other.regex, Literal):
            return one.regex.data == other.regex.data != b""
        return self._answer((one.key, other.key), Intersection((one.regex, other.regex, _NOT_EMPTY)))

    def _agree(self, ended: _Occurrence, longer: _Occurrence) -> bool:
        """Whether no byte may both follow a text of one terminal and go on with the other, but for `unclear` ones."""
        if ended.regex is None or longer.regex is None or not ended.start.bits & longer.start.bits:
            return True
        follow = 0
        for number in self._places.next(ended.follow):
            follow |= self._places.occurrences[number].start.bits
        most = longer.lengths[1]
        if not follow or (most is not None and most <= max(1, ended.lengths[0])):
            return True
        if isinstance(longer.regex, Literal):
            data = longer.regex.data
            self.unclear.update((data, length) for length in self._ends_in(data, ended.regex, follow))
            return True
        begun = Concatenation((Intersection((ended.regex, _NOT_EMPTY)), _characters(follow), ANY_TEXT))
        return not self._answer((ended.key, longer.key, follow), Intersection((longer.regex, begun)))

    def _ends_in(self, text: bytes, ended: RegexTree, follow: int) -> Iterator[int]:
        """The lengths of begins of a text that a terminal matches where the text goes on with one of the bytes."""
        for length in [len(ended.data)] if isinstance(ended, Literal) else range(1, len(text)):
            if not 0 < length < len(text) or not follow >> text[length] & 1:
                continue
            begin = text[:length]
            if isinstance(ended, Literal):
                is_match = ended.data == begin
            else:
                is_match = self._answer((id(ended), begin), Intersection((ended, Literal(begin))))
            if is_match:
                yield length

    def _answer(self, key: object, texts: RegexTree) -> bool:
        """Whether there are such texts."""
        if key not in self._answers:
            self._answers[key] = not self._algebra.is_empty(texts)
        return self._answers[key]


def _not_complemented(tree: RegexTree) -> tuple[RegexTree, ...]:
    """The trees right below a tree, but for the body of a complement, which may be large and is not used here."""
    return () if isinstance(tree, Complement) else parts_of(tree)


def _start_of_tree(tree: RegexTree, parts: list[_Start]) -> _Start:
    """The first bytes of a regex."""
    if isinstance(tree, Literal):
        return _Start(1 << tree.data[0], False) if tree.data else _Start()
    if isinstance(tree, CharClass):
        return _Start(_lead_bytes(tree), False)
    if isinstance(tree, KeySet):
        return _Start(sum({1 << key[0] for key in tree.keys if key}), b"" in tree.keys)
    if isinstance(tree, Repetition):
        return parts[0].either(_Start()) if not tree.minimum else parts[0]
    if isinstance(tree, Concatenation):
        return reduce(_Start.then, parts, _Start())
    if isinstance(tree, Alternation):
        return reduce(_Start.either, parts, _NOTHING)
    if isinstance(tree, Intersection):
        return reduce(_Start.both, parts, _Start(_ALL_BYTES, True))
    return _Start(_ALL_BYTES, True)


def _lengths_of_tree(tree: RegexTree, parts: list[tuple[int, int | None]]) -> tuple[int, int | None]:
    """How many bytes a text has at least and (None: without bound) at most."""
    if isinstance(tree, Literal):
        return len(tree.data), len(tree.data)
    if isinstance(tree, CharClass):
        return 1, 4 if tree.ranges and tree.ranges[-1][1] > 0x7F else 1
    least, most = [part[0] for part in parts], [part[1] for part in parts]
    bounded = [length for length in most if length is not None]
    is_bounded = len(bounded) == len(most)
    if isinstance(tree, Concatenation):
        return sum(least), sum(bounded) if is_bounded else None
    if isinstance(tree, Intersection) and parts:
        return max(least), min(bounded, default=None)
    if isinstance(tree, Alternation) and parts:
        return min(least), max(bounded) if is_bounded else None
    if isinstance(tree, Repetition):
        maximum = bounded[0] * tree.maximum if is_bounded and tree.maximum is not None else None
        return least[0] * tree.minimum, maximum
    return 0, None


def _lead_bytes(members: CharClass) -> int:
    """The first bytes of the characters, which ascend as these do."""
    bits = 0
    for low, high in members.ranges:
        first, last = chr(low).encode()[0], chr(high).encode()[0]
        bits |= (1 << last + 1) - (1 << first)
    return bits


def _characters(lead_bytes: int) -> CharClass:
    """All characters with one of these first bytes."""
    ranges = []
    for byte in range(256):
        if not lead_bytes >> byte & 1:
            continue
        if byte < 0x80:
            ranges.append((byte, byte))
        elif 0xC2 <= byte < 0xE0:
            ranges.append(((byte & 0x1F) << 6, ((byte & 0x1F) << 6) + 0x3F))
        elif 0xE0 <= byte < 0xF0:
            ranges.append((max((byte & 0x0F) << 12, 0x800), ((byte & 0x0F) << 12) + 0xFFF))
        elif 0xF0 <= byte < 0xF5:
            ranges.append((max((byte & 0x07) << 18, 0x10000), min(((byte & 0x07) << 18) + 0x3FFFF, MAX_CODE_POINT)))
    return char_class(ranges)
