"""Calls that take long: other threads run meanwhile, and what a signal handler raises ends them."""

from __future__ import annotations

import itertools
import json
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType

import numpy as np
import pytest
from numpy.typing import NDArray

import cfgmask
from cfgmask import Grammar
from tests.engine.harness import ALL_BYTES

FORCED = "ab" * 16_000
# Each byte takes thousands of derivatives.
HARD = "".join(f"T{i}: T{i + 1}{{1,100}} T{i + 1}{{1,100}} | T{i + 1}\n" for i in range(8)) + 'T8: "c" | "d"\n'


def new_vocabulary() -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, ALL_BYTES.end_tokens)


def matcher_of(grammar: Grammar) -> cfgmask.Matcher:
    return cfgmask.compile(grammar, new_vocabulary()).matcher()


def forced_matcher() -> cfgmask.Matcher:
    return matcher_of(Grammar.from_lark(f'start: "{FORCED}"'))


def hard_matcher() -> cfgmask.Matcher:
    return matcher_of(Grammar.from_lark("start: T0\n" + HARD))


class Rung(Exception):
    pass


@contextmanager
def alarm(after: float, handler: Callable[[], object]) -> Iterator[None]:
    def ring(_: int, __: FrameType | None) -> None:
        handler()

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def raise_rung() -> None:
    raise Rung


# Each takes 30 milliseconds and more.
LONG_CALLS: dict[str, tuple[Callable[[], cfgmask.Matcher], Callable[[cfgmask.Matcher], object]]] = {
    "forced_bytes": (forced_matcher, lambda m: m.forced_bytes()),
    "jump": (forced_matcher, lambda m: m.jump()),
    "completion": (forced_matcher, lambda m: m.completion()),
    "advance_bytes": (hard_matcher, lambda m: m.advance_bytes(b"cd" * 2_000)),
    "apply": (hard_matcher, lambda m: walk(m, lambda: m.apply(np.zeros(257, np.float32)))),
}


def walk(matcher: cfgmask.Matcher, ask: Callable[[], object]) -> None:
    for _ in range(2_000):
        ask()
        matcher.advance(ord("c"))


# Sizes of what no test read before, as what was read is remembered.
NEVER_READ = itertools.count(600)


def loop_matcher() -> cfgmask.Matcher:
    return matcher_of(Grammar.from_regex("a*"))


def many_tokens() -> cfgmask.Vocabulary:
    tokens = [*(b"%d" % i for i in range(100_000)), *ALL_BYTES.tokens]
    return cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=len(tokens) - 1)


def wide_schema(n: int) -> dict[str, object]:
    strings = {f"a{i}": {"type": "string", "pattern": f"^[a-z]{{2,{i + 3}}}$"} for i in range(30)}
    return {"type": "object", "properties": {f"k{i}": {"type": "object", "properties": strings} for i in range(n)}}


def many_rules(n: int) -> str:
    rules = "".join(f'r{i}: "a{i}" /[a-z]{{2,{n}}}/ r{i + 1} |\n' for i in range(10_000))
    return f"start: r0\n{rules}r10000:\n"


def tag_of(schema: dict[str, object]) -> dict[str, object]:
    content = {"type": "json_schema", "json_schema": schema}
    return {"type": "structural_tag", "format": {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}}


# What servers call, made ready first; each takes some milliseconds and more in the core.
SERVED: dict[str, Callable[[], Callable[[], object]]] = {
    "try_advance": lambda: partial(loop_matcher().try_advance, [97] * 300_000),
    "vocabulary": lambda: partial(cfgmask.compile, Grammar.from_regex("a*"), many_tokens()),
    "schema as text": lambda: partial(Grammar.from_json_schema, json.dumps(wide_schema(next(NEVER_READ)))),
    "rules": lambda: partial(Grammar.from_lark, many_rules(next(NEVER_READ))),
    "structural tag": lambda: partial(Grammar.from_structural_tag, tag_of(wide_schema(next(NEVER_READ)))),
    "choices": lambda: partial(
        cfgmask.compile, Grammar.from_choices([f"w{n}" for n in range(next(NEVER_READ) + 200_000)]), new_vocabulary()
    ),
}


