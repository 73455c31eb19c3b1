"""The probability of each of some texts, from a model of transformers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cfgmask.integrations.choices import Choice, checked_choices, chosen, encoded_choices
from cfgmask.integrations.generated import Prompt
from cfgmask.integrations.transformers.prompts import (
    check_writer,
    context_length,
    only_last_logits,
    prompt_ids,
    vocabulary_of,
)


def choose(model: Any, tokenizer: Any, prompt: Prompt, choices: Iterable[str]) -> Choice:
    """The likeliest of some texts after a prompt, and the probability of each.

    model      a causal language model of transformers
    tokenizer  its tokenizer, or the `cfgmask.Vocabulary` of it; then a prompt is ids
    prompt     text, ids or messages, as of `generate`
    choices    at least one text; equal ones count once
    returns    a `Choice`

    A choice is scored in the tokenizer's own tokens, followed by an end token: any end token of the vocabulary or of
    the model's generation config.
    Errors: TypeError and ValueError for other arguments, and if prompt and choices do not fit the context;
    VocabularyError if the tokenizer can't write a choice.
    Cost: the prompt once, then one batch with a row for each choice. If the model's cache can't be copied, each row
    evaluates the prompt.
    """
    texts = checked_choices(choices)
    check_writer(model)
    vocabulary, ids = vocabulary_of(model, tokenizer), prompt_ids(model, tokenizer, prompt)
    sequences = encoded_choices(vocabulary, texts)
    needed, room = len(ids) + max(map(len, sequences)), context_length(model)
    if room is not None and needed > room:
        raise ValueError(f"the prompt and the longest choice have {needed} tokens, the context {room}")
    with torch.no_grad():
        first, rows = _rows(model, ids, sequences)
    ends = [token_id for token_id in vocabulary.eos_token_ids if token_id < len(first)]
    scores = []
    for n, sequence in enumerate(sequences):
        after = [first, *rows[n]]
        written = sum(float(after[at][token_id]) for at, token_id in enumerate(sequence))
        scores.append(written + float(np.logaddexp.reduce(after[len(sequence)][ends])))
    return chosen(texts, scores)


def _rows(
    model: Any, ids: Sequence[int], sequences: Sequence[Sequence[int]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The log-probabilities of what comes after the prompt, and after each token of each sequence.

    Behind the end of a sequence stands something else, which a causal model does not see.
    """
    device = next(model.parameters()).device
    n_prompt, longest = len(ids), max(map(len, sequences))
    own = torch.zeros((len(sequences), longest), dtype=torch.long)
    mask = torch.ones((len(sequences), n_prompt + longest), dtype=torch.long)
    for n, sequence in enumerate(sequences):
        own[n, : len(sequence)] = torch.tensor(sequence, dtype=torch.long)
        mask[n, n_prompt + len(sequence) :] = 0
    prompt = torch.tensor([list(ids)])
    output = model(input_ids=prompt.to(device), use_cache=True, **only_last_logits(model))
    first = _log_softmax(output.logits[0, -1])
    if longest == 0:
        return first, np.zeros((len(sequences), 0, len(first)))
    cache = _copied(getattr(output, "past_key_values", None), len(sequences))
    if cache is not None:
        logits = model(input_ids=own.to(device), attention_mask=mask.to(device), past_key_values=cache).logits
    else:
        whole = torch.cat([prompt.expand(len(sequences), -1), own], dim=1)
        logits = model(input_ids=whole.to(device), attention_mask=mask.to(device)).logits[:, n_prompt:]
    return first, _log_softmax(logits)


def _copied(cache: Any, n: int) -> Any:
    """A cache of one row for each of n rows; None where it has no such copy."""
    try:
        cache.batch_repeat_interleave(n)
    except (AttributeError, NotImplementedError):
        return None
    return cache


def _log_softmax(logits: Any) -> NDArray[np.float64]:
    found: NDArray[np.float64] = torch.log_softmax(logits.double(), dim=-1).cpu().numpy()
    return found
