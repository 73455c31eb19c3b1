"""What stands inside single tokens: escapes of strings, counts, sets of special tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_NUMBER = 2**31 - 1
"""The largest count and the largest token id."""


class LiteralError(ValueError):
    """A token whose text makes no sense; `start` and `end` count within it."""

    def __init__(self, code: str, message: str, start: int, end: int, help: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.help = help


@dataclass(frozen=True)
class Unescaped:
    """The text of a string, and the places (within the token) of escapes that Lark leaves as they are."""

    value: str
    kept: tuple[tuple[int, int], ...]


_ESCAPE = re.compile(
    r"\\(?:x(?P<x>[0-9A-Fa-f]{2})|u(?P<u>[0-9A-Fa-f]{4})|U(?P<U>[0-9A-Fa-f]{8})|(?P<one>.))", re.DOTALL
)
_SIMPLE = {"n": "\n", "f": "\f", "t": "\t", "r": "\r", "\\": "\\", '"': '"'}
_DIGITS_AFTER = {"x": 2, "u": 4, "U": 8}


def unescape(token: str) -> Unescaped:
    r"""The text between the quotes of a string token, with Lark's escapes resolved.

    `\n \f \t \r \\ \" \xHH \uXXXX \UXXXXXXXX`; a pair of surrogates is one character.
    After any other character the backslash stays, as in Lark. Raises LiteralError for what is no character.
    """
    end = token.rindex('"')
    pieces: list[str] = []
    kept: list[tuple[int, int]] = []
    position = 1
    for match in _ESCAPE.finditer(token, 1, end):
        pieces.append(token[position : match.start()])
        position = match.end()
        digits = match["x"] or match["u"] or match["U"]
        if digits:
            pieces.append(_character(int(digits, 16), match))
        elif match["one"] in _SIMPLE:
            pieces.append(_SIMPLE[match["one"]])
        elif match["one"] in _DIGITS_AFTER:
            n = _DIGITS_AFTER[match["one"]]
            raise LiteralError("lark-bad-escape", f"`{match[0]}` needs {n} hexadecimal digits", *match.span())
        else:
            pieces.append(match[0])
            kept.append(match.span())
    pieces.append(token[position:end])
    return Unescaped(_join_surrogates("".join(pieces), token, end), tuple(kept))


def _character(code_point: int, match: re.Match[str]) -> str:
    if code_point > 0x10FFFF:
        raise LiteralError("lark-bad-escape", f"`{match[0]}` is beyond the last character, U+10FFFF", *match.span())
    return chr(code_point)


def _join_surrogates(value: str, token: str, end: int) -> str:
    """Pairs of surrogates become characters. Raises LiteralError for one without its other half."""
    if not any("\ud800" <= c <= "\udfff" for c in value):
        return value
    try:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise LiteralError(
            "lark-bad-escape", "the string has half of a surrogate pair, which is no character", 0, end + 1
        ) from None


_COUNT = re.compile(r"[{~]\s*(?P<low>[+-]?\d+)?\s*(?P<between>,|\.\.)?\s*(?P<high>[+-]?\d+)?\s*\}?")


def parse_count(token: str) -> tuple[int, int | None]:
    """Bounds of `{n}`, `{n,}`, `{,m}`, `{n,m}`, `{,}`, `~n`, `~n..m`. Raises LiteralError where they make no sense."""
    match = _COUNT.fullmatch(token)
    assert match is not None, "the lexer lets only counts through"
    low = _number(match, "low", "lark-bad-count") if match["low"] else 0
    if not match["between"]:
        return low, low
    if not match["high"]:
        return low, None
    high = _number(match, "high", "lark-bad-count")
    if high < low:
        raise LiteralError(
            "lark-bad-count", f"the range {low} to {high} is empty", 0, len(token), "write the smaller number first"
        )
    return low, high


def _number(match: re.Match[str], group: str, code: str) -> int:
    text = match[group]
    # Long digit strings are not converted: int() is quadratic and has a bound of its own.
    if len(text) > 10 or int(text) > MAX_NUMBER:
        raise LiteralError(code, f"the number is larger than {MAX_NUMBER}", *match.span(group))
    if int(text) < 0:
        raise LiteralError(code, "the number is negative", *match.span(group))
    return int(text)


def parse_priority(token: str) -> int:
    """The priority of a definition, `2` or `-1`. Raises LiteralError."""
    if re.fullmatch(r"[+-]?\d{1,10}", token) and abs(int(token)) <= MAX_NUMBER:
        return int(token)
    help = "write `A.2: ...` or, to come after others, `A.-1: ...`"
    message = f"a priority is an integer of at most {MAX_NUMBER}"
    raise LiteralError("lark-bad-priority", message, 0, len(token), help)


_NAME_IN_SET = re.compile(r"\s*<[^<>\s]+>\s*")
_ID_RANGE = re.compile(r"\s*(?P<low>\d+)\s*(?:-\s*(?P<high>\d+)\s*)?")


@dataclass(frozen=True)
class TokenSetText:
    """`<name>` or `<[...]>`, read; the fields are those of `ir.TokenSet`."""

    names: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    negated: bool = False


def parse_special_tokens(token: str) -> TokenSetText:
    """`<name>` (with its angle brackets), `<[5]>`, `<[1-3,7]>`, `<[^2,<name>]>`, `<[*]>`. Raises LiteralError."""
    if not token.startswith("<["):
        return TokenSetText(names=(token,))
    body, first = token[2:-2], 2
    if body.strip() == "*":
        return TokenSetText(negated=True)
    negated = body.startswith("^")
    if negated:
        body, first = body[1:], 3
    if negated and body.strip() == "*":
        raise LiteralError("lark-bad-token-set", "`<[^*]>` is no token at all", 0, len(token))
    ranges: list[tuple[int, int]] = []
    names: list[str] = []
    for piece in body.split(","):
        if _NAME_IN_SET.fullmatch(piece):
            names.append(piece.strip())
        else:
            ranges.append(_id_range(piece, first))
        first += len(piece) + 1
    return TokenSetText(tuple(names), tuple(sorted(ranges)), negated)


def _id_range(piece: str, first: int) -> tuple[int, int]:
    match = _ID_RANGE.fullmatch(piece)
    if match is None:
        raise LiteralError(
            "lark-bad-token-set",
            "expected token ids, as in `<[5]>`, `<[1-3,7]>` or `<[^2]>`",
            first,
            first + max(1, len(piece)),
            "a special token is named without brackets, as in `<name>`",
        )
    try:
        low = _number(match, "low", "lark-bad-token-set")
        high = _number(match, "high", "lark-bad-token-set") if match["high"] else low
    except LiteralError as error:
        raise LiteralError(error.code, error.message, first + error.start, first + error.end) from None
    if high < low:
        raise LiteralError("lark-bad-token-set", f"the range {low}-{high} is empty", first, first + len(piece))
    return low, high
