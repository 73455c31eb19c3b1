"""How a text fares under a grammar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from cfgmask import CompiledGrammar
from cfgmask.cli.output import bytes_to_json
from cfgmask.compiler.explanation import enumeration
from cfgmask.diagnostics import Diagnostic, Source, Span, quoted

END = "the end of the text"
_CHUNK = 1 << 16
_SHOWN_BYTES = 60

Outcome = Literal["accepted", "refused", "incomplete"]


@dataclass(frozen=True)
class Verdict:
    """One text and what the grammar says to it.

    source    its name, and the text with what is not UTF-8 replaced
    offset    how many bytes were taken; all of them unless it was refused
    start     the same place in characters of the source
    expected  names of what may come at that place
    may_end   whether the text could end at that place
    forced    what must come there in any case
    """

    source: Source
    outcome: Outcome
    offset: int
    start: int
    expected: tuple[str, ...]
    may_end: bool
    forced: bytes

    def diagnostic(self) -> Diagnostic | None:
        """What is wrong with the text; None if it is accepted."""
        if self.outcome == "accepted":
            return None
        if self.outcome == "refused":
            code, message = "text-refused", f"the text is refused at byte {self.offset}"
        else:
            code, message = "text-incomplete", f"the text is incomplete at its end, byte {self.offset}"
        return Diagnostic(code, message, Span(self.source, self.start, self.start + 1), help=self._help())

    def expectation(self) -> str:
        """What may come: `A, B or C`. Names are cut after a dozen; the end of the text is always told."""
        return enumeration([*self.expected, *([END] if self.may_end else [])])

    def to_json(self) -> dict[str, Any]:
        """The verdict for machines; line and column count from 1, columns in characters."""
        line, column = self.source.position(self.start)
        return {
            "source": self.source.name,
            "outcome": self.outcome,
            "offset": self.offset,
            "line": line,
            "column": column,
            "expected": list(self.expected),
            "may_end": self.may_end,
            "forced": bytes_to_json(self.forced),
        }

    def _help(self) -> str:
        if self.outcome == "refused" and self.may_end and self.source.text[self.start :] in ("\n", "\r\n"):
            return "it is accepted without the line break at its end"
        if not self.forced:
            return f"expected {self.expectation()}"
        return f"expected {self.expectation()}; what comes next can only be {abridged(self.forced)}"


def judge(compiled: CompiledGrammar, name: str, data: bytes) -> Verdict:
    """Feed the bytes to a new matcher. Linear in the text for most grammars; raises what the matcher raises."""
    matcher = compiled.matcher()
    offset = 0
    # In chunks, since an interrupt is only noticed between calls into the core.
    for at in range(0, len(data), _CHUNK):
        chunk = data[at : at + _CHUNK]
        taken = matcher.advance_bytes(chunk)
        offset += taken
        if taken < len(chunk):
            matcher.advance_bytes(chunk[:taken])
            break
    if offset < len(data):
        outcome: Outcome = "refused"
    else:
        outcome = "accepted" if matcher.is_accepting else "incomplete"
    return Verdict(
        source=Source(name, data.decode("utf-8", errors="replace")),
        outcome=outcome,
        offset=offset,
        start=_characters_before(data, offset),
        expected=tuple(matcher.expected()),
        may_end=matcher.is_accepting,
        forced=matcher.forced_bytes(),
    )


def abridged(data: bytes) -> str:
    """The bytes between quotes, cut after some 60."""
    return quoted(data[:_SHOWN_BYTES]) + (" …" if len(data) > _SHOWN_BYTES else "")


def _characters_before(data: bytes, offset: int) -> int:
    """The character that byte `offset` belongs to, counted as `bytes.decode(errors="replace")` does."""
    start = offset
    while start > max(0, offset - 3) and start < len(data) and data[start] & 0xC0 == 0x80:
        start -= 1
    return len(data[:start].decode("utf-8", errors="replace"))
