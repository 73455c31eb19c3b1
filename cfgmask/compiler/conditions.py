"""Conditions on parameters as the core reads them: programs for a stack of truth values."""

from __future__ import annotations

from typing import TypeAlias

from cfgmask.grammar.parameters import N_BITS, All, Any, Compare, Condition, Not

Step: TypeAlias = tuple[str, bool, int, int, int]
"""Operator, whether set bits are counted, the bits (from, to), and the value that they are compared with."""


def steps(condition: Condition) -> list[Step]:
    """The program of a condition: what is combined comes before what combines it. Linear, without recursion."""
    program: list[Step] = []
    pending: list[Condition | str] = [condition]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            program.append(_plain(part))
        elif isinstance(part, Compare):
            program.append((part.relation, part.ones, part.bits.low, part.bits.high, part.value))
        elif isinstance(part, Not):
            pending += ["not", part.body]
        else:
            pending += _combined(part)
    return program


def _combined(condition: All | Any) -> list[Condition | str]:
    """The parts and what joins them, last first."""
    join = "and" if isinstance(condition, All) else "or"
    parts: list[Condition | str] = list(condition.parts) or ["true"]
    return [*[join] * (len(parts) - 1), *parts]


def _plain(operator: str) -> Step:
    return operator, False, 0, N_BITS, 0
