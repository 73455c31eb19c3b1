"""A vocabulary to check a grammar with when none is given: one token a byte."""

from __future__ import annotations

import cfgmask
from cfgmask.analysis.byte_vocabulary import byte_vocabulary


def stand_in_vocabulary(grammar: cfgmask.Grammar) -> cfgmask.Vocabulary:
    """All single bytes, one end token, and an id for every special token that the grammar names."""
    return byte_vocabulary(grammar.ir)
