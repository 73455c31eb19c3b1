"""How bytes become lexemes: the two lexer modes, priorities, characters of several bytes."""

from __future__ import annotations

from cfgmask.grammar import regex_tree as tree
from tests.build import DIGITS, WORD, alt, cat, choice, cls, grammar, many, opt, rep, rule, seq, t
from tests.cases.case import TextCase

NUMBER = cat(DIGITS, opt(cat(".", DIGITS)))
IF_OR_NAME = choice(seq("if", " ", WORD), seq(WORD, "!"))

CASES = [
    TextCase(
        "the lexer never backs up",
        grammar(rule("start", seq(NUMBER, "..", NUMBER))),
        accepts=("1.5..2", "12.34..5.6"),
        prefixes=("1", "1.", "1.5", "1.5.", "1.5.."),
        refuses=("1..", "."),
    ),
    TextCase(
        "every segmentation is tried",
        grammar(rule("start", seq(NUMBER, "..", NUMBER)), lexer="complete"),
        accepts=("1..2", "1.5..2", "12.34..5.6"),
        prefixes=("1", "1.", "1..", "1.5.."),
        refuses=(".", "1...", "1.5.6"),
    ),
    TextCase(
        "longest match: a repeated terminal takes what it can",
        grammar(rule("start", seq(rep("a"), "a"))),
        accepts=("a",),
        prefixes=("", "aa"),
    ),
    TextCase(
        "complete: a terminal leaves something to the next",
        grammar(rule("start", seq(rep("a"), "a")), lexer="complete"),
        accepts=("a", "aa", "aaaa"),
        prefixes=("",),
        refuses=("b", "aab"),
    ),
    TextCase(
        "longest match: a terminal that cannot take the byte drops out though it was complete",
        grammar(rule("start", seq(choice("a", seq("ab", "c")), "b"))),
        accepts=("abcb",),
        prefixes=("a", "ab", "abc"),
        refuses=("abb", "b"),
    ),
    TextCase(
        "complete: both readings go on",
        grammar(rule("start", seq(choice("a", seq("ab", "c")), "b")), lexer="complete"),
        accepts=("ab", "abcb"),
        prefixes=("a", "abc"),
        refuses=("abb", "b"),
    ),
    TextCase(
        "only terminals that the parser can take are live",
        grammar(rule("start", seq("a", WORD, "1"))),
        accepts=("ab1", "aaa1"),
        prefixes=("a", "ab"),
        refuses=("b", "a1"),
    ),
    TextCase(
        "all terminals complete at the end of a lexeme are scanned together",
        grammar(rule("start", IF_OR_NAME)),
        accepts=("if!", "iff!", "if x", "x!"),
        prefixes=("if", "if ", "iff"),
        refuses=("iff ", "x ", "!"),
    ),
    TextCase(
        "priority chooses among the complete terminals",
        grammar(rule("start", choice(seq(t("if", priority=1), " ", WORD), seq(WORD, "!")))),
        accepts=("if x", "iff!", "i!"),
        prefixes=("if",),
        refuses=("if!",),
    ),
    TextCase(
        "a negative priority gives way",
        grammar(rule("start", choice(seq("if", " ", WORD), seq(t(WORD, priority=-1), "!")))),
        accepts=("if x", "iff!"),
        refuses=("if!",),
    ),
    TextCase(
        "length comes before priority",
        grammar(rule("start", choice(seq(t("ab", priority=1), "1"), seq(cat("ab", opt("c")), "2")))),
        accepts=("ab1", "abc2"),
        prefixes=("ab", "abc"),
        refuses=("ab2", "abc1"),
    ),
    TextCase(
        "priority decides what the end of the text is",
        grammar(rule("start", choice(seq(t("a", priority=1), "b"), cls("az")))),
        accepts=("ab", "c"),
        prefixes=("a",),
    ),
    TextCase(
        "complete mode has no priorities",
        grammar(rule("start", choice(seq(t("a", priority=1), "b"), cls("az"))), lexer="complete"),
        accepts=("a", "ab", "c"),
    ),
    TextCase(
        "a terminal that matches the empty text is optional",
        grammar(rule("start", seq(rep("a"), "b", rep("c", 0, 1)))),
        accepts=("b", "aab", "bc", "aabc"),
        prefixes=("", "a"),
        refuses=("ba", "c", "bcc"),
    ),
    TextCase(
        "a terminal that matches only the empty text is nothing to the lexer",
        grammar(rule("start", seq("", "a", tree.EMPTY_TEXT))),
        accepts=("a",),
        prefixes=("",),
        refuses=("b", "aa"),
    ),
    TextCase(
        "characters of several bytes",
        grammar(rule("start", seq(cls("à", "ï", "€", "😀"), "!"))),
        accepts=("à!", "ï!", "€!", "😀!"),
        prefixes=(b"\xc3", b"\xc3\xa0", b"\xe2", b"\xe2\x82", b"\xf0\x9f\x98", b"\xf0\x9f\x98\x80"),
        refuses=(b"\xc4", b"\xc3\xa1", b"\xe2\x82\xad", b"\xc3!", b"\x80"),
    ),
    TextCase(
        "only valid UTF-8",
        grammar(rule("start", rep(tree.ANY_CHAR))),
        accepts=("", "aé€😀", "\x00\x7f"),
        prefixes=(b"\xed\x9f", b"\xf4\x8f"),
        refuses=(b"\x80", b"\xc0", b"\xc1", b"\xe0\x9f", b"\xed\xa0", b"\xf0\x8f", b"\xf4\x90", b"\xf5", b"\xff"),
    ),
    TextCase(
        "bytes that are not UTF-8 where a grammar has them",
        grammar(rule("start", seq(tree.ByteClass(((0x80, 0x81), (0xFF, 0xFF))), tree.Literal(b"\xc3")))),
        accepts=(b"\x80\xc3", b"\xff\xc3"),
        prefixes=(b"\x81",),
        refuses=(b"\x82", b"a", b"\x80\x80"),
    ),
    TextCase(
        "a residual without a match is no residual",
        grammar(rule("start", tree.Intersection((WORD, tree.Complement(cat(tree.ANY_TEXT, "bb", tree.ANY_TEXT)))))),
        accepts=("a", "abab"),
        prefixes=("",),
        refuses=("abb", "1"),
    ),
    TextCase(
        "an intersection that cannot be fulfilled any more is left at once",
        grammar(rule("start", tree.Intersection((rep(cls("az")), alt("abc", cat("ax", cls("09")), "b"))))),
        accepts=("abc", "b"),
        prefixes=("a", "ab"),
        refuses=("ax", "c"),
    ),
    TextCase(
        "counted repetition of characters",
        grammar(rule("start", seq(rep(cls("a", "é"), 2, 3), "."))),
        accepts=("aa.", "éa.", "ééé."),
        prefixes=("a", "aa", "aaa", b"aa\xc3"),
        refuses=("a.", "aaaa", b"aaa\xc3", "."),
    ),
    TextCase(
        "JSON strings in every spelling",
        grammar(rule("start", tree.JsonString(rep(cls("a", "é", "\n", "😀"), 1, 2)))),
        accepts=('"a"', '"\\u0061\\n"', '"é\\u00E9"', '"\\ud83d\\ude00"', '"😀a"'),
        prefixes=('"', '"\\', '"\\u00', '"\\ud83d', '"\\ud83d\\', '"a', b'"\xc3', '"a\\u000'),
        refuses=('""', "a", '"\n', '"\\t', '"aa\\', '"\\ud83d\\n', '"\\u001', '"b'),
    ),
    TextCase(
        "JSON strings with fixed text: printable characters only as themselves",
        grammar(rule("start", tree.JsonString(tree.text('a"/é'), "literal"))),
        accepts=('"a\\"/é"', '"a\\"\\/\\u00e9"', '"a\\u0022\\u002f\\u00E9"'),
        refuses=('"\\', '"a"'),
    ),
    TextCase(
        "JSON strings in canonical spelling",
        grammar(rule("start", tree.JsonString(tree.text('"/\n\x1f\x7fé'), "canonical"))),
        accepts=('"\\"/\\n\\u001f\x7fé"',),
        refuses=('"\\"\\', '"\\"/\\u', '"\\"/\\n\\u001F', '"\\"/\\n\\u001f\\', '"\\"/\\n\\u001f\x7f\\'),
    ),
    TextCase(
        "many keys",
        grammar(rule("start", seq(tree.KeySet(tuple(f"key{n}".encode() for n in range(200))), "="))),
        accepts=("key0=", "key17=", "key199="),
        prefixes=("k", "key1", "key19", "key199"),
        refuses=("key=", "key200", "l"),
    ),
    TextCase(
        "lexemes run into each other when the parser can tell them apart",
        grammar(rule("start", many(choice(seq(WORD, DIGITS), seq(DIGITS, WORD))))),
        accepts=("", "a1", "1a", "ab12", "a1b2"),
        prefixes=("a", "1", "a1b"),
        refuses=("!", "a!"),
    ),
]
