"""Masks of a batch on their way to the device, copied while it computes the logits."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cfgmask import Matcher, fill_masks
from cfgmask.integrations.torch.bitmask import apply_token_bitmask_inplace


class MaskBuffer:
    """Room for the masks of a batch, in page-locked memory and on the device.

    n_rows   sequences at most
    n_vocab  tokens of the vocabulary
    device   where the logits are

    Used by one thread at a time. On CUDA neither `fill` nor `apply` waits for the device: the copy runs on a stream of
    its own, beside a forward pass that was begun before.

    Example:
        logits = model(input_ids).logits[:, -1]
        masks.fill(matchers, threads=2)
        masks.apply(logits)
    """

    def __init__(self, n_rows: int, n_vocab: int, device: torch.device | str = "cpu") -> None:
        words = -(-n_vocab // 32)
        self._device = torch.device(device)
        is_cuda = self._device.type == "cuda"
        self._host = torch.zeros(n_rows, words, dtype=torch.int32, pin_memory=is_cuda)
        self._bits = self._host.to(self._device)
        self._n = 0
        self._copying = _Copy(self._device) if is_cuda else None

    def fill(self, matchers: Sequence[Matcher | None], threads: int = 1) -> list[Exception | None]:
        """Compute the masks and begin to copy them.

        matchers, threads, returns  as of `cfgmask.fill_masks`: an error or None for each row
        Errors: ValueError for more matchers than rows.
        """
        if self._copying is not None:
            self._copying.wait_for_host()
        self._n = 0
        errors = fill_masks(matchers, self._host.numpy(), threads)
        self._n = len(matchers)
        if self._copying is not None:
            self._copying.begin(self._bits[: self._n], self._host[: self._n])
        elif self._bits is not self._host:
            self._bits[: self._n] = self._host[: self._n]
        return errors

    def apply(self, logits: torch.Tensor, indices: Sequence[int] | torch.Tensor | None = None) -> None:
        """Mask the logits, whose rows are those of the matchers of the last `fill`.

        logits, indices, errors  as of `apply_token_bitmask_inplace`
        """
        if self._copying is not None:
            self._copying.wait_on_device()
        apply_token_bitmask_inplace(logits, self._bits[: self._n], indices)
        if self._copying is not None:
            self._copying.used()


class _Copy:
    """Copies from page-locked memory on a stream of its own, ordered with what reads and what writes the two sides."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._copied = torch.cuda.Event()
        self._used = torch.cuda.Event()

    def wait_for_host(self) -> None:
        """Wait until the last copy has read the host's side."""
        self._copied.synchronize()

    def begin(self, to: torch.Tensor, of: torch.Tensor) -> None:
        """Copy as soon as the device's side has been used."""
        with torch.cuda.stream(self._stream):
            self._stream.wait_event(self._used)
            to.copy_(of, non_blocking=True)
            self._copied.record(self._stream)

    def wait_on_device(self) -> None:
        """Have what the current stream does from here on wait for the copy."""
        torch.cuda.current_stream(self._device).wait_event(self._copied)

    def used(self) -> None:
        """Have the next copy wait for what the current stream has been given up to here."""
        self._used.record(torch.cuda.current_stream(self._device))
