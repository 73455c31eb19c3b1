"""The events that `Parser.feed` gives, and the values of a text with tool calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, SupportsIndex, TypeAlias, overload

from cfgmask import notebook

_TEXT: Final = object()
"""Instead of a value: the text."""


@dataclass
class ToolCall:
    """A call of a tool.

    name       name of the tool
    arguments  value of the arguments; the value so far while `is_open`
    text       the arguments as the model wrote them
    id         id of the call; None if the format has none
    is_open    true while the call is being written
    """

    name: str = ""
    arguments: Any = field(default_factory=dict)
    text: str = ""
    id: str | None = None
    is_open: bool = False


@dataclass
class Message:
    """The value of a text that may contain thinking and tool calls.

    reasoning   the thinking without its markers; None if there was none
    content     the free text; None if there was none
    tool_calls  the calls, in order
    value       the value of an answer in a `response_format`
    """

    reasoning: str | None = None
    content: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    value: Any = None

    def _repr_html_(self) -> str:
        """HTML for notebooks: its parts in a table."""
        return notebook.message(self)


@dataclass(frozen=True)
class Capture:
    """What one captured rule matched.

    name        name of the capture
    text        the text that it matched
    start, end  offsets in bytes of the whole text
    captures    captures inside this one, in order
    value       the JSON value, if the rule has `[capture, json]` or is a `%json` block; otherwise the text
    """

    name: str
    text: str
    start: int
    end: int
    captures: tuple[Capture, ...] = ()
    value: Any = _TEXT

    def __post_init__(self) -> None:
        if self.value is _TEXT:
            object.__setattr__(self, "value", self.text)


class Captures(tuple[Capture, ...]):
    """The outermost captures of a text: a tuple of `Capture`, in order.

    `captures["city"]` is the value of the capture with this name, or of the last one if there are several. It raises
    KeyError if there is none.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Capture: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Capture, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> Any:
        """The capture at a position, or the value of the capture with a name."""
        if not isinstance(key, str):
            return tuple.__getitem__(self, key)
        for capture in reversed(self):
            if capture.name == key:
                return capture.value
        raise KeyError(key)

    def all(self, name: str) -> list[Any]:
        """The values of all captures with this name, in order."""
        return [capture.value for capture in self if capture.name == name]

    def asdict(self) -> dict[str, Any]:
        """A dict from names to values; if a name appears several times, to the list of its values."""
        names = dict.fromkeys(capture.name for capture in self)
        found = {name: self.all(name) for name in names}
        return {name: values[0] if len(values) == 1 else values for name, values in found.items()}

    def _repr_html_(self) -> str:
        """HTML for notebooks: names and values in a table."""
        return notebook.captures(self)


@dataclass(frozen=True)
class TextDelta:
    """More text of a grammar without captures or tool calls."""

    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """More of the thinking."""

    text: str


@dataclass(frozen=True)
class ContentDelta:
    """More of the free text."""

    text: str


@dataclass(frozen=True)
class CallBegun:
    """The name of a call is complete. `index` counts the calls of the text from 0."""

    index: int
    name: str
    id: str | None = None


@dataclass(frozen=True)
class ArgumentsDelta:
    """More of the arguments of a call, as the model writes them."""

    index: int
    text: str


@dataclass(frozen=True)
class CallDone:
    """A call is complete."""

    index: int
    call: ToolCall


@dataclass(frozen=True)
class CaptureDelta:
    """More text of the innermost open capture."""

    name: str
    text: str


@dataclass(frozen=True)
class CaptureDone:
    """A capture is complete, with the captures inside it."""

    capture: Capture


@dataclass(frozen=True)
class ValueDone:
    """The text has ended; `value` is its value."""

    value: Any


@dataclass(frozen=True)
class Retracted:
    """After a rollback, the text goes on differently: events about bytes from `position` on are no longer true.

    Read `Parser.value` again; the events after this one go on from there.
    """

    position: int


Event: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ContentDelta
    | CallBegun
    | ArgumentsDelta
    | CallDone
    | CaptureDelta
    | CaptureDone
    | ValueDone
    | Retracted
)
