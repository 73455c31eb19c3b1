"""Why a token is refused: what `Matcher.explain` gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias
from weakref import WeakKeyDictionary

from cfgmask.diagnostics import Diagnostic, Related, Span, quoted
from cfgmask.errors import TokenRejected

if TYPE_CHECKING:
    from cfgmask._core import CompiledGrammar

Reason = Literal["allowed", "bytes", "id", "incomplete", "finished", "far", "unknown"]

_SHOWN_NAMES = 12
_SHOWN_RULES = 5


@dataclass(frozen=True)
class RulePlace:
    """A rule, and where its name stands in the grammar's text; None for one that was made from a schema."""

    name: str
    span: Span | None


@dataclass(frozen=True)
class Expected:
    """A terminal or token set that may come at some place, and the rules in which it stands there.

    Rules whose alternatives end alike from there on are not told apart: all of them are named.

    name  as the grammar writes it: `NUMBER`, `"{"`, `<think>`
    span  of the terminal's definition, or of a literal's first use; none of what is ignored, which is in no rule
    """

    name: str
    span: Span | None
    rules: tuple[RulePlace, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a token is refused at a place, or that it is allowed. `str()` is for people.

    token_id  the id that was asked about
    data      its bytes; none for end tokens, special tokens without text and unknown ids
    reason    "allowed"
              "bytes"       the grammar cannot take one of its bytes
              "id"          it has no bytes, and the grammar names no token here that it is
              "incomplete"  it ends the text, which may not end here
              "finished"    the text has ended, and it is no end token
              "far"         the text could not be completed in the tokens that a budget leaves, or has stalled
              "unknown"     the vocabulary has no such id
    offset    how many of its bytes the grammar can take
    expected  what may go on or begin after these bytes
    may_end   whether the text may end there
    """

    token_id: int
    data: bytes
    reason: Reason
    offset: int
    expected: tuple[Expected, ...]
    may_end: bool

    @property
    def allowed(self) -> bool:
        """Whether the token is in the mask."""
        return self.reason == "allowed"

    def diagnostic(self) -> Diagnostic:
        """The explanation as one finding: each rule that goes on there is a related place."""
        related = []
        if self.reason in ("bytes", "id", "incomplete"):
            related = [
                Related(rule.span, f"`{rule.name}` expects {enumeration(names)}")
                for rule, names in self._names_by_rule().items()
                if rule.span is not None
            ]
        return Diagnostic(
            "token-allowed" if self.allowed else "token-refused",
            self._sentence(),
            severity="note" if self.allowed else "error",
            related=tuple(related[:_SHOWN_RULES]),
            help=self._help(),
        )

    def __str__(self) -> str:
        return self.diagnostic().render()

    def _repr_html_(self) -> str:
        """What notebooks show: the same as `print`, with a coloured edge."""
        from cfgmask import notebook

        return notebook.explanation(self)

    def summary(self) -> str:
        """The explanation on one line, without places."""
        return f"{self._sentence()}; {self._help()}"

    def _names_by_rule(self) -> dict[RulePlace, list[str]]:
        names: dict[RulePlace, list[str]] = {}
        for expected in self.expected:
            for rule in expected.rules:
                # Terminals of different regexes may have one name.
                if expected.name not in names.setdefault(rule, []):
                    names[rule].append(expected.name)
        return names

    def _sentence(self) -> str:
        token = f"token {self.token_id} {quoted(self.data)}" if self.data else f"token {self.token_id}"
        if self.reason == "allowed":
            return f"{token} is allowed"
        if self.reason == "bytes":
            byte = quoted(self.data[self.offset : self.offset + 1])
            return f"{token} is refused at its byte {self.offset}, {byte}"
        if self.reason == "id":
            return f"{token} has no text and is not named by the grammar here"
        if self.reason == "incomplete":
            return f"{token} ends the text, which is not complete"
        if self.reason == "finished":
            return f"{token} is refused: the text has ended"
        if self.reason == "far":
            return f"{token} is refused: it leads too far from the end of the text"
        return f"token {self.token_id} is not in the vocabulary"

    def _help(self) -> str:
        names = [expected.name for expected in self.expected]
        what = enumeration([*dict.fromkeys(names), *(["the end of the text"] if self.may_end else [])])
        return f"after it may come {what}" if self.reason in ("allowed", "far") else f"expected {what}"


def enumeration(names: list[str]) -> str:
    """`A, B or C`. Names are cut after a dozen, but for the last."""
    if not names:
        return "nothing"
    if len(names) > _SHOWN_NAMES + 1:
        names = [*names[:_SHOWN_NAMES], f"{len(names) - _SHOWN_NAMES - 1} more", names[-1]]
    return " or ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


_places: WeakKeyDictionary[CompiledGrammar, Callable[[int], RulePlace]] = WeakKeyDictionary()


def remember_places(compiled: CompiledGrammar, places: Callable[[int], RulePlace]) -> None:
    """Keep what stands in the places that the core was given with symbols, for as long as the grammar lives.

    The core knows no spans, and its objects take no attributes.
    places  a rule and its span, by its place; of a terminal or token set, its own name and span
    """
    _places[compiled] = places


_Token: TypeAlias = tuple[bool, bool, bytes, bool]
_Fate: TypeAlias = tuple[bool, bool, int, bool, list[tuple[str, int | None, list[int]]]]


def explanation(compiled: CompiledGrammar, token_id: int, token: _Token, fate: _Fate) -> Explanation:
    """What `Matcher.explain` returns, from what the core knows.

    token  whether the vocabulary has it, whether it ends texts, its bytes; and whether the text has ended
    fate   whether it is allowed, and whether it is refused only for being too far from the end; how many bytes fit,
           whether the text may end after them, and what is expected there: names, places (None: it has none), the
           places of the rules around them
    """
    allowed, too_far, offset, may_end, expected = fate
    return Explanation(
        token_id=token_id,
        data=token[2],
        reason="allowed" if allowed else "far" if too_far else _reason_to_refuse(*token),
        offset=offset,
        expected=tuple(_expected(_places.get(compiled), *symbol) for symbol in expected),
        may_end=may_end,
    )


def rejection(token_id: int, token: _Token, fate: _Fate) -> TokenRejected:
    """The error for a rejected token; arguments like those of `explanation`. Looks no places up."""
    _, too_far, offset, may_end, expected = fate
    names = tuple(dict.fromkeys(name for name, _, _ in expected))
    told = Explanation(
        token_id=token_id,
        data=token[2],
        reason="far" if too_far else _reason_to_refuse(*token),
        offset=offset,
        expected=tuple(Expected(name, None, ()) for name in names),
        may_end=may_end,
    )
    return TokenRejected(told.summary(), token_id, token[2], offset, names, may_end)


def _reason_to_refuse(is_known: bool, is_end: bool, data: bytes, is_finished: bool) -> Reason:
    if not is_known:
        return "unknown"
    if is_finished:
        return "finished"
    if is_end:
        return "incomplete"
    return "bytes" if data else "id"


def _expected(places: Callable[[int], RulePlace] | None, name: str, place: int | None, rules: list[int]) -> Expected:
    if places is None:
        return Expected(name, None, ())
    span = None if place is None else places(place).span
    return Expected(name, span, tuple(dict.fromkeys(map(places, rules))))
