"""Back from text: values of whole texts, and of texts while they are written."""

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
    Retracted,
    TextDelta,
    ToolCall,
    ValueDone,
)
from cfgmask.values.json_reader import JsonReader
from cfgmask.values.parser import Parser

__all__ = [
    "ArgumentsDelta",
    "CallBegun",
    "CallDone",
    "Capture",
    "CaptureDelta",
    "CaptureDone",
    "Captures",
    "ContentDelta",
    "Event",
    "JsonReader",
    "Message",
    "Parser",
    "ReasoningDelta",
    "Retracted",
    "TextDelta",
    "ToolCall",
    "ValueDone",
]
