"""Token sets of a grammar against a vocabulary: names and ranges to ids."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import TokenSet

if TYPE_CHECKING:
    from cfgmask.vocabulary import Vocabulary


def resolve(tokens: TokenSet, vocabulary: Vocabulary, problems: list[Diagnostic]) -> list[int]:
    """The ids that the set means; what cannot be found is added to `problems`.

    A negated set never holds end tokens: `<[*]>` is any token that goes on with the text.
    """
    ids: set[int] = set()
    for name in tokens.names:
        found = vocabulary.special_tokens.get(name)
        if found is None:
            problems.append(_unknown_name(name, tokens, vocabulary))
        else:
            ids.add(found)
    for low, high in tokens.ranges:
        if high >= vocabulary.n_vocab:
            problems.append(_beyond(high, tokens, vocabulary))
        else:
            ids.update(range(low, high + 1))
    if tokens.negated:
        ids = set(range(vocabulary.n_vocab)) - ids - set(vocabulary.eos_token_ids)
    if tokens.end:
        ids.update(vocabulary.eos_token_ids)
    return sorted(ids)


def _unknown_name(name: str, tokens: TokenSet, vocabulary: Vocabulary) -> Diagnostic:
    close = difflib.get_close_matches(name, vocabulary.special_tokens, n=3, cutoff=0.5)
    known = close or sorted(vocabulary.special_tokens)[:5]
    if known:
        advice = ("did you mean " if close else "it has, among others, ") + ", ".join(known)
    else:
        advice = "this vocabulary has no special tokens"
    return Diagnostic("token-unknown", f"the vocabulary has no special token {name}", span=tokens.span, help=advice)


def _beyond(token: int, tokens: TokenSet, vocabulary: Vocabulary) -> Diagnostic:
    return Diagnostic(
        "token-beyond-vocabulary",
        f"token {token} lies beyond the vocabulary",
        span=tokens.span,
        help=f"its ids go from 0 to {vocabulary.n_vocab - 1}",
    )
