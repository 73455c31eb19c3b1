"""A model of transformers, its tokenizer and prompt, checked before the model is asked for anything."""

from __future__ import annotations

import inspect
import weakref
from typing import Any

import torch

from cfgmask import CompiledGrammar, Vocabulary, VocabularyError
from cfgmask.integrations.options import checked_ids, encoded, is_messages
from cfgmask.integrations.transformers.vocabulary_checks import check_vocabulary

# Of each tokenizer, by the end tokens of the models that it was asked about.
_vocabularies: weakref.WeakKeyDictionary[Any, dict[Any, Vocabulary]] = weakref.WeakKeyDictionary()


def check_writer(model: Any) -> None:
    """Raises TypeError for what is no model, ValueError for one that does not go on from its prompt."""
    config = getattr(model, "config", None)
    if not isinstance(model, torch.nn.Module) or config is None:
        raise TypeError(f"model must be a model of transformers, not {type(model).__name__}")
    if getattr(config, "is_encoder_decoder", False):
        raise ValueError("the model is an encoder with a decoder; it must be a causal language model")


def vocabulary_of(model: Any, tokenizer: Any) -> Vocabulary:
    """The vocabulary of a model: the one that is given, or that of its tokenizer, read once for each.

    End tokens are those of the model's generation config too. Raises TypeError for anything else.
    """
    if isinstance(tokenizer, Vocabulary):
        return tokenizer
    if not callable(getattr(tokenizer, "encode", None)):
        raise TypeError(f"tokenizer must be the model's tokenizer or a Vocabulary, not {type(tokenizer).__name__}")
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    known = _vocabularies.setdefault(tokenizer, {})
    key = tuple(ends) if isinstance(ends, (list, tuple)) else ends
    if key not in known:
        known[key] = Vocabulary.from_transformers(tokenizer, eos_token_id=ends)
    return known[key]


def check_compiled(compiled: CompiledGrammar, vocabulary: Vocabulary, tokenizer: Any, width: int) -> None:
    """Raises VocabularyError where a grammar was compiled for another vocabulary than the model's.

    width  how many scores the model gives; padding may differ
    """
    if compiled.vocabulary.fingerprint == vocabulary.core.fingerprint:
        return
    if isinstance(tokenizer, Vocabulary):
        raise VocabularyError("the grammar was compiled for another vocabulary than the one that is given")
    check_vocabulary(compiled.vocabulary, width, None, tokenizer)


def context_length(model: Any) -> int | None:
    """How many tokens prompt and text may have together; None where the model does not say."""
    config = model.config
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    length = getattr(config, "max_position_embeddings", None)
    return int(length) if isinstance(length, int) and length > 0 else None


def only_last_logits(model: Any) -> dict[str, int]:
    """Arguments with which the model gives the logits after the last id alone, if it can."""
    return {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}


def prompt_ids(model: Any, tokenizer: Any, prompt: Any) -> list[int]:
    """The prompt's ids; where it has none, the token that begins a text.

    Messages are written by the tokenizer's chat template, up to where the model's answer begins.
    Raises TypeError for what is neither text, messages nor ids, and for text without a tokenizer; ValueError for ids
    that the model does not have, and messages without a chat template.
    """
    ids = _ids(model, tokenizer, prompt)
    if ids:
        return ids
    start = getattr(tokenizer, "bos_token_id", None)
    if start is None:
        raise ValueError("the prompt is empty, and the tokenizer has no token that begins a text")
    return [int(start)]


def _ids(model: Any, tokenizer: Any, prompt: Any) -> list[int]:
    if isinstance(prompt, torch.Tensor):
        prompt = prompt.tolist()
    has_messages = is_messages(prompt)
    if (isinstance(prompt, str) or has_messages) and isinstance(tokenizer, Vocabulary):
        raise TypeError("a prompt that is text needs the tokenizer itself: pass it, or the prompt's ids")
    if has_messages:
        if not getattr(tokenizer, "chat_template", None):
            raise ValueError("the tokenizer has no chat template to write messages with: pass the prompt as text")
        messages = [dict(message) for message in prompt]
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        # The template writes the token that begins a text, too.
        return list(tokenizer.encode(text, add_special_tokens=False))
    if isinstance(prompt, str):
        encoded(prompt, "the prompt")
        return list(tokenizer.encode(prompt))
    return checked_ids(prompt, model.get_input_embeddings().num_embeddings, "a str, messages or token ids")
