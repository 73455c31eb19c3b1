"""A grammar compiled for plain text, without a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from cfgmask._core import CompiledGrammar
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import GrammarIR
from cfgmask.vocabulary import Vocabulary

if TYPE_CHECKING:
    from cfgmask.compiler.grammar import Grammar


def compiled_for_text(
    grammar: Grammar, vocabulary: Vocabulary | CompiledGrammar | None
) -> tuple[CompiledGrammar, Mapping[str, int]]:
    """The grammar for a vocabulary, and its special tokens, as far as they are known.

    vocabulary  None: one of all bytes and the special tokens that the grammar names

    Raises TypeError for what is no vocabulary, and what `compile` raises.
    """
    from cfgmask.compiler.build import compile

    if isinstance(vocabulary, CompiledGrammar):
        return vocabulary, {}
    if vocabulary is not None:
        return compile(grammar, vocabulary), vocabulary.special_tokens
    if grammar._for_text is None:
        of_bytes = _vocabulary_of(grammar)
        grammar._for_text = compile(grammar, of_bytes), of_bytes.special_tokens
    return grammar._for_text


def _vocabulary_of(grammar: Grammar) -> Vocabulary:
    from cfgmask.compiler.byte_vocabulary import byte_vocabulary

    lazy = grammar.lazy
    if isinstance(lazy, GrammarIR):
        return byte_vocabulary(lazy)
    if grammar._bind is not None:
        # Markers are texts then. Its intermediate form would hold the rules of all schemas.
        with suppress(GrammarError):
            return byte_vocabulary(grammar.compact_ir_for(all_bytes()))
    # Schemas name no tokens.
    return all_bytes() if lazy is not None else byte_vocabulary(grammar.ir)


@cache
def all_bytes() -> Vocabulary:
    """All single bytes and an end token. One for all grammars, which share what they learn."""
    return Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_token_id=256)
