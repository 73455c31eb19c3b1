"""A batch of masks on a batch of logits: numpy, torch on the CPU, torch's own operations, the kernel, and CUDA."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.integrations import numpy as for_numpy

VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(69)), b""], eos_token_id=69)


def expected(logits: np.ndarray, bits: np.ndarray, indices: list[int] | None) -> np.ndarray:
    """Token by token."""
    out = logits.copy()
    for row in range(len(logits)) if indices is None else indices:
        for token in range(logits.shape[1]):
            word = bits[row, token // 32].item() if token < bits.shape[1] * 32 else 0
            if not (word >> (token % 32)) & 1:
                out[row, token] = -np.inf
    return out


@st.composite
def batches(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[int] | None]:
    """Logits wider or narrower than the masks; words of zeros, of ones and others; some rows or all."""
    n_rows, width, words = draw(st.integers(0, 4)), draw(st.integers(0, 140)), draw(st.integers(0, 4))
    kinds = st.sampled_from([0, -1]) | st.integers(-(2**31), 2**31 - 1)
    bits = np.array(draw(st.lists(kinds, min_size=n_rows * words, max_size=n_rows * words)), dtype=np.int32)
    logits = np.arange(n_rows * width, dtype=np.float32).reshape(n_rows, width)
    indices = st.lists(st.integers(0, n_rows - 1), unique=True) if n_rows else st.just([])
    return logits, bits.reshape(n_rows, words), draw(st.none() | indices)


@given(batches(), st.sampled_from([np.float16, np.float32, np.float64]), st.sampled_from([np.int32, np.uint32]))
def test_numpy(batch: Any, dtype: Any, words: Any) -> None:
    logits, bits, indices = batch
    logits = logits.astype(dtype)
    wanted = expected(logits, bits, indices)
    for_numpy.apply_token_bitmask_inplace(logits, bits.view(words), indices)
    np.testing.assert_array_equal(logits, wanted)


def layouts(n_rows: int, width: int) -> dict[str, np.ndarray]:
    return {
        "every third column": np.zeros((n_rows, 3 * width), np.float32)[:, ::3],
        "columns first": np.zeros((width, n_rows), np.float32).T,
        "upside down": np.zeros((n_rows, width), np.float32)[::-1, ::-1],
        "in the middle": np.zeros((n_rows + 2, width + 9), np.float32)[1:-1, 4:-5],
        "one row for all": np.zeros((2 * n_rows, width), np.float32)[::2],
    }


@pytest.mark.parametrize("layout", layouts(1, 1))
def test_numpy_of_any_layout(layout: str) -> None:
    bits = np.random.default_rng(0).integers(-(2**31), 2**31, (3, 2), dtype=np.int32)
    logits = layouts(3, 70)[layout]
    whole = logits.base
    assert whole is not None
    wanted = expected(logits, bits, None)
    for_numpy.apply_token_bitmask_inplace(logits, bits)
    np.testing.assert_array_equal(logits, wanted)
    logits[:] = 0
    assert not whole.any(), "memory beside the logits was written"


@pytest.mark.parametrize(
    ("logits", "bits", "indices"),
    [
        (np.zeros((2, 70), np.float32), np.zeros((3, 3), np.int32), None),
        (np.zeros((2, 70), np.float32), np.zeros(3, np.int32), None),
        (np.zeros((2, 70), np.complex64), np.zeros((2, 3), np.int32), None),
        (np.zeros((2, 70), np.int32), np.zeros((2, 3), np.int32), None),
        (np.zeros((2, 70), np.float32), np.zeros((2, 3), np.int64), None),
        (np.zeros((2, 70), np.float32), np.zeros((2, 6), np.int32)[:, ::2], None),
        (np.zeros((2, 70), np.float32), np.zeros((2, 3), np.int32), [2]),
        (np.zeros((2, 70), np.float32), np.zeros((2, 3), np.int32), [0, -1]),
    ],
    ids=["rows", "dimensions", "complex", "integers", "wide words", "strided words", "beyond", "negative"],
)
def test_numpy_refuses(logits: Any, bits: Any, indices: Any) -> None:
    before = logits.copy()
    with pytest.raises((TypeError, ValueError)):
        for_numpy.apply_token_bitmask_inplace(logits, bits, indices)
    np.testing.assert_array_equal(logits, before)


def test_one_row() -> None:
    bits, logits = np.zeros(3, np.int32), np.zeros(100, np.float32)
    matcher = cfgmask.compile(cfgmask.Grammar.from_regex("[!?]"), VOCABULARY).matcher()
    matcher.fill_mask(bits)
    for_numpy.apply_token_bitmask_inplace(logits, bits)
    assert np.flatnonzero(logits == 0).tolist() == [ord("!"), ord("?")]


# torch.


def on_cpu(torch: Any, logits: Any, bits: Any, rows: Any) -> Any:
    from cfgmask.integrations.torch import apply_token_bitmask_inplace

    apply_token_bitmask_inplace(logits, bits, rows)
    return logits


def by_torch(torch: Any, logits: Any, bits: Any, rows: Any) -> Any:
    from cfgmask.integrations.torch.bitmask import mask_by_torch

    mask_by_torch(logits, bits, None if rows is None else torch.tensor(rows, device=logits.device, dtype=torch.int64))
    return logits


def on_cuda(torch: Any, logits: Any, bits: Any, rows: Any) -> Any:
    from cfgmask.integrations.torch import apply_token_bitmask_inplace

    there = logits.cuda()
    apply_token_bitmask_inplace(there, bits.cuda(), rows)
    return there.cpu()


def by_torch_on_cuda(torch: Any, logits: Any, bits: Any, rows: Any) -> Any:
    return by_torch(torch, logits.cuda(), bits.cuda(), rows).cpu()


def torch_or_skip(way: Callable[..., Any]) -> Any:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if way in (on_cuda, by_torch_on_cuda) and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return torch


WAYS = pytest.mark.parametrize("way", [on_cpu, by_torch, on_cuda, by_torch_on_cuda], ids=lambda way: way.__name__)


@pytest.mark.torch
@WAYS
@given(batch=batches(), dtype=st.sampled_from(["float16", "bfloat16", "float32", "float64"]))
def test_torch(way: Callable[..., Any], batch: Any, dtype: str) -> None:
    torch = torch_or_skip(way)
    logits, bits, indices = batch
    # Few enough that each type tells them apart.
    logits = logits % 256
    wanted = expected(logits, bits, indices)
    masked = way(torch, torch.tensor(logits).to(getattr(torch, dtype)), torch.tensor(bits), indices)
    np.testing.assert_array_equal(masked.float().numpy(), wanted)


@pytest.mark.torch
@WAYS
def test_torch_of_any_strides(way: Callable[..., Any]) -> None:
    torch = torch_or_skip(way)
    bits = torch.randint(-(2**31), 2**31, (5, 3), dtype=torch.int32)
    for make in (lambda t: t.T.contiguous().T, lambda t: torch.stack([t, t], dim=-1)[..., 0], lambda t: t):
        logits = make(torch.arange(5 * 200, dtype=torch.float32).reshape(5, 200))
        masked = way(torch, logits.clone(), bits, [3, 0])
        np.testing.assert_array_equal(masked.numpy(), expected(logits.numpy(), bits.numpy(), [3, 0]))


@pytest.mark.torch
def test_torch_takes_tensors_of_indices_and_one_row() -> None:
    torch = torch_or_skip(on_cpu)
    logits = torch.zeros(3, 40)
    on_cpu(torch, logits, torch.zeros(3, 1, dtype=torch.int32), torch.tensor([1]))
    assert torch.isinf(logits).all(dim=1).tolist() == [False, True, False]
    row = torch.zeros(40, requires_grad=True)
    on_cpu(torch, row, torch.tensor([5], dtype=torch.int32).view(torch.uint32), None)
    assert torch.nonzero(row == 0).flatten().tolist() == [0, 2]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("logits", "bits", "indices"),
    [((2, 70), (3, 3), None), ((2, 70), (3,), None), ((2, 2, 70), (2, 2, 3), None), ((2, 70), (2, 3), [2])],
    ids=["rows", "dimensions", "three dimensions", "beyond"],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_torch_refuses(device: str, logits: Any, bits: Any, indices: Any) -> None:
    torch = torch_or_skip(on_cpu)
    with pytest.raises(ValueError, match=r"rows|dimensions"):
        on_cpu(torch, torch.zeros(logits, device=device), torch.zeros(bits, dtype=torch.int32, device=device), indices)


@pytest.mark.torch
@pytest.mark.parametrize(("logits", "bits"), [("int32", "int32"), ("float32", "int64"), ("float32", "float32")])
def test_torch_refuses_types(logits: str, bits: str) -> None:
    torch = torch_or_skip(on_cpu)
    arrays = (torch.zeros(2, 70, dtype=getattr(torch, logits)), torch.zeros(2, 3, dtype=getattr(torch, bits)))
    with pytest.raises(TypeError, match="must be"):
        on_cpu(torch, *arrays, None)


def with_triton(script: str, *arguments: str, **environment: str) -> None:
    """Run a script in a process of its own, which must not fail."""
    torch_or_skip(on_cpu)
    pytest.importorskip("triton", reason="Triton is not installed")
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


KERNEL = """
import random
import sys
import torch
from cfgmask.integrations.torch.bitmask import mask_by_torch
from cfgmask.integrations.torch.kernel import mask_by_kernel

