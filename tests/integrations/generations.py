"""Generations by models of random weights, each checked by the oracle.

    python -m tests.integrations.generations -n 1000

A finished text must be in the grammar's language, one that was cut off a prefix of some text of it; with a budget none
is cut off. The models have the real vocabularies of Llama 3 and Gemma 4 where the reference data lies beside the
repository.
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
from typing import Any

import llama_cpp

import cfgmask
from cfgmask.grammar.ir import TokenSet
from cfgmask.grammar.walk import walk
from cfgmask.integrations.llama_cpp import LogitsProcessor, LogitsProcessorList, StoppingCriterion, generate
from tests.integrations.random_llama import random_llama, tokenizer_of
from tests.oracle import Oracle
from tests.tokenizers.real import FOLDER

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ("Hello", "A text:\n", '{"a": ', "", "日本語 ", "SELECT 1;\n\n")
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "born": {"type": "string", "format": "date"},
        "scores": {"type": "array", "items": {"type": "integer", "minimum": -5, "maximum": 120}, "maxItems": 6},
        "kind": {"enum": ["a", "b", None, 1.5]},
    },
    "required": ["name", "scores"],
    "additionalProperties": False,
}


def is_special(grammar: cfgmask.Grammar) -> bool:
    """Whether the grammar needs certain tokens, or has parameters, which have an oracle of their own."""
    expressions = [expr for rule in grammar.ir.rules for expr in walk(rule.body)]
    names_tokens = any(isinstance(expr, TokenSet) and expr.names for expr in expressions)
    return names_tokens or any(rule.parametric for rule in grammar.ir.rules)


def grammars() -> dict[str, cfgmask.Grammar]:
    """The grammars of the repository that any vocabulary and the oracle can take, and a few of other kinds."""
    shipped = {path.stem: cfgmask.Grammar.from_file(path) for path in sorted((ROOT / "grammars").glob("*.lark"))}
    found = {name: grammar for name, grammar in shipped.items() if not is_special(grammar)}
    return found | {
        "regex": cfgmask.Grammar.from_regex(r"(\d{4}-\d{2}-\d{2}(, )?){1,4}|[a-zé😀]{3,30}|-{40,90}"),
        "schema": cfgmask.Grammar.from_json_schema(PERSON),
        "left recursion": cfgmask.Grammar.from_lark('start: start "+" start | "(" start ")" | /[a-z]{1,8}/'),
        "text": cfgmask.Grammar.from_lark('start: /[^"\\n]{0,80}/ "\\n" /[\\p{L} ]{1,40}/ "."'),
    }


@dataclass(frozen=True)
class Sample:
    """What a model wrote, and whether the text should be whole."""

    text: bytes
    finished: bool


def sample(llm: Any, compiled: cfgmask.CompiledGrammar, vocabulary: cfgmask.Vocabulary, rng: random.Random) -> Sample:
    """One generation, by one of the ways that there are."""
    max_tokens = rng.choice([8, 30, 60])
    options = {"temperature": rng.choice([0.5, 1.0, 2.0])}
    options |= {"seed": rng.randrange(2**31), "top_k": rng.choice([0, 40]), "repeat_penalty": rng.choice([1.0, 1.3])}
    # Noise seldom ends by itself.
    bias = dict.fromkeys(vocabulary.eos_token_ids, rng.choice([0.0, 4.0, 12.0]))
    prompt = llm.tokenize(rng.choice(PROMPTS).encode()) or [1]
    if rng.random() < 0.5:
        within = max(max_tokens, len(compiled.matcher().completion() or []))
        return _in_one_call(llm, compiled, vocabulary, prompt, bias, options | {"max_tokens": within})
    return _through_the_hook(llm, compiled, prompt, bias, options | {"max_tokens": max_tokens})


def _in_one_call(
    llm: Any, compiled: Any, vocabulary: cfgmask.Vocabulary, prompt: list[int], bias: dict[int, float], options: Any
) -> Sample:
    def favour_ends(input_ids: Any, scores: Any) -> Any:
        scores[list(bias)] += list(bias.values())
        return scores

    text = generate(llm, prompt, compiled, logits_processor=[favour_ends], **options)
    return Sample(text.encode(), True)


def _through_the_hook(llm: Any, compiled: Any, prompt: list[int], bias: dict[int, float], options: Any) -> Sample:
    processor = LogitsProcessor(compiled)
    chunks = llm.create_completion(
        prompt,
        stream=True,
        logits_processor=LogitsProcessorList([processor]),
        stopping_criteria=llama_cpp.StoppingCriteriaList([StoppingCriterion(processor)]),
        logit_bias=bias,
        **options,
    )
    choices = [chunk["choices"][0] for chunk in chunks]
    return Sample("".join(c["text"] for c in choices).encode(), choices[-1]["finish_reason"] == "stop")


def is_right(oracle: Oracle, written: Sample) -> bool:
    """Whether the text is what it should be."""
    return oracle.accepts(written.text) if written.finished else oracle.is_prefix(written.text)


def run(model: Path, n: int, seed: int, report: Callable[[str], None]) -> list[tuple[str, Sample]]:
    """Generate `n` texts with a model, taking the grammars in turn; the wrong ones, with the grammar of each."""
    llm = llama_cpp.Llama(str(model), n_ctx=256, n_threads=1, verbose=False)
    vocabulary = cfgmask.Vocabulary.from_llama(llm)
    sources = grammars()
    compiled = {name: cfgmask.compile(grammar, vocabulary) for name, grammar in sources.items()}
    oracles = {name: Oracle(grammar.ir, []) for name, grammar in sources.items()}
    rng = random.Random(seed)
    finished: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    wrong = []
    for index in range(n):
        name = list(sources)[index % len(sources)]
        started = time.perf_counter()
        written = sample(llm, compiled[name], vocabulary, rng)
        seconds[name] += time.perf_counter() - started
        finished[name] += written.finished
        if not is_right(oracles[name], written):
            wrong.append((name, written))
            report(f"WRONG {name}: {written}")
    for number, name in enumerate(sources):
        total = len(range(number, n, len(sources)))
        report(f"  {name:16} {total:5} texts, {finished[name]:5} finished, {seconds[name]:6.1f} s")
    llm.close()
    return wrong


def models(names: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """A model for each vocabulary whose file is there."""
    for name in names:
        path = FOLDER / f"ggml-vocab-{name}.gguf"
        if path.exists():
            yield name, random_llama(folder / f"{name}.gguf", tokenizer_of(path))
        else:
            print(f"{name}: {path.name} is missing")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("-n", type=int, default=100, help="texts for each vocabulary")
    parser.add_argument("--vocabulary", nargs="+", default=["llama-bpe", "gemma-4"], help="names in the reference data")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models(arguments.vocabulary, Path(folder)):
            print(name)
            wrong += len(run(model, arguments.n, arguments.seed, print))
    print("every text is right" if not wrong else f"{wrong} texts are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
