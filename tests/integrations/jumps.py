"""Jump-forward by models of random weights over real vocabularies: what it must not change, and what its context holds.

    python -m tests.integrations.jumps -n 100

For each schema and budget:
- with `canonical=True` the greedy text and its tokens are those without jumps. Where they are not, the model has two
  tokens to say that are as likely but for rounding, which depends on how many tokens are evaluated at once; it is
  counted apart, and any other difference is wrong;
- without it, the text is complete and valid within its budget;
- before a token is sampled, after jumps and tokens taken back, the logits are those of evaluating all of it anew, up to
  rounding: a part of how far the logits lie apart.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

import cfgmask
from cfgmask.integrations.llama_cpp import generate
from tests.integrations.budgets import SCHEMAS, Task, fault, tasks
from tests.integrations.generations import models
from tests.json_schema.judge import maskbench_schemas

CONTEXT = 1024
PROMPTS = ("Hello", "A text:\n", '{"a": ', "日本語 ")
# Of the standard deviation of the logits: what evaluating in other batches changes, with weights of 16 bits.
ROUNDING = 0.01


class Model:
    """A model, and what it says anew: with nothing kept of what it said before."""

    def __init__(self, path: Path) -> None:
        self.llm = llama_cpp.Llama(str(path), n_ctx=CONTEXT, n_threads=1, verbose=False)
        self._other = llama_cpp.Llama(str(path), n_ctx=CONTEXT, n_threads=1, verbose=False)
        self.vocabulary = cfgmask.Vocabulary.from_llama(self.llm)

    def logits(self, ids: list[int]) -> NDArray[np.single]:
        self._other.reset()
        self._other.eval(ids)
        row = llama_cpp.llama_get_logits_ith(self._other.ctx, -1)
        return np.ctypeslib.as_array(row, shape=(self._other.n_vocab(),)).copy()

    def close(self) -> None:
        self.llm.close()
        self._other.close()


class Spy:
    """A processor that keeps a few of the logits that it is shown."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.seen: list[tuple[list[int], NDArray[np.single]]] = []

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        if self._rng.random() < 0.1:
            self.seen.append((input_ids.tolist(), np.array(scores)))
        return scores


def difference(model: Model, prompt: list[int], jumped: Any, plain: Any) -> str | None:
    """None for equal texts, "rounding" where both go on with what is as likely, else what is wrong."""
    if jumped.token_ids == plain.token_ids:
        return None if jumped.finish_reason == plain.finish_reason else "another finish_reason"
    pairs = zip(jumped.token_ids, plain.token_ids, strict=False)
    at = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
    if at is None:
        return f"ended after {len(jumped.token_ids)} and {len(plain.token_ids)} tokens"
    logits = model.logits([*prompt, *plain.token_ids[:at]])
    apart = abs(float(logits[jumped.token_ids[at]] - logits[plain.token_ids[at]])) / float(logits.std())
    return "rounding" if apart < ROUNDING else f"token {at}: {apart:.3f} apart, {plain!r} became {jumped!r}"


def check(model: Model, task: Task, rng: random.Random, counts: Counter[str]) -> list[str]:
    """What is wrong with the texts of one schema and budget."""
    prompt = model.llm.tokenize(rng.choice(PROMPTS).encode())
    options: dict[str, Any] = {"max_tokens": task.budget, "stall_after": rng.choice([None, 30])}
    greedy = options | {"temperature": 0.0, "canonical": True, "repeat_penalty": rng.choice([1.0, 1.2])}
    jumped = generate(model.llm, prompt, task.compiled, jump_forward=True, **greedy)
    plain = generate(model.llm, prompt, task.compiled, **greedy)
    found = difference(model, prompt, jumped, plain)
    counts["rounding"] += found == "rounding"
    wrong = [] if found in (None, "rounding") else [f"canonical: {found}"]

    spy = Spy(rng)
    options |= {"temperature": rng.choice([0.0, 1.0]), "seed": rng.randrange(2**31), "logits_processor": [spy]}
    text = generate(model.llm, prompt, task.compiled, jump_forward=True, **options)
    fault_of_text = fault(task, text.encode(), len(text.token_ids))
    wrong += [] if fault_of_text is None else [f"{fault_of_text}: {text!r}"]
    for ids, logits in spy.seen[:4]:
        anew = model.logits(ids)
        apart = float(np.abs(logits - anew).max() / anew.std())
        counts["largest"] = max(counts["largest"], round(apart * 1e6))
        counts["looked at"] += 1
        if apart > ROUNDING:
            wrong.append(f"after {len(ids)} ids the logits are {apart:.3f} apart")
    counts["tokens"] += len(text.token_ids) + len(jumped.token_ids)
    counts["forced"] += text.n_forced + jumped.n_forced
    counts["taken back"] += text.n_taken_back
    return wrong


def run(path: Path, n: int, seed: int, schemas: list[dict[str, Any]], report: Callable[[str], None]) -> int:
    """How many of n schemas and budgets have something wrong."""
    model, rng, counts, n_wrong = Model(path), random.Random(seed), Counter[str](), 0
    for _, task in zip(range(n), tasks(model.vocabulary, schemas, rng), strict=False):
        wrong = check(model, task, rng, counts)
        n_wrong += bool(wrong)
        for line in wrong:
            report(f"WRONG {line}, budget {task.budget}, of {task.schema}")
    model.close()
    report(
        f"{n} pairs, {n_wrong} wrong, {counts['rounding']} others by rounding; {counts['tokens']} tokens, "
        f"{counts['forced']} forced, {counts['taken back']} taken back; {counts['looked at']} logits at most "
        f"{counts['largest'] / 1e6:.4f} apart"
    )
    return n_wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("-n", type=int, default=50, help="pairs of a schema and a budget for each vocabulary")
    parser.add_argument("--vocabulary", nargs="+", default=["gpt-2", "llama-spm", "llama-bpe", "qwen2", "phi-3"])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in models(arguments.vocabulary, Path(folder)):
            print(name, flush=True)
            wrong += run(path, arguments.n, arguments.seed, maskbench_schemas() or SCHEMAS, print)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
