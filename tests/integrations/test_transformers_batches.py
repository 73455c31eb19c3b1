"""Batches and beams under transformers' `generate`: each row's masks are those of its own text, replayed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import regex

import cfgmask

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
from cfgmask.integrations.transformers import IntegrationError, LogitsProcessor  # noqa: E402
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
    hooked,
    prompts,
    random_model,
    texts,
)

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def model() -> Any:
    return random_model(0)


@pytest.mark.parametrize(
    "options", [{"do_sample": True}, {"num_beams": 3}, {"num_return_sequences": 2, "num_beams": 2}]
)
def test_each_row_is_complete_within_its_budget(model: Any, options: dict[str, Any]) -> None:
    patterns, budgets = [PERSON, NUMBERS, WORDS], [24, 3, 40]
    hook = LogitsProcessor([compiled(pattern) for pattern in patterns], max_new_tokens=budgets)
    torch.manual_seed(0)
    output = model.generate(**THREE, logits_processor=[hook], max_new_tokens=40, **options)
    found = texts(output, THREE["input_ids"].shape[1])
    for index, (text, _) in enumerate(found):
        row = index // (len(found) // 3)
        assert regex.fullmatch(patterns[row], text)
        assert len(text.encode()) <= budgets[row]


@pytest.mark.parametrize("beams", [1, 2])
def test_the_calls_own_max_new_tokens_count_where_they_are_fewer(model: Any, beams: int) -> None:
    pattern = "[0-9]{3,}x"
    hook = LogitsProcessor([compiled(pattern), None, compiled(pattern)], max_new_tokens=[50, None, 60])
    start = THREE["input_ids"].shape[1]
    for length in (4, 7):
        output = model.generate(**THREE, logits_processor=[hook], max_new_tokens=length, num_beams=beams)
        written = texts(output, start)
        assert all(regex.fullmatch(pattern, written[row][0]) for row in (0, 2)), written
    with pytest.raises(
        cfgmask.BudgetTooSmall, match="max_tokens is 3, and the shortest completion found takes 4 tokens"
    ):
        model.generate(**THREE, logits_processor=[hook], max_new_tokens=3, num_beams=beams)


def test_a_list_without_grammars() -> None:
    for empty in ((), []):
        with pytest.raises(ValueError, match="is empty"):
            LogitsProcessor(empty)


def test_a_budget_for_all_rows_or_one_for_each() -> None:
    both = LogitsProcessor(compiled("a*"), max_new_tokens=[1, None])
    ids = torch.tensor([[1], [2]])
    assert [torch.isfinite(row).sum() for row in both(ids, torch.zeros(2, 260))] == [3, 3]
    ids = torch.tensor([[1, ord("a")], [2, ord("a")]])
    assert [torch.isfinite(row).sum() for row in both(ids, torch.zeros(2, 260))] == [2, 3]
    with pytest.raises(ValueError, match="2 grammars in the list and 3 numbers"):
        LogitsProcessor([compiled("a"), None], max_new_tokens=[1, 2, 3])


@pytest.mark.parametrize("options", [{"do_sample": False}, {"do_sample": True}, {"max_new_tokens": 9}], ids=str)
@pytest.mark.parametrize("patterns", [[PERSON, NUMBERS, WORDS], [WORDS, None, NUMBERS]], ids=["all", "some"])
def test_a_grammar_for_each_row(model: Any, patterns: list[str | None], options: dict[str, Any]) -> None:
    torch.manual_seed(1)
    hook = LogitsProcessor([None if pattern is None else compiled(pattern) for pattern in patterns])
    output = model.generate(**THREE, logits_processor=[hook], **{"max_new_tokens": 60, **options})
    for (text, finished), pattern in zip(texts(output, THREE["input_ids"].shape[1]), patterns, strict=True):
        if pattern is not None:
            assert_in_language(text, finished, pattern)


def test_a_row_without_a_grammar_is_as_without_masks(model: Any) -> None:
    hook = LogitsProcessor([None, compiled(NUMBERS), None])
    options: dict[str, Any] = {"max_new_tokens": 20, "do_sample": False}
    output, free = model.generate(**THREE, logits_processor=[hook], **options), model.generate(**THREE, **options)
    width = min(output.shape[1], free.shape[1])
    assert torch.equal(output[[0, 2], :width], free[[0, 2], :width])


def test_padding_changes_nothing(model: Any) -> None:
    """Each row of a batch is what its prompt alone gives."""
    hook = LogitsProcessor([compiled(PERSON), compiled(NUMBERS)])
    together = prompts(b"Hello", b"A longer prompt: ")
    output = model.generate(**together, logits_processor=[hook], max_new_tokens=50, do_sample=False)
    rows = texts(output, together["input_ids"].shape[1])
    for (text, _), prompt, pattern in zip(rows, (b"Hello", b"A longer prompt: "), (PERSON, NUMBERS), strict=True):
        alone = prompts(prompt)
        hook = LogitsProcessor(compiled(pattern))
        single = model.generate(**alone, logits_processor=[hook], max_new_tokens=50, do_sample=False)
        assert texts(single, len(prompt))[0][0] == text


@pytest.mark.parametrize(
    "options",
    [
        {"do_sample": True},
        {"do_sample": True, "num_return_sequences": 3},
        {"num_beams": 3, "do_sample": False},
        {"num_beams": 4, "num_return_sequences": 3, "do_sample": False, "length_penalty": 2.0},
        {"num_beams": 3, "do_sample": False, "early_stopping": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("as_list", [True, False])
def test_every_mask_is_that_of_a_replay(model: Any, options: dict[str, Any], as_list: bool) -> None:
    torch.manual_seed(2)
    patterns: list[str | None] = [PERSON, NUMBERS, WORDS] if as_list else [NUMBERS]
    hooks = hooked(patterns, as_list)
    output = model.generate(**THREE, logits_processor=hooks, max_new_tokens=40, **options)
    each = options.get("num_return_sequences", 1)
    for index, (text, finished) in enumerate(texts(output, THREE["input_ids"].shape[1])):
        assert_in_language(text, finished, str(patterns[index // each] if as_list else NUMBERS))


def test_beams_are_put_in_another_order(model: Any) -> None:
    """That the tests of beams see what they are about."""
    hooks = hooked([WORDS, NUMBERS, PERSON])
    model.generate(**THREE, logits_processor=hooks, max_new_tokens=30, num_beams=4, do_sample=False)
    steps = list(pairwise(hooks[0].rows_seen))
    moved = [new[:-1] != old for before, after in steps for old, new in zip(before, after, strict=True)]
    split = [len({tuple(new[:-1]) for new in after}) < len(after) for _, after in steps[1:]]
    assert sum(moved) > 20
    assert sum(split) > 5


def test_fewer_texts_than_beams(model: Any) -> None:
    hooks = hooked(["ab|cd"])
    output = model.generate(
        **prompts(b"Hello"),
        logits_processor=hooks,
        max_new_tokens=8,
        num_beams=5,
        num_return_sequences=5,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
    )
    good = [row for row, score in zip(texts(output.sequences, 5), output.sequences_scores, strict=True) if score > -1e8]
    # Each with either end token.
    assert sorted(good) == [("ab", True)] * 2 + [("cd", True)] * 2


def test_rows_that_stop_for_reasons_of_their_own(model: Any) -> None:
    """`generate` pads them, with a token that their grammars refuse."""

    class StopsTheFirst(transformers.StoppingCriteria):  # type: ignore[misc]
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            stopped = torch.zeros(len(input_ids), dtype=torch.bool)
            stopped[0] = input_ids.shape[1] >= THREE["input_ids"].shape[1] + 3
            return stopped

    output = model.generate(
        **THREE,
        logits_processor=hooked([PERSON, NUMBERS, WORDS]),
        stopping_criteria=[StopsTheFirst()],
        max_new_tokens=60,
    )
    first = output[0, THREE["input_ids"].shape[1] :].tolist()
    assert bytes(first[:3]) == b'{"n'
    assert set(first[3:]) == {PAD}
    for (text, finished), pattern in zip(texts(output, THREE["input_ids"].shape[1])[1:], (NUMBERS, WORDS), strict=True):
        assert_in_language(text, finished, pattern)


@pytest.mark.parametrize("end", END_TOKENS)
def test_any_end_token_ends_a_row(model: Any, end: int) -> None:
    bias = transformers.generation.SequenceBiasLogitsProcessor([[[end], 90.0]])
    hooks = [bias, *hooked([NUMBERS, "[a-z]+", WORDS])]
    output = model.generate(**THREE, logits_processor=hooks, max_new_tokens=30, do_sample=False)
    rows = output[:, THREE["input_ids"].shape[1] :].tolist()
    assert all(end in row for row in rows)
    assert [end in row[:2] for row in rows] == [True, True, False]


@pytest.mark.parametrize("options", [{"do_sample": False}, {"num_beams": 3}], ids=str)
def test_end_tokens_that_a_grammar_goes_on_after(model: Any, options: dict[str, Any]) -> None:
    """`generate` stops at them, whatever the grammar says."""
    bias = transformers.generation.SequenceBiasLogitsProcessor([[[257], 90.0]])
    grammars = [
        cfgmask.compile(cfgmask.Grammar.from_lark(text), VOCABULARY)
        for text in ('start: "a" <[257]>', 'start: "a" (<[257]> "b" | "c") "d"', 'start: "a" (<[257]> "b")*')
    ]
    output = model.generate(**THREE, logits_processor=[bias, LogitsProcessor(grammars)], max_new_tokens=8, **options)
    assert texts(output, THREE["input_ids"].shape[1]) == [("a", True), ("acd", True), ("a", True)]
    hook = LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_lark('start: ("a" <[257]>) ~ 2'), VOCABULARY))
    with pytest.raises(IntegrationError, match="go on after an end token"):
        model.generate(**prompts(b"Hello"), logits_processor=[bias, hook], max_new_tokens=8, **options)


def test_one_processor_for_batches_of_other_sizes(model: Any) -> None:
    hook = LogitsProcessor(compiled(NUMBERS))
    for batch in (THREE, prompts(b"one"), prompts(b"one", b"two")):
        output = model.generate(**batch, logits_processor=[hook], max_new_tokens=20)
        for text, finished in texts(output, batch["input_ids"].shape[1]):
            assert_in_language(text, finished, NUMBERS)


def test_a_list_that_does_not_go_with_the_batch(model: Any) -> None:
    for patterns in ([NUMBERS, WORDS], [NUMBERS] * 4):
        hook = LogitsProcessor([compiled(pattern) for pattern in patterns])
        with pytest.raises(IntegrationError, match=f"{len(patterns)} grammars in the list and 3 sequences"):
            model.generate(**THREE, logits_processor=[hook], max_new_tokens=20)


def test_a_failure_of_one_row_is_raised(model: Any) -> None:
    limits = cfgmask.Limits(max_lexer_states=60)
    failing = cfgmask.compile(cfgmask.Grammar.from_regex("[a-z]{400}"), VOCABULARY, limits)
    hook = LogitsProcessor([None, failing, compiled(NUMBERS)])
    with pytest.raises(cfgmask.LimitExceeded):
        model.generate(**THREE, logits_processor=[hook], max_new_tokens=200)


@pytest.mark.parametrize(
    ("letters", "options"), [("a-w", {}), ("a-x", {"num_beams": 2}), ("a-y", {"do_sample": True})], ids=str
)
def test_a_failure_of_one_row_may_be_its_own(model: Any, letters: str, options: dict[str, Any]) -> None:
    # Letters of its own: what another grammar has found before is not counted.
    limits = cfgmask.Limits(max_lexer_states=60)
    failing = cfgmask.compile(cfgmask.Grammar.from_regex(f"[{letters}]{{400}}"), VOCABULARY, limits)
    hook = LogitsProcessor([compiled(WORDS), failing, compiled(NUMBERS)], on_error="end")
    output = model.generate(**THREE, logits_processor=[hook], max_new_tokens=200, **options)
    written = texts(output, THREE["input_ids"].shape[1])
    for (text, finished), pattern in zip(written[::2], (WORDS, NUMBERS), strict=True):
        assert_in_language(text, finished, pattern)
    text, finished = written[1]
    assert finished
    assert regex.fullmatch("[a-z]{40,200}", text)
    n_beams = options.get("num_beams", 1)
    failed = [getattr(error, "limit", None) for error in hook.errors]
    assert set(failed[n_beams : 2 * n_beams]) == {"max_lexer_states"}
    assert not any(failed[:n_beams] + failed[2 * n_beams :])


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("a|b", {"min_new_tokens": 3}),
        ("ab?", {"bad_words_ids": [[97]]}),
        ("a{5}", {"no_repeat_ngram_size": 2}),
        (PERSON, {"forced_eos_token_id": 256, "max_new_tokens": 5}),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_beams", [1, 2])
def test_what_other_processors_leave_nothing_of(
    model: Any, pattern: str, options: dict[str, Any], n_beams: int
) -> None:
    options = {"max_new_tokens": 20, "num_beams": n_beams} | options
    with pytest.raises(IntegrationError, match="no token is left to sample"):
        model.generate(**THREE, logits_processor=[LogitsProcessor(compiled(pattern))], **options)
    if n_beams == 1:
        hook = LogitsProcessor([None, compiled(pattern), None], on_error="end")
        output = model.generate(**THREE, logits_processor=[hook], **options)
        text, finished = texts(output, THREE["input_ids"].shape[1])[1]
        assert_in_language(text, False, pattern)
        assert finished
        assert isinstance(hook.errors[1], IntegrationError)
        assert hook.errors[::2] == [None, None]


def test_on_error_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="on_error='skip' is not supported"):
        LogitsProcessor(compiled(WORDS), on_error="skip")  # type: ignore[arg-type]


def test_a_loop_over_a_batch() -> None:
    hook = LogitsProcessor([compiled("(ab)*c"), None, compiled("x+")])
    rows = [[1, 2], [3, 4], [5, 6]]
    for step in ("ax", "bx", "cx", f"{chr(END_TOKENS[0])}x"):
        masked = hook(torch.tensor(rows), torch.zeros(3, 260))
        allowed = [set(torch.nonzero(row == 0).flatten().tolist()) for row in masked]
        assert ord(step[0]) in allowed[0]
        assert len(allowed[0]) <= 2
        assert len(allowed[1]) == 260
        assert ord("x") in allowed[2]
        for row, token in zip(rows, (step[0], "?", step[1]), strict=True):
            row.append(ord(token))


def test_a_pipeline(model: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    ids = {character: i for i, character in enumerate(sorted(alphabet))}
    ids |= {"<end>": 256, "<stop>": 257, "<pad>": 258}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=ids, merges=[]))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<end>", pad_token="<pad>", padding_side="left"
    )
    vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=END_TOKENS)
    pipeline = transformers.pipeline("text-generation", model=model, tokenizer=tokenizer, device="cpu")
    hook = LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex(WORDS), vocabulary))
    answers = pipeline(
        ["Hello", "A longer one: ", "x"],
        batch_size=2,
        max_new_tokens=80,
        return_full_text=False,
        logits_processor=[hook],
    )
    for (answer,) in answers:
        # To the tokenizer, which knows one end token, the other is text.
        assert_in_language(answer["generated_text"].removesuffix("<stop>"), True, WORDS)
