"""How times grow: with the vocabulary, the grammar and the text, each installed engine beside cfgmask; and with texts
of one grammar, the number of schemas, threads and kinds of logits, one engine alone. Each prints a Markdown table.

Example: python benchmarks/scaling.py text --vocab tokenizer.model --bytes 1000 --bytes 1000000
"""

from __future__ import annotations

import gc
import importlib.util
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

import click
import numpy as np

import cfgmask
from library import command_line, growing_cases, large_schemas, measure, peers, random_cases, report, vocabularies
from library.cases import SCHEMAS, Case, read_schemas, sample
from library.memory import resident_kilobytes
from library.vocabularies import BenchVocabulary


@click.group(help=__doc__)
def main() -> None:
    pass


def _sizes(name: str, *default: int) -> Callable[[command_line.Command], command_line.Command]:
    help = "May be repeated."
    return click.option(
        name, "sizes", type=click.IntRange(min=1), multiple=True, default=default, show_default=True, help=help
    )


@main.command()
@_sizes("--size", 32_768, 131_072, 262_144)
@click.option(
    "--vocab",
    "vocabs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="A vocabulary to measure instead of synthetic ones of each --size; may be repeated.",
)
@command_line.limit_option
@command_line.engine_option
@command_line.clock_option
def vocabulary(
    sizes: tuple[int, ...], vocabs: tuple[Path, ...], limit: int | None, engine_names: tuple[str, ...], clock: str
) -> None:
    """A few schemas of everyday use, by the size of the vocabulary."""
    rows = []
    made = map(vocabularies.load, vocabs) if vocabs else map(vocabularies.synthetic, sizes)
    cases = read_schemas(SCHEMAS)[:limit]
    for each in made:
        begin = perf_counter_ns()
        _ = each.vocabulary.core
        built = report.number((perf_counter_ns() - begin) / 1e6)
        cells = _compared(each, cases, engine_names, clock)
        rows += [[each.name, f"{each.vocabulary.n_vocab:,}", built, *row] for row in cells]
    click.echo(report.numbers_table(["vocabulary", "tokens", "cfgmask's build (ms)", *_FIGURES], rows))


@main.command()
@click.option("--rules", "kind", flag_value="rules", help="Grow the rules of a Lark grammar.")
@click.option("--properties", "kind", flag_value="properties", default=True, help="Grow the properties of a schema.")
@click.option("--optional", "kind", flag_value="optional", help="Properties that need not be there.")
@click.option("--objects", "kind", flag_value="objects", help="Alternatives of a schema.")
@_sizes("--size", 10, 100, 1_000)
@command_line.vocab_option
@command_line.engine_option
@command_line.clock_option
def grammar(kind: str, sizes: tuple[int, ...], vocab: Path, engine_names: tuple[str, ...], clock: str) -> None:
    """A grammar of that many properties or rules, with a text that uses each once."""
    _by_case([getattr(growing_cases, kind)(size) for size in sizes], vocab, engine_names, clock)


@main.command()
@_sizes("--bytes", 1_000_000)
@click.option("--shape", default="", help="Those whose name has this in it.")
@click.option("--repeat", default=6, show_default=True, help="Of so many, each with other names, the least is told.")
@command_line.vocab_option
@command_line.clock_option
def schema(sizes: tuple[int, ...], shape: str, repeat: int, vocab: Path, clock: str) -> None:
    """Large schemas of many shapes, by cfgmask alone: what reading takes, and what a first mask takes beyond that."""
    vocabulary = vocabularies.load(vocab).vocabulary
    _first_mask("{}", vocabulary, perf_counter_ns)  # what is made once for a vocabulary
    rows = []
    for size in sizes:
        for name in large_schemas.SHAPES:
            if shape not in name:
                continue
            texts = [large_schemas.of_bytes(name, size, variation) for variation in range(repeat)]
            times = [_first_mask(text, vocabulary, measure.CLOCKS[clock]) for text in texts]
            rows.append(
                [name, f"{len(texts[0]):,}", *(report.number(min(each) / 1e6) for each in zip(*times, strict=True))]
            )
    titles = ["", "bytes", "`json.loads` (ms)", "reading (ms)", "`compile` and first mask (ms)"]
    click.echo(report.numbers_table(titles, rows))


