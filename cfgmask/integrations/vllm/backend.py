"""vLLM's structured output backend over this engine."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast
from vllm.exceptions import VLLMValidationError
from vllm.v1.structured_output.backend_guidance import process_for_additional_properties
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)
from vllm.v1.structured_output.request import get_structured_output_key
from vllm.v1.structured_output.utils import strip_speculative_padding

from cfgmask import Compiler, Vocabulary
from cfgmask.errors import CfgmaskError, LimitExceeded
from cfgmask.integrations.engine_requests import RequestKind, request_grammar
from cfgmask.integrations.engine_text import EngineText

logger = logging.getLogger(__name__)

_KINDS: dict[StructuredOutputOptions, RequestKind] = {
    StructuredOutputOptions.JSON: "json",
    StructuredOutputOptions.JSON_OBJECT: "json_object",
    StructuredOutputOptions.REGEX: "regex",
    StructuredOutputOptions.GRAMMAR: "grammar",
    StructuredOutputOptions.CHOICE: "choice",
    StructuredOutputOptions.STRUCTURAL_TAG: "structural_tag",
}


@dataclass
class CfgmaskBackend(StructuredOutputBackend):  # type: ignore[misc]  # vllm may be missing when checked
    """Makes the grammars of requests, in vLLM's threads, and keeps those of the last requests.

    Written for vLLM 0.33; its fields are those of vLLM's class. It needs nothing but what vLLM's own backends are made
    from and asked for, so a registry for others (RFC #50966) can take it as it is.
    """

    def __post_init__(self) -> None:
        options = self.vllm_config.structured_outputs_config
        self._compact = options.disable_any_whitespace
        self._closed = options.disable_additional_properties
        self.vocabulary = Vocabulary.from_transformers(self.tokenizer)
        self._compiler = Compiler(self.vocabulary)

    @staticmethod
    def is_tokenizer_supported(tokenizer: Any) -> bool:
        """Whether it is a fast tokenizer of transformers."""
        return isinstance(tokenizer, PreTrainedTokenizerFast)

    def compile_grammar(
        self,
        request_type: StructuredOutputOptions,
        grammar_spec: str,
        stop_token_ids: set[int] | None = None,
    ) -> StructuredOutputGrammar:
        """The text of one request.

        stop_token_ids  at which vLLM stops; those that are no end tokens of the tokenizer are allowed where the text
                        may end, and nowhere else
        Errors: ValueError for a grammar that cannot be used, and for stop tokens that the tokenizer lacks.
        """
        kind = _KINDS[request_type]
        text = _closed(kind, grammar_spec) if self._closed else grammar_spec
        compiled = self._compiler.read(request_grammar, kind, text, compact=self._compact)
        stops = sorted(stop_token_ids or ())
        return CfgmaskGrammar(EngineText(compiled.matcher(stop_token_ids=stops), stops))

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """Masks that allow everything."""
        n_vocab = max(self.vocab_size, self.vocabulary.n_vocab)
        shape = (max_num_seqs, -(-n_vocab // 32))
        return torch.full(shape, -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())

    def destroy(self) -> None:
        """Do nothing: what it holds is freed with it."""


class CfgmaskGrammar(StructuredOutputGrammar):  # type: ignore[misc]
    """The text of one request."""

    def __init__(self, text: EngineText) -> None:
        self.text = text

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Take tokens. False, and a message in the log, at the first that does not fit, or meets a limit.

        vLLM then ends the request with an error. After a limit nothing is taken any more, end tokens included: an
        unfinished text must not look like a finished one.
        """
        for token in tokens:
            try:
                if self.text.accept(token):
                    continue
                logger.error("Request %s: %s", request_id, self.text.matcher.explain(token))
            except LimitExceeded as error:
                logger.error("Request %s ends early: %s", request_id, error)
            return False
        return True

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The first of the tokens, as far as they fit. Nothing is taken."""
        tokens = strip_speculative_padding(tokens)
        return tokens[: self.text.n_valid(tokens)]

    def rollback(self, num_tokens: int) -> None:
        """Take the last tokens back."""
        self.text.rollback(num_tokens)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write the mask of the next token into a row. After a limit, which is logged, it allows end tokens alone."""
        error = self.text.fill(bitmask[batch_index].numpy())
        if error is not None:
            logger.error("A mask met a limit: %s", error)

    def is_terminated(self) -> bool:
        """Whether the text has ended. Not after a limit: vLLM would allow every token."""
        return self.text.matcher.is_finished

    def reset(self) -> None:
        """Back to the start."""
        self.text.reset()


def _closed(kind: RequestKind, text: str) -> str:
    """A request whose objects have no other properties than those that their schemas name.

    Errors: ValueError for JSON that is none, and for a structural tag, whose schemas have other places.
    """
    if kind == "structural_tag":
        raise ValueError(
            "disable_additional_properties goes with no structural tag: its schemas say additionalProperties themselves"
        )
    return json.dumps(process_for_additional_properties(text)) if kind == "json" else text


def validate(sampling_params: Any, tokenizer: Any = None) -> None:
    """Raises VLLMValidationError for a request whose grammar cannot be used, before it is queued.

    tokenizer  unused: tokens that a grammar names are looked up when it is compiled
    """
    asked = sampling_params.structured_outputs
    if asked is None:
        return
    for option in ("disable_any_whitespace", "disable_additional_properties", "whitespace_pattern"):
        if getattr(asked, option):
            raise VLLMValidationError(
                f"cfgmask reads {option} of no single request; the first two are options of structured_outputs_config"
            )
    kind, spec = get_structured_output_key(asked)
    try:
        request_grammar(_KINDS[kind], spec)
    except (CfgmaskError, ValueError, RecursionError) as error:
        raise VLLMValidationError(f"Invalid grammar specification: {error}") from error
