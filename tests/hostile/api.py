"""The API in wrong hands: types, arrays, callbacks that come back, use after errors, threads, how a process ends."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import cfgmask
from cfgmask import Grammar, Limits, Vocabulary, _core
from cfgmask.grammar.regex_tree import Literal
from cfgmask.json_schema import read_at_once
from cfgmask.json_schema.options import DEFAULTS
from tests.hostile.runner import Case
from tests.hostile.use import END, own_vocabulary, vocabulary

REFUSED = frozenset({"TypeError", "ValueError"})
ANY = REFUSED | {"accepted"}
N_WORDS = END // 32 + 1
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def compiled() -> cfgmask.CompiledGrammar:
    return cfgmask.compile(Grammar.from_json_schema(SCHEMA), own_vocabulary())


def matcher(**options: Any) -> cfgmask.Matcher:
    return compiled().matcher(**options)


def bits(n: int = N_WORDS) -> np.ndarray:
    return np.zeros(n, np.uint32)


def works(used: cfgmask.Matcher) -> None:
    """That a matcher at its beginning is as a fresh one is."""
    found, expected = bits(), bits()
    used.reset()
    used.fill_mask(found)
    matcher().fill_mask(expected)
    assert np.array_equal(found, expected)


def case(name: str, run: Callable[[], object], *expected: str) -> Case:
    return Case(f"api/{name}", run, frozenset(expected) or ANY)


class _Falls:
    """Raises whatever it is asked."""

    def __len__(self) -> int:
        raise ZeroDivisionError

    def __iter__(self) -> Iterator[Any]:
        raise ZeroDivisionError

    def __getitem__(self, index: Any) -> Any:
        raise ZeroDivisionError

    def __index__(self) -> int:
        raise ZeroDivisionError


class _Endless:
    """A sequence that has no end."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> bytes:
        return b"%d" % index


JUNK: dict[str, Any] = {
    "None": None,
    "True": True,
    "0": 0,
    "-1": -1,
    "2**31": 2**31,
    "2**64": 2**64,
    "-2**63": -(2**63),
    "1.5": 1.5,
    "nan": float("nan"),
    "a text": "x",
    "an empty text": "",
    "half a surrogate pair": "\ud800",
    "bytes": b"\xff",
    "a list": [],
    "a list of None": [None],
    "a list of ints": [1, -1, 2**70],
    "a dict": {},
    "an object": object(),
    "a type": int,
    "a function": len,
    "what falls": _Falls(),
    "an array": np.zeros(3),
    "bytearray": bytearray(b"abc"),
    "a grammar": Grammar.from_regex("a"),
}

