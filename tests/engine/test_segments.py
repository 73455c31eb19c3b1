"""Captures that are told while a text is written, against every way to derive the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import cfgmask
from cfgmask._core import Segments
from cfgmask.grammar import ir
from tests.cpu_time import cpu_seconds, hold
from tests.engine.harness import compile_ir
from tests.engine.test_captures import BYTES, CASES, PLAIN, Derivations, TooAmbiguousError, marked
from tests.strategies import grammars

Event = tuple[bool, str, int]


def captures(events: list[Event], text: bytes) -> list[tuple[str, bytes]]:
    """The captures that events tell of, in the order in which they end."""
    open_: list[tuple[str, int]] = []
    found = []
    for begins, name, position in events:
        if begins:
            open_.append((name, position))
        else:
            begun, start = open_.pop()
            assert begun == name
            found.append((name, text[start:position]))
    assert not open_
    return found


def innermost(events: list[Event], end: int) -> Iterator[tuple[str, ...]]:
    """The captures around each byte up to an end."""
    open_: list[str] = []
    rest = list(events)
    for byte in range(end):
        while rest and rest[0][2] <= byte:
            begins, name, _ = rest.pop(0)
            open_ = [*open_, name] if begins else open_[:-1]
        yield tuple(open_)


class Followed:
    """A text that is followed byte by byte; `told` holds what was decided after each byte."""

    def __init__(self, compiled: cfgmask.CompiledGrammar) -> None:
        self.segments = Segments(compiled)
        self.text = b""
        self.events: list[Event] = []
        self.told: list[tuple[list[Event], int]] = []

    def feed(self, data: bytes) -> None:
        for byte in data:
            assert self.segments.take_bytes(bytes([byte])) == 1
            self.text += bytes([byte])
            events, decided = self.segments.decide()
            assert decided <= len(self.text)
            self.events += events
            assert all(position <= len(self.text) for _, _, position in self.events)
            self.told.append((list(self.events), decided))

    def finish(self) -> list[Event] | None:
        """All events, if the text may end; what was told before agrees with them."""
        end = self.segments.finish()
        if end is None:
            return None
        events, decided = end
        assert decided == len(self.text)
        whole = self.events + events
        around = list(innermost(whole, len(self.text)))
        for told, position in self.told:
            assert whole[: len(told)] == told
            assert list(innermost(told, position)) == around[:position]
        return whole


def called_in(expr: ir.Expr) -> Iterator[str]:
    match expr:
        case ir.RuleRef(name):
            yield name
        case ir.Choice(parts) | ir.Sequence(parts):
            for part in parts:
                yield from called_in(part)
        case ir.Repeat(body):
            yield from called_in(body)


def is_recursive(ir_: ir.GrammarIR) -> bool:
    """Whether some rule leads to itself, at its left end or elsewhere."""
    calls = {rule.name: set(called_in(rule.body)) for rule in ir_.rules}
    for name in calls:
        reached, todo = set[str](), [name]
        while todo:
            new = calls.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        if name in reached:
            return True
    return False


@given(
    data=st.data(), shaped=grammars(PLAIN), names=st.lists(st.sampled_from(["x", "y", None]), min_size=5, max_size=5)
)
def test_segments_are_the_captures_of_a_derivation(
    data: st.DataObject, shaped: ir.GrammarIR, names: list[str | None]
) -> None:
    ir_ = replace(marked(shaped, names), scopes=(ir.Scope("main"),) * len(shaped.scopes))
    if is_recursive(ir_):
        reject()
    try:
        compiled = compile_ir(ir_)
    except cfgmask.GrammarError:
        return
    matcher = compiled.matcher()
    followed = Followed(compiled)
    for _ in range(5):
        allowed = [b for b in b'ab \n"' if matcher.try_advance([b], consume=False)]
        if not allowed:
            break
        byte = data.draw(st.sampled_from(allowed))
        matcher.advance(byte)
        followed.feed(bytes([byte]))
        events = followed.finish()
        assert (events is not None) == matcher.is_accepting
        if events is None:
            continue
        found = [capture for capture in captures(events, followed.text) if capture[1]]
        try:
            derivations = Derivations(ir_, followed.text)
        except TooAmbiguousError:
            reject()
        assert sorted(found) in [sorted(each) for each in derivations.found]


@pytest.mark.parametrize("name", [name for name in CASES if name != "left recursion"])
def test_segments_are_captures(name: str) -> None:
    text, data, expected = CASES[name]
    followed = Followed(cfgmask.compile(cfgmask.Grammar.from_lark(text), BYTES))
    followed.feed(data.encode())
    events = followed.finish()
    assert events is not None
    assert [(name, value.decode()) for name, value in captures(events, followed.text)] == expected


def test_left_recursion_is_one_segment() -> None:
    """What a left-recursive rule holds of itself cannot be told while it is written: it is there once."""
    text, data, _ = CASES["left recursion"]
    followed = Followed(cfgmask.compile(cfgmask.Grammar.from_lark(text), BYTES))
    followed.feed(data.encode())
    found = captures(followed.finish() or [], followed.text)
    assert found == [("n", b"1"), ("n", b"2"), ("n", b"3"), ("e", b"1+2+3")]


def test_what_may_be_the_end_of_a_lexeme_is_not_decided() -> None:
    source = 'start: a "!"\na[capture, suffix=/<e+>/]: /[^!]*/'
    segments = Segments(cfgmask.compile(cfgmask.Grammar.from_lark(source), BYTES))
    seen = []
    for byte in b"x<<e<ee>":
        segments.take_bytes(bytes([byte]))
        seen.append(segments.decide()[1])
    assert seen == [1, 1, 2, 2, 4, 4, 4, 4]


def test_cost_of_a_byte_does_not_grow() -> None:
    grammar = cfgmask.Grammar.from_lark("start: (a | b)*\na[capture]: /[a-z]+;/\nb[capture]: /[0-9]+;/")
    compiled = cfgmask.compile(grammar, BYTES)

    def take(n: int) -> None:
        segments = Segments(compiled)
        for _ in range(n):
            for piece in (b"a", b"b;", b"1", b"2;"):
                segments.take_bytes(piece)
                segments.decide()

    short = cpu_seconds(lambda: take(2_000), runs=3)
    hold(cpu_seconds(lambda: take(8_000), runs=3), 8 * short)
