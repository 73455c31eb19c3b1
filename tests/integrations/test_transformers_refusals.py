"""What `generate` of transformers is refused for: tokens outside of the masks, other vocabularies, other ends."""

from __future__ import annotations

import random
from typing import Any

import pytest

import cfgmask

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
from cfgmask.integrations.transformers import IntegrationError, LogitsProcessor, vocabulary_checks  # noqa: E402
from tests.integrations.batches import (  # noqa: E402
    END_TOKENS,
    NUMBERS,
    PAD,
    PERSON,
    THREE,
    VOCABULARY,
    WORDS,
    assert_in_language,
    compiled,
    prompts,
    random_model,
    texts,
)

pytestmark = pytest.mark.torch

torch.set_num_threads(1)  # threads only slow down models this small
PATTERNS = [PERSON, NUMBERS, WORDS]
ONE = prompts(b"Hello")


@pytest.fixture(scope="module")
def model() -> Any:
    return random_model(0)


class Undoes(transformers.LogitsProcessor):  # type: ignore[misc]
    """Has a row write a token that no grammar here allows, at a step."""

    def __init__(self, row: int, step: int) -> None:
        self._row, self._step, self.n = row, step, 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.n += 1
        if self.n == self._step:
            scores[self._row] = -1e9
            scores[self._row, ord("?")] = 50.0
        return scores


@pytest.mark.parametrize("seed", range(8))
def test_a_row_that_leaves_its_grammar_is_an_error(model: Any, seed: int) -> None:
    """Whichever row of however many, at any step before the last; the processor behind may also do nothing."""
    rng = random.Random(seed)
    n_rows, step = rng.choice([1, 2, 3]), rng.randint(1, 4)
    row = rng.randrange(n_rows)
    inputs = {name: tensor[:n_rows] for name, tensor in THREE.items()}
    options = {"max_new_tokens": 30, "do_sample": rng.random() < 0.5}
    if rng.random() < 0.3:
        options["output_scores"] = options["return_dict_in_generate"] = True
    hook = LogitsProcessor([compiled(pattern) for pattern in PATTERNS[:n_rows]])
    behind = Undoes(row, step)
    with pytest.raises(cfgmask.TokenRejected):
        model.generate(**inputs, logits_processor=[hook, behind], **options)
    assert behind.n == step
    never = Undoes(row, 1000)
    output = model.generate(**inputs, logits_processor=[hook, never], max_new_tokens=60, do_sample=False)
    for (text, finished), pattern in zip(texts(output, inputs["input_ids"].shape[1]), PATTERNS, strict=False):
        assert_in_language(text, finished, pattern)


@pytest.mark.parametrize("row", range(3))
def test_such_a_row_may_end_alone(model: Any, row: int) -> None:
    hook = LogitsProcessor([compiled(pattern) for pattern in PATTERNS], on_error="end")
    output = model.generate(**THREE, logits_processor=[hook, Undoes(row, 3)], max_new_tokens=60, do_sample=False)
    assert isinstance(hook.errors[row], cfgmask.TokenRejected)
    for index, (text, finished) in enumerate(texts(output, THREE["input_ids"].shape[1])):
        if index == row:
            assert "?" in text
            assert finished
        else:
            assert hook.errors[index] is None
            assert_in_language(text, finished, PATTERNS[index])


def test_beams_without_hope_are_no_error(model: Any) -> None:
    hook = LogitsProcessor(compiled("yes|no"))
    output = model.generate(**THREE, logits_processor=[hook], num_beams=4, max_new_tokens=8)
    assert all(text in ("yes", "no") for text, _ in texts(output, THREE["input_ids"].shape[1]))


@pytest.mark.parametrize("assistant", [{"prompt_lookup_num_tokens": 3}, {"assistant_model": random_model(1)}], ids=str)
def test_a_text_with_drafts_that_leaves_its_grammar_is_an_error(model: Any, assistant: dict[str, Any]) -> None:
    class UndoesLast(Undoes):
        """In the scores of the model, not of its assistant: those after the text of so many tokens."""

        def __call__(self, input_ids: Any, scores: Any) -> Any:
            if input_ids.shape[1] >= ONE["input_ids"].shape[1] + 6:
                scores[:] = -1e9
                scores[:, ord("?")] = 50.0
            return scores

    hook = LogitsProcessor(compiled("[a-z ]{20,60}"))
    with pytest.raises(cfgmask.TokenRejected):
        model.generate(
            **ONE, logits_processor=[hook, UndoesLast(0, 0)], max_new_tokens=40, do_sample=False, **assistant
        )