CALLS: dict[str, Callable[[Any], object]] = {
    "from_lark": lambda x: Grammar.from_lark(x),
    "from_lark(start)": lambda x: Grammar.from_lark('start: "a"', start=x),
    "from_lark(grammars)": lambda x: Grammar.from_lark("start: @a", grammars={"a": x}),
    "from_lark(limits)": lambda x: Grammar.from_lark('start: "a"', limits=x),
    "from_gbnf": lambda x: Grammar.from_gbnf(x),
    "from_regex": lambda x: Grammar.from_regex(x),
    "from_regex(dialect)": lambda x: Grammar.from_regex("a", dialect=x),
    "from_json_schema": lambda x: Grammar.from_json_schema(x),
    "from_json_schema(retrieve)": lambda x: Grammar.from_json_schema({"$ref": "https://a.b/c"}, retrieve=lambda _: x),
    "from_type": lambda x: Grammar.from_type(x),
    "from_file": lambda x: Grammar.from_file(x),
    "compile": lambda x: cfgmask.compile(x, vocabulary()),
    "compile(vocabulary)": lambda x: cfgmask.compile(Grammar.from_regex("a"), x),
    "compile(limits)": lambda x: cfgmask.compile(Grammar.from_regex("a"), vocabulary(), x),
    "Limits": lambda x: Limits(max_rules=x),
    "from_bytes": lambda x: Vocabulary.from_bytes(x, 0),
    "from_bytes(tokens)": lambda x: Vocabulary.from_bytes([b"a", x], 0),
    "from_bytes(end)": lambda x: Vocabulary.from_bytes([b"a", b""], x),
    "from_bytes(special)": lambda x: Vocabulary.from_bytes([b"a", b""], 1, x),
    "from_bytes(encode)": lambda x: Vocabulary.from_bytes([b"a", b""], 1, encode=x),
    "from_bytes(encoded)": lambda x: Vocabulary.from_bytes([b"a", b""], 1, encode=lambda text: x),
    "from_gguf": lambda x: Vocabulary.from_gguf(x),
    "load": lambda x: Vocabulary.load(x),
    "from_tekken": lambda x: Vocabulary.from_tekken(x),
    "from_sentencepiece": lambda x: Vocabulary.from_sentencepiece(x),
    "matcher(max_tokens)": lambda x: compiled().matcher(max_tokens=x),
    "matcher(stall_after)": lambda x: compiled().matcher(stall_after=x),
    "fill_mask": lambda x: matcher().fill_mask(x),
    "apply": lambda x: matcher().apply(x),
    "advance": lambda x: matcher().advance(x),
    "try_advance": lambda x: matcher().try_advance(x),
    "advance_bytes": lambda x: matcher().advance_bytes(x),
    "rollback": lambda x: matcher().rollback(x),
    "explain": lambda x: matcher().explain(x),
    "fill_masks": lambda x: cfgmask.fill_masks(x, np.zeros((1, N_WORDS), np.uint32)),
    "fill_masks(matcher)": lambda x: cfgmask.fill_masks([x], np.zeros((1, N_WORDS), np.uint32)),
    "fill_masks(bits)": lambda x: cfgmask.fill_masks([matcher()], x),
    "fill_masks(threads)": lambda x: cfgmask.fill_masks([matcher()], np.zeros((1, N_WORDS), np.uint32), threads=x),
    "apply_masks": lambda x: _core.apply_masks(x, x),
    "apply_masks(indices)": lambda x: _core.apply_masks(np.zeros((1, 9), np.float32), np.zeros((1, 1), np.uint32), x),
    "mask_candidates": lambda x: _core.mask_candidates(matcher(), x, None, True),
}
# What else a call may say of the wrong thing.
SAID = ANY | {
    *("GrammarError", "VocabularyError", "LimitExceeded", "TokenRejected", "BudgetTooSmall", "ZeroDivisionError"),
    *("FileNotFoundError", "IsADirectoryError", "OSError", "UnicodeEncodeError", "ImportError"),
}


def wrong_types() -> Iterator[Case]:
    for number, (name, call) in enumerate(CALLS.items()):
        # Half of them each, another one for each call.
        for kind, junk in list(JUNK.items())[number % 2 :: 2]:
            yield case(f"{name} of {kind}", lambda call=call, junk=junk: call(junk), *SAID)


# Arrays for one mask, and what becomes of them.
def _strided() -> Any:
    return np.zeros(2 * N_WORDS, np.uint32)[::2]


def _misaligned(dtype: Any, n: int) -> Any:
    size = np.dtype(dtype).itemsize
    return np.frombuffer(bytearray(n * size + 8), np.uint8)[1 : n * size + 1].view(dtype)


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


