"""Writes `grammars/formats.lark`: the formats of JSON Schema as terminals, from `cfgmask/json_schema/formats`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cfgmask.json_schema.formats import FORMATS
from cfgmask.json_schema.formats.pattern import Part

TARGET = Path(__file__).parents[1] / "grammars" / "formats.lark"

_HEAD = """\
// The formats of JSON Schema as terminals: what `{"format": "date-time"}` allows between the quotes of a string.
//
// Import them one by one: `%import cfgmask.formats.EMAIL`.
// Written by scripts/make_formats.py from the patterns that schemas use. Left out: idn-email, idn-hostname and regex,
// which are no single pattern or too long for one.
// `check` says that `start` is ambiguous, and it is: a UUID is a hostname, too. References and pointers may be empty.
"""
_LEFT_OUT = {"idn-email", "idn-hostname", "regex"}


def _terminal(part: Part) -> str:
    """A part in Lark's syntax. A bound is on octets of UTF-8, which here are characters of ASCII."""
    regex = "/" + part.pattern.replace("/", r"\/") + "/s"
    if part.most is None:
        return regex
    assert part.pattern.isascii()
    return f"({regex} & /.{{1,{part.most}}}/s)"


def names() -> dict[str, str]:
    """Formats by the names of their terminals."""
    return {name.upper().replace("-", "_"): name for name in FORMATS if name not in _LEFT_OUT}


def grammar() -> str:
    """The file."""

    def lines() -> Iterator[str]:
        yield _HEAD
        yield "start: " + "\n     | ".join(names()) + "\n"
        for terminal, name in names().items():
            yield f"{terminal}: " + " ".join(_terminal(part) for part in FORMATS[name].parts)

    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    TARGET.write_text(grammar(), encoding="utf-8")
