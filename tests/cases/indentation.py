"""Lines that are indented: blocks, brackets, and newlines that may or may not go on."""

from __future__ import annotations

from typing import Any

from cfgmask.grammar.ir import Expr, GrammarIR, Indenter, Terminal, TokenSet
from cfgmask.grammar.regex_tree import RegexTree, text
from tests.build import alt, cat, choice, cls, grammar, many, opt, rep, rule, scope, seq, t
from tests.cases.case import TextCase

INDENT, DEDENT = TokenSet("_INDENT", kind="indent"), TokenSet("_DEDENT", kind="dedent")
OPEN, CLOSE = Terminal("(", t("(").regex, role="open"), Terminal(")", t(")").regex, role="close")
LINE_BREAKS = rep(cat(opt("\r"), "\n", rep(cls(" ", "\t"))), 1)
COMMENTS = rep(alt(cat("\n", rep(" ")), cat("#", rep(cls("az", " ")))), 1)


def newline(regex: RegexTree) -> Terminal:
    return Terminal("NL", regex, role="newline")


def blocks(end: Terminal, tab_len: int = 8) -> GrammarIR:
    """Lines `a`, or `b:` with a block under it."""
    line = choice(seq(t("a"), end), seq("b", ":", end, INDENT, many("$line", 1), DEDENT))
    return grammar(rule("start", many("$line", 1)), rule("line", line), indenter=Indenter(end, tab_len=tab_len))


def bracketed(body: Expr, end: Terminal, **options: Any) -> GrammarIR:
    return grammar(
        rule("start", many(seq("$value", end), 1)),
        rule("value", choice("a", seq(OPEN, body, CLOSE))),
        indenter=Indenter(end),
        **options,
    )


BREAKS = newline(LINE_BREAKS)

CASES = [
    TextCase(
        "a block is wider than what is around it, and ends where that goes on",
        blocks(BREAKS),
        accepts=("a\n", "b:\n a\n", "b:\n  a\n  a\na\n", "b:\n b:\n  a\n a\na\n", "b:\n b:\n  a\na\n"),
        prefixes=("", "b:", "b:\n", "b:\n ", "b:\n a"),
        refuses=("b:\na", "b:\n a\n  a", "b:\n  a\n a", " "),
    ),
    TextCase(
        "all blocks end with the text, whatever the width of its last line",
        blocks(BREAKS),
        accepts=("b:\n  b:\n   a\n   ", "b:\n  b:\n   a\n  ", "b:\n  b:\n   a\n", "b:\n   a\n"),
        prefixes=("b:\n  b:\n   a\n ", "b:\n  b:\n   a\n    "),
    ),
    TextCase(
        "only the last line break of a newline counts",
        blocks(BREAKS),
        accepts=("a\n     \n\na\n", "b:\n\n   \n a\n\n\t\n a\n", "b:\r\n a\r\n\r\na\r\n"),
        refuses=("a\n     \n a", "a\n\ra"),
    ),
    TextCase(
        "a tab is as wide as so many blanks",
        blocks(BREAKS, tab_len=4),
        accepts=("b:\n\ta\n    a\n", "b:\n \t a\n      a\n"),
        refuses=("b:\n\ta\n     a", "b:\n\ta\n\t\ta"),
    ),
    TextCase(
        "a newline that cannot go on must fit",
        blocks(newline(cat("\n", rep(" ", 0, 3)))),
        accepts=("b:\n a\na\n", "b:\n b:\n  a\n a\n"),
        prefixes=("b:\n  b:\n   a\n ",),
        refuses=("a\n ", "b:\n   a\n    ", "b:\n   b:\n    ", "b:\n a\n  "),
    ),
    TextCase(
        "a newline goes on with comments, but ends with blanks",
        blocks(newline(COMMENTS)),
        accepts=("a# x\n", "a\n# x\na\n", "b:# x y\n  # z\n a\n   # a  \n a\n", "a\n# x\n"),
        prefixes=("a# x", "a\n# x", "b:\n  a\n  #  "),
        refuses=("a# x\n a",),
    ),
    TextCase(
        "inside of brackets newlines are ignored text",
        bracketed(seq("$value", many("$value")), BREAKS),
        accepts=("a\n", "(a\n   a)\n", "(\n(\n a)\n   a\n)\n\n"),
        prefixes=("(a\n", "(a\n   "),
        refuses=("\n", "(a\n)a", "(a)\n a", ")"),
    ),
    TextCase(
        "newlines in brackets and other ignored text",
        bracketed(seq("$value"), BREAKS, scopes=(scope(" "),)),
        accepts=(" a \n", "( \n a \n ) \n"),
        refuses=("( \n a \n ) \n a",),
    ),
    TextCase(
        "ignored text once a gap holds one newline",
        bracketed(seq("$value"), newline(text("\n")), scopes=(scope(" ", once=True),)),
        accepts=("(\na )\n",),
        refuses=("(\n ", "( \n", "(\n\n"),
    ),
    TextCase(
        "a bracket that nothing opened does not close",
        grammar(rule("start", seq(many("a"), CLOSE, BREAKS)), indenter=Indenter(BREAKS)),
        prefixes=("aa",),
        refuses=("a)",),
    ),
    TextCase(
        "a lexeme of two roles is read in both",
        grammar(
            rule("start", choice(seq(OPEN, "a", BREAKS, "a"), seq(t("("), "a", BREAKS, "b"))), indenter=Indenter(BREAKS)
        ),
        accepts=("(a\nb",),
        prefixes=("(a\n ",),
        refuses=("(a\na", "(a\n b"),
    ),
    TextCase(
        "what ignored text follows still ends its blocks",
        grammar(
            rule("start", seq("b", BREAKS, INDENT, "a", BREAKS, DEDENT)),
            scopes=(scope("-"),),
            indenter=Indenter(BREAKS),
        ),
        accepts=("b\n a\n", "b-\n -a-\n--", "b\n a\n --"),
        refuses=("b\n--a",),
    ),
]
