"""What the caller may choose about how a JSON Schema is read and how its instances are written."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal


@dataclass(frozen=True)
class JsonSchemaOptions:
    """Choices of the JSON Schema front end. Unknown values raise ValueError, naming what is allowed.

    whitespace      "bounded"    between two lexemes at most one line break: up to 8 blanks, or up to 8 blanks, a line
                                 break and up to 64 blanks. `json.dumps` with any separators of its own and `indent=4`
                                 fits down to depth 16, and a model cannot spin in it
                    "compact"    none at all
                    "unbounded"  any run of JSON whitespace
    property_order  "schema"     properties in the order in which the schema names them, other keys after them
    formats         "assert"     `format` restricts the string; a known format that cannot be enforced is refused
                    "annotate"   `format` restricts nothing and is reported as a note
    on_unsupported  "error"      whatever cannot be enforced exactly is an error
    """

    whitespace: Literal["bounded", "compact", "unbounded"] = "bounded"
    property_order: Literal["schema"] = "schema"
    formats: Literal["assert", "annotate"] = "assert"
    on_unsupported: Literal["error"] = "error"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value not in _ALLOWED[field.name]:
                allowed = ", ".join(f'"{choice}"' for choice in _ALLOWED[field.name])
                raise ValueError(f"{field.name}={value!r} is not supported; it may be {allowed}")


_ALLOWED: dict[str, tuple[str, ...]] = {
    "whitespace": ("bounded", "compact", "unbounded"),
    "property_order": ("schema",),
    "formats": ("assert", "annotate"),
    "on_unsupported": ("error",),
}
