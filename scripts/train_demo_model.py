"""Train the small model that ships in cfgmask/demo and write it as GGUF.

    python scripts/train_demo_model.py [--steps 5000] [--output cfgmask/demo/model.gguf]

Needs torch, tokenizers and gguf. One core, about ten minutes; the seed is fixed, so that the same versions of the
libraries on the same processor give the same file.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from demo_model.corpus import CORPUS_SIZE, SEED, Document, documents
from demo_model.export import write_gguf
from demo_model.network import Network, Shape
from demo_model.tokenizer import END, START, train_tokenizer

# What a token of a prompt counts in the loss, against 1 in an answer: its names and numbers are random.
PROMPT_WEIGHT = 0.1
MUON_RATE = 0.02
ADAM_RATE = 0.006
OUTPUT = Path(__file__).parent.parent / "cfgmask" / "demo" / "model.gguf"


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    corpus = list(documents(SEED, CORPUS_SIZE))
    shape = Shape()
    tokenizer = train_tokenizer((document.text for document in corpus), shape.vocabulary)
    network = Network(shape)
    train(network, batches(tokenizer, corpus, arguments.batch, arguments.length), arguments.steps)
    write_gguf(network, tokenizer, arguments.output)
    size = arguments.output.stat().st_size
    print(f"{arguments.output}: {size / 1e6:.2f} MB, {sum(p.numel() for p in network.parameters()):,} parameters")


def batches(tokenizer: Tokenizer, corpus: list[Document], batch: int, length: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows of `length` + 1 ids and what each id counts in the loss. Endless.

    A row is filled with whole documents in random order; the last one is cut.
    """
    start, end = tokenizer.token_to_id(START), tokenizer.token_to_id(END)
    prompts = tokenizer.encode_batch([document.prompt for document in corpus])
    answers = tokenizer.encode_batch([document.answer for document in corpus])
    encoded = [
        (
            [start, *prompt.ids, *answer.ids, end],
            [0.0, *[PROMPT_WEIGHT] * len(prompt.ids), *[1.0] * (len(answer.ids) + 1)],
        )
        for prompt, answer in zip(prompts, answers, strict=True)
    ]
    random = Random(SEED)

    def row() -> tuple[list[int], list[float]]:
        ids: list[int] = []
        weights: list[float] = []
        while len(ids) <= length:
            more_ids, more_weights = random.choice(encoded)
            ids += more_ids
            weights += more_weights
        return ids[: length + 1], weights[: length + 1]

    while True:
        ids, weights = zip(*(row() for _ in range(batch)), strict=True)
        yield torch.tensor(ids), torch.tensor(weights)


def train(network: Network, rows: Iterator[tuple[Tensor, Tensor]], steps: int) -> None:
    """Muon for the matrices of the blocks, AdamW for the rest; warm-up and cosine decay. Prints the loss to stderr."""
    matrices = [weight for weight in network.blocks.parameters() if weight.dim() == 2]
    others = [network.embedding.weight, *(weight for weight in network.parameters() if weight.dim() == 1)]
    optimisers = (
        torch.optim.Muon(matrices, lr=MUON_RATE, weight_decay=0.0),
        torch.optim.AdamW(others, lr=ADAM_RATE, betas=(0.9, 0.98), weight_decay=0.0),
    )
    schedules = [torch.optim.lr_scheduler.LambdaLR(optimiser, _schedule(steps)) for optimiser in optimisers]
    began, mean = time.monotonic(), 0.0
    for step, (ids, weights) in zip(range(steps), rows, strict=False):
        logits = network(ids[:, :-1])
        losses = functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        counted = weights[:, 1:].flatten()
        loss = (losses * counted).sum() / counted.sum()
        network.zero_grad()
        loss.backward()
        for optimiser, schedule in zip(optimisers, schedules, strict=True):
            optimiser.step()
            schedule.step()
        mean = loss.item() if step == 0 else 0.98 * mean + 0.02 * loss.item()
        if step % 100 == 0:
            print(f"step {step} loss {mean:.3f} {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def _schedule(steps: int) -> Callable[[int], float]:
    return lambda step: min(1.0, (step + 1) / 50) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / steps)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train the demo model and write it as GGUF.")
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
