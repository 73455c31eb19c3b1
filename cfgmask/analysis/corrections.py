"""Changes of a grammar's text that are certain: they lie on one line, and what they touch is written plainly.

Expressions keep the places of names, strings, regexes and repetitions, so a change is told from the text around those.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from cfgmask.analysis.flat import Flat
from cfgmask.diagnostics import Fix, Span
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, RuleRef, Sequence, Terminal
from cfgmask.grammar.regex_tree import Literal
from cfgmask.grammar.walk import walk

_ALIAS = r"[ \t]*(?:->[ \t]*[\w-]+[ \t]*)?"
_BEHIND = re.compile(rf"{_ALIAS}\|[ \t]*")
_BEFORE = re.compile(r"[ \t]*\|[ \t]*$")
_AT_END = re.compile(rf"({_ALIAS})(?:$|[|)\]]|//|#)")


def without_alternative(span: Span) -> Fix | None:
    """The line without an alternative, which is all that stands at a place, and one of the bars beside it."""
    before, behind = _line_around(span)
    if before.rstrip(" \t")[-1:] in tuple(":|([") and (bar := _BEHIND.match(behind)):
        return Fix(Span(span.source, span.start, span.end + bar.end()), "")
    if (bar := _BEFORE.search(before)) and (rest := _AT_END.match(behind)):
        return Fix(Span(span.source, span.start - len(before) + bar.start(), span.end + len(rest[1].rstrip())), "")
    return None


def starred(repeat: Repeat, is_nullable: Callable[[Expr], bool]) -> Fix | None:
    """`("a"? "b"*)*` as `("a" | "b")*`: what may be empty, repeated, as what is not, with the same texts."""
    if repeat.span is None or repeat.maximum is not None or repeat.span.text[-1] not in "*+":
        return None
    try:
        parts = list(dict.fromkeys(_visible_parts(repeat.body, is_nullable)))
    except _Unwritable:
        return None
    # In a template, what is written is not what stands for it.
    if not parts or "\n" in repeat.span.text or any(part.strip("()") not in repeat.span.text for part in parts):
        return None
    return Fix(repeat.span, f"({' | '.join(parts)})*")


class EmptyRules:
    """Writes repetitions of rules that may be empty with the same texts, each rule once. Made in linear time."""

    def __init__(self, ir: GrammarIR, is_nullable: Callable[[Expr], bool]) -> None:
        self._rules = {rule.name: rule for rule in ir.rules}
        self._is_nullable = is_nullable
        used = [expr for rule in ir.rules for expr in walk(rule.body)]
        self._uses = Counter(expr.name for expr in used if isinstance(expr, RuleRef))
        self._uses[ir.start] += 1
        starred = (expr for expr in used if isinstance(expr, Repeat) and not expr.minimum and expr.maximum is None)
        self._starred = Counter(expr.body.name for expr in starred if isinstance(expr.body, RuleRef))
        self._known: dict[str, tuple[Span, str] | None] = {}

    def correction(self, repeat: Repeat) -> Fix | None:
        """`item: ["a"]` as `item: "a"`, if `item*` is all there is of it; or else `item*` and `item+` as `("a")*`."""
        name = repeat.body.name if isinstance(repeat.body, RuleRef) else ""
        if name not in self._known:
            self._known[name] = self._visible(self._rules[name]) if name else None
        known = self._known[name]
        # Other grammars may import the same rule.
        if known is None or repeat.span is None or repeat.span.source is not known[0].source:
            return None
        place, parts = known
        if self._uses[name] == self._starred[name]:
            return Fix(place, parts)
        return Fix(repeat.span, f"({parts})*") if repeat.span.text[-1] in "*+" else None

    def _visible(self, rule: Rule) -> tuple[Span, str] | None:
        """Where the body of a rule stands, and texts of which any number is any number of it."""
        # Rules of inner grammars and of templates have other names.
        place = _body_of(rule.span) if rule.span is not None and rule.span.text == rule.name else None
        # An arrow gives a name to an alternative.
        if place is None or "->" in place.text or rule != Rule(rule.name, rule.body, rule.scope):
            return None
        try:
            parts = list(dict.fromkeys(_visible_parts(rule.body, self._is_nullable)))
        except _Unwritable:
            return None
        is_plain = bool(parts) and all(part.strip("()") in place.text for part in parts)
        return (place, " | ".join(parts)) if is_plain else None


class _Unwritable(Exception):
    """It is not plain to see how an expression is written."""


def _visible_parts(expr: Expr, is_nullable: Callable[[Expr], bool]) -> Iterator[str]:
    """Texts of expressions of which any number, in any order, is any number of `expr`."""
    if isinstance(expr, Repeat) and not expr.minimum and expr.maximum != 0:
        if is_nullable(expr.body) or isinstance(expr.body, Choice):
            yield from _visible_parts(expr.body, is_nullable)
        elif isinstance(expr.body, Sequence):
            yield _inside(expr)
        else:
            yield _text(expr.body)
    elif isinstance(expr, Choice) or (isinstance(expr, Sequence) and is_nullable(expr)):
        for part in expr.parts:
            yield from _visible_parts(part, is_nullable)
    elif is_nullable(expr):
        raise _Unwritable
    else:
        yield _text(expr)


def _inside(option: Repeat) -> str:
    """What is optional in `(...)?`, `(...)*` or `[...]`, with round brackets."""
    text = "" if option.span is None else option.span.text
    if text[:1] == "[" and text[-1:] == "]":
        return f"({text[1:-1]})"
    if text[:1] == "(" and text[-2:] in (")?", ")*"):
        return text[:-1]
    raise _Unwritable


def _text(expr: Expr) -> str:
    """How an expression is written that keeps its place and is not a definition's own."""
    if not isinstance(expr, (Terminal, RuleRef, Repeat)) or expr.span is None:
        raise _Unwritable
    if isinstance(expr, Terminal):
        # The place of a terminal with a name is that of its definition.
        return expr.name
    return expr.span.text


