"""The oracle against hand-checked tables, against Lark's Earley parser and against itself."""

from __future__ import annotations

import re

import lark
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, RuleRef, Sequence, Terminal
from cfgmask.grammar.regex_tree import Alternation, CharClass, Literal, RegexTree, Repetition
from tests.build import alt, cls, grammar, lit, rep, rule, scope
from tests.cases import TEXT_CASES, TOKEN_CASES
from tests.cases.case import TextCase, TokenCase, as_bytes
from tests.oracle import Oracle
from tests.strategies import GrammarShape, Problem, discards_undecided, problems, random_text, random_token


@pytest.mark.parametrize("case", TEXT_CASES, ids=lambda case: case.name)
def test_texts(case: TextCase) -> None:
    oracle = Oracle(case.grammar)
    for text in map(as_bytes, case.accepts):
        assert oracle.accepts(text), text
    for text in map(as_bytes, case.prefixes):
        assert oracle.is_prefix(text), text
        assert not oracle.accepts(text), text
    for text in map(as_bytes, case.refuses):
        assert oracle.is_prefix(text[:-1]), text
        assert not oracle.is_prefix(text), text


@pytest.mark.parametrize("case", TOKEN_CASES, ids=lambda case: case.name)
def test_tokens(case: TokenCase) -> None:
    oracle = Oracle(case.grammar, case.tokens, case.end_tokens, case.special)
    for sequence, mask in case.masks.items():
        state = oracle.initial
        for token in sequence:
            state = oracle.step_token(state, token)
        assert oracle.mask(state) == mask, sequence


@pytest.mark.parametrize("body", [RuleRef("start"), Choice(()), Terminal("T", Alternation(()))])
def test_a_grammar_without_a_text_is_refused(body: Expr) -> None:
    with pytest.raises(ValueError, match="matches nothing"):
        Oracle(grammar(Rule("start", body)))


# Lark's Earley parser with `dynamic_complete` recognises the language of complete mode, for terminals whose first match
# is their longest.

LARK_TERMINALS: list[RegexTree] = [
    lit("a"),
    lit("b"),
    lit("ab"),
    lit(" "),
    cls("ab"),
    rep("a", 1),
    rep(cls("ab"), 1),
    rep("ab", 1, 2),
    rep("a", 2, 3),
    alt("aa", "a"),
    cls("é", "a"),
]
NAMES = ["start", "one", "two"]


def _lark_expressions(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        several.map(Sequence),
        several.map(Choice),
        st.builds(Repeat, parts, st.just(0), st.sampled_from([1, None])),
        st.builds(lambda body, low, more: Repeat(body, low, low + more), parts, st.integers(0, 2), st.integers(1, 2)),
    )


@st.composite
def lark_grammars(draw: st.DrawFn) -> GrammarIR:
    terminals = st.sampled_from(LARK_TERMINALS).map(lambda r: Terminal("T", r))
    leaves = st.one_of(terminals, st.sampled_from(NAMES).map(RuleRef), st.just(Sequence(())))
    bodies = st.recursive(leaves, _lark_expressions, max_leaves=5)
    rules = [rule(name, Choice((draw(bodies), draw(terminals)))) for name in NAMES]
    return grammar(*rules, scopes=(scope(*draw(st.sampled_from([(), (" ",)]))),), lexer="complete")


def lark_text(ir: GrammarIR) -> str:
    lines = [f"{r.name}: {_lark_expr(r.body)}" for r in ir.rules]
    return "\n".join([*lines, *(f"%ignore {_lark_regex(t.regex)}" for t in ir.scopes[0].ignore)])


def _lark_expr(expr: Expr) -> str:
    match expr:
        case Terminal(_, regex):
            return _lark_regex(regex)
        case RuleRef(name):
            return name
        case Sequence(parts):
            return "(" + " ".join(map(_lark_expr, parts)) + ")"
        case Choice(parts):
            return "(" + " | ".join(map(_lark_expr, parts)) + ")"
        case Repeat(body, 0, 1):
            return f"({_lark_expr(body)})?"
        case Repeat(body, 0, None):
            return f"({_lark_expr(body)})*"
        case Repeat(body, minimum, maximum):
            return f"({_lark_expr(body)})~{minimum}..{maximum}"
    raise TypeError(expr)


def _lark_regex(regex: RegexTree) -> str:
    def pattern(node: RegexTree) -> str:
        match node:
            case Literal(data):
                return re.escape(data.decode())
            case CharClass(ranges):
                return "[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges) + "]"
            case Alternation(parts):
                return "|".join(map(pattern, parts))
            case Repetition(body, minimum, maximum):
                return f"(?:{pattern(body)}){{{minimum},{'' if maximum is None else maximum}}}"
        raise TypeError(node)

    return f"/{pattern(regex)}/"


@given(lark_grammars(), st.lists(st.text("ab é", max_size=5), min_size=5, max_size=5), st.randoms())
def test_complete_mode_agrees_with_lark(ir: GrammarIR, texts: list[str], rng: object) -> None:
    try:
        parser = lark.Lark(lark_text(ir), parser="earley", lexer="dynamic_complete")
    except lark.exceptions.GrammarError:
        assume(False)  # rules that Lark takes for the same twice
    oracle = Oracle(ir)
    generated = [random_text(oracle, rng, 6).decode(errors="ignore") for _ in range(5)]  # type: ignore[arg-type]
    for text in {"", *texts, *generated}:
        assert oracle.accepts(text.encode()) == _lark_accepts(parser, text), (lark_text(ir), text)


def _lark_accepts(parser: lark.Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except lark.exceptions.LarkError:
        return False
    except RuntimeError as error:
        # Raised where the start symbol was found in two ways.
        return "multiple start symbol items" in str(error)
    return True


# What must be true of any grammar.


@given(problems(GrammarShape(token_sets=False, lexers=("longest",))))
@discards_undecided
def test_a_reading_by_longest_match_is_a_segmentation(problem: Problem) -> None:
    complete = Oracle(GrammarIR(**{**vars(problem.ir), "lexer": "complete"}))
    for _ in range(5):
        text = random_text(problem.oracle, problem.random, 8)
        assert complete.is_prefix(text)
        assert complete.accepts(text) or not problem.oracle.accepts(text)


@given(problems(GrammarShape(token_sets=False)))
@discards_undecided
def test_tokens_without_token_sets_are_their_bytes(problem: Problem) -> None:
    oracle, state, text = problem.oracle, problem.oracle.initial, b""
    for _ in range(5):
        mask = oracle.mask(state)
        ends = oracle.end_tokens if oracle.accepts(text) else set()
        spelled = {i for i, data in enumerate(oracle.tokens) if data and oracle.is_prefix(text + data)}
        assert mask == (spelled - oracle.end_tokens) | ends
        token = random_token(oracle, mask - oracle.end_tokens, problem.random)
        if token is None:
            return
        text += oracle.tokens[token]
        state = oracle.step_token(state, token)


@given(problems(GrammarShape(token_sets=False, lexers=("complete",))))
@discards_undecided
def test_in_complete_mode_a_prefix_leads_to_a_text(problem: Problem) -> None:
    """Some byte or the end follows every prefix."""
    oracle, state = problem.oracle, problem.oracle.initial
    for byte in random_text(oracle, problem.random, 6):
        state = oracle.step_byte(state, byte)
        assert oracle.is_accepting(state) or any(oracle.step_byte(state, b) for b in range(256))
