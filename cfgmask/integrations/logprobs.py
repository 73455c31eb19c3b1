"""How likely a model found what it wrote: by itself, and among the tokens that the masks left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cfgmask import CompiledGrammar, Matcher
from cfgmask.compiler.readings import captures_of, fields_of


class TokenLogprob(NamedTuple):
    """The log probability of a token under the model's own logits: at temperature 1, without penalties.

    raw     among all tokens; NaN for a token that `jump_forward` wrote without asking the model
    masked  among the tokens that the mask allows; 0 for a token that `jump_forward` wrote
    """

    raw: float
    masked: float


@dataclass(frozen=True)
class Logprob:
    """The log probability of a part of a text: the sum over the tokens that write a byte of it.

    name         name of the capture, or path of the JSON value, as in `items[0].price`
    text         the part as it was written
    start, end   offsets in bytes of the whole text
    raw, masked  sums of those of its tokens: see `TokenLogprob`
    """

    name: str
    text: str
    start: int
    end: int
    raw: float
    masked: float

    @property
    def probability(self) -> float:
        """`raw` as a probability, from 0 to 1."""
        return math.exp(self.raw)


class Scorer:
    """Finds the logprob of each token under a matcher's mask, before the matcher advances. For one thread."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._bits = np.zeros(-(-matcher.compiled.vocabulary.n_vocab // 32), dtype="<u4")

    def logprob(self, logits: NDArray[np.float32], token_id: int) -> TokenLogprob:
        """That of a token that the mask allows.

        logits  the model's own, one for each token, whose number may differ from the vocabulary's
        Cost: two passes over the logits, and a mask, which is known by then.
        """
        self._matcher.fill_mask(self._bits)
        # Relative to the token, so that nothing is lost where others are far more likely or less.
        most = logits.max()
        weights = np.exp(logits - most)
        own = float(logits[token_id] - most)
        allowed = np.unpackbits(self._bits.view(np.uint8), bitorder="little", count=len(self._bits) * 32)
        n = min(len(weights), len(allowed))
        left = np.sum(weights[:n], where=allowed[:n].view(np.bool_), dtype=np.float64)
        masked = own - math.log(left) if left > 0 else _among(logits, allowed[:n].view(np.bool_), token_id)
        return TokenLogprob(own - math.log(np.sum(weights, dtype=np.float64)), masked)


def _among(logits: NDArray[np.float32], allowed: NDArray[np.bool_], token_id: int) -> float:
    """The masked logprob where all that is left is so unlikely that it is 0 beside the likeliest token."""
    kept = logits[: len(allowed)][allowed].astype(np.float64)
    return float(logits[token_id] - np.logaddexp.reduce(kept))


FORCED = TokenLogprob(math.nan, 0.0)


def has_captures(compiled: CompiledGrammar) -> bool:
    """Whether texts of a grammar have captures."""
    return bool(captures_of(compiled))


def logprobs_of(
    compiled: CompiledGrammar, token_ids: Sequence[int], logprobs: Sequence[TokenLogprob]
) -> tuple[Logprob, ...]:
    """Those of the captures of a text in the order in which they end, or of the values of JSON that it is."""
    lengths = [len(compiled.vocabulary.text(token_id)) for token_id in token_ids]
    ends = np.cumsum([0, *lengths])
    found = []
    for name, text, start, end in fields_of(compiled, token_ids):
        # Tokens without bytes, special ones, belong to the field that they stand in.
        first = int(np.searchsorted(ends, start, side="right")) - 1
        last = int(np.searchsorted(ends, end, side="left"))
        parts: Any = logprobs[first:last] if end > start else ()
        raw, masked = (float(sum(part[n] for part in parts)) for n in (0, 1))
        found.append(Logprob(name, text, start, end, raw, masked))
    return tuple(found)
