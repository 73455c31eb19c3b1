"""How `cfgmask generate --trace` shows a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cfgmask
from cfgmask.cli.output import bytes_to_json, print_labelled
from cfgmask.cli.verdict import END
from cfgmask.diagnostics import quoted

if TYPE_CHECKING:
    from cfgmask.integrations.token_view import Look, Trace, TraceStep


def print_trace(name: str, trace: Trace, vocabulary: cfgmask.Vocabulary) -> None:
    """A line for each token: the state that it came in, the token, and what the mask did to the likeliest one."""
    print_labelled("---", f"trace, {name} ---")
    for step in trace.steps:
        print_labelled(f"{step.state:>8}", f"{_shown(step.token_id, vocabulary)}{_remark(step, vocabulary)}")
    print_labelled("  checks", f"{trace.naive_checks:,} tokens anew at each step, {trace.cached_checks:,} once a state")


def trace_to_json(trace: Trace, vocabulary: cfgmask.Vocabulary) -> dict[str, Any]:
    """The trace for machines."""
    return {
        "steps": [_step_to_json(step, vocabulary) for step in trace.steps],
        "naive_checks": trace.naive_checks,
        "cached_checks": trace.cached_checks,
    }


def _shown(token_id: int, vocabulary: cfgmask.Vocabulary) -> str:
    return END if token_id in vocabulary.eos_token_ids else quoted(vocabulary.tokens[token_id])


def _remark(step: TraceStep, vocabulary: cfgmask.Vocabulary) -> str:
    parts = []
    look = step.look
    if look is None:
        parts.append("forced")
    elif look.survives:
        parts.append(f"likeliest of all, {_refused(look)}")
    else:
        wish = _shown(look.raw_top, vocabulary)
        parts.append(f"likeliest was {wish}, of those allowed {_shown(look.top, vocabulary)}, {_refused(look)}")
    if step.next_state is None:
        parts.append("the grammar refuses it")
    return "  (" + "; ".join(parts) + ")"


def _refused(look: Look) -> str:
    return f"{look.rejection_mass:.0%} refused"


def _step_to_json(step: TraceStep, vocabulary: cfgmask.Vocabulary) -> dict[str, Any]:
    look = step.look
    return {
        "state": step.state,
        "id": step.token_id,
        **bytes_to_json(vocabulary.tokens[step.token_id]),
        "next_state": step.next_state,
        "look": None if look is None else {**vars(look), "survives": look.survives},
    }
