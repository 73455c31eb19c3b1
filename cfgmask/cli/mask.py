"""`cfgmask mask`: what may come after a prefix."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import cfgmask
from cfgmask.cli.arguments import (
    FILE,
    GRAMMAR_FILE,
    json_option,
    read_vocabulary,
    start_option,
    text_bytes,
    token_named,
)
from cfgmask.cli.failures import PROBLEM, ReportingCommand
from cfgmask.cli.output import bytes_to_json, print_diagnostics, print_json, print_labelled
from cfgmask.cli.schema_options import check_schema_options, schema_option
from cfgmask.cli.verdict import END, Verdict, abridged, judge
from cfgmask.diagnostics import quoted

_EXAMPLES = """\b
Examples:
  cfgmask mask grammars/json.lark
  cfgmask mask grammars/json.lark --prefix '{"name": '
  cfgmask mask grammars/json.lark --prefix '[1' --why '",'
  cfgmask mask schema.json --prefix '{' --vocab model.gguf --limit 50 --json"""


@dataclass(frozen=True)
class _Mask:
    """Where the grammar stands after the prefix, and the ids of the tokens that may come next."""

    verdict: Verdict
    allowed: list[int]
    end_tokens: frozenset[int]
    vocabulary: cfgmask.Vocabulary


@click.command(cls=ReportingCommand, short_help="Show what may come next under a grammar.", epilog=_EXAMPLES)
@click.argument("file", type=GRAMMAR_FILE)
@start_option
@schema_option
@click.option("--prefix", default="", metavar="TEXT", help="What has been written so far.  [default: nothing]")
@click.option("--vocab", "vocabulary", type=FILE, help="A GGUF file or a saved vocabulary.  [default: the demo model]")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="How many tokens to list.")
@click.option("--why", "why", metavar="TOKEN", help="Explain one token instead: an id, or its text.")
@json_option("the answer")
@click.pass_context
def mask(
    ctx: click.Context,
    file: Path,
    start: str | None,
    options: dict[str, Any],
    prefix: str,
    vocabulary: Path | None,
    limit: int,
    why: str | None,
    as_json: bool,
) -> None:
    """Show what may come after TEXT under the grammar in FILE: terminals and tokens.

    Exit code 1 if TEXT itself is refused: then at which byte, and what was expected there; with --why also if the
    token is.
    """
    check_schema_options(file, options)
    vocab = read_vocabulary(vocabulary)
    compiled = cfgmask.compile(cfgmask.Grammar.from_file(file, start=start, **options), vocab)
    data = text_bytes(prefix)
    verdict = judge(compiled, "prefix", data)
    if verdict.outcome == "refused":
        _refuse(verdict, as_json)
        ctx.exit(PROBLEM)
    if why is not None:
        explanation = _explain(compiled, data, token_named(why, vocab))
        _print_explanation(explanation, as_json)
        ctx.exit(0 if explanation.allowed else PROBLEM)
    found = _Mask(verdict, _allowed_tokens(compiled, data), frozenset(vocab.eos_token_ids), vocab)
    if as_json:
        print_json(_to_json(found, limit))
    else:
        _print_for_people(found, limit)


def _refuse(verdict: Verdict, as_json: bool) -> None:
    diagnostic = verdict.diagnostic()
    assert diagnostic is not None
    if as_json:
        print_json({"ok": False, "diagnostics": [diagnostic.to_json()], "prefix": verdict.to_json()})
    else:
        print_diagnostics([diagnostic], sys.stderr)


def _explain(compiled: cfgmask.CompiledGrammar, prefix: bytes, token: int) -> cfgmask.Explanation:
    matcher = compiled.matcher()
    matcher.advance_bytes(prefix)
    return matcher.explain(token)


def _print_explanation(explanation: cfgmask.Explanation, as_json: bool) -> None:
    if not as_json:
        print_diagnostics([explanation.diagnostic()])
        return
    print_json(
        {
            "ok": explanation.allowed,
            "id": explanation.token_id,
            **bytes_to_json(explanation.data),
            "reason": explanation.reason,
            "offset": explanation.offset,
            "may_end": explanation.may_end,
            "expected": [
                {"name": expected.name, "rules": [rule.name for rule in expected.rules]}
                for expected in explanation.expected
            ],
            "diagnostics": [explanation.diagnostic().to_json()],
        }
    )


def _allowed_tokens(compiled: cfgmask.CompiledGrammar, prefix: bytes) -> list[int]:
    # The other commands start without it.
    import numpy as np

    matcher = compiled.matcher()
    matcher.advance_bytes(prefix)
    bits = np.zeros((compiled.vocabulary.n_vocab + 31) // 32, dtype="<u4")
    matcher.fill_mask(bits)
    ids: list[int] = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()
    return ids


def _to_json(found: _Mask, limit: int) -> dict[str, Any]:
    return {
        "ok": True,
        "prefix": found.verdict.to_json(),
        "n_vocab": found.vocabulary.n_vocab,
        "n_allowed": len(found.allowed),
        "tokens": [
            {"id": token, "is_end": token in found.end_tokens, **bytes_to_json(found.vocabulary.tokens[token])}
            for token in found.allowed[:limit]
        ],
    }


def _print_for_people(found: _Mask, limit: int) -> None:
    print_labelled("expected", found.verdict.expectation())
    if found.verdict.forced:
        print_labelled("  forced", abridged(found.verdict.forced))
    print_labelled(" allowed", f"{len(found.allowed):,} of {found.vocabulary.n_vocab:,} tokens")
    for token in found.allowed[:limit]:
        is_end = token in found.end_tokens
        print_labelled(f"{token:>8}", END if is_end else quoted(found.vocabulary.tokens[token]))
    if 0 < limit < len(found.allowed):
        print_labelled("     ...", f"and {len(found.allowed) - limit:,} more (--limit)")
