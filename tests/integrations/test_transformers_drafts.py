"""Assisted generation under transformers' `generate`: masks after drafts are those of a replay, and nothing is lost."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest

import cfgmask

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
from cfgmask.integrations.transformers import LogitsProcessor  # noqa: E402
from tests.integrations.batches import (  # noqa: E402
    NUMBERS,
    PERSON,
    VOCABULARY,
    WORDS,
    Replayed,
    assert_in_language,
    compiled,
    hooked,
    prompts,
    random_model,
    texts,
)

pytestmark = pytest.mark.torch

torch.set_num_threads(1)  # threads only slow down models this small
PROMPT = prompts(b'red green blue red {"name": "ab", 12, 13, 14')
START = PROMPT["input_ids"].shape[1]
MODEL = random_model(0)
ASSISTANTS: dict[str, dict[str, Any]] = {
    "prompt lookup": {"prompt_lookup_num_tokens": 4},
    "another model": {"assistant_model": random_model(1)},
    "itself": {"assistant_model": MODEL, "num_assistant_tokens": 7},
}
WAYS = pytest.mark.parametrize("assistant", ASSISTANTS.values(), ids=ASSISTANTS)


def write(hook: Any, **options: Any) -> tuple[str, bool]:
    options = {"max_new_tokens": 40, "do_sample": False} | options
    return texts(MODEL.generate(**PROMPT, logits_processor=[hook], **options), START)[0]


@WAYS
@pytest.mark.parametrize("pattern", [PERSON, NUMBERS, WORDS, "[a-c]{1,39}", "(red|green)( blue)*"])
def test_the_greedy_text_is_the_same(pattern: str, assistant: dict[str, Any]) -> None:
    plain = write(LogitsProcessor(compiled(pattern)))
    (hook,) = hooked([pattern], as_list=False)
    assert write(hook, **assistant) == plain
    assert_in_language(*plain, pattern)


def test_drafts_are_refused_and_taken_back() -> None:
    """That the masks compared above are those of drafts."""
    (hook,) = hooked([NUMBERS], as_list=False)
    write(hook, **ASSISTANTS["another model"])
    shown = [rows[0] for rows in hook.rows_seen]
    assert sum(len(after) <= len(before) for before, after in pairwise(shown)) >= 3
    refused = Replayed(LogitsProcessor(compiled("x{1,9}")), ["x{1,9}"])

    class Drafts(transformers.LogitsProcessor):  # type: ignore[misc]
        """Has the lookup take for fit what the grammar refuses."""

        def __call__(self, input_ids: Any, scores: Any) -> Any:
            masked = refused(input_ids, scores)
            return scores if (scores == 1).all() else masked

    text, finished = write(Drafts(), prompt_lookup_num_tokens=3)
    assert_in_language(text, finished, "x{1,9}")
    taken = compiled("x{1,9}")
    assert any(taken.matcher().try_advance(row) < len(row) for rows in refused.rows_seen for row in rows)


@WAYS
@pytest.mark.parametrize("max_new_tokens", [1, 22, 30])
def test_sampled_texts_are_complete_within_a_budget(assistant: dict[str, Any], max_new_tokens: int) -> None:
    pattern = "[a-z]|" + PERSON
    for seed in range(4):
        torch.manual_seed(seed)
        hook = LogitsProcessor(compiled(pattern), max_new_tokens=max_new_tokens)
        text, _ = write(hook, do_sample=True, max_new_tokens=max_new_tokens, **assistant)
        assert_in_language(text, True, pattern)


@WAYS
def test_calls_of_both_kinds_in_turns(assistant: dict[str, Any]) -> None:
    hook = LogitsProcessor(compiled(WORDS))
    written = [write(hook, **options) for options in ({}, assistant, {}, assistant)]
    assert written == written[:1] * 4
    assert write(LogitsProcessor([None]), **assistant) == write(LogitsProcessor([None]))


@pytest.mark.parametrize(
    ("letters", "assistant"),
    [("b-m", ASSISTANTS["prompt lookup"]), ("c-n", ASSISTANTS["itself"])],
    ids=["ids", "model"],
)
def test_failures_are_raised_or_end_the_text(letters: str, assistant: dict[str, Any]) -> None:
    limits = cfgmask.Limits(max_lexer_states=60)
    failing = cfgmask.compile(cfgmask.Grammar.from_regex(f"[{letters}]{{400}}"), VOCABULARY, limits)
    hook = LogitsProcessor(failing, on_error="end")
    _, finished = write(hook, max_new_tokens=100, **assistant)
    assert finished
    assert isinstance(hook.errors[0], cfgmask.LimitExceeded)
    # The next text begins anew, and what the first one made is free to it.
    hook = LogitsProcessor(failing)
    with pytest.raises(cfgmask.LimitExceeded):
        write(hook, max_new_tokens=200, **assistant)


def small_tokenizer(merges: list[tuple[str, str]]) -> Any:
    """Bytes, and these joined; other merges give other ids."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    characters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet(), reverse=bool(merges))
    vocab = {text: index for index, text in enumerate([*characters, *map("".join, merges), "</s>"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="</s>")


def test_an_assistant_of_another_tokenizer_drafts_freely() -> None:
    ours, theirs = small_tokenizer([]), small_tokenizer([("r", "e"), ("re", "d"), ("b", "l")])
    models = []
    for seed, tokenizer in enumerate((ours, theirs)):
        config = copy.deepcopy(MODEL.config)
        config.vocab_size, config.bos_token_id = len(tokenizer), None
        config.eos_token_id = config.pad_token_id = tokenizer.eos_token_id
        models.append(random_model(seed, config))
    grammar = cfgmask.compile(cfgmask.Grammar.from_regex(WORDS), cfgmask.Vocabulary.from_transformers(ours))
    ids = ours("red green blue red", return_tensors="pt")
    assistant = {"assistant_model": models[1], "tokenizer": ours, "assistant_tokenizer": theirs}
    plain, assisted = (
        models[0].generate(**ids, logits_processor=[LogitsProcessor(grammar)], max_new_tokens=40, **more)
        for more in ({"do_sample": False}, {"do_sample": False} | assistant)
    )
    assert plain.tolist() == assisted.tolist()
