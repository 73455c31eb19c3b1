"""A matcher's state is a value: rollback, fork, reset and refusals, whatever the grammar."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.build import DIGITS, grammar, many, rule, scope, seq
from tests.engine.harness import compile_ir, mask_of
from tests.engine.test_completion import discards_large
from tests.strategies import Problem, VocabularySpec, problems

LIST = compile_ir(grammar(rule("start", seq("[", many(seq(DIGITS, ",")), "]")), scopes=(scope(" "),)))
END = 256


class Model:
    """What a matcher must do, by replaying its tokens in a new one."""

    def __init__(self, compiled: cfgmask.CompiledGrammar, n_vocab: int, steps: tuple[int, ...] = ()) -> None:
        self.compiled = compiled
        self.n_vocab = n_vocab
        self.matcher = compiled.matcher()
        self.steps = steps
        for token in steps:
            self.matcher.advance(token)

    def check(self) -> None:
        replayed = self.compiled.matcher()
        for token in self.steps:
            replayed.advance(token)
        assert self.matcher.n_steps == len(self.steps)
        assert observed(self.matcher, self.n_vocab) == observed(replayed, self.n_vocab)


def observed(matcher: cfgmask.Matcher, n_vocab: int) -> tuple[object, ...]:
    """Everything a matcher says about its future."""
    return (
        mask_of(matcher, n_vocab),
        matcher.is_accepting,
        matcher.is_finished,
        matcher.forced_bytes(),
        sorted(matcher.expected()),
    )


def change(model: Model, rng: random.Random) -> Model | None:
    """One random operation; a new model if it forks."""
    matcher, n_vocab = model.matcher, model.n_vocab
    match rng.choice(["advance", "advance", "advance", "refuse", "try", "try", "rollback", "fork", "reset"]):
        case "advance":
            allowed = sorted(mask_of(matcher, n_vocab))
            if allowed:
                token = rng.choice(allowed)
                matcher.advance(token)
                model.steps += (token,)
        case "refuse":
            for token in set(range(n_vocab)) - mask_of(matcher, n_vocab):
                with pytest.raises(cfgmask.TokenRejected):
                    matcher.advance(token)
        case "try":
            tokens = [rng.randrange(n_vocab) for _ in range(rng.randrange(4))]
            consume = rng.random() < 0.5
            if matcher.try_advance(tokens, consume=consume) == len(tokens) and consume:
                model.steps += tuple(tokens)
        case "rollback":
            n = rng.randrange(len(model.steps) + 1)
            matcher.rollback(n)
            model.steps = model.steps[: len(model.steps) - n]
        case "fork":
            fork = Model(model.compiled, n_vocab)
            fork.matcher, fork.steps = matcher.fork(), model.steps
            return fork
        case "reset":
            if rng.random() < 0.2:
                matcher.reset()
                model.steps = ()
    return None


@given(problems())
@discards_large
def test_any_order_of_operations_equals_replay(problem: Problem) -> None:
    compiled = compile_ir(problem.ir, problem.vocabulary)
    models = [Model(compiled, len(problem.vocabulary.tokens))]
    for _ in range(12):
        fork = change(problem.random.choice(models), problem.random)
        if fork is not None:
            models.append(fork)
        for model in models:
            model.check()


@given(problems())
@discards_large
def test_try_advance_says_how_many_fit(problem: Problem) -> None:
    n_vocab, rng = len(problem.vocabulary.tokens), problem.random
    matcher = compile_ir(problem.ir, problem.vocabulary).matcher()
    tokens = []
    walker = matcher.fork()
    for _ in range(5):
        allowed = sorted(mask_of(walker, n_vocab))
        if not allowed or rng.random() < 0.1:
            break
        tokens.append(rng.choice(allowed))
        walker.advance(tokens[-1])
    refused = sorted(set(range(n_vocab)) - mask_of(walker, n_vocab))
    before = observed(matcher, n_vocab)
    if refused:
        assert matcher.try_advance([*tokens, rng.choice(refused), 0]) == len(tokens)
        assert observed(matcher, n_vocab) == before
    assert matcher.try_advance(tokens, consume=False) == len(tokens)
    assert observed(matcher, n_vocab) == before
    assert matcher.try_advance(tokens) == len(tokens)
    assert observed(matcher, n_vocab) == observed(walker, n_vocab)
    assert matcher.n_steps == len(tokens)


@given(problems(), st.booleans())
@discards_large
def test_every_token_on_a_fork_is_the_mask(problem: Problem, fresh: bool) -> None:
    """Brute force of the core against itself: the mask holds the tokens that a fork takes."""
    n_vocab = len(problem.vocabulary.tokens)
    compiled = compile_ir(problem.ir, problem.vocabulary)
    matcher = compiled.matcher()
    for _ in range(5):
        taken = {token for token in range(n_vocab) if matcher.fork().try_advance([token]) == 1}
        if fresh:
            compiled.clear_masks()
        assert mask_of(matcher, n_vocab) == taken
        if not taken:
            return
        matcher.advance(problem.random.choice(sorted(taken)))


def test_refused_tokens_leave_the_matcher_as_it_was() -> None:
    matcher = LIST.matcher()
    matcher.advance(ord("["))
    before = observed(matcher, END + 1)
    for token in (ord("["), ord("a"), END, END + 1, -1, 2**31, 2**40, -(2**40)):
        with pytest.raises(cfgmask.TokenRejected):
            matcher.advance(token)
        assert matcher.try_advance([token]) == 0
        assert observed(matcher, END + 1) == before
    assert matcher.n_steps == 1


@pytest.mark.parametrize(
    ("token", "data", "offset", "expected", "message"),
    [
        (3, b"ab", 1, ('"c"',), 'token 3 "ab" is refused at its byte 1, "b"; expected "c"'),
        (4, b"", 0, ('"a"',), 'token 4 ends the text, which is not complete; expected "a"'),
        (9, b"", 0, ('"a"',), 'token 9 is not in the vocabulary; expected "a"'),
    ],
)
def test_a_refusal_tells_what_was_expected(
    token: int, data: bytes, offset: int, expected: tuple[str, ...], message: str
) -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([b"a", b"b", b"c", b"ab", b""], eos_token_id=4)
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark('start: "a" "c"'), vocabulary).matcher()
    with pytest.raises(cfgmask.TokenRejected) as error:
        matcher.advance(token)
    for refusal in (error.value, pickle.loads(pickle.dumps(error.value))):
        assert (refusal.token_id, refusal.data, refusal.offset, refusal.expected) == (token, data, offset, expected)
        assert not refusal.may_end
        assert str(refusal) == message


def test_after_the_end_only_end_tokens() -> None:
    spec = VocabularySpec([b"a", b"", b"</s>", b""], [1, 2], {})
    matcher = compile_ir(grammar(rule("start", many("a"))), spec).matcher()
    for end in (1, 2):
        assert not matcher.is_finished
        matcher.advance(end)
        assert matcher.is_finished
        assert matcher.is_accepting
        assert mask_of(matcher, 4) == {1, 2}
        assert matcher.forced_bytes() == b""
        assert matcher.advance_bytes(b"a") == 0
        assert matcher.try_advance([1, 2, 0]) == 2
        matcher.advance(3 - end)
        assert mask_of(matcher, 4) == {1, 2}
        matcher.rollback(2)
    assert mask_of(matcher, 4) == {0, 1, 2}


def test_rollback_beyond_the_start_changes_nothing() -> None:
    matcher = LIST.matcher()
    matcher.advance(ord("["))
    for n in (2, -1, 10**12):
        with pytest.raises(ValueError, match="steps"):
            matcher.rollback(n)
    assert matcher.n_steps == 1
    matcher.rollback(0)
    matcher.rollback(1)
    assert mask_of(matcher, END + 1) == {ord("["), ord(" ")}


def test_bytes_are_one_step() -> None:
    matcher = LIST.matcher()
    assert matcher.advance_bytes(b"[1, 2") == 5
    assert matcher.n_steps == 1
    assert matcher.advance_bytes(b",]x") == 2
    assert matcher.n_steps == 1
    assert matcher.advance_bytes(b"") == 0
    assert matcher.advance_bytes(b",]") == 2
    assert matcher.is_accepting
    matcher.rollback(matcher.n_steps - 1)
    assert matcher.advance_bytes(b"3") == 1


def test_reset_forgets_the_steps() -> None:
    matcher = LIST.matcher()
    matcher.advance_bytes(b"[1,")
    matcher.reset()
    assert matcher.n_steps == 0
    assert observed(matcher, END + 1) == observed(LIST.matcher(), END + 1)


def test_forks_go_their_own_ways() -> None:
    matcher = LIST.matcher()
    matcher.advance(ord("["))
    fork = matcher.fork()
    fork.advance(ord("]"))
    assert fork.is_accepting
    assert not matcher.is_accepting
    assert matcher.n_steps == 1
    fork.rollback(2)
    matcher.advance(ord("1"))
    assert fork.n_steps == 0
    assert fork.compiled is matcher.compiled is LIST


def test_expected_names_what_may_begin_or_go_on() -> None:
    matcher = LIST.matcher()
    assert set(matcher.expected()) >= {"'['"}
    matcher.advance_bytes(b"[1")
    names = matcher.expected()
    assert len(names) == len(set(names))
    assert "T" in names


COMMENTS = 'start: "a" "b"\nWS: /[ \\r]*\\n/\nCOMMENT: "/*" /.*/ "*/"\n%ignore WS\n%ignore COMMENT\n%ignore /#\\n/'
BRACKETS = """\
start: (LPAR "a" RPAR _NL | _INDENT _DEDENT)
LPAR: "("
RPAR: ")"
%declare _INDENT _DEDENT
_NL: /(\\r?\\n *)+/
%cfgmask {"indenter": {"NL_type": "_NL", "OPEN_PAREN_types": ["LPAR"], "CLOSE_PAREN_types": ["RPAR"]}}
"""
AROUND = 'start: "a" "b" "c"\nFAR: /(?<=b)##/\nNEAR: /(?<=a)##/\n%ignore FAR\n%ignore NEAR'


@pytest.mark.parametrize(
    ("made", "text", "expected"),
    [
        (cfgmask.Grammar.from_json_schema({"type": "array"}, whitespace="bounded"), b"[ \r", ["WHITESPACE"]),
        (
            cfgmask.Grammar.from_json_schema({"items": {"uniqueItems": True}}, whitespace="bounded"),
            b"[ \r",
            ["WHITESPACE"],
        ),
        (cfgmask.Grammar.from_lark(COMMENTS), b"a ", ["WS | COMMENT | /#\\n/"]),
        (cfgmask.Grammar.from_lark(COMMENTS), b"a", ['"b"']),
        (cfgmask.Grammar.from_lark(COMMENTS), b"ab\n", []),
        (cfgmask.Grammar.from_lark(COMMENTS), b"ab\n ", ["WS | COMMENT | /#\\n/"]),
        (cfgmask.Grammar.from_lark(AROUND), b"a#", ["NEAR"]),
        (cfgmask.Grammar.from_lark(AROUND), b"ab#", ["FAR"]),
        (cfgmask.Grammar.from_lark(BRACKETS), b"(\r", ["_NL"]),
    ],
)
def test_expected_names_what_is_ignored_where_nothing_else_may_come(
    made: cfgmask.Grammar, text: bytes, expected: list[str]
) -> None:
    matcher = cfgmask.compile(made, cfgmask.Vocabulary.from_bytes([bytes([b]) for b in range(256)], 255)).matcher()
    assert matcher.advance_bytes(text) == len(text)
    assert matcher.expected() == expected
    assert [e.name for e in matcher.explain(255).expected] == expected
    assert all(e.span is None and not e.rules for e in matcher.explain(255).expected if e.name != '"b"')


# Several of each class of characters that a trie tells apart, then the end token.
PIECES = [
    *(
        b"a",
        b"ab",
        b"aa",
        b"b",
        b"z",
        b"0",
        b"00",
        b"a0",
        b" a",
        b" z",
        b"a b",
        b" a b",
        b"  ",
        b"_a",
        b"_z",
        b"!",
        b"a!",
        b" !",
        b"\n",
    ),
    *("é".encode(), "éa".encode(), " é".encode(), " é b".encode(), "ü".encode(), "é!".encode(), b"\xc3", b"\xa9"),
    b"",
]
PATTERNS = [
    "[ab]*[0-9]*!",
    "(é|a)*!",
    "[^!]*!",
    ".{0,5}[^0]*!",
    "(?:a|b)*é.*",
    "[a-y ]*!?",
    " ?[^ ]*",
    "[^z]*",
    "[ -~]*",
    "(.|\n)*",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(tokens=st.lists(st.sampled_from(range(len(PIECES) - 1)), max_size=12))
def test_a_token_leads_where_its_bytes_lead(pattern: str, tokens: list[int]) -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes(PIECES, eos_token_id=len(PIECES) - 1)
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex(pattern), vocabulary)
    by_tokens, by_bytes = compiled.matcher(), compiled.matcher()
    for token in tokens:
        fits = by_bytes.advance_bytes(PIECES[token]) == len(PIECES[token])
        assert by_tokens.try_advance([token], consume=True) == fits
        assert by_tokens.state == by_bytes.state
