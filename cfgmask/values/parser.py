"""`Parser`: a text of a grammar while it is written, and its value so far."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import zip_longest
from operator import index
from types import MappingProxyType
from typing import Any, NamedTuple

from cfgmask._core import CompiledGrammar, Segments
from cfgmask.errors import LimitExceeded, ParseError
from cfgmask.values.events import Event, Retracted, ValueDone
from cfgmask.values.reading import Reading
from cfgmask.values.segments import Builder, Path

_Told = tuple[bool, str, int]


class _Step(NamedTuple):
    """What there was before a step."""

    segments: Segments
    n_bytes: int
    n_events: int
    decided: int


class Parser:
    """Reads one text piece by piece, and gives its events and its value so far. Made by `Grammar.parser`.

    `feed` returns events as soon as they are certain: never half of a character, or text that may be the beginning of a
    marker. `value` is the value so far, and `open` the path to its innermost part that has not ended.
    docs/how-to/values.md lists the events and values of each kind of grammar.

    Use it beside a matcher: call `rollback` and `fork` when the matcher does. If the text after a rollback is the same
    as before (`Matcher.jump` writes it in other tokens), no event comes twice. If it is another text, `Retracted` says
    from which byte on.

    Threads: a parser belongs to one thread at a time; its forks may belong to others.
    Cost: linear in the bytes of each step, however long the text is. The last 1,024 steps can be taken back.

    Example:
        parser = grammar.parser()
        for piece in stream:
            events = parser.feed(piece)
        parser.finish()
        print(parser.value)
    """

    def __init__(
        self,
        compiled: CompiledGrammar,
        reading: Reading,
        special: Mapping[str, int],
        max_rollback: int = 1024,
        last: Collection[int] = (),
        names: Mapping[int, bytes] = MappingProxyType({}),
    ) -> None:
        """How texts of a compiled grammar are read.

        last   tokens that a text may lack at its end, since hosts leave them out
        names  of tokens without text what is read for them: markers in the arguments of tools
        """
        self._segments = Segments(compiled)
        self._last = last
        self._end_tokens = frozenset(compiled.vocabulary.end_tokens)
        self._text_of = compiled.vocabulary.text
        self._names = names
        self._n_vocab = compiled.vocabulary.n_vocab
        self._make: Callable[[], Builder] = lambda: reading.builder(self._segments.names)
        self._reading = reading
        self._special = special
        self._builder = self._make()
        self._data = bytearray()
        self._events: list[_Told] = []
        self._decided = 0
        self._steps: deque[_Step] = deque(maxlen=max_rollback)
        self._is_finished = False
        # What the builder has had: events, bytes, those that are open; and the text as far as it was told of.
        self._n_built = 0
        self._built = 0
        self._open: list[tuple[str, int]] = []
        self._past = bytearray()  # the text and the events before a rollback, which may come again
        self._past_events: list[_Told] = []

    # ---- steps

    def feed(self, data: bytes | str | int | Iterable[int]) -> list[Event]:
        """Read on, and return the events that are new.

        data  str or bytes, which are one step for `rollback`; or token ids, one step each. An end token ends the text,
              like `finish`
        Errors: ParseError if the data does not fit. The tokens before the wrong one are read; of str and bytes, nothing
        is. TypeError for anything else, and for ids if the parser was made without a vocabulary.
        """
        if isinstance(data, (str, bytes, bytearray, memoryview)):
            self._take_bytes(as_bytes(data, len(self._data)))
            return list(self._tell())
        events: list[Event] = []
        for token_id in _token_ids(data):
            if token_id in self._end_tokens and not self._takes_end(token_id):
                events += self.finish()
                continue
            self._take_token(token_id)
            events += self._tell()
        return events

    def feed_text(self, text: bytes) -> list[Event]:
        """Read a text in which special tokens are written by their names, where the grammar allows them.

        Errors: ParseError if it does not fit; the part that fits is read.
        """
        events: list[Event] = []
        at = 0
        for piece in _pieces(text, self._special):
            token_id = self._special.get(piece.decode(errors="replace"))
            n_before = len(self._data)
            is_token = token_id is not None and self._segments.fork().take_token(token_id)
            try:
                events += self.feed(token_id if is_token and token_id is not None else piece)
            except ParseError as error:
                raise ParseError(at + error.offset - n_before, error.expected, error.may_end) from None
            at += len(piece)
        return events

    def finish(self) -> list[Event]:
        """End the text, and return the last events; the very last is `ValueDone`.

        Errors: ParseError if the text may not end here.
        """
        if self._is_finished:
            return []
        end = self._segments.finish() or self._finish_with_last()
        if end is None:
            raise self._error(len(self._data), is_prefix=True)
        self._remember()
        self._is_finished = True
        self._events += end[0]
        self._decided = len(self._data)
        events = list(self._tell())
        events += self._builder.finish()
        events.append(ValueDone(self.value))
        return events

    def _finish_with_last(self) -> tuple[list[_Told], int] | None:
        """End a text that lacks only the token that ends it, as hosts leave it out."""
        for token_id in self._last:
            segments = self._segments.fork()
            if segments.take_token(token_id) and (end := segments.finish()) is not None:
                return end
        return None

    def rollback(self, n: int) -> None:
        """Take the last n steps back, including an end. Raises ValueError if fewer steps are remembered."""
        if not 0 <= n <= len(self._steps):
            raise ValueError(f"there are {len(self._steps)} steps to take back, not {n}")
        if n == 0:
            return
        for _ in range(n):
            step = self._steps.pop()
        if not self._has_past():
            self._past, self._past_events = self._data[: self._built], self._events[: self._n_built]
        was_finished, self._is_finished = self._is_finished, False
        self._segments = step.segments
        del self._data[step.n_bytes :]
        del self._events[step.n_events :]
        self._decided = step.decided
        if was_finished:
            self._rebuild()

    def fork(self) -> Parser:
        """A second, independent parser at the same place. Cost: linear in the text."""
        fork = object.__new__(Parser)
        for name, value in vars(self).items():
            setattr(fork, name, value)
        fork._segments = self._segments.fork()
        fork._data = bytearray(self._data)
        fork._events = list(self._events)
        fork._steps = deque(self._steps, self._steps.maxlen)
        fork._past, fork._past_events = bytearray(self._past), list(self._past_events)
        fork._rebuild()
        return fork

    # ---- what is known

    @property
    def value(self) -> Any:
        """The value so far; after the end of the text, the whole value.

        Until the text ends, it consists of JSON's types, even if the grammar was made from a Python type. It may change
        in place as the text goes on, so copy it to keep it.
        """
        self._catch_up()
        value = self._builder.value()
        return self._reading.value(value, bytes(self._data)) if self._is_finished else value

    @property
    def open(self) -> Path | None:
        """The path to the innermost part of `value` that is open, `()` for all of it; None if nothing is."""
        self._catch_up()
        return self._builder.open()

    @property
    def text(self) -> bytes:
        """The bytes of the text so far."""
        return bytes(self._data)

    @property
    def may_end(self) -> bool:
        """Whether the text is complete."""
        return self._is_finished or self._segments.may_end or self._finish_with_last() is not None

    @property
    def is_finished(self) -> bool:
        """Whether the text was ended."""
        return self._is_finished

    # ---- taking

    def _takes_end(self, token_id: int) -> bool:
        """Whether the grammar writes this end token itself, as the last of its text."""
        return not self._is_finished and self._segments.fork().take_token(token_id)

    def _remember(self) -> None:
        self._steps.append(_Step(self._segments.fork(), len(self._data), len(self._events), self._decided))

    def _take_bytes(self, data: bytes) -> None:
        before = self._segments.fork()
        n_taken = 0 if self._is_finished and data else self._segments.take_bytes(data)
        if n_taken < len(data):
            error = self._error(len(self._data) + n_taken)
            self._segments = before
            raise error
        self._steps.append(_Step(before, len(self._data), len(self._events), self._decided))
        self._data += data
        self._decide()

    def _take_token(self, token_id: int) -> None:
        before = self._segments.fork()
        is_known = 0 <= token_id < self._n_vocab
        text = self._names.get(token_id) or (self._text_of(token_id) if is_known else b"")
        if self._is_finished or not is_known or not self._segments.take_token(token_id, len(text)):
            data = self._text_of(token_id) if is_known else b""
            n_fitting = 0 if self._is_finished else self._segments.take_bytes(data)
            error = self._error(len(self._data) + n_fitting)
            self._segments = before
            raise error
        self._steps.append(_Step(before, len(self._data), len(self._events), self._decided))
        self._data += text
        self._decide()

    def _decide(self) -> None:
        if not self._builder.has_captures:
            self._decided = len(self._data)
            return
        events, self._decided = self._segments.decide()
        self._events += events

    def _error(self, offset: int, *, is_prefix: bool = False) -> ParseError:
        if self._is_finished:
            return ParseError(offset, (), may_end=True)
        try:
            return ParseError(offset, tuple(self._segments.expected()), self._segments.may_end, is_prefix)
        except LimitExceeded:
            return ParseError(offset, is_prefix=is_prefix)

    # ---- telling

    def _tell(self) -> Iterator[Event]:
        """What the builder has not had yet."""
        if self._has_past():
            if not self._is_past():
                yield from self._retract()
            elif self._is_behind():
                return
            else:
                for _ in self._build(len(self._past_events), len(self._past)):
                    pass  # it was told before
                self._forget_past()
        yield from self._build(len(self._events), self._decided)

    def _catch_up(self) -> None:
        """After a rollback, make the value of the text that is left, for whoever asks."""
        if not self._has_past():
            return
        if self._built > self._decided or self._n_built > len(self._events):
            self._rebuild()
            return
        n_events, n_bytes = min(len(self._events), len(self._past_events)), min(self._decided, len(self._past))
        for _ in self._build(n_events, n_bytes):
            pass

    def _has_past(self) -> bool:
        return bool(self._past or self._past_events)

    def _is_past(self) -> bool:
        """Whether the text goes on as it did before the rollback, as far as it goes."""
        n = min(len(self._data), len(self._past))
        m = min(len(self._events), len(self._past_events))
        if self._data[:n] != self._past[:n] or self._events[:m] != self._past_events[:m]:
            return False
        # What had ended goes on, where the text had been ended.
        return m == len(self._past_events) or self._decided <= self._past_events[m][2]

    def _is_behind(self) -> bool:
        return self._decided < len(self._past) or len(self._events) < len(self._past_events)

    def _forget_past(self) -> None:
        self._past, self._past_events = bytearray(), []

    def _retract(self) -> Iterator[Event]:
        n = 0
        while n < min(len(self._data), len(self._past)) and self._data[n] == self._past[n]:
            n += 1
        differing = [old[2] for old, new in zip_longest(self._past_events, self._events) if old and old != new]
        n = min([n, *differing])
        self._forget_past()
        self._rebuild()
        yield Retracted(n)

    def _rebuild(self) -> None:
        self._builder = self._make()
        self._n_built = self._built = 0
        self._open = []
        for _ in self._build(len(self._events), self._decided):
            pass
        if self._is_finished:
            for _ in self._builder.finish():
                pass

    def _build(self, n_events: int, decided: int) -> Iterator[Event]:
        while self._n_built < n_events:
            begins, name, position = self._events[self._n_built]
            yield from self._add(position, is_end=True)
            self._n_built += 1
            if begins:
                self._open.append((name, position))
                yield from self._builder.begin(name, position)
            else:
                _, start = self._open.pop()
                text = self._data[start:position].decode(errors="replace")
                yield from self._builder.end(name, position, text)
        yield from self._add(decided, is_end=self._is_finished)

    def _add(self, end: int, *, is_end: bool) -> Iterator[Event]:
        """Hand the builder the text up to a place, which it may not have come to."""
        if end <= self._built:
            return
        data = bytes(self._data[self._built : end])
        if not is_end:
            data = data[: len(data) - _open_bytes(data)]
        if data:
            self._built += len(data)
            yield from self._builder.add(data.decode(errors="replace"))


def as_bytes(text: str | bytes | bytearray | memoryview, offset: int = 0) -> bytes:
    """The bytes of a text that begins at `offset`. ParseError for a lone surrogate, which is no character."""
    if not isinstance(text, str):
        return bytes(text)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ParseError(offset + len(text[: error.start].encode())) from None


def _token_ids(data: Any) -> Iterator[int]:
    if not isinstance(data, Iterable):
        if not hasattr(data, "__index__"):
            raise TypeError(f"feed takes a str, bytes, a token id or token ids, not {type(data).__name__}")
        data = (data,)
    for token_id in data:
        if not hasattr(token_id, "__index__") or isinstance(token_id, bool):
            raise TypeError(f"a token id must be an int, not {type(token_id).__name__}")
        yield index(token_id)


def _open_bytes(data: bytes) -> int:
    """How many bytes at the end begin a character that is not complete."""
    for n in range(1, min(3, len(data)) + 1):
        byte = data[-n]
        if byte & 0xC0 == 0x80:
            continue
        length = 2 if byte & 0xE0 == 0xC0 else 3 if byte & 0xF0 == 0xE0 else 4 if byte & 0xF8 == 0xF0 else 1
        return n if length > n else 0
    return 0


def _pieces(text: bytes, special: Mapping[str, int]) -> Iterator[bytes]:
    """A text, cut where the texts of special tokens stand in it; of these the longest first."""
    names = sorted((name.encode() for name in special if name), key=len, reverse=True)
    cut = re.split(b"(" + b"|".join(map(re.escape, names)) + b")", text) if names else [text]
    return filter(None, cut)
