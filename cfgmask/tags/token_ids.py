"""The tokens that a vocabulary has for markers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from cfgmask.vocabulary import Vocabulary


class TokenIds:
    """Answers which tokens are written by id. Without arguments: of a vocabulary without tokens for any marker.

    tokens   bytes of each id
    special  ids of the special tokens by their text
    ends     the end tokens
    """

    def __init__(
        self, tokens: Sequence[bytes] = (), special: Mapping[str, int] | None = None, ends: Sequence[int] = ()
    ) -> None:
        self._tokens = tokens
        self._special = dict(special or {})
        self._ends = frozenset(ends)
        self._known: dict[str, tuple[int, ...]] = {}
        # Only these cannot be written by their bytes. The longest first.
        names = sorted((name for name, i in self._special.items() if name and not tokens[i]), key=len, reverse=True)
        self._names = re.compile("|".join(map(re.escape, names))) if names else None

    def of(self, text: str) -> tuple[int, ...]:
        """The ids of the tokens that are just this text; none if there are none. Linear in the vocabulary, once."""
        found = self._known.get(text)
        if found is None:
            data = text.encode(errors="surrogatepass")
            ids = self._of_bytes(data) if data else set()
            if text in self._special:
                ids.add(self._special[text])
            found = self._known[text] = tuple(sorted(ids))
        return found

    def last(self, text: str) -> tuple[int, ...]:
        """The ids of the tokens with this name or text, end tokens too."""
        return tuple(sorted({*self.of(text), *(i for i in self._ends if self._tokens[i] == text.encode())}))

    def _of_bytes(self, data: bytes) -> set[int]:
        ids: set[int] = set()
        start = 0
        while True:
            try:
                # 150,000 tokens take a millisecond so, and ten in a loop of our own.
                start = self._tokens.index(data, start) + 1
            except ValueError:
                return ids - self._ends
            ids.add(start - 1)

    def split(self, text: str) -> list[str | tuple[str, int]]:
        """The text, cut at the names of special tokens without bytes: texts, and names with their ids."""
        if self._names is None:
            return [text]
        parts: list[str | tuple[str, int]] = []
        end = 0
        for found in self._names.finditer(text):
            parts += [text[end : found.start()], (found[0], self._special[found[0]])]
            end = found.end()
        return [part for part in (*parts, text[end:]) if part]


class Answers(TokenIds):
    """Asks another one, and remembers what it was asked."""

    def __init__(self, ids: TokenIds) -> None:
        super().__init__()
        self._ids = ids
        self._found: dict[str, tuple[int, ...]] = {}
        self._cut: dict[str, list[str | tuple[str, int]]] = {}
        self._last: dict[str, tuple[int, ...]] = {}

    def last(self, text: str) -> tuple[int, ...]:
        """The ids of the tokens with this name or text, end tokens too."""
        found = self._last[text] = self._ids.last(text)
        return found

    def of(self, text: str) -> tuple[int, ...]:
        """The ids of the tokens that are just this text."""
        found = self._found[text] = self._ids.of(text)
        return found

    def split(self, text: str) -> list[str | tuple[str, int]]:
        """The text, cut at the names of special tokens."""
        parts = self._cut[text] = self._ids.split(text)
        return parts

    def forget(self) -> None:
        """Keep the answers without the one that was asked, and with it the tokens of a vocabulary."""
        self._ids = NO_TOKENS

    def are_those_of(self, ids: TokenIds) -> bool:
        """Whether another vocabulary would have answered the same."""
        return (
            all(ids.of(text) == found for text, found in self._found.items())
            and all(ids.last(text) == found for text, found in self._last.items())
            and all(ids.split(text) == parts for text, parts in self._cut.items())
        )


NO_TOKENS = TokenIds()

_of_vocabularies: WeakKeyDictionary[Vocabulary, TokenIds] = WeakKeyDictionary()


def ids_of(vocabulary: Vocabulary) -> TokenIds:
    """The tokens of a vocabulary; what is looked up is remembered for as long as the vocabulary lives."""
    ids = _of_vocabularies.get(vocabulary)
    if ids is None:
        ids = TokenIds(vocabulary.tokens, vocabulary.special_tokens, vocabulary.eos_token_ids)
        _of_vocabularies[vocabulary] = ids
    return ids
