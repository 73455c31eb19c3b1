"""What the rules derive: recursion of all kinds, nullable rules, ambiguity, repetition, rules without a text."""

from __future__ import annotations

from cfgmask.grammar import regex_tree as tree
from tests.build import DIGITS, cat, choice, grammar, many, rep, rule, seq
from tests.cases.case import TextCase

LIST = {"accepts": ("1", "1,2", "12,3,4"), "prefixes": ("", "1,", "1,2,"), "refuses": (",", "1,,", "1;")}

CASES = [
    TextCase("left recursion", grammar(rule("start", choice(seq("$start", ",", DIGITS), DIGITS))), **LIST),
    TextCase("right recursion", grammar(rule("start", choice(seq(DIGITS, ",", "$start"), DIGITS))), **LIST),
    TextCase("recursion on both sides", grammar(rule("start", choice(seq("$start", ",", "$start"), DIGITS))), **LIST),
    TextCase("repetition", grammar(rule("start", seq(DIGITS, many(seq(",", DIGITS))))), **LIST),
    TextCase(
        "hidden left recursion",
        grammar(rule("start", choice(seq("$sign", "$start", ",", DIGITS), DIGITS)), rule("sign", choice("-", seq()))),
        accepts=("1", "1,2", "-1,2", "--1,2,3", "-1,2,3"),
        prefixes=("", "-", "--", "-1", "--1,2", "1,"),
        refuses=(",", "1-", "1,-"),
    ),
    TextCase(
        "mutual recursion",
        grammar(rule("start", "$even"), rule("even", choice(seq(), seq("a", "$odd"))), rule("odd", seq("a", "$even"))),
        accepts=("", "aa", "aaaa"),
        prefixes=("a", "aaa"),
        refuses=("b",),
    ),
    TextCase(
        "mutual left recursion",
        grammar(rule("start", choice(seq("$other", "b"), "x")), rule("other", seq("$start", "a"))),
        accepts=("x", "xab", "xabab"),
        prefixes=("", "xa", "xaba"),
        refuses=("a", "xb", "xaa"),
    ),
    TextCase(
        "rules that call themselves and nothing else",
        grammar(rule("start", choice("$start", "$other", "x")), rule("other", choice("$start", seq()))),
        accepts=("", "x"),
        refuses=("y", "xx"),
    ),
    TextCase(
        "nesting",
        grammar(rule("start", choice(seq("(", "$start", ")"), seq("[", "$start", "]"), seq()))),
        accepts=("", "()", "([])", "[([])]"),
        prefixes=("(", "([", "([]"),
        refuses=(")", "(]", "([)"),
    ),
    TextCase(
        "many callers of one rule",
        grammar(rule("start", choice(seq("a", "$start", "b"), seq("a", "$start", "c"), "d"))),
        accepts=("d", "adb", "adc", "aadbc", "aadcb"),
        prefixes=("", "a", "aa", "aad", "aadb"),
        refuses=("b", "db", "adbb"),
    ),
    TextCase(
        "an ambiguous expression",
        grammar(rule("start", choice(seq("$start", "+", "$start"), seq("$start", "*", "$start"), DIGITS))),
        accepts=("1", "1+2*3", "1*2*3+4"),
        prefixes=("1+", "1+2*"),
        refuses=("+", "1++"),
    ),
    TextCase(
        "nullable rules in a row",
        grammar(rule("start", seq("$a", "$b", "$a", "c")), rule("a", choice("a", seq())), rule("b", seq("$a", "$a"))),
        accepts=("c", "ac", "aac", "aaac", "aaaac"),
        prefixes=("", "a", "aaaa"),
        refuses=("aaaaa", "cc"),
    ),
    TextCase(
        "counted repetition of a rule",
        grammar(rule("start", seq(many("$pair", 2, 3), ".")), rule("pair", seq("a", "b"))),
        accepts=("abab.", "ababab."),
        prefixes=("ab", "abab", "ababab"),
        refuses=(".", "ab.", "abababa"),
    ),
    TextCase(
        "repetition at least so often",
        grammar(rule("start", many("a", 2))),
        accepts=("aa", "aaaaaa"),
        prefixes=("", "a"),
        refuses=("b", "ab"),
    ),
    TextCase(
        "repetition of what may be empty",
        grammar(rule("start", seq(many(many("a", 0, 1), 2, 3), "b"))),
        accepts=("b", "ab", "aab", "aaab"),
        prefixes=("", "aaa"),
        refuses=("aaaa",),
    ),
    TextCase(
        "repetition within repetition",
        grammar(rule("start", many(seq("a", many("b", 1, 2)), 1, 2))),
        accepts=("ab", "abb", "abab", "abbabb"),
        prefixes=("a", "aba"),
        refuses=("b", "abbb", "ababa"),
    ),
    TextCase("repetition no times", grammar(rule("start", seq(many("a", 0, 0), "b"))), accepts=("b",), refuses=("a",)),
    TextCase(
        "sequences around one centre",
        grammar(rule("start", choice(seq("a", "$start", "b"), seq()))),
        accepts=("", "ab", "aabb"),
        prefixes=("a", "aab"),
        refuses=("b", "aba", "abb"),
    ),
    TextCase("only the empty text", grammar(rule("start", seq())), accepts=("",), refuses=("a",)),
    TextCase(
        "rules without a finite text take no part",
        grammar(rule("start", choice("a", seq("b", "$dead"))), rule("dead", seq("c", "$dead"))),
        accepts=("a",),
        prefixes=("",),
        refuses=("b",),
    ),
    TextCase(
        "terminals without a text take no part",
        grammar(rule("start", choice("a", seq("b", cat("c", tree.NOTHING)), seq("d", rep(tree.NOTHING))))),
        accepts=("a", "d"),
        refuses=("b", "dd"),
    ),
    TextCase(
        "a repetition of something without a text is empty or dead",
        grammar(rule("start", seq("a", many("$dead"), choice("b", seq("c", many("$dead", 1))))), rule("dead", "$dead")),
        accepts=("ab",),
        prefixes=("", "a"),
        refuses=("ac",),
    ),
]
