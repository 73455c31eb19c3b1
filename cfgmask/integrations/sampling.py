"""A sampler in numpy that asks the mask first: for loops of one's own, and to say in code in which order things go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cfgmask.integrations.errors import IntegrationError

if TYPE_CHECKING:
    from cfgmask.integrations.requests import RequestState


@dataclass(frozen=True)
class SamplingParams:
    """Settings of a sampler.

    temperature         divides the logits; 0 takes the likeliest token
    top_k               number of likeliest tokens to keep; 0: all
    top_p               keep the smallest set of likeliest tokens with at least this probability; 1: all
    repetition_penalty  above 1, makes tokens of the context less likely (Keskar et al., 2019)
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < np.inf:
            raise ValueError(f"temperature must be finite and at least 0, not {self.temperature}")
        if self.top_k < 0:
            raise ValueError(f"top_k must be at least 0, not {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        if not 0 < self.repetition_penalty < np.inf:
            raise ValueError(f"repetition_penalty must be finite and above 0, not {self.repetition_penalty}")


def sample_token(
    logits: NDArray[Any],
    params: SamplingParams,
    rng: np.random.Generator,
    context: Sequence[int] = (),
    state: RequestState | None = None,
) -> int:
    """Choose the next token.

    logits   one-dimensional array of any float type; not changed
    rng      source of random numbers
    context  ids that the repetition penalty applies to
    state    state of the request, which has the mask; None: no mask

    The mask comes first, then penalty, temperature, top-k and top-p, so all of them choose among allowed tokens. If
    top-p came before the mask, it could leave no allowed token.
    Errors: IntegrationError if no token is left; whatever the mask raises.
    Cost: a few passes over the logits, and the mask.
    """
    scores = np.array(logits, dtype=np.float32)
    if state is not None:
        state.mask(scores)
    if not (scores > -np.inf).any():
        raise IntegrationError("no token is left to sample: the mask, or what came before it, has removed all of them")
    penalise(scores, context, params.repetition_penalty)
    if params.temperature == 0:
        return int(scores.argmax())
    scores /= params.temperature
    keep_top_k(scores, params.top_k)
    keep_top_p(scores, params.top_p)
    return int(rng.choice(len(scores), p=probabilities(scores)))


def probabilities(scores: NDArray[Any]) -> NDArray[np.float64]:
    """The softmax, 0 for -inf."""
    weights = np.exp(np.asarray(scores, dtype=np.float64) - np.max(scores))
    total: NDArray[np.float64] = weights / weights.sum()
    return total


def penalise(scores: NDArray[Any], context: Sequence[int], penalty: float) -> None:
    """Make the tokens of the context less likely, in place."""
    if penalty == 1 or not len(context):
        return
    seen = np.unique(np.asarray(context, dtype=np.intp))
    scores[seen] = np.where(scores[seen] > 0, scores[seen] / penalty, scores[seen] * penalty)


def keep_top_k(scores: NDArray[Any], k: int) -> None:
    """Set all but the k largest to -inf, in place; the earlier of equal ones stays. 0 keeps all."""
    if 0 < k < len(scores):
        scores[np.argsort(-scores, kind="stable")[k:]] = -np.inf


def keep_top_p(scores: NDArray[Any], p: float) -> None:
    """Set all but the smallest set of the likeliest that has a probability of at least p to -inf, in place."""
    if p == 1:
        return
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(probabilities(scores)[order])
    scores[order[int(np.searchsorted(reached, p)) + 1 :]] = -np.inf
