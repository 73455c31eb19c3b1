"""A small byte-level BPE tokenizer, as GPT-2's."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence, Split
from tokenizers.trainers import BpeTrainer

START, END, THINK, END_THINK = "<|begin_of_text|>", "<|end_of_text|>", "<think>", "</think>"
SPECIAL_TOKENS = (START, END, THINK, END_THINK)


def train_tokenizer(texts: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """Learn merges from the texts. The special tokens have the first ids, in the order of `SPECIAL_TOKENS`.

    No merge joins two digits, or a blank and a capital letter: numbers are spelled digit by digit, and a name is the
    same tokens after a blank and after a quote. A small model needs that to copy them.
    """
    tokenizer = Tokenizer(BPE())
    # Only what merges are learnt from is split like this. Text is read with GPT-2's rule alone, as llama.cpp's
    # pre-tokenizer "gpt-2" does; the merges that are missing then keep the parts apart.
    tokenizer.pre_tokenizer = Sequence(
        [
            Digits(individual_digits=True),
            Split(Regex(" (?=[A-Z])"), "isolated"),
            ByteLevel(add_prefix_space=False),
        ]
    )
    trainer = BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator((_without_special(text) for text in texts), trainer)
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return tokenizer


def _without_special(text: str) -> str:
    for token in SPECIAL_TOKENS:
        text = text.replace(token, "")
    return text
