"""What masks cost within llama.cpp, for each token: llama.cpp's callback into Python with a hook in it against one that
does nothing, and whole generations against no constraint and against llama.cpp's own grammars. Prints a Markdown table.

The ways write in turns, token by token and in random order, each with a model of its own over the same weights. So what
a busy machine does to one it does to all, and the median of the differences between a way's token and the hook's that
does nothing in the same turn says more than the difference of two medians; beside it stands its 95% interval.

The model is to be small, so that what is not the model can be seen; one of random weights does:

    python -m tests.integrations.random_llama model.gguf ggml-vocab-llama-bpe.gguf
    python benchmarks/in_llama_cpp.py --model model.gguf
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from statistics import median
from typing import Any

import click
import llama_cpp

import cfgmask
import cfgmask.demo
from cfgmask.integrations.llama_cpp import LogitsProcessor, LogitsProcessorList, generate
from library import command_line, measure, report

PROMPT = "A list of people as JSON: "
CONTEXT = 512
NOTHING = "a hook that does nothing"
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


class Writer:
    """A way to write, text after text, token by token."""

    def __init__(self, begin: Callable[[int], Iterator[Any]]) -> None:
        self._begin = begin
        self._texts = 0
        self._pieces: Iterator[Any] = iter(())

    def write(self) -> bool:
        """Write a token; whether it went on with a text, and was no more than one."""
        for piece in self._pieces:
            return piece is not None
        self._texts += 1
        self._pieces = self._begin(self._texts)
        next(self._pieces)
        return False


class Ways:
    """The ways to write a text, each an iterator with an item for each token, None for what were several."""

    def __init__(self, model: Path, n_tokens: int) -> None:
        self._model = model
        self._n_tokens = n_tokens
        llm = self._load()
        self.n_vocab: int = llm.n_vocab()
        self._ids = llm.tokenize(PROMPT.encode())
        grammar = cfgmask.Grammar.from_json_schema(SCHEMA)
        self._compiled = cfgmask.compile(grammar, cfgmask.Vocabulary.from_llama(llm))
        self._theirs = llama_cpp.LlamaGrammar.from_json_schema(json.dumps(SCHEMA), verbose=False)
        self._hooks = {
            NOTHING: does_nothing,
            "cfgmask's hook": LogitsProcessor(self._compiled),
            "cfgmask's hook with max_tokens": LogitsProcessor(self._compiled, max_tokens=CONTEXT),
        }

    def names(self) -> list[str]:
        return ["no constraint", *self._hooks, "cfgmask's generate", "llama.cpp's grammar"]

    def writer(self, name: str) -> Writer:
        llm = self._load()
        if name == "cfgmask's generate":
            return Writer(lambda seed: self._by_generate(llm, seed))
        options: dict[str, Any] = {}
        if name in self._hooks:
            options["logits_processor"] = LogitsProcessorList([self._hooks[name]])
        elif name == "llama.cpp's grammar":
            options["grammar"] = self._theirs
        return Writer(lambda seed: self._by_llama(llm, seed, options))

    def _load(self) -> Any:
        return llama_cpp.Llama(str(self._model), n_ctx=CONTEXT, n_batch=64, n_threads=1, verbose=False)

    def _by_generate(self, llm: Any, seed: int) -> Iterator[Any]:
        stream = generate(llm, self._ids, self._compiled, stream=True, seed=seed)
        before = 0
        for _ in stream:
            n_written = len(stream.token_ids)
            yield n_written if n_written == before + 1 else None
            if n_written >= self._n_tokens:
                return
            before = n_written

    def _by_llama(self, llm: Any, seed: int, options: dict[str, Any]) -> Iterator[Any]:
        llm.set_seed(seed)
        vocab = llama_cpp.llama_model_get_vocab(llm.model)
        for token in islice(llm.generate(self._ids, temp=0.8, **options), self._n_tokens):
            if llama_cpp.llama_vocab_is_eog(vocab, token):
                return
            yield token


@dataclass(frozen=True)
class Turn:
    """Nanoseconds that a token took, and its callback, if there is one."""

    token: int
    callback: int | None


def turns(
    writers: dict[str, Writer], n: int, timer: TimedCallbacks, clock: Callable[[], int]
) -> Iterator[dict[str, Turn]]:
    """Have all write a token, in random order, n times; those of a turn in which one began a text are left out."""
    rng = random.Random(0)
    while n:
        turn = {}
        for name in rng.sample(sorted(writers), len(writers)):
            timer.take()
            begin = clock()
            went_on = writers[name].write()
            took = clock() - begin
            if went_on:
                turn[name] = Turn(took, sum(found) if (found := timer.take()) else None)
        if len(turn) == len(writers):
            n -= 1
            yield turn


def median_and_interval(differences: list[int]) -> str:
    """The median in microseconds, and the 95% interval of it that the order of the values gives."""
    ordered = sorted(difference / 1e3 for difference in differences)
    n = len(ordered)
    reach = 0.98 * n**0.5
    low, high = ordered[max(0, int(n / 2 - reach))], ordered[min(n - 1, int(n / 2 + reach))]
    return f"{median(ordered):+.0f} ({low:+.0f} to {high:+.0f})"


@click.command(help=__doc__)
@click.option(
    "--model",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=cfgmask.demo.model_path,
    help="A GGUF model; by default the one that ships with cfgmask.",
)
@click.option("--turns", "n_turns", default=1000, show_default=True, help="How many tokens each way writes.")
@click.option("--tokens", "n_tokens", default=400, show_default=True, help="Of one text, at most.")
@click.option("--way", "names", multiple=True, help="The beginning of a way's name; may be repeated; by default all.")
@command_line.clock_option
def main(model: Path, n_turns: int, n_tokens: int, names: tuple[str, ...], clock: str) -> None:
    ways = Ways(model, n_tokens)
    wanted = [name for name in ways.names() if name == NOTHING or not names or name.startswith(names)]
    with TimedCallbacks(measure.CLOCKS[clock]) as timer:
        writers = {name: ways.writer(name) for name in wanted}
        found = list(turns(writers, n_turns, timer, measure.CLOCKS[clock]))
    rows = []
    for name in wanted:
        tokens, callbacks = ([getattr(turn[name], of) for turn in found] for of in ("token", "callback"))
        more = median_and_interval([turn[name].token - turn[NOTHING].token for turn in found])
        callbacks = [time for time in callbacks if time is not None]
        cells = (
            _figures(tokens, "p50", "avg"),
            ["" if name == NOTHING else more],
            _figures(callbacks, "p50", "avg", "p99"),
        )
        rows.append([name, *chain(*cells)])
    titles = ["", "a token (µs) p50", "avg", "more than the hook that does nothing, p50", "in the callback (µs) p50"]
    click.echo(f"{model.name}, {ways.n_vocab:,} tokens in its vocabulary; {n_turns:,} tokens each way\n")
    click.echo(report.numbers_table([*titles, "avg", "p99"], rows))


def _figures(nanoseconds: list[int], *names: str) -> list[str]:
    if not nanoseconds:
        return [""] * len(names)
    found = report.figures(nanoseconds)
    return [report.number(found[name]) for name in names]


if __name__ == "__main__":
    main()
