"""The slow and obvious engine: what docs/semantics.md says, byte by byte, without any cleverness.

`Oracle` takes a `GrammarIR` and a vocabulary and answers the questions that the compiled core answers.
The parser is Earley's over explicit item sets; the lexer moves every live terminal by derivatives; a mask tries every
token. States are immutable values. Nothing is shared with the core but the IR.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from math import inf
from typing import Any, NamedTuple, TypeAlias

from cfgmask.grammar import ir as grammar
from cfgmask.grammar import regex_tree as tree
from tests.oracle_regex import Regexes, Residual, Undecided

# A JSON scalar with its kind, since True == 1 in Python.
Value: TypeAlias = tuple[str, object]


@dataclass(frozen=True)
class Register:
    """The values in a set that is open.

    values  those that are told apart: of an object, the keys
    items   of an array, in their order
    members, key  of an object: keys with their values, and the key whose value comes next
    around  of a value that must have come before, or that is a part of one: the set in which that was, or is
    """

    bounds: grammar.SetBounds
    values: frozenset[Value] = frozenset()
    items: tuple[Value, ...] = ()
    members: frozenset[tuple[Value, Value]] = frozenset()
    key: Value | None = None
    around: Register | None = None

    @property
    def missing(self) -> frozenset[Value]:
        """The values that must still come."""
        return frozenset(("str", name) for name in self.bounds.required) - self.values

    @property
    def taken(self) -> frozenset[Value]:
        """What must not come next."""
        return self.values if self.bounds.holds != "array" and self.key is None else frozenset()

    @property
    def copied(self) -> frozenset[Value] | None:
        """What may come next so that all around it is a value that came; None where that need not be."""
        if self.around is None:
            return None
        if self.bounds.holds == "again":
            return self.around.values
        whole: list[Any] = [content for kind, content in self.around.copied or () if kind == _kind(self.bounds)]
        if self.bounds.holds != "object":
            n = len(self.items)
            return frozenset(items[n] for items in whole if items[:n] == self.items and len(items) > n)
        objects = [members for members in whole if self.members <= members]
        if self.key is None:
            return frozenset(key for members in objects for key, _ in members) - self.values
        return frozenset(value for members in objects for key, value in members if key == self.key)

    def may_open(self, bounds: grammar.SetBounds) -> bool:
        """Whether a set may be opened in it: if that is a value which is copied, one like it must come next."""
        if self.copied is None or bounds.holds in ("values", "again"):
            return True
        return any(kind == _kind(bounds) for kind, _ in self.copied)

    @property
    def has_room(self) -> bool:
        """Whether a value may come that is not among the missing ones."""
        most = self.bounds.maximum
        return most is None or self.key is not None or self._n_values + len(self.missing) < most

    @property
    def may_close(self) -> bool:
        return not self.missing and self._n_values >= self.bounds.minimum

    @property
    def _n_values(self) -> int:
        return len(self.items) if self.bounds.holds in ("array", "distinct array") else len(self.values)

    @property
    def result(self) -> Value | None:
        """What the set is, once it is closed, to the one around it."""
        match self.bounds.holds:
            case "values":
                return None
            case "object":
                return "object", self.members
            case "again":
                return self.items[0]
        return "array", self.items

    def and_then(self, value: Value) -> Register:
        """With one more value."""
        if self.bounds.holds != "object":
            items = () if self.bounds.holds == "values" else (*self.items, value)
            return replace(self, values=self.values | {value}, items=items)
        if self.key is None:
            return replace(self, values=self.values | {value}, key=value)
        return replace(self, members=self.members | {(self.key, value)}, key=None)


def _kind(bounds: grammar.SetBounds) -> str:
    """Of the value that a set is."""
    return "object" if bounds.holds == "object" else "array"


# The innermost set that is open; None if there is none.
Seen: TypeAlias = Register | None

# Instead of a register that there must not be.
_REFUSED = Register(grammar.SetBounds(), items=(("refused", None),))


@dataclass(frozen=True)
class Conditions:
    """What a lexeme asks of the text around it: of all that stands before, and of all that follows."""

    before: Residual | None = None
    after: Residual | None = None


ANYWHERE = Conditions()


@dataclass(frozen=True)
class Occurrence:
    """A terminal where a rule of `scope` uses it. `deadline`: see `Item`."""

    regex: Residual
    priority: int
    scope: int
    distinct: bool = False
    closes_set: bool = False
    lazy: bool = False
    around: Conditions = ANYWHERE
    max_tokens: int | None = None
    role: grammar.LineRole = ""
    deadline: float = inf


@dataclass(frozen=True)
class NewValue:
    """A distinct terminal where the values of `seen` have come before it in its set."""

    occurrence: Occurrence
    seen: Register


@dataclass(frozen=True)
class TokenOccurrence:
    """A set of tokens where a rule of `scope` uses it."""

    ids: frozenset[int]
    scope: int
    deadline: float = inf


@dataclass(frozen=True)
class Skip:
    """The ignored terminals of a scope with the same conditions, as one terminal; or the newline inside of brackets."""

    scope: int
    around: Conditions = ANYWHERE
    newline: bool = False


@dataclass(frozen=True)
class Mark:
    """What the indenter puts behind a newline, where a rule of `scope` uses it."""

    kind: str
    scope: int


Symbol: TypeAlias = Occurrence | TokenOccurrence | Mark | str
Target: TypeAlias = Occurrence | NewValue | Skip


@dataclass(frozen=True, eq=False)
class Production:
    head: str
    body: tuple[Symbol, ...]
    opens_set: grammar.SetBounds | None = None
    max_tokens: float = inf


class Item(NamedTuple):
    """A production read up to `dot`, begun at the set `origin` (None: at the very set that holds the item).

    may_skip: whether ignored text may still stand before the next symbol.
    entered, seen: the values of the open set where the production began, and now.
    deadline: when so many tokens of the text have ended, it takes no more bytes.
    """

    production: Production
    dot: int
    origin: ItemSet | None
    may_skip: bool
    entered: Seen = None
    seen: Seen = None
    deadline: float = inf

    @property
    def next(self) -> Symbol | None:
        body = self.production.body
        return body[self.dot] if self.dot < len(body) else None


@dataclass(frozen=True, eq=False)
class ItemSet:
    """An Earley set. `Parser` keeps one object per content.

    waiting  its items by the nonterminal they wait for
    kernel   those that it was made of
    clock    how many tokens had ended before it, where some rule has a limit; else 0
    """

    items: frozenset[Item]
    waiting: Mapping[str, set[Item]]
    kernel: frozenset[Item]
    may_skip: bool
    clock: int


# The set at which a lexeme began, what it was, and its text where that counts.
End: TypeAlias = tuple[ItemSet, Target | TokenOccurrence, bytes]
Ends: TypeAlias = frozenset[End]


class Surroundings(NamedTuple):
    """What the conditions of terminals have come to.

    past: for each condition on all that stands before a lexeme, what is left of it after the text so far.
    rest: what all that follows must be; None where it may be anything.
    """

    past: tuple[Residual, ...] = ()
    rest: Residual | None = None


class Lines(NamedTuple):
    """Indentation, as Lark's `Indenter` counts it.

    stack     the widths of the blocks around, outermost first
    brackets  how many are open
    width     of the line that the pending lexeme begins, as far as it has been read; None: none yet
    """

    stack: tuple[int, ...] = (0,)
    brackets: int = 0
    width: int | None = None


# Each terminal that a lexeme may become, with its residual.
Lexeme: TypeAlias = frozenset[tuple[Target, Residual]]


class Possibility(NamedTuple):
    """One reading of the text so far: the parser at the end of the last lexeme, and the lexeme since then.

    lexeme: each terminal that the pending lexeme may become, with its residual; empty between lexemes.
    text: its bytes, where some terminal that may come here is distinct and a set is open.
    tokens: how many tokens that have ended hold bytes of it, where some terminal of it has a limit.
    out: the terminals of it that can no longer be completed within theirs.
    clock: how many tokens of the text have ended, where some rule has a limit; else 0.
    """

    items: ItemSet
    lexeme: Lexeme
    text: bytes = b""
    around: Surroundings = Surroundings()
    tokens: int = 0
    out: frozenset[Target] = frozenset()
    lines: Lines = Lines()
    clock: int = 0

    def is_open(self) -> bool:
        """Whether some terminal is left that it may become."""
        return any(target not in self.out for target, _ in self.lexeme)


BETWEEN_LEXEMES: Lexeme = frozenset()


@dataclass(frozen=True)
class State:
    """Every reading of the text so far. Without any, the text was refused; `finished`: an end token came."""

    possibilities: frozenset[Possibility] = frozenset()
    finished: bool = False

    def __bool__(self) -> bool:
        return self.finished or bool(self.possibilities)


REFUSED = State()
FINISHED = State(finished=True)

_ACCEPT = "$accept"
# Texts that a search for the shortest looks at.
_MOST_SEARCHED = 2_000


class Oracle:
    """Recogniser and mask of one grammar over one vocabulary.

    tokens      bytes of each id; b"" for an id without text
    end_tokens  ids that end a text
    special     ids of the names that token sets use
    regexes     where residuals are made; oracles that share it share what they find out about them

    Raises ValueError if the grammar matches nothing, `Undecided` if a regex is too hard for this engine.
    """

    def __init__(
        self,
        ir: grammar.GrammarIR,
        tokens: Sequence[bytes] = (),
        end_tokens: Iterable[int] = (),
        special: Mapping[str, int] | None = None,
        regexes: Regexes | None = None,
    ) -> None:
        self.tokens = tokens
        self.end_tokens = frozenset(end_tokens)
        self._regexes = regexes or Regexes()
        self._complete_mode = ir.lexer == "complete"
        self._texts = {text for i, text in enumerate(tokens) if text and i not in self.end_tokens}
        # Without any, the oracle is driven by bytes.
        self._held = frozenset(b"".join(self._texts) or range(256))
        self._single_bytes = sorted(text[0] for text in self._texts if len(text) == 1)
        self._needed: dict[tuple[Target, Lexeme, bool], float] = {}
        self._counts = any(rule.max_tokens is not None for rule in ir.rules)
        translation = Translation(
            ir, self._regexes, tokens, self.end_tokens, special or {}, self._holds, self._alone, self._is_empty
        )
        self._cost = translation.cost
        self._parser = Parser(ir, translation.productions, translation.skips, self._regex, self._is_empty)
        self._befores = translation.befores
        self._skips = translation.skips
        self._tab_len = ir.indenter.tab_len if ir.indenter else 1
        self._fitting_lines: dict[Possibility, bool] = {}
        self._steps: dict[tuple[State, int], State] = {}
        self._open: dict[tuple[Possibility, int], bool] = {}
        self._goes_on: dict[frozenset[tuple[Target, Residual]], bool] = {}
        begin = Possibility(self._parser.initial, BETWEEN_LEXEMES, b"", Surroundings(self._befores))
        self.initial = State(frozenset({begin}))

    def _is_empty(self, residual: Residual) -> bool:
        """Whether no text matches that consists of bytes which tokens hold."""
        return self._regexes.is_empty(residual, self._held)

    # Bytes.

    def step_byte(self, state: State, byte: int) -> State:
        """The state after one more byte; false if no text of the language goes on so."""
        key = (state, byte)
        if key not in self._steps:
            self._steps[key] = State(frozenset(filter(self._is_open, self._step(state.possibilities, byte))))
        return self._steps[key]

    def step_bytes(self, state: State, data: bytes) -> State:
        for byte in data:
            state = self.step_byte(state, byte)
        return state

    def _step(self, possibilities: Iterable[Possibility], byte: int) -> Iterable[Possibility]:
        return (
            self._step_complete(possibilities, byte) if self._complete_mode else self._step_longest(possibilities, byte)
        )

    def _step_longest(self, possibilities: Iterable[Possibility], byte: int) -> Iterable[Possibility]:
        for at in possibilities:
            readings = [self._longer(at if at.lexeme else self._begun(at), byte)]
            if not readings[0] and at.lexeme:
                readings = [self._longer(self._begun(boundary), byte) for boundary in self._end_lexeme(at)]
            fitting = (reading for reading in readings if reading and self._line_fits(reading))
            yield from (after for reading in fitting for after in self._with_around(reading, byte))

    def _with_around(self, at: Possibility, byte: int) -> Iterable[Possibility]:
        around = self._around_after(at.around, byte)
        if around:
            yield at._replace(around=around)

    def _longer(self, at: Possibility, byte: int) -> Possibility | None:
        """The lexeme after one more byte, if some terminal can take it."""
        used_up = {target for target, _ in at.lexeme if _limit(target) is not None and _limit(target) == at.tokens}
        in_time = ((target, residual) for target, residual in at.lexeme if _deadline(target) > at.clock)
        lexeme = self._without_late(self._taken(in_time, byte))
        out = (at.out | used_up) & {target for target, _ in lexeme}
        lines = at.lines._replace(width=self._width(at.lines.width, byte) if _newline_in(lexeme) else None)
        longer = at._replace(lexeme=lexeme, text=self._tracked(at.items, at.text, byte), out=out, lines=lines)
        return longer if longer.is_open() else None

    def _begun(self, at: Possibility) -> Possibility:
        """Before the first byte of a lexeme."""
        lexeme = self._live(at)
        out = frozenset(target for target, _ in lexeme if self._runs_out(target, lexeme, _limit(target), fresh=True))
        return at._replace(lexeme=lexeme, out=out)

    def _end_token(self, state: State) -> State:
        """After the last byte of a token."""
        after = frozenset(after for after in map(self._counted, state.possibilities) if after)
        return State(after) if any(map(self._fits, after)) else REFUSED

    def _counted(self, at: Possibility) -> Possibility | None:
        if self._counts:
            later = at.clock + 1
            at = at._replace(clock=later, items=at.items if at.lexeme else self._parser.later(at.items, later))
            if not at.lexeme and not self._is_open(at):
                return None
        if all(_limit(target) is None for target, _ in at.lexeme):
            return at if self._may_go_on(at) else None
        tokens = at.tokens + 1
        limits = {target: _limit(target) for target, _ in at.lexeme}
        left = {target: None if limit is None else limit - tokens for target, limit in limits.items()}
        out = at.out | {target for target in left if self._runs_out(target, at.lexeme, left[target])}
        after = at._replace(tokens=tokens, out=out)
        return after if after.is_open() and self._may_go_on(after) else None

    def _may_go_on(self, at: Possibility) -> bool:
        """Whether a lexeme may take another byte, or something may follow it. A newline's width may fit nowhere."""
        in_time = (_deadline(target) > at.clock and _limit(target) != at.tokens for target, _ in at.lexeme)
        if not at.lexeme or any(in_time):
            return True
        return self._complete_mode or any(map(self._is_open, self._end_lexeme(at)))

    def _fits(self, at: Possibility) -> bool:
        """Whether all rules around some terminal can be closed in time, each terminal by its closing text."""
        if not self._counts:
            return True
        if not at.lexeme and any(map(self._parser.accepts, self._ends_lines(at))):
            return True
        in_time = frozenset(reading for reading in at.lexeme if _deadline(reading[0]) > at.clock)
        if at.lexeme and not self._complete_mode and not self._lexeme_goes_on(in_time):
            return any(map(self._fits, self._end_lexeme(at)))
        begun = at if at.lexeme else self._begun(at)
        lexeme, parser, items = begun.lexeme, self._parser, at.items
        for target, _ in lexeme:
            if target in begun.out:
                continue
            tokens = self._tokens_to_close(target, lexeme, fresh=not at.lexeme)
            if isinstance(target, Skip):
                kept = parser.skippable(items, target.scope)
                if any(item.next is None for item in kept):
                    return True
                if any(self._closes(i, items, at.clock + tokens + self._cost(i.production.body[i.dot])) for i in kept):
                    return True
            elif any(self._closes(i, items, at.clock + tokens) for i in parser.waiting_for(items, target)):
                return True
        marks = () if at.lexeme else (i for i in items.items if isinstance(i.next, Mark))
        if any(self._closes(item, items, at.clock) for item in marks):
            return True
        named = () if at.lexeme else parser.token_sets(items)
        return any(self._closes(i, items, at.clock + 1) for t in named for i in parser.waiting_for(items, t))

    def _closes(self, item: Item, items: ItemSet, clock: float) -> bool:
        """Whether all rules around an item can be closed in time, with the item behind its next symbol at a time."""
        last = self._parser.latest(item, items, self._cost)
        return last == inf or clock + sum(map(self._cost, item.production.body[item.dot + 1 :])) <= last

    def _alone(self, occurrence: Occurrence) -> float:
        """How many tokens the closing text of a terminal has."""
        return self._tokens_to_close(occurrence, frozenset({(occurrence, occurrence.regex)}), fresh=True)

    def _holds(self, occurrence: Occurrence) -> bool:
        """Whether its limit is large enough for some text of a terminal."""
        lexeme = frozenset({(occurrence, occurrence.regex)})
        return not self._runs_out(occurrence, lexeme, occurrence.max_tokens, fresh=True)

    def _runs_out(self, target: Target, lexeme: Lexeme, left: int | None, *, fresh: bool = False) -> bool:
        """Whether so many tokens do not spell the text that completes a terminal. `fresh`: before its first byte."""
        return left is not None and self._tokens_to_close(target, lexeme, fresh=fresh) > left

    def _tokens_to_close(self, target: Target, lexeme: Lexeme, *, fresh: bool) -> float:
        if self._complete_mode:  # no terminal rules out another
            lexeme = frozenset(reading for reading in lexeme if reading[0] == target)
        key = (target, lexeme, fresh)
        if key not in self._needed:
            text = self._completing(target, lexeme, fresh=fresh)
            self._needed[key] = inf if text is None else self._fewest_tokens(text)
        return self._needed[key]

    def _completing(self, target: Target, lexeme: Lexeme, *, fresh: bool) -> bytes | None:
        """The shortest text that completes a terminal, the smallest of the shortest, out of bytes that are tokens."""
        if not fresh and self._completes(target, lexeme):
            return b""
        waiting, seen = [(b"", lexeme)], {lexeme}
        for text, at in waiting:
            for byte in self._single_bytes:
                after = self._without_late(self._taken(at, byte))
                if self._completes(target, after):
                    return text + bytes([byte])
                if len(seen) > _MOST_SEARCHED:
                    raise Undecided
                if after not in seen and target in {name for name, _ in after}:
                    seen.add(after)
                    waiting.append((text + bytes([byte]), after))
        return None

    def _completes(self, target: Target, lexeme: Lexeme) -> bool:
        return any(name == target and self._regexes.nullable(residual) for name, residual in lexeme)

    def _fewest_tokens(self, text: bytes) -> float:
        best = [0.0] + [inf] * len(text)
        for end in range(1, len(text) + 1):
            starts = (start for start in range(end) if text[start:end] in self._texts)
            best[end] = min((best[start] + 1 for start in starts), default=inf)
        return best[-1]

    def _step_complete(self, possibilities: Iterable[Possibility], byte: int) -> Iterable[Possibility]:
        ends: dict[Surroundings, set[End]] = {}
        for at in possibilities:
            around = self._around_after(at.around, byte)
            if not around:
                continue
            begun = at if at.lexeme else self._begun(at)
            for reading in begun.lexeme:
                longer = self._longer(begun._replace(lexeme=frozenset({reading}), out=begun.out & {reading[0]}), byte)
                if not longer:
                    continue
                yield longer._replace(around=around)
                [(target, residual)] = longer.lexeme
                demanded = self._demand(around, [_conditions(target).after], [])
                if self._regexes.nullable(residual) and demanded:
                    ends.setdefault(demanded, set()).add((at.items, target, longer.text))
        for demanded, ended in ends.items():
            [clock] = {at.clock for at in possibilities}
            items = self._parser.scan(frozenset(ended), clock)
            yield Possibility(items, BETWEEN_LEXEMES, b"", demanded, clock=clock)

    def _tracked(self, items: ItemSet, text: bytes, byte: int) -> bytes:
        """The text of a lexeme after a byte, where its value may count."""
        tracks = any(isinstance(target, NewValue) for target in self._parser.expected(items))
        return text + bytes([byte]) if tracks else b""

    def _taken(self, lexeme: Iterable[tuple[Target, Residual]], byte: int) -> Lexeme:
        """What is left of a lexeme after a byte: the terminals that it may still become."""
        open_ones = [(target, residual) for target, residual in lexeme if not self._ends_here(target, residual)]
        after = ((target, self._regexes.derivative(residual, byte)) for target, residual in open_ones)
        return frozenset((target, residual) for target, residual in after if not self._is_empty(residual))

    def _ends_here(self, target: Target, residual: Residual) -> bool:
        """Whether the lexeme ends here because a lazy terminal is complete."""
        occurrence = target.occurrence if isinstance(target, NewValue) else target
        return isinstance(occurrence, Occurrence) and occurrence.lazy and self._regexes.nullable(residual)

    def _without_late(self, lexeme: Lexeme) -> Lexeme:
        """The terminals that a lexeme may become: where lazy ones are complete, those."""
        return frozenset(reading for reading in lexeme if self._ends_here(*reading)) or lexeme

    def _live(self, at: Possibility) -> Lexeme:
        """The terminals that may begin here, none of them read yet."""
        expected = (target for target in self._parser.expected(at.items) if self._may_begin(target, at.around))
        return frozenset((target, self._regex(target)) for target in expected if _may_stand(target, at.lines))

    def _regex(self, target: Target) -> Residual:
        match target:
            case Skip():
                return self._skips[target]
            case NewValue(occurrence, seen) if seen.copied is not None:
                return self._regexes.intersection(occurrence.regex, self._spelled(seen.copied))
            case NewValue(occurrence, seen):
                new = self._regexes.intersection(occurrence.regex, self._regexes.complement(self._spelled(seen.taken)))
                return new if seen.has_room else self._regexes.intersection(new, self._spelled(seen.missing))
        return target.regex

    def _spelled(self, values: Iterable[Value]) -> Residual:
        scalars = [value for value in values if value[0] not in ("array", "object")]
        return self._regexes.alternation(*(self._regexes.lower(spellings(value)) for value in scalars))

    def _end_lexeme(self, at: Possibility) -> list[Possibility]:
        """Longest match: the readings after the pending lexeme, if it is complete in some terminal.

        There is one for each way in which the conditions on what follows may hold or fail.
        """
        within = [(target, residual) for target, residual in at.lexeme if target not in at.out]
        complete = [target for target, residual in within if self._regexes.nullable(residual)]
        afters = sorted({_conditions(target).after for target in complete} - {None}, key=id)
        found: list[Possibility] = []
        for outcome in product((True, False), repeat=len(afters)):
            holding = {after for after, holds in zip(afters, outcome, strict=True) if holds}
            around = self._demand(at.around, holding, set(afters) - holding)
            chosen = [target for target in complete if _conditions(target).after in {None, *holding}]
            if around and chosen:
                highest = max(map(_priority, chosen))
                ends = frozenset((at.items, target, at.text) for target in chosen if _priority(target) == highest)
                found += self._scanned_by_role(at, ends, around)
        return found

    def _ends(self, state: State) -> list[Possibility]:
        """Each reading that may end here, at the end of its last lexeme."""
        between = [reading for reading in state.possibilities if not reading.lexeme]
        if self._complete_mode:  # lexemes that may end here have been ended already
            return between
        return between + [end for reading in state.possibilities if reading.lexeme for end in self._end_lexeme(reading)]

    # Indentation.

    def _width(self, width: int | None, byte: int) -> int | None:
        """The width of the line that a newline begins, after one more byte of it."""
        if byte == ord("\n"):
            return 0
        columns = {ord(" "): 1, ord("\t"): self._tab_len}.get(byte)
        return None if width is None or columns is None else width + columns

    def _scanned_by_role(self, at: Possibility, ends: Ends, around: Surroundings) -> Iterable[Possibility]:
        """After a lexeme: a reading for each role that it may have had."""
        for role in sorted({_role(target) for _, target, _ in ends}):
            same = frozenset(end for end in ends if _role(end[1]) == role)
            for items, after in self._after_role(role, self._parser.scan(same, at.clock), at.lines):
                yield Possibility(items, BETWEEN_LEXEMES, b"", around, lines=after, clock=at.clock)

    def _after_role(self, role: str, items: ItemSet, lines: Lines) -> list[tuple[ItemSet, Lines]]:
        """What a role makes of the parser and the lines; nothing where it must not come."""
        stack, brackets, width = lines
        if role == "open":
            return [(items, Lines(stack, brackets + 1))]
        if role == "close":
            return [(items, Lines(stack, brackets - 1))] if brackets else []
        if role != "newline":
            return [(items, Lines(stack, brackets))]
        if width is None:
            return []
        if width > stack[-1]:
            return [(after, Lines((*stack, width))) for after in self._parser.marked(items, "indent")]
        after = [items]
        while width < stack[-1]:
            stack, after = stack[:-1], [more for one in after for more in self._parser.marked(one, "dedent")]
        return [(one, Lines(stack)) for one in after] if width == stack[-1] else []

    def _line_fits(self, at: Possibility) -> bool:
        """Whether a lexeme that can be nothing but a newline may still begin a line that fits."""
        if not at.lexeme or {_role(target) for target, _ in at.lexeme} != {"newline"}:
            return True
        if at not in self._fitting_lines:
            self._fitting_lines[at] = self._some_line_fits(at)
        return self._fitting_lines[at]

    def _some_line_fits(self, at: Possibility) -> bool:
        [(target, residual)] = at.lexeme
        items, stack = self._parser.scan(frozenset({(at.items, target, b"")}), at.clock), at.lines.stack
        widths = [w for w in (*stack, stack[-1] + 1) if self._after_role("newline", items, Lines(stack, 0, w))]
        beyond = stack[-1] + 1  # as good as any larger width
        waiting = [(residual, at.lines.width if at.lines.width is None else min(at.lines.width, beyond))]
        seen = set(waiting)
        for regex, width in waiting:
            if self._regexes.nullable(regex) and width in widths:
                return True
            for byte in range(256):
                after = self._regexes.derivative(regex, byte)
                wider = self._width(width, byte)
                place = (after, wider if wider is None else min(wider, beyond))
                if place not in seen and not self._is_empty(after):
                    seen.add(place)
                    waiting.append(place)
        return False

    def _ends_lines(self, at: Possibility) -> list[ItemSet]:
        """The parser at the end of the text, where all blocks end."""
        items = [at.items]
        for _ in at.lines.stack[1:]:
            items = [more for one in items for more in self._parser.marked(one, "dedent")]
        return items

    # What stands around lexemes.

    def _around_after(self, around: Surroundings, byte: int) -> Surroundings | None:
        """The surroundings after one more byte; None if what had to follow does not."""
        past = tuple(self._regexes.derivative(condition, byte) for condition in around.past)
        if around.rest is None:
            return Surroundings(past)
        return self._with_rest(past, self._regexes.derivative(around.rest, byte))

    def _demand(
        self, around: Surroundings, met: Iterable[Residual | None], failed: Iterable[Residual | None]
    ) -> Surroundings | None:
        """The same where what follows must also meet some conditions, and fail others; None if nothing does."""
        rest = around.rest
        for condition in [*met, *(self._regexes.complement(after) for after in failed if after)]:
            if condition is not None:
                rest = self._regexes.intersection(self._regexes.any_text if rest is None else rest, condition)
        return around if rest is None else self._with_rest(around.past, rest)

    def _with_rest(self, past: tuple[Residual, ...], rest: Residual) -> Surroundings | None:
        regexes = self._regexes
        if self._is_empty(rest):
            return None
        anything = self._is_empty(regexes.intersection(regexes.any_text, regexes.complement(rest)))
        return Surroundings(past, None if anything else rest)

    def _may_begin(self, target: Target, around: Surroundings) -> bool:
        before = _conditions(target).before
        return before is None or self._regexes.nullable(around.past[self._befores.index(before)])

    def _is_open(self, at: Possibility, bytes_left: int = 4) -> bool:
        """Whether the conditions leave the reading a way on, as far as the next character can tell."""
        key = at, bytes_left
        if key not in self._open:
            self._open[key] = bytes_left == 0 or self._is_settled(at) or self._goes_further(at, bytes_left)
        return self._open[key]

    def _is_settled(self, at: Possibility) -> bool:
        """Whether no condition says anything here."""
        if at.around.rest is not None:
            return False
        if at.lexeme:
            return self._lexeme_goes_on(at.lexeme)
        return all(self._may_begin(target, at.around) for target in self._parser.expected(at.items))

    def _goes_further(self, at: Possibility, bytes_left: int) -> bool:
        if at.lexeme and not self._complete_mode and not self._lexeme_goes_on(at.lexeme):
            return any(self._is_open(ended, bytes_left) for ended in self._end_lexeme(at))
        state = State(frozenset({at}))
        if self.is_accepting(state) or any(self._parser.token_sets(end.items) for end in self._ends(state)):
            return True
        following = (reading for byte in range(256) for reading in self._step([at], byte))
        return any(self._is_open(reading, bytes_left - 1) for reading in following)

    def _lexeme_goes_on(self, lexeme: Lexeme) -> bool:
        if lexeme not in self._goes_on:
            self._goes_on[lexeme] = any(self._taken(lexeme, byte) for byte in range(256))
        return self._goes_on[lexeme]

    # Tokens.

    def step_token(self, state: State, token: int) -> State:
        """The state after one more token; false if it is refused."""
        if not 0 <= token < len(self.tokens):
            return REFUSED
        if state.finished:
            return state if token in self.end_tokens else REFUSED
        named = self._step_named(state, token)
        if token in self.end_tokens:
            return named or (FINISHED if self.is_accepting(state) else REFUSED)
        data = self.tokens[token]
        spelled = self._end_token(self.step_bytes(state, data)) if data else REFUSED
        return State(named.possibilities | spelled.possibilities)

    def _step_named(self, state: State, token: int) -> State:
        """The token as a symbol of the grammar."""
        # Complete mode has one parser for all readings that end here, longest match one for each reading.
        groups: dict[tuple[Surroundings, Lines, ItemSet | None], set[End]] = {}
        for at in self._ends(state):
            for tokens in self._parser.token_sets(at.items):
                if token in tokens.ids:
                    key = at.around, at.lines, None if self._complete_mode else at.items
                    groups.setdefault(key, set()).add((at.items, tokens, b""))
        clock = max((at.clock for at in state.possibilities), default=0) + (1 if self._counts else 0)
        readings = [
            Possibility(
                self._parser.scan(frozenset(ends), clock), BETWEEN_LEXEMES, b"", around, lines=lines, clock=clock
            )
            for (around, lines, _), ends in groups.items()
        ]
        after = frozenset(filter(self._is_open, readings))
        return State(after) if any(map(self._fits, after)) else REFUSED

    def is_accepting(self, state: State) -> bool:
        """Whether the text so far is in the language."""
        return state.finished or any(
            self._parser.accepts(items) and (end.around.rest is None or self._regexes.nullable(end.around.rest))
            for end in self._ends(state)
            for items in self._ends_lines(end)
        )

    def mask(self, state: State) -> set[int]:
        """The tokens that may come next. One step per token."""
        return {token for token in range(len(self.tokens)) if self.step_token(state, token)}

    def accepts(self, data: bytes) -> bool:
        """Whether the bytes are a text of the language."""
        return self.is_accepting(self.step_bytes(self.initial, data))

    def is_prefix(self, data: bytes) -> bool:
        """Whether lexer and parser can take the bytes (complete mode: whether a text of the language starts so)."""
        return bool(self.step_bytes(self.initial, data))


