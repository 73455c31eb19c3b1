"""llama.cpp's own grammar sampler over the vocabulary of the demo model."""

from __future__ import annotations

import ctypes
from typing import Any

from cfgmask import Vocabulary
from cfgmask.demo import model_path


class Sampler:
    """Masks by `llama_sampler_init_grammar`. Raises ValueError for a grammar that llama.cpp refuses."""

    def __init__(self, library: Library, grammar: str) -> None:
        self._library = library
        data = grammar.encode()
        self._sampler = library.api.llama_sampler_init_grammar(library.vocab, data, b"root")
        if not self._sampler:
            raise ValueError("llama.cpp refuses the grammar")

    def close(self) -> None:
        self._library.api.llama_sampler_free(self._sampler)

    def mask(self) -> set[int]:
        return self._library.masked(self._sampler)

    def accept(self, token: int) -> None:
        """Take a token, which must be in the mask: llama.cpp ends the process for others."""
        assert token in self.mask()
        self._library.api.llama_sampler_accept(self._sampler, token)


class Library:
    """llama.cpp with the demo model's vocabulary loaded."""

    def __init__(self, llama_cpp: Any) -> None:
        self.api = llama_cpp.llama_cpp
        self.llm = llama_cpp.Llama(str(model_path()), vocab_only=True, verbose=False)
        self.vocab = self.api.llama_model_get_vocab(self.llm.model)
        self.vocabulary = Vocabulary.from_llama(self.llm)
        self._candidates = (self.api.llama_token_data * self.vocabulary.n_vocab)()

    def masked(self, sampler: Any) -> set[int]:
        for token, candidate in enumerate(self._candidates):
            candidate.id, candidate.logit = token, 0.0
        array = self.api.llama_token_data_array(self._candidates, len(self._candidates), -1, False)
        self.api.llama_sampler_apply(sampler, ctypes.byref(array))
        return {candidate.id for candidate in self._candidates if candidate.logit == 0.0}
