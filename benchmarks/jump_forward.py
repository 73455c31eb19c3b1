"""What forced text is worth: how much of texts it is, and how fast llama.cpp writes with and without asking for it.

Times are those of the thread, so the machine may do other work too.

Example: python benchmarks/jump_forward.py share --data maskbench.jsonl.gz --vocab tokenizer.model --limit 200
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

import cfgmask
import cfgmask.demo
from library import command_line, report, vocabularies
from library.cases import Case, read_schemas, sample
from library.vocabularies import BenchVocabulary

WHITESPACE = ("bounded", "compact")


@click.group(help=__doc__)
def main() -> None:
    pass


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


def share_of(compiled: cfgmask.CompiledGrammar, vocabulary: BenchVocabulary, text: str) -> Share | None:
    """What of a text is forced, asked at each token that is not; None where the grammar refuses the text."""
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


@main.command()
@command_line.data_option
@click.option(
    "--model",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=cfgmask.demo.model_path,
    help="A GGUF model; by default the one that ships with cfgmask.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), default=120, show_default=True)
@click.option("--whitespace", type=click.Choice(WHITESPACE), default="compact", show_default=True)
@command_line.limit_option
def llama(data: Path, model: Path, max_tokens: int, whitespace: str, limit: int | None) -> None:
    """Bytes of text a second that a model writes greedily, by each way to write."""
    import llama_cpp

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
    from cfgmask.integrations.llama_cpp import generate

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
    return [
        f"{size:,}",
        f"{tokens:,}",
        f"{forced:,}",
        f"{taken_back:,}",
        f"{size / seconds:,.0f}",
        f"{evaluating * 1e3:,.0f}",
        f"{rest:,.0f}",
    ]


if __name__ == "__main__":
    main()
