"""The probability of whole choices: equal to that of each choice scored by itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask.demo import model_path as demo_path
from cfgmask.integrations.choices import score_trie
from tests.integrations.conftest import END_TOKENS

LABELS = ["get_weather", "get_time", "set_timer", "get", "", "send_message", "é 漢", "get_weather_now"]


def test_a_trie_is_scored_like_each_sequence() -> None:
    """Each node is asked for once, and the depth never grows but along a path."""
    rng = random.Random(0)
    weights = np.random.default_rng(0).normal(size=(1000, 6))

    def row(path: tuple[int, ...]) -> Any:
        logits = weights[hash(path) % 1000]
        return logits - np.logaddexp.reduce(logits)

    for _ in range(300):
        sequences = list({tuple(rng.choices(range(4), k=rng.randrange(5))) for _ in range(rng.randrange(1, 8))})
        path: list[int] = []
        asked: set[tuple[int, ...]] = set()

        def rows_after(depth: int, tokens: tuple[int, ...], path: list[int] = path, asked: Any = asked) -> list[Any]:
            assert depth <= len(path)
            path[depth:] = tokens
            rows = [row(tuple(path[: depth + n + 1])) for n in range(len(tokens))]
            for n in range(len(tokens)):
                assert tuple(path[: depth + n + 1]) not in asked
                asked.add(tuple(path[: depth + n + 1]))
            return rows

        scores = score_trie(sequences, [4, 5], row(()), rows_after)
        for sequence, score in zip(sequences, scores, strict=True):
            alone = sum(row(sequence[:n])[token] for n, token in enumerate(sequence))
            assert score == pytest.approx(alone + np.logaddexp(*row(sequence)[4:]), abs=1e-9)


def alone(llm: Any, prompt: list[int], ids: list[int], ends: Any) -> float:
    llm.reset()
    llm.eval([*prompt, *ids])
    logits = llm.scores[len(prompt) - 1 : len(prompt) + len(ids)].astype(float)
    rows = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return float(
        sum(row[token] for row, token in zip(rows, ids, strict=False)) + np.logaddexp.reduce(rows[-1][list(ends)])
    )


def assert_equal_alone(
    load: Callable[..., Any], prompt: str, ends: Any, encode: Callable[[Any, str], list[int]]
) -> None:
    from cfgmask.integrations.llama_cpp import choose

    scorer, llm = load(logits_all=True), load()
    ids = scorer.tokenize(prompt.encode(), special=True)
    expected = np.array([alone(scorer, ids, encode(scorer, label), ends) for label in LABELS])
    shares = np.exp(expected - np.logaddexp.reduce(expected))
    for _ in range(2):  # the second time, the context holds a part of it
        found = choose(llm, prompt, LABELS)
        # Sums in llama.cpp depend on how many tokens are evaluated together.
        assert list(found.log_probabilities.values()) == pytest.approx(expected, rel=2e-4, abs=1e-5)
        assert list(found.probabilities.values()) == pytest.approx(shares, abs=1e-5)
        assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-9)
        assert found.text == LABELS[int(expected.argmax())]
        assert found.probability == max(found.probabilities.values())


def test_llama_cpp_on_random_weights(load: Callable[..., Any]) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    assert_equal_alone(load, "Hello", END_TOKENS, lambda llm, text: llm.tokenize(text.encode(), add_bos=False))


def test_llama_cpp_on_the_shipped_model() -> None:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

    def load(**options: Any) -> Any:
        return llama_cpp.Llama(str(demo_path()), n_ctx=256, n_threads=1, verbose=False, n_batch=16, **options)

    kept = load()
    vocabulary = cfgmask.Vocabulary.from_llama(kept)
    assert vocabulary.encode is not None
    encode = vocabulary.encode
    prompt = "User: tell Anna that dinner is ready\nCall: "
    assert_equal_alone(load, prompt, vocabulary.eos_token_ids, lambda llm, text: list(encode(text)) if text else [])


def test_llama_cpp_goes_on_after_it(llm: Any) -> None:
    """What the context holds then is what it says."""
    from cfgmask.integrations.llama_cpp import choose, generate

    grammar = cfgmask.Grammar.from_regex("[a-z]{5,9}")
    before = generate(llm, "Hello", grammar, temperature=0)
    choose(llm, "Hello", ["abc", "abd", "x"])
    assert generate(llm, "Hello", grammar, temperature=0) == before
    choose(llm, "Hello", ["abc", "abd", "x"])
    assert llm.create_completion("Hello", max_tokens=4, temperature=0)["choices"][0]["text"] is not None


def test_refusals(llm: Any) -> None:
    from cfgmask.integrations.llama_cpp import choose

    with pytest.raises(TypeError, match="not one text"):
        choose(llm, "Hello", "abc")
    with pytest.raises(TypeError, match="a choice must be a str"):
        choose(llm, "Hello", ["a", 1])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="nothing to choose"):
        choose(llm, "Hello", [])
    with pytest.raises(ValueError, match="the context 256"):
        choose(llm, "Hello", ["a", "b" * 300])
    with pytest.raises(TypeError, match="llama_cpp"):
        choose(None, "Hello", ["a"])


@pytest.mark.torch
def test_transformers() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from cfgmask.integrations.transformers import choose

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=272, **sizes)).eval()
    with torch.no_grad():
        model.lm_head.weight.mul_(20)
    tokens = [*(bytes([byte]) for byte in range(256)), b"", b""]
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, (256, 257), encode=lambda text: list(text.encode()))
    prompt = list(b"Hello")
    expected = []
    for label in LABELS:
        ids = [*prompt, *label.encode()]
        with torch.no_grad():
            rows = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), dim=-1).numpy()
        written = sum(rows[n, token] for n, token in enumerate(ids[len(prompt) :], len(prompt) - 1))
        expected.append(written + np.logaddexp(*rows[-1, 256:258]))
    found = choose(model, vocabulary, prompt, LABELS)
    assert list(found.log_probabilities.values()) == pytest.approx(expected, abs=1e-5)
    assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-9)
    assert found.text == LABELS[int(np.argmax(expected))]
    with pytest.raises(TypeError, match="tokenizer"):
        choose(model, vocabulary, "Hello", LABELS)
