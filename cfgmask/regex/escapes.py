"""Reads what follows a backslash, inside and outside of classes."""

from __future__ import annotations

import re
import unicodedata
from typing import TypeAlias, cast

from cfgmask.grammar.regex_tree import MAX_CODE_POINT
from cfgmask.regex.scanner import Scanner
from cfgmask.regex.syntax import Anchor, Backreference, BoundaryKind, Property, Shorthand, Text, WordBoundary
from cfgmask.regex.unicode_data import ShorthandLetter

Escape: TypeAlias = Text | Shorthand | Property | Anchor | WordBoundary | Backreference

_HEX = re.compile(r"[0-9A-Fa-f]+")
_BRACED_HEX = re.compile(r"\{([0-9A-Fa-f]+)\}")
_LOW_SURROGATE = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_OCTAL_IN_CLASS = re.compile(r"[0-7]{1,3}")
_OCTAL = re.compile(r"0[0-7]{0,2}|[0-7]{3}")
_BRACED = re.compile(r"\{([^{}]*)\}")
_PROPERTY = re.compile(r"\{(\^?)([A-Za-z0-9_ \-]+)(?:(=|:|!=)([A-Za-z0-9_ \-.]+))?\}")
_REFERENCE = re.compile(r"[<{'][^>}']*[>}']")
_BOUNDARY_KIND = re.compile(r"\{(start|end|start-half|end-half)\}")

_KNOWN_UNSUPPORTED = {
    "X": "a grapheme cluster",
    "R": "a line break sequence",
    "K": "a reset of the match's start",
    "G": "the place where the search began",
}


def read_escape(scan: Scanner, in_class: bool) -> Escape | None:
    """Read one escape; the scanner stands behind its backslash. None where it was reported as wrong."""
    start = scan.position - 1
    letter = scan.peek()
    if not letter:
        scan.report("trailing-backslash", start, "the pattern ends with a backslash", "write `\\\\` for a backslash")
        return None
    scan.position += 1
    dialect = scan.dialect
    if letter in dialect.escapes:
        return _text(scan, start, dialect.escapes[letter])
    if letter == "b" and in_class and dialect.backspace:
        return _text(scan, start, 8)
    if letter in "dwsDWS":
        lower = cast(ShorthandLetter, letter.lower())
        return Shorthand(start, scan.position, lower, letter != lower, scan.flags)
    if letter in "pP":
        return _property(scan, start, letter == "P")
    if letter in dialect.hex_digits:
        return _hex(scan, start, letter, in_class)
    if letter in "0123456789":
        return _digits(scan, start, letter, in_class)
    if letter == "c" and dialect.control:
        return _control(scan, start)
    if letter == "N" and dialect.named_characters:
        return _named(scan, start)
    if not in_class:
        place = _place(scan, start, letter)
        if place is not None:
            return place
    if (dialect.class_identity if in_class else dialect.identity).match(letter):
        return _text(scan, start, ord(letter))
    _refuse(scan, start, letter)
    return None


def _text(scan: Scanner, start: int, code: int) -> Text:
    return Text(start, scan.position, chr(code), scan.flags)


def _place(scan: Scanner, start: int, letter: str) -> Escape | None:
    """Escapes that match no character: anchors, word boundaries, backreferences."""
    if letter in scan.dialect.anchors:
        return Anchor(start, scan.position, scan.dialect.anchors[letter], False)
    if letter == "B":
        return WordBoundary(start, scan.position, "no-boundary", scan.flags)
    if letter == "b":
        kind = scan.match(_BOUNDARY_KIND) if scan.dialect.name == "rust" else None
        return WordBoundary(start, scan.position, cast(BoundaryKind, kind[1] if kind else "boundary"), scan.flags)
    if letter in "<>" and not scan.dialect.identity.match(letter):
        return WordBoundary(start, scan.position, "start" if letter == "<" else "end", scan.flags)
    if letter in "kg" and scan.match(_REFERENCE):
        return Backreference(start, scan.position)
    return None


def _refuse(scan: Scanner, start: int, letter: str) -> None:
    name = scan.dialect.name
    if letter in _KNOWN_UNSUPPORTED:
        what = _KNOWN_UNSUPPORTED[letter]
        scan.report("unsupported-escape", start, f"`\\{letter}` ({what}) is not supported", "write a pattern for it")
    elif letter.isascii() and letter.isalnum():
        scan.report(
            "bad-escape",
            start,
            f"`\\{letter}` has no meaning in {name} patterns",
            "anchors are `^` and `$`" if letter in "AZz" else f"write `{letter}` for the character itself",
        )
    else:
        scan.report("bad-escape", start, f"`{letter}` takes no backslash in {name} patterns", f"write `{letter}`")


