"""Membership of texts by the engine, for tests of what grammars mean."""

from __future__ import annotations

import cfgmask

VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)


def compiled(grammar: str) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_lark(grammar), VOCABULARY)


def accepts(compiled_grammar: cfgmask.CompiledGrammar, text: str) -> bool:
    data, matcher = text.encode(), compiled_grammar.matcher()
    return matcher.advance_bytes(data) == len(data) and matcher.is_accepting
