"""The tools that the demo model was trained to call, and the JSON Schema of one call."""

from __future__ import annotations

from typing import Any

_SHORT_TEXT = {"type": "string", "minLength": 1, "maxLength": 40}
_LONG_TEXT = {"type": "string", "minLength": 1, "maxLength": 200}
_CURRENCY = {"enum": ["EUR", "USD", "GBP", "JPY", "CHF"]}

TOOLS: dict[str, dict[str, Any]] = {
    "get_weather": {"city": _SHORT_TEXT, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "add_event": {"title": _SHORT_TEXT, "date": {"type": "string", "format": "date"}},
    "send_message": {"to": _SHORT_TEXT, "text": _LONG_TEXT},
    "convert_currency": {"amount": {"type": "integer", "minimum": 1}, "from": _CURRENCY, "to": _CURRENCY},
    "set_timer": {"minutes": {"type": "integer", "minimum": 1, "maximum": 1440}},
    "search_products": {
        "query": _SHORT_TEXT,
        "max_price": {"type": "integer", "minimum": 0, "maximum": 100_000},
    },
}
"""Name of each tool to the schemas of its arguments, all of them required."""


def tool_call_schema() -> dict[str, Any]:
    """The schema of `{"name": ..., "arguments": {...}}` for exactly one of `TOOLS`."""
    return {
        "anyOf": [_closed_object({"name": {"const": name}, "arguments": _closed_object(TOOLS[name])}) for name in TOOLS]
    }


def _closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
