"""Lists in which no value comes twice: what a value is, where a set begins and ends, tokens that hold several."""

from __future__ import annotations

import pytest

from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, RuleRef, Sequence, SetBounds, Terminal
from tests.engine.harness import compile_ir, mask_of
from tests.strategies import VocabularySpec

STRING = Terminal("STRING", tree.JsonString(tree.ANY_TEXT), distinct=True)
DIGITS = tree.Repetition(tree.CharClass(((0x30, 0x39),)), 1, None)
FRACTION = tree.Repetition(tree.Concatenation((tree.text("."), DIGITS)), 0, 1)
NUMBER = Terminal(
    "NUMBER", tree.Concatenation((tree.Repetition(tree.text("-"), 0, 1), DIGITS, FRACTION)), distinct=True
)
WORD = Terminal("WORD", tree.KeySet((b"true", b"false", b"null")), distinct=True)


def mark(text: str) -> Terminal:
    return Terminal(text, tree.text(text))


def list_of(value: Expr) -> Expr:
    more = Repeat(Sequence((mark(","), value)), 0, None)
    return Choice((Sequence((mark("["), mark("]"))), Sequence((mark("["), value, more, mark("]")))))


def grammar(value: Expr) -> GrammarIR:
    return GrammarIR((Rule("start", list_of(value), opens_set=SetBounds()),), "start")


SCALARS = grammar(Choice((STRING, NUMBER, WORD)))
NESTED = grammar(Choice((STRING, RuleRef("start"))))
FINITE = grammar(Terminal("V", tree.JsonString(tree.KeySet((b"a", b"b"))), distinct=True))


@pytest.mark.parametrize(
    ("ir", "taken", "refused"),
    [
        (SCALARS, '["a","b"]', ""),
        (SCALARS, '["a","ab","aa","a', '"]'),
        (SCALARS, r'["a","\u0061', '"]'),
        (SCALARS, r'["/","\/', '"]'),
        (SCALARS, r'["😀","\ud83d\ude00', '"]'),
        (SCALARS, '["1",1,"true",true]', ""),
        (SCALARS, "[1,1.0", "]"),
        (SCALARS, "[1,1.01,1.010", "]"),
        (SCALARS, "[0,-0", "]"),
        (SCALARS, "[0.0,-0.00", "]"),
        (SCALARS, "[-1,1]", ""),
        (SCALARS, "[true,", "true]"),
        (NESTED, '["a",["a"],"a', '"]'),
        (NESTED, '["a",["a",["a"],"b"],"b"]', ""),
        (NESTED, '[["a"],["a"]]', ""),
        (FINITE, '["a","b"]', ""),
        (FINITE, '["a","b"', ',"'),
        (FINITE, '["b","', 'b"]'),
    ],
)
def test_how_far_a_list_goes(ir: GrammarIR, taken: str, refused: str) -> None:
    matcher = compile_ir(ir).matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken.encode())
    assert matcher.is_accepting == (not refused)


def test_tokens_that_hold_several_values() -> None:
    tokens = [b'["a",', b'"a"', b'"b",', b'"b","a"', b'"b","b"', b'"c","d"]', b'["a","a"', b'b",', b'a",', b'"', b""]
    matcher = compile_ir(SCALARS, VocabularySpec(tokens, [10], {})).matcher()
    for taken in ([0], [0, 2], [0, 9]):
        matcher.reset()
        for token in taken:
            matcher.advance(token)
        fits = {t for t in range(len(tokens)) if matcher.try_advance([t], consume=False) == 1}
        assert mask_of(matcher, len(tokens)) == fits
    matcher.reset()
    matcher.advance(0)
    assert mask_of(matcher, len(tokens)) == {2, 5, 9}


def test_the_order_of_what_was_seen_does_not_matter() -> None:
    compiled = compile_ir(SCALARS)
    one, other = compiled.matcher(), compiled.matcher()
    one.advance_bytes(b'["a",1,')
    n_item_sets = compiled.stats()["item_sets"]
    other.advance_bytes(b'[1,"a",')
    assert mask_of(one, 257) == mask_of(other, 257)
    assert compiled.stats()["masks"] == 1
    assert compiled.stats()["item_sets"] > n_item_sets


def test_rollback_forgets_values() -> None:
    matcher = compile_ir(SCALARS).matcher()
    for byte in b'["a","':
        matcher.advance(byte)
    assert matcher.try_advance(list(b'a"'), consume=False) == 1
    matcher.rollback(4)
    assert matcher.try_advance(list(b'b","a"'), consume=False) == 6
