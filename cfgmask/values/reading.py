"""How the texts of a grammar are read: which builder makes the value, and what becomes of that at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cfgmask.values.segments import Builder, CaptureBuilder, JsonBuilder, MessageBuilder, TextBuilder

Kind = Literal["text", "json", "yaml", "message", "captures"]


@dataclass(frozen=True)
class Reading:
    """What the value of a text is.

    kind     None: "message" where calls are captured, the captures where there are others, else the text
    allows   of a tool's name, an argument's name and a text of JSON: whether the tool's schema allows it there
    json     the names of captures whose texts are JSON
    convert  makes the value of a type out of that of JSON, and of its text if that is JSON; None: it stays
    """

    kind: Kind | None = None
    allows: Callable[[str, str, str], bool] | None = None
    convert: Callable[[Any, bytes | None], Any] | None = None
    json: frozenset[str] = frozenset()

    def builder(self, captures: Sequence[str]) -> Builder:
        """A new builder for a grammar with these captures."""
        kind = self.kind
        if kind == "json":
            return JsonBuilder()
        if kind == "message" or (kind is None and not {"tool_call", "tool_name"}.isdisjoint(captures)):
            return MessageBuilder(self.allows)
        return CaptureBuilder(self.json) if kind == "captures" or (captures and kind is None) else TextBuilder()

    def value(self, value: Any, data: bytes) -> Any:
        """The value of a text that has ended, from what the builder made. Raises what the type's constructor raises."""
        if self.kind == "yaml":
            value = _read_yaml(data.decode())
        if self.convert is None:
            return value
        return self.convert(value, data if self.kind == "json" else None)


def _read_yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise ImportError("the value of a YAML text needs PyYAML: pip install pyyaml") from None
    return yaml.safe_load(text)