def _conditions(target: Target) -> Conditions:
    return target.occurrence.around if isinstance(target, NewValue) else target.around


def _limit(target: Target) -> int | None:
    return target.max_tokens if isinstance(target, Occurrence) else None


def _deadline(target: Target) -> float:
    match target:
        case Occurrence(deadline=deadline) | NewValue(Occurrence(deadline=deadline)):
            return deadline
    return inf


def _role(target: Target | TokenOccurrence) -> str:
    match target:
        case Occurrence(role=role) | NewValue(Occurrence(role=role)):
            return role
    return ""


def _newline_in(lexeme: Lexeme) -> bool:
    return any(_role(target) == "newline" for target, _ in lexeme)


def _may_stand(target: Target, lines: Lines) -> bool:
    """Whether brackets, open or not, leave room for a terminal."""
    if isinstance(target, Skip):
        return lines.brackets > 0 or not target.newline
    return {"newline": lines.brackets == 0, "close": lines.brackets > 0}.get(_role(target), True)


def _priority(target: Target) -> int:
    match target:
        case Occurrence(priority=priority) | NewValue(Occurrence(priority=priority)):
            return priority
    return 0


def value_of(text: bytes) -> Value:
    """The scalar that a lexeme of JSON or YAML spells, or a key of YAML, which ends with its colon."""
    text = text.removesuffix(b":")
    try:
        value = json.loads(text, parse_int=Decimal, parse_float=Decimal, parse_constant=str)
    except ValueError:
        value = text.decode()  # a string without quotes
    return type(value).__name__, value


