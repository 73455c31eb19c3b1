"""The probabilities of whole choices: what the integrations have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfgmask import notebook
from cfgmask.errors import VocabularyError
from cfgmask.integrations.options import encoded
from cfgmask.vocabulary import Vocabulary


@dataclass(frozen=True)
class Choice:
    """The likeliest choice, and the probability of each.

    text               the likeliest choice; the first one if several are equally likely
    probabilities      dict from each choice, in the order given, to its probability among the choices; they add up to 1
    log_probabilities  dict from each choice to the logarithm of the probability that the model writes its tokens and
                       then ends
    """

    text: str
    probabilities: dict[str, float]
    log_probabilities: dict[str, float]

    @property
    def probability(self) -> float:
        """The probability of the likeliest choice, among the choices."""
        return self.probabilities[self.text]

    def _repr_html_(self) -> str:
        """HTML for notebooks: each choice with its probability."""
        return notebook.choice(self.text, self.probabilities)


def checked_choices(choices: Iterable[str]) -> list[str]:
    """The choices, each once. Raises TypeError for what is no list of texts, ValueError where there
    are none, or one is no Unicode.
    """
    if isinstance(choices, (str, bytes)):
        raise TypeError("choices must be a list of texts, not one text")
    texts = list(choices)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a choice must be a str, not {type(text).__name__}")
        encoded(text, "a choice")
    if not texts:
        raise ValueError("there is nothing to choose from: give at least one text")
    return list(dict.fromkeys(texts))


def encoded_choices(vocabulary: Vocabulary, texts: Sequence[str]) -> list[tuple[int, ...]]:
    """The tokenizer's own tokens of each choice. Raises VocabularyError where it has none that write the text."""
    if vocabulary.encode is None:
        raise VocabularyError("the choices cannot be scored: the vocabulary has no encoder")
    found = []
    for text in texts:
        ids = tuple(vocabulary.encode(text)) if text else ()
        if b"".join(vocabulary.tokens[token_id] for token_id in ids) != text.encode():
            raise VocabularyError(f"the tokenizer has no tokens that write {text!r:.60}")
        found.append(ids)
    return found


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """The logarithms of the probabilities of one row."""
    row = np.asarray(logits, dtype=np.float64)
    highest = row.max()
    shifted: NDArray[np.float64] = row - highest - np.log(np.exp(row - highest).sum())
    return shifted


def log_probability(row: NDArray[np.float64], tokens: Sequence[int]) -> float:
    """That one of the tokens comes."""
    return float(np.logaddexp.reduce(row[list(tokens)]))


def chosen(texts: Sequence[str], scores: Sequence[float]) -> Choice:
    """The choice that these logarithms of probabilities make."""
    total = np.logaddexp.reduce(scores)
    shares = [float(np.exp(score - total)) for score in scores]
    best = texts[int(np.argmax(scores))]
    return Choice(best, dict(zip(texts, shares, strict=True)), dict(zip(texts, map(float, scores), strict=True)))


def score_trie(
    sequences: Sequence[tuple[int, ...]],
    ends: Sequence[int],
    first: NDArray[np.float64],
    rows_after: Callable[[int, tuple[int, ...]], list[NDArray[np.float64]]],
) -> list[float]:
    """The logarithm of the probability of each sequence with an end behind it, over the trie of all of them.

    ends        tokens that end a text: that any of them comes
    first       of what comes first, as of `log_softmax`
    rows_after  rows_after(depth, tokens): of what comes behind each of these tokens, where the first of them stands at
                this depth. Depths fall only back to where the last tokens began, or before
    """
    scores = [0.0] * len(sequences)

    def visit(depth: int, members: list[int], row: NDArray[np.float64]) -> Iterator[tuple[int, list[int], int]]:
        groups: dict[int, list[int]] = {}
        for member in members:
            if len(sequences[member]) == depth:
                scores[member] += log_probability(row, ends)
            else:
                groups.setdefault(sequences[member][depth], []).append(member)
        for token_id, group in groups.items():
            for member in group:
                scores[member] += float(row[token_id])
            yield depth, group, _common_length([sequences[member] for member in group])

    todo = list(visit(0, list(range(len(sequences))), first))
    while todo:
        depth, group, end = todo.pop()
        tokens = sequences[group[0]][depth:end]
        rows = rows_after(depth, tokens)
        for row, token_id in zip(rows, tokens[1:], strict=False):
            for member in group:
                scores[member] += float(row[token_id])
        todo += visit(end, group, rows[-1])
    return scores


def _common_length(sequences: Sequence[tuple[int, ...]]) -> int:
    first, last = min(sequences), max(sequences)
    n = 0
    while n < min(len(first), len(last)) and first[n] == last[n]:
        n += 1
    return n
