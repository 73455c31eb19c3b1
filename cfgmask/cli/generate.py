"""`cfgmask generate`: a model writes under a grammar."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import cfgmask
from cfgmask.cli.arguments import FILE, GRAMMAR_FILE, json_option, start_option
from cfgmask.cli.failures import ReportingCommand
from cfgmask.cli.output import print_json, stream_text
from cfgmask.cli.schema_options import check_schema_options, schema_option
from cfgmask.cli.trace import print_trace, trace_to_json
from cfgmask.demo import CONTEXT_LENGTH, model_path
from cfgmask.errors import CfgmaskError

if TYPE_CHECKING:
    from cfgmask.integrations.llama_cpp import TextStream
    from cfgmask.integrations.token_view import TraceRecorder

_EXAMPLES = """\b
Examples:
  cfgmask generate grammars/tool_call.lark --prompt $'User: what is the weather in Paris?\\nCall: '
  cfgmask generate grammars/tool_call.lark --unconstrained --prompt $'User: tell Anna that dinner is ready\\nCall: '
  cfgmask generate schema.json --model model.gguf --temperature 0.8 --seed 7 --prompt 'A person as JSON: '"""


_CONTEXT = 2048
# More wraps around in llama.cpp or fills the memory before anything is said.
_LARGEST_CONTEXT = 1 << 24
_HOTTEST = 1000.0
# One more is llama.cpp's way to say: any.
_LARGEST_SEED = 2**32 - 2
_CONTEXT_STEP = 256


@dataclass(frozen=True)
class _Settings:
    prompt: str
    max_tokens: int
    temperature: float
    seed: int


def _number(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuses NaN, which lies in every range."""
    if math.isnan(value):
        raise click.BadParameter("nan is not a number", context, parameter)
    return value


@click.command(cls=ReportingCommand, short_help="Let a model write under a grammar.", epilog=_EXAMPLES)
@click.argument("file", type=GRAMMAR_FILE)
@start_option
@schema_option
@click.option("--prompt", required=True, metavar="TEXT", help="What the model goes on from, as it is.")
@click.option("--model", type=FILE, help="A GGUF model.  [default: the demo model]")
@click.option(
    "--context",
    type=click.IntRange(min=1, max=_LARGEST_CONTEXT),
    help=f"Context length, in tokens.  [default: {_CONTEXT}, demo model: {CONTEXT_LENGTH}]",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="Complete the text within so many tokens.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0, max=_HOTTEST),
    callback=_number,
    default=0.0,
    show_default=True,
    help="0: always the likeliest token.",
)
@click.option(
    "--seed", type=click.IntRange(0, _LARGEST_SEED), default=0, show_default=True, help="For temperatures above 0."
)
@click.option("--unconstrained", is_flag=True, help="First show what the model writes without the grammar.")
@click.option(
    "--trace", is_flag=True, help="Then show each token, its state, and what the mask did to the model's wish."
)
@json_option("the text and how it ended")
def generate(
    file: Path,
    start: str | None,
    options: dict[str, Any],
    prompt: str,
    model: Path | None,
    context: int | None,
    max_tokens: int,
    temperature: float,
    seed: int,
    unconstrained: bool,
    trace: bool,
    as_json: bool,
) -> None:
    """Let a model write a text of the grammar in FILE, after a prompt.

    The text goes to stdout as it is written, problems go to stderr.

    The text is complete when --max-tokens or the context end; exit code 1 if no text of the grammar fits them.
    """
    check_schema_options(file, options)
    grammar = cfgmask.Grammar.from_file(file, start=start, **options)
    llm = _load(model, context)
    settings = _Settings(prompt, max_tokens, temperature, seed)
    show = _discard if as_json else stream_text
    vocabulary = cfgmask.Vocabulary.from_llama(llm) if trace else None
    recorders = _recorders(cfgmask.compile(grammar, vocabulary)) if vocabulary else {}
    try:
        free = None
        if unconstrained:
            free = _write("unconstrained", _free_text(llm, settings, recorders.get("unconstrained")), show)
        stream = _constrained_text(llm, grammar, settings, recorders.get("constrained"))
        _write("constrained" if unconstrained else None, stream, show)
    except CfgmaskError:
        raise
    except ValueError as error:
        # What llama-cpp-python says to a prompt that is longer than the context, say.
        raise click.UsageError(str(error)) from error
    answer = _to_json(stream, free)
    if vocabulary:
        recorders["constrained"].finish(stream.token_ids)
        traces = {name: recorder.trace for name, recorder in recorders.items() if recorder.trace.steps}
        answer["trace"] = {name: trace_to_json(found, vocabulary) for name, found in traces.items()}
        if not as_json:
            for name, found in traces.items():
                print_trace(name, found, vocabulary)
    if as_json:
        print_json(answer)


def _load(path: Path | None, context: int | None) -> Any:
    try:
        import llama_cpp
    except ImportError as error:
        raise click.UsageError("generating needs llama-cpp-python: pip install 'cfgmask[llama]'") from error
    wanted = context or (_CONTEXT if path else CONTEXT_LENGTH)
    # llama.cpp rounds up and llama-cpp-python's buffers do not: texts between the two lengths would fail.
    rounded = -(-wanted // _CONTEXT_STEP) * _CONTEXT_STEP
    try:
        return llama_cpp.Llama(str(path or model_path()), n_ctx=rounded, verbose=False)
    except ValueError as error:
        raise click.UsageError(f"{path}: not a model that llama.cpp can load") from error


def _recorders(compiled: cfgmask.CompiledGrammar) -> dict[str, TraceRecorder]:
    from cfgmask.integrations.token_view import TraceRecorder

    return {name: TraceRecorder(compiled) for name in ("unconstrained", "constrained")}


def _free_text(llm: Any, settings: _Settings, recorder: TraceRecorder | None) -> Iterator[str]:
    import llama_cpp

    events = llm.create_completion(
        settings.prompt,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
        stream=True,
        logits_processor=None if recorder is None else llama_cpp.LogitsProcessorList([recorder]),
    )
    for event in events:
        yield event["choices"][0]["text"]


def _constrained_text(
    llm: Any, grammar: cfgmask.Grammar, settings: _Settings, recorder: TraceRecorder | None
) -> TextStream:
    # Here, since the module imports llama_cpp, which the other commands do without.
    from cfgmask.integrations import llama_cpp

    return llama_cpp.generate(
        llm,
        settings.prompt,
        grammar,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
        stream=True,
        logits_processor=[] if recorder is None else [recorder],
    )


def _write(heading: str | None, pieces: Iterable[str], show: Callable[[str], None]) -> str:
    """Show the pieces as they come and return them joined. With several texts, each has its heading."""
    if heading:
        show(f"--- {heading} ---\n")
    text = ""
    for piece in pieces:
        show(piece)
        text += piece
    show("\n")
    return text


def _discard(_: str) -> None:
    pass


def _to_json(stream: TextStream, free: str | None) -> dict[str, Any]:
    out: dict[str, Any] = {
        "ok": True,
        "text": stream.text,
        "finish_reason": stream.finish_reason,
        "n_tokens": len(stream.token_ids),
    }
    return out if free is None else {**out, "unconstrained": free}