def with_body(rule: Rule, body: str) -> Fix | None:
    """The definition of a rule that stands on one line, with another body."""
    place = None if rule.span is None else _body_of(rule.span)
    return None if place is None else Fix(place, body)


def _body_of(name: Span) -> Span | None:
    """What stands behind a name on the one line that defines it."""
    head = _DEFINITION.match(_line_around(name)[1])
    below = name.source.text[name.end :].partition("\n")[2].lstrip()
    if head is None or below.startswith(("|", "&", "->", "%if", "//", "#")):
        return None
    return Span(name.source, name.end + head.end(1), name.end + head.end(2))


_DEFINITION = re.compile(r"((?:\.[0-9]+)?[ \t]*:[ \t]*)([^#]*?)[ \t]*(?://.*)?$")


def ending_with(flat: Flat, leaf: int, following: int) -> Fix | None:
    """`/.+/ "END"` as `/.+?END/`: a text up to the first end."""
    text, end = flat.leaves[leaf].symbol, flat.leaves[following].symbol
    if text.span is None or end.span is None or flat.ir.scopes[flat.leaves[leaf].scope].ignore:
        return None
    if not isinstance(end, Terminal) or not isinstance(end.regex, Literal) or end.span.text[-1:] != '"':
        return None
    pattern = _FREE_TEXT.fullmatch(text.span.text)
    # The place of a string is the first one where it stands, so what is behind the text is told by how it is written.
    behind = re.match(rf"[ \t]*{re.escape(end.span.text)}{_ALONE}", _line_around(text.span)[1])
    if pattern is None or behind is None:
        return None
    literal = re.escape(end.regex.data.decode()).replace("/", "\\/")
    if not literal.isprintable():
        return None
    place = Span(text.span.source, text.span.start, text.span.end + behind.end())
    return Fix(place, f"/{pattern[1]}?{literal}/{pattern[2]}")


def without_end(flat: Flat, leaf: int, following: int) -> Fix | None:
    r"""`NAME: /.*/`, before `";"`, as `NAME: /[^;\n]*/`: a text without the character that ends it."""
    text, end = flat.leaves[leaf].symbol, flat.leaves[following].symbol
    if text.span is None or not isinstance(end, Terminal) or not isinstance(end.regex, Literal):
        return None
    place, character = _body_of(text.span), end.regex.data
    pattern = None if place is None else _FREE_TEXT.fullmatch(place.text)
    if place is None or pattern is None or len(character) != 1 or not character.isascii():
        return None
    repeated, escaped = pattern[1][:-1], re.escape(character.decode()).replace("/", "\\/")
    if repeated == ".":
        repeated = "[^]" if "s" in pattern[2] else r"[^\n]"
    if not repeated.startswith("[^") or not escaped.isprintable():
        return None
    return Fix(place, f"/[^{escaped}{repeated[2:]}{pattern[1][-1]}/{pattern[2]}")


def with_line_break(flat: Flat) -> Fix | None:
    r"""`%ignore /#.*/` as `%ignore /#.*\n?/`: a comment ends with its line."""
    places = [ignored.span for ignored in flat.ir.scopes[flat[flat.start].rule.scope].ignore if ignored.span]
    # The place of a terminal with a name is that name in its definition.
    comments = [m for span in places if (m := _COMMENT.match(span.source.text, span.start))]
    if len(comments) != 1:
        return None
    comment = comments[0]
    source = next(span.source for span in places if span.start == comment.start())
    return Fix(Span(source, comment.end(1), comment.end()), "\\n?/")


_ALONE = r"(?![i?*+~{]|[ \t]*(?:[~{]|\.\.))"
"""Behind a string: no flag, no repetition, no range."""
_FREE_TEXT = re.compile(r"/((?:\.|\[(?:[^\]\\\n]|\\[^\n])+\])[*+])/([sm]*)")
_COMMENT = re.compile(r"((?:[A-Z_]+[ \t]*:[ \t]*)?/(?:#|;|--|(?:\\/){2})(?:\.|\[\^\\n\])[*+])/(?=[ \t]*(?:$|\n))")


def _line_around(span: Span) -> tuple[str, str]:
    """What stands before a place on its line, and behind it."""
    text = span.source.text
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    return text[start : span.start], text[span.end : end if end >= 0 else len(text)].rstrip("\r")