def spellings(value: Value) -> tree.RegexTree:
    """Every way to write a scalar, exponents aside."""
    match value:
        case "str", str(decoded):
            quoted = tree.JsonString(tree.text(decoded))
            is_plain = value_of(decoded.encode()) == value
            written = tree.Alternation((quoted, tree.text(decoded))) if is_plain else quoted
            return tree.Concatenation((written, tree.Repetition(tree.text(":"), 0, 1)))
        case "Decimal", Decimal() as number:
            digits = format(abs(number), "f")
            whole, _, fraction = digits.partition(".")
            fraction = fraction.rstrip("0")
            zeros = tree.Repetition(tree.text("0"), 0, None)
            point = tree.Concatenation((tree.text("."), tree.text("0"), zeros))
            end = tree.Concatenation((tree.text(f".{fraction}"), zeros)) if fraction else tree.Repetition(point, 0, 1)
            sign = tree.Repetition(tree.text("-"), int(number < 0), int(number <= 0))
            return tree.Concatenation((sign, tree.text(whole), end))
    return tree.text(json.dumps(value[1]))


class Translation:
    """`productions`: the rules of an IR as plain productions, without those that derive no finite text.

    Repetitions are spelled out; a terminal that matches the empty text becomes a choice of itself and nothing.
    `befores`: the conditions on what stands before a terminal. `skips`: what each scope ignores.
    """

    def __init__(
        self,
        ir: grammar.GrammarIR,
        regexes: Regexes,
        tokens: Sequence[bytes],
        end_tokens: frozenset[int],
        special: Mapping[str, int],
        holds: Callable[[Occurrence], bool],
        alone: Callable[[Occurrence], float],
        is_empty: Callable[[Residual], bool],
    ) -> None:
        self._regexes = regexes
        self._is_empty = is_empty
        self._holds = holds
        self._alone = alone
        self._costs: dict[str, float] = {}
        self._tokens = tokens
        self._n_vocab = len(tokens)
        self._end_tokens = end_tokens
        self._special = special
        self._written: list[Production] = []
        self._made = 0
        self.befores: tuple[Residual, ...] = ()
        self.skips: dict[Skip, Residual] = {}
        for scope, declared in enumerate(ir.scopes):
            for terminal in declared.ignore:
                skip = Skip(scope, self._conditions(terminal))
                known = self.skips.get(skip, regexes.nothing)
                self.skips[skip] = regexes.alternation(known, regexes.lower(terminal.regex))
        if ir.indenter:
            self.skips[Skip(ir.indenter.scope, newline=True)] = regexes.lower(ir.indenter.newline.regex)
        self._add(_ACCEPT, (ir.start,))
        for rule in ir.rules:
            limit = inf if rule.max_tokens is None else rule.max_tokens
            self._written.append(Production(rule.name, (self._symbol(rule.body, rule.scope),), rule.opens_set, limit))
        if any(production.max_tokens < inf for production in self._written):
            self._find_costs()
            self._written = [p for p in self._written if p.max_tokens == inf or p.head in self._costs]
        self.productions = self._productive()

    def _add(self, head: str, body: tuple[Symbol, ...]) -> None:
        self._written.append(Production(head, body))

    def _choice(self, *bodies: tuple[Symbol, ...]) -> str:
        self._made += 1
        head = f"${self._made}"
        for body in bodies:
            self._add(head, body)
        return head

    def _symbol(self, expr: grammar.Expr, scope: int) -> Symbol:
        match expr:
            case grammar.Terminal():
                return self._terminal(expr, scope)
            case grammar.TokenSet(kind="indent" | "dedent" as kind):
                return Mark(kind, scope)
            case grammar.TokenSet():
                return TokenOccurrence(self._ids(expr), scope)
            case grammar.RuleRef(name):
                return name
            case grammar.Sequence(parts):
                return self._choice(tuple(self._symbol(part, scope) for part in parts))
            case grammar.Choice(parts):
                return self._choice(*((self._symbol(part, scope),) for part in parts))
            case grammar.Repeat(body, minimum, maximum):
                return self._repeat(self._symbol(body, scope), minimum, maximum)
        raise TypeError(expr)

    def _terminal(self, terminal: grammar.Terminal, scope: int) -> Symbol:
        regex, around = self._regexes.lower(terminal.regex), self._conditions(terminal)
        flags = (terminal.distinct, terminal.closes_set, terminal.lazy)
        occurrence = Occurrence(regex, terminal.priority, scope, *flags, around, terminal.max_tokens, terminal.role)
        if around != ANYWHERE or not self._regexes.nullable(regex):
            return occurrence
        return self._choice(()) if terminal.lazy else self._choice((), (occurrence,))

    def _conditions(self, terminal: grammar.Terminal) -> Conditions:
        before, after = (self._regexes.lower(tree) if tree else None for tree in (terminal.before, terminal.after))
        if before and before not in self.befores:
            self.befores += (before,)
        return Conditions(before, after)

    def _ids(self, token_set: grammar.TokenSet) -> frozenset[int]:
        named = {self._special[name] for name in token_set.names}
        named |= {id_ for low, high in token_set.ranges for id_ in range(low, high + 1) if id_ < self._n_vocab}
        if token_set.negated:
            named = set(range(self._n_vocab)) - named - self._end_tokens
        named |= {id_ for id_ in range(self._n_vocab) if self._is_of_kind(id_, token_set.kind)}
        return frozenset(named | self._end_tokens if token_set.end else named)

    def _is_of_kind(self, id_: int, kind: str) -> bool:
        if kind == "image":
            names = (name.lower() for name, named in self._special.items() if named == id_)
            return any("image" in re.split(r"[\W_]", name) or "img" in re.split(r"[\W_]", name) for name in names)
        text = self._tokens[id_].decode(errors="replace")
        is_text = bool(text) and "\ufffd" not in text and id_ not in self._end_tokens
        return is_text and (kind == "text" or (kind == "paragraph" and not {"\n", "\r"} & {*text}))

    def _repeat(self, body: Symbol, minimum: int, maximum: int | None) -> str:
        if maximum is None:
            more = self._choice(())
            self._add(more, (body, more))
        else:
            more = self._choice(())
            for _ in range(maximum - minimum):
                more = self._choice((), (body, more))
        return self._choice((body,) * minimum + (more,))

    def cost(self, symbol: Symbol) -> float:
        """How many tokens close a symbol, each terminal by its closing text."""
        match symbol:
            case Occurrence() as occurrence:
                return self._alone(replace(occurrence, deadline=inf)) if self._derives(occurrence, set()) else inf
            case TokenOccurrence(ids):
                return 1 if ids else inf
            case Mark():
                return 0
        return self._costs.get(symbol, inf)

    def _find_costs(self) -> None:
        changed = True
        while changed:
            changed = False
            for production in self._written:
                cost = sum(map(self.cost, production.body))
                if cost < self._costs.get(production.head, inf) and cost <= production.max_tokens:
                    self._costs[production.head] = cost
                    changed = True

    def _productive(self) -> list[Production]:
        """The productions that derive some finite text."""
        known: set[str] = set()
        while True:
            kept = [p for p in self._written if all(self._derives(symbol, known) for symbol in p.body)]
            found = {p.head for p in kept}
            if found == known:
                return kept
            known = found

    def _derives(self, symbol: Symbol, known: set[str]) -> bool:
        match symbol:
            case Occurrence(regex, around=around) as occurrence:
                if any(condition and self._is_empty(condition) for condition in (around.before, around.after)):
                    return False
                return self._holds(occurrence) and any(
                    not self._is_empty(self._regexes.derivative(regex, byte)) for byte in range(256)
                )
            case TokenOccurrence(ids):
                return bool(ids)
            case Mark():
                return True
        return symbol in known


