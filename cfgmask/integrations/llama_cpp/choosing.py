"""The probability of each of some texts, from a model of llama-cpp-python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from cfgmask.integrations.choices import Choice, checked_choices, chosen, encoded_choices, log_softmax, score_trie
from cfgmask.integrations.generated import Prompt
from cfgmask.integrations.llama_cpp.arguments import check_writer, prompt_ids
from cfgmask.integrations.llama_cpp.budget import context_length
from cfgmask.integrations.llama_cpp.chat import rendered
from cfgmask.integrations.llama_cpp.generation import vocabulary_of
from cfgmask.integrations.llama_cpp.model_lock import model_lock
from cfgmask.integrations.tracking import n_equal


def choose(llm: Any, prompt: Prompt, choices: Iterable[str]) -> Choice:
    """The likeliest of some texts after a prompt, and the probability of each.

    llm      a `llama_cpp.Llama`
    prompt   text, ids or messages, as for `generate`
    choices  at least one text; equal ones count once
    returns  a `Choice`

    A choice is scored in the tokenizer's own tokens, followed by an end token (any of them, if the model has several).
    Errors: TypeError and ValueError for other arguments, and if prompt and choices do not fit the context;
    VocabularyError if the tokenizer can't write a choice.
    Cost: the part of the prompt that the context doesn't hold yet, and each token of the trie of all choices once.
    Threads: as for `generate`.

    Example: choose(llm, "2 + 2 = ", ["3", "4"]).probabilities
    """
    texts = checked_choices(choices)
    check_writer(llm)
    with model_lock(llm):
        vocabulary, ids = vocabulary_of(llm), prompt_ids(llm, rendered(llm, prompt))
        sequences = encoded_choices(vocabulary, texts)
        needed, room = len(ids) + max(map(len, sequences)), context_length(llm)
        if needed > room:
            raise ValueError(f"the prompt and the longest choice have {needed} tokens, the context {room}")
        context = _Context(llm, ids)
        scores = score_trie(sequences, vocabulary.eos_token_ids, context.after_prompt(), context.after)
    return chosen(texts, scores)


class _Context:
    """A model's context, which holds a prompt and one path of a trie after it."""

    def __init__(self, llm: Any, prompt: Sequence[int]) -> None:
        self._llm = llm
        self._ids = list(prompt)
        self._n_prompt = len(prompt)

    def after_prompt(self) -> NDArray[np.float64]:
        """The log-probabilities after the prompt."""
        held = self._llm.input_ids[: self._llm.n_tokens]
        kept = min(n_equal(held, np.array(self._ids, dtype=np.intc)), len(self._ids) - 1)
        return self._evaluate(kept, only_last=True)[-1]

    def after(self, depth: int, tokens: tuple[int, ...]) -> list[NDArray[np.float64]]:
        """The log-probabilities after each of some consecutive tokens.

        depth  how many tokens stand between the prompt and the first of them
        """
        kept = self._n_prompt + depth
        self._ids[kept:] = tokens
        return self._evaluate(kept)[-len(tokens) :]

    def _evaluate(self, kept: int, *, only_last: bool = False) -> list[NDArray[np.float64]]:
        """Evaluate the ids that the context does not hold yet; returns the rows after each of them, or after the last.

        kept  how many of the ids the context holds already
        """
        llm = self._llm
        if kept < llm.n_tokens and not (kept and llm._ctx.kv_cache_seq_rm(-1, kept, -1)):
            # A recurrent model has no memory of single positions to go back to.
            llm.reset()
            kept = 0
        llm.n_tokens = kept
        llm._requires_eval = True
        new = self._ids[kept:]
        if not kept:
            llm._ctx.kv_cache_clear()
        rows = []
        for at in range(0, len(new), llm.n_batch):
            part = new[at : at + llm.n_batch]
            llm._batch.set_batch(batch=part, n_past=llm.n_tokens, logits_all=not only_last)
            llm._ctx.decode(llm._batch)
            llm.input_ids[llm.n_tokens : llm.n_tokens + len(part)] = part
            llm.n_tokens += len(part)
            rows += [self._row(n) for n in ([len(part) - 1] if only_last else range(len(part)))]
        return rows

    def _row(self, n: int) -> NDArray[np.float64]:
        row = llama_cpp.llama_get_logits_ith(self._llm.ctx, n)
        return log_softmax(np.ctypeslib.as_array(row, shape=(self._llm.n_vocab(),)))
