"""All analyses of a grammar, as diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cfgmask.analysis.ambiguity import ambiguities
from cfgmask.analysis.blocked_texts import blocked_texts
from cfgmask.analysis.closing_quote import COMMON_TOKENS, closing_quotes
from cfgmask.analysis.cycles import cycles, endless_repetitions
from cfgmask.analysis.dead_ends import dead_ends
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import Sets
from cfgmask.analysis.shadowing import shadowed_terminals
from cfgmask.analysis.shortest import Shortest
from cfgmask.analysis.spelling import unspellable_terminals
from cfgmask.analysis.terminals import empty_terminals, nullable_terminals, slow_repetitions
from cfgmask.diagnostics import Diagnostic, in_order
from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import GrammarIR, Repeat, Rule, RuleRef, Terminal, TokenSet
from cfgmask.grammar.walk import walk
from cfgmask.limits import Limits
from cfgmask.regex.algebra import RegexAlgebra

if TYPE_CHECKING:
    from cfgmask._core import CompiledGrammar


@dataclass(frozen=True)
class Effort:
    """How far searches go.

    n_states       of the lexer, for dead ends
    n_derivations  for ambiguity
    n_lexemes      that are tried for texts that longest match rejects
    """

    n_states: int
    n_derivations: int
    n_lexemes: int


QUICK = Effort(15_000, 1_500, 20_000)
"""What most grammars need; some 50 ms."""
THOROUGH = Effort(500_000, 100_000, 1_000_000)
"""May take some seconds."""

LIMITS = Limits(max_search_steps=20_000, max_regex_nodes=500_000)
"""What an analysis may cost: a question that takes more is left open."""


def find(
    ir: GrammarIR, compiled: CompiledGrammar, tokens: Sequence[bytes] | None = None, effort: Effort = QUICK
) -> tuple[Diagnostic, ...]:
    """Warnings and notes about a grammar that was read without errors, in the order of its text.

    compiled  the grammar, for any vocabulary: what an analysis claims of a text is tried
    tokens    the texts of a vocabulary's tokens; without them, what depends on a vocabulary is judged by common ones
    effort    where searches stop; what they have not found by then is told as undecided, or not at all
    What was made from a JSON Schema has no place in a text and is not reported.
    Cost: linear in the grammar, but for searches that stop at a bound; a question about a regex that would take more
    than `LIMITS` is left open.
    """
    written = written_rules(ir)
    if not written:
        return ()
    try:
        flat = Flat(ir, RegexAlgebra(LIMITS))
    except LimitExceeded:
        return ()
    sets = Sets(flat)
    shortest = Shortest(flat)

    def is_prefix(text: bytes) -> bool:
        return compiled.matcher().advance_bytes(text) == len(text)

    def has_text() -> bool | None:
        try:
            return compiled.matcher().completion() is not None
        except LimitExceeded:
            return None

    analyses: list[Callable[[], Iterable[Diagnostic]]] = [
        lambda: empty_terminals(flat),
        lambda: nullable_terminals(flat),
        lambda: slow_repetitions(flat, sets, effort.n_states),
        lambda: dead_ends(flat, sets, shortest, is_prefix, has_text, effort.n_states),
        lambda: blocked_texts(flat, sets, shortest, effort.n_lexemes),
        lambda: closing_quotes(flat, sets, COMMON_TOKENS if tokens is None else tokens),
    ]
    # What these find may be what a condition, a limit or the indentation rules out.
    is_whole = not flat.has_conditions and not flat.has_limits and ir.indenter is None
    if is_whole:
        analyses += [
            lambda: cycles(flat, sets),
            lambda: endless_repetitions(flat, sets),
            lambda: shadowed_terminals(flat, sets, shortest),
        ]
    if tokens is not None:
        analyses.append(lambda: unspellable_terminals(flat, tokens))
    found = [diagnostic for analysis in analyses for diagnostic in _results(analysis)]
    # Endless derivations are ambiguous in a way that hides any other.
    is_endless = any(d.code in ("grammar-cycle", "grammar-endless-repetition") for d in found)
    if not is_endless and is_whole:
        found += _results(lambda: ambiguities(flat, sets, shortest, effort.n_derivations))
    # A text that shows what is blocked is a better answer than that it was not decided.
    shown = {d.span for d in found if d.code == "grammar-blocked-text"}
    found = [d for d in found if d.code != "grammar-dead-end-undecided" or d.span not in shown]
    made = {rule.span for rule in ir.rules} - {rule.span for rule in written}
    return in_order({(d.code, d.span): d for d in found if d.span not in (*made, None)}.values())


def without_superseded(notes: Iterable[Diagnostic], findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The notes of reading but for those of which a finding says more: with a text that shows it."""
    shown = {finding.span for finding in findings if finding.code == "grammar-blocked-text"}
    return tuple(note for note in notes if note.code != "lark-ignored-text" or note.span not in shown)


def written_rules(ir: GrammarIR) -> list[Rule]:
    """The rules that stand in the text of the grammar."""
    return [rule for rule in ir.rules if _is_written(rule)]


def _is_written(rule: Rule) -> bool:
    """Whether a rule was written as such: what a schema was lowered to has no places inside of it."""
    return any(isinstance(e, (Terminal, TokenSet, RuleRef, Repeat)) and e.span is not None for e in walk(rule.body))


def _results(analysis: Callable[[], Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    try:
        yield from analysis()
    except LimitExceeded:
        return