class Parser:
    """Earley item sets as values: equal contents are one object, since a set's future depends on nothing else."""

    def __init__(
        self,
        ir: grammar.GrammarIR,
        productions: Iterable[Production],
        skips: Iterable[Skip],
        regex_of: Callable[[Target], Residual],
        is_empty: Callable[[Residual], bool],
    ) -> None:
        self._regex_of = regex_of
        self._is_empty = is_empty
        self._scopes = ir.scopes
        self._skips = tuple(skips)
        self._start_scope = next(rule.scope for rule in ir.rules if rule.name == ir.start)
        self._ignore_final = ir.ignore_final
        self._alternatives: dict[str, list[Production]] = {}
        for production in productions:
            self._alternatives.setdefault(production.head, []).append(production)
        if _ACCEPT not in self._alternatives:
            raise ValueError("the grammar matches nothing")
        self._empty = _derive(self._alternatives, set())
        within = {head: [p for p in ps if p.opens_set is None] for head, ps in self._alternatives.items()}
        self._plain = _derive(within, self._empty | _plain_terminals(self._alternatives))
        self._sets: dict[tuple[frozenset[Item], int], ItemSet] = {}
        self._scans: dict[tuple[Ends, int], ItemSet] = {}
        self._latest: dict[tuple[Item, ItemSet], float] = {}
        self._expected: dict[ItemSet, set[Target]] = {}
        start = {Item(p, 0, None, may_skip=ir.ignore_initial) for p in self._alternatives[_ACCEPT]}
        self.initial = self._closure(start, may_skip=ir.ignore_initial, clock=0)

    def scan(self, ends: Ends, clock: int) -> ItemSet:
        """The set after lexemes that all end here: which set each began at, and what it was."""
        if (ends, clock) not in self._scans:
            self._scans[ends, clock] = self._scan(ends, clock)
        return self._scans[ends, clock]

    def later(self, items: ItemSet, clock: int) -> ItemSet:
        """The set where a token ends: what begins there begins at this time."""
        return self._closure(items.kernel, may_skip=items.may_skip, clock=clock)

    def waiting_for(self, items: ItemSet, target: Target | TokenOccurrence) -> list[Item]:
        return [item for item in items.items if self._target(item, items) == target]

    def latest(self, item: Item, items: ItemSet, cost: Callable[[Symbol], float]) -> float:
        """The last time at which the production of an item may end, so that the rules around it can still be closed."""
        if (item, items) not in self._latest:
            self._find_latest(item, items, cost)
        return self._latest[item, items]

    def _find_latest(self, item: Item, items: ItemSet, cost: Callable[[Symbol], float]) -> None:
        """Those of all items around it, until nothing changes."""
        places = [(item, items)]
        for at, where in places:
            places += [place for place in self._callers(at, where) if place not in places]
        found = dict.fromkeys(places, -inf)
        changed = True
        while changed:
            changed = False
            for at, where in places:
                ends = [
                    inf if around.deadline == inf else found[around, there] - sum(map(cost, _rest(around)))
                    for around, there in self._callers(at, where)
                ]
                last = min(at.deadline, max(ends, default=inf if at.production.head == _ACCEPT else -inf))
                changed |= last != found[at, where]
                found[at, where] = last
        self._latest |= found

    def _callers(self, item: Item, items: ItemSet) -> list[tuple[Item, ItemSet]]:
        origin = item.origin or items
        waiting = origin.waiting.get(item.production.head, ())
        return [
            (caller, origin) for caller in waiting if _called(caller, item.production, origin.clock) == item.deadline
        ]

    def _scan(self, ends: Ends, clock: int) -> ItemSet:
        moved: set[Item] = set()
        kept: set[Item] = set()
        for items, target, text in ends:
            if isinstance(target, Skip):
                once = self._scopes[target.scope].ignore_once
                kept |= {_begun(i, items)._replace(may_skip=not once) for i in self.skippable(items, target.scope)}
            else:
                matched = {_begun(i, items)._replace(dot=i.dot + 1) for i in self.waiting_for(items, target)}
                if isinstance(target, NewValue):
                    seen = target.seen.and_then(value_of(text))
                    matched = {item._replace(seen=seen) for item in matched}
                moved |= matched
        moved = {item._replace(may_skip=True) for item in moved}
        return self._closure(moved | kept, may_skip=True, clock=clock)

    def expected(self, items: ItemSet) -> set[Target]:
        """The terminals that may come next, and the skips of their scopes."""
        if items not in self._expected:
            targets = {self._target(item, items) for item in items.items}
            terminals = {t for t in targets if isinstance(t, Occurrence | NewValue)}
            skips = {skip for skip in self._skips if self.skippable(items, skip.scope)}
            self._expected[items] = terminals | skips
        return self._expected[items]

    def _target(self, item: Item, items: ItemSet) -> Target | TokenOccurrence | None:
        """What the item takes next, if that is no nonterminal, something may follow it, and there is time left."""
        if item.deadline <= items.clock:
            return None
        symbol = item.next
        if isinstance(symbol, Occurrence) and (symbol.max_tokens or 0) > item.deadline - items.clock:
            symbol = replace(symbol, max_tokens=None)
        if isinstance(symbol, Occurrence | TokenOccurrence):
            symbol = replace(symbol, deadline=item.deadline)
        match symbol:
            case Occurrence(distinct=True) as occurrence if item.seen is not None:
                value = NewValue(occurrence, item.seen)
                return None if self._is_empty(self._regex_of(value)) else value
            case Occurrence(closes_set=True) if item.seen is not None and not self._may_close(item, items):
                return None
            case Occurrence() as occurrence if item.seen is not None:
                return occurrence if self._may_go_on(item, items, set()) else None
            case Occurrence() | TokenOccurrence() as symbol:
                return symbol
        return None

    def _may_close(self, item: Item, items: ItemSet) -> bool:
        """Whether the open set may be closed, and the one around it may have what it comes to, if that is a value."""
        assert item.seen is not None
        return item.seen.may_close and (item.seen.result is None or self._may_end(item, items, set()))

    def _may_end(self, item: Item, items: ItemSet, known: set[tuple[Item, ItemSet]]) -> bool:
        """Whether, once the rest of the production is there, some set around the one that is open takes its value."""
        if (item, items) in known or not all(symbol in self._empty for symbol in _rest(item)):
            return False
        known.add((item, items))
        for caller, where in self._callers(item, items):
            if item.production.opens_set is not None:
                if _after_set(caller.seen, item.seen) is not _REFUSED:
                    return True
            elif caller.seen == item.entered and self._may_end(caller._replace(seen=item.seen), where, known):
                return True
        return item.production.head == _ACCEPT

    def _may_go_on(self, item: Item, items: ItemSet, known: set[tuple[Item, ItemSet]]) -> bool:
        """Whether something that the register looks at may come behind the item's next symbol, or the set may end.

        What it does not look at is passed by, in the rest of the production and in those around it.
        """
        assert item.seen is not None
        if (item, items) in known:
            return False
        known.add((item, items))
        if self._may_start(_rest(item), item.seen, set()):
            return True
        if not all(symbol in self._plain for symbol in _rest(item)):
            return False
        if item.production.head == _ACCEPT or item.production.opens_set is not None:
            return True
        return any(
            caller.seen == item.entered and self._may_go_on(caller._replace(seen=item.seen), where, known)
            for caller, where in self._callers(item, items)
        )

    def _may_start(self, body: tuple[Symbol, ...], seen: Register, called: set[str]) -> bool:
        for symbol in body:
            if self._symbol_may_start(symbol, seen, called):
                return True
            if symbol not in self._plain:
                return False
        return False

    def _symbol_may_start(self, symbol: Symbol, seen: Register, called: set[str]) -> bool:
        match symbol:
            case Occurrence(distinct=True) as occurrence:
                return not self._is_empty(self._regex_of(NewValue(occurrence, seen)))
            case Occurrence(closes_set=True):
                return seen.may_close
            case str(head) if head in called:
                return False
            case str(head):
                called.add(head)
                return any(
                    self._may_start(p.body, seen, called) if p.opens_set is None else seen.may_open(p.opens_set)
                    for p in self._alternatives.get(head, [])
                )
        return symbol not in self._plain

    def token_sets(self, items: ItemSet) -> set[TokenOccurrence]:
        targets = (self._target(item, items) for item in items.items)
        return {target for target in targets if isinstance(target, TokenOccurrence)}

    def marked(self, items: ItemSet, kind: str) -> list[ItemSet]:
        """The set after what the indenter puts there; none where no item waits for it."""
        moved = {i for i in items.items if isinstance(i.next, Mark) and i.next.kind == kind}
        after = {_begun(item, items)._replace(dot=item.dot + 1, may_skip=True) for item in moved}
        return [self._closure(after, may_skip=True, clock=items.clock)] if after else []

    def accepts(self, items: ItemSet) -> bool:
        return any(i.production.head == _ACCEPT and i.next is None for i in items.items)

    def skippable(self, items: ItemSet, scope: int) -> set[Item]:
        """The items that ignored text of the scope may precede: those it keeps."""
        return {i for i in items.items if i.may_skip and self._gap_scope(i, items) == scope}

    def _gap_scope(self, item: Item, items: ItemSet) -> int | None:
        """The scope whose ignored text may stand before the item's next symbol (or the end of the text)."""
        if isinstance(item.next, Mark):
            return item.next.scope
        if isinstance(item.next, Occurrence | TokenOccurrence):
            return item.next.scope if self._target(item, items) else None
        if item.production.head == _ACCEPT and item.next is None and self._ignore_final:
            return self._start_scope
        return None

    def _closure(self, items: Iterable[Item], *, may_skip: bool, clock: int) -> ItemSet:
        """Predict and complete until nothing is new."""
        known: set[Item] = set()
        waiting: dict[str, set[Item]] = {}
        empty: set[str] = set()  # what was found to derive the empty text here
        kernel = frozenset(items)
        new = list(kernel)
        while new:
            item = new.pop()
            if item in known:
                continue
            known.add(item)
            if isinstance(item.next, str):
                called = [p for p in self._alternatives.get(item.next, []) if _may_call(item.seen, p)]
                new += [_predicted(item, p, may_skip, clock) for p in called]
                waiting.setdefault(item.next, set()).add(item)
                if item.next in empty:
                    new.append(_over(item, None, may_skip, item.seen))
            elif item.next is None:
                head = item.production.head
                if item.origin is None:
                    empty.add(head)
                callers = waiting if item.origin is None else item.origin.waiting
                began = clock if item.origin is None else item.origin.clock
                for caller in callers.get(head, ()):
                    if _called(caller, item.production, began) != item.deadline:
                        continue
                    if item.production.opens_set is not None:
                        after = _after_set(caller.seen, item.seen)
                        if after is not _REFUSED:
                            new.append(_over(caller, item.origin, may_skip, after))
                    elif caller.seen == item.entered:
                        new.append(_over(caller, item.origin, may_skip, item.seen))
        content = frozenset(known)
        return self._sets.setdefault((content, clock), ItemSet(content, waiting, kernel, may_skip, clock))