MASKS: dict[str, tuple[Callable[[], Any], frozenset[str]]] = {
    "uint32": (bits, frozenset({"accepted"})),
    "int32": (lambda: np.zeros(N_WORDS, np.int32), frozenset({"accepted"})),
    "longer": (lambda: bits(100), frozenset({"accepted"})),
    "reversed": (lambda: bits()[::-1], REFUSED),
    "strided": (_strided, REFUSED),
    "broadcast": (lambda: np.broadcast_to(np.zeros(1, np.uint32), N_WORDS), REFUSED),
    "too short": (lambda: bits(N_WORDS - 1), REFUSED),
    "empty": (lambda: bits(0), REFUSED),
    "two-dimensional": (lambda: np.zeros((2, N_WORDS), np.uint32), REFUSED),
    "no dimensions": (lambda: np.zeros((), np.uint32), REFUSED),
    "read-only": (lambda: _read_only(bits()), REFUSED),
    "read-only bytes": (lambda: memoryview(bytes(4 * N_WORDS)).cast("I"), REFUSED),
    "a memoryview": (lambda: memoryview(bytearray(4 * N_WORDS)).cast("I"), frozenset({"accepted"})),
    "bytes": (lambda: bytearray(4 * N_WORDS), REFUSED),
    "uint64": (lambda: np.zeros(N_WORDS, np.uint64), REFUSED),
    "uint8": (lambda: np.zeros(4 * N_WORDS, np.uint8), REFUSED),
    "float32": (lambda: np.zeros(N_WORDS, np.float32), REFUSED),
    "bool": (lambda: np.zeros(N_WORDS, bool), REFUSED),
    "object": (lambda: np.zeros(N_WORDS, object), REFUSED),
    "other bytes first": (lambda: np.zeros(N_WORDS, ">u4"), REFUSED),
    "records": (lambda: np.zeros(N_WORDS, [("a", np.uint32)]), REFUSED),
    "a field of records": (lambda: np.zeros(N_WORDS, [("b", np.uint8), ("a", np.uint32)])["a"], REFUSED),
    "misaligned": (lambda: _misaligned(np.uint32, N_WORDS), REFUSED),
    "a misaligned memoryview": (lambda: memoryview(bytearray(4 * N_WORDS + 4))[1 : 4 * N_WORDS + 1].cast("I"), REFUSED),
    "ctypes": (lambda: (ctypes.c_uint32 * N_WORDS)(), frozenset({"accepted"})),
    "misaligned ctypes": (lambda: (ctypes.c_uint32 * N_WORDS).from_buffer(bytearray(4 * N_WORDS + 1), 1), REFUSED),
    "a subclass": (lambda: bits().view(type("Sub", (np.ndarray,), {})), frozenset({"accepted"})),
    "a masked array": (lambda: np.ma.masked_array(bits()), ANY),
    "a type that lies": (
        lambda: type(
            "A", (), {"__array_interface__": {"shape": (N_WORDS,), "typestr": "<u4", "data": (8, False), "version": 3}}
        )(),
        REFUSED,
    ),
}


def arrays() -> Iterator[Case]:
    for name, (make, expected) in MASKS.items():
        yield case(f"fill_mask into {name}", lambda make=make: matcher().fill_mask(make()), *expected)
        if name not in ("two-dimensional", "no dimensions"):

            def batch(make: Callable[[], Any] = make) -> None:
                array = make()
                cfgmask.fill_masks([matcher()], array.reshape(1, -1) if hasattr(array, "reshape") else array)

            yield case(f"fill_masks into {name}", batch, *(ANY))
    for name, dtype in (("float16", "f2"), ("float32", "f4"), ("float64", "f8")):
        for kind, make in {
            "logits": lambda dtype: np.zeros(END + 1, dtype),
            "wide logits": lambda dtype: np.zeros(END + 1_000, dtype),
            "strided logits": lambda dtype: np.zeros(2 * END + 2, dtype)[::2],
            "reversed logits": lambda dtype: np.zeros(END + 1, dtype)[::-1],
            "misaligned logits": lambda dtype: _misaligned(dtype, END + 1),
        }.items():
            yield case(
                f"apply to {name} {kind}", lambda make=make, dtype=dtype: matcher().apply(make(dtype)), "accepted"
            )
        for kind, make in {
            "few logits": lambda dtype: np.zeros(END, dtype),
            "read-only logits": lambda dtype: _read_only(np.zeros(END + 1, dtype)),
            "rows of logits": lambda dtype: np.zeros((1, END + 1), dtype),
            "complex logits": lambda dtype: np.zeros(END + 1, np.complex64),
            "whole logits": lambda dtype: np.zeros(END + 1, np.int32),
        }.items():
            yield case(f"apply to {name} {kind}", lambda make=make, dtype=dtype: matcher().apply(make(dtype)), *REFUSED)
    for rows, words, indices in (
        (0, 0, None),
        (2, 1, [0, 1]),
        (2, 1, [2]),
        (2, 1, [-1]),
        (2, 1, [2**40]),
        (1, 0, None),
    ):
        yield case(
            f"apply_masks to {rows} rows of {words} words at {indices}",
            lambda rows=rows, words=words, indices=indices: _core.apply_masks(
                np.zeros((rows, 40), np.float32), np.zeros((rows, words), np.uint32), indices
            ),
        )


# Callbacks that come back.


class _Encoder:
    """An encoder of which a test says what it does, once the vocabulary is made."""

    def __init__(self) -> None:
        self.act: Callable[[str], Any] = lambda text: list(text.encode())

    def __call__(self, text: str) -> Any:
        return self.act(text)


def forced(encoder: _Encoder, **options: Any) -> cfgmask.Matcher:
    """A canonical matcher where text is forced."""
    tokens = [*(bytes([byte]) for byte in range(256)), b""]
    vocab = Vocabulary.from_bytes(tokens, 256, encode=encoder)
    return cfgmask.compile(Grammar.from_regex("abcdefgh[0-9]"), vocab).matcher(canonical=True, **options)