def test_a_processor_without_a_list(model: Any) -> None:
    for inputs in (ONE, THREE):
        output = model.generate(**inputs, logits_processor=LogitsProcessor(compiled(WORDS)), max_new_tokens=60)
        for text, finished in texts(output, inputs["input_ids"].shape[1]):
            assert_in_language(text, finished, WORDS)


@pytest.mark.parametrize("inputs", [ONE, THREE], ids=["one", "three"])
def test_a_forced_end_is_named(model: Any, inputs: dict[str, Any]) -> None:
    hook = LogitsProcessor(compiled(PERSON))
    with pytest.raises(IntegrationError, match=r"another processor: forced_eos_token_id, .* have it complete by then"):
        model.generate(**inputs, logits_processor=[hook], max_new_tokens=9, forced_eos_token_id=END_TOKENS[0])
    within = LogitsProcessor(compiled(PERSON), max_new_tokens=39)
    output = model.generate(**inputs, logits_processor=[within], max_new_tokens=40, forced_eos_token_id=END_TOKENS[0])
    for text, _ in texts(output, inputs["input_ids"].shape[1]):
        assert_in_language(text, True, PERSON)


def test_other_processors_are_named(model: Any) -> None:
    with pytest.raises(IntegrationError, match=r"or the like; the call has .*MinNewTokensLengthLogitsProcessor"):
        model.generate(**ONE, logits_processor=[LogitsProcessor(compiled("a|b"))], min_new_tokens=3, max_new_tokens=9)


# Vocabularies of other models.


def tokenizer_of(order: list[str]) -> Any:
    """Over bytes, whose tokens stand in this order."""
    ids = {character: i for i, character in enumerate(order)} | {"<end>": 256, "<stop>": 257, "<pad>": 258}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=ids, merges=[]))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<end>", pad_token="<pad>", padding_side="left"
    )


ORDER = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())


def hook_of(tokenizer: Any, ends: Any = END_TOKENS) -> LogitsProcessor:
    vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=ends)
    return LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex(WORDS), vocabulary))


@pytest.mark.parametrize("seed", range(4))
def test_grammars_of_another_tokenizer(model: Any, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    read_texts = vocabulary_checks.read_texts
    monkeypatch.setattr(
        vocabulary_checks, "read_texts", lambda tokenizer: read.append(tokenizer) or read_texts(tokenizer)
    )
    rng = random.Random(seed)
    order = ORDER[:]
    if seed:
        left, right = rng.sample(range(256), 2)
        order[left], order[right] = order[right], order[left]
    else:
        rng.shuffle(order)
    own, other = tokenizer_of(ORDER), tokenizer_of(order)
    pipeline = transformers.pipeline("text-generation", model=model, tokenizer=own, device="cpu")
    for write in (
        lambda hook: model.generate(**ONE, logits_processor=[hook], max_new_tokens=60, tokenizer=own),
        lambda hook: pipeline("Hello", logits_processor=[hook], max_new_tokens=60),
    ):
        with pytest.raises(cfgmask.VocabularyError, match=r"and b'.*' in that of the tokenizer; compile it with"):
            write(hook_of(other))
        n_read = len(read)
        hook = hook_of(own)
        for _ in range(3):
            write(hook)
        assert len(read) <= n_read + 1


def test_ends_that_generate_does_not_stop_at(model: Any) -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes(VOCABULARY.tokens, eos_token_id=PAD)
    hook = LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex(WORDS), vocabulary))
    with pytest.raises(
        cfgmask.VocabularyError, match=r"stops at the tokens \[256, 257\], and none of them ends a text"
    ):
        model.generate(**THREE, logits_processor=[hook], max_new_tokens=60)
    # One of them is enough: the model then ends at it alone.
    fewer = cfgmask.Vocabulary.from_bytes(VOCABULARY.tokens, eos_token_id=257)
    hook = LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex(WORDS), fewer))
    for text, finished in texts(model.generate(**ONE, logits_processor=[hook], max_new_tokens=60), 5):
        assert_in_language(text, finished, WORDS)


def test_tokens_that_the_model_has_no_scores_for(model: Any) -> None:
    more = [*VOCABULARY.tokens, *[b""] * 100]
    hooks = []
    for tokens in (more, [*more, b"red"]):
        vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=END_TOKENS)
        hooks.append(LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex(WORDS), vocabulary)))
    model.generate(**ONE, logits_processor=[hooks[0]], max_new_tokens=9)
    with pytest.raises(cfgmask.VocabularyError, match="compiled for 360 tokens, 359 is b'red', and the model has 272"):
        model.generate(**ONE, logits_processor=[hooks[1]], max_new_tokens=9)
