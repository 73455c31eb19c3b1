"""Terminals that ask something of the text before and after their lexemes."""

from __future__ import annotations

from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import Scope, Terminal
from tests.build import DIGITS, WORD, alt, cat, choice, cls, grammar, many, opt, rule, scope, seq, t
from tests.cases.case import TextCase

ANY = tree.ANY_TEXT
WORD_CHARACTER = cls("az", "09", "é")
NO_WORD_BEFORE = alt("", cat(ANY, tree.negated(WORD_CHARACTER)))
NO_WORD_AFTER = alt("", cat(tree.negated(WORD_CHARACTER), ANY))


def around(
    regex: str | tree.RegexTree,
    before: tree.RegexTree | None = None,
    after: tree.RegexTree | None = None,
    priority: int = 0,
) -> Terminal:
    return Terminal("T", t(regex).regex, priority, before=before, after=after)


def word(text: str, priority: int = 0) -> Terminal:
    """The text as a whole word: `\\btext\\b`."""
    return around(text, NO_WORD_BEFORE, NO_WORD_AFTER, priority)


SPACES = (scope(" "),)

CASES = [
    TextCase(
        "what stands before a lexeme",
        grammar(rule("start", seq(many("a"), around("b", before=tree.Complement(cat(ANY, "aa"))), many("a")))),
        accepts=("b", "ab", "aba", "baa"),
        prefixes=("", "aaaa"),
        refuses=("aab", "aaab", "bb"),
    ),
    TextCase(
        "what follows a lexeme is no part of it",
        grammar(rule("start", seq(around("a", after=cat("b", ANY)), choice("b", "c")))),
        accepts=("ab",),
        prefixes=("a",),
        refuses=("b", "ac"),
    ),
    TextCase(
        "a negative condition holds at the end of the text",
        grammar(rule("start", many(around("a", after=tree.Complement(cat("b", ANY))), 1))),
        accepts=("a", "aa"),
    ),
    TextCase(
        "the text may have to end",
        grammar(rule("start", choice(around("a", after=tree.EMPTY_TEXT), seq("a", "b"), seq("c", "d")))),
        accepts=("a", "ab", "cd"),
        refuses=("aa", "ac"),
    ),
    TextCase(
        "the text may have to begin",
        grammar(rule("start", many(choice(around("a", before=tree.EMPTY_TEXT), "b"), 1))),
        accepts=("a", "ab", "bb"),
        refuses=("aa", "ba"),
    ),
    TextCase(
        "ignored text counts on both sides",
        grammar(rule("start", many(choice(word("if"), DIGITS), 1)), scopes=SPACES),
        accepts=("if", "if if", " if 1 if ", "1 if", "if  "),
        prefixes=("", " "),
        refuses=("if1", "1i", "ifi"),
    ),
    TextCase(
        "keywords and names",
        grammar(rule("start", choice(seq(word("if"), WORD, "!"), seq(WORD, "?"))), scopes=SPACES),
        accepts=("if x!", "ifx?", "if?", "if if!", "iff?"),
        prefixes=("if", "if ", "ifx"),
        refuses=("ifx!", "if!", "x!"),
    ),
    TextCase(
        "a condition leaves no way on",
        grammar(rule("start", choice(seq(word("if"), "x"), seq("id", "x")))),
        accepts=("idx",),
        prefixes=("i", "id"),
        refuses=("if",),
    ),
    TextCase(
        "no way on within the bytes of a character",
        grammar(rule("start", choice(seq(word("if"), choice("é", "ê")), seq("id", "é")))),
        accepts=("ifê", "idé"),
        prefixes=("if", b"if\xc3"),
        refuses=("ifé",),
    ),
    TextCase(
        "of the terminals whose conditions hold the highest priority counts",
        grammar(rule("start", choice(seq(around("a", after=cat("b", ANY), priority=1), "b", "c"), seq("a", WORD)))),
        accepts=("abc", "ax", "axb"),
        prefixes=("a", "ab"),
        refuses=("abd",),
    ),
    TextCase(
        "complete mode has no priorities under conditions either",
        grammar(
            rule("start", choice(seq(around("a", after=cat("b", ANY), priority=1), "b", "c"), seq("a", WORD))),
            lexer="complete",
        ),
        accepts=("abc", "ax", "axb", "ab", "abd"),
        prefixes=("a",),
    ),
    TextCase(
        "length is that of the text without what follows",
        grammar(
            rule("start", many(around(tree.Repetition(t("a").regex, 1, None), after=tree.Complement(cat("b", ANY)))))
        ),
        accepts=("", "a", "aa"),
        refuses=("b", "aab"),
    ),
    TextCase(
        "complete mode leaves something to the next lexeme",
        grammar(rule("start", seq(around(WORD, after=cat("b", ANY)), "bc", opt("c"))), lexer="complete"),
        accepts=("abc", "bbc", "abbc", "abcc"),
        prefixes=("a", "b", "ab", "ax"),
    ),
    TextCase(
        "several conditions are pending",
        grammar(
            rule("start", seq(around("a", after=cat(ANY, "y")), around("b", after=cat(ANY, "x", ANY)), WORD, opt("!")))
        ),
        accepts=("abxy", "abyxy", "abxxy"),
        prefixes=("ab", "abx", "abyx", "abzz"),
        refuses=("b", "ax", "abxy!"),
    ),
    TextCase(
        "ignored text under a condition",
        grammar(
            rule("start", many("a", 1)),
            scopes=(Scope("scope", (t(" "), around("#", before=alt("", cat(ANY, " ")), after=cat(" ", ANY)))),),
        ),
        accepts=("a", "a a", "# a", "a # a", "a # # a"),
        prefixes=("#", "a #", ""),
        refuses=("##", "a#", "#a"),
    ),
    TextCase(
        "under a condition the empty text never matches",
        grammar(rule("start", seq(around(opt("a"), after=cat("b", ANY)), "b"))),
        accepts=("ab",),
        refuses=("b", "aa"),
    ),
    TextCase(
        "a condition that nothing meets",
        grammar(rule("start", choice("b", around("a", before=tree.NOTHING), around("a", after=tree.NOTHING)))),
        accepts=("b",),
        refuses=("a",),
    ),
]
