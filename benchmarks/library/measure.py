"""Walking texts through engines with a clock.

A *walk* is one instance under one engine. At each token: fill the mask, look whether it allows the token, consume it.
The time of a position is that of the mask and of consuming the token; looking at the mask is not counted, and neither
is reading the clock.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter_ns, thread_time_ns

import cfgmask
from library.cases import Case
from library.peers import Engine, Mask, Refused, Session, row
from library.vocabularies import BenchVocabulary

Clock = Callable[[], int]

# The CPU's clock leaves out what other programs take from a busy machine.
CLOCKS: dict[str, Clock] = {"wall": perf_counter_ns, "cpu": thread_time_ns}

CLOCK_READINGS = 200

# What an engine imports or builds when it is first used is not a grammar's cost. The core of cfgmask asks Python for
# what the property of characters is, and leaves the third schema to it.
WARM_UP = (
    Case("warm-up", "json_schema", '{"const":1}', ()),
    Case("warm-up", "json_schema", r'{"type":"string","pattern":"^\\p{Lu}$"}', ()),
    Case("warm-up", "json_schema", '{"type":"array","uniqueItems":true,"items":{"type":"array"}}', ()),
    Case("warm-up", "lark", 'start: "a"', ()),
)


def least_first_mask(
    read: Callable[[], cfgmask.Grammar], vocabulary: cfgmask.Vocabulary, repeat: int, now: Clock
) -> int:
    """Nanoseconds from reading a grammar to its first mask, the least of several.

    What the vocabulary learns of a grammar is kept for the next one.
    """
    bits = row(vocabulary.n_vocab)
    least: list[int] = []
    for _ in range(repeat):
        begin = now()
        cfgmask.compile(read(), vocabulary).matcher().fill_mask(bits)
        least.append(now() - begin)
    return min(least)


@dataclass(frozen=True)
class Note:
    """What is known about the mask of one position: how it was answered and how many tokens it allows, in words."""

    answered: str
    density: str


# Makes, for a session, what tells about its last mask; None for an engine that does not.
Notes = Callable[[Session], Callable[[], Note] | None]


@dataclass(frozen=True)
class Walk:
    """`nanoseconds` holds one time a position; `accepted` is whether the whole text was, end token included.

    `notes` holds one note a position, or nothing where they were not asked for.
    """

    valid: bool
    accepted: bool
    nanoseconds: tuple[int, ...]
    notes: tuple[Note, ...] = ()


@dataclass
class Result:
    """One case under one engine. `refusal` says why there are no walks, `error` what broke off the last one."""

    case: str
    refusal: str | None = None
    error: str | None = None
    first_mask_nanoseconds: int = 0
    walks: list[Walk] = field(default_factory=list)

    @property
    def accepts_all_valid(self) -> bool:
        return self.refusal is None and self.error is None and all(w.accepted for w in self.walks if w.valid)


def clock_cost(clock: Clock) -> int:
    """Nanoseconds between two readings with nothing between them: the thread's clock takes as long as a mask can."""
    times = []
    for _ in range(CLOCK_READINGS):
        begin = clock()
        times.append(clock() - begin)
    return int(median(times))


def run(
    engines: list[Engine], cases: Iterable[Case], vocabulary: BenchVocabulary, clock: Clock, notes: Notes | None = None
) -> Iterator[dict[str, Result]]:
    """The results of each case by engine; the engines take turns in going first."""
    _warm_up(engines)
    gc.collect()
    gc.disable()
    try:
        for number, case in enumerate(cases):
            turn = number % len(engines)
            cost = clock_cost(clock)
            yield {e.name: measure(e, case, vocabulary, clock, cost, notes) for e in engines[turn:] + engines[:turn]}
            gc.collect(0)
    finally:
        gc.enable()


def _warm_up(engines: list[Engine]) -> None:
    """Nothing of it is kept: a grammar holds all that was learnt for those that were made beside it."""
    for engine in engines:
        for case in WARM_UP:
            with suppress(Refused):
                session = engine.start(case)  # which owns what `fill` writes to
                session.fill()


def measure(
    engine: Engine,
    case: Case,
    vocabulary: BenchVocabulary,
    clock: Clock,
    cost: int = 0,
    notes: Notes | None = None,
) -> Result:
    """One case under one engine: the first mask, then its valid and then its invalid instances."""
    result = Result(case.name)
    texts = [(vocabulary.encode(i.text), i.valid) for i in sorted(case.instances, key=lambda i: not i.valid)]
    start = clock()
    try:
        session = engine.start(case)
    except Refused as refused:
        result.refusal = str(refused)
        return result
    try:
        session.fill()
        result.first_mask_nanoseconds = clock() - start
        for tokens, valid in texts:
            end = vocabulary.vocabulary.eos_token_ids[0]
            result.walks.append(walk(session, tokens, end, valid, clock, cost, notes))
    except Exception as error:  # whatever a peer raises is a finding about it and must not end the run
        result.error = f"{type(error).__name__}: {error}"
    return result


def walk(
    session: Session,
    tokens: list[int],
    end: int,
    valid: bool,
    clock: Clock = perf_counter_ns,
    cost: int = 0,
    notes: Notes | None = None,
) -> Walk:
    """One text from the start to the first token that is refused, or to its end; `end` is a token that ends a text.

    `cost` is that of reading the clock, in nanoseconds.
    """
    session.restart()
    fill, advance, mask = session.fill, session.advance, session.mask
    note = notes(session) if notes else None
    times, noted = [], []
    for token in tokens:
        begin = clock()
        fill()
        filled = clock()
        if note is not None:
            noted.append(note())
        if not _allows(mask, token):
            return Walk(valid, False, tuple(times), tuple(noted[: len(times)]))
        commit = clock()
        advance(token)
        times.append(max(0, clock() - commit + filled - begin - 2 * cost))
    fill()
    return Walk(valid, _allows(mask, end), tuple(times), tuple(noted))


def _allows(mask: Mask, token: int) -> bool:
    return bool(int(mask[token >> 5]) >> (token & 31) & 1)
