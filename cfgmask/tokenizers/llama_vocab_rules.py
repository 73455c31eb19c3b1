"""What llama.cpp makes of a vocabulary beyond what the file says: which texts end generation, which have no text.

Observed from outside, by loading vocabularies made for it (llama-cpp-python 0.3.36) and asking for each token's
attributes and `llama_vocab_is_eog`; `tests/tokenizers/test_gguf.py` repeats the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from cfgmask.tokenizers.end_texts import END_TEXTS, end_closes_message


class Kind(IntEnum):
    """A token's type as GGUF numbers them."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


# A token of each of these roles is looked for by text where the file does not name it.
_ROLE_TEXTS: Mapping[str, frozenset[str]] = {
    "fim_pre": frozenset(
        {
            "<PRE>", "<fim-prefix>", "<fim_prefix>", "<|code_prefix|>", "<|fim_prefix|>", "<|prefix|>",
            "<｜fim▁begin｜>", "▁<PRE>",
        }
    ),
    "fim_suf": frozenset(
        {
            "<SUF>", "<fim-suffix>", "<fim_suffix>", "<|code_suffix|>", "<|fim_suffix|>", "<|suffix|>",
            "<｜fim▁hole｜>", "▁<SUF>",
        }
    ),
    "fim_mid": frozenset(
        {
            "<MID>", "<fim-middle>", "<fim_middle>", "<|code_middle|>", "<|fim_middle|>", "<|middle|>",
            "<｜fim▁end｜>", "▁<MID>",
        }
    ),
    "fim_pad": frozenset({"<PAD>", "<fim-pad>", "<fim_pad>", "<|fim_pad|>", "[PAD]"}),
    "fim_rep": frozenset({"<REPO>", "<fim-repo>", "<reponame>", "<|fim_repo|>", "<|repo_name|>"}),
    "fim_sep": frozenset({"<|file_sep|>"}),
}  # fmt: skip
_END_ROLES = ("eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep")

# The markers of the Harmony chat format stand in a model's output as text.
_VISIBLE_TEXTS = frozenset({"<|start|>", "<|channel|>", "<|message|>", "<|constrain|>"})

_DEFAULT_EOS = {"gpt2": 11, "llama": 2, "t5": 1}


@dataclass(frozen=True)
class Reading:
    """Each token's kind as llama.cpp uses it, and the ids that end generation: the file's own first, then ascending."""

    kinds: list[int]
    end_token_ids: tuple[int, ...]


def read(model: str, ids: Mapping[str, int], kinds: Sequence[int], roles: Mapping[str, int]) -> Reading:
    """Apply llama.cpp's rules.

    model  the tokenizer's name in the file: `gpt2`, `llama`, …
    ids    id of each token text
    kinds  each token's type in the file
    roles  the ids that the file names: `eos`, `eot`, `fim_pad`, …; each within the vocabulary
    """
    kinds = list(kinds)
    eos = roles.get("eos", _DEFAULT_EOS.get(model, -1))
    ends = {roles[role] for role in _END_ROLES if role in roles}
    if 0 <= eos < len(kinds):
        ends.add(eos)
    for role, texts in _ROLE_TEXTS.items():
        if role in roles:
            continue
        found = [ids[text] for text in texts if text in ids]
        for token_id in found:
            kinds[token_id] = Kind.CONTROL
        # Of several, llama.cpp takes one that its hash table decides. None of them is an end here then: without text
        # and no end, no mask ever allows them, so what they would be does not matter.
        if role in _END_ROLES and len(found) == 1:
            ends.add(found[0])
    for text in END_TEXTS & ids.keys():
        ends.add(ids[text])
        kinds[ids[text]] = Kind.CONTROL
    for text in _VISIBLE_TEXTS & ids.keys():
        kinds[ids[text]] = Kind.USER_DEFINED
    if end_closes_message(ids):
        ends.discard(ids["<|end|>"])
        kinds[ids["<|end|>"]] = Kind.USER_DEFINED
    # Gemma 4 has `<|tool_response>`, and `</s>` for the HTML tag.
    if "<|tool_response>" in ids and "</s>" in ids:
        ends.discard(ids["</s>"])
        kinds[ids["</s>"]] = Kind.NORMAL
    return Reading(kinds, tuple(sorted(ends, key=lambda token_id: (token_id != eos, token_id))))
