"""On a GPU: one kernel a batch, the masks' copy beside the forward pass, and models of transformers that live there.

The masks themselves are in test_bitmasks.py, on any device.
"""

from __future__ import annotations

from typing import Any

import pytest

import cfgmask

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
from cfgmask.integrations.torch import MaskBuffer, apply_token_bitmask_inplace  # noqa: E402
from cfgmask.integrations.transformers import LogitsProcessor  # noqa: E402
from tests.integrations import budgets  # noqa: E402
from tests.integrations.batches import (  # noqa: E402
    NUMBERS,
    PERSON,
    THREE,
    WORDS,
    assert_in_language,
    compiled,
    hooked,
    random_model,
    texts,
)

pytestmark = [pytest.mark.torch, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]

BATCH = {name: ids.cuda() if torch.cuda.is_available() else ids for name, ids in THREE.items()}
# About a second on a GPU of today.
FORWARD_PASS_CYCLES = 2_000_000_000


def allowed_in(logits: Any) -> list[set[int]]:
    return [set(row.nonzero().flatten().tolist()) for row in (logits == 0).cpu()]


@pytest.mark.parametrize("rows", [None, [5, 2, 60]], ids=["all", "some"])
def test_one_kernel_a_batch(rows: list[int] | None) -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    logits = torch.randn(64, 128_256, device="cuda")
    bits = torch.randint(-(2**31), 2**31, (64, 4008), dtype=torch.int32, device="cuda")
    indices = None if rows is None else torch.tensor(rows, device="cuda")
    apply_token_bitmask_inplace(logits, bits, indices)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        apply_token_bitmask_inplace(logits, bits, indices)
        torch.cuda.synchronize()
    on_device = [e.name for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    assert on_device == ["_mask"]


def test_masks_are_copied_while_the_device_computes() -> None:
    vocabulary = budgets.byte_vocabulary()
    grammar = cfgmask.compile(cfgmask.Grammar.from_regex("[0-9]+"), vocabulary)
    rows = [grammar.matcher() for _ in range(64)]
    buffer = MaskBuffer(len(rows), vocabulary.n_vocab, "cuda")
    logits = torch.zeros(len(rows), 272, device="cuda")
    # The kernel is compiled.
    buffer.fill(rows)
    buffer.apply(logits)
    torch.cuda.synchronize()
    for row in rows:
        row.advance(ord("7"))
    logits.zero_()
    torch.cuda._sleep(FORWARD_PASS_CYCLES)
    forward_pass = torch.cuda.Event()
    forward_pass.record()
    buffer.fill(rows, threads=2)
    # For the test alone: a program waits for neither.
    assert buffer._copying is not None
    buffer._copying.wait_for_host()
    assert not forward_pass.query(), "the copy waited for the forward pass"
    buffer.apply(logits)
    assert not forward_pass.query(), "apply waited for the forward pass"
    allowed = {*b"0123456789", 256}
    assert allowed_in(logits) == [allowed] * len(rows)


def test_masks_wait_for_their_copy_and_copies_for_masks_before_them() -> None:
    """However late the device is: the copies, and then what uses them."""
    vocabulary = budgets.byte_vocabulary()
    row = cfgmask.compile(cfgmask.Grammar.from_regex("abcd"), vocabulary).matcher()
    buffer = MaskBuffer(1, vocabulary.n_vocab, "cuda")
    # Another mask than the first one below, and the kernel is compiled.
    row.advance(ord("a"))
    buffer.fill([row])
    buffer.apply(torch.zeros(1, 272, device="cuda"))
    torch.cuda.synchronize()
    assert buffer._copying is not None
    for late in (buffer._copying._stream, torch.cuda.current_stream()):
        with torch.cuda.stream(late):
            torch.cuda._sleep(FORWARD_PASS_CYCLES // 4)
        row.reset()
        masked = [torch.zeros(1, 272, device="cuda") for _ in "abcd"]
        for logits, letter in zip(masked, b"abcd", strict=True):
            buffer.fill([row])
            buffer.apply(logits)
            row.advance(letter)
        assert [allowed_in(logits) for logits in masked] == [[{letter}] for letter in b"abcd"]


@pytest.fixture(scope="module", params=["float32", "float16", "bfloat16"])
def model(request: pytest.FixtureRequest) -> Any:
    return random_model(0).to("cuda", getattr(torch, request.param))


@pytest.mark.parametrize(
    "options",
    [
        {"do_sample": False},
        {"do_sample": True},
        {"do_sample": True, "top_p": 0.9, "num_return_sequences": 3},
        {"do_sample": False, "num_beams": 3},
    ],
    ids=str,
)
def test_every_mask_is_that_of_a_replay(model: Any, options: dict[str, Any]) -> None:
    torch.manual_seed(2)
    patterns: list[str | None] = [PERSON, None, WORDS]
    output = model.generate(**BATCH, logits_processor=hooked(patterns), max_new_tokens=40, **options)
    each = options.get("num_return_sequences", 1)
    for index, (text, finished) in enumerate(texts(output, BATCH["input_ids"].shape[1])):
        pattern = patterns[index // each]
        if pattern is not None:
            assert_in_language(text, finished, pattern)


def test_thirty_rows_of_three_grammars(model: Any) -> None:
    patterns = (PERSON, NUMBERS, WORDS) * 10
    grammars = [compiled(pattern) for pattern in patterns]
    for seed in range(5):
        torch.manual_seed(seed)
        hook = LogitsProcessor(grammars)
        batch = {name: ids.repeat(10, 1) for name, ids in BATCH.items()}
        output = model.generate(**batch, logits_processor=[hook], max_new_tokens=60, do_sample=True)
        for (text, finished), pattern in zip(texts(output, BATCH["input_ids"].shape[1]), patterns, strict=True):
            assert_in_language(text, finished, pattern)


def test_texts_are_complete_within_their_budgets() -> None:
    engine = budgets.TransformersEngine(budgets.byte_vocabulary(), "cuda")
    assert budgets.run(engine, 24, 0, budgets.SCHEMAS, lambda _: None) == []