def reentrant(
    act: Callable[[cfgmask.Matcher, Any], Any], ask: Callable[[cfgmask.Matcher, Any], Any], array: Any
) -> Any:
    encoder = _Encoder()
    canonical = forced(encoder)
    inside = False

    def encode(text: str) -> list[int]:
        nonlocal inside
        if not inside:
            inside = True
            act(canonical, array)
            inside = False
        return list(text.encode())

    encoder.act = encode
    result = ask(canonical, array)
    gc.collect()
    return result


def _shrink(_: Any, array: np.ndarray) -> None:
    array.resize(0, refcheck=False)
    # Something else takes the memory.
    keep.extend(np.full(64, 7, np.uint8) for _ in range(64))


keep: list[Any] = []

ACTS: dict[str, Callable[[cfgmask.Matcher, Any], Any]] = {
    "shrinks the array": _shrink,
    "advances": lambda m, _: m.advance(ord("a")),
    "takes back": lambda m, _: m.rollback(min(1, m.n_steps)),
    "resets": lambda m, _: m.reset(),
    "forks": lambda m, _: keep.append(m.fork()),
    "asks for the mask": lambda m, _: m.fill_mask(bits(9)),
    "asks for the tokens": lambda m, _: m.forced_tokens(),
    "clears the masks": lambda m, _: m.compiled.clear_masks(),
    "collects": lambda m, _: gc.collect(),
    "falls": lambda m, _: 1 / 0,
    "recurses": lambda m, a: m.apply(np.zeros(257, np.float32)),
    "compiles": lambda m, _: matcher().fill_mask(bits()),
}
ASKS: dict[str, tuple[Callable[[cfgmask.Matcher, Any], Any], Callable[[], Any]]] = {
    "fill_mask": (lambda m, a: m.fill_mask(a), lambda: np.zeros(100_000, np.uint32)),
    "apply": (lambda m, a: m.apply(a), lambda: np.zeros(100_000, np.float32)),
    "mask_candidates": (lambda m, a: _core.mask_candidates(m, a, None, False), lambda: np.zeros(100_000, np.float32)),
    "forced_tokens": (lambda m, _: m.forced_tokens(), lambda: bits(9)),
    "jump": (lambda m, _: m.jump(), lambda: bits(9)),
}


def callbacks() -> Iterator[Case]:
    for act_name, act in ACTS.items():
        for ask_name, (ask, make) in ASKS.items():
            expected = {*ANY, "RuntimeError", "TokenRejected"} | (
                {"ZeroDivisionError"} if act_name == "falls" else set()
            )
            yield case(
                f"an encoder {act_name} during {ask_name}",
                lambda act=act, ask=ask, make=make: reentrant(act, ask, make()),
                *expected,
            )

    def in_batch() -> None:
        encoder = _Encoder()
        canonical = forced(encoder)
        array = np.zeros((4, 10_000), np.uint32)
        encoder.act = lambda text: (array.resize(0, refcheck=False), list(text.encode()))[1]
        cfgmask.fill_masks([canonical] * 4, array)

    yield case("an encoder shrinks the array during fill_masks", in_batch, *REFUSED)

    class Sequence:
        """Shrinks the array when it is read."""

        def __init__(self, array: np.ndarray) -> None:
            self.array = array
            self.held = matcher()

        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> cfgmask.Matcher:
            if index >= 4:
                raise IndexError
            self.array.resize(0, refcheck=False)
            return matcher()

    def from_sequence() -> None:
        array = np.zeros((4, 10_000), np.uint32)
        cfgmask.fill_masks(Sequence(array), array)  # type: ignore[arg-type]

    yield case("a sequence of matchers that shrinks the array", from_sequence, *REFUSED)

    class Temporaries:
        def __len__(self) -> int:
            return 300

        def __getitem__(self, index: int) -> bytes:
            if index >= 300:
                raise IndexError
            return (b"%d" % index) * 50

    def temporaries() -> None:
        made = _core.TokenTable(Temporaries(), [299], [])  # type: ignore[arg-type]
        assert made.n_vocab == 300

    yield case("tokens that are made when they are asked for", temporaries, "accepted")
    yield case("tokens that never end", lambda: _core.TokenTable(_Endless(), [0], []), "accepted")  # type: ignore[arg-type]
    for name, answer in {
        "None": None, "a text": "x", "far ids": [10**30], "negative ids": [-5], "many ids": [97] * 10**6, "nothing": [],
    }.items():  # fmt: skip

        def odd(answer: Any = answer) -> None:
            encoder = _Encoder()
            canonical = forced(encoder)
            encoder.act = lambda text: answer
            canonical.fill_mask(bits(9))

        yield case(f"an encoder that answers {name}", odd, *ANY, "VocabularyError", "OverflowError")

    def retrieving() -> None:
        def retrieve(uri: str) -> Any:
            Grammar.from_json_schema({"$ref": uri + "x"}, retrieve=retrieve if len(uri) < 40 else None)
            return {"type": "null"}

        Grammar.from_json_schema({"$ref": "https://e.x/a"}, retrieve=retrieve)

    yield case("retrieving that reads another schema", retrieving, "accepted", "GrammarError")


