"""The tokens that end a text, by what it says: only those of its branch are allowed, and hosts stop there."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import cfgmask
from cfgmask.compiler.named_ends import last_tokens
from cfgmask.integrations.generated import TextStream
from cfgmask.tools.style import names, style
from tests.tools.test_transcripts import FUNCTIONS, TOOLS, arguments_of, cases_of, made, markers_of, said

# The others end all texts alike, or say in the text itself how it ends.
STYLES = ["function_gemma", "functionary_3_1", "gemma_4", "glm_4", "glm_4_5", "glm_4_7", "llama", "pythonic"]


@cache
def _vocabulary(name: str) -> tuple[cfgmask.Vocabulary, dict[str, int]]:
    """Bytes, the markers of a style and its end tokens, and an end token that is no end of the style's."""
    ends = dict.fromkeys((*style(name).ends.call, *style(name).ends.answer))
    special = {text: 256 + i for i, text in enumerate(dict.fromkeys((*markers_of(style(name)), *ends)))}
    last = 256 + len(special)
    tokens = [bytes([i]) for i in range(256)] + [b""] * (len(special) + 1)
    eos = [*(special[end] for end in ends), last]
    return cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=eos, special_tokens=special), special


def _tokens(special: dict[str, int], text: str) -> list[int]:
    found: list[int] = []
    while text:
        marker = next((m for m in sorted(special, key=len, reverse=True) if text.startswith(m)), None)
        found += [special[marker]] if marker else list(text[0].encode())
        text = text[len(marker or text[0]) :]
    return found


def _allowed(matcher: cfgmask.Matcher, n_vocab: int) -> set[int]:
    bits = np.zeros((n_vocab + 31) // 32, np.uint32)
    matcher.fill_mask(bits)
    return {*map(int, np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")[:n_vocab]))}


def test_which_styles_have_ends_of_their_own() -> None:
    found = []
    for name in names():
        vocabulary, _ = _vocabulary(name)
        rules = cfgmask.Grammar.from_tools([TOOLS[tool] for tool in FUNCTIONS], style=name).ir_for(vocabulary)
        found += [name] * ("is_last=True" in repr(rules))
    assert found == STYLES


@pytest.mark.parametrize("name", STYLES)
def test_only_the_ends_of_the_branch_are_allowed(name: str) -> None:
    vocabulary, special = _vocabulary(name)
    ends = {"call": style(name).ends.call, "answer": style(name).ends.answer}
    seen = set()
    for case in cases_of(name):
        if not case.get("valid", True) or case.get("about") == "marker in a string":
            continue
        grammar = made(name, json.dumps(arguments_of(case)))
        kind = "call" if grammar.parse(case["text"]).tool_calls else "answer"
        compiled = cfgmask.compile(grammar, vocabulary)
        matcher, tokens = compiled.matcher(), _tokens(special, case["text"])
        assert matcher.try_advance(tokens) == len(tokens), case["text"]
        wanted = {special[end] for end in ends[kind]}
        assert not matcher.is_accepting
        assert _allowed(matcher, vocabulary.n_vocab) & {*vocabulary.eos_token_ids} == wanted, case["text"]
        seen.add(kind)
        for end in wanted:
            fork = matcher.fork()
            fork.advance(end)
            assert end in last_tokens(fork.compiled)
            assert fork.is_accepting
            # A host that does not know it goes on to a token that it knows.
            assert _allowed(fork, vocabulary.n_vocab) == {*vocabulary.eos_token_ids}
        # Hosts give the tokens of a text with its end or without it.
        read = [said(grammar.parse(ids, compiled)) for ids in (tokens, [*tokens, min(wanted)])]
        assert read == [said(grammar.parse(case["text"]))] * 2
    assert seen == {"call", "answer"}


class _Script:
    """A model that writes certain tokens, one after the other."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._left = list(tokens)

    def sample(self) -> int | None:
        return self._left.pop(0)

    def logits(self) -> NDArray[np.float32]:
        raise NotImplementedError

    def write(self, ids: Sequence[int]) -> None:
        pass

    def replace(self, n: int, ids: Sequence[int]) -> None:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("name", "written", "end", "goes_on"),
    [
        ("llama", '{"name": "ping", "parameters": {}}', "<|eom_id|>", "; "),
        ("llama", "Hello.", "<|eot_id|>", " You."),
        ("glm_4_7", "Hello.<tool_call>ping</tool_call>", "<|observation|>", "<tool_call>ping</tool_call>"),
        ("glm_4_7", "Hello.", "<|user|>", " You."),
        # These are markers of the text itself, and more calls could follow.
        (
            "harmony",
            "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}",
            "<|call|>",
            "<|start|>assistant",
        ),
        ("harmony", "<|channel|>final<|message|>Hello.", "<|return|>", ""),
    ],
)
def test_generation_stops_at_the_end_of_the_branch(name: str, written: str, end: str, goes_on: str) -> None:
    vocabulary, special = _vocabulary(name)
    grammar = cfgmask.Grammar.from_tools([TOOLS["ping"]], style=name)
    compiled = cfgmask.compile(grammar, vocabulary)
    tokens = _tokens(special, written)
    script = _Script([*tokens, special[end], *_tokens(special, goes_on)])
    stream = TextStream(lambda: script, compiled.matcher(), 200, lambda _: (0, []), threading.RLock(), logprobs=False)
    text = stream.finished()
    assert (text.token_ids, text.finish_reason, text.is_complete) == (tuple(tokens), "stop", True)
    assert text.value == grammar.parse([*tokens, special[end]], compiled)
    assert bool(text.value.tool_calls) == ("ping" in written)


def test_a_vocabulary_without_these_tokens_ends_as_it_does() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([bytes([i]) for i in range(256)] + [b""], eos_token_id=256)
    grammar = cfgmask.Grammar.from_tools([TOOLS["ping"]], style="llama")
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    matcher.advance_bytes(b'{"name": "ping", "parameters": {}}')
    assert matcher.is_accepting
