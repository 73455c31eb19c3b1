"""What `generate` of every integration is given, checked before the model is asked for anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

# llama.cpp takes 32 bits, all ones for a seed of its own choice.
_LARGEST_SEED = 2**32 - 2


def checked_max_tokens(max_tokens: Any) -> int | None:
    """How many tokens at most. Raises TypeError, and ValueError below 1."""
    if max_tokens is None:
        return None
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, Integral):
        raise TypeError(f"max_tokens must be an int or None, not {type(max_tokens).__name__}")
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, or None for all that the context holds, not {max_tokens}")
    return int(max_tokens)


def checked_seed(seed: Any) -> int | None:
    """The seed. Raises TypeError, and ValueError for what llama.cpp would cut or take for "any"."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(f"seed must be an int or None, not {type(seed).__name__}")
    number = int(seed)
    if not 0 <= number <= _LARGEST_SEED:
        raise ValueError(f"seed must be from 0 to {_LARGEST_SEED}, or None for the model's own, not {seed}")
    return number


def checked_temperature(temperature: Any) -> float:
    """The temperature. Raises TypeError, and ValueError for infinity and NaN, which would undo the masks."""
    if isinstance(temperature, bool) or not isinstance(temperature, Real):
        raise TypeError(f"temperature must be a number, not {type(temperature).__name__}")
    if not math.isfinite(temperature):
        raise ValueError(f"temperature must be finite, not {temperature}")
    return float(temperature)


def checked_processors(processors: Any) -> list[Callable[..., Any]]:
    """The functions, in a list. Raises TypeError for anything else, a function outside of a list above all."""
    if not isinstance(processors, Iterable):
        raise TypeError(f"logits_processor must be a list of functions, not {type(processors).__name__}")
    listed = list(processors)
    for processor in listed:
        if not callable(processor):
            raise TypeError(f"logits_processor must be a list of functions; {processor!r} is none")
    return listed


def encoded(text: str, what: str) -> bytes:
    """The text in UTF-8. Raises ValueError for one that is no Unicode; `what` it is, for the message."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        surrogate = ord(text[error.start])
        raise ValueError(
            f"{what} is no Unicode text: character {error.start} is the lone surrogate U+{surrogate:04X}"
        ) from None


def is_messages(prompt: Any) -> bool:
    """Whether a prompt is a list of messages, which a chat template writes, and not text or ids."""
    if isinstance(prompt, (str, bytes)) or not hasattr(prompt, "__len__") or not len(prompt):
        return False
    return all(isinstance(message, Mapping) for message in prompt)


def checked_ids(prompt: Any, n_vocab: int, allowed: str) -> list[int]:
    """The ids that a prompt is. Raises TypeError for anything else, ValueError for ids that the model does not have.

    allowed  what a prompt may be, for messages
    """
    if isinstance(prompt, (bytes, bytearray, Mapping)) or not isinstance(prompt, Iterable):
        raise TypeError(f"the prompt must be {allowed}, not {type(prompt).__name__}")
    ids = []
    for token_id in prompt:
        if isinstance(token_id, bool) or not isinstance(token_id, Integral):
            raise TypeError(f"the prompt must be {allowed}; {token_id!r} is no id")
        ids.append(int(token_id))
        if not 0 <= ids[-1] < n_vocab:
            raise ValueError(f"the prompt has token {token_id}, but the model has {n_vocab} tokens")
    return ids


def checked_logprobs(logprobs: Any) -> bool | None:
    """Whether they are wanted. Raises TypeError."""
    if logprobs is not None and not isinstance(logprobs, bool):
        raise TypeError(f"logprobs must be a bool or None, not {type(logprobs).__name__}")
    return logprobs
