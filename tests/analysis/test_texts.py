"""Examples and samples: accepted by the oracle, shortest where that can be tried, the same for the same seed."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

import cfgmask
from cfgmask.analysis import Flat, Texts
from cfgmask.analysis.findings import LIMITS
from cfgmask.analysis.texts import Text
from cfgmask.cli.stand_in import stand_in_vocabulary
from cfgmask.compiler.token_sets import resolve
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import GrammarIR
from cfgmask.regex.algebra import RegexAlgebra
from tests.oracle import Oracle
from tests.strategies import GrammarShape, Problem, discards_undecided, letter_grammars, problems

GRAMMARS = sorted((Path(__file__).parents[2] / "grammars").glob("*.lark"))
NO_TOKENS = [b""] * 64


def texts_of(grammar: cfgmask.Grammar) -> tuple[Texts, cfgmask.CompiledGrammar]:
    vocabulary = stand_in_vocabulary(grammar)
    return Texts(Flat(grammar.ir, RegexAlgebra(LIMITS)), vocabulary), cfgmask.compile(grammar, vocabulary)


def accepts(compiled: cfgmask.CompiledGrammar, vocabulary: cfgmask.Vocabulary, text: Text) -> bool:
    """Whether the grammar takes the bytes and tokens of a text, one piece after the other."""
    matcher = compiled.matcher()
    for piece in text.pieces:
        if isinstance(piece, bytes):
            if matcher.advance_bytes(piece) != len(piece):
                return False
        elif not any(matcher.try_advance([token]) for token in resolve(piece, vocabulary, [])):
            return False
    return matcher.is_accepting


@given(problems(GrammarShape(token_sets=False)))
@settings(max_examples=10)
@discards_undecided
def test_samples_are_accepted(problem: Problem) -> None:
    texts, compiled = texts_of(cfgmask.Grammar(problem.ir))
    for sample in texts.samples(compiled, 4, problem.random.randrange(1000)):
        assert problem.oracle.accepts(sample.shown)


@given(letter_grammars())
@settings(max_examples=10)
def test_examples_are_accepted_and_shortest(ir: GrammarIR) -> None:
    ir = replace(ir, lexer="complete", scopes=ir.scopes)
    try:
        texts, _ = texts_of(cfgmask.Grammar(ir))
    except GrammarError:
        return
    for rule in ir.rules:
        example = texts.example(rule.name)
        try:
            oracle = Oracle(replace(ir, start=rule.name), NO_TOKENS)
        except ValueError:  # it matches nothing
            assert example is None
            continue
        shorter = 4 if example is None else min(len(example.shown), 4)
        found = [t for n in range(1, shorter) for t in _all_texts(n) if oracle.accepts(t)]
        assert not found
        assert example is None or oracle.accepts(example.shown)


def _all_texts(size: int) -> list[bytes]:
    return [bytes(letters) for letters in itertools.product(b"abc", repeat=size)]


# Most random texts of this one break apart otherwise under the longest match.
FEW_SAMPLES = {"markdown_table"}
# Grammars with rules whose shortest text is none by itself: it breaks apart otherwise, or needs what stands around it.
WITHOUT_EXAMPLES = {"markdown_table", "yaml"}


@pytest.mark.parametrize("file", GRAMMARS, ids=lambda file: file.stem)
def test_the_grammars_that_ship(file: Path) -> None:
    grammar = cfgmask.Grammar.from_file(file)
    vocabulary = stand_in_vocabulary(grammar)
    texts, compiled = texts_of(grammar)
    samples = list(texts.samples(compiled, 5, 1))
    assert len(samples) == 5 or file.stem in FEW_SAMPLES
    assert len({sample.shown for sample in samples}) > 1
    assert all(accepts(compiled, vocabulary, sample) for sample in samples)
    assert samples == list(texts.samples(compiled, 5, 1))
    for rule in grammar.ir.rules:
        example = texts.example(rule.name)
        if example is None and file.stem in WITHOUT_EXAMPLES:
            continue
        assert example is not None, rule.name
        assert accepts(cfgmask.compile(replace(grammar.ir, start=rule.name), vocabulary), vocabulary, example)


@pytest.mark.parametrize(
    ("grammar", "rule", "text"),
    [
        ('start: "a"*', "start", b"a"),
        ('start: ""', "start", b""),
        ('start: [one] "b"~2\none: "a"~3', "start", b"bb"),
        ("start: NAME NAME\nNAME: /[a-z]+/\n%ignore /[ ]+/", "start", b"a a"),
        ("start: <think> /[b-d]+/ <[7]>", "start", b"<think>b<[7]>"),
    ],
)
def test_examples(grammar: str, rule: str, text: bytes) -> None:
    example = texts_of(cfgmask.Grammar.from_lark(grammar))[0].example(rule)
    assert example is not None
    assert example.shown == text


def test_no_example_where_the_longest_match_leaves_none() -> None:
    assert texts_of(cfgmask.Grammar.from_lark("start: NAME NAME\nNAME: /[a-z]+/"))[0].example("start") is None
