"""exllamav3's own filter, whose file needs no GPU: triggers, completion and rewinding."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cfgmask

pytestmark = pytest.mark.engines
PACKAGE = importlib.util.find_spec("exllamav3")
if PACKAGE is None:
    pytest.skip("make test-engines installs exllamav3", allow_module_level=True)

TOKENS = [*(bytes([b]) for b in range(256)), b'{"a"', b"12", b"", b""]
END, TRIGGER = 258, 259
VOCABULARY = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=END, special_tokens={"<json>": TRIGGER})
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


@pytest.fixture
def kind() -> Iterator[Any]:
    """Our filter over the package's own base class; the package itself compiles kernels when it is imported."""
    assert PACKAGE is not None
    folder = Path(PACKAGE.submodule_search_locations[0])  # type: ignore[index]
    names = ["exllamav3", "exllamav3.tokenizer", "exllamav3.generator", "exllamav3.generator.filter"]
    before = set(sys.modules)
    for name in names:
        module = sys.modules[name] = ModuleType(name)
        module.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
    sys.modules["exllamav3.tokenizer"].Tokenizer = object  # type: ignore[attr-defined]
    try:
        from cfgmask.integrations.exllamav3.filter import Filter

        yield Filter
    finally:
        for name in set(sys.modules) - before:
            if "exllamav3" in name:
                del sys.modules[name]


def allowed(filter: Any) -> list[int]:
    bits = filter.get_next_logit_mask().numpy()[0]
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()


def test_walks_that_are_taken_back(kind: Any) -> None:
    """What is taken back and written anew has the masks of a new matcher; a trigger begins the text."""
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(SCHEMA), VOCABULARY)
    choose = random.Random(1)
    n_completed = 0
    for trigger in (None, TRIGGER) * 10:
        filter = kind(None, compiled, trigger_token=trigger, eos_after_completed=True)
        filter.attach(SimpleNamespace(generator=SimpleNamespace(padded_vocab_size=len(TOKENS))))
        fed: list[int] = []
        if trigger is not None:
            fed = [5, TRIGGER]
            assert not any(map(filter.feed, fed))
        written: list[int] = []
        for _ in range(60):
            if written and choose.random() < 0.2:
                n = choose.randint(1, len(written))
                filter.rewind(n)
                del written[-n:]
            plain = compiled.matcher()
            for token in written:
                plain.advance(token)
            bits = np.zeros(-(-len(TOKENS) // 32), np.int32)
            plain.fill_mask(bits)
            mask = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()
            assert allowed(filter) == mask
            token = choose.choice(mask)
            written.append(token)
            if filter.feed(token):
                n_completed += 1
                break
    assert n_completed


def test_completion_without_an_end_token(kind: Any) -> None:
    filter = kind(None, cfgmask.compile(cfgmask.Grammar.from_choices(["ab", "abc", "x"]), VOCABULARY))
    for text, is_completed in (("x", True), ("ab", False), ("abc", True)):
        filter.reset()
        for byte in text.encode():
            filter.accept_token(byte)
        assert filter.is_completed() == is_completed


def test_a_limit_leaves_end_tokens_and_ends_the_job(kind: Any) -> None:
    source = cfgmask.Grammar.from_lark('start: /[a-z0-9]/ start "b" | "c"')
    compiled = cfgmask.compile(source, VOCABULARY, cfgmask.Limits(max_item_sets=12))
    for ends_job in (True, False):
        filter = kind(None, compiled, eos_after_completed=ends_job)
        filter.attach(SimpleNamespace(generator=SimpleNamespace(padded_vocab_size=len(TOKENS))))
        n = 0
        while filter.error is None:
            ended = filter.feed(ord("a"))
            n += 1
            assert n < 1000
        assert ended == ends_job
        if not ends_job:
            assert allowed(filter) == [END]
            assert not filter.feed(END)
            assert filter.is_active
            assert allowed(filter) == [END]
            filter.rewind(n + 1)
            assert filter.error is None
            assert len(allowed(filter)) > 1
