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

    name       the tool's name
    arguments  their value; so far, while `is_open`
    text       the arguments as they are written
    id         of the call, where the format writes one
    is_open    whether the call goes on
    """

    name: str = ""
    arguments: Any = field(default_factory=dict)
    text: str = ""
    id: str | None = None
    is_open: bool = False


@dataclass
class Message:
    """The value of a text with tool calls, or with thinking.

    reasoning   the thinking, without its markers; None: there was none
    content     the free text; None: there was none
    tool_calls  in order
    value       the answer of a `response_format`
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
    """A capture of a text, and those inside of it: `start` and `end` are bytes of the text.

    value  of a capture of JSON (`[capture, json]`, or a rule that is a `%json` block) the value, else the text
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
    """The captures of a text that stand in no other, in order; also by name.

    `captures["city"]` is the value of the capture with this name; of several, the last one's. Raises KeyError.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Capture: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Capture, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> Any:
        """By number, or the value by name."""
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
        """The values by their names; of several with one name, a list of them."""
        names = dict.fromkeys(capture.name for capture in self)
        found = {name: self.all(name) for name in names}
        return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


@dataclass(frozen=True)
class TextDelta:
    """More of a text without segments: all of it is the value, or is JSON."""

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
    """A call whose name is complete. `index` counts the calls of the text from 0."""

    index: int
    name: str
    id: str | None = None


@dataclass(frozen=True)
class ArgumentsDelta:
    """More of the arguments of a call, as they are written."""

    index: int
    text: str


@dataclass(frozen=True)
class CallDone:
    """A call that has ended."""

    index: int
    call: ToolCall


@dataclass(frozen=True)
class CaptureDelta:
    """More of a capture, of which none is open inside."""

    name: str
    text: str


@dataclass(frozen=True)
class CaptureDone:
    """A capture that has ended, with those inside of it."""

    capture: Capture


@dataclass(frozen=True)
class ValueDone:
    """The text has ended, and this is its value."""

    value: Any


@dataclass(frozen=True)
class Retracted:
    """After a rollback the text goes on in another way: what was told from this byte on holds no longer.

    Take up `Parser.value` anew; the events behind this one go on from there.
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