_TOKEN_NAME = re.compile(r"<[^<>\s\[][^<>\s]*>")

# What a schema stands beside in a grammar: `@` is the schema, `<t>` a special token.
BESIDE = {
    "nothing": "start: @",
    "a special token": "start: <t>? @",
    "tokens with text": "start: <[300-310]>? @",
    "a limited terminal before": 'start: t "x" @\nt[max_tokens=20]: /[a-z]*/',
    "a limited terminal behind": "start: @ t\nt[max_tokens=20]: /[a-z]*/",
    "a limited rule": 'start: (t "x")? @\nt[max_tokens=20]: "(" w ("," w)* ")"\nw: /[a-z]+/',
    "a thought with a budget": "start: (<t> t <t>)? @\nt[max_tokens=100]: /(.|\\n)*/",
    "a limit around": "start[max_tokens=10000]: @",
}


@main.command()
@click.option("--repeat", default=4, show_default=True, help="Of so many the least is taken.")
@command_line.data_option
@command_line.limit_option
@command_line.vocab_option
@command_line.clock_option
def blocks(repeat: int, data: Path, limit: int | None, vocab: Path, clock: str) -> None:
    """First masks of `%json` blocks beside other things in Lark grammars, by those of the schemas alone."""
    vocabulary = vocabularies.load(vocab).vocabulary
    token = next((name for name in vocabulary.special_tokens if _TOKEN_NAME.fullmatch(name)), "<[0]>")
    now = measure.CLOCKS[clock]
    alone: list[int] = []
    times: dict[str, list[int]] = {name: [] for name in BESIDE}
    for case in sample(read_schemas(data), limit):
        try:
            row = [
                measure.least_first_mask(partial(cfgmask.Grammar.from_lark, source), vocabulary, repeat, now)
                for source in (of.replace("<t>", token).replace("@", f"%json {case.source}") for of in BESIDE.values())
            ]
            read = partial(cfgmask.Grammar.from_json_schema, case.source)
            alone.append(measure.least_first_mask(read, vocabulary, repeat, now))
        except (cfgmask.GrammarError, cfgmask.LimitExceeded):
            continue
        for several, least in zip(times.values(), row, strict=True):
            several.append(least)
    rows = [["the schema alone", report.number(sum(alone) / 1e6), *["1"] * 3]]
    for name, several in times.items():
        ratios = sorted(one / of for one, of in zip(several, alone, strict=True))
        shown = (sum(several) / sum(alone), median(ratios), ratios[len(ratios) * 9 // 10])
        rows.append([name, report.number(sum(several) / 1e6), *map(report.number, shown)])
    click.echo(
        report.numbers_table([f"{len(alone)} schemas beside", "sum (ms)", "ratio of sums", "median ratio", "p90"], rows)
    )


def _first_mask(text: str, vocabulary: cfgmask.Vocabulary, clock: measure.Clock) -> tuple[int, int, int]:
    """Nanoseconds of each step."""
    gc.collect()
    bits = peers.row(vocabulary.n_vocab)
    times = [clock()]
    value = json.loads(text)
    times.append(clock())
    del value
    times.append(clock())
    grammar = cfgmask.Grammar.from_json_schema(text)
    times.append(clock())
    cfgmask.compile(grammar, vocabulary).matcher().fill_mask(bits)
    times.append(clock())
    return times[1] - times[0], times[3] - times[2], times[4] - times[3]


@main.command()
@_sizes("--bytes", 1_000, 10_000, 100_000, 1_000_000)
@command_line.vocab_option
@command_line.engine_option
@command_line.clock_option
def text(sizes: tuple[int, ...], vocab: Path, engine_names: tuple[str, ...], clock: str) -> None:
    """JSON under a schema and arithmetic under a Lark grammar, of that many bytes."""
    makers = (growing_cases.records, growing_cases.sums)
    _by_case([make(size) for make in makers for size in sizes], vocab, engine_names, clock)


_FIGURES = ["engine", "first mask p50 (µs)", "mask + commit avg (µs)", "p50", "p99", "max"]


def _by_case(cases: list[Case], vocab: Path, engine_names: tuple[str, ...], clock: str) -> None:
    vocabulary = vocabularies.load(vocab)
    rows = [[case.name, *row] for case in cases for row in _compared(vocabulary, [case], engine_names, clock)]
    click.echo(report.numbers_table(["", *_FIGURES], rows))


def _compared(vocabulary: BenchVocabulary, cases: list[Case], names: tuple[str, ...], clock: str) -> list[list[str]]:
    """A row of figures for each engine that takes all cases; the others say that they do not."""
    engines = peers.make(names, vocabulary)
    results = list(measure.run(engines, cases, vocabulary, measure.CLOCKS[clock]))
    return [[engine.name, *_figures([row[engine.name] for row in results])] for engine in engines]


def _figures(results: list[measure.Result]) -> list[str]:
    if not all(result.accepts_all_valid for result in results):
        return ["refused", *[""] * (len(_FIGURES) - 2)]
    first = report.figures([result.first_mask_nanoseconds for result in results])
    masks = report.figures([t for result in results for walk in result.walks if walk.valid for t in walk.nanoseconds])
    return [report.number(first["p50"]), *(report.number(masks[name]) for name in ("avg", "p50", "p99", "max"))]


@main.command()
@_sizes("--texts", 200, 1_000)
@click.option("--kind", default="", help="Those whose name has this in it.")
@command_line.vocab_option
def texts(sizes: tuple[int, ...], kind: str, vocab: Path) -> None:
    """Texts of one grammar that write values of their own, as in a server: what a mask takes, and what stays."""
    vocabulary = vocabularies.load(vocab)
    titles = ["values", "texts", "mask + commit avg (µs)", "grows by a text (KB)"]
    rows = []
    for case in filter(lambda case: kind in case.name, random_cases.SERVED):
        compiled = cfgmask.compile(
            cfgmask.Grammar.from_json_schema(case.schema, **case.options), vocabularies.anew(vocabulary).vocabulary
        )
        done, before = 0, resident_kilobytes()
        for n in sorted(sizes):
            times = [t for text in case.texts(done, n) for t in _positions(compiled.matcher(), vocabulary.encode(text))]
            grown = (resident_kilobytes() - before) / n
            rows.append([case.name, str(n), report.number(sum(times) / len(times) / 1e3), report.number(grown)])
            done = n
    click.echo(report.numbers_table(titles, rows))


def _positions(matcher: cfgmask.Matcher, tokens: list[int]) -> Iterator[int]:
    """What each mask and the token behind it took, in nanoseconds."""
    bits = peers.row(matcher.compiled.vocabulary.n_vocab)
    for token in tokens:
        start = perf_counter_ns()
        matcher.fill_mask(bits)
        matcher.advance(token)
        yield perf_counter_ns() - start


@main.command()
@click.option("--schemas", "n", type=click.IntRange(min=1), default=100_000, show_default=True)
@click.option("--samples", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--engine", "name", type=click.Choice(list(peers.ENGINES)), default="cfgmask", show_default=True)
@command_line.vocab_option
@command_line.clock_option
@command_line.json_option
def churn(n: int, samples: int, name: str, vocab: Path, clock: str, json_path: Path | None) -> None:
    """Many different schemas in one process, each let go after its text: whether memory and speed stay as they are."""
    vocabulary = vocabularies.load(vocab)
    engine = peers.ENGINES[name](vocabulary)
    taken = []
    with command_line.progress() as bar:
        task = bar.add_task(name, total=n)
        for each in churned(engine, n, samples, vocabulary, measure.CLOCKS[clock]):
            taken.append(each)
            bar.update(task, completed=each.schemas)
    click.echo(churn_table(taken))
    if json_path is not None:
        json_path.write_text(json.dumps([asdict(each) for each in taken]), encoding="utf-8")


# Schemas between two looks at what is resident, which take a while.
_BETWEEN_LOOKS = 250


@dataclass(frozen=True)
class Sample:
    """After so many schemas: the most that was resident since the sample before, and the times, in microseconds.

    What is shared by grammars grows up to a bound and is then begun anew, so what is resident goes up and down.

    refused  schemas since then that did not compile, or whose text was not accepted
    """

    schemas: int
    resident_kilobytes: float
    refused: int
    first_mask_us: dict[str, float]
    tbm_us: dict[str, float]


def churned(
    engine: peers.Engine, n: int, samples: int, vocabulary: BenchVocabulary, clock: measure.Clock
) -> Iterator[Sample]:
    """At most `samples` samples, evenly spread; the last is after all `n` schemas."""
    first, times, refused, resident = [], [], 0, 0.0
    cases = map(random_cases.variation, range(n))
    for done, row in enumerate(measure.run([engine], cases, vocabulary, clock), 1):
        result = row[engine.name]
        refused += not result.accepts_all_valid
        first.append(result.first_mask_nanoseconds)
        times += [t for walk in result.walks for t in walk.nanoseconds]
        if done % _BETWEEN_LOOKS == 0 or done == n:
            resident = max(resident, resident_kilobytes())
        if done * samples // n > (done - 1) * samples // n:
            yield Sample(done, resident, refused, report.figures(first), report.figures(times))
            first, times, refused, resident = [], [], 0, 0.0


def churn_table(samples: list[Sample]) -> str:
    masks = ["mask + commit avg (µs)", "p50", "p99"]
    titles = ["schemas", "most resident (MB)", "first mask p50 (µs)", "p99", *masks, "refused"]
    rows = []
    for each in samples:
        first = (each.first_mask_us.get(figure) for figure in ("p50", "p99"))
        times = (each.tbm_us.get(figure) for figure in ("avg", "p50", "p99"))
        resident = f"{each.resident_kilobytes / 1024:,.1f}"
        rows.append([f"{each.schemas:,}", resident, *map(report.number, (*first, *times)), str(each.refused)])
    return report.numbers_table(titles, rows)


@main.command()
@_sizes("--threads", 1, 2)
@click.option("--rows", default=64, show_default=True, help="Matchers in a batch.")
@click.option("--repeat", default=200, show_default=True, help="Batches of which the median is told.")
@command_line.vocab_option
def threads(sizes: tuple[int, ...], rows: int, repeat: int, vocab: Path) -> None:
    """`fill_masks` over matchers that stand at different places of a text: masks known, and all forgotten."""
    vocabulary = vocabularies.load(vocab)
    case = growing_cases.records(10_000)
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(case.source), vocabulary.vocabulary)
    tokens = vocabulary.encode(case.instances[0].text)
    matchers = [_after(compiled, tokens[: len(tokens) * i // rows]) for i in range(rows)]
    bits = np.zeros((rows, (vocabulary.vocabulary.n_vocab + 31) // 32), np.int32)

    def fill(n: int) -> Callable[[], object]:
        return lambda: cfgmask.fill_masks(matchers, bits, threads=n)

    titles = [f"{rows} rows, threads", "remembered (µs)", "forgotten (µs)"]
    times = [(n, microseconds(fill(n), repeat), microseconds(fill(n), repeat, compiled.clear_masks)) for n in sizes]
    click.echo(report.numbers_table(titles, [[str(n), *map(report.number, pair)] for n, *pair in times]))


@main.command()
@_sizes("--threads", 1, 2)
@click.option("--shards", default=8, show_default=True, help="Shards that the grammars are dealt to.")
@click.option("--rows", default=64, show_default=True, help="Sequences that are written side by side.")
@command_line.data_option
@command_line.vocab_option
def batches(sizes: tuple[int, ...], shards: int, rows: int, data: Path, vocab: Path) -> None:
    """`fill_masks` over sequences of a schema each, new ones joining where others end, as in a server.

    What a step takes on average with nothing known at first: with all grammars in one shard, and in several.
    """
    vocabulary = vocabularies.load(vocab)
    cases = [case for case in sample(read_schemas(data), rows * _BATCHES) if any(i.valid for i in case.instances)]
    table = []
    for n in sizes:
        cells = []
        for of in (1, shards):
            own = vocabularies.anew(vocabulary)
            steps = list(_serve(_sequences(cases, own, rows * _BATCHES // 2, of), rows, n))
            cells.append(report.number(float(np.mean(steps)) / 1e3))
        table.append([str(n), *cells])
    click.echo(report.numbers_table([f"{rows} rows, threads", "one shard (µs)", f"{shards} shards (µs)"], table))


# So many times as many sequences as rows are looked for, of which half have to be there.
_BATCHES = 6


def _sequences(
    cases: list[Case], vocabulary: BenchVocabulary, n: int, shards: int
) -> Iterator[tuple[cfgmask.Matcher, list[int]]]:
    """Matchers, and valid texts for them."""
    made = 0
    for case in cycle(cases):
        if made == n:
            return
        try:
            grammar = cfgmask.Grammar.from_json_schema(case.source)
            compiled = cfgmask.compile(grammar, vocabulary.vocabulary, shard=made % shards)
        except (cfgmask.GrammarError, cfgmask.LimitExceeded):
            continue
        made += 1
        text = next(instance.text for instance in case.instances if instance.valid)
        yield compiled.matcher(), vocabulary.encode(text)


def _serve(sequences: Iterable[tuple[cfgmask.Matcher, list[int]]], rows: int, threads: int) -> Iterator[int]:
    """Nanoseconds of each step, as long as all rows are taken."""
    waiting = deque(sequences)
    active: list[tuple[cfgmask.Matcher, Iterator[int]]] = []
    bits = np.zeros((rows, (waiting[0][0].compiled.vocabulary.n_vocab + 31) // 32), np.int32)
    while len(active) + len(waiting) >= rows:
        while len(active) < rows:
            matcher, tokens = waiting.popleft()
            active.append((matcher, iter(tokens)))
        begin = perf_counter_ns()
        cfgmask.fill_masks([matcher for matcher, _ in active], bits, threads=threads)
        yield perf_counter_ns() - begin
        active = [(matcher, tokens) for matcher, tokens in active if _goes_on(matcher, tokens)]


def _goes_on(matcher: cfgmask.Matcher, tokens: Iterator[int]) -> bool:
    token = next(tokens, None)
    if token is None:
        return False
    try:
        matcher.advance(token)
    except cfgmask.TokenRejected:  # a text whose keys stand in another order
        return False
    return True


@main.command()
@click.option("--repeat", default=2_000, show_default=True, help="Calls of which the median is told.")
@command_line.vocab_option
def apply(repeat: int, vocab: Path) -> None:
    """`apply` to logits of each dtype and layout, under a mask of few tokens and one of most."""
    vocabulary = vocabularies.load(vocab)
    sources = {"few allowed": r"(true|false)", "most allowed": r".*"}
    matchers = {
        name: cfgmask.compile(cfgmask.Grammar.from_regex(source), vocabulary.vocabulary).matcher()
        for name, source in sources.items()
    }
    rows = []
    for dtype, layout, logits in logits_of_each_kind(vocabulary.vocabulary.n_vocab):
        cells = [microseconds(lambda m=m, x=logits: m.apply(x), repeat) for m in matchers.values()]
        rows.append([f"{dtype}, {layout}", *map(report.number, cells)])
    click.echo(report.numbers_table(["logits", *(f"{name} (µs)" for name in matchers)], rows))


def logits_of_each_kind(n_vocab: int) -> Iterable[tuple[str, str, Any]]:
    """dtype, layout and zeros; bfloat16 is torch's, so it is left out where that is missing."""
    for dtype in (np.float16, np.float32, np.float64):
        name = np.dtype(dtype).name
        yield name, "dense", np.zeros(n_vocab, dtype)
        yield name, "every second", np.zeros(2 * n_vocab, dtype)[::2]
    # llama.cpp's candidates: an id, a logit and a probability each.
    records = np.zeros(n_vocab, np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)]))
    yield "float32", "records of 12 bytes", records["logit"]
    if importlib.util.find_spec("torch") is not None:
        import torch

        yield "bfloat16", "dense", torch.zeros(n_vocab, dtype=torch.bfloat16)
        yield "bfloat16", "every second", torch.zeros(2 * n_vocab, dtype=torch.bfloat16)[::2]


def microseconds(call: Callable[[], object], repeat: int, before: Callable[[], object] | None = None) -> float:
    """The median over `repeat` calls, after one that is not counted; `before` each call, and not counted either."""
    times = []
    for _ in range(repeat + 1):
        if before is not None:
            before()
        begin = perf_counter_ns()
        call()
        times.append(perf_counter_ns() - begin)
    return median(times[1:]) / 1e3


def _after(compiled: cfgmask.CompiledGrammar, tokens: list[int]) -> cfgmask.Matcher:
    matcher = compiled.matcher()
    for token in tokens:
        matcher.advance(token)
    return matcher


if __name__ == "__main__":
    main()
