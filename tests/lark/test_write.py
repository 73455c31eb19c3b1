"""Grammars that are written as Lark and read back have the same language: GBNF's, since these hold no ignored text."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar.ir import SetBounds
from cfgmask.grammar.regex_tree import JsonString
from cfgmask.lark.write import write_lark
from tests.build import WORD, grammar, rule, scope, seq, t
from tests.engine.harness import mask_of
from tests.gbnf.random_gbnf import grammars
from tests.gbnf.test_meaning import CASES, TOKEN_CASES, TOKENS
from tests.lark.engine import VOCABULARY, accepts
from tests.strategies import GrammarShape, Problem, discards_undecided, problems, random_token

# GBNF and what is written.
WRITTEN = {
    "names": (
        'root ::= a-b A_b 2x start\na-b ::= "a" | "(" root ")"\nA_b ::= "b"\n2x ::= "c" | root\nstart ::= "d" | root',
        'start: a_b A_B r_2x start_2\na_b: "a" | "(" start ")"\nr_2x: "c" | start\nstart_2: "d" | start\n\nA_B: "b"\n',
    ),
    "names that become equal": (
        'root ::= a-b a_b A-B "x"\na-b ::= "a" | "(" root\na_b ::= "b" | "(" root\nA-B ::= "c"',
        'start: a_b a_b_2 A_B "x"\na_b: "a" | "(" start\na_b_2: "b" | "(" start\n\nA_B: "c"\n',
    ),
    "how tightly it binds": (
        'root ::= "x" | (root | "a") (root "b")? (root | "c")+ (root "d"){2,3}',
        'start: "x" | (start | "a") (start "b")? (start | "c")+ (start "d"){2,3}\n',
    ),
    "classes": (
        r'root ::= "x" | [^"\\] root [-a^\]&/] root [\x00-\x1f] root . root [ぁ-ゟ]',
        'start: "x" | /[^"\\\\]/ start /[\\&\\-\\/\\]\\^a]/ start /[\\x00-\\x1f]/ start /(?s:.)/ start /[ぁ-ゟ]/\n',
    ),
    "tokens": (
        "root ::= <think> !</think>* <[5]> !<[7]> !<a>",
        "start: <think> <[^</think>]>* <[5]> <[^7]> <[^<a>]>\n",
    ),
    "sets of tokens": (
        'root ::= Token(5, 7) ExcludeToken(5, 7)+ TokenTagDispatch((3, x))\nx ::= "a" root',
        'start: <[5,7]> <[^5,7]>+ (<[^3]>* <[3]> x)* <[^3]>*\nx: "a" start\n',
    ),
    "texts up to tags": (
        'root ::= TagDispatch(("<a>", x), excludes=("<b>"))\nx ::= "a" root',
        ('start: (T "<a>" x)* T\nx: "a" start\n\nT: (/(?s:.)/+ & ~(/(?s:.)/* /<a>|<b>/ /(?s:.)/*))?\n'),
    ),
    "options of rules": (
        'root ::= a.b c\na.b[capture="it", lazy] ::= "a"+\nc[max_tokens=3, temperature=0.5, capture] ::= "c" root?',
        ('start: a_b c\na_b[lazy, capture="it"]: /a+/\nc[capture="c", max_tokens=3, temperature=0.5]: "c" start?\n'),
    ),
    "substrings": (
        'root ::= x\nx ::= Substring("ab", "\\"") "c" root?',
        'start: x\nx: T start?\n\nT: %regex {"substring_chunks": ["ab", "\\""]} "c"\n',
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written(name: str) -> None:
    gbnf, expected = WRITTEN[name]
    text = write_lark(cfgmask.Grammar.from_gbnf(gbnf).ir)
    assert text.removeprefix('%cfgmask {"lexer": "complete"}\n\n') == expected


def converted(gbnf: str) -> cfgmask.Grammar:
    return cfgmask.Grammar.from_lark(write_lark(cfgmask.Grammar.from_gbnf(gbnf).ir))


@pytest.mark.parametrize("name", CASES)
def test_language_stays(name: str) -> None:
    gbnf, accepted, refused = CASES[name]
    compiled = cfgmask.compile(converted(gbnf), VOCABULARY)
    assert [text for text in accepted if not accepts(compiled, text)] == []
    assert [text for text in refused if accepts(compiled, text)] == []


@pytest.mark.parametrize("name", [name for name in TOKEN_CASES if name != "a name with blanks"])
def test_tokens_stay(name: str) -> None:
    gbnf, consumed, expected = TOKEN_CASES[name]
    matcher = cfgmask.compile(converted(gbnf), TOKENS).matcher()
    assert matcher.try_advance(consumed) == len(consumed)
    assert mask_of(matcher, TOKENS.n_vocab) == expected


LETTERS = cfgmask.Vocabulary.from_bytes(
    [b"a", b"b", b"e", b"c", b"the", b" ", b"ab", b"ca", "é".encode(), b"\xc3", b"\xa9", b'"', b"z", b"\n", b""], 14
)


@given(grammars, st.randoms(use_true_random=False))
def test_masks_stay(gbnf: str, rng: random.Random) -> None:
    before = cfgmask.compile(cfgmask.Grammar.from_gbnf(gbnf), LETTERS).matcher()
    after = cfgmask.compile(converted(gbnf), LETTERS).matcher()
    for _ in range(12):
        mask = mask_of(before, LETTERS.n_vocab)
        assert mask_of(after, LETTERS.n_vocab) == mask
        if mask <= {14}:
            return
        token = rng.choice(sorted(mask - {14}))
        before.advance(token)
        after.advance(token)


@given(problems(GrammarShape(priorities=False, scopes=1, ignores=False)))
@discards_undecided
def test_random_grammars_mean_the_same_once_written(problem: Problem) -> None:
    """Rules that are handed over one by one, against those of a text."""
    try:
        text = write_lark(problem.ir)
        read = cfgmask.Grammar.from_lark(text)
    except cfgmask.GrammarError:
        event("not written")
        return
    given = problem.vocabulary
    vocabulary = cfgmask.Vocabulary.from_bytes(given.tokens, given.end_tokens, given.special)
    matchers = [cfgmask.compile(one, vocabulary).matcher() for one in (cfgmask.Grammar(problem.ir), read)]
    for _ in range(8):
        mask = mask_of(matchers[0], len(given.tokens))
        assert mask_of(matchers[1], len(given.tokens)) == mask, text
        token = random_token(problem.oracle, mask, problem.random)
        if token is None:
            return
        for matcher in matchers:
            matcher.advance(token)


@pytest.mark.parametrize(
    ("ir", "message"),
    [
        (cfgmask.Grammar.from_gbnf("root ::= <a b>").ir, "the token <a b> cannot be written in Lark"),
        (cfgmask.Grammar.from_gbnf("root ::= !<a,b>").ir, "the token <a,b> cannot be written in Lark"),
        (grammar(rule("start", t(JsonString(WORD), name="T"))), r"the terminal T \(JsonString\)"),
        (grammar(rule("start", t("a", 5))), "what the terminal 'a' does"),
        (grammar(replace(rule("start", "a"), opens_set=SetBounds())), "what the rule start does"),
        (grammar(rule("start", seq(t("a"))), scopes=(scope(" "),)), "ignores text"),
    ],
)
def test_what_has_no_spelling_is_refused(ir: object, message: str) -> None:
    with pytest.raises(cfgmask.GrammarError, match=message) as caught:
        write_lark(ir)  # type: ignore[arg-type]
    assert {problem.code for problem in caught.value.diagnostics} == {"convert-unsupported"}


def test_what_would_grow_without_bound_is_refused() -> None:
    rules = "".join(f"r{i} ::= r{i + 1} r{i + 1}\n" for i in range(100))
    ir = cfgmask.Grammar.from_gbnf(f'root ::= r0\n{rules}r100 ::= [a-z] "b"').ir
    with pytest.raises(cfgmask.LimitExceeded, match="max_source_bytes"):
        write_lark(ir)
