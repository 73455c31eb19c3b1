"""Warnings about lazy quantifiers at the end of a terminal, where they take as little as they can.

`/.*?/ "STOP"` is what people write who know regexes as a whole; here the terminal ends before the next one begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from cfgmask.diagnostics import Diagnostic, Fix, Span, shortened
from cfgmask.lark import nodes

LAZY_AT_END = re.compile(r"(?<!\\)(?:\\\\)*(\*|\?|\+|\{[0-9]*,?[0-9]*\})\?\)*$")
_HELP = "let the terminal hold what it ends with, as in `/.*?STOP/`, or what it may be made of, as in `/[^;]*/`"


def lazy_ends(document: nodes.Document) -> Iterator[Diagnostic]:
    """A warning for each terminal that ends in a lazy quantifier and that rules use. Linear."""
    used: set[str] = set()
    for definition in document.definitions:
        if not definition.is_terminal and definition.attributes.one_terminal is None:
            used |= definition.used_names
            yield from _in_rule(definition.body, joins=not document.ignores)
    for definition in document.definitions:
        if definition.is_terminal and definition.name in used:
            for pattern in _last(definition.body):
                yield from _of_pattern(pattern, None)


def _in_rule(body: nodes.Expression, *, joins: bool) -> Iterator[Diagnostic]:
    """`joins`: whether what follows a pattern follows it directly."""
    following: dict[int, nodes.Expression] = {}
    for node in nodes.walk(body):
        if isinstance(node, nodes.Sequence):
            following |= {id(part): after for part, after in pairwise(node.parts)}
        if isinstance(node, nodes.Pattern):
            yield from _of_pattern(node, following.get(id(node)) if joins else None)


def _last(body: nodes.Expression) -> Iterator[nodes.Pattern]:
    """The patterns that a terminal may end with."""
    pending = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.Pattern):
            yield node
        elif isinstance(node, nodes.Sequence):
            pending += node.parts[-1:]
        elif isinstance(node, nodes.Choice):
            pending += node.parts


def _of_pattern(pattern: nodes.Pattern, following: nodes.Expression | None) -> Iterator[Diagnostic]:
    found = LAZY_AT_END.search(pattern.body.text)
    if found is None:
        return
    least = "nothing" if found[1] in ("*", "?") or found[1].startswith(("{0", "{,")) else "as little as it can"
    shown = shortened(pattern.span.text)
    yield Diagnostic(
        "lark-lazy-end",
        f"the lazy quantifier that `{shown}` ends with takes {least}, whatever follows the terminal",
        pattern.span,
        severity="warning",
        help=_HELP,
        fix=_joined(pattern, following),
    )


def _joined(pattern: nodes.Pattern, following: nodes.Expression | None) -> Fix | None:
    """`/.*?/ "STOP"` as `/.*?STOP/`."""
    if not isinstance(following, nodes.String) or following.ignore_case or not following.value.isprintable():
        return None
    place = Span(pattern.span.source, pattern.span.start, following.span.end)
    if "\n" in place.text or "x" in pattern.flags:
        return None
    literal = re.escape(following.value).replace("/", "\\/")
    return Fix(place, f"/{pattern.body.text}{literal}/{pattern.flags}")
