"""What people write who know other notations, and what to write instead."""

from __future__ import annotations

import re

from cfgmask.diagnostics import Fix, Source, Span

_SINGLE_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.)*)'")
_DEFINES = re.compile(r"[ \t]*(?::=|=|:)")
_STRING_BEFORE = re.compile(r'"((?:[^"\\\n]|\\.)*)"$')
_CASED = re.compile(r"[A-Za-z]")


def correction(source: Source, at: int) -> Fix | None:
    """What to write in place of a character that begins no token, and what belongs to it."""
    text = source.text
    character = text[at]
    if character == "'" and (quoted := _SINGLE_QUOTED.match(text, at)) is not None:
        inner = re.sub(r'(?<!\\)"', r"\"", quoted[1].replace("\\'", "'"))
        return Fix(Span(source, at, quoted.end()), f'"{inner}"')
    if character in ":=":
        begin = at
        while begin and text[begin - 1] in " \t":
            begin -= 1
        found = _DEFINES.match(text, begin)
        is_head = re.fullmatch(r"[ \t]*[\w.-]+", text[text.rfind("\n", 0, begin) + 1 : begin]) is not None
        return Fix(Span(source, begin, found.end()), " ::=") if found is not None and is_head else None
    if text.startswith("//", at):
        return Fix(Span(source, at, at + 2), "#")
    return None


def ignoring_case(name: Span) -> Fix | None:
    """`"ab"i` as `[aA] [bB]`, for the `i` behind a string; None where that is something else."""
    if name.text != "i":
        return None
    text = name.source.text
    line = text[text.rfind("\n", 0, name.start) + 1 : name.start]
    string = _STRING_BEFORE.search(line)
    if string is None:
        return None
    place = Span(name.source, name.start - len(string[0]), name.end)
    if "\\" in string[1]:
        return None
    return Fix(place, _in_both_cases(string[1]))


def _in_both_cases(text: str) -> str:
    parts = re.findall(r"[A-Za-z]|[^A-Za-z]+", text)
    written = [f"[{part.lower()}{part.upper()}]" if _CASED.fullmatch(part) else f'"{part}"' for part in parts]
    return " ".join(written) if len(written) == 1 else f"({' '.join(written)})"
