"""A vocabulary to check a grammar with when none is given: one token a byte."""

from __future__ import annotations

import cfgmask
from cfgmask.cli.subject import rules_of
from cfgmask.compiler.byte_vocabulary import byte_vocabulary


def stand_in_vocabulary(grammar: cfgmask.Grammar) -> cfgmask.Vocabulary:
    """All single bytes, one end token, and an id for every special token that the grammar names."""
    ir = rules_of(grammar)
    if ir is None:
        return cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_token_id=256)
    return byte_vocabulary(ir)
