"""What the tests of batches under transformers share: a model over bytes, prompts, and masks held against a replay."""

from __future__ import annotations

from typing import Any

import numpy as np
import regex
import torch
import transformers

import cfgmask
from cfgmask.integrations.transformers import LogitsProcessor

END_TOKENS = (256, 257)
PAD = 258
VOCABULARY = cfgmask.Vocabulary.from_bytes(
    [*(bytes([byte]) for byte in range(256)), b"", b"", b""], eos_token_id=END_TOKENS
)
PERSON = r'\{"name": "[a-zé]{1,12}", "n": [1-9][0-9]{0,3}\}'
NUMBERS = r"[1-9][0-9]{0,2}(, [1-9][0-9]{0,2}){0,4}"
WORDS = r"(red|green|blue)( (red|green|blue)){2,5}"


def random_model(seed: int, config: Any = None) -> Any:
    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ends = {"bos_token_id": 0, "eos_token_id": list(END_TOKENS), "pad_token_id": PAD}
    model = transformers.LlamaForCausalLM(config or transformers.LlamaConfig(vocab_size=272, **sizes, **ends)).eval()
    with torch.no_grad():
        model.lm_head.weight.mul_(20)
    return model


def compiled(pattern: str) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_regex(pattern), VOCABULARY)


def prompts(*texts: bytes) -> dict[str, Any]:
    """Padded on the left."""
    width = max(map(len, texts))
    ids = [[PAD] * (width - len(text)) + list(text) for text in texts]
    return {
        "input_ids": torch.tensor(ids),
        "attention_mask": torch.tensor([[int(i != PAD) for i in row] for row in ids]),
    }


THREE = prompts(b"Hello", b":", b"A number: ")


def texts(output: Any, start: int) -> list[tuple[str, bool]]:
    """What stands after the prompts, and whether it is finished."""
    found = []
    for row in output[:, start:].tolist():
        ends = [i for i, token in enumerate(row) if token in END_TOKENS]
        written = row[: ends[0]] if ends else row
        # No grammar here has a question mark.
        found.append((bytes(i if i < 256 else ord("?") for i in written).decode(errors="ignore"), bool(ends)))
    return found


def assert_in_language(text: str, finished: bool, pattern: str) -> None:
    assert regex.fullmatch(pattern, text, partial=not finished), (text, finished)


class Replayed(transformers.LogitsProcessor):  # type: ignore[misc]
    """The hook, each of whose masks is compared with that of a new matcher that consumes all of the row's text."""

    def __init__(self, hook: LogitsProcessor, patterns: list[str | None]) -> None:
        self.hook = hook
        self.compiled = [None if pattern is None else compiled(pattern) for pattern in patterns]
        self.start: int | None = None
        self.rows_seen: list[list[list[int]]] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self.start is None:
            self.start = input_ids.shape[1]
        masked = self.hook(input_ids, scores)
        rows = input_ids[:, self.start :].tolist()
        self.rows_seen.append(rows)
        for index, row in enumerate(rows):
            grammar = self.compiled[index // (len(rows) // len(self.compiled))]
            expected = scores[index].clone()
            if grammar is not None:
                expected[~torch.from_numpy(self.allowed(grammar, row, scores.shape[1]))] = -torch.inf
            assert torch.equal(masked[index], expected)
        return masked

    def allowed(self, grammar: cfgmask.CompiledGrammar, row: list[int], width: int) -> np.ndarray:
        matcher = grammar.matcher()
        logits = np.zeros(width, np.float32)
        if matcher.try_advance(row) == len(row):
            matcher.apply(logits)
        else:  # the row has stopped
            logits[np.setdiff1d(np.arange(width), END_TOKENS)] = -np.inf
        return np.isfinite(logits)


def hooked(patterns: list[str | None], as_list: bool = True) -> list[Replayed]:
    """What `generate` is given; calls through it have frames of `generate` all the same."""
    starts = [None if pattern is None else compiled(pattern) for pattern in patterns]
    hook = LogitsProcessor(starts if as_list else starts[0])
    return [Replayed(hook, patterns)]
