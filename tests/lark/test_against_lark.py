"""`lexer: complete` gives the language that Lark's own Earley parser gives with `dynamic_complete`."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import LarkError, UnexpectedInput

import cfgmask
from tests.lark import spans
from tests.lark.engine import accepts, compiled

# Grammar, alphabet, length up to which every text over the alphabet is tried.
CASES = {
    "literal": ('start: "ab"', "abc", 3),
    "sequence and choice": ('start: "a" "b" | "b" ("a" | "ab")', "ab", 5),
    "optional": ('start: "a"? ["b"] "a"', "ab", 5),
    "star and plus": ('start: "a"* "b"+', "ab", 6),
    "counts": ('start: "a"~2 "b"~1..3 ("ab")~0..1', "ab", 7),
    "empty alternative": ('start: "a" | ', "a", 3),
    "empty rule": ("start: a a\na: ", "a", 2),
    "left recursion": ('start: start "a" | "b"', "ab", 5),
    "right recursion": ('start: "a" start | "b"', "ab", 5),
    "middle recursion": ('start: "a" start "b" | ', "ab", 8),
    "hidden left recursion": ('start: e start "a" | "b"\ne: "b"?', "ab", 6),
    "mutual recursion": ('start: a\na: b "a" | "a"\nb: a "b" | "b"', "ab", 6),
    "nullable chain": ('start: a b a\na: b*\nb: "b"?', "ab", 4),
    "nullable left recursion": ('start: start start | "a" | ', "ab", 4),
    "ambiguity": ('start: start "+" start | /[0-9]+/', "1+", 7),
    "palindromes": ('start: "a" start "a" | "b" start "b" | "a" | "b" | ', "ab", 7),
    "two ends": ('start: "a" start "b" | "a" start "c" | "d"', "abcd", 5),
    "segmentation": ('start: A "b"\nA: /[ab]+/', "ab", 6),
    "number and dots": ('start: N ".." N\nN: /[0-9]+(\\.[0-9]+)?/', "1.", 8),
    "keyword and name": ('start: "if" NAME | NAME "f"\nNAME: /[a-z]+/', "if", 6),
    "terminals of terminals": ('start: A+\nA: B C | D\nB: "a"\nC: "b"*\nD: "c"~2', "abc", 5),
    "terminal groups": ('start: A\nA: ("a" | "b" "c")+ ["c"] "a"?', "abc", 5),
    "ranges": ('start: "a".."c" "0".."1"', "abcd01", 3),
    "flags": ('start: "aB"i /c+/i', "aAbBcC", 4),
    "dot": ("start: /.b/", "ab\n", 3),
    "flag s": ("start: /.b/s", "ab\n", 3),
    "flag x": ("start: /a b  c?/x", "abc ", 4),
    "classes": ("start: /[^a-b]/ /[\\w]/", "abc-", 2),
    "escapes": (r'start: "\x61\u0062\n" | "\\n" | "\"" | "\t"', 'ab\n\\n"\t', 3),
    "unknown escape": (r'start: "\d"', "\\d1", 2),
    "slash in regex": (r"start: /a\/b/", "a/b", 3),
    "ignored blanks": ('start: "a" "b"\n%ignore " "', "ab ", 5),
    "ignored run": ('start: "a"+\n%ignore /[ \\n]+/', "a \n", 5),
    "ignored twice": ('start: "a" "b"\n%ignore " "\n%ignore /c+/', "abc ", 4),
    "ignored terminal in a rule": ('start: "a" WS "b"\nWS: " "\n%ignore WS', "ab ", 5),
    "ignored group": ('start: "a" "b"\n%ignore (" " | "c")+', "abc ", 4),
    "ignored before and after nothing": ('start: "a"?\n%ignore " "', "a ", 3),
    "modifiers and aliases": ('?start: a -> x | b -> y\n!b: "b"\n_c: "c"\na: _c a -> z | "a"', "abc", 4),
    "comments": ('// one\nstart: "a" // two\n  # three\n     | "b"  # four', "ab/#", 2),
    "imports": ("start: INT LETTER\n%import common (INT, LETTER)", "1a+", 4),
    "import with alias": ("start: N\n%import common.SIGNED_NUMBER -> N", "1.e-", 5),
    "escaped string": ('start: ESCAPED_STRING "a"?\n%import common.ESCAPED_STRING', '"a\\', 5),
    "C comment": ("start: C_COMMENT\n%import common.C_COMMENT", "/*a", 6),
    "lazy": ('start: S "a"?\nS: /".*?"/', '"a', 6),
    "lazy, in pieces": ('start: S "a"?\nS: "\\"" I "\\""\nI: /.*?/', '"a', 6),
    "lazy, then something else": ('start: P\nP: S ":" S\nS: /".*?"/', '"a:', 7),
    "lazy, then the same": ("start: A\nA: /a+?/ /a/ B?\nB: /b*?a/", "ab", 6),
    "the pieces of a comment": ('start: C "a"?\nC: "/*" /(.|\\n)*?/ "*/"', "/*a", 7),
    "lazy in a repetition": ("start: A\nA: /a.*?b/+", "ab", 6),
    "lazy with flags in pieces": ('start: A\nA: "B"i /[ab]*?/ /A # one\n/ix', "abAB", 4),
    "template": ('start: l{"a", "b"} "c" l{x, "b"}\nl{p, s}: p (s p)*\nx: "a"?', "abc", 6),
    "recursive template": ('start: t{"a"} | t{"b"} "c"\nt{p}: p t{p} p | "c"', "abc", 6),
    "templates in templates": ('start: t{t{"a"}}\nt{p}: p "b" | t{"c"}? p', "abc", 5),
    "template as an argument": ('start: f{t, "a"}\nf{g, p}: g{p} g{/b+/}\nt{p}: "<" p ">"', "ab<>", 7),
    "templates in a circle": ('start: x{"a"}\nx{p}: p y{p} | p\ny{p}: "b" x{p}', "ab", 7),
    "template that may vanish": ('start: t{"a"}\n?t{x}: x | x "b" -> two', "ab", 3),
    "template that is inlined": ('start: _t{"a"}?\n_t{x}: x x', "ab", 4),
    "template with a priority": ('start: t{"a"} | u{"a"}\nt{x}.2: x "b"?\nu{x}: x~2', "ab", 4),
    "template, overridden": ('start: t{"a", "b"}\nt{x}: x x\n%override t{y, z}: y z | y', "ab", 3),
    "template, extended": ('start: t{"a"}\nt{x}: x x\n%extend t{x}: "b" x', "ab", 3),
    "template, as an argument of itself": ('start: t{u{"a"}, u}\nt{x, f}: x f{x}\nu{y}: y "b"', "ab", 6),
    "counts of what may be empty": ('start: ["a" | "b"]~2..3 "c"~0', "abc", 4),
    "counts in terminals": ('start: A\nA: B~2..3 /c/~1\nB: "a" | "ab"', "abc", 6),
    "empty groups": ('start: ("a" ( | "b") | () "c")*', "abc", 4),
    "aliases of nothing": ('start: "a" -> x\n  | -> nothing\n  | "b" "c" -> y', "abc", 3),
    "terminal and its prefix": ('start: A "b"\nA: "a" | "ab" | "abb"', "ab", 5),
    "anchors of lines": ('start: (/^a/m | /b$/m | "\\n" | "c")+', "abc\n", 4),
    "anchors of the text": ('start: (/\\Aa/ | /b\\Z/ | "\\n" | "c")+', "abc\n", 4),
    "lookahead beside ignored text": ('start: (/a(?=b)/ | "b" | "c")+\n%ignore " "', "abc ", 4),
    "lookbehind beside ignored text": ('start: (/(?<!a)b/ | "a" | "c")+\n%ignore " "', "abc ", 4),
    "lookbehind in lookbehind": ('start: (/(?<=(?<!c)a)b/ | "a" | "c")+', "abc", 5),
    "no boundary of a word": ('start: (/\\Ba\\B/ | "b" | "-")+', "ab-", 5),
    "ignored sequence": ('start: "a" "b"\n%ignore A B?\nA: " "\nB: "_"', "ab _", 5),
    "cases of other scripts": ('start: "ß"i | "ſ"i | "K"i "é"i', "ßsSſkKÉéẞ", 2),
    "ranges of other scripts": ('start: "α".."ω"+ /[à-ü]/i', "αωàÀa", 3),
    "classes without": ("start: /[^\\W\\d_]+/ /\\d/", "aé1٣_", 3),
    "flags inside": ("start: /(?i)a(?-i:b)/ /a(?i:b)c/", "aBbc", 5),
    "lazy counts": ('start: A "b"\nA: /a{2,4}?/', "ab", 5),
    "priorities": ('start: A a | B b\nA.2: "a"\nB.-1: /[ab]/\na.3: "b"\nb.-2: "c"?', "abc", 3),
    "expression": (
        'start: sum\nsum: product | sum "+" product\nproduct: atom | product "*" atom\natom: /1+/ | "(" sum ")"',
        "1+*()",
        5,
    ),
}


def lark_parser(grammar: str) -> Lark:
    return Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="forest")


def in_lark(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except UnexpectedInput:
        return False
    return True


def assert_same_language(grammar: str, alphabet: str, longest: int) -> int:
    """Try every text over the alphabet of up to `longest` characters; how many are in the language."""
    ours, theirs = compiled('%cfgmask {"lexer": "complete"}\n' + grammar), lark_parser(grammar)
    n_accepted = 0
    for length in range(longest + 1):
        for letters in product(sorted(set(alphabet)), repeat=length):
            text = "".join(letters)
            accepted = accepts(ours, text)
            assert accepted == in_lark(theirs, text), f"{text!r} in\n{grammar}"
            n_accepted += accepted
    return n_accepted


@pytest.mark.parametrize("name", CASES)
def test_same_language(name: str) -> None:
    assert assert_same_language(*CASES[name]) > 0


# Random grammars over the characters a and b. No terminal matches the empty text: Lark has none such.
# t and u are templates; of the priorities none changes the language.
literals = st.sampled_from(
    ['"a"', '"b"', '"ab"', '"ba"', "/a+/", "/[ab]/", "/ab?/", "/(ab)+/", '"B"i', '"a".."b"', "T", "U"]
)
priorities = st.sampled_from(["", "", ".1", ".-2"])
operators = st.sampled_from(["", "", "", "?", "*", "+", "~2", "~1..2", "~0..1"])


def expressions(names: list[str]) -> st.SearchStrategy[str]:
    """Bodies of rules that may use the rules in `names`."""

    def grown(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        several = st.lists(parts, min_size=2, max_size=3)
        return st.one_of(
            several.map(" ".join),
            several.map(lambda p: "(" + " | ".join(p) + ")"),
            parts.map(lambda p: f"[{p}]"),
            st.tuples(parts, operators).map(lambda p: f"({p[0]}){p[1]}"),
        )

    return st.recursive(st.one_of(literals, st.sampled_from(names)), grown, max_leaves=5)


@st.composite
def grammars(draw: st.DrawFn) -> str:
    rules = ["start", "x", "y"]
    argument = st.one_of(literals, st.sampled_from(["x", "y"]))
    uses = st.one_of(st.builds("t{{{}}}".format, argument), st.builds("u{{{}, {}}}".format, argument, argument))
    symbols = [*rules, *draw(st.lists(uses, max_size=3))]
    heads = {"start": symbols, "x": symbols, "y": symbols, "t{p}": [*rules, "p", "t{p}"], "u{p, q}": ["p", "q", "t{q}"]}
    lines = []
    for head, names in heads.items():
        alternatives = draw(st.lists(expressions(names), min_size=1, max_size=3, unique=True))
        name, brace, parameters = head.partition("{")
        lines.append(f"{name}{brace}{parameters}{draw(priorities)}: {' | '.join(alternatives)}")
    lines += [f'T{draw(priorities)}: "a" "b"?', f"U{draw(priorities)}: /b+/ | T T"]
    if draw(st.booleans()):
        lines.append("%ignore /c/")
    return "\n".join(lines)


@given(grammars())
def test_same_language_of_random_grammars(grammar: str) -> None:
    try:
        lark_parser(grammar)
    except LarkError:
        # Lark refuses alternatives that become equal when `?` and `[]` are written out.
        reject()
    try:
        cfgmask.Grammar.from_lark(grammar)
    except cfgmask.GrammarError as error:
        # A start rule that never ends is no error to Lark, which then accepts nothing.
        if any(problem.code == "lark-endless-rule" for problem in error.diagnostics):
            reject()
        raise
    assert_same_language(grammar, "abc" if "%ignore" in grammar else "ab", 4)


@pytest.mark.parametrize("name", CASES)
def test_spans_take_what_lark_takes(name: str) -> None:
    """The judge of campaigns (`tests.lark.random_grammars`) against Lark's parser."""
    grammar, alphabet, longest = CASES[name]
    parser = lark_parser(grammar)
    letters = sorted(set(alphabet))
    texts = ["".join(text) for n in range(min(longest, 3) + 1) for text in product(letters, repeat=n)]
    assert spans.accepted(spans.read(grammar), texts) == {text for text in texts if in_lark(parser, text)}