# What was never made, and what is used after an error.


def unmade() -> Iterator[Case]:
    for cls in (
        cfgmask.Matcher,
        cfgmask.CompiledGrammar,
        _core.GrammarBuilder,
        _core.RegexBuilder,
        _core.SchemaWithLayout,
        _core.SchemaReader,
        _core.KnownStrings,
        _core.LarkNodeTypes,
        _core.LexemeEnds,
        _core.PortableRegex,
    ):
        yield case(f"{cls.__name__}()", lambda cls=cls: cls(), *ANY)

        def each(cls: Any = cls) -> None:
            try:
                made = cls.__new__(cls)
            except TypeError:
                return
            for name in dir(cls):
                if name.startswith("__"):
                    continue
                try:
                    found = getattr(made, name)
                    found()
                except Exception:
                    continue

        yield case(f"{cls.__name__} that was never initialised", each, "accepted")
    yield case("a matcher with attributes", lambda: setattr(matcher(), "x", 1), "AttributeError")
    yield case("a subclass of Matcher", lambda: type("M", (cfgmask.Matcher,), {}), "TypeError")
    yield case("a matcher's pickle", lambda: __import__("pickle").dumps(matcher()), "TypeError", "accepted")
    yield case("a matcher's copy", lambda: __import__("copy").deepcopy(matcher()), "TypeError", "accepted")


def builders() -> Iterator[Case]:
    far = 2**32 - 1
    regexes: dict[str, Callable[[_core.RegexBuilder], object]] = {
        "is_empty": lambda b: b.is_empty(far),
        "count": lambda b: b.count(far, 3),
        "matches": lambda b: b.matches(far, b"x"),
        "shortest": lambda b: b.shortest(far),
        "first": lambda b: b.first(far),
        "automaton": lambda b: b.automaton([far], 10),
        "lexeme_ends": lambda b: b.lexeme_ends([far], 10),
    }
    for name, ask in regexes.items():
        yield case(
            f"RegexBuilder.{name} of ids that are none",
            lambda ask=ask: ask(_core.RegexBuilder()),
            *REFUSED, "IndexError", "RuntimeError",
        )  # fmt: skip
    a, core, limits = Literal(b"a"), own_vocabulary().core, vars(cfgmask.Limits())
    schema = read_at_once({"type": "integer"}, options=DEFAULTS, limits=Limits())
    forms: dict[str, Callable[[_core.GrammarBuilder], object]] = {
        "ignore": lambda f: f.ignore(far, a, "x"),
        "indenter": lambda f: f.indenter(a, far, 8, "x"),
        "terminal": lambda f: f.terminal("x", a, far, 0),
        "terminal with a role": lambda f: f.terminal("x", a, f.scope(False), 0, role="x"),
        "terminal that is endless": lambda f: f.terminal("x", a, f.scope(False), 0, endless="x"),
        "terminal of no regex": lambda f: f.terminal("x", "a", f.scope(False), 0),  # type: ignore[arg-type]
        "token_set": lambda f: f.token_set(far, far, "x", 0),
        "indent": lambda f: f.indent(False, far, "x", 0),
        "body": lambda f: f.body(far, far),
        "body of a rule": lambda f: f.body(f.rule(0), far),
        "rule": lambda f: f.rule(0, opens_set=True, holds="x"),
        "reference": lambda f: f.reference(far),
        "call": lambda f: f.call(far, 0, 0),
        "call_counting": lambda f: f.call_counting(far, 0, 99, True),
        "part": lambda f: f.part(schema, None, [far], False, 0),
        "part with a token": lambda f: f.part(schema, None, [f.sequence([])], False, 0),
        "rows": lambda f: f.rows(["x"], [schema], [False], None, None, far, None, [], 0, 0),
        "rows of unequal lengths": lambda f: f.rows(["x"], [], [], None, None, f.scope(False), None, [], 0, 0),
        "variants": lambda f: f.variants(far, []),
        "sequence": lambda f: f.sequence([far]),
        "choice": lambda f: f.choice([far]),
        "repeat": lambda f: f.repeat(far, 0, None),
        "guarded": lambda f: f.guarded(far, []),
        "start": lambda f: f.start(far, far, False, True, True),
        "start that is no rule": lambda f: f.start(f.sequence([]), f.scope(False), False, True, True),
        "compile": lambda f: f.compile(core, limits, 0, []),
        "compile twice": lambda f: [compiled_form(f), f.scope(False)],
        "compile with another shard": lambda f: compiled_form(f, shard=256),
        "compile without ids": lambda f: compiled_form(f, lambda f: f.token_set(0, f.scope(False), "x", 0)),
        "compile with far ids": lambda f: compiled_form(f, lambda f: f.token_set(0, f.scope(False), "x", 0), [[far]]),
        "compile with a row's text": lambda f: compiled_form(f, lambda f: f.row_text()),
        "compile with bits that are none": lambda f: compiled_form(f, lambda f: f.call_counting(0, 0, 99, True)),
        "compile with a wrong repetition": lambda f: compiled_form(f, lambda f: f.repeat(f.sequence([]), 2, 1)),
        "compile with a wrong condition": lambda f: compiled_form(f, lambda f: f.guarded(0, [("and", False, 0, 9, 0)])),
    }  # fmt: skip
    for name, call in forms.items():
        yield case(
            f"GrammarBuilder.{name} of what is none",
            lambda call=call: call(_core.GrammarBuilder(200)),
            *REFUSED, "IndexError", "RuntimeError",
        )  # fmt: skip


