"""What stands inside single tokens: escapes, character classes, counts, tokens of the vocabulary."""

from __future__ import annotations

import re
from string import punctuation
from typing import NamedTuple

from cfgmask.gbnf.tokens import Token
from cfgmask.grammar import ir
from cfgmask.grammar import regex_tree as regex
from cfgmask.problems import Problems

MAX_NUMBER = regex.MAX_COUNT
"""The largest count and the largest token id."""

_NOT_VERBATIM = re.compile("[\\\\\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SIMPLE = dict(zip("trnabfv0e", "\t\r\n\a\b\f\v\0\x1b", strict=True)) | {c: c for c in "\\\"[]-^'?/"}
_SIMPLE_IN_CLASS = {c: c for c in punctuation} | _SIMPLE
_BACKSLASH = "\\"
_DIGITS_AFTER = {"x": 2, "u": 4, "U": 8}
_COUNT = re.compile(r"\{\s*(\d+)\s*(?:(,)\s*(\d*)\s*)?\}")
_TOKEN = re.compile(r"(!?)<(?:\[(\d+)\]|(?!\[)[^>]+)>")


class _Character(NamedTuple):
    """A character of a string or class; `is_hyphen` if it is a hyphen that may stand for a range."""

    code: int
    start: int
    end: int
    is_hyphen: bool = False

    @property
    def is_surrogate(self) -> bool:
        return 0xD800 <= self.code <= 0xDFFF


def string(token: Token, problems: Problems) -> str:
    """The text between the quotes, escapes resolved. What is wrong is reported and left out."""
    written = token.text[1:-1]
    if not _NOT_VERBATIM.search(written):
        return written
    characters = _characters(token, 1, problems) or []
    for character in characters:
        if character.is_surrogate:
            problems.error(
                "gbnf-bad-escape",
                "half of a surrogate pair is no character",
                token.span.within(character.start, character.end),
                help="write characters beyond U+FFFF as `\\U` and eight digits",
            )
    return "".join(chr(character.code) for character in characters if not character.is_surrogate)


def character_class(token: Token, problems: Problems) -> regex.CharClass:
    """The characters of a class; any character, and a report, for what is none."""
    negated = token.text.startswith("[^")
    characters = _characters(token, 2 if negated else 1, problems)
    ranges = None if characters is None else _ranges(characters, token, problems)
    if ranges is None:
        return regex.ANY_CHAR
    members = regex.char_class(ranges)
    chosen = regex.negated(members) if negated else members
    # llama.cpp reads `[]` and `[^]` as the empty text, and lets surrogates match nothing; to xgrammar `[^]` is `.`.
    if not chosen.ranges or not (ranges or negated):
        help = "any character is `.`" if negated else 'the empty text is `""`'
        problems.error("gbnf-empty-class", "the class has no characters", token.span, help=help)
    return chosen


def _ranges(characters: list[_Character], token: Token, problems: Problems) -> list[tuple[int, int]] | None:
    """The ranges of a class; None, and a report, if one is empty."""
    ranges: list[tuple[int, int]] = []
    at, n_empty = 0, 0
    while at < len(characters):
        first = last = characters[at]
        at += 1
        # A hyphen at the end is a hyphen.
        if at + 1 < len(characters) and characters[at].is_hyphen:
            last = characters[at + 1]
            at += 2
        if first.code > last.code:
            n_empty += 1
            span = token.span.within(first.start, last.end)
            problems.error("gbnf-reversed-range", "the range is empty", span, help="exchange its ends")
        ranges.append((first.code, last.code))
    return None if n_empty else ranges


def _characters(token: Token, first: int, problems: Problems) -> list[_Character] | None:
    """The characters from `first` to the closing quote or bracket; None, and a report, if some escape is wrong."""
    text, end = token.text, len(token.text) - 1
    found: list[_Character] = []
    at, n_bad = first, 0
    while at < end:
        match = _ESCAPE.match(text, at) if text[at] == "\\" else None
        if match is None:
            found.append(_Character(ord(text[at]), at, at + 1, text[at] == "-"))
            at += 1
            continue
        code = _escaped(match, token, problems)
        if code is None:
            n_bad += 1
        else:
            found.append(_Character(code, at, match.end()))
        at = match.end()
    return None if n_bad else found


