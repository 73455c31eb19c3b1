"""What `generate` is given, checked before the model is asked for anything."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypedDict

import llama_cpp

from cfgmask.integrations.options import checked_ids, encoded
from cfgmask.integrations.what import check_grammar

_SAMPLING = set(inspect.signature(llama_cpp.Llama.generate).parameters)
_INSTEAD = {
    "stop": "a grammar ends by itself; write into it what ends the text",
    "logit_bias": "give a function that adds it in logits_processor",
    "temp": "it is called temperature here",
    "reset": "the prompt is always all that the model goes on from",
}


class Sampling(TypedDict, total=False):
    """How llama.cpp samples from what the mask leaves: the arguments of `Llama.generate`, with its defaults."""

    top_k: int
    top_p: float
    min_p: float
    typical_p: float
    repeat_penalty: float
    frequency_penalty: float
    presence_penalty: float
    tfs_z: float
    mirostat_mode: int
    mirostat_tau: float
    mirostat_eta: float
    penalize_nl: bool
    stopping_criteria: Any


def check_writer(llm: Any) -> None:
    """Raises TypeError for what is no model, ValueError for one that cannot write."""
    if not isinstance(llm, llama_cpp.Llama):
        raise TypeError(f"llm must be a llama_cpp.Llama, not {type(llm).__name__}")
    if llm.model is None:
        raise ValueError("the model is closed")
    if llm.model_params.vocab_only:
        raise ValueError("the model was loaded with vocab_only: it has no weights to write with")


def check_model_and_grammar(llm: Any, grammar: Any) -> None:
    """Raises TypeError for what is neither, ValueError for a model that cannot write."""
    if not isinstance(llm, llama_cpp.Llama):
        raise TypeError(f"llm must be a llama_cpp.Llama, not {type(llm).__name__}")
    check_grammar(grammar)
    check_writer(llm)


def check_sampling(options: Mapping[str, Any]) -> None:
    """Raises TypeError for options that `Llama.generate` does not have or that `generate` has in another way."""
    for name in options:
        if name in _INSTEAD:
            raise TypeError(f"generate has no option {name!r}: {_INSTEAD[name]}")
        if name not in _SAMPLING:
            raise TypeError(f"generate has no option {name!r}, nor has Llama.generate")


def prompt_ids(llm: Any, prompt: Any) -> list[int]:
    """The prompt's ids; where it has none, the token that begins a text.

    Raises TypeError for what is neither text nor ids, ValueError for text that is no Unicode and for ids that the model
    does not have.
    """
    if isinstance(prompt, str):
        ids = list(llm.tokenize(encoded(prompt, "the prompt"), special=True))
    else:
        ids = checked_ids(prompt, llm.n_vocab(), "a str or token ids")
    if ids:
        return ids
    start: int = llm.token_bos()
    if start < 0:
        raise ValueError("the prompt is empty, and the model has no token that begins a text")
    return [start]