def _hex(scan: Scanner, start: int, letter: str, in_class: bool) -> Text | None:
    dialect = scan.dialect
    if letter in dialect.braced_hex and scan.looking_at("{"):
        braced = scan.match(_BRACED_HEX)
        digits = braced[1].lstrip("0") if braced else ""
    else:
        braced = None
        digits = scan.pattern[scan.position : scan.position + dialect.hex_digits[letter]]
        if len(digits) < dialect.hex_digits[letter] or not _HEX.fullmatch(digits):
            digits = ""
        scan.position += len(digits)
    if not digits and not braced:
        scan.match(_BRACED)
        count = dialect.hex_digits[letter]
        form = f" or `\\{letter}{{...}}`" if letter in dialect.braced_hex else ""
        scan.report(
            "bad-escape", start, f"`\\{letter}` needs {count} hexadecimal digits", f"write {count} digits{form}"
        )
        return None
    code = int(digits[:9] or "0", 16)
    if 0xD800 <= code <= 0xDBFF and letter == "u" and dialect.name == "ecma" and not braced:
        low = scan.match(_LOW_SURROGATE)
        if low:
            code = 0x10000 + ((code - 0xD800) << 10) + (int(low[1], 16) - 0xDC00)
    if code > MAX_CODE_POINT:
        scan.report("bad-code-point", start, "there is no character beyond U+10FFFF", "write fewer digits")
        return None
    if 0xD800 <= code <= 0xDFFF and (not in_class or dialect.name == "rust"):
        # In a class a range may pass over surrogates, which then are left out of it.
        scan.report(
            "surrogate", start, "a lone surrogate is no character", "write the character that the pair stands for"
        )
        return None
    if dialect.name == "rust" and scan.flags.ascii and letter == "x" and code > 0x7F:
        scan.report("non-utf8", start, "without the flag u this escape is a byte, not a character", "drop `-u`")
        return None
    return _text(scan, start, code)


def _digits(scan: Scanner, start: int, first: str, in_class: bool) -> Text | Backreference | None:
    scan.position -= 1
    if scan.dialect.digits == "octal":
        octal = scan.match(_OCTAL_IN_CLASS if in_class else _OCTAL)
        if octal:
            return _octal(scan, start, octal[0])
        scan.position += 1
    else:
        scan.position += 1
        if first == "0" and not (scan.peek() and scan.peek() in "0123456789"):
            return _text(scan, start, 0)
    if in_class or first == "0":
        scan.report(
            "bad-escape", start, f"`\\{first}` has no meaning here in {scan.dialect.name} patterns", "write `\\xHH`"
        )
        return None
    if scan.peek() and scan.peek() in "0123456789":
        scan.position += 1
    return Backreference(start, scan.position)


def _octal(scan: Scanner, start: int, digits: str) -> Text | None:
    if int(digits, 8) > 0o377:
        scan.report("bad-escape", start, "an octal escape ends at `\\377`", "write `\\uHHHH`")
        return None
    return _text(scan, start, int(digits, 8))


def _control(scan: Scanner, start: int) -> Text | None:
    letter = scan.peek()
    if not (letter.isascii() and letter.isalpha()):
        scan.report("bad-escape", start, "`\\c` needs an ASCII letter", "write `\\xHH` for a control character")
        return None
    scan.position += 1
    return _text(scan, start, ord(letter) % 32)


def _named(scan: Scanner, start: int) -> Text | None:
    braced = scan.match(_BRACED)
    if not braced:
        scan.report("bad-escape", start, "`\\N` needs the name of a character in braces", "write `\\N{BULLET}`, say")
        return None
    try:
        # Some names stand for a sequence of characters; `ord` raises TypeError for those, and `re` refuses them.
        code = ord(unicodedata.lookup(braced[1]))
    except (KeyError, TypeError):
        scan.report("unknown-character", start, "no character has this name", "names are those of the Unicode standard")
        return None
    return _text(scan, start, code)


def _property(scan: Scanner, start: int, negated: bool) -> Property | None:
    letter = scan.peek()
    if scan.dialect.short_properties and letter.isascii() and letter.isalpha():
        scan.position += 1
        return Property(start, scan.position, letter, "", negated, scan.flags)
    found = scan.match(_PROPERTY)
    if not found or (found[1] and scan.dialect.name != "python"):
        scan.match(_BRACED)
        scan.report(
            "bad-escape", start, "`\\p` needs the name of a property in braces", "write `\\p{L}` or `\\p{Script=Greek}`"
        )
        return None
    flipped = bool(found[1]) != (found[3] == "!=")
    return Property(start, scan.position, found[2], found[4] or "", negated != flipped, scan.flags)
