"""Which tokens end a text: by their names, or as someone says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from cfgmask.errors import VocabularyError

END_TEXTS = frozenset(
    {
        "</s>", "<EOT>", "<end_of_turn>", "<end_of_utterance>", "<eos>", "<turn|>", "<|calls|>", "<|call|>",
        "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|eom_id|>", "<|eot_id|>", "<|flush|>", "<|im_end|>",
        "<|return|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[EOS]", "[EOT]", "[e~[", "_<EOT>",
    }
)  # fmt: skip

# Where both of a pair exist, `<|end|>` closes a message of several, not the text.
_MESSAGE_PAIRS = (("<|return|>", "<|call|>"), ("<|calls|>", "<|flush|>"))


def end_closes_message(ids: Mapping[str, int]) -> bool:
    """Whether a vocabulary has `<|end|>`, and it is no end there."""
    return "<|end|>" in ids and any(first in ids and second in ids for first, second in _MESSAGE_PAIRS)


def known_ends(ids: Mapping[str, int]) -> list[int]:
    """The ids whose names are known to end a text, ascending; `ids` has the id of each special token."""
    names = END_TEXTS - {"<|end|>"} if end_closes_message(ids) else END_TEXTS
    return sorted(ids[name] for name in names & ids.keys())


def check_ends(ends: Iterable[int], ids: Collection[int], describe: str) -> None:
    """Raises VocabularyError for an end that is none of the ids that have a token; vocabularies have gaps."""
    for token_id in ends:
        if token_id not in ids:
            raise VocabularyError(f"{describe}: end token {token_id} is not an id of the vocabulary")
