"""Which of many short texts a Lark grammar takes, by tables of spans: what Lark's Earley parser says, far quicker.

Lark reads the grammar, writes out templates and the operators of rules, and makes regexes of the terminals. What is
left to say, which texts these rules derive, is done in the most obvious way: which spans of each text a terminal takes,
tried as Lark tries them, then which spans each rule takes, until none is added. All texts are looked at together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from unittest import mock

from lark import Lark
from lark.load_grammar import _get_parser

# [begin][end]: the texts in which this span is taken, a bit for each.
Spans = list[list[int]]


def read(grammar: str) -> Lark:
    """A grammar as Lark reads it. It tells its rules, but not what they begin with: that takes Lark seconds."""
    # The grammar of grammars, which Lark makes once, asks for it.
    _get_parser()
    with mock.patch("lark.parsers.grammar_analysis.calculate_sets", return_value=({}, {}, set())):
        return Lark(grammar, parser="earley", lexer="dynamic_complete")


def accepted(parser: Lark, texts: Sequence[str]) -> set[str]:
    """Those of the texts that a grammar takes, which Lark has read for `dynamic_complete`."""
    n_places = max(map(len, texts)) + 1
    rules = [(rule.origin.name, [symbol.name for symbol in rule.expansion]) for rule in parser.rules]
    ignored = [str(name) for name in parser.ignore_tokens]
    # Lark's own, with their flags.
    regexes: dict[str, Any] = parser.parser.parser.term_matcher.__self__.regexps
    skipped = _skipped([regexes[name] for name in ignored], texts, n_places)
    spans = {name: _no_spans(n_places) for name, _ in rules}
    for name in {name for _, body in rules for name in body} - set(spans):
        # Ignored text before a terminal belongs to it.
        spans[name] = _one_behind_another(skipped, _of_terminal(regexes[name], texts, n_places))
    grows = True
    while grows:
        grows = False
        for name, body in rules:
            known = spans[name]
            for begin in range(n_places):
                for end, where in enumerate(_through(body, begin, spans, n_places, len(texts))):
                    if where & ~known[begin][end]:
                        known[begin][end] |= where
                        grows = True
    whole = _one_behind_another(spans[parser.options.start[0]], skipped)[0]
    return {text for number, text in enumerate(texts) if whole[len(text)] >> number & 1}


def _no_spans(n_places: int) -> Spans:
    return [[0] * n_places for _ in range(n_places)]


def _of_terminal(regex: Any, texts: Sequence[str], n_places: int) -> Spans:
    """A match at each place, and what matches as the last characters of that are taken away."""
    looks_back = re.search(r"\(\?<[=!]|\\[bBA]|\^", regex.pattern)
    spans, known = _no_spans(n_places), dict[str, frozenset[int]]()
    for number, text in enumerate(texts):
        for begin in range(len(text)):
            if looks_back:
                lengths = _lengths(regex, text, begin)
            else:
                rest = text[begin:]
                if rest not in known:
                    known[rest] = _lengths(regex, rest, 0)
                lengths = known[rest]
            for length in lengths:
                spans[begin][begin + length] |= 1 << number
    return spans


def _lengths(regex: Any, text: str, place: int) -> frozenset[int]:
    match = regex.match(text, place)
    if match is None:
        return frozenset()
    whole: str = match.group(0)
    shorter = (regex.match(whole[:-n]) for n in range(1, len(whole)))
    return frozenset({len(whole), *(len(found.group(0)) for found in shorter if found)})


def _skipped(ignored: Sequence[Any], texts: Sequence[str], n_places: int) -> Spans:
    """Any number of ignored texts, the longest match of each: Lark tries no other."""
    spans = _no_spans(n_places)
    for number, text in enumerate(texts):
        ends = [{place} for place in range(len(text) + 1)]
        for place in reversed(range(len(text))):
            for regex in ignored:
                if match := regex.match(text, place):
                    ends[place] |= ends[match.end()]
        for begin, reached in enumerate(ends):
            for end in reached:
                spans[begin][end] |= 1 << number
    return spans


def _one_behind_another(first: Spans, second: Spans) -> Spans:
    spans = _no_spans(len(first))
    for begin, ends in enumerate(first):
        for middle, where in enumerate(ends):
            if where:
                for end, also in enumerate(second[middle]):
                    spans[begin][end] |= where & also
    return spans


def _through(body: list[str], begin: int, spans: dict[str, Spans], n_places: int, n_texts: int) -> list[int]:
    """For each place the texts in which all symbols of a rule reach it from `begin`."""
    reached = [0] * n_places
    reached[begin] = (1 << n_texts) - 1
    for name in body:
        after, of_symbol = [0] * n_places, spans[name]
        for middle in range(begin, n_places):
            where = reached[middle]
            if where:
                ends = of_symbol[middle]
                for end in range(middle, n_places):
                    after[end] |= where & ends[end]
        reached = after
    return reached
