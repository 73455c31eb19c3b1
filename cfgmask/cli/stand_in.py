"""A vocabulary to check a grammar with when none is given: one token a byte."""

from __future__ import annotations

import cfgmask
from cfgmask.grammar.ir import Sequence, TokenSet
from cfgmask.grammar.walk import walk

_BYTES = 256
_MOST_IDS = 1 << 20


def stand_in_vocabulary(grammar: cfgmask.Grammar) -> cfgmask.Vocabulary:
    """All single bytes, one end token, and an id for every special token that the grammar names.

    Ids that the grammar writes as numbers exist as well, without text, up to 2^20: whether they mean anything is for a
    real vocabulary to say.
    """
    token_sets = _token_sets(grammar)
    names = sorted({name for token_set in token_sets for name in token_set.names})
    tokens = [bytes([byte]) for byte in range(_BYTES)] + [b""] * (1 + len(names))
    special = {name: _BYTES + 1 + number for number, name in enumerate(names)}
    highest = max((last for token_set in token_sets for _, last in token_set.ranges), default=0)
    tokens += [b""] * (min(highest + 1, _MOST_IDS) - len(tokens))
    return cfgmask.Vocabulary.from_bytes(tokens, _BYTES, special)


def _token_sets(grammar: cfgmask.Grammar) -> list[TokenSet]:
    bodies = Sequence(tuple(rule.body for rule in grammar.ir.rules))
    return [expr for expr in walk(bodies) if isinstance(expr, TokenSet)]
