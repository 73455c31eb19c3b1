"""What masks cost within llama.cpp, and what forced text saves there. Each command prints a Markdown table.

The model is to be small, so that what is not the model can be seen; one of random weights does:

    python -m tests.integrations.random_llama model.gguf ggml-vocab-llama-bpe.gguf
    python benchmarks/in_llama_cpp.py hook --model model.gguf
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import chain, islice
from pathlib import Path
from statistics import median
from typing import Any

import click
import llama_cpp

import cfgmask
import cfgmask.demo
from cfgmask.integrations.llama_cpp import LogitsProcessor, LogitsProcessorList, generate
from library import command_line, measure, report, vocabularies
from library.cases import Case, read_schemas, sample
from library.vocabularies import BenchVocabulary

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
WHITESPACE = ("bounded", "compact")

model_option = click.option(
    "--model",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=cfgmask.demo.model_path,
    help="A GGUF model; by default the one that ships with cfgmask.",
)


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@model_option
@click.option("--turns", "n_turns", default=1000, show_default=True, help="How many tokens each way writes.")
@click.option("--tokens", "n_tokens", default=400, show_default=True, help="Of one text, at most.")
@click.option("--way", "names", multiple=True, help="The beginning of a way's name; may be repeated; by default all.")
@command_line.clock_option
def hook(model: Path, n_turns: int, n_tokens: int, names: tuple[str, ...], clock: str) -> None:
    """The cost of a mask for each token: by a hook in its callback, by `generate`, and by llama.cpp's own grammars.

    The ways write in turns, token by token and in random order, each with a model of its own over the same weights.
    So a busy machine slows all of them alike. The table compares each token with that of a hook that does nothing, in
    the same turn. The median of these differences, with its 95% interval, says more than the difference of two medians.
    """
    ways = Ways(model, n_tokens)
    wanted = [name for name in ways.names() if name == NOTHING or not names or name.startswith(names)]
    with TimedCallbacks(measure.CLOCKS[clock]) as timer:
        writers = {name: ways.writer(name) for name in wanted}
        found = list(turns(writers, n_turns, timer, measure.CLOCKS[clock]))
    rows = []
    for name in wanted:
        tokens, callbacks = ([getattr(turn[name], of) for turn in found] for of in ("token", "callback"))
        more = median_and_interval([turn[name].token - turn[NOTHING].token for turn in found])
        callbacks = [taken for taken in callbacks if taken is not None]
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


@main.command()
@command_line.data_option
@model_option
@click.option("--max-tokens", type=click.IntRange(min=1), default=120, show_default=True)
@click.option("--whitespace", type=click.Choice(WHITESPACE), default="compact", show_default=True)
@command_line.limit_option
def jump(data: Path, model: Path, max_tokens: int, whitespace: str, limit: int | None) -> None:
    """Bytes of text a second that a model writes greedily, by each way to write."""
    # By default llama.cpp takes other numbers of threads for several tokens at once than for one.
    llm = llama_cpp.Llama(str(model), n_ctx=512, n_threads=1, n_threads_batch=1, verbose=False)
    vocabulary = cfgmask.Vocabulary.from_llama(llm)
    grammars = list(_compiled(sample(read_schemas(data), limit), vocabulary, whitespace, max_tokens))
    ways: dict[str, dict[str, bool]] = {
        "plain": {},
        "jump_forward": {"jump_forward": True},
        "canonical": {"canonical": True},
        "canonical, jump_forward": {"canonical": True, "jump_forward": True},
    }
    titles = ["", "bytes", "tokens", "forced", "taken back", "bytes a second", "ms evaluating", "ms for the rest"]
    rows = []
    for name, options in ways.items():
        _write(llm, grammars, max_tokens, options)  # what is learnt once is not measured
        rows.append([name, *_write(llm, grammars, max_tokens, options)])
    click.echo(f"{model.name}, {vocabulary.n_vocab:,} tokens, {len(grammars)} texts.\n")
    click.echo(report.numbers_table(titles, rows))


def _compiled(
    cases: list[Case], vocabulary: cfgmask.Vocabulary, whitespace: str, max_tokens: int
) -> Iterator[cfgmask.CompiledGrammar]:
    for case in cases:
        try:
            grammar = cfgmask.Grammar.from_json_schema(case.source, whitespace=whitespace)
            compiled = cfgmask.compile(grammar, vocabulary)
            compiled.matcher(max_tokens=max_tokens)
        except (cfgmask.GrammarError, cfgmask.LimitExceeded, cfgmask.BudgetTooSmall):
            continue
        yield compiled


def _write(
    llm: Any, grammars: Iterable[cfgmask.CompiledGrammar], max_tokens: int, options: dict[str, bool]
) -> list[str]:
    evaluate, evaluating = type(llm).eval, 0.0

    def timed(tokens: list[int]) -> None:
        nonlocal evaluating
        started = time.thread_time()
        evaluate(llm, tokens)
        evaluating += time.thread_time() - started

    llm.eval = timed
    started = time.thread_time()
    texts: list[Any] = [
        generate(llm, "JSON: ", compiled, max_tokens=max_tokens, temperature=0.0, **options) for compiled in grammars
    ]
    seconds = time.thread_time() - started
    del llm.eval
    size = sum(len(text.encode()) for text in texts)
    tokens, forced = sum(len(text.token_ids) for text in texts), sum(text.n_forced for text in texts)
    taken_back = sum(text.n_taken_back for text in texts)
    rest = (seconds - evaluating) * 1e3
    figures = (size, tokens, forced, taken_back, size / seconds, evaluating * 1e3, rest)
    return [f"{figure:,.0f}" for figure in figures]


@main.command()
@command_line.data_option
@command_line.vocab_option
@command_line.limit_option
def share(data: Path, vocab: Path, limit: int | None) -> None:
    """The share of valid texts that is forced, written as the tokenizer writes them.

    jump() writes the text so far anew in the tokenizer's own tokens; it is asked after forced_tokens(), which has found
    what is forced.
    """
    vocabulary = vocabularies.load(vocab)
    cases = sample(read_schemas(data), limit)
    rows = []
    for whitespace in WHITESPACE:
        total = Share()
        for found in _shares(cases, vocabulary, whitespace):
            total.add(found)
        rows.append(_share_row(whitespace, total))
    titles = ["whitespace", "texts", "tokens", "forced tokens", "forced bytes", "µs, forced_tokens()", "µs, jump()"]
    click.echo(f"Vocabulary: {vocabulary.name}, {vocabulary.vocabulary.n_vocab:,} tokens.\n")
    click.echo(report.numbers_table(titles, rows))


def _share_row(whitespace: str, total: Share) -> list[str]:
    tokens = f"{total.forced_tokens / max(total.tokens, 1):.1%}"
    data = f"{total.forced_bytes / max(total.bytes, 1):.1%}"
    costs = [f"{each / max(total.asked, 1) * 1e6:.1f}" for each in (total.forced_seconds, total.jump_seconds)]
    return [whitespace, f"{total.texts:,}", f"{total.tokens:,}", tokens, data, *costs]


def _shares(cases: list[Case], vocabulary: BenchVocabulary, whitespace: str) -> Iterator[Share]:
    with command_line.progress() as bar:
        for case in bar.track(cases, description=whitespace):
            try:
                grammar = cfgmask.Grammar.from_json_schema(case.source, whitespace=whitespace)
                compiled = cfgmask.compile(grammar, vocabulary.vocabulary)
            except (cfgmask.GrammarError, cfgmask.LimitExceeded):
                continue
            for instance in case.instances:
                found = share_of(compiled, vocabulary, instance.text) if instance.valid else None
                if found is not None:
                    yield found


@dataclass
class Share:
    """Of texts: their bytes and tokens, and how many of these are forced."""

    texts: int = 0
    bytes: int = 0
    forced_bytes: int = 0
    tokens: int = 0
    forced_tokens: int = 0
    asked: int = 0
    forced_seconds: float = 0.0
    jump_seconds: float = 0.0

    def add(self, other: Share) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def share_of(compiled: cfgmask.CompiledGrammar, vocabulary: BenchVocabulary, text: str) -> Share | None:
    """The forced part of a text, asked for at each token that is not forced. None if the grammar rejects the text."""
    matcher, tokens = compiled.matcher(), vocabulary.encode(text)
    if matcher.try_advance(tokens, consume=False) != len(tokens):
        return None
    share = Share(texts=1, bytes=len(text.encode()), tokens=len(tokens), forced_bytes=_forced_bytes(compiled, text))
    index = 0
    while index < len(tokens):
        started = time.thread_time()
        forced = matcher.forced_tokens()
        asked = time.thread_time()
        matcher.jump()
        share.forced_seconds += asked - started
        share.jump_seconds += time.thread_time() - asked
        share.asked += 1
        share.forced_tokens += len(forced)
        matcher.try_advance(forced or tokens[index : index + 1])
        index += max(1, len(forced))
    return share


def _forced_bytes(compiled: cfgmask.CompiledGrammar, text: str) -> int:
    matcher, data, index, count = compiled.matcher(), text.encode(), 0, 0
    while index < len(data):
        forced = matcher.forced_bytes()
        step = forced or data[index : index + 1]
        matcher.advance_bytes(step)
        count += len(forced)
        index += len(step)
    return count


if __name__ == "__main__":
    main()
