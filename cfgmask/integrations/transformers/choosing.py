"""The probability of each of some texts, from a model of transformers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from cfgmask.integrations.choices import Choice, checked_choices, chosen, encoded_choices
from cfgmask.vocabulary import Vocabulary


def choose(model: Any, tokenizer: Any, prompt: str | Sequence[int], choices: Iterable[str]) -> Choice:
    """The likeliest of some texts after a prompt, and the probability of each.

    model      a causal language model of transformers
    tokenizer  its tokenizer, or the `cfgmask.Vocabulary` of it, which then is not read again; then a prompt is ids
    prompt     text, encoded as the tokenizer does by default, or ids
    choices    texts; of equal ones one

    A choice is scored in the tokenizer's own tokens, with an end token behind it: any of the vocabulary's, and of the
    model's generation config.
    Cost: one batch, of a row for each choice.
    Errors: TypeError, ValueError; VocabularyError where the tokenizer cannot write a choice.
    """
    texts = checked_choices(choices)
    vocabulary = _vocabulary(model, tokenizer)
    ids = list(prompt) if not isinstance(prompt, str) else list(_encoder(tokenizer)(prompt))
    if not ids:
        raise ValueError("the prompt is empty")
    sequences = encoded_choices(vocabulary, texts)
    longest = max(map(len, sequences))
    device = next(model.parameters()).device
    rows = torch.full((len(texts), len(ids) + longest), ids[0], dtype=torch.long)
    mask = torch.zeros_like(rows)
    for n, sequence in enumerate(sequences):
        whole = [*ids, *sequence]
        rows[n, : len(whole)] = torch.tensor(whole)
        mask[n, : len(whole)] = 1
    with torch.no_grad():
        logits = model(input_ids=rows.to(device), attention_mask=mask.to(device)).logits
    # What stands behind a row's own text is never looked at: models are causal.
    own = torch.log_softmax(logits[:, len(ids) - 1 :].double(), dim=-1).cpu().numpy()
    ends = [token_id for token_id in vocabulary.eos_token_ids if token_id < own.shape[-1]]
    scores = []
    for n, sequence in enumerate(sequences):
        written = sum(float(own[n, at, token_id]) for at, token_id in enumerate(sequence))
        scores.append(written + float(np.logaddexp.reduce(own[n, len(sequence), ends])))
    return chosen(texts, scores)


def _vocabulary(model: Any, tokenizer: Any) -> Vocabulary:
    if isinstance(tokenizer, Vocabulary):
        return tokenizer
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return Vocabulary.from_transformers(tokenizer, eos_token_id=ends)


def _encoder(tokenizer: Any) -> Any:
    if isinstance(tokenizer, Vocabulary):
        raise TypeError("a prompt that is text needs the tokenizer itself: pass it, or the prompt's ids")
    return tokenizer.encode
