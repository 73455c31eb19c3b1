"""`generate` with transformers: one text in one call, with the same names and results as with llama.cpp."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import math
import random
import re
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask.values import Capture
from tests.integrations.small_transformers import BOS, END_OF_TURN, EOS, small_model, small_tokenizer

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")
from cfgmask.integrations.transformers import IntegrationError, choose, generate  # noqa: E402

pytestmark = pytest.mark.torch


@dataclasses.dataclass
class Point:
    x: int
    kind: str


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "additionalProperties": False}


@pytest.fixture(scope="module")
def model() -> Any:
    return small_model()


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return small_tokenizer()


def test_types_schemas_patterns_and_choices(model: Any, tokenizer: Any) -> None:
    for seed in range(4):
        text = generate(model, tokenizer, "Hello", Point, max_tokens=80, seed=seed)
        assert isinstance(text.value, Point)
        assert dataclasses.asdict(text.value) == json.loads(text.text)
        assert text.is_complete
        assert type(text.text) is str
        assert generate(model, tokenizer, "Hello", SCHEMA, max_tokens=40, seed=seed).value.keys() == {"x"}
        assert generate(model, tokenizer, "Hello", ["red", "green"], seed=seed).value in ("red", "green")
        assert generate(model, tokenizer, "Hello", Color, seed=seed).value in Color
        text = generate(model, tokenizer, "Hello", re.compile("[A-C]{3}", re.IGNORECASE), seed=seed)
        assert re.fullmatch("[a-cA-C]{3}", text.value)
        assert text.value == text


def test_captures(model: Any, tokenizer: Any) -> None:
    grammar = cfgmask.Grammar.from_lark('start: "x=" n\nn[capture]: /[0-9]{2}/')
    compiled = cfgmask.compile(
        grammar, cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=[EOS, END_OF_TURN])
    )
    for each in (grammar, compiled):
        text = generate(model, tokenizer, "Hello", each)
        assert text.captures == [("n", text[2:].encode())]
        assert text.value == (Capture("n", text[2:], 2, 4),)


def test_the_text_is_that_of_the_models_own_generate(model: Any, tokenizer: Any) -> None:
    """With the masks of LogitsProcessor, greedy."""
    from cfgmask.integrations.transformers import LogitsProcessor

    vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=[EOS, END_OF_TURN])
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("[a-zé ]{3,40}[0-9]*"), vocabulary)
    for prompt in ("Hello", "a", "abab he"):
        ids = torch.tensor([tokenizer.encode(prompt)])
        hook = LogitsProcessor(compiled, max_new_tokens=30)
        own = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=30, do_sample=False, logits_processor=[hook]
        )
        ours = generate(model, tokenizer, prompt, compiled, max_tokens=30, temperature=0)
        assert list(ours.token_ids) == [token for token in own[0, ids.shape[1] :].tolist() if token < EOS]


@pytest.mark.parametrize("kind", ["llama", "mamba"])
def test_each_token_is_evaluated_once(kind: str, tokenizer: Any) -> None:
    model = small_model(kind=kind)
    widths: list[int] = []
    model.register_forward_pre_hook(lambda _, __, given: widths.append(given["input_ids"].shape[1]), with_kwargs=True)
    text = generate(model, tokenizer, "Hello", re.compile("[a-z]{5}"), max_tokens=9, temperature=0)
    n = len(text.token_ids)
    assert text.is_complete
    # A recurrent model has no cache that the library shows.
    assert widths[:n] == ([5] + [1] * (n - 1) if kind == "llama" else list(range(5, 5 + n)))


def test_the_end(model: Any, tokenizer: Any) -> None:
    open_end = re.compile("[a-z]+")
    text = generate(model, tokenizer, "Hello", open_end, max_tokens=6, seed=1)
    assert (text.finish_reason == "length") == (len(text.token_ids) == 6)
    assert text.is_complete
    assert generate(model, tokenizer, "Hello", ["ab"], max_tokens=6).finish_reason == "stop"
    cut_off = generate(model, tokenizer, "Hello", re.compile("[0-9]{300}b"))
    assert (cut_off.is_complete, cut_off.finish_reason, len(cut_off.token_ids)) == (False, "length", 251)
    with pytest.raises(cfgmask.ParseError, match="incomplete"):
        cut_off.value  # noqa: B018
    with pytest.raises(cfgmask.BudgetTooSmall, match="the prompt leaves"):
        generate(model, tokenizer, "Hello", re.compile("[0-9]{300}b"), max_tokens=400)
    grammar = cfgmask.Grammar.from_regex("a[a-z]{200}")
    assert generate(model, tokenizer, "Hello", grammar, max_tokens=220).is_complete


def test_messages_are_written_by_the_chat_template(model: Any, tokenizer: Any) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    grammar = re.compile("[a-z]{8}")
    answer = generate(model, tokenizer, messages, grammar, temperature=0)
    ids = tokenizer.encode("<s><user>Hi</s><assistant>", add_special_tokens=False)
    assert ids[0] == BOS
    assert ids.count(EOS) == 1
    assert answer == generate(model, tokenizer, ids, grammar, temperature=0)
    assert answer == generate(model, tokenizer, torch.tensor(ids), grammar, temperature=0)
    found = choose(model, tokenizer, messages, ["a", "b"])
    assert found == choose(model, tokenizer, ids, ["a", "b"])
    with pytest.raises(ValueError, match="chat template"):
        generate(model, small_tokenizer(None), messages, grammar)


def test_streams(model: Any, tokenizer: Any) -> None:
    grammar = cfgmask.Grammar.from_regex("[a-zé漢]{5,30}")
    whole = generate(model, tokenizer, "Hello", grammar, seed=3, max_tokens=40)
    stream = generate(model, tokenizer, "Hello", grammar, seed=3, max_tokens=40, stream=True)
    assert "".join(stream) == whole == stream.text
    assert (tuple(stream.token_ids), stream.finish_reason) == (whole.token_ids, whole.finish_reason)
    stream = generate(model, tokenizer, "Hello", grammar, seed=3, max_tokens=40, stream=True)
    next(stream)
    stream.close()
    assert list(stream) == []


def test_jumps(model: Any, tokenizer: Any) -> None:
    grammar = cfgmask.Grammar.from_lark('start: "the name: " n ", the ab: " n\nn[capture]: /[a-z]{2,6}/')
    for seed in range(5):
        text = generate(model, tokenizer, "Hello", grammar, seed=seed, jump_forward=True)
        assert text.is_complete
        assert re.fullmatch("the name: [a-z]{2,6}, the ab: [a-z]{2,6}", text)
        assert text.n_forced > 10
        # It is what it was written in that the model has seen: the tokens' own bytes.
        vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer)
        assert b"".join(vocabulary.tokens[token_id] for token_id in text.token_ids).decode() == text
        assert len(text.token_logprobs) == len(text.token_ids)
    canonical = {"temperature": 0, "canonical": True}
    with_jumps = generate(model, tokenizer, "Hello", grammar, **canonical, jump_forward=True)
    assert with_jumps.token_ids == generate(model, tokenizer, "Hello", grammar, **canonical).token_ids


def test_going_back_is_the_same_without_a_cache(model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from cfgmask.integrations.transformers.decoder import Decoder

    grammar = cfgmask.Grammar.from_lark('start: (w " he")~6\nw: /[a-z]{1,4}/')

    def write() -> list[tuple[int, ...]]:
        return [
            generate(model, tokenizer, "Hello", grammar, seed=seed, jump_forward=True).token_ids for seed in range(6)
        ]

    kept = write()
    monkeypatch.setattr(Decoder, "_cut_cache", lambda self, _: vars(self).update(_cache=None, _held=[]))
    assert write() == kept


def alone(model: Any, prompt: list[int], ids: tuple[int, ...]) -> Any:
    """The log-probabilities of what may follow before each of the ids."""
    with torch.no_grad():
        logits = model(torch.tensor([[*prompt, *ids]])).logits[0, len(prompt) - 1 : len(prompt) - 1 + len(ids)]
    return torch.log_softmax(logits.double(), dim=-1).numpy()


def test_logprobs_are_those_of_the_model_and_of_what_is_left(model: Any, tokenizer: Any) -> None:
    """By trying every token at every place, without masks."""
    vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=[EOS, END_OF_TURN])
    grammar = cfgmask.Grammar.from_lark("""
        start: "a=" a "; b=" b
        a[capture]: /[a-z]{1,5}/
        b[capture="bs"]: c ("," c)*
        c[capture]: /[0-9é]{1,3}/
    """)
    compiled = cfgmask.compile(grammar, vocabulary)
    prompt = tokenizer.encode("Hello")
    for seed in range(8):
        text = generate(model, tokenizer, "Hello", compiled, max_tokens=30, seed=seed)
        rows = alone(model, prompt, text.token_ids)
        matcher = compiled.matcher(max_tokens=30, stall_after=512)
        starts = [0]
        for row, token_id, found in zip(rows, text.token_ids, text.token_logprobs, strict=True):
            allowed = [each for each in range(vocabulary.n_vocab) if _allows(matcher, each)]
            assert found.raw == pytest.approx(row[token_id], abs=1e-4)
            assert found.masked == pytest.approx(row[token_id] - np.logaddexp.reduce(row[allowed]), abs=1e-4)
            matcher.advance(token_id)
            starts.append(starts[-1] + len(vocabulary.tokens[token_id]))
        data = text.encode()
        assert [(each.name, each.text.encode()) for each in text.logprobs] == text.captures
        for each in text.logprobs:
            assert data[each.start : each.end] == each.text.encode()
            own = [n for n in range(len(starts) - 1) if starts[n] < each.end and starts[n + 1] > each.start]
            assert each.raw == pytest.approx(sum(text.token_logprobs[n].raw for n in own))
            assert each.masked == pytest.approx(sum(text.token_logprobs[n].masked for n in own))
            assert each.raw <= each.masked + 1e-9
            assert each.probability == math.exp(each.raw)


def _allows(matcher: cfgmask.Matcher, token_id: int) -> bool:
    fork = matcher.fork()
    bits = np.zeros(-(-fork.compiled.vocabulary.n_vocab // 32), dtype=np.uint32)
    fork.fill_mask(bits)
    return bool(bits[token_id // 32] >> np.uint32(token_id % 32) & 1)


def test_logprobs_of_json_are_those_of_its_values(model: Any, tokenizer: Any) -> None:
    text = generate(model, tokenizer, "Hello", Point, max_tokens=60, seed=2, logprobs=True)
    assert [each.name for each in text.logprobs] == ["x", "kind"]
    assert [json.loads(each.text) for each in text.logprobs] == [text.value.x, text.value.kind]
    assert generate(model, tokenizer, "Hello", Point, max_tokens=60, seed=2).logprobs == ()
    grammar = cfgmask.Grammar.from_lark('start: n\nn[capture]: "a"')
    assert generate(model, tokenizer, "Hello", grammar, logprobs=False).logprobs == ()


@pytest.mark.parametrize(
    "options",
    [{"top_k": 3}, {"top_p": 0.5, "temperature": 0.7}, {"min_p": 0.1}, {"typical_p": 0.5}, {"repetition_penalty": 1.3}],
    ids=str,
)
def test_samplers(model: Any, tokenizer: Any, options: dict[str, Any]) -> None:
    for seed in range(4):
        text = generate(model, tokenizer, "Hello", re.compile("[a-z]{3,9}"), seed=seed, max_tokens=12, **options)
        assert re.fullmatch("[a-z]{3,9}", text)
        again = generate(model, tokenizer, "Hello", re.compile("[a-z]{3,9}"), seed=seed, max_tokens=12, **options)
        assert text.token_ids == again.token_ids
    greedy = generate(model, tokenizer, "Hello", re.compile("[a-z]{9}"), temperature=0, max_tokens=12)
    assert generate(model, tokenizer, "Hello", re.compile("[a-z]{9}"), top_k=1, max_tokens=12) == greedy


def test_processors_and_criteria(model: Any, tokenizer: Any) -> None:
    pattern = re.compile("[ab]{4,9}")

    def no_a(ids: Any, scores: Any) -> Any:
        scores[:, [ord("a"), 258]] = -torch.inf
        return scores

    assert set(generate(model, tokenizer, "Hello", pattern, logits_processor=[no_a], max_tokens=12)) == {"b"}
    with pytest.raises(IntegrationError, match="no token is left"):
        generate(model, tokenizer, "Hello", ["aa"], logits_processor=[no_a])
    text = generate(
        model,
        tokenizer,
        "Hello",
        re.compile("[ab]{9,12}"),
        stopping_criteria=[lambda ids, _: ids.shape[1] >= 7],
        max_tokens=12,
    )
    assert len(text.token_ids) == 2
    assert not text.is_complete


def test_a_vocabulary_in_place_of_the_tokenizer(model: Any, tokenizer: Any) -> None:
    vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=[EOS, END_OF_TURN])
    ids = tokenizer.encode("Hello")
    grammar = re.compile("[a-z]{5}")
    expected = generate(model, tokenizer, "Hello", grammar, temperature=0)
    assert generate(model, vocabulary, ids, grammar, temperature=0) == expected
    with pytest.raises(TypeError, match="needs the tokenizer"):
        generate(model, vocabulary, "Hello", grammar)
    other = cfgmask.Vocabulary.from_bytes([*(bytes([255 - byte]) for byte in range(256)), b""], eos_token_id=256)
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("a"), other)
    for each, prompt in ((vocabulary, ids), (tokenizer, "Hello")):
        with pytest.raises(cfgmask.VocabularyError, match="compiled for"):
            generate(model, each, prompt, compiled)


def test_refusals(model: Any, tokenizer: Any) -> None:
    with pytest.raises(TypeError, match="a model of transformers"):
        generate(tokenizer, tokenizer, "Hello", ["a"])
    with pytest.raises(TypeError, match="Grammar or a CompiledGrammar"):
        generate(model, tokenizer, "Hello", 7)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="no option 'topk'"):
        generate(model, tokenizer, "Hello", ["a"], topk=1)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="at least 0"):
        generate(model, tokenizer, "Hello", ["a"], temperature=-1)
    with pytest.raises(ValueError, match="max_tokens must be at least 1"):
        generate(model, tokenizer, "Hello", ["a"], max_tokens=0)
    with pytest.raises(ValueError, match="the context 256"):
        generate(model, tokenizer, "Hello" * 60, ["a"])
    with pytest.raises(ValueError, match="the model has 272 tokens"):
        generate(model, tokenizer, [5, 300], ["a"])
    with pytest.raises(TypeError, match="is no id"):
        generate(model, tokenizer, [5, "a"], ["a"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"character 1 is the lone surrogate U\+D800"):
        generate(model, tokenizer, "a\ud800", ["a"])
    with pytest.raises(ValueError, match="a choice is no Unicode text"):
        choose(model, tokenizer, "Hello", ["\ud800"])
    with pytest.raises(TypeError, match="the model's tokenizer or a Vocabulary, not NoneType"):
        generate(model, None, "Hello", ["a"])
    with pytest.raises(ValueError, match="give max_tokens"):
        generate(small_model(kind="mamba"), tokenizer, "Hello", ["a"])
    bare = small_tokenizer()
    bare.bos_token = None
    with pytest.raises(ValueError, match="the prompt is empty"):
        generate(model, bare, "", ["a"])
    assert generate(model, tokenizer, "", ["a"]) == generate(model, tokenizer, [BOS], ["a"])


def test_names_are_those_of_llama_cpp() -> None:
    llama_cpp = pytest.importorskip("cfgmask.integrations.llama_cpp", reason="llama-cpp-python is not installed")
    theirs, ours = (list(inspect.signature(each).parameters) for each in (llama_cpp.generate, generate))
    assert ours == ["model", "tokenizer", *theirs[1:]]
    assert list(inspect.signature(choose).parameters) == [
        "model",
        "tokenizer",
        *list(inspect.signature(llama_cpp.choose).parameters)[1:],
    ]


LABELS = ["get_weather", "get_time", "set_timer", "get", "", "send_message", "é 漢", "abab"]


@pytest.mark.parametrize("kind", ["llama", "mamba"])
def test_choices_are_scored_like_each_alone(kind: str, tokenizer: Any) -> None:
    """And the prompt is evaluated once, with a model that has a cache to copy."""
    model = small_model(kind=kind, scale=5 if kind == "llama" else 1)
    rng = random.Random(0)
    for n in (1, 2, 8):
        labels = rng.sample(LABELS, n)
        prompt = tokenizer.encode("Say the name: ")
        expected = []
        for label in labels:
            ids = tuple(tokenizer.encode(label, add_special_tokens=False))
            rows = alone(model, prompt, (*ids, EOS))
            written = sum(rows[at, token_id] for at, token_id in enumerate(ids))
            expected.append(written + np.logaddexp(*rows[-1, [EOS, END_OF_TURN]]))
        evaluated: list[int] = []
        handle = model.register_forward_pre_hook(
            lambda _, __, given, seen=evaluated: seen.append(given["input_ids"].numel()), with_kwargs=True
        )
        found = choose(model, tokenizer, "Say the name: ", labels)
        handle.remove()
        assert list(found.log_probabilities.values()) == pytest.approx(expected, abs=1e-5)
        assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-9)
        assert found.text == labels[int(np.argmax(expected))]
        if kind == "llama":
            longest = max(len(tokenizer.encode(label, add_special_tokens=False)) for label in labels)
            assert evaluated == [len(prompt), n * longest][: 2 if longest else 1]
