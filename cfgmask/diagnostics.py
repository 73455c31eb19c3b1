"""What is wrong with a grammar, where, and what to do about it.

A `Diagnostic` has a stable code, one sentence, a place and help.
A place is a `Span` of a text or a JSON Pointer into a schema (or both, when the schema stands inside a text).
Front ends collect diagnostics and raise them together; nothing here raises or prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Severity = Literal["error", "warning", "note"]

_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
_BOLD, _BLUE, _RESET = "\x1b[1m", "\x1b[1;34m", "\x1b[0m"
_MAX_EXCERPT = 120
_MAX_POINTER = 300


def visible(text: str) -> str:
    r"""The text on one line, with escapes such as `\x1b` for what a terminal would obey or not show.

    Grammars and schemas of strangers are quoted in messages, and terminals have commands that rewrite what was printed.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


_MOST_SHOWN = 60


def quoted(data: bytes) -> str:
    r"""The bytes as one line between double quotes; `\n`, `\"`, `\\` and the like escaped, `\xHH` where not UTF-8."""
    return f'"{"".join(_escaped(character) for character in data.decode("utf-8", errors="surrogateescape"))}"'


def shortened(text: str) -> str:
    """The text as messages show it: whole, or the beginning of a long one."""
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


@dataclass(frozen=True, eq=False)
class Source:
    """A text that was read, and the name that its reader knows it by (a path, or `<grammar>`)."""

    name: str
    text: str = field(repr=False)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both from 1."""
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - (self.text.rfind("\n", 0, offset) + 1) + 1

    def line_at(self, offset: int) -> str:
        """The line around a character offset, without its line break."""
        start, end = self.text.rfind("\n", 0, offset) + 1, self.text.find("\n", offset)
        return self.text[start : end if end >= 0 else None].rstrip("\r")


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a source. A tuple: each token of a grammar takes some."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """What stands there."""
        return self.source.text[self.start : self.end]

    def within(self, start: int, end: int) -> Span:
        """The part of this span from `start` to `end`, both counted from its own start."""
        return Span(self.source, self.start + start, self.start + end)


@dataclass(frozen=True)
class Related:
    """A second place that explains a diagnostic: where something was first defined, say."""

    span: Span
    message: str


@dataclass(frozen=True)
class Fix:
    """What to write in place of a span. The span lies on one line."""

    span: Span
    replacement: str

    @property
    def line(self) -> str:
        """The line as it is then."""
        line = self.span.source.line_at(self.span.start)
        start = self.span.source.position(self.span.start)[1] - 1
        return line[:start] + self.replacement + line[start + self.span.end - self.span.start :]


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    code      stable, lower case with hyphens, with its front end first: `lark-unknown-rule`, `regex-backreference`
    message   one sentence without a full stop
    span      the place in a text, if there is one
    pointer   the place in a JSON document (RFC 6901; "" is the root), if there is one
    related   further places
    help      what to do about it, one sentence
    fix       the same as a change of the text, where that is certain
    """

    code: str
    message: str
    span: Span | None = None
    pointer: str | None = None
    severity: Severity = "error"
    related: tuple[Related, ...] = field(default=())
    help: str | None = None
    fix: Fix | None = None

    def render(self, color: bool = False) -> str:
        """The diagnostic for people: several lines, with the source line and a caret; ANSI colours if asked.

        Long lines and pointers are cut, and what is not printable is spelled as an escape (`visible`).
        """

        def paint(colour: str, text: str) -> str:
            return f"{colour}{text}{_RESET}" if color else text

        title = paint(_COLOURS[self.severity], f"{self.severity}[{self.code}]")
        lines = [title + paint(_BOLD, f": {visible(self.message)}")]
        if self.span is not None:
            lines += _excerpt(self.span, paint)
        if self.pointer is not None:
            lines.append(paint(_BLUE, "  at ") + (_cut(visible(self.pointer)) or "the root of the schema"))
        for place in self.related:
            lines.append(paint(_BLUE, "  note: ") + visible(place.message))
            lines += _excerpt(place.span, paint)
        if self.help is not None:
            lines.append(paint(_BLUE, "  help: ") + visible(self.help))
        if self.fix is not None and len(self.fix.line) <= _MAX_EXCERPT:
            lines.append(self._correction(self.fix, paint))
        return "\n".join(lines)

    def _correction(self, fix: Fix, paint: Callable[[str, str], str]) -> str:
        """The corrected line, with its number where that is not the line of the diagnostic."""
        number = fix.span.source.position(fix.span.start)[0]
        if not fix.line.strip():
            return paint(_BLUE, "  write: ") + f"nothing in place of line {number}"
        is_here = self.span is not None and self.span.source.position(self.span.start)[0] == number
        return paint(_BLUE, "  write: " if is_here else f"  write in line {number}: ") + visible(fix.line)

    def to_json(self) -> dict[str, Any]:
        """The diagnostic for machines: plain JSON values; line and column count from 1."""
        out: dict[str, Any] = {"code": self.code, "severity": self.severity, "message": self.message}
        if self.span is not None:
            out["place"] = _place(self.span)
        if self.pointer is not None:
            out["pointer"] = self.pointer
        if self.related:
            out["related"] = [{"message": r.message, "place": _place(r.span)} for r in self.related]
        if self.help is not None:
            out["help"] = self.help
        if self.fix is not None:
            out["fix"] = {"place": _place(self.fix.span), "replacement": self.fix.replacement}
        return out


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics in the order of their text; what has no place comes first."""
    return tuple(sorted(diagnostics, key=lambda d: -1 if d.span is None else d.span.start))


def _place(span: Span) -> dict[str, Any]:
    line, column = span.source.position(span.start)
    return {"source": span.source.name, "line": line, "column": column, "start": span.start, "end": span.end}


def _cut(pointer: str) -> str:
    """A pointer of bearable length; its end tells the keyword."""
    half = _MAX_POINTER // 2
    return pointer if len(pointer) <= _MAX_POINTER else f"{pointer[:half]}...{pointer[-half:]}"


def _excerpt(span: Span, paint: Any) -> list[str]:
    """`--> name:line:column`, the source line and a caret under the span; long lines are cut around it."""
    line_number, column = span.source.position(span.start)
    text = span.source.line_at(span.start)
    length = max(1, min(span.end - span.start, len(text) - column + 1))
    first = max(0, column - 1 - _MAX_EXCERPT // 2) if len(text) > _MAX_EXCERPT else 0
    shown = text[first : first + _MAX_EXCERPT]
    length = max(1, min(length, first + len(shown) - column + 1))
    before, marked = shown[: column - 1 - first], shown[column - 1 - first :][:length]
    # A tab in the text is a tab under it, so that the caret stands where the terminal put the character.
    pad = "\t".join(" " * len(visible(part)) for part in before.split("\t"))
    carets = "^" * max(1, len(visible(marked.replace("\t", " "))))
    gutter = " " * len(str(line_number))
    return [
        paint(_BLUE, f"{gutter} --> ") + f"{visible(span.source.name)}:{line_number}:{column}",
        paint(_BLUE, f"{line_number} | ") + "\t".join(map(visible, shown.split("\t"))),
        paint(_BLUE, f"{gutter} | ") + pad + paint(_COLOURS["error"], carets),
    ]
