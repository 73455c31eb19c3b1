"""Vocabularies: tokens over several lexemes, parts of characters, end tokens, tokens that match by id."""

from __future__ import annotations

from tests.build import DIGITS, WORD, choice, cls, grammar, many, rule, scope, seq, tokens
from tests.cases.case import TokenCase

SUM = rule("start", seq(DIGITS, many(seq("+", DIGITS))))
A, B, AB, END, OTHER_END, TOOL, EMPTY = range(7)
LETTERS = (b"a", b"b", b"ab", b"", b"", b"", b"")

CASES = [
    TokenCase(
        "tokens over several lexemes",
        grammar(SUM, scopes=(scope(" "),)),
        (b"1", b"+", b"1+", b" + 2", b"++", b"+ ", b"1 1", b"", b"12"),
        (7,),
        {
            (): {0, 2, 8},
            (0,): {0, 1, 2, 3, 5, 7, 8},
            (2,): {0, 2, 8},
            (0, 3): {0, 1, 2, 3, 5, 7, 8},
            (0, 5): {0, 2, 8},
            (0, 7): {7},
            (0, 7, 7): {7},
        },
    ),
    TokenCase(
        "duplicates, tokens without text, several end tokens, an end token with bytes",
        grammar(rule("start", many("a"))),
        (b"a", b"a", b"", b"a", b"aa", b"</s>"),
        (3, 5),
        {(): {0, 1, 3, 4, 5}, (4,): {0, 1, 3, 4, 5}, (0, 3): {3, 5}, (5,): {3, 5}},
    ),
    TokenCase(
        "parts of characters",
        grammar(rule("start", many(cls("é", "€")))),
        (b"\xc3", b"\xa9", b"\xc3\xa9", b"\xe2\x82", b"\xac\xc3", b"\x82\xac", b"\xe2", b"\xa9\xa9", b""),
        (8,),
        {(): {0, 2, 3, 6, 8}, (0,): {1}, (3,): {4}, (6,): {5}, (3, 4): {1}, (0, 1): {0, 2, 3, 6, 8}},
    ),
    TokenCase(
        "special tokens match by name at the border of lexemes",
        grammar(rule("start", seq(WORD, tokens(TOOL), "b"))),
        LETTERS,
        (END,),
        {(): {A, B, AB}, (A,): {A, B, AB, TOOL}, (A, TOOL): {B}, (A, TOOL, B): {END}},
    ),
    TokenCase(
        "a special token may not cut a lexeme",
        grammar(rule("start", seq("ab", tokens(TOOL)))),
        LETTERS,
        (END,),
        {(): {A, AB}, (A,): {B}, (A, B): {TOOL}, (AB,): {TOOL}, (AB, TOOL): {END}},
    ),
    TokenCase(
        "an ordinary token matches by id beside its bytes",
        grammar(rule("start", choice(seq(tokens(AB), "a"), seq("a", "b", "b")))),
        LETTERS,
        (END,),
        {(): {A, AB}, (AB,): {A, B}, (A,): {B}, (A, B): {B}, (AB, A): {END}, (AB, B): {END}},
    ),
    TokenCase(
        "every token but the end tokens",
        grammar(rule("start", seq(tokens(negated=True), "b"))),
        LETTERS,
        (END, OTHER_END),
        {(): {A, B, AB, TOOL, EMPTY}, (TOOL,): {B}, (AB,): {B}, (A, B): {END, OTHER_END}},
    ),
    TokenCase(
        "every token but one",
        grammar(rule("start", many(tokens(TOOL, A, negated=True)))),
        LETTERS,
        (END,),
        {(): {B, AB, OTHER_END, EMPTY, END}, (B, AB): {B, AB, OTHER_END, EMPTY, END}},
    ),
    TokenCase(
        "an end token that a grammar names is an ordinary symbol there",
        grammar(rule("start", seq("a", tokens(END), "b"))),
        LETTERS,
        (END, OTHER_END),
        {(): {A}, (A,): {END}, (A, END): {B}, (A, END, B): {END, OTHER_END}, (A, END, B, END): {END, OTHER_END}},
    ),
    TokenCase(
        "a named end token does not end the text where it is a symbol",
        grammar(rule("start", seq("a", many(tokens(END), 0, 1)))),
        LETTERS,
        (END, OTHER_END),
        {(A,): {END, OTHER_END}, (A, END): {END, OTHER_END}, (A, OTHER_END): {END, OTHER_END}},
    ),
    TokenCase(
        "a named end token may be followed by more",
        grammar(rule("start", choice("a", seq("a", tokens(END), "b")))),
        LETTERS,
        (END, OTHER_END),
        {(A,): {END, OTHER_END}, (A, END): {B}, (A, END, B): {END, OTHER_END}},
    ),
    TokenCase(
        "names of special tokens",
        grammar(rule("start", seq(tokens(TOOL), "a"))),
        LETTERS,
        (END,),
        {(): {TOOL}, (TOOL,): {A}},
        special={"<|tool|>": TOOL},
    ),
    TokenCase(
        "ignored text before a token set",
        grammar(rule("start", seq("a", tokens(2), "a")), scopes=(scope(" "),)),
        (b"a", b" ", b"", b" a", b""),
        (4,),
        {(): {0, 1, 3}, (0,): {1, 2}, (0, 1): {1, 2}, (0, 1, 2): {0, 1, 3}, (3, 2, 3): {1, 4}},
    ),
    TokenCase(
        "only the end",
        grammar(rule("start", seq())),
        LETTERS,
        (END, OTHER_END),
        {(): {END, OTHER_END}, (OTHER_END,): {END, OTHER_END}},
    ),
]
