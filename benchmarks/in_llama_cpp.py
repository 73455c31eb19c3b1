"""What masks cost within llama.cpp, for each token: llama.cpp's callback into Python with a hook in it against one that
does nothing, and whole generations against no constraint and against llama.cpp's own grammars. Prints a Markdown table.

The model is to be small, so that what is not the model can be seen; one of random weights does:

    python -m tests.integrations.random_llama model.gguf ggml-vocab-llama-bpe.gguf
    python benchmarks/in_llama_cpp.py --model model.gguf
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import click
import llama_cpp

import cfgmask
import cfgmask.demo
import measure
import report
import runner
from cfgmask.integrations.llama_cpp import LogitsProcessor, LogitsProcessorList, generate

PROMPT = "A list of people as JSON: "
CONTEXT = 512
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "town": {"type": "string"}},
        "required": ["name", "age", "town"],
        "additionalProperties": False,
    },
}


class TimedCallbacks:
    """How long llama-cpp-python's callbacks took, by who writes. The hooks cannot tell that they are timed."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._times: list[int] = []

    def __enter__(self) -> TimedCallbacks:
        self._function_type = llama_cpp.llama_cpp.llama_sampler_i_apply
        llama_cpp.llama_cpp.llama_sampler_i_apply = lambda apply: self._function_type(self._timed(apply))
        return self

    def __exit__(self, *_: object) -> None:
        llama_cpp.llama_cpp.llama_sampler_i_apply = self._function_type

    def _timed(self, apply: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        def call(sampler: Any, candidates: Any) -> None:
            begin = self._clock()
            apply(sampler, candidates)
            self._times.append(self._clock() - begin)

        return call

    def take(self) -> list[int]:
        """The times since the last call."""
        times, self._times = self._times, []
        return times


def does_nothing(input_ids: Any, scores: Any) -> Any:
    return scores


class Ways:
    """The ways to write a text, each an iterator of tokens or of pieces."""

    def __init__(self, llm: Any, n_tokens: int) -> None:
        self._llm = llm
        self._n_tokens = n_tokens
        self._ids = llm.tokenize(PROMPT.encode())
        grammar = cfgmask.Grammar.from_json_schema(SCHEMA)
        self._compiled = cfgmask.compile(grammar, cfgmask.Vocabulary.from_llama(llm))
        self._theirs = llama_cpp.LlamaGrammar.from_json_schema(json.dumps(SCHEMA), verbose=False)
        self._hooks = {
            "a hook that does nothing": does_nothing,
            "cfgmask's hook": LogitsProcessor(self._compiled),
            "cfgmask's hook with max_tokens": LogitsProcessor(self._compiled, max_tokens=CONTEXT),
        }

    def names(self) -> list[str]:
        return ["no constraint", *self._hooks, "cfgmask's generate", "llama.cpp's grammar"]

    def write(self, name: str, seed: int) -> Iterator[Any]:
        self._llm.set_seed(seed)
        if name == "cfgmask's generate":
            return islice(generate(self._llm, self._ids, self._compiled, stream=True), self._n_tokens)
        options: dict[str, Any] = {}
        if name in self._hooks:
            options["logits_processor"] = LogitsProcessorList([self._hooks[name]])
        elif name == "llama.cpp's grammar":
            options["grammar"] = self._theirs
        return self._until_the_end(self._llm.generate(self._ids, temp=0.8, **options))

    def _until_the_end(self, tokens: Iterator[int]) -> Iterator[int]:
        model = llama_cpp.llama_model_get_vocab(self._llm.model)
        for token in islice(tokens, self._n_tokens):
            if llama_cpp.llama_vocab_is_eog(model, token):
                return
            yield token


def timed(pieces: Iterator[Any], clock: Callable[[], int]) -> list[int]:
    """How long each piece took, but for the first, which has the prompt in it."""
    times = []
    for _ in pieces:
        times.append(clock())
    return [after - before for before, after in pairwise(times)]


@click.command(help=__doc__)
@click.option(
    "--model",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=cfgmask.demo.model_path,
    help="A GGUF model; by default the one that ships with cfgmask.",
)
@click.option("--texts", default=8, show_default=True, help="How many each way writes, in turns.")
@click.option("--tokens", "n_tokens", default=400, show_default=True, help="Of one text, at most.")
@runner.clock_option
def main(model: Path, texts: int, n_tokens: int, clock: str) -> None:
    llm = llama_cpp.Llama(str(model), n_ctx=CONTEXT, n_threads=1, verbose=False)
    now = measure.CLOCKS[clock]
    ways = Ways(llm, n_tokens)
    tokens: dict[str, list[int]] = {name: [] for name in ways.names()}
    callbacks: dict[str, list[int]] = {name: [] for name in tokens}
    with TimedCallbacks(now) as timer:
        for seed in range(texts + 1):
            for name in tokens:
                found, in_callback = timed(ways.write(name, seed), now), timer.take()
                if seed:  # the first text of each is not counted
                    tokens[name] += found
                    callbacks[name] += in_callback
    rows = [
        [name, f"{len(times):,}", *_figures(times, "p50", "avg"), *_figures(callbacks[name], "p50", "avg", "p99")]
        for name, times in tokens.items()
    ]
    titles = ["", "tokens", "a token (µs) p50", "avg", "in the callback (µs) p50", "avg", "p99"]
    click.echo(f"{model.name}, {llm.n_vocab():,} tokens in its vocabulary\n")
    click.echo(report.numbers_table(titles, rows))


def _figures(nanoseconds: list[int], *names: str) -> list[str]:
    if not nanoseconds:
        return [""] * len(names)
    found = report.figures(nanoseconds)
    return [report.number(found[name]) for name in names]


if __name__ == "__main__":
    main()
