"""Token sets of a grammar against a vocabulary: names and ranges to ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import TokenSet

_LINE_BREAK = re.compile(rb"[\n\r]")
_IMAGE = re.compile(r"(?<![^\W_])(?:image|img)(?![^\W_])", re.IGNORECASE)

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
    if tokens.kind:
        of_kind = _image_tokens(vocabulary) if tokens.kind == "image" else _text_tokens(tokens.kind, vocabulary)
        if not of_kind:
            message = f"the vocabulary has no token for {tokens.text}"
            problems.append(Diagnostic("token-unknown", message, span=tokens.span))
        ids |= of_kind
    if tokens.end:
        ids.update(vocabulary.eos_token_ids)
    return sorted(ids)


def _text_tokens(kind: str, vocabulary: Vocabulary) -> set[int]:
    """Tokens of whole characters, without line breaks in a paragraph."""
    ends = set(vocabulary.eos_token_ids)
    found = {i for i, data in enumerate(vocabulary.tokens) if data and i not in ends and _is_text(data)}
    return found if kind == "text" else {i for i in found if not _LINE_BREAK.search(vocabulary.tokens[i])}


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _image_tokens(vocabulary: Vocabulary) -> set[int]:
    return {i for name, i in vocabulary.special_tokens.items() if _IMAGE.search(name)}


def _unknown_name(name: str, tokens: TokenSet, vocabulary: Vocabulary) -> Diagnostic:
    from difflib import get_close_matches

    close = get_close_matches(name, vocabulary.special_tokens, n=3, cutoff=0.5)
    known = close or sorted(vocabulary.special_tokens)[:5]
    if known:
        advice = ("did you mean " if close else "it has, among others, ") + ", ".join(known)
    else:
        advice = "this vocabulary has no special tokens"
    if tokens.text == name and not close and '"' not in name:
        advice += f'; if it is ordinary text to this model, write a string: `"{name}"`'
    return Diagnostic("token-unknown", f"the vocabulary has no special token {name}", span=tokens.span, help=advice)


def _beyond(token: int, tokens: TokenSet, vocabulary: Vocabulary) -> Diagnostic:
    return Diagnostic(
        "token-beyond-vocabulary",
        f"token {token} lies beyond the vocabulary",
        span=tokens.span,
        help=f"its ids go from 0 to {vocabulary.n_vocab - 1}",
    )