def _derive(alternatives: Mapping[str, Iterable[Production]], known: set[Symbol]) -> set[Symbol]:
    """The symbols, and the nonterminals that derive a text of those alone, or the empty one."""
    while True:
        found = known | {head for head, ps in alternatives.items() if any(all(s in known for s in p.body) for p in ps)}
        if found == known:
            return known
        known = found


def _plain_terminals(alternatives: Mapping[str, Iterable[Production]]) -> set[Symbol]:
    """Those that no register looks at."""
    symbols = {symbol for productions in alternatives.values() for p in productions for symbol in p.body}
    return {s for s in symbols if isinstance(s, Occurrence) and not s.distinct and not s.closes_set}


def _called(caller: Item, production: Production, clock: int) -> float:
    """The deadline of a production that the caller waits for, begun at a time."""
    return min(caller.deadline, clock + production.max_tokens)


def _rest(item: Item) -> tuple[Symbol, ...]:
    """What comes behind the item's next symbol."""
    return item.production.body[item.dot + 1 :]


def _may_call(seen: Seen, production: Production) -> bool:
    return seen is None or production.opens_set is None or seen.may_open(production.opens_set)


def _predicted(caller: Item, production: Production, may_skip: bool, clock: int) -> Item:
    """The production that begins where the item waits for it."""
    seen = caller.seen
    if production.opens_set is not None:
        copies = seen is not None and seen.copied is not None and production.opens_set.holds != "values"
        seen = Register(production.opens_set, around=seen if copies or production.opens_set.holds == "again" else None)
    return Item(production, 0, None, may_skip, seen, seen, _called(caller, production, clock))


def _after_set(around: Seen, ended: Seen) -> Seen:
    """The register after a set that was opened inside of it; `_REFUSED` if it must not have that again."""
    assert ended is not None
    value = ended.result
    if around is None or value is None:
        return around
    if ended.bounds.holds == "again":
        return Register(around.bounds)
    if around.copied is not None and value not in around.copied:
        return _REFUSED
    if around.bounds.holds in ("values", "distinct array") and value in around.values:
        return _REFUSED
    return around.and_then(value)


def _over(caller: Item, where: ItemSet | None, may_skip: bool, seen: Seen) -> Item:
    """The item of the set `where` (None: of the very set) after the nonterminal that it waited for."""
    return _begun(caller, where)._replace(dot=caller.dot + 1, may_skip=may_skip, seen=seen)


def _begun(item: Item, where: ItemSet | None) -> Item:
    """The item as another set names it: `where` is the set that holds it."""
    return item if item.origin is not None else item._replace(origin=where)
