"""vLLM's structured output backend over this engine."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import torch
from vllm.exceptions import VLLMValidationError
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)
from vllm.v1.structured_output.request import get_structured_output_key
from vllm.v1.structured_output.utils import strip_speculative_padding

from cfgmask import Vocabulary, compile
from cfgmask.errors import CfgmaskError
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
    """Makes the grammars of requests, in vLLM's threads. Its fields are those of vLLM's class."""

    def __post_init__(self) -> None:
        self._compact = self.vllm_config.structured_outputs_config.disable_any_whitespace
        self.vocabulary = Vocabulary.from_transformers(self.tokenizer)

    @staticmethod
    def is_tokenizer_supported(tokenizer: Any) -> bool:
        """Whether it is a tokenizer of transformers."""
        return hasattr(tokenizer, "get_vocab")

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
        compiled = compile(request_grammar(_KINDS[request_type], grammar_spec, compact=self._compact), self.vocabulary)
        stops = sorted(stop_token_ids or ())
        return CfgmaskGrammar(EngineText(compiled.matcher(stop_token_ids=stops), stops))

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """Masks that allow everything."""
        n_vocab = max(self.vocab_size, self.vocabulary.n_vocab)
        shape = (max_num_seqs, -(-n_vocab // 32))
        return torch.full(shape, -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())

    def destroy(self) -> None:
        """Nothing is to be done."""


class CfgmaskGrammar(StructuredOutputGrammar):  # type: ignore[misc]
    """The text of one request."""

    def __init__(self, text: EngineText) -> None:
        self.text = text

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Take tokens. False, and a message in the log, at the first that does not fit."""
        for token in tokens:
            if not self.text.accept(token):
                logger.error("Request %s: %s", request_id, self.text.matcher.explain(token))
                return False
        if self.text.error is not None:
            logger.error("Request %s ends early: %s", request_id, self.text.error)
        return True

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The first of the tokens, as far as they fit. Nothing is taken."""
        tokens = strip_speculative_padding(tokens)
        return tokens[: self.text.n_valid(tokens)]

    def rollback(self, num_tokens: int) -> None:
        """Take the last tokens back."""
        self.text.rollback(num_tokens)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write the mask of the next token into a row. After a limit it allows end tokens alone."""
        self.text.fill(bitmask[batch_index].numpy())

    def is_terminated(self) -> bool:
        """Whether the text has ended."""
        return self.text.is_over

    def reset(self) -> None:
        """Back to the start."""
        self.text.reset()


def validate(sampling_params: Any, tokenizer: Any = None) -> None:
    """Raises VLLMValidationError for a request whose grammar cannot be used, before it is queued.

    tokenizer  whatever vLLM has; tokens that a grammar names are looked up when it is compiled
    """
    if sampling_params.structured_outputs is None:
        return
    kind, spec = get_structured_output_key(sampling_params.structured_outputs)
    try:
        request_grammar(_KINDS[kind], spec)
    except (CfgmaskError, ValueError, RecursionError) as error:
        raise VLLMValidationError(f"Invalid grammar specification: {error}") from error
