"""From captures that begin and end to values: one builder for each way in which a grammar's texts are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from typing import Any

from cfgmask.values.events import (
    ArgumentsDelta,
    CallBegun,
    CallDone,
    Capture,
    CaptureDelta,
    CaptureDone,
    Captures,
    ContentDelta,
    Event,
    Message,
    ReasoningDelta,
    TextDelta,
    ToolCall,
)
from cfgmask.values.forms import read_form
from cfgmask.values.json_reader import JsonReader

Path = tuple[str | int, ...]


class Builder(ABC):
    """Makes a value of a text and its captures, which come in order, and tells of it.

    `text` takes what stands in the captures that are open, whole characters only.
    """

    has_captures = True

    def begin(self, name: str, position: int) -> Iterator[Event]:
        """A capture begins."""
        yield from ()

    def end(self, name: str, position: int, text: str) -> Iterator[Event]:
        """The innermost capture ends; this was its text."""
        yield from ()

    @abstractmethod
    def add(self, text: str) -> Iterator[Event]:
        """More text, in the innermost capture."""

    @abstractmethod
    def value(self) -> Any:
        """The value so far."""

    @abstractmethod
    def open(self) -> Path | None:
        """The path to the innermost part that is open."""

    def finish(self) -> Iterator[Event]:
        """The text ends here."""
        yield from ()


class TextBuilder(Builder):
    """All of the text is the value."""

    has_captures = False

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._is_done = False

    def add(self, text: str) -> Iterator[Event]:
        """More text, in the innermost capture."""
        self._pieces.append(text)
        yield TextDelta(text)

    def value(self) -> str:
        """The value so far."""
        self._pieces[:] = ["".join(self._pieces)]
        return self._pieces[0]

    def open(self) -> Path | None:
        """The path to the innermost part that is open."""
        return None if self._is_done else ()

    def finish(self) -> Iterator[Event]:
        """The text ends here."""
        self._is_done = True
        yield from ()


class JsonBuilder(Builder):
    """All of the text is JSON."""

    has_captures = False

    def __init__(self) -> None:
        self._reader = JsonReader()

    def add(self, text: str) -> Iterator[Event]:
        """More text, in the innermost capture."""
        self._reader.feed(text)
        yield TextDelta(text)

    def value(self) -> Any:
        """The value so far."""
        return self._reader.value

    def open(self) -> Path | None:
        """The path to the innermost part that is open."""
        return self._reader.open

    def finish(self) -> Iterator[Event]:
        """The text ends here."""
        self._reader.finish()
        yield from ()


class CaptureBuilder(Builder):
    """The value is the captures: those that stand in no other, in order."""

    def __init__(self, json: Collection[str] = ()) -> None:
        """`json`: the names of captures whose texts are JSON."""
        self._json = json
        self._done: list[list[Capture]] = [[]]
        self._begun: list[tuple[str, int]] = []

    def begin(self, name: str, position: int) -> Iterator[Event]:
        """A capture begins."""
        self._begun.append((name, position))
        self._done.append([])
        yield from ()

    def end(self, name: str, position: int, text: str) -> Iterator[Event]:
        """The innermost capture ends; this was its text."""
        _, start = self._begun.pop()
        inside = tuple(self._done.pop())
        if name in self._json:
            capture = Capture(name, text, start, position, inside, _read_json(name, text))
        else:
            capture = Capture(name, text, start, position, inside)
        self._done[-1].append(capture)
        yield CaptureDone(capture)

    def add(self, text: str) -> Iterator[Event]:
        """More text, in the innermost capture."""
        if self._begun:
            yield CaptureDelta(self._begun[-1][0], text)

    def value(self) -> Captures:
        """The value so far."""
        return Captures(self._done[0])

    def open(self) -> Path | None:
        """The path to the innermost part that is open."""
        return tuple(name for name, _ in self._begun) or None


def _read_json(name: str, text: str) -> Any:
    reader = JsonReader()
    try:
        reader.feed(text)
        return reader.finish()
    except ValueError as error:
        raise ValueError(f"the capture {name!r} is declared as JSON, and its text is not: {error}") from None


class MessageBuilder(Builder):
    """Thinking, free text and calls of tools."""

    _CALL = "tool_call"
    _NAMES = frozenset({"name", "tool_name"})
    _TEXTS = _NAMES | {"reasoning", "content", "id", "arguments", "value"}

    def __init__(self, allows: Callable[[str, str, str], bool] | None = None) -> None:
        """`allows`: of a tool's name, an argument's name and JSON, as `cfgmask.values.forms.Allows`."""
        self._allows = allows
        self._message = Message()
        self._texts: dict[str, list[str]] = {"reasoning": [], "content": []}
        self._parts: list[str] = []  # the segments that are open
        self._call: ToolCall | None = None
        self._in_call = False  # a capture is around the call
        self._is_told = False  # the call has begun for whoever listens
        self._arguments: JsonReader | None = None
        self._written: list[str] = []  # of the arguments
        self._form: str | None = None  # of arguments that are still to be read
        self._value: JsonReader | None = None

    def begin(self, name: str, position: int) -> Iterator[Event]:
        """A capture begins."""
        base = name.partition(":")[0]
        if name == self._CALL:
            yield from self._end_call()
            self._begin_call()
            self._in_call = True
        elif base in self._TEXTS:
            self._parts.append(name)
            if base in self._NAMES and not self._in_call:
                yield from self._end_call()
                self._begin_call()
            elif base == "arguments":
                if self._call is None:
                    self._begin_call()
                self._arguments = JsonReader() if name == "arguments" else None
                self._written = []
            elif base == "value":
                self._value = JsonReader()
            elif base in self._texts:
                setattr(self._message, base, getattr(self._message, base) or "")

    def end(self, name: str, position: int, text: str) -> Iterator[Event]:
        """The innermost capture ends; this was its text."""
        base = name.partition(":")[0]
        if name == self._CALL:
            yield from self._end_call()
            self._in_call = False
            return
        if base not in self._TEXTS:
            return
        self._parts.pop()
        call = self._call
        if base == "value" and self._value is not None:
            self._message.value = self._value.finish()
        elif call is None:
            return
        elif base in self._NAMES:
            call.name = text
            yield from self._tell()
        elif base == "id":
            call.id = text
        elif base == "arguments":
            call.text = text
            if self._arguments is not None:
                call.arguments = self._arguments.finish() if text.strip() else {}
            else:
                self._form = name.partition(":")[2]
                if call.name or not self._in_call:
                    self._read_form()
            if not self._in_call:
                yield from self._end_call()

    def add(self, text: str) -> Iterator[Event]:
        """More text, in the innermost capture."""
        if not self._parts:
            return
        part = self._parts[-1].partition(":")[0]
        if part == "reasoning":
            self._texts[part].append(text)
            yield ReasoningDelta(text)
        elif part == "content":
            self._texts[part].append(text)
            yield ContentDelta(text)
        elif part == "value" and self._value is not None:
            self._value.feed(text)
            yield TextDelta(text)
        elif part == "arguments" and self._call is not None:
            if self._arguments is not None:
                self._arguments.feed(text)
            self._written.append(text)
            if self._is_told:
                yield ArgumentsDelta(len(self._message.tool_calls) - 1, text)

    def _read_form(self) -> None:
        """Read arguments that are not JSON, once the name is known."""
        call, allows = self._call, self._allows
        if self._form is None or call is None:
            return
        name = call.name
        call.arguments = read_form(
            self._form, call.text, None if allows is None else lambda key, text: allows(name, key, text)
        )
        self._form = None

    def _begin_call(self) -> None:
        self._call = ToolCall(is_open=True)
        self._message.tool_calls.append(self._call)
        self._is_told = False
        self._written = []

    def _tell(self) -> Iterator[Event]:
        """The call begins, with what has come of its arguments before its name."""
        call, index = self._call, len(self._message.tool_calls) - 1
        if call is None or self._is_told:
            return
        self._is_told = True
        yield CallBegun(index, call.name, call.id)
        if self._written:
            yield ArgumentsDelta(index, "".join(self._written))

    def _end_call(self) -> Iterator[Event]:
        call = self._call
        if call is None:
            return
        yield from self._tell()
        self._read_form()
        call.is_open = False
        self._call = self._arguments = None
        self._written = []
        yield CallDone(len(self._message.tool_calls) - 1, call)

    def value(self) -> Message:
        """The value so far."""
        message = self._message
        for name, pieces in self._texts.items():
            if pieces:
                pieces[:] = ["".join(pieces)]
                setattr(message, name, pieces[0])
        if self._call is not None and self._parts and self._parts[-1].startswith("arguments"):
            self._call.text = "".join(self._written)
            if self._arguments is not None and self._written:
                value = self._arguments.value
                self._call.arguments = {} if value is None else value
        if self._value is not None and self._message.value is None:
            message.value = self._value.value
        return message

    def open(self) -> Path | None:
        """The path to the innermost part that is open."""
        path: list[str | int] = []
        if self._call is not None:
            path += ["tool_calls", len(self._message.tool_calls) - 1]
        if self._parts:
            path.append(self._parts[-1].partition(":")[0])
            reader = self._arguments if path[-1] == "arguments" else self._value if path[-1] == "value" else None
            if reader is not None:
                path += reader.open or ()
        return tuple(path) or None

    def finish(self) -> Iterator[Event]:
        """The text ends here."""
        yield from self._end_call()
