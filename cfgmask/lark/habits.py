"""What people write who know other notations, and what to write instead."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cfgmask.diagnostics import Fix, Source, Span
from cfgmask.lark.tokens import Token

_BLOCKS = ("JSON", "REGEX", "LARK")
_BEGIN_BODIES = frozenset(["STRING", "REGEXP", "NAME", "LPAR", "LSQB", "SPECIAL_TOKENS", "TILDE", *_BLOCKS])
_FLAGS = "i, m, s, u, x and l"
_SINGLE_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.)*)'")
_COMMENT = re.compile(r"/\*[^\n]*?\*/")


@dataclass(frozen=True)
class Habit:
    """What to report instead of what is reported of any mistake there; None leaves that as it is."""

    help: str
    message: str | None = None
    fix: Fix | None = None
    span: Span | None = None


def at_token(source: Source, tokens: Sequence[Token], wrong: Token) -> Habit | None:
    """What is known of a token that is wrong in the statement that has these tokens."""
    seen = [token for token in tokens if token.start <= wrong.start]
    kinds = [token.type for token in seen]
    before = seen[-2] if len(seen) > 1 else None
    for find in (_of_definition, _of_comment, _of_statement):
        found = find(source, seen, before, wrong)
        if found is not None:
            return found
    if wrong.type == "LBRACE" and "COLON" in kinds:
        is_repeated = before is not None and before.type in ("STRING", "REGEXP", "RPAR", "RSQB")
        counts = "counts are written `{2}`, `{2,}`, `{,5}` or `{2,5}`"
        return Habit(counts if is_repeated else "repetition is written `(...)*`")
    return None


def _of_definition(source: Source, seen: Sequence[Token], before: Token | None, wrong: Token) -> Habit | None:
    """Signs that other notations have between a name and what it means."""
    if before is None or seen[0].type not in ("NAME", "QUESTION", "BANG") or "COLON" in [t.type for t in seen[:-2]]:
        return None
    begin = before.start if before.type in ("DOUBLE_COLON", "COLON") else wrong.start
    if wrong.type == "EQUAL" and before.type in ("DOUBLE_COLON", "COLON", "NAME"):
        help = "a definition is written `name: ...`"
        if before.type == "DOUBLE_COLON":
            help += "; GBNF, which has `::=`, is read by `Grammar.from_gbnf`"
        return Habit(help, fix=_definition_fix(source, begin, wrong.end))
    if str(wrong) == "->" and before.type == "NAME":
        return Habit("a definition is written `name: ...`", fix=_definition_fix(source, wrong.start, wrong.end))
    is_alone = len(seen) == 2 or (len(seen) == 3 and seen[0].type in ("QUESTION", "BANG"))
    if is_alone and before.type == "NAME" and wrong.type in _BEGIN_BODIES:
        span = Span(source, before.end, before.end)
        return Habit(
            "a definition is written `name: ...`, and goes on in the next line only with `|` at its beginning",
            f"a `:` is missing after `{before}`",
            Fix(span, ":"),
            Span(source, before.start, before.end),
        )
    return None


def _definition_fix(source: Source, begin: int, end: int) -> Fix:
    while begin and source.text[begin - 1] in " \t":
        begin -= 1
    return Fix(Span(source, begin, end), ":")


def _of_comment(source: Source, seen: Sequence[Token], before: Token | None, wrong: Token) -> Habit | None:
    """`/* ... */`, which is a regex here."""
    comment = _COMMENT.match(source.text, wrong.start)
    return None if wrong.type != "REGEXP" or comment is None else comment_habit(source, comment)


def comment_at(source: Source, start: int) -> Habit | None:
    """`/* ... */` at a place where a regex was read."""
    comment = _COMMENT.match(source.text, start)
    return None if comment is None else comment_habit(source, comment)


def comment_habit(source: Source, comment: re.Match[str]) -> Habit:
    """The same for one that was found."""
    end = source.text.find("\n", comment.end())
    is_last = not source.text[comment.end() : end if end >= 0 else None].strip()
    text = comment[0][2:-2].strip()
    span = Span(source, comment.start(), comment.end())
    fix = Fix(span, f"// {text}") if is_last else None
    return Habit("a comment goes from `//` or `#` to the end of its line", "this is a regex, not a comment", fix, span)


def _of_statement(source: Source, seen: Sequence[Token], before: Token | None, wrong: Token) -> Habit | None:
    first = seen[0]
    if wrong.type == "COMMA":
        if first.type == "IMPORT":
            return Habit("several names are imported as in `%import common (INT, WS)`")
        if first.type in ("NAME", "QUESTION", "BANG") and before is not None and before.type != "RBRACE":
            help = "what comes one after the other has blanks between it, and alternatives have `|`"
            return Habit(help, fix=Fix(Span(source, wrong.start, wrong.end), ""))
    if first.type in _BLOCKS and len(seen) == 1:
        return Habit(f"it stands in a rule: `start: {wrong} {{...}}`")
    if len(seen) == 1 and wrong.type in ("STRING", "REGEXP", "LPAR", "LSQB"):
        return Habit("a definition is written `name: ...`, and goes on in the next line with `|` at its beginning")
    if str(wrong) == ".." and before is not None and before.type in ("COUNT", "TILDE"):
        return Habit("counts are written `~2` or `~2..5`")
    if wrong.type == "COLON" and before is not None and before.type == "STRING":
        return Habit(
            f'a colon in the text is part of a string, and a quote in it is written `\\"`: `{_with_colon(before)}`'
        )
    return None


def _with_colon(string: Token) -> str:
    inner = str(string).rstrip("i")[1:-1]
    return f'"\\"{inner}\\": "'


def near_unknown(name: Span) -> Habit | None:
    """What an unknown name is by what stands around it; None if that says nothing."""
    text, source = name.source.text, name.source
    before, behind = text[name.start - 1 : name.start], text[name.end : name.end + 1]
    if before == "/" and len(name.text) <= 2 and name.text.islower():
        help = f"flags of a regex are {_FLAGS}; a regex is matched as a whole, wherever it stands"
        return Habit(help, f"`{name.text}` is no flag of a regex", Fix(name, ""))
    if before == '"' or (behind == '"' and _is_in_string(text, name)):
        help = 'a quote inside a string is written `\\"`'
        return Habit(help, f"the string ends before `{name.text}`", None)
    if before == "[" and behind == "]":
        span = Span(source, name.start - 1, name.end + 1)
        help = f"brackets make what is in them optional; the text itself is a string: `{json.dumps(span.text)}`"
        return Habit(help, fix=Fix(span, json.dumps(span.text)))
    return None


def _is_in_string(text: str, name: Span) -> bool:
    """Whether a name stands between two strings without blanks at one side."""
    line = text[text.rfind("\n", 0, name.start) + 1 : name.start]
    return line.count('"') % 2 == 0 and line.rstrip()[-1:] == '"'


def single_quoted(source: Source, start: int) -> Fix | None:
    """`'a'` as `"a"`."""
    found = _SINGLE_QUOTED.match(source.text, start)
    if found is None:
        return None
    inner = found[1].replace("\\'", "'")
    inner = re.sub(r'(?<!\\)"', r"\"", inner)
    return Fix(Span(source, start, found.end()), f'"{inner}"')
