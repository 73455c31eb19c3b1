"""Lists in which no value comes twice: what a value is, where a set begins and ends, tokens that hold several."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, RuleRef, Sequence, SetBounds, Step, Terminal
from tests.engine.harness import compile_ir, mask_of
from tests.oracle import Oracle
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


def list_of(value: Expr, comma: str = ",") -> Expr:
    more = Repeat(Sequence((mark(comma), value)), 0, None)
    return Choice((Sequence((mark("["), mark("]"))), Sequence((mark("["), value, more, mark("]")))))


def grammar(value: Expr) -> GrammarIR:
    return GrammarIR((Rule("start", list_of(value), opens_set=SetBounds()),), "start")


SCALARS = grammar(Choice((STRING, NUMBER, WORD)))
NESTED = grammar(Choice((STRING, RuleRef("start"))))
FINITE = grammar(Terminal("V", tree.JsonString(tree.KeySet((b"a", b"b"))), distinct=True))


def item_of(*parts: Expr) -> GrammarIR:
    """Lists of items of which each is all of these in a row."""
    item = Rule("item", Sequence(parts), opens_set=SetBounds(holds="item"))
    start = Rule("start", list_of(RuleRef("item")), opens_set=SetBounds())
    return GrammarIR((start, item), "start")


DIGIT = tree.KeySet((b"1", b"2"))
# Two digits, the first of which has two ends.
PAIRS = item_of(
    Terminal("V", DIGIT, distinct=True, step=Step(1, 2)), Terminal("W", DIGIT, distinct=True, step=Step(2, 1))
)
# <1> or <1;2;1> and so on: endlessly many, so only the mark that ends one may be too much.
MORE = item_of(
    mark("<"),
    Terminal("V", DIGIT, distinct=True, step=Step(1)),
    Repeat(Sequence((replace(mark(";"), step=Step(2)), Terminal("W", DIGIT, distinct=True, step=Step(3)))), 0, None),
    replace(mark(">"), step=Step(4, 1)),
)
# Of two alternatives that begin alike each has ends of its own.
EITHER = item_of(
    Choice(
        (
            Sequence((replace(mark("<"), step=Step(1, 2)), Terminal("V", DIGIT, distinct=True, step=Step(2, 1)))),
            Sequence((replace(mark("<"), step=Step(3, 1)), mark("c"))),
        )
    )
)


@pytest.mark.parametrize(
    ("ir", "taken", "refused"),
    [
        (PAIRS, "[11,12,22,21]", ""),
        (PAIRS, "[11,1", "1]"),
        (PAIRS, "[11,12,", "1"),
        (PAIRS, "[11,12,22,21", ","),
        (MORE, "[<1>,<1;1>,<1;1;1>,<2>]", ""),
        (MORE, "[<1>,<1", ">"),
        (MORE, "[<1;2>,<1;2", ">"),
        (EITHER, "[<c,<1,<2]", ""),
        (EITHER, "[<c,<", "c"),
        (EITHER, "[<2,<1,<", "2"),
        (EITHER, "[<2,<1,<c", ","),
    ],
)
def test_items_are_begun_only_if_some_end_is_left(ir: GrammarIR, taken: str, refused: str) -> None:
    matcher = compile_ir(ir).matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken.encode())
    assert matcher.is_accepting == (not refused)


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


# Strings that no register looks at, beside those that one does.
PLAIN = Terminal("P", tree.JsonString(tree.KeySet((b"a", b"b")), escapes="canonical"))
NEW = replace(PLAIN, name="V", distinct=True)
OPENING, COMMA, CLOSING = mark("["), mark(","), replace(mark("]"), closes_set=True)


def bounded(*parts: Expr, required: str, maximum: int | None = None, more: Expr = COMMA) -> GrammarIR:
    """A list that has a value and `maximum` values at most, and a rule `more`."""
    bounds = SetBounds((required,), maximum=maximum)
    return GrammarIR((Rule("start", Sequence(parts), opens_set=bounds), Rule("more", more)), "start")


def any_of(value: Expr) -> Expr:
    return Repeat(Sequence((COMMA, value)), 0, None)


@pytest.mark.parametrize("lexer", ["longest", "complete"])
@pytest.mark.parametrize(
    ("ir", "taken", "refused"),
    [
        # No value that the register looks at has room, and none of the others is the one that must come.
        (bounded(OPENING, PLAIN, any_of(NEW), CLOSING, required="c", maximum=1), "", "["),
        (bounded(OPENING, NEW, any_of(PLAIN), CLOSING, required="a"), '["a","b"]', ""),
        (bounded(OPENING, NEW, any_of(PLAIN), CLOSING, required="a"), '["b"', ","),
        # What follows is in another group, or in the rule around.
        (bounded(Sequence((OPENING, NEW, COMMA)), NEW, CLOSING, required="a", maximum=1), '["a"', ","),
        (bounded(Sequence((OPENING, NEW, COMMA)), NEW, CLOSING, required="a", maximum=2), '["b","', "b"),
        (bounded(OPENING, NEW, RuleRef("more"), NEW, CLOSING, required="a", maximum=1), '["a"', ","),
        (
            bounded(
                *(OPENING, NEW, RuleRef("more"), NEW, CLOSING),
                required="a",
                maximum=1,
                more=Choice((COMMA, Sequence((RuleRef("more"), COMMA)), Sequence((RuleRef("more"), NEW)))),
            ),
            '["a"',
            ",",
        ),
    ],
)
def test_nothing_comes_behind_which_no_value_may(ir: GrammarIR, taken: str, refused: str, lexer: str) -> None:
    ir = replace(ir, lexer=lexer)
    matcher, oracle = compile_ir(ir).matcher(), Oracle(ir)
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken)
    assert matcher.is_accepting == oracle.accepts(taken.encode()) == (not refused)
    assert oracle.is_prefix(taken.encode())
    assert oracle.is_prefix((taken + refused).encode()) == (not refused)


# Strings with quotes and what else a scalar is, in one terminal.
MIXED = Terminal(
    "V",
    tree.Alternation((tree.JsonString(tree.KeySet((b"a", b"1")), escapes="canonical"), tree.text("1"))),
    distinct=True,
)
ONE_OF_MIXED = Rule("again", MIXED, opens_set=SetBounds(holds="again"))


@pytest.mark.parametrize(
    ("value", "taken", "refused"),
    [
        (MIXED, '["1",1,"a"]', ""),
        (MIXED, '[1,"1","', '1"]'),
        (RuleRef("again"), "[1,1]", ""),
        (RuleRef("again"), '["1","1"]', ""),
        (RuleRef("again"), '["1",', "1]"),
        (RuleRef("again"), "[1,", '"1"]'),
    ],
)
def test_a_number_is_no_string_that_is_spelled_alike(value: Expr, taken: str, refused: str) -> None:
    body = Sequence((OPENING, MIXED, Repeat(Sequence((COMMA, value)), 0, None), mark("]")))
    ir = GrammarIR((Rule("start", body, opens_set=SetBounds()), ONE_OF_MIXED), "start")
    matcher, oracle = compile_ir(ir).matcher(), Oracle(ir)
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken)
    assert matcher.is_accepting == oracle.accepts(taken.encode()) == (not refused)
    assert oracle.is_prefix(taken.encode())
    assert oracle.is_prefix((taken + refused[:1]).encode()) == (not refused)


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


def test_tokens_that_end_inside_of_a_mark_behind_the_last_value() -> None:
    """What comes behind the mark is not begun in the token, and there may be nothing left."""
    value = Terminal("V", tree.JsonString(tree.KeySet((b"a",))), distinct=True)
    ir = GrammarIR((Rule("start", list_of(value, ", "), opens_set=SetBounds()),), "start")
    tokens = [b"[", b'"a', b'"a"', b'"a",', b'a", ', b'",', b'"a"]', b""]
    matcher = compile_ir(ir, VocabularySpec(tokens, [7], {})).matcher()
    matcher.advance(0)
    assert mask_of(matcher, len(tokens)) == {1, 2, 6}
    matcher.advance(1)
    assert mask_of(matcher, len(tokens)) == set()


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
