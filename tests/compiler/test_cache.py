"""Compiled grammars that are kept."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

import cfgmask
from cfgmask import Compiler, Grammar

VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)


def schema(n: int) -> dict[str, Any]:
    return {"type": "object", "properties": {f"key{n}": {"type": "integer"}}}


def test_equal_sources_are_compiled_once() -> None:
    compiler = Compiler(VOCABULARY)
    first = compiler.read(Grammar.from_json_schema, schema(1))
    text = json.dumps(schema(1))
    assert compiler.read(Grammar.from_json_schema, json.loads(text)) is first
    assert compiler.read(Grammar.from_json_schema, schema(1), whitespace="compact") is not first
    assert compiler.read(Grammar.from_json_schema, text) is not first
    assert compiler.read(Grammar.from_json_schema, {**schema(1), "minProperties": 1}) is not first
    stats = compiler.stats()
    assert (stats["hits"], stats["misses"], stats["entries"], stats["hit_rate"]) == (1, 4, 4, 0.2)


def test_the_order_of_properties_counts() -> None:
    compiler = Compiler(VOCABULARY)
    properties = [("a", {"type": "null"}), ("b", {"type": "null"})]
    made = [
        compiler.read(Grammar.from_json_schema, {"properties": dict(order), "required": ["a", "b"]})
        for order in (properties, properties[::-1])
    ]
    assert made[0].matcher().try_advance(list(b'{"a"')) == 4
    assert made[1].matcher().try_advance(list(b'{"b"')) == 4


SOURCES = [
    lambda: Grammar.from_lark('start: "a" "b"'),
    lambda: Grammar.from_regex("[a-z]+"),
    lambda: Grammar.from_gbnf('root ::= "a"'),
    lambda: Grammar.from_choices(["a", "b"]),
    lambda: Grammar.from_json_schema(schema(1)),
    lambda: Grammar.from_type(list[int]),
]


@pytest.mark.parametrize("make", SOURCES)
def test_grammars(make: Any) -> None:
    compiler = Compiler(VOCABULARY)
    first = compiler.compile(make())
    assert compiler.compile(make()) is first
    assert compiler.compile(make(), cfgmask.Limits(max_items=77_777)) is not first
    assert compiler.stats()["hits"] == 1


def test_limits_count() -> None:
    small = Compiler(VOCABULARY, limits=cfgmask.Limits(max_item_sets=2))
    matcher = small.read(Grammar.from_lark, "start: /[0-9]/ (start start start)?").matcher()
    with pytest.raises(cfgmask.LimitExceeded):
        matcher.advance_bytes(b"123456789")


def test_what_cannot_be_pickled_is_not_kept() -> None:
    compiler = Compiler(VOCABULARY)
    made = [
        compiler.read(Grammar.from_json_schema, {"$ref": "x:y"}, retrieve=lambda _: {"type": "null"}) for _ in range(2)
    ]
    assert all(each.matcher().advance_bytes(b"null") == 4 for each in made)


def test_the_last_ones_are_kept() -> None:
    compiler = Compiler(VOCABULARY)
    size = 0
    for n in range(20):
        compiler.read(Grammar.from_json_schema, schema(n)).matcher().advance_bytes(b'{"key')
        size = max(size, compiler.read(Grammar.from_json_schema, schema(n)).stats()["bytes"])
    bounded = Compiler(VOCABULARY, cache_bytes=4 * size)
    kept = [bounded.read(Grammar.from_json_schema, schema(n)) for n in range(20)]
    stats = bounded.stats()
    assert stats["bytes"] <= 4 * size
    assert stats["evictions"] == 20 - stats["entries"] > 0
    assert bounded.read(Grammar.from_json_schema, schema(19)) is kept[19]
    assert bounded.read(Grammar.from_json_schema, schema(0)) is not kept[0]
    none = Compiler(VOCABULARY, cache_bytes=0)
    last = none.read(Grammar.from_json_schema, schema(1))
    assert none.read(Grammar.from_json_schema, schema(1)) is last
    assert none.stats()["entries"] == 1
    none.clear()
    assert none.stats()["entries"] == none.stats()["bytes"] == 0


def test_askers_at_the_same_time_share_one_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    from cfgmask.compiler import cache

    compiling, go_on = threading.Event(), threading.Event()
    n_compiled = 0
    real = cache.compile

    def slow(*args: Any) -> Any:
        nonlocal n_compiled
        n_compiled += 1
        compiling.set()
        assert go_on.wait(60)
        return real(*args)

    monkeypatch.setattr(cache, "compile", slow)
    compiler = Compiler(VOCABULARY)
    found: list[Any] = []

    def ask() -> None:
        found.append(compiler.read(Grammar.from_json_schema, schema(1)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert compiling.wait(60)
    while compiler.stats()["waits"] < 7:
        pass
    go_on.set()
    for thread in threads:
        thread.join()
    assert n_compiled == 1
    assert len({id(each) for each in found}) == 1
    assert compiler.stats()["hits"] == 7


def test_errors_are_not_kept() -> None:
    compiler = Compiler(VOCABULARY)
    for _ in range(2):
        with pytest.raises(cfgmask.GrammarError):
            compiler.read(Grammar.from_lark, "start: undefined")
    assert (compiler.stats()["misses"], compiler.stats()["entries"]) == (2, 0)
    with pytest.raises(TypeError, match="Grammar"):
        compiler.compile("start: /a/")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Vocabulary"):
        Compiler([b"a"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cache_bytes"):
        Compiler(VOCABULARY, cache_bytes=-1)


def test_many_threads() -> None:
    compiler = Compiler(VOCABULARY, cache_bytes=200_000)
    wrong: list[Any] = []

    def ask(seed: int) -> None:
        for i in range(60):
            n = (seed * 7 + i * 13) % 9
            matcher = compiler.read(Grammar.from_json_schema, schema(n)).matcher()
            if matcher.advance_bytes(f'{{"key{n}":1}}'.encode()) != len(f'{{"key{n}":1}}'):
                wrong.append(n)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    stats = compiler.stats()
    assert stats["hits"] + stats["misses"] == 360