def _escaped(match: re.Match[str], token: Token, problems: Problems) -> int | None:
    """The code point of an escape; None, and a report, where there is none."""
    digits, letter = match[1] or match[2] or match[3], match[4]
    if digits is not None and int(digits, 16) <= regex.MAX_CODE_POINT:
        return int(digits, 16)
    simple = _SIMPLE_IN_CLASS if token.kind == "class" else _SIMPLE
    if letter in simple:
        return ord(simple[letter])
    help = None
    if digits is not None:
        message = f"`{match[0]}` is beyond the last character, U+10FFFF"
    elif letter in _DIGITS_AFTER:
        message = f"`\\{letter}` needs {_DIGITS_AFTER[letter]} hexadecimal digits"
    else:
        message = f"there is no escape `\\{letter}`"
        help = f"known are `{' '.join(map(_BACKSLASH.__add__, _SIMPLE))}`, `\\xHH`, `\\uHHHH` and `\\UHHHHHHHH`"
    problems.error("gbnf-bad-escape", message, token.span.within(*match.span()), help=help)
    return None


def count(token: Token, problems: Problems) -> tuple[int, int | None] | None:
    """The bounds of `{n}`, `{n,}` or `{n,m}`; None, and a report, where they make no sense."""
    match = _COUNT.fullmatch(token.text)
    if match is None:
        help = "write `{n}`, `{n,}` or `{n,m}`; at most m times is `{0,m}`"
        problems.error("gbnf-bad-count", "this is no count", token.span, help=help)
        return None
    minimum = _number(match, 1, token, "gbnf-bad-count", problems)
    if not match[2]:
        return None if minimum is None else (minimum, minimum)
    if not match[3]:
        return None if minimum is None else (minimum, None)
    maximum = _number(match, 3, token, "gbnf-bad-count", problems)
    if minimum is None or maximum is None:
        return None
    if maximum < minimum:
        help = "write the smaller number first"
        problems.error("gbnf-bad-count", f"no number is from {minimum} to {maximum}", token.span, help=help)
        return None
    return minimum, maximum


def token_set(token: Token, problems: Problems) -> ir.TokenSet | None:
    """`<tok>`, `<[id]>` and their negations; None, and a report, for anything else."""
    match = _TOKEN.fullmatch(token.text)
    if match is None:
        help = "write `<name>` with the exact text of a special token, or `<[5]>` with an id"
        problems.error("gbnf-bad-token", "this names no token", token.span, help=help)
        return None
    text = token.text[:200]
    negated = bool(match[1])
    if match[2] is None:
        return ir.TokenSet(text, names=(token.text[len(match[1]) :],), negated=negated, span=token.span)
    token_id = _number(match, 2, token, "gbnf-bad-token", problems)
    if token_id is None:
        return None
    return ir.TokenSet(text, ranges=((token_id, token_id),), negated=negated, span=token.span)


def token_id(token: Token, problems: Problems) -> int | None:
    """The number that a name of digits is; None, and a report, for one that is too large."""
    match = re.fullmatch(r"([0-9]+)", token.text)
    assert match is not None
    return _number(match, 1, token, "gbnf-bad-token", problems)


def _number(match: re.Match[str], group: int, token: Token, code: str, problems: Problems) -> int | None:
    digits = match[group].lstrip("0") or "0"
    # Long digit strings are not converted: int() is quadratic and has a bound of its own.
    if len(digits) <= len(str(MAX_NUMBER)) and int(digits) <= MAX_NUMBER:
        return int(digits)
    problems.error(code, f"the number is larger than {MAX_NUMBER}", token.span.within(*match.span(group)))
    return None
