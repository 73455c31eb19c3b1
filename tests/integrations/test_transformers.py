"""transformers' `generate` with the hook, on a tiny model of random weights."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import regex

import cfgmask

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
from cfgmask.integrations.transformers import IntegrationError, LogitsProcessor  # noqa: E402

pytestmark = pytest.mark.torch

PATTERN = r'\{"name": "[a-zé]{1,12}", "n": [1-9][0-9]{0,3}\}'
END_TOKENS = (256, 257)
VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b"", b""], eos_token_id=END_TOKENS)
PROMPT = torch.tensor([list(b"Hello")])


@pytest.fixture(scope="module")
def model() -> Any:
    """More logits than the vocabulary has tokens, as in models whose vocabulary is padded."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ends = {"bos_token_id": 0, "eos_token_id": list(END_TOKENS), "pad_token_id": END_TOKENS[0]}
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=272, **sizes, **ends)).eval()
    with torch.no_grad():
        model.lm_head.weight.mul_(20)
    return model


def processor(pattern: str = PATTERN) -> LogitsProcessor:
    return LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex(pattern), VOCABULARY))


def generate(model: Any, hook: LogitsProcessor, prompt: Any = PROMPT, **options: Any) -> list[int]:
    options = {"max_new_tokens": 64, "do_sample": True} | options
    output = model.generate(prompt, attention_mask=torch.ones_like(prompt), logits_processor=[hook], **options)
    return output[0, prompt.shape[1] :].tolist()


def assert_in_language(output: list[int], pattern: str = PATTERN) -> None:
    finished = output[-1] in END_TOKENS
    text = bytes(output[:-1] if finished else output).decode(errors="ignore")
    assert regex.fullmatch(pattern, text, partial=not finished), (text, finished)


@pytest.mark.parametrize(
    "options",
    [{"do_sample": False}, {}, {"top_k": 3}, {"top_p": 0.5, "temperature": 0.7}, {"max_new_tokens": 7}],
    ids=str,
)
def test_output_is_in_the_language(model: Any, options: dict[str, Any]) -> None:
    hook = processor()
    for seed in range(4):
        torch.manual_seed(seed)
        assert_in_language(generate(model, hook, **options))


def test_each_call_is_a_text_of_its_own(model: Any) -> None:
    hook = processor()
    for cut in range(1, 10):
        output = generate(model, hook, max_new_tokens=cut, do_sample=False)
        # All that one more step of the first call would have shown is the prompt of the second.
        prompt = torch.tensor([PROMPT[0].tolist() + output])
        assert_in_language(generate(model, hook, prompt, do_sample=False))


@pytest.mark.parametrize("max_new_tokens", [22, 24, 30])
@pytest.mark.parametrize("options", [{}, {"do_sample": False, "num_beams": 3}], ids=str)
def test_text_is_complete_within_max_new_tokens(model: Any, max_new_tokens: int, options: dict[str, Any]) -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex(PATTERN), VOCABULARY)
    hook = LogitsProcessor(compiled, max_new_tokens=max_new_tokens)
    for seed in range(4):
        torch.manual_seed(seed)
        output = generate(model, hook, max_new_tokens=max_new_tokens, **options)
        text = bytes(token for token in output if token < 256).decode()
        assert regex.fullmatch(PATTERN, text)


def test_a_budget_that_holds_no_text_is_refused_at_once() -> None:
    with pytest.raises(
        cfgmask.BudgetTooSmall, match="max_tokens is 3, and the shortest completion found takes 4 tokens"
    ):
        LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex("abcd"), VOCABULARY), max_new_tokens=3)


def test_raw_logits_stay_as_they_are(model: Any) -> None:
    output = model.generate(
        PROMPT,
        logits_processor=[processor()],
        max_new_tokens=4,
        return_dict_in_generate=True,
        output_logits=True,
        output_scores=True,
        do_sample=False,
    )
    assert torch.isfinite(torch.stack(output.logits)).all()
    assert torch.isinf(torch.stack(output.scores)).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_scores_of_any_type(dtype: Any) -> None:
    masked = processor("(ab)*c")(PROMPT, torch.zeros(1, 300, dtype=dtype))
    assert masked.dtype == dtype
    assert torch.nonzero(masked[0] == 0).flatten().tolist() == [ord("a"), ord("c")]


