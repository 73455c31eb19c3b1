"""The tokenizer's own tokens of a text that goes on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from operator import index
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from cfgmask.errors import VocabularyError

if TYPE_CHECKING:
    from cfgmask._core import CompiledGrammar
    from cfgmask.vocabulary import Vocabulary

# A run of blanks may have as many ends as bytes, each of which takes an encoding.
_MOST_ENDS = 32

_vocabularies: WeakKeyDictionary[CompiledGrammar, Vocabulary] = WeakKeyDictionary()


def remember_encoder(compiled: CompiledGrammar, vocabulary: Vocabulary) -> None:
    """Keep the vocabulary for as long as the grammar lives, if it can encode: the core has no encoders."""
    if vocabulary.encode is not None:
        _vocabularies[compiled] = vocabulary


def lend_encoder(compiled: CompiledGrammar, vocabulary: Vocabulary) -> None:
    """Have a grammar use this vocabulary's encoder from now on, of the same tokens: a model's own, which is loaded."""
    remember_encoder(compiled, vocabulary)


def check_encoder(compiled: CompiledGrammar) -> None:
    """Raises VocabularyError where a grammar has no encoder: masks cannot be narrowed to its tokens then."""
    if compiled not in _vocabularies:
        raise VocabularyError(
            "canonical=True needs the tokenizer's encoder, and the vocabulary of this grammar has none; pass encode= "
            "to Vocabulary.from_bytes or Vocabulary.load, or make the vocabulary with from_llama, from_transformers, "
            "from_tiktoken, from_sentencepiece or from_tekken"
        )


def own_tokens(compiled: CompiledGrammar, text: bytes, ends: Sequence[int]) -> list[int]:
    """The tokens that the encoding of `text` begins with, whatever the grammar goes on with.

    ends     where the last token may end that ends within the text; see `Matcher::ForcedText` of the core
    returns  none where there is no encoder, or it cannot write the text byte for byte
    Raises what the encoder does; VocabularyError where that gives something else than ids.
    Cost: an encoding for each end.

    What the encodings up to all these ends have in common is also the beginning of every longer one: a tokenizer that
    joins bytes gives the text before an end of a token the same tokens when it stands alone. Patterns that look ahead
    are the exception, and of those in use only blanks do: how many of them belong together depends on what follows.
    """
    vocabulary = _vocabularies.get(compiled)
    if vocabulary is None or len(ends) > _MOST_ENDS:
        return []
    common: list[int] | None = None
    for end in sorted({*ends, _end_of_words(text)}):
        ids = _encoded(vocabulary, text[:end])
        common = ids if common is None else _common_start(common, ids)
        if not common:
            break
    return common or []


def _end_of_words(text: bytes) -> int:
    # Bytes of a character that is cut off are no blanks.
    return len(text.decode(errors="ignore").rstrip().encode())


def _encoded(vocabulary: Vocabulary, text: bytes) -> list[int]:
    assert vocabulary.encode is not None
    try:
        encoded = vocabulary.encode(text.decode())
    except (UnicodeDecodeError, VocabularyError):
        return []
    try:
        ids = [index(token_id) for token_id in encoded]
    except TypeError as error:
        raise VocabularyError(f"the vocabulary's encoder gave {encoded!r:.60}, not a list of ids") from error
    if not all(0 <= token_id < vocabulary.n_vocab for token_id in ids):
        raise VocabularyError(f"the vocabulary's encoder gave an id beyond its {vocabulary.n_vocab} tokens")
    return ids if b"".join(vocabulary.tokens[token_id] for token_id in ids) == text else []


def _common_start(left: list[int], right: list[int]) -> list[int]:
    pairs = zip(left, right, strict=False)
    return [first for first, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
