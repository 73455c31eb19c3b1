"""Random grammars whose lines are indented: blocks and brackets that nest as they should, and some that do not."""

from __future__ import annotations

import random

from hypothesis import reject
from hypothesis import strategies as st

from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Indenter, Repeat, Rule, RuleRef, Sequence, Terminal, TokenSet
from tests.build import alt, cat, cls, rep, scope, t
from tests.oracle_regex import Undecided
from tests.strategies import Problem, conditional, problems_of

INDENT, DEDENT = TokenSet("_INDENT", kind="indent"), TokenSet("_DEDENT", kind="dedent")
OPEN, CLOSE = Terminal("(", t("(").regex, role="open"), Terminal(")", t(")").regex, role="close")

_BLANKS = rep(cls(" ", "\t"))
_COMMENT = cat("/", rep(cls("a", " ")))
NEWLINES = [
    cat("\n", _BLANKS),
    rep(cat("\n", _BLANKS), 1),
    rep(alt(cat("\n", _BLANKS), _COMMENT), 1),
    cat("\n", rep(" ", 0, 2)),
    rep(cls(" ", "\n"), 1),
    alt("\n", cat("\n", rep("  ", 1), rep("a", 0, 1)), ")"),
]
TEXTS = (
    b"b:\n a\n  b\n a\n",
    b"b:\n\ta\n\n/a a\n (\n b)\n",
    b"b:\n  b:\n   a\n\n  /\n  a\nb\n",
    b"(\n(a)\n )b\n\n  a\n ",
)


def _block(newline: Terminal, parts: list[Expr]) -> Expr:
    """`: newline _INDENT` the parts `_DEDENT`"""
    return Sequence((t(":"), newline, INDENT, *parts, DEDENT))


@st.composite
def indented_problems(draw: st.DrawFn, *, conditions: bool = False) -> Problem:
    """An indented grammar over pieces of texts that are indented."""
    newline = Terminal("NL", draw(st.sampled_from(NEWLINES)), role="newline")
    letters = st.sampled_from([t("a"), t("b"), t("ab"), t(alt("a", ")")), t(cat("a", "\n"))])
    leaves: list[st.SearchStrategy[Expr]] = [
        conditional(letters) if conditions else letters,
        st.sampled_from([newline, newline, INDENT, DEDENT, OPEN, CLOSE]),
        st.sampled_from(["start", "line", "part"]).map(RuleRef),
    ]

    def grown(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        several = st.lists(parts, min_size=1, max_size=3)
        return st.one_of(
            several.map(tuple).map(Sequence),
            several.map(tuple).map(Choice),
            parts.map(lambda part: Repeat(part, 0, None)),
            several.map(lambda parts: _block(newline, parts)),
            parts.map(lambda part: Sequence((OPEN, part, CLOSE))),
        )

    bodies = st.recursive(st.one_of(leaves), grown, max_leaves=4)
    line = Choice((Sequence((RuleRef("part"), newline)), Sequence((t("b"), _block(newline, [RuleRef("start")])))))
    rules = (
        Rule("start", draw(st.one_of(bodies, st.just(Repeat(RuleRef("line"), 1, None)), st.just(RuleRef("line"))))),
        Rule("line", draw(st.one_of(st.just(line), st.just(line), bodies))),
        Rule("part", Choice((draw(bodies), Sequence((OPEN, RuleRef("part"), CLOSE)), t("a")))),
    )
    ignored = draw(st.sampled_from([(), (" ",), (_BLANKS, _COMMENT), (rep(cls(" ", "\n"), 1),)]))
    ir = GrammarIR(
        rules,
        "start",
        (scope(*ignored, once=draw(st.booleans())),),
        ignore_initial=draw(st.booleans()),
        ignore_final=draw(st.booleans()),
        indenter=Indenter(newline, tab_len=draw(st.sampled_from([1, 2, 8]))),
    )
    try:
        return problems_of([ir], random.Random(draw(st.integers(0, 2**16))), TEXTS)[0]
    except (Undecided, ValueError):
        reject()
