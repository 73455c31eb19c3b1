"""Captures and temperatures, against every way to derive a text, found one by one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar import ir
from tests.build import DIGITS, WORD, choice, grammar, many, rule, scope, seq, t, tokens
from tests.engine.harness import compile_ir
from tests.oracle_regex import Regexes
from tests.strategies import GrammarShape, VocabularySpec, grammars

Captures = tuple[tuple[str, bytes], ...]


# Random grammars may have more derivations of four characters than can be tried.
MAX_STEPS = 200_000


class TooAmbiguousError(Exception):
    """A text with more derivations than are tried."""


class Derivations:
    """The captures of every derivation of a text in which no rule stands for the same text twice on one path.

    Raises TooAmbiguousError after MAX_STEPS.
    """

    def __init__(self, ir_: ir.GrammarIR, text: bytes) -> None:
        self._rules = {rule.name: rule for rule in ir_.rules}
        self._text = text
        self._regexes = Regexes()
        self._n_steps = 0
        self.found = {tuple(captures) for captures in self._rule(ir_.start, 0, len(text), frozenset())}

    def _rule(self, name: str, i: int, j: int, active: frozenset[tuple[str, int, int]]) -> Iterator[Captures]:
        if (name, i, j) in active or name not in self._rules:
            return
        rule = self._rules[name]
        own: Captures = ((rule.capture, self._text[i:j]),) if rule.capture and i < j else ()
        for captures in self._expr(rule.body, i, j, active | {(name, i, j)}):
            yield captures + own

    def _expr(self, expr: ir.Expr, i: int, j: int, active: frozenset[tuple[str, int, int]]) -> Iterator[Captures]:
        self._n_steps += 1
        if self._n_steps > MAX_STEPS:
            raise TooAmbiguousError
        match expr:
            case ir.Terminal():
                if self._matches(expr, i, j):
                    yield ()
            case ir.RuleRef(name):
                yield from self._rule(name, i, j, active)
            case ir.Choice(parts):
                for part in parts:
                    yield from self._expr(part, i, j, active)
            case ir.Sequence(parts):
                yield from self._sequence(parts, i, j, active)
            case ir.Repeat(body, minimum, maximum):
                longest = j - i + minimum if maximum is None else min(maximum, j - i + minimum)
                for count in range(minimum, longest + 1):
                    yield from self._sequence((body,) * count, i, j, active)

    def _sequence(
        self, parts: tuple[ir.Expr, ...], i: int, j: int, active: frozenset[tuple[str, int, int]]
    ) -> Iterator[Captures]:
        if not parts:
            if i == j:
                yield ()
            return
        for middle in range(i, j + 1):
            for first in self._expr(parts[0], i, middle, active):
                for rest in self._sequence(parts[1:], middle, j, active):
                    yield first + rest

    def _matches(self, terminal: ir.Terminal, i: int, j: int) -> bool:
        residual = self._regexes.lower(terminal.regex)
        for n, byte in enumerate(self._text[i:j]):
            if terminal.lazy and n and self._regexes.nullable(residual):
                return False
            residual = self._regexes.derivative(residual, byte)
        return self._regexes.nullable(residual)


def marked(ir_: ir.GrammarIR, names: list[str | None]) -> ir.GrammarIR:
    """The grammar with captures on some of its rules."""
    named = [replace(rule, capture=name) for rule, name in zip(ir_.rules, names, strict=False)]
    return replace(ir_, rules=(*named, *ir_.rules[len(named) :]))


PLAIN = GrammarShape(token_sets=False, priorities=False, scopes=1)


@given(
    data=st.data(), shaped=grammars(PLAIN), names=st.lists(st.sampled_from(["x", "y", None]), min_size=5, max_size=5)
)
def test_captures_are_those_of_a_derivation(data: st.DataObject, shaped: ir.GrammarIR, names: list[str | None]) -> None:
    ir_ = replace(marked(shaped, names), scopes=(ir.Scope("main"),) * len(shaped.scopes))
    try:
        matcher = compile_ir(ir_).matcher()
    except cfgmask.GrammarError:
        return
    text = b""
    for _ in range(4):
        allowed = [b for b in b'ab \n"' if matcher.try_advance([b], consume=False)]
        if not allowed:
            break
        byte = data.draw(st.sampled_from(allowed))
        matcher.advance(byte)
        text += bytes([byte])
        captures = matcher.captures()
        if matcher.is_accepting:
            try:
                derivations = Derivations(ir_, text)
            except TooAmbiguousError:
                reject()
            assert sorted(captures) in [sorted(found) for found in derivations.found]
        again = matcher.fork()
        again.reset()
        again.advance_bytes(text)
        assert again.captures() == captures


# Grammar, text, captures.
CASES = {
    "in order, inner ones first": (
        'start[capture]: a "-" b\na[capture]: /[a-z]+/\nb[capture="c"]: "x" a',
        "uv-xw",
        [("a", "uv"), ("a", "w"), ("c", "xw"), ("start", "uv-xw")],
    ),
    "in repetitions": (
        'start: (a ",")* a~2\na[capture]: /[a-z]/',
        "p,q,rs",
        [("a", "p"), ("a", "q"), ("a", "r"), ("a", "s")],
    ),
    "left recursion": (
        'start: e\ne[capture]: e "+" n | n\nn[capture]: /[0-9]/',
        "1+2+3",
        [("n", "1"), ("e", "1"), ("n", "2"), ("e", "1+2"), ("n", "3"), ("e", "1+2+3")],
    ),
    "right recursion": (
        'start: e\ne[capture]: n "+" e | n\nn: /[0-9]/',
        "1+2+3",
        [("e", "3"), ("e", "2+3"), ("e", "1+2+3")],
    ),
    "nesting": (
        'start: p\np[capture]: "(" p? ")" | "[" p? "]"',
        "([()])",
        [("p", "()"), ("p", "[()]"), ("p", "([()])")],
    ),
    "without ignored text around it": (
        'start: a b\na[capture]: "x" "y"\nb[capture]: "z"\n%ignore " "',
        "  x y  z ",
        [("a", "x y"), ("b", "z")],
    ),
    "suffix": ('start[capture]: a "!"\na[capture, suffix="<e>"]: /.*/', "hi<e>!", [("a", "hi"), ("start", "hi<e>!")]),
    "stop, and its text": (
        'start: a\na[capture, stop=/[.;]+/, stop_capture="s"]: /[a-z]*/',
        "hi;",
        [("a", "hi"), ("s", ";")],
    ),
    "the shortest body": (
        'start: a\na[capture, suffix=/x?y/, stop_capture="s"]: /[a-z]*/',
        "abxy",
        [("a", "ab"), ("s", "xy")],
    ),
    "a suffix without a capture": ('start[capture]: a\na[suffix="."]: /[a-z]*/', "b.", [("start", "b.")]),
    "lazy": ('start: a "!"\na[capture, lazy]: /.*<e>/', "hi<e>!", [("a", "hi<e>")]),
    "around JSON": (
        'start: "v=" v ";"\nv[capture]: %json {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": true}',
        "v=[2,1];",
        [("v", "[2,1]")],
    ),
    "what matches no text is left out": ('start: a b\na[capture]: "x"?\nb[capture]: "y"', "y", [("b", "y")]),
    "every segmentation": (
        '%cfgmask {"lexer": "complete"}\nstart: a b\na[capture]: /[xy]+/\nb[capture]: "y"',
        "xyy",
        [("a", "xy"), ("b", "y")],
    ),
    "through templates": (
        'start: pair{"x"} pair{"y"}\npair{p}[capture]: p p',
        "xxyy",
        [("pair", "xx"), ("pair", "yy")],
    ),
}  # fmt: skip

BYTES = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)


@pytest.mark.parametrize("name", CASES)
def test_captures(name: str) -> None:
    text, data, expected = CASES[name]
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(text), BYTES).matcher()
    assert matcher.try_advance(list(data.encode())) == len(data)
    assert [(name, value.decode()) for name, value in matcher.captures()] == expected
    matcher.advance(256)
    assert [(name, value.decode()) for name, value in matcher.captures()] == expected


def test_captures_of_what_is_not_finished() -> None:
    source = 'start: a "-" b "-" a\na[capture]: /[a-z]+/\nb[capture]: a a?\n'
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(source), BYTES).matcher()
    seen = []
    for byte in b"x-yy-":
        matcher.advance(byte)
        seen.append(dict(matcher.captures()))
    assert seen == [{}, {"a": b"x"}, {"a": b"x"}, {"a": b"x"}, {"a": b"yy", "b": b"yy"}]
    fork = matcher.fork()
    matcher.advance_bytes(b"zzz")
    assert dict(matcher.captures()) == {"a": b"zzz", "b": b"yy"}
    for expected in (seen[-1], *reversed(seen[:-1])):
        matcher.rollback(1)
        assert dict(matcher.captures()) == expected
    assert dict(fork.captures()) == seen[-1]


def test_tokens_by_id_and_by_bytes() -> None:
    spec = VocabularySpec([b"a", b"b", b"ab", b"", b""], [4], {})
    ir_ = grammar(
        rule("start", seq("$x", tokens(3), "$y")),
        replace(rule("x", choice(t("ab"), tokens(2), seq(tokens(0), t("b")))), capture="x"),
        replace(rule("y", many(t("a"), 1)), capture="y"),
    )
    for ids in ([2, 3, 0, 0], [0, 1, 3, 0, 0]):
        matcher = compile_ir(ir_, spec).matcher()
        assert matcher.try_advance(ids) == len(ids)
        assert matcher.captures() == [("x", b"ab"), ("y", b"aa")]


def test_no_ignored_text_at_the_start() -> None:
    ir_ = grammar(replace(rule("start", seq(WORD, DIGITS)), capture="all"), scopes=(scope(" "),), ignore_initial=False)
    matcher = compile_ir(ir_).matcher()
    matcher.advance_bytes(b"ab 12")
    assert matcher.captures() == [("all", b"ab 12")]


@pytest.mark.parametrize(
    "source",
    [
        "start: a+\na[capture]: /[a-z];/",
        "start[capture]: a start | a\na: /[a-z];/",
        "start: start a | a\na[capture]: /[a-z];/",
        "start: a*\na[capture]: /[a-z]/ | b\nb[capture]: /[a-z]/",
    ],
)
def test_long_texts(source: str) -> None:
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(source), BYTES).matcher()
    text = (b"x;" if b";" in source.encode() else b"x") * 10_000
    assert matcher.advance_bytes(text) == len(text)
    assert len(matcher.captures()) >= 10_000 - 1


@pytest.mark.parametrize(
    ("alternatives", "sizes"), [("s s", {2}), ("s s s | s s", {2, 3}), ("s s s | s t\nt: s", {2, 3})]
)
def test_long_ambiguous_texts(alternatives: str, sizes: set[int]) -> None:
    """Whatever the tree is, captures come from its leaves up, and each is the text of so many of those before it."""
    grammar = cfgmask.Grammar.from_lark(f"start: s\ns[capture]: /[ab]/ | {alternatives}")
    matcher = cfgmask.compile(grammar, BYTES).matcher()
    text = bytes(random.Random(1).choices(b"ab", k=90))
    assert matcher.advance_bytes(text) == len(text)
    trees: list[bytes] = []
    for _, captured in matcher.captures():
        parts: list[bytes] = []
        while len(captured) > 1 and sum(map(len, parts)) < len(captured):
            parts.insert(0, trees.pop())
        assert len(captured) == 1 or (b"".join(parts) == captured and len(parts) in sizes)
        trees.append(captured)
    assert trees == [text]


def test_captures_inside_of_each_other_are_bounded() -> None:
    grammar = cfgmask.Grammar.from_lark("start[capture]: a start | a\na: /[a-z];/")
    matcher = cfgmask.compile(grammar, BYTES, cfgmask.Limits(max_capture_bytes=10_000)).matcher()
    matcher.advance_bytes(b"x;" * 99)
    assert sum(len(text) for _, text in matcher.captures()) == 9_900
    matcher.advance_bytes(b"x;")
    with pytest.raises(cfgmask.LimitExceeded) as error:
        matcher.captures()
    assert (error.value.limit, error.value.value) == ("max_capture_bytes", 10_000)
    matcher.rollback(1)
    assert len(matcher.captures()) == 99


def test_temperature() -> None:
    source = """\
start: "a" warm "b"
warm[temperature=0.9]: "(" (cold | warm)* ")"
cold[temperature=0.25]: /[0-9]+/ plain "."
plain: "p"
"""
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(source), BYTES).matcher()
    seen = [matcher.temperature]
    for byte in b"a(12p.()":
        matcher.advance(byte)
        seen.append(matcher.temperature)
    assert seen == [None, 0.9, 0.9, 0.25, 0.25, 0.25, 0.9, 0.9, 0.9]
    matcher.rollback(4)
    assert matcher.temperature == 0.25
    matcher.advance_bytes(b"p.)")
    assert matcher.temperature is None
