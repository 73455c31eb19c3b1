"""`cfgmask generate`: a model writes under a grammar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import cfgmask
from cfgmask.cli.arguments import FILE, json_option
from cfgmask.cli.failures import PROBLEM, ReportingCommand
from cfgmask.cli.output import print_diagnostics, print_json, stream_text
from cfgmask.cli.verdict import Verdict, judge
from cfgmask.demo import model_path

_EXAMPLES = """\b
Examples:
  cfgmask generate grammars/tool_call.lark --prompt $'User: what is the weather in Paris?\\nCall: '
  cfgmask generate grammars/tool_call.lark --unconstrained --prompt $'User: tell Anna that dinner is ready\\nCall: '
  cfgmask generate schema.json --model model.gguf --temperature 0.8 --seed 7 --prompt 'A person as JSON: '"""


@dataclass(frozen=True)
class _Settings:
    prompt: str
    max_tokens: int
    temperature: float
    seed: int


@click.command(cls=ReportingCommand, short_help="Let a model write under a grammar.", epilog=_EXAMPLES)
@click.argument("file", type=FILE)
@click.option("--prompt", required=True, metavar="TEXT", help="What the model goes on from, as it is.")
@click.option("--model", type=FILE, help="A GGUF model.  [default: the demo model]")
@click.option(
    "--context", type=click.IntRange(min=1), default=2048, show_default=True, help="Context length, in tokens."
)
@click.option(
    "--max-tokens", type=click.IntRange(min=1), default=256, show_default=True, help="Stop after so many tokens."
)
@click.option(
    "--temperature", type=click.FloatRange(min=0), default=0.0, show_default=True, help="0: always the likeliest token."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For temperatures above 0.")
@click.option("--unconstrained", is_flag=True, help="First show what the model writes without the grammar.")
@json_option("the text and how it ended")
@click.pass_context
def generate(
    ctx: click.Context,
    file: Path,
    prompt: str,
    model: Path | None,
    context: int,
    max_tokens: int,
    temperature: float,
    seed: int,
    unconstrained: bool,
    as_json: bool,
) -> None:
    """Let a model write a text of the grammar in FILE, after a prompt.

    The text goes to stdout as it is written, problems go to stderr.

    Exit code 1 if the text was not complete when --max-tokens or the context ended.
    """
    grammar = cfgmask.Grammar.from_file(file)
    llm = _load(model or model_path(), context)
    compiled = cfgmask.compile(grammar, cfgmask.Vocabulary.from_llama(llm))
    settings = _Settings(prompt, max_tokens, temperature, seed)
    show = _ignore if as_json else stream_text
    free = _run("unconstrained", _free_text(llm, settings), show) if unconstrained else None
    text = _run("constrained" if unconstrained else None, _constrained_text(llm, compiled, settings), show)
    verdict = judge(compiled, "generated text", text.encode())
    if as_json:
        print_json(_to_json(verdict, text, free))
    elif verdict.outcome != "accepted":
        print_diagnostics([d for d in [verdict.diagnostic()] if d], sys.stderr)
    ctx.exit(0 if verdict.outcome == "accepted" else PROBLEM)


def _load(path: Path, context: int) -> Any:
    try:
        import llama_cpp
    except ImportError as error:
        raise click.UsageError("generating needs llama-cpp-python: pip install 'cfgmask[llama]'") from error
    try:
        return llama_cpp.Llama(str(path), n_ctx=context, verbose=False)
    except ValueError as error:
        raise click.UsageError(f"{path}: not a model that llama.cpp can load") from error


def _free_text(llm: Any, settings: _Settings) -> Iterator[str]:
    for event in llm.create_completion(
        settings.prompt,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
        stream=True,
    ):
        yield event["choices"][0]["text"]


def _constrained_text(llm: Any, compiled: cfgmask.CompiledGrammar, settings: _Settings) -> Iterator[str]:
    # Here, since the module imports llama_cpp, which the other commands do without.
    from cfgmask.integrations import llama_cpp

    return llama_cpp.generate(
        llm,
        settings.prompt,
        compiled,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
        stream=True,
    )


def _run(heading: str | None, pieces: Iterator[str], show: Callable[[str], None]) -> str:
    """Show the pieces as they come and return them joined. With several texts, each has its heading."""
    if heading:
        show(f"--- {heading} ---\n")
    text = ""
    for piece in pieces:
        show(piece)
        text += piece
    show("\n")
    return text


def _ignore(_: str) -> None:
    pass


def _to_json(verdict: Verdict, text: str, free: str | None) -> dict[str, Any]:
    out: dict[str, Any] = {"ok": verdict.outcome == "accepted", "text": text, "verdict": verdict.to_json()}
    if free is not None:
        out["unconstrained"] = free
    return out
