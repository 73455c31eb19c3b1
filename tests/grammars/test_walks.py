"""Random walks through the masks of the grammars: each can be finished, and what else reads such texts reads them."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import cfgmask
import cfgmask.demo
from cfgmask.cli.stand_in import stand_in_vocabulary
from tests.grammars.judges import JUDGES
from tests.grammars.reading import GRAMMARS, NAMES, tables

WALKS, MOST_FREE_TOKENS = 40, 40
JUDGED = [table for table in tables() if table["grammar"] in JUDGES]


@cache
def demo_tokens() -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_gguf(cfgmask.demo.model_path())


def vocabulary_of(grammar: cfgmask.Grammar) -> cfgmask.Vocabulary:
    """The tokens of the demo model, and an id for each special token that the grammar names."""
    demo, names = demo_tokens(), stand_in_vocabulary(grammar).special_tokens
    special = {name: demo.n_vocab + number for number, name in enumerate(names)}
    return cfgmask.Vocabulary.from_bytes([*demo.tokens, *(b"" for _ in names)], demo.eos_token_ids, special)


class Walker:
    """Takes allowed tokens at random: first what one begins with, so that signs come as often as words do."""

    def __init__(self, vocabulary: cfgmask.Vocabulary, rng: random.Random) -> None:
        self._texts = list(vocabulary.tokens)
        for name, token_id in vocabulary.special_tokens.items():
            self._texts[token_id] = name.encode()
        self._ends, self._rng = set(vocabulary.eos_token_ids), rng
        self._mask = np.zeros((vocabulary.n_vocab + 31) // 32, dtype=np.uint32)

    def walk(self, matcher: cfgmask.Matcher) -> str:
        """So many tokens at random, and then a shortest way to the end, which there must be."""
        text = b""
        for _ in range(self._rng.randrange(MOST_FREE_TOKENS)):
            by_first: dict[bytes, list[int]] = {}
            for token_id in self._allowed(matcher):
                by_first.setdefault(self._texts[token_id][:1], []).append(token_id)
            if not by_first:
                break
            token_id = self._rng.choice(by_first[self._rng.choice(list(by_first))])
            matcher.advance(token_id)
            text += self._texts[token_id]
        way = matcher.completion()
        assert way is not None, f"nothing completes {text!r}"
        assert matcher.try_advance(way) == len(way)
        assert matcher.is_accepting
        return (text + b"".join(self._texts[token_id] for token_id in way)).decode()

    def _allowed(self, matcher: cfgmask.Matcher) -> list[int]:
        matcher.fill_mask(self._mask)
        bits = np.unpackbits(self._mask.view(np.uint8), bitorder="little")
        return [int(token_id) for token_id in np.flatnonzero(bits) if int(token_id) not in self._ends]


@pytest.mark.parametrize("name", NAMES)
def test_walks_can_be_finished_and_are_read_by_others(name: str) -> None:
    grammar = cfgmask.Grammar.from_file(GRAMMARS / name)
    vocabulary = vocabulary_of(grammar)
    compiled = cfgmask.compile(grammar, vocabulary)
    walker = Walker(vocabulary, random.Random(name))
    texts = [walker.walk(compiled.matcher()) for _ in range(WALKS)]
    for text in texts if name in JUDGES else ():
        JUDGES[name](text)


@pytest.mark.parametrize("table", JUDGED, ids=lambda table: str(table["grammar"]))
def test_judges_read_the_texts_of_the_tables(table: dict[str, Any]) -> None:
    for text in table["accept"]:
        JUDGES[table["grammar"]](text)


@pytest.mark.parametrize("table", JUDGED, ids=lambda table: str(table["grammar"]))
def test_judges_can_refuse(table: dict[str, Any]) -> None:
    """They read more than a grammar in places, but one that reads everything is none."""
    assert any(_refuses(JUDGES[table["grammar"]], text) for text in table["refuse"])


def _refuses(judge: Callable[[str], None], text: str) -> bool:
    try:
        judge(text)
    except Exception:
        return True
    return False
