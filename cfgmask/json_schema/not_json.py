"""What is wrong with a text that is not JSON: what people write instead, such as comments and trailing commas."""

from __future__ import annotations

import re

from cfgmask.diagnostics import Diagnostic, Fix, Span
from cfgmask.json_schema.places import Places

_BLANKS = " \t\r\n"
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_SINGLE = re.compile(r"'((?:[^'\\\n\"]|\\.)*)'")
_FENCE = re.compile(r"\s*```")


def not_json(text: str, position: int, reason: str, places: Places) -> Diagnostic:
    """The error for a text that `json` could not read.

    position, reason  where and why it stopped
    """
    begin, end, message, help, written = _found(text, position, reason)
    place = places.between(begin, end)
    fix = None if written is None or "\n" in text[begin:end] else Fix(_widened(text, begin, end, places), written)
    return Diagnostic("schema-syntax", f"the schema is not JSON: {message}", place, help=help, fix=fix)


def _widened(text: str, begin: int, end: int, places: Places) -> Span:
    """The place, with the blanks before it if it is a comment that ends its line."""
    if _COMMENT.match(text, begin) and text[end : end + 1] in ("", "\n"):
        while begin and text[begin - 1] in " \t":
            begin -= 1
    return places.between(begin, end)


def _found(text: str, position: int, reason: str) -> tuple[int, int, str, str | None, str | None]:
    """Where it stands, what is wrong, help, and what to write instead."""
    at = position
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    before = at - 1
    while before >= 0 and text[before] in _BLANKS:
        before -= 1
    if not text.strip():
        return 0, 0, "it is empty", "write at least `{}`, which allows any value", None
    if _FENCE.match(text):
        begin = text.index("`")
        return begin, begin + 3, "it begins with a Markdown fence", "pass what stands between the fences", None
    comment = _COMMENT.match(text, at)
    if comment is not None:
        help = 'JSON has no comments: take them out, or write `"$comment": "..."`'
        return at, comment.end(), "there is a comment", help, ""
    # `json` stops at the comma or behind it, as its version has it.
    for comma in (before, at):
        if 0 <= comma < len(text) and text[comma] == ",":
            behind = comma + 1
            while behind < len(text) and text[behind] in _BLANKS:
                behind += 1
            if text[behind : behind + 1] in ("}", "]"):
                what = "member" if text[behind] == "}" else "element"
                return comma, comma + 1, f"there is a comma after the last {what}", "take the comma out", ""
    quoted = _SINGLE.match(text, at)
    if quoted is not None:
        return at, quoted.end(), "a string is in single quotes", "write double quotes", f'"{quoted[1]}"'
    word = _WORD.match(text, at)
    if word is not None and word[0] in _WORDS:
        right = _WORDS[word[0]]
        return at, word.end(), f"it has no `{word[0]}`", f"write `{right}`", right
    if word is not None and text[word.end() :].lstrip(_BLANKS)[:1] == ":":
        return at, word.end(), "a key is not in quotes", "write double quotes around it", f'"{word[0]}"'
    return position, position + 1, reason[:1].lower() + reason[1:], None, None
