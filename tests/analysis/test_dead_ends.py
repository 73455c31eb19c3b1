"""Dead ends and shadowed terminals of random grammars, against the oracle over short texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from hypothesis import given, settings

import cfgmask
from cfgmask.analysis.dead_ends import dead_ends
from cfgmask.analysis.findings import LIMITS, QUICK
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import Sets
from cfgmask.analysis.shadowing import shadowed_terminals
from cfgmask.analysis.shortest import Shortest
from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, Sequence, Terminal
from cfgmask.grammar.regex_tree import text
from cfgmask.grammar.walk import fold
from cfgmask.regex.algebra import RegexAlgebra
from tests.engine.harness import compile_ir, with_all_bytes
from tests.oracle import Oracle, State
from tests.strategies import BYTES, GrammarShape, Problem, discards_undecided, problems

LONGEST = GrammarShape(token_sets=False, lexers=("longest",))
_MAX_STATES = 150


def analysed(ir: GrammarIR) -> tuple[Flat, Sets]:
    flat = Flat(ir, RegexAlgebra(LIMITS))
    return flat, Sets(flat)


def dead_ends_of(ir: GrammarIR) -> list[Diagnostic]:
    flat, sets = analysed(ir)
    compiled: cfgmask.CompiledGrammar = compile_ir(ir)
    shortest = Shortest(flat)
    return list(
        dead_ends(
            flat,
            sets,
            shortest,
            lambda t: compiled.matcher().advance_bytes(t) == len(t),
            lambda: compiled.matcher().completion() is not None,
            QUICK.n_states,
        )
    )


_COMPLETING = sorted({*BYTES, *b"0123456789abcdef"})  # whatever escape was begun


def is_completable(oracle: Oracle, start: State) -> bool | None:
    """Whether some bytes lead to an accepted text; None if too many states were looked at."""
    seen = {start}
    pending = [start]
    for state in pending:
        if oracle.is_accepting(state):
            return True
        if len(pending) > _MAX_STATES:
            return None
        for byte in _COMPLETING:
            following = oracle.step_byte(state, byte)
            if following and following not in seen:
                seen.add(following)
                pending.append(following)
    return False


def walks(oracle: Oracle, rng: random.Random) -> Iterator[State]:
    state = oracle.initial
    for _ in range(8):
        yield state
        following = [s for byte in BYTES if (s := oracle.step_byte(state, byte))]
        if not following:
            return
        state = rng.choice(following)


@given(problems(LONGEST))
@settings(max_examples=10)
@discards_undecided
def test_no_dead_end_where_none_is_reported(problem: Problem) -> None:
    if not dead_ends_of(problem.ir):
        for state in walks(problem.oracle, problem.random):
            assert is_completable(problem.oracle, state) is not False


@given(problems(LONGEST))
@settings(max_examples=10)
@discards_undecided
def test_a_dead_end_is_one(problem: Problem) -> None:
    problem = with_all_bytes(problem)
    for found in dead_ends_of(problem.ir):
        if found.code == "grammar-dead-end":
            spelled = found.message.partition(' after "')[2].partition('": ')[0]
            data = spelled.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1")
            state = problem.oracle.step_bytes(problem.oracle.initial, data)
            assert state
            assert not is_completable(problem.oracle, state)


@given(problems(LONGEST))
@settings(max_examples=10)
@discards_undecided
def test_a_shadowed_terminal_is_never_chosen(problem: Problem) -> None:
    """What would have to come behind it is made impossible, and no short text tells the difference."""
    ir = _told_apart(problem.ir)
    flat, sets = analysed(ir)
    for found in shadowed_terminals(flat, sets, Shortest(flat)):
        name = found.message.partition("`")[2].partition("`")[0]
        before, after = problem.oracle, Oracle(_poisoned(ir, name), [b""] * 64)
        pairs = [(before.initial, after.initial)]
        for left, right in pairs[:_MAX_STATES]:
            assert before.is_accepting(left) == after.is_accepting(right)
            for byte in BYTES:
                step = before.step_byte(left, byte), after.step_byte(right, byte)
                assert bool(step[0]) == bool(step[1])
                if step[0] and len(pairs) < _MAX_STATES and step not in pairs:
                    pairs.append(step)


def _told_apart(ir: GrammarIR) -> GrammarIR:
    """Terminals of one name differ in nothing."""
    return _changed(ir, lambda t, rule: replace(t, name=f"{t.name}, priority {t.priority}, scope {rule.scope}"))


def _poisoned(ir: GrammarIR, name: str) -> GrammarIR:
    """A character that no test writes must come after each terminal of this name."""
    poison = Terminal("POISON", text("\x02"))

    def change(terminal: Terminal, rule: Rule) -> Expr:
        if terminal.name != name:
            return terminal
        may_be_empty = RegexAlgebra(LIMITS).matches(terminal.regex, b"")
        return Repeat(Sequence((terminal, poison)), 0 if may_be_empty else 1, 1)

    return _changed(ir, change)


def _changed(ir: GrammarIR, change: Callable[[Terminal, Rule], Expr]) -> GrammarIR:
    def changed_in(rule: Rule) -> Rule:
        def combine(expr: Expr, parts: list[Expr]) -> Expr:
            if isinstance(expr, Terminal):
                return change(expr, rule)
            if isinstance(expr, (Sequence, Choice)):
                return replace(expr, parts=tuple(parts))
            return replace(expr, body=parts[0]) if isinstance(expr, Repeat) else expr

        return replace(rule, body=fold(rule.body, combine))

    return replace(ir, rules=tuple(map(changed_in, ir.rules)))