def test_scores_narrower_than_the_vocabulary() -> None:
    masked = processor("(ab)*c")(PROMPT, torch.zeros(1, 200))
    assert torch.nonzero(masked[0] == 0).flatten().tolist() == [ord("a"), ord("c")]
    with pytest.raises(IntegrationError, match="is the model another one"):
        processor("(ab)*c")(PROMPT, torch.zeros(1, 50))


def test_a_loop_of_ones_own() -> None:
    hook = processor("(ab)*c")
    for prompt in ([1, 2], [3], [1, 2]):
        output = list(prompt)
        for expected in ("ac", "b", "ac", "b"):
            masked = hook(torch.tensor([output]), torch.zeros(1, 258))
            assert torch.nonzero(masked[0] == 0).flatten().tolist() == [ord(c) for c in expected]
            output.append(ord(expected[0]))
    hook.reset()
    masked = hook(torch.tensor([[*output, 9]]), torch.zeros(1, 258))
    assert torch.nonzero(masked[0] == 0).flatten().tolist() == [ord("a"), ord("c")]


def test_a_token_that_the_mask_did_not_allow() -> None:
    hook = processor("(ab)*c")
    hook(torch.tensor([[1]]), torch.zeros(1, 258))
    with pytest.raises(cfgmask.TokenRejected):
        hook(torch.tensor([[1, ord("b")]]), torch.zeros(1, 258))
    assert torch.isfinite(hook(torch.tensor([[1]]), torch.zeros(1, 258))).any()


@pytest.mark.parametrize("wrong", ['start: "a"', None])
def test_wrong_types_are_named(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"takes what cfgmask\.compile gives"):
        LogitsProcessor(wrong)


def test_failures_in_the_mask_are_raised(model: Any) -> None:
    limits = cfgmask.Limits(max_lexer_states=60)
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("[a-z]{400}"), VOCABULARY, limits)
    with pytest.raises(cfgmask.LimitExceeded):
        generate(model, LogitsProcessor(compiled), max_new_tokens=200)


@pytest.mark.parametrize(
    ("options", "copies"),
    [
        ({}, False),
        ({"do_sample": True}, False),
        ({"output_logits": True, "return_dict_in_generate": True}, True),
        ({"num_beams": 2}, True),
        ({"logits_processor": "another"}, True),
    ],
)
def test_scores_are_copied_only_where_somebody_may_look_at_them(
    model: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], copies: bool
) -> None:
    callers = []
    clone = torch.Tensor.clone

    def counted(self: Any, *arguments: Any, **named: Any) -> Any:
        callers.append(sys._getframe(1).f_code.co_filename)
        return clone(self, *arguments, **named)

    class Another(transformers.LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            return scores

    monkeypatch.setattr(torch.Tensor, "clone", counted)
    hook = processor("(ab)*c")
    processors = [Another(), hook] if "logits_processor" in options else [hook]
    model.generate(PROMPT, max_new_tokens=4, **{**options, "logits_processor": processors})
    assert any(name.endswith("integrations/transformers/processor.py") for name in callers) == copies


def test_rejected_mass_is_measured_if_asked_for(model: Any) -> None:
    """In a batch of which one grammar is observed; that of a free row, and of the others, is not."""
    observed, other = (cfgmask.compile(cfgmask.Grammar.from_regex("[a-f]{9}"), VOCABULARY) for _ in range(2))
    observed.observe(rejected_mass=True)
    hook = LogitsProcessor([observed, None, other])
    scores = torch.zeros(3, 300)
    scores[0, ord("c")] = torch.inf  # gives no probabilities
    hook(PROMPT.repeat(3, 1), scores)
    assert observed.stats()["rejected_masses"] == 0
    hook.reset()
    hook(PROMPT.repeat(3, 1), torch.zeros(3, 300))
    assert observed.stats()["rejected_mass"] == pytest.approx(294 / 300)
    assert (observed.stats()["rejected_masses"], other.stats()["rejected_masses"]) == (1, 0)
    output = generate(model, LogitsProcessor(observed))
    assert observed.stats()["rejected_masses"] == 1 + len(output)
