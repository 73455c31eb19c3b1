"""What may stand between lexemes: `%ignore`, whose grammar it belongs to, how often, and at the ends of the text."""

from __future__ import annotations

from cfgmask.grammar import regex_tree as tree
from tests.build import DIGITS, alt, cat, choice, cls, grammar, many, rep, rule, scope, seq, t
from tests.cases.case import TextCase

BLANKS = rep(" ", 1)
PAIR = rule("start", seq("a", "b"))
# A grammar that ignores blanks holds one that ignores line breaks.
OUTER = rule("start", seq("x", choice("y", "$inner"), "z"))
INNER = rule("inner", seq("[", "1", "]"), scope=1)
NESTED = {"scopes": (scope(" "), scope("\n"))}

CASES = [
    TextCase(
        "any number, everywhere between lexemes",
        grammar(PAIR, scopes=(scope(" "),)),
        accepts=("ab", "a b", "  a   b  "),
        prefixes=("", " ", "a", "a  "),
        refuses=("b", " b", "a\n", "ab a"),
    ),
    TextCase(
        "never inside a lexeme",
        grammar(rule("start", seq(DIGITS, "+", DIGITS)), scopes=(scope(BLANKS),)),
        accepts=("1 + 2", "12+34"),
        prefixes=("1 ",),
        refuses=("1 2",),
    ),
    TextCase(
        "once a gap",
        grammar(PAIR, scopes=(scope(" ", once=True),)),
        accepts=("ab", "a b", " a b "),
        refuses=("  ", "a  ", "ab  "),
    ),
    TextCase(
        "once a gap, but as long as its terminal",
        grammar(PAIR, scopes=(scope(rep(" ", 1, 2), once=True),)),
        accepts=("a  b",),
        refuses=("a   ",),
    ),
    TextCase(
        "several ignored terminals are one: once a gap, whichever",
        grammar(PAIR, scopes=(scope(" ", "\n", once=True),)),
        accepts=("a b", "a\nb"),
        refuses=("a \n", "a\n "),
    ),
    TextCase(
        "several ignored terminals, any number",
        grammar(PAIR, scopes=(scope(" ", "--"),)),
        accepts=("a -- --b", "--ab "),
        prefixes=("a-", "a---"),
        refuses=("a-b",),
    ),
    TextCase(
        "not before the first lexeme",
        grammar(PAIR, scopes=(scope(" "),), ignore_initial=False),
        accepts=("a b ",),
        refuses=(" ",),
    ),
    TextCase(
        "not before an empty text either",
        grammar(rule("start", choice(seq(), "a")), scopes=(scope(" "),), ignore_initial=False),
        accepts=("", "a "),
        refuses=(" ",),
    ),
    TextCase(
        "not after the last lexeme",
        grammar(PAIR, scopes=(scope(" "),), ignore_final=False),
        accepts=(" a b",),
        refuses=("ab ",),
    ),
    TextCase(
        "not after the last lexeme: what was skipped for another lexeme forbids the end",
        grammar(rule("start", many("a", 1)), scopes=(scope(" "),), ignore_final=False),
        accepts=("a", "a a"),
        prefixes=("a ", "a a "),
        refuses=("b",),
    ),
    TextCase(
        "after the last lexeme, once",
        grammar(rule("start", many("a", 1)), scopes=(scope(" ", once=True),)),
        accepts=("a", "a ", "a a "),
        refuses=("a  ",),
    ),
    TextCase(
        "an ignored terminal that matches the empty text",
        grammar(PAIR, scopes=(scope(rep(" ", 0, 2), once=True),)),
        accepts=("ab", "a b", "a  b"),
        refuses=("a   ",),
    ),
    TextCase(
        "an ignored terminal that matches nothing",
        grammar(PAIR, scopes=(scope(tree.NOTHING),)),
        accepts=("ab",),
        refuses=(" ", "a "),
    ),
    TextCase(
        "a terminal that starts like ignored text",
        grammar(rule("start", seq("a", " b")), scopes=(scope(" "),)),
        accepts=("a b", "a  b", "a   b "),
        prefixes=("a ", "a  "),
        refuses=("ab",),
    ),
    TextCase(
        "longest match decides between ignored text and a terminal that starts with it",
        grammar(rule("start", seq("a", choice("b", cat(" ", cls("az"))))), scopes=(scope(BLANKS),)),
        accepts=("ab", "a b", "a  b"),
        prefixes=("a ", "a  "),
        refuses=("a  c",),
    ),
    TextCase(
        "text that is a terminal and ignored is both",
        grammar(rule("start", seq("a", " ", "b")), scopes=(scope(" "),)),
        accepts=("a b", "a   b"),
        prefixes=("a ",),
        refuses=("ab",),
    ),
    TextCase(
        "ignored text has priority 0",
        grammar(rule("start", seq("a", t(" ", priority=-1), "b")), scopes=(scope(" "),)),
        prefixes=("a ", "a  "),
        refuses=("a b",),
    ),
    TextCase(
        "a terminal of higher priority is not ignored",
        grammar(rule("start", seq("a", many(t(" ", priority=1), 2, 2), "b")), scopes=(scope(" "),)),
        accepts=("a  b", "a   b", " a  b"),
        prefixes=("a ",),
        refuses=("a b",),
    ),
    TextCase(
        "once a gap, beside a terminal of the same text",
        grammar(rule("start", seq("a", " ", "b")), scopes=(scope(" ", once=True),)),
        accepts=("a b", "a  b", "a   b"),
        refuses=("a    ", "ab"),
    ),
    TextCase(
        "each scope has its own",
        grammar(OUTER, INNER, **NESTED),
        accepts=("xyz", "x y z", " xyz", "x[1]z", "x\n[\n1\n]z", "x[1] z "),
        prefixes=("x ", "x\n", "x[\n"),
        refuses=("x [", "x\ny", "x \n", "x\n ", "x[ ", "x[1]\n", "\n", "x[1]z\n"),
    ),
    TextCase(
        "each scope has its own, in every segmentation",
        grammar(OUTER, INNER, lexer="complete", **NESTED),
        accepts=("xyz", "x y z", " xyz", "x[1]z", "x\n[\n1\n]z", "x[1] z "),
        prefixes=("x ", "x\n", "x[\n"),
        refuses=("x [", "x\ny", "x \n", "x\n ", "x[ ", "x[1]\n", "\n", "x[1]z\n"),
    ),
    TextCase(
        "equal ignored text of two scopes keeps the items of both",
        grammar(OUTER, INNER, scopes=(scope(" "), scope(" ", once=True))),
        accepts=("x y z", "x  y z", "x [ 1 ]  z"),
        refuses=("x  [", "x[  "),
    ),
    TextCase(
        "the start rule's scope holds the ends of the text",
        grammar(rule("start", seq("$inner", many("!")), scope=1), rule("inner", "a"), scopes=(scope(" "), scope("\n"))),
        accepts=("a\n", "a\n!\n", " a"),
        refuses=("\n", "a ", " a "),
    ),
    TextCase(
        "complete: ignored text may end anywhere",
        grammar(rule("start", seq("a", " b")), scopes=(scope(BLANKS),), lexer="complete"),
        accepts=("a b", "a   b"),
        refuses=("ab",),
    ),
    TextCase(
        "longest: greedy ignored text leaves nothing to a terminal",
        grammar(rule("start", seq("a", " b")), scopes=(scope(BLANKS),)),
        accepts=("a b",),
        prefixes=("a  ",),
        refuses=("a  b",),
    ),
    TextCase(
        "comments",
        grammar(rule("start", many(DIGITS)), scopes=(scope(BLANKS, cat("#", rep(cls("az", " ")), "\n"), "/*x*/"),)),
        accepts=("1 2", "1 # a b\n2", "#\n", "1/*x*/2"),
        prefixes=("1 #", "1 # a", "1/"),
        refuses=("1 # 2", "1/2"),
    ),
    TextCase(
        "complete, once: a gap may not be split in two",
        grammar(PAIR, scopes=(scope(alt(" ", "  ", "\n"), once=True),), lexer="complete"),
        accepts=("a b", "a  b"),
        refuses=("a   ", "a \n"),
    ),
]