rng = random.Random(0)
torch.manual_seed(0)
torch.set_default_device(sys.argv[1])
for _ in range(200):
    n_rows, width = rng.randrange(5), rng.choice([0, 1, 31, 32, 33, 100, 4095, 4096, 4097, 9000])
    words = max(0, -(-width // 32) + rng.choice([0, 0, -1, 1, 3]))
    bits = torch.randint(-(2**31), 2**31, (n_rows, 2 * words), dtype=torch.int32)
    bits = bits[:, ::2] if rng.random() < 0.5 else bits[:, :words]
    chosen = rng.sample(range(n_rows), rng.randint(0, n_rows))
    rows = None if rng.random() < 0.5 else torch.tensor(chosen, dtype=rng.choice([torch.int64, torch.int32]))
    types = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
    whole = torch.randn(n_rows + 1, 2 * width + 3).to(rng.choice(types))
    row, step = rng.randrange(2), rng.choice([1, 2])
    wanted = whole.clone()
    mask_by_torch(wanted[row : row + n_rows, 1 : 1 + step * width : step], bits, rows)
    mask_by_kernel(whole[row : row + n_rows, 1 : 1 + step * width : step], bits, rows)
    assert torch.equal(whole, wanted), (n_rows, width, words, rows, whole.dtype, step)
"""


@pytest.mark.torch
def test_the_kernel_under_tritons_interpreter() -> None:
    with_triton(KERNEL, "cpu", TRITON_INTERPRET="1")


@pytest.mark.torch
def test_the_kernel_on_cuda() -> None:
    torch_or_skip(on_cuda)
    with_triton(KERNEL, "cuda")


COMPILED = """
from itertools import product
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from cfgmask.integrations.torch import kernel

NUMBERS = ("width", "n_words", "logits_row", "logits_column", "bits_row", "bits_column")
for logits, rows in product(("*fp16", "*bf16", "*fp32", "*fp64"), (None, "*i32", "*i64")):
    types = {"logits": logits, "bits": "*i32", "rows": rows or logits} | dict.fromkeys(NUMBERS, "i32")
    constants = {"SOME_ROWS": rows is not None, "BLOCK": kernel._BLOCK}
    source = ASTSource(kernel._mask, types | dict.fromkeys(constants, "constexpr"), constants)
    assert triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["cubin"]
"""


@pytest.mark.torch
def test_the_kernel_compiles(tmp_path: Path) -> None:
    """Triton brings its compiler; a GPU is needed to run what it makes, not to make it."""
    torch_or_skip(on_cpu)
    pytest.importorskip("triton", reason="Triton is not installed")
    environment = os.environ | {"TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", COMPILED], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def matchers() -> list[cfgmask.Matcher | None]:
    compiled = [cfgmask.compile(cfgmask.Grammar.from_regex(p), VOCABULARY) for p in ("[0-9]{3}", "[!?]")]
    return [compiled[0].matcher(), None, compiled[1].matcher()]


@pytest.mark.torch
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_buffer_is_filled_again_and_again(device: str) -> None:
    torch = torch_or_skip(on_cuda if device == "cuda" else on_cpu)
    from cfgmask.integrations.torch import MaskBuffer

    buffer = MaskBuffer(4, VOCABULARY.n_vocab, device)
    rows = matchers()
    for step, first in enumerate(["0123456789", "0123456789", "0123456789", ""]):
        logits = torch.zeros(3, 96, device=device)
        assert buffer.fill(rows, threads=2) == [None] * 3
        buffer.apply(logits, [0, 2] if step == 1 else None)
        allowed = [{chr(t) for t in torch.nonzero(row == 0).flatten().tolist()} for row in logits.cpu()]
        end = {chr(VOCABULARY.eos_token_ids[0])}
        assert allowed[0] == (set(first) or end)
        assert allowed[1] == {chr(t) for t in range(96)}
        assert allowed[2] == set("!?")
        if first and rows[0] is not None:
            rows[0].advance(ord("7"))


@pytest.mark.torch
def test_a_buffer_has_room_for_so_many() -> None:
    torch = torch_or_skip(on_cpu)
    from cfgmask.integrations.torch import MaskBuffer

    buffer = MaskBuffer(2, VOCABULARY.n_vocab)
    with pytest.raises(ValueError, match="more matchers than rows"):
        buffer.fill(matchers())
    with pytest.raises(ValueError, match="0 masks"):
        buffer.apply(torch.zeros(2, 70))


@pytest.mark.torch
@given(batch=batches(), dtype=st.sampled_from(["float16", "bfloat16", "float32", "float64"]))
def test_rejected_mass_by_torch(batch: Any, dtype: str) -> None:
    torch = torch_or_skip(on_cpu)
    from cfgmask.integrations.torch import rejected_mass

    logits, bits, _ = batch
    if not logits.size:
        return
    logits = logits % 7
    left = np.exp(expected(logits, bits, None).astype(np.float64)).sum(axis=1)
    wanted = 1 - left / np.exp(logits.astype(np.float64)).sum(axis=1)
    found = rejected_mass(torch.tensor(logits).to(getattr(torch, dtype)), torch.tensor(bits))
    np.testing.assert_allclose(found, wanted, atol=1e-9)