def compiled_form(
    form: _core.GrammarBuilder,
    body: Callable[[_core.GrammarBuilder], int] = lambda f: f.sequence([]),
    token_ids: list[list[int]] | None = None,
    shard: int = 0,
) -> object:
    scope, rule = form.scope(False), form.rule(0)
    form.body(rule, body(form))
    form.start(form.reference(rule), scope, False, True, True)
    return form.compile(own_vocabulary().core, vars(cfgmask.Limits()), shard, token_ids or [])


def after_errors() -> Iterator[Case]:
    failing: dict[str, Callable[[cfgmask.Matcher], object]] = {
        "a token that is refused": lambda m: m.advance(ord("x")),
        "a token beyond": lambda m: m.advance(10**9),
        "tokens beyond": lambda m: m.try_advance([ord("{"), 10**9, -1]),
        "rollback too far": lambda m: m.rollback(1),
        "a short array": lambda m: m.fill_mask(bits(1)),
        "bytes that are refused": lambda m: m.advance_bytes(b'{"b'),
        "explaining nothing": lambda m: m.explain(-(2**40)),
        "steps after the end": lambda m: (m.advance_bytes(b'{"a":1}'), m.advance(END), m.advance(ord("{"))),
        "all after the end": lambda m: (
            m.advance_bytes(b'{"a":1}'), m.advance(END), m.fill_mask(bits()), m.completion(), m.forced_bytes(),
            m.forced_tokens(), m.jump(), m.expected(), m.explain(1), m.captures(), m.state, m.fork(),
        ),
        "an end too early": lambda m: m.advance(END),
    }  # fmt: skip
    for name, fail in failing.items():

        def run(fail: Callable[[cfgmask.Matcher], object] = fail) -> None:
            for options in ({}, {"max_tokens": 50}, {"stall_after": 3}, {"canonical": True}):
                used = matcher(**options)
                with contextlib.suppress(TypeError, ValueError, cfgmask.TokenRejected):
                    fail(used)
                works(used)

        yield case(f"after {name}", run, "accepted")
    for limit in (
        "max_rules",
        "max_regex_nodes",
        "max_lexer_states",
        "max_item_sets",
        "max_items",
        "max_search_steps",
        "max_nesting",
        "max_source_bytes",
        "mask_cache_bytes",
        "shared_cache_bytes",
        "max_capture_bytes",
    ):
        for value in (0, 1, 5, 50, 2**61, 2**63 - 1):

            def bounded(limit: str = limit, value: int = value) -> None:
                limits = Limits(**{limit: value})
                for read in (
                    lambda: Grammar.from_json_schema(SCHEMA, limits=limits),
                    lambda: Grammar.from_lark('start: a*\na[capture]: "a" /b+(c|d)*/', limits=limits),
                    lambda: Grammar.from_regex("(a|b)*c{1,9}", limits=limits),
                    lambda: Grammar.from_gbnf('root ::= "a"* [b-d]+', limits=limits),
                ):
                    try:
                        used = cfgmask.compile(read(), own_vocabulary(), limits).matcher()
                        for _ in range(3):
                            used.fill_mask(bits())
                            used.advance_bytes(b"a")
                            used.captures()
                    except cfgmask.LimitExceeded as error:
                        if value > 10**6 or error.limit != limit:
                            raise

            yield case(f"{limit} of {value}", bounded, "accepted")


