"""A vocabulary to try a grammar with when none is given: one token a byte."""

from __future__ import annotations

from cfgmask.grammar.ir import GrammarIR, Sequence, TokenSet
from cfgmask.grammar.walk import walk
from cfgmask.vocabulary import Vocabulary

_BYTES = 256
_MOST_IDS = 1 << 20


def byte_vocabulary(ir: GrammarIR) -> Vocabulary:
    """All single bytes, one end token, and an id for every special token that the grammar names.

    Ids that the grammar writes as numbers exist as well, without text, up to 2^20: whether they mean anything is for a
    real vocabulary to say.
    """
    bodies = Sequence(tuple(rule.body for rule in ir.rules))
    token_sets = [expr for expr in walk(bodies) if isinstance(expr, TokenSet)]
    names = sorted({name for token_set in token_sets for name in token_set.names})
    tokens = [bytes([byte]) for byte in range(_BYTES)] + [b""] * (1 + len(names))
    special = {name: _BYTES + 1 + number for number, name in enumerate(names)}
    highest = max((last for token_set in token_sets for _, last in token_set.ranges), default=0)
    tokens += [b""] * (min(highest + 1, _MOST_IDS) - len(tokens))
    return Vocabulary.from_bytes(tokens, _BYTES, special)
