"""Schemas and budgets, written by models of random weights: every text complete and valid within its budget.

    python -m tests.integrations.budgets -n 500 --engine llama
    python -m tests.integrations.budgets -n 500 --engine transformers

The schemas are those of MaskBench where its data lies beside the repository, else a few from here; the vocabulary is
that of Llama 3 where it is there. A validator that knows nothing of cfgmask judges.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import cfgmask
from tests.integrations.random_llama import random_llama, tokenizer_of
from tests.json_schema.judge import is_beyond_judge, is_valid, maskbench_schemas
from tests.tokenizers.real import FOLDER
from tests.tokenizers.small import byte_level_fields

CONTEXT = 1024
PROMPT = (72, 101, 108)
# What a budget has beyond the completion's tokens.
MORE = (0, 0, 1, 2, 5, 20, 60)
STRING = {"type": "string"}
SCHEMAS: list[dict[str, Any]] = [
    {"type": "array", "items": {"type": "integer"}, "minItems": 2},
    {"type": "object", "properties": {"a": STRING, "b": {"type": "number"}}, "required": ["a", "b"]},
    {"type": "object", "additionalProperties": {"type": "array", "items": STRING}},
    {"type": "array", "items": {"enum": ["red", "green", None, 1.5]}, "uniqueItems": True, "maxItems": 4},
    {"type": "object", "properties": {"d": {"type": "string", "format": "date"}, "n": {"multipleOf": 5}}},
    {"anyOf": [{"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"}, {"type": "boolean"}]},
    {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"},
    {"type": "string", "minLength": 5, "maxLength": 40},
]


class Engine(Protocol):
    """A model that writes."""

    vocabulary: cfgmask.Vocabulary

    def write(self, compiled: cfgmask.CompiledGrammar, budget: int, rng: random.Random) -> tuple[bytes, int]:
        """A text in at most `budget` tokens, end tokens not counted, and how many it took."""


class LlamaEngine:
    """llama.cpp: in one call, and through the hook."""

    def __init__(self, model: Path, device: str = "cpu") -> None:
        import llama_cpp

        layers = 0 if device == "cpu" else -1
        self._llm = llama_cpp.Llama(str(model), n_ctx=CONTEXT, n_threads=1, n_gpu_layers=layers, verbose=False)
        self.vocabulary = cfgmask.Vocabulary.from_llama(self._llm)

    def write(self, compiled: cfgmask.CompiledGrammar, budget: int, rng: random.Random) -> tuple[bytes, int]:
        from cfgmask.integrations import llama_cpp

        options = {"seed": rng.randrange(2**31), "temperature": rng.choice([0.0, 1.0, 2.0]), "max_tokens": budget}
        stall_after = rng.choice([None, 30])
        if rng.random() < 0.5:
            text = llama_cpp.generate(self._llm, PROMPT, compiled, stall_after=stall_after, **options)
            return text.encode(), len(text.token_ids)
        processor = llama_cpp.LogitsProcessor(compiled, budget, stall_after)
        answer = self._llm.create_completion(
            list(PROMPT), logits_processor=llama_cpp.LogitsProcessorList([processor]), **options
        )
        processor.raise_error()
        return answer["choices"][0]["text"].encode(), answer["usage"]["completion_tokens"]


class TransformersEngine:
    """transformers: greedy, sampled and in beams."""

    def __init__(self, vocabulary: cfgmask.Vocabulary, device: str = "cpu") -> None:
        import torch
        import transformers

        torch.manual_seed(0)
        # A model this small is slowed down by threads, which wait for each other.
        torch.set_num_threads(1)
        self.vocabulary = vocabulary
        sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        ends = {"bos_token_id": 0, "eos_token_id": list(vocabulary.eos_token_ids), "pad_token_id": 0}
        config = transformers.LlamaConfig(vocab_size=vocabulary.n_vocab + 8, **sizes, **ends)
        self._model = transformers.LlamaForCausalLM(config).eval().to(device)
        self._prompt = torch.tensor([PROMPT], device=device)
        with torch.no_grad():
            self._model.lm_head.weight.mul_(20)

    def write(self, compiled: cfgmask.CompiledGrammar, budget: int, rng: random.Random) -> tuple[bytes, int]:
        import torch

        from cfgmask.integrations.transformers import LogitsProcessor

        torch.manual_seed(rng.randrange(2**31))
        options = rng.choice([{"do_sample": False}, {"do_sample": True}, {"do_sample": True, "temperature": 2.0}])
        options |= {"num_beams": rng.choice([1, 1, 3])}
        hook = LogitsProcessor(compiled, max_new_tokens=budget, stall_after=rng.choice([None, 30]))
        output = self._model.generate(
            self._prompt,
            attention_mask=torch.ones_like(self._prompt),
            logits_processor=[hook],
            max_new_tokens=budget,
            **options,
        )
        written = output[0, len(PROMPT) :].tolist()
        ends = [i for i, token in enumerate(written) if token in self.vocabulary.eos_token_ids]
        written = written[: ends[0]] if ends else written
        return b"".join(self.vocabulary.tokens[token] for token in written), len(written)


@dataclass(frozen=True)
class Task:
    schema: dict[str, Any]
    compiled: cfgmask.CompiledGrammar
    budget: int


def tasks(vocabulary: cfgmask.Vocabulary, schemas: list[dict[str, Any]], rng: random.Random) -> Iterator[Task]:
    """Schemas that the vocabulary can write in the context, in random order, each with a random budget."""
    while True:
        for schema in rng.sample(schemas, len(schemas)):
            try:
                compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), vocabulary)
            except cfgmask.CfgmaskError:
                continue
            needed = len(compiled.matcher().completion() or [])
            if needed <= CONTEXT // 2:
                yield Task(schema, compiled, needed + rng.choice(MORE))


def fault(task: Task, text: bytes, n_tokens: int) -> str | None:
    """What is wrong with a text; None if it is as it should be."""
    if n_tokens > task.budget:
        return f"{n_tokens} tokens"
    try:
        whole = text.decode()
        return None if is_beyond_judge(text) or is_valid(task.schema, whole) else "not valid"
    except ValueError as error:
        return f"not complete: {error}"


def run(
    engine: Engine, n: int, seed: int, schemas: list[dict[str, Any]], report: Callable[[str], None]
) -> list[tuple[Task, bytes]]:
    """Write `n` texts; the wrong ones."""
    rng, wrong, used, seconds, beyond = random.Random(seed), [], Counter[str](), 0.0, 0
    for _, task in zip(range(n), tasks(engine.vocabulary, schemas, rng), strict=False):
        started = time.perf_counter()
        try:
            text, n_tokens = engine.write(task.compiled, task.budget, rng)
        except cfgmask.LimitExceeded as error:
            wrong.append((task, b""))
            report(f"WRONG {error}, budget {task.budget}, of {task.schema}")
            continue
        finally:
            seconds += time.perf_counter() - started
        used["all of it" if n_tokens == task.budget else "less"] += 1
        used["tokens"] += n_tokens
        beyond += is_beyond_judge(text)
        found = fault(task, text, n_tokens)
        if found:
            wrong.append((task, text))
            report(f"WRONG {found}, budget {task.budget}: {text!r} of {task.schema}")
    report(
        f"{n} pairs, {len(wrong)} wrong; {used['all of it']} used all of their budget; {used['tokens']} tokens in "
        f"{seconds:.0f} s; {beyond} with what the validator reads in another way"
    )
    return wrong


def engine_of(name: str, folder: Path, device: str) -> Engine:
    path = FOLDER / "ggml-vocab-llama-bpe.gguf"
    if name == "llama":
        fields = tokenizer_of(path) if path.exists() else byte_level_fields({})
        return LlamaEngine(random_llama(folder / "model.gguf", fields), device)
    if path.exists():
        return TransformersEngine(cfgmask.Vocabulary.from_gguf(path), device)
    return TransformersEngine(byte_vocabulary(), device)


def byte_vocabulary() -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_token_id=256)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("-n", type=int, default=100, help="pairs of a schema and a budget")
    parser.add_argument("--engine", choices=["llama", "transformers"], default="llama")
    parser.add_argument("--device", default="cpu", help="where the model is: cpu, or cuda (llama.cpp built for it)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        engine = engine_of(arguments.engine, Path(folder), arguments.device)
        wrong = run(engine, arguments.n, arguments.seed, maskbench_schemas() or SCHEMAS, print)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