# Threads.


def together(n: int, run: Callable[[int], object]) -> None:
    errors: list[BaseException] = []

    def guarded(i: int) -> None:
        try:
            run(i)
        except BaseException as error:  # told below
            errors.append(error)

    all_threads = [threading.Thread(target=guarded, args=(i,)) for i in range(n)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    if errors:
        raise errors[0]


def threads() -> Iterator[Case]:
    def one_grammar() -> None:
        shared = compiled()

        def run(i: int) -> None:
            for _ in range(5):
                used = shared.matcher()
                for byte in b'{"a":12}':
                    used.fill_mask(bits())
                    used.advance(byte)
                shared.clear_masks()
                shared.stats()

        together(6, run)

    def one_matcher() -> None:
        """Against the rules: no answer can be right, but nothing may break."""
        used = matcher()

        def run(i: int) -> None:
            for step in range(40):
                try:
                    if i == 0:
                        cfgmask.fill_masks([used] * 300, np.zeros((300, N_WORDS), np.uint32), threads=2)
                    elif step % 3 == 0:
                        used.reset()
                    else:
                        used.try_advance([ord("{"), ord('"')])
                        used.fork()
                except (ValueError, RuntimeError, cfgmask.TokenRejected):
                    pass

        together(4, run)

    def small_stacks() -> None:
        threading.stack_size(64 * 1024)
        try:
            together(4, lambda i: matcher().fill_mask(bits()))
        finally:
            threading.stack_size(0)

    def compiling() -> None:
        shared = own_vocabulary()
        together(
            6, lambda i: cfgmask.compile(Grammar.from_regex(f"a{{{i}}}[b-z]*"), shared).matcher().fill_mask(bits())
        )

    def batches() -> None:
        shared = compiled()

        def run(i: int) -> None:
            own = [shared.matcher() for _ in range(300)]
            for used in own[:: i + 1]:
                used.advance(ord("{"))
            cfgmask.fill_masks(own, np.zeros((300, N_WORDS), np.uint32), threads=3)

        together(4, run)

    for run in (one_grammar, one_matcher, small_stacks, compiling, batches):
        yield case(f"threads, {run.__name__}", run, "accepted")


# The end of the process. Each text is a program; it has to end with 0. `Late` makes the end long enough for daemon
# threads to ask for the GIL while the interpreter goes.
LATE = """
import sys, time
class Late:
    def __del__(self, sleep=time.sleep): sleep(0.1)
sys.modules["late"] = Late()
"""
ENDS: dict[str, str] = {
    "daemon threads in fill_masks": """
import threading, numpy as np, cfgmask
tokens = [bytes([b]) for b in range(256)] + [b""]
compiled = cfgmask.compile(cfgmask.Grammar.from_regex("[a-z]+"), cfgmask.Vocabulary.from_bytes(tokens, 256))
all_begun = threading.Barrier(9)
def run():
    matchers, bits = [compiled.matcher() for _ in range(1024)], np.zeros((1024, 9), np.uint32)
    all_begun.wait()
    while True: cfgmask.fill_masks(matchers, bits, threads=2)
for _ in range(8): threading.Thread(target=run, daemon=True).start()
all_begun.wait()
""",
    "daemon threads in an encoder": """
import threading, time, numpy as np, cfgmask
tokens = [bytes([b]) for b in range(256)] + [b""]
def encode(text):
    sum(range(2000))
    return list(text.encode())
vocabulary = cfgmask.Vocabulary.from_bytes(tokens, 256, encode=encode)
compiled = cfgmask.compile(cfgmask.Grammar.from_regex("abc[a-z]+"), vocabulary)
def run():
    bits = np.zeros(9, np.uint32)
    while True: compiled.matcher(canonical=True).fill_mask(bits)
for _ in range(4): threading.Thread(target=run, daemon=True).start()
time.sleep(0.2)
""",
    "daemon threads that read": """
import threading, time, cfgmask
def run(i):
    while True:
        cfgmask.Grammar.from_json_schema({"type": "string", "format": "date", "pattern": "^a|b"}).notes
        cfgmask.Grammar.from_lark('start: /a(?=b)/ "b" | X\\nX[lazy]: /.*?x/')
for i in range(4): threading.Thread(target=run, args=(i,), daemon=True).start()
time.sleep(0.3)
""",
    "daemon threads in fill_masks that are new": """
import itertools, threading, time, numpy as np, cfgmask
tokens = [bytes([b]) for b in range(256)] + [b""]
vocabulary = cfgmask.Vocabulary.from_bytes(tokens, 256)
number = itertools.count()
def run():
    bits = np.zeros((8, 9), np.uint32)
    while True:
        compiled = cfgmask.compile(cfgmask.Grammar.from_regex(f"[a-z]+{next(number)}"), vocabulary)
        matchers = [compiled.matcher() for _ in range(8)]
        for i, matcher in enumerate(matchers): matcher.advance_bytes(b"a" * i)
        cfgmask.fill_masks(matchers, bits, threads=2)
for _ in range(6): threading.Thread(target=run, daemon=True).start()
time.sleep(0.3)
""",
    "daemon threads that compile": """
import itertools, threading, time, cfgmask
tokens = [bytes([b]) for b in range(256)] + [b""]
vocabulary = cfgmask.Vocabulary.from_bytes(tokens, 256)
number = itertools.count()
def run():
    while True:
        i = next(number)
        lark = f'start: "x{i}" @s | /a(?=b{i})/ | A\\nA[lazy]: /.*?{i}/'
        schema = {"properties": {f"b{i}": {"type": "string", "format": "date", "pattern": f"^(?=a)b{i}"}}}
        grammar = cfgmask.Grammar.from_lark(lark, grammars={"s": schema})
        cfgmask.compile(grammar, vocabulary).matcher().expected()
        grammar = cfgmask.Grammar.from_json_schema(schema, property_order="any")
        cfgmask.compile(grammar, cfgmask.Vocabulary.from_bytes(tokens, 256), shards=2).matcher().expected()
for _ in range(6): threading.Thread(target=run, daemon=True).start()
time.sleep(0.4)
""",
    "matchers in globals": """
import cfgmask, sys
tokens = [bytes([b]) for b in range(256)] + [b""]
vocabulary = cfgmask.Vocabulary.from_bytes(tokens, 256)
sys.modules["kept"] = [cfgmask.compile(cfgmask.Grammar.from_regex("a+"), vocabulary).matcher()]
""",
    "a child of fork": """
import os, sys, numpy as np, cfgmask
tokens = [bytes([b]) for b in range(256)] + [b""]
compiled = cfgmask.compile(cfgmask.Grammar.from_regex("a+"), cfgmask.Vocabulary.from_bytes(tokens, 256))
matchers, bits = [compiled.matcher() for _ in range(512)], np.zeros((512, 9), np.uint32)
cfgmask.fill_masks(matchers, bits, threads=2)
child = os.fork()
cfgmask.fill_masks(matchers, bits, threads=2)
if child == 0: sys.exit(0)
sys.exit(os.waitpid(child, 0)[1])
""",
}


class ExitError(Exception):
    """A program ended with another status than 0."""


def ends() -> Iterator[Case]:
    for name, code in ENDS.items():
        for number in range(3 if "daemon" in name else 1):

            def run(code: str = code) -> None:
                done = subprocess.run([sys.executable, "-c", LATE + code], capture_output=True, timeout=60, check=False)
                if done.returncode != 0:
                    raise ExitError(f"{done.returncode}: {done.stderr.decode(errors='replace')[-200:]}")

            yield case(f"end of {name}, {number}", run, "accepted")


def cases() -> Iterator[Case]:
    yield from arrays()
    yield from callbacks()
    yield from unmade()
    yield from builders()
    yield from after_errors()
    yield from threads()
    yield from ends()
    yield from wrong_types()
