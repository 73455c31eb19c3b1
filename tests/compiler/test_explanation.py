"""`Matcher.explain`: every reason, whole renderings, and agreement with masks and single bytes."""

from __future__ import annotations

import pytest
from hypothesis import given

import cfgmask
from tests.engine.harness import mask_of
from tests.strategies import Problem, discards_undecided, problems, random_token

GRAMMAR = """\
start: <think> list
list: "[" [item ("," item)*] "]"
item: NUMBER | name
name: /[a-z]+/
NUMBER: /[0-9]+/
%ignore " "
"""
TOKENS = [b"[", b"1", b"a", b'",', b"1,]", b"", b"</s>", b"", b"1, b"]
THINK, END, OTHER = 5, 6, 7


def matcher_after(*tokens: int) -> cfgmask.Matcher:
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, END, {"<think>": THINK, "<other>": OTHER})
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(GRAMMAR, name="g.lark"), vocabulary).matcher()
    for token in tokens:
        matcher.advance(token)
    return matcher


@pytest.mark.parametrize(
    ("before", "token", "reason", "offset", "expected", "may_end"),
    [
        ((), THINK, "allowed", 0, ['"["'], False),
        ((), 0, "bytes", 0, ["<think>"], False),
        ((), OTHER, "id", 0, ["<think>"], False),
        ((), END, "incomplete", 0, ["<think>"], False),
        ((), 1000, "unknown", 0, ["<think>"], False),
        ((), -1, "unknown", 0, ["<think>"], False),
        ((), 2**40, "unknown", 0, ["<think>"], False),
        ((THINK, 0), 4, "bytes", 2, ["NUMBER", "/[a-z]+/"], False),
        ((THINK, 0), 8, "allowed", 4, ["/[a-z]+/", '","', '"]"'], False),
        ((THINK, 0), THINK, "id", 0, ["NUMBER", "/[a-z]+/", '"]"'], False),
    ],
)
def test_reasons(
    before: tuple[int, ...], token: int, reason: str, offset: int, expected: list[str], may_end: bool
) -> None:
    explanation = matcher_after(*before).explain(token)
    assert (explanation.token_id, explanation.reason, explanation.offset) == (token, reason, offset)
    assert sorted(e.name for e in explanation.expected) == sorted(expected)
    assert explanation.may_end is may_end
    assert explanation.allowed is (reason == "allowed")


def test_after_the_end() -> None:
    matcher = matcher_after(THINK)
    matcher.advance_bytes(b"[]")
    assert matcher.explain(END).allowed
    assert str(matcher.explain(1)) == (
        'error[token-refused]: token 1 "1" is refused at its byte 0, "1"\n  help: expected the end of the text'
    )
    matcher.advance(END)
    assert matcher.explain(END).allowed
    assert str(matcher.explain(1)) == (
        'error[token-refused]: token 1 "1" is refused: the text has ended\n  help: expected the end of the text'
    )


def test_the_whole_rendering() -> None:
    assert (
        str(matcher_after(THINK, 0).explain(4))
        == """\
error[token-refused]: token 4 "1,]" is refused at its byte 2, "]"
  note: `item` expects NUMBER
  --> g.lark:3:1
3 | item: NUMBER | name
  | ^^^^
  note: `name` expects /[a-z]+/
  --> g.lark:4:1
4 | name: /[a-z]+/
  | ^^^^
  help: expected NUMBER or /[a-z]+/"""
    )


def test_places() -> None:
    explanation = matcher_after(THINK, 0, 1).explain(2)
    places = {
        e.name: (e.span and e.span.source.position(e.span.start), [rule.name for rule in e.rules])
        for e in explanation.expected
    }
    assert places == {"NUMBER": ((5, 1), ["item"]), '","': ((2, 18), ["list"]), '"]"': ((2, 30), ["list"])}


def test_a_schema_has_no_places() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([b"1", b"x", b""], 2)
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema({"type": "integer"}), vocabulary).matcher()
    assert str(matcher.explain(1)) == (
        'error[token-refused]: token 1 "x" is refused at its byte 0, "x"\n  help: expected INTEGER'
    )


@given(problems())
@discards_undecided
def test_it_agrees_with_masks_and_bytes(problem: Problem) -> None:
    tokens, n_vocab = problem.vocabulary.tokens, len(problem.vocabulary.tokens)
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, problem.vocabulary.end_tokens, problem.vocabulary.special)
    matcher = cfgmask.compile(cfgmask.Grammar(problem.ir), vocabulary).matcher()
    for _ in range(4):
        mask = mask_of(matcher, n_vocab)
        assert matcher.expected() or matcher.is_accepting or not any(tokens[token] for token in mask)
        for token in range(n_vocab):
            explanation = matcher.explain(token)
            assert explanation.allowed == (token in mask)
            fork = matcher.fork()
            assert fork.advance_bytes(explanation.data[: explanation.offset]) == explanation.offset
            if explanation.reason == "bytes":
                assert explanation.data == tokens[token]
                assert fork.fork().advance_bytes(explanation.data[explanation.offset :]) == 0
                assert {e.name for e in explanation.expected} == set(fork.expected())
                assert explanation.may_end == fork.is_accepting
        step = random_token(problem.oracle, mask, problem.random)
        if step is None:
            break
        matcher.advance(step)


def test_what_leads_too_far_from_the_end_is_told() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([b"a", b"b", b""], eos_token_id=2)
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark('start: "a"* "b"'), vocabulary)
    for matcher in (compiled.matcher(max_tokens=3), compiled.matcher(stall_after=2)):
        assert matcher.explain(0).allowed
        matcher.try_advance([0, 0])
        assert matcher.explain(0).reason == "far"
        assert str(matcher.explain(0)).splitlines() == [
            'error[token-refused]: token 0 "a" is refused: it leads too far from the end of the text',
            '  help: after it may come "a" or "b"',
        ]
        assert matcher.explain(1).allowed
        assert matcher.explain(2).reason == "incomplete"