def ready(name: str) -> Callable[[], object]:
    if name in SERVED:
        return SERVED[name]()
    make, call = LONG_CALLS[name]
    return partial(call, make())


def runs_of_another(call: Callable[[], object]) -> int:
    """How often another thread ran Python code during `call`: each time because the core let go of the interpreter."""
    runs = 0
    is_over = False

    def run() -> None:
        nonlocal runs
        while not is_over:
            runs += 1
            time.sleep(0)

    thread = threading.Thread(target=run)
    before = sys.getswitchinterval()
    # Python itself makes no thread wait for another meanwhile.
    sys.setswitchinterval(1_000)
    try:
        thread.start()
        begin = runs
        with suppress(cfgmask.LimitExceeded):
            call()
        return runs - begin
    finally:
        is_over = True
        sys.setswitchinterval(before)
        thread.join()


def test_python_alone_lets_no_other_thread_run() -> None:
    assert runs_of_another(lambda: sum(range(100_000))) == 0


@pytest.mark.parametrize("name", [*SERVED, *LONG_CALLS])
def test_other_threads_run(name: str) -> None:
    # A thread may wake too late on a busy machine, though not every time.
    assert any(runs_of_another(ready(name)) for _ in range(30))


@pytest.mark.parametrize("name", ["forced_bytes", "jump", "completion", "advance_bytes"])
def test_a_signal_ends_a_call_and_leaves_the_matcher_as_it_was(name: str) -> None:
    make, call = LONG_CALLS[name]
    matcher = make()
    with pytest.raises(Rung), alarm(0.004, raise_rung):
        call(matcher)
    assert matcher.n_steps == 0
    assert not matcher.is_accepting
    first = FORCED[0] if make is forced_matcher else "c"
    bits = np.zeros(9, np.uint32)
    matcher.fill_mask(bits)
    assert bits[ord(first) // 32] >> (ord(first) % 32) & 1
    assert matcher.advance_bytes(first.encode()) == 1


def test_ctrl_c_ends_a_call() -> None:
    matcher = forced_matcher()
    # Shells start what runs in the background with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), alarm(0.004, lambda: signal.raise_signal(signal.SIGINT)):
            matcher.completion()
    finally:
        signal.signal(signal.SIGINT, before)
    assert matcher.forced_bytes() == FORCED.encode()


def test_a_handler_that_raises_nothing_ends_nothing() -> None:
    matcher = forced_matcher()
    rung: list[float] = []
    with alarm(0.02, lambda: rung.append(time.monotonic())):
        assert matcher.forced_bytes() == FORCED.encode()
    assert rung


def test_a_signal_ends_compiling_and_reading() -> None:
    text = (
        "start: T0\n"
        + HARD.replace("T8:", "T8.1:")
        + "\n".join(f"U{i}: /(?:a|b)*(?=.*{i})(?:a|b|c){{5}}(?!x).*/" for i in range(300))
    )
    grammar = text.replace("start: T0", "start: T0 | " + " | ".join(f"U{i}" for i in range(300)))

    def read_and_compile() -> None:
        for _ in range(100):
            cfgmask.compile(Grammar.from_lark(grammar), new_vocabulary())

    with pytest.raises(Rung), alarm(0.05, raise_rung):
        read_and_compile()


def test_a_matcher_in_a_long_call_is_nobody_elses() -> None:
    matcher = forced_matcher()
    errors: list[BaseException] = []
    calls: list[Callable[[], object]] = [
        lambda: matcher.advance(ord("a")),
        lambda: matcher.try_advance([ord("a")]),
        lambda: matcher.advance_bytes(b"a"),
        lambda: matcher.n_steps,
        lambda: matcher.is_accepting,
        matcher.fork,
        matcher.reset,
        lambda: matcher.rollback(0),
        matcher.forced_bytes,
        matcher.jump,
        lambda: matcher.state,
        lambda: matcher.explain(1),
        lambda: matcher.fill_mask(np.zeros(9, np.uint32)),
    ]

    def meddle() -> None:
        for call in calls:
            try:
                call()
            except RuntimeError as error:
                errors.append(error)

    with alarm(0.03, meddle):
        assert matcher.forced_bytes() == FORCED.encode()
    assert [str(error)[:28] for error in errors] == ["another thread or a signal h"] * len(calls)
    assert matcher.advance_bytes(b"ab") == 2


def test_a_handler_that_waits_for_the_call_that_it_interrupts_is_an_error() -> None:
    compiled = cfgmask.compile(Grammar.from_lark(f'start: "{FORCED}"'), new_vocabulary())
    matcher, other = compiled.matcher(), compiled.matcher()
    errors: list[str] = []

    def ask() -> None:
        try:
            other.completion()
        except RuntimeError as error:
            errors.append(str(error))

    with alarm(0.03, ask):
        assert matcher.forced_bytes() == FORCED.encode()
    assert errors == ["a signal handler cannot use a grammar that the call it interrupts works on"]
    assert other.advance_bytes(b"ab") == 2


def test_threads_that_share_a_grammar_wait_for_each_other() -> None:
    compiled = cfgmask.compile(Grammar.from_lark("start: T5\n" + HARD), new_vocabulary())
    found: list[int] = []

    def take() -> None:
        matcher = compiled.matcher()
        for _ in range(30):
            matcher.apply(np.zeros(257, np.float32))
            matcher.advance_bytes(b"cd")
        found.append(matcher.n_steps)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        compiled.stats()
        compiled.clear_masks()
        time.sleep(0.001)
    assert found == [30] * 4


def batch() -> list[cfgmask.Matcher]:
    """Matchers of one grammar, whose masks take some milliseconds each at first: every token leads to new states."""
    words = ("".join(word).encode() for n in range(2, 12) for word in itertools.product("ab", repeat=n))
    vocabulary = cfgmask.Vocabulary.from_bytes([*ALL_BYTES.tokens, *words], ALL_BYTES.end_tokens)
    compiled = cfgmask.compile(Grammar.from_regex("[ab]*a[ab]{19}"), vocabulary)
    choose = random.Random(0)
    matchers = [compiled.matcher() for _ in range(64)]
    for matcher in matchers:
        matcher.advance_bytes(bytes(choose.choices(b"ab", k=24)))
    return matchers


def bits_of(matchers: list[cfgmask.Matcher], threads: int = 1) -> NDArray[np.uint32]:
    bits = np.zeros((len(matchers), -(-matchers[0].compiled.vocabulary.n_vocab // 32)), np.uint32)
    assert cfgmask.fill_masks(matchers, bits, threads=threads) == [None] * len(matchers)
    return bits


@pytest.mark.parametrize("threads", [1, 3])
def test_a_signal_ends_a_batch(threads: int) -> None:
    expected = bits_of(batch())
    matchers = batch()
    bits = np.zeros_like(expected)
    with pytest.raises(Rung), alarm(0.01, raise_rung):
        cfgmask.fill_masks(matchers, bits, threads=threads)
    assert (bits_of(matchers, threads) == expected).all()


def test_matchers_of_a_batch_are_nobody_elses() -> None:
    matchers = batch()
    errors: list[str] = []

    def meddle() -> None:
        for call in (lambda: matchers[-1].advance(ord("a")), lambda: bits_of(matchers[:3])):
            try:
                call()
            except RuntimeError as error:
                errors.append(str(error))

    with alarm(0.01, meddle):
        bits_of(matchers)
    assert [error[:28] for error in errors] == ["another thread or a signal h"] * 2
    matchers[-1].advance(ord("a"))
