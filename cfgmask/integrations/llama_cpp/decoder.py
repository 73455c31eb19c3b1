"""The context of a model while one text is written: what it holds, and what is sampled after it.

`Llama.generate` samples after each token that it is sent, so that many tokens cannot be evaluated at once, and takes
none back. This does both. What the context holds already, of the prompt or of drafts, is not evaluated again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.llama_cpp.checked_sample import IN_TURNS
from cfgmask.integrations.tracking import n_equal


class Decoder:
    """Writes ids into a model's context, and samples what comes next.

    llm       the model; nothing else may move it meanwhile, or the next `sample` raises IntegrationError
    prompt    ids to go on from, at least one; they are evaluated with what is written before the first `sample`
    options   those of `Llama.generate`, hooks included
    seed      of the samplers; None: the model's own
    """

    def __init__(self, llm: Any, prompt: Sequence[int], options: Mapping[str, Any], seed: int | None) -> None:
        self._llm = llm
        self._ids = np.zeros(len(llm.input_ids) + 1, dtype=np.intc)
        self._ids[: len(prompt)] = prompt
        self._length = len(prompt)
        self._sampler_options = dict(options)
        self._stopping_criteria: Callable[..., bool] | None = self._sampler_options.pop("stopping_criteria", None)
        self._state: tuple[Any, ...] | None = None
        self._first_logits = 0
        self._check_undisturbed()
        self._sampler = llm._sampler = self._made_sampler(seed)

    def sample(self) -> int | None:
        """The next token, after all that was written; None where a stopping criterion of the caller's holds.

        Evaluates what the context lacks. Raises IntegrationError where something else has moved the model, or closed
        it: llama.cpp would go on from another text, or end the process where logits are missing.
        """
        self._check_undisturbed()
        self._evaluate()
        token_id: int = self._sampler.sample(self._llm._ctx, self._row())
        self._state = self._current_state()
        return None if self._should_stop() else token_id

    def logits(self) -> NDArray[np.float32]:
        """The model's own logits, as the last `sample` was given them. Valid until the next evaluation."""
        row = llama_cpp.llama_get_logits_ith(self._llm.ctx, self._row())
        return np.ctypeslib.as_array(row, shape=(self._llm.n_vocab(),))

    def write(self, ids: Sequence[int]) -> None:
        """Go on with these ids; they are evaluated, all together, when the next token is sampled."""
        end = self._length + len(ids)
        self._ids[self._length : end] = ids
        self._length = end

    def replace(self, n: int, ids: Sequence[int]) -> None:
        """Go on with these ids, which were not sampled, instead of the last n. What is before them stays evaluated.

        Penalties count them, too. (They cannot forget those that are taken back.)
        """
        self._length -= n
        self.write(ids)
        for token_id in ids:
            self._sampler.accept(token_id)

    def _made_sampler(self, seed: int | None) -> Any:
        # The model has no other way to give a sampler a seed.
        own = self._llm._seed
        if seed is not None:
            self._llm.set_seed(seed)
        try:
            return self._llm._init_sampler(**self._sampler_options)
        finally:
            self._llm.set_seed(own)

    def _evaluate(self) -> None:
        """Make the context hold what was written, with logits after the last id."""
        llm, ids = self._llm, self._ids[: self._length]
        held = llm.input_ids[: llm.n_tokens]
        kept = n_equal(held, ids)
        if kept == len(ids) and self._state is not None and len(ids) > self._first_logits:
            return  # a draft that was right
        kept = min(kept, len(ids) - 1)
        if kept < llm.n_tokens and not (kept and llm._ctx.kv_cache_seq_rm(-1, kept, -1)):
            # A recurrent model has no memory of single positions to go back to.
            llm.reset()
            kept = 0
        llm.n_tokens = kept
        llm._requires_eval = True
        new = ids[kept:].tolist()
        llm.eval(new + self._drafts(len(new)))
        self._first_logits = len(ids) - 1

    def _drafts(self, n_new: int) -> list[int]:
        """What the model's draft model expects next; evaluated with what is new, and kept as far as it is sampled."""
        llm = self._llm
        room = min(len(llm.input_ids) - self._length, llm.n_batch - n_new)
        if llm.draft_model is None or self._state is None or room <= 0:
            return []
        drafts: list[int] = llm.draft_model(self._ids[: self._length]).astype(int)[:room].tolist()
        return drafts

    def _row(self) -> int:
        # llama.cpp counts rows from the last one that was evaluated.
        return self._length - 1 - int(self._llm.n_tokens)

    def _should_stop(self) -> bool:
        if self._stopping_criteria is None:
            return False
        return bool(self._stopping_criteria(self._ids[: self._length], self.logits()))

    def _check_undisturbed(self) -> None:
        if self._llm.model is None:
            raise IntegrationError("the model was closed before the text was finished")
        if self._state is not None and self._state != self._current_state():
            raise IntegrationError(IN_TURNS)

    def _current_state(self) -> tuple[Any, ...]:
        # Each generation has a sampler of its own, each evaluation moves `n_tokens`.
        return self._llm.n_tokens, getattr(self._llm, "_sampler", None)
