"""A model of transformers while one text is written: what its cache holds, and what is sampled after it.

`model.generate` samples after each token that it writes, and takes none back. This evaluates many tokens at once, and
goes back: with it, the loop that writes a text is the same as with llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from cfgmask import Matcher
from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.torch import apply_token_bitmask_inplace
from cfgmask.integrations.tracking import n_equal
from cfgmask.integrations.transformers.prompts import only_last_logits

Processor = Callable[[Any, Any], Any]


class Decoder:
    """Writes ids after a prompt, and samples what comes next under a matcher's masks. Used by one thread.

    model       a causal language model; other texts may be written with it meanwhile
    prompt      ids to go on from, at least one
    matcher     masks; advanced elsewhere
    before      processors that the logits go through before the mask
    after       those that choose among the tokens that it leaves
    criteria    after each token: whether to stop
    is_greedy   whether the likeliest token is taken
    seed        of the choice; None: torch's own state
    """

    def __init__(
        self,
        model: Any,
        prompt: Sequence[int],
        matcher: Matcher,
        *,
        before: Iterable[Processor],
        after: Iterable[Processor],
        criteria: Iterable[Processor],
        is_greedy: bool,
        seed: int | None,
    ) -> None:
        self._model = model
        self._device = next(model.parameters()).device
        self._ids = list(prompt)
        self._matcher = matcher
        self._before, self._after, self._criteria = list(before), list(after), list(criteria)
        self._is_greedy = is_greedy
        self._generator = None if seed is None else torch.Generator(self._device).manual_seed(seed)
        self._bits = np.zeros(-(-matcher.compiled.vocabulary.n_vocab // 32), dtype=np.int32)
        self._held: list[int] = []  # what the cache holds
        self._cache: Any = None
        self._logits: Any = None
        self._options = only_last_logits(model)

    def sample(self) -> int | None:
        """The next token; None where a criterion holds. Raises IntegrationError where nothing is left to sample."""
        with torch.no_grad():
            self._logits = self._evaluate()
            token_id = self._chosen(self._logits.float().clone())
            if self._criteria:
                ids = torch.tensor([self._ids], device=self._device)
                stops = transformers.StoppingCriteriaList(self._criteria)(ids, self._logits)
                if bool(torch.as_tensor(stops).any()):
                    return None
        return token_id

    def logits(self) -> NDArray[np.float32]:
        """The model's own logits for the token that was just sampled."""
        found: NDArray[np.float32] = self._logits[0].float().cpu().numpy()
        return found

    def write(self, ids: Sequence[int]) -> None:
        """Go on with these ids; they are evaluated, all together, when the next token is sampled."""
        self._ids += ids

    def replace(self, n: int, ids: Sequence[int]) -> None:
        """Go on with these ids, which were not sampled, instead of the last n."""
        del self._ids[len(self._ids) - n :]
        self._ids += ids

    def _evaluate(self) -> Any:
        """The logits after the last id, of shape (1, width). Evaluates only ids that the cache does not hold."""
        kept = min(n_equal(np.array(self._held), np.array(self._ids)), len(self._ids) - 1)
        if kept < len(self._held):
            self._cut_cache(kept)
        new = torch.tensor([self._ids[len(self._held) :]], device=self._device)
        cache = {} if self._cache is None else {"past_key_values": self._cache}
        output = self._model(input_ids=new, use_cache=True, **cache, **self._options)
        # A model without such a cache, a recurrent one, reads all anew.
        self._cache = getattr(output, "past_key_values", None)
        self._held = [] if self._cache is None else list(self._ids)
        return output.logits[:, -1]

    def _cut_cache(self, kept: int) -> None:
        if getattr(self._cache, "is_croppable", True):
            with suppress(AttributeError, RuntimeError, ValueError):
                self._cache.crop(kept - len(self._held))
                del self._held[kept:]
                return
        # Recurrent layers, and windows that have moved on, do not go back.
        self._cache, self._held = None, []

    def _chosen(self, scores: Any) -> int:
        ids = torch.tensor([self._ids], device=self._device)
        for processor in self._before:
            scores = processor(ids, scores)
        self._matcher.fill_mask(self._bits)
        scores = scores.contiguous()
        apply_token_bitmask_inplace(scores, torch.from_numpy(self._bits).unsqueeze(0))
        if not bool((scores > -torch.inf).any()):
            raise IntegrationError(
                "no token is left to sample: those that the grammar allows here have a logit of -inf from another "
                "processor, or the vocabulary has none that writes what must follow"
            )
        if self._is_greedy:
            return int(scores.argmax(dim=-1))
        for processor in self._after:
            scores = processor(ids, scores)
        shares = torch.softmax(scores, dim=-1)
        return int(torch.multinomial(shares, 1, generator=self._generator))
