"""What grammars mean to the engine, where Lark has no equal: `longest` lexing and the extensions."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cfgmask
from cfgmask.grammar.ir import Choice, Expr, Sequence, TokenSet
from cfgmask.grammar.walk import walk
from cfgmask.lark import parse_lark
from tests.lark.engine import accepts, compiled

IMPORTS = """\
start: NUMBER WS_INLINE CNAME C_COMMENT ESCAPED_STRING
%import common (NUMBER, WS_INLINE, CNAME)
%import common.C_COMMENT
%import common.ESCAPED_STRING
"""

# Grammar, texts in its language, texts that are not.
CASES = {
    "longest match never backs up": ('start: N ".." N\nN: /[0-9]+(\\.[0-9]+)?/', ["1.0..2"], ["1..2"]),
    "longest match commits": ('start: A "b"\nA: /[ab]+/', [], ["ab", "aab"]),
    "keyword and name": (
        'start: "if" NAME | NAME\nNAME: /[a-z]+/\n%ignore " "',
        ["if x", "if", "iffy"],
        ["if1", "a b"],
    ),
    "only live terminals are tried": ('start: "a" "b"\nNAME: /[ab]+/', ["ab"], ["aab"]),
    "counts in braces": ('start: "a"{2} "b"{1,} "c"{,2} "d"{0}', ["aab", "aabbbcc"], ["ab", "aabccc", "aabd"]),
    "a count without bounds": ('start: "a"{,} "b"{ , }', ["", "a", "aabbb"], ["ba"]),
    "counts with blanks": ('start: "a"{ 1 , 2 } "b" ~ 1 .. 2', ["ab", "aabb"], ["aaab"]),
    "counts of groups": ('start: ("a" | "b" "c"){2}', ["aa", "abc", "bcbc"], ["a", "aaa", "bc"]),
    "intersection": ("start: A\nA: /[a-z]+/ & /.{2,3}/", ["ab", "abc"], ["a", "abcd", "a1"]),
    "complement": ('start: "<" A ">"\nA: ~/.*>.*/ & /.+/', ["<a>", "<a<b>"], ["<>", "<a>>"]),
    "all but some words": ('start: A\nA: /[a-z]+/ & ~("if" | "else")', ["iff", "i", "elses"], ["if", "else"]),
    "`&` binds tighter than `|`": ('start: A\nA: "a" | "b" & "c" | "d"', ["a", "d"], ["b", "c"]),
    "a sequence binds tighter than `&`": ('start: A\nA: "a" "b" & /../', ["ab"], ["a", "abb"]),
    "`~` binds tighter than what follows": ('start: A\nA: /a+/ & ~"aa"+', ["a", "aa"], []),
    "a priority among terminals that end together": (
        'start: IF | NAME ":"\nIF.1: "if"\nNAME: /[a-z]+/',
        ["if", "iff:", "i:"],
        ["if:"],
    ),
    "a negative priority": ('start: A "x" | B "y"\nA.-1: "a"\nB: /[ab]/', ["ay", "by"], ["ax"]),
    "length comes before priority": ('start: A | B\nA.9: "a"\nB: "ab"', ["a", "ab"], []),
    "a string is the terminal that is defined as it": (
        'start: "if" "!" | NAME ":"\nIF.1: "if"\nNAME: /[a-z]+/\nx: IF',
        ["if!", "iff:"],
        ["if:"],
    ),
    "priorities of rules": ('start: a | b\na.2: "x"\nb.-2: "x" "y"?', ["x", "xy"], []),
    "priorities in `complete`": (
        '%cfgmask {"lexer": "complete"}\nstart: IF | NAME ":"\nIF.1: "if"\nNAME: /[a-z]+/',
        ["if", "if:"],
        [],
    ),
    "texts in quotes, and without": (
        'start: QUOTED_TEXT ":" UNQUOTED_TEXT',
        ['"":a', '"a\\"":http://b.c'],
        ['":a', '"a":"b"', '"a": b'],
    ),
    "an extension terminal in a terminal": ('start: A\nA: "<" QUOTED_TEXT ">"', ['<"a">'], ["<a>"]),
    "text until an end": (
        'start: TEXT_UNTIL{"END"} TEXT_UNTIL{/[.!]+/}',
        ["ENENDa b!", "a b ENDEND."],
        ["EN.", "END", "ENDa.b.", "a.b."],
    ),
    "a substring": ('start: SUBSTRING_OF{"abcab"} "."', ["bca.", ".", "ab."], ["ac.", "abcabc."]),
    "a delimited list": (
        'start: DELIMITED_LIST{", ", A, "x"}\nA: /[0-9]+/',
        ["1", "1, x, x, 22"],
        ["", "1,2", "1, ", "1, y"],
    ),
    "a delimited subsequence": (
        'start: DELIMITED_SUBSEQUENCE_OF{", ", A, "x", "y"}\nA: /[0-9]+/',
        ["1", "1, y", "x, y", "1, x, y"],
        ["", "x, 1", "x, x", "1x"],
    ),
    "an extension terminal in a template": (
        'start: list{"a"} list{B}\nlist{x}: DELIMITED_LIST{",", x} ";"\nB: /b+/',
        ["a,a;bb,b;", "a;b;"],
        ["a,b;b;", ";b;"],
    ),
    "an extension terminal ends a lazy rule": ('start: x "a"*\nx[lazy]: "a" TEXT_UNTIL{"!"}', ["ab!aa"], ["b!a", "aa"]),
    "an own terminal of the name of one": (
        'start: QUOTED_TEXT SUBSTRING_OF\nQUOTED_TEXT: "a"\nSUBSTRING_OF: "b"',
        ["ab"],
        ['""', '""b'],
    ),
    "a group behind a parameter": (
        'start: x::3\nx::_: y::_ ("a" | "b") %if bit_set(0)\ny::_: "y" %if bit_set(1)',
        ["ya", "yb"],
        ["y", "a"],
    ),
    "escapes of Rust": ("start: /\\x{41}[[:digit:]]\\u{e9}+/", ["A1é", "A9éé"], ["x{41}", "A1"]),
    "differences of classes": (
        "start: /[a-z--[aeiou]]+/ /[\\w--\\d]/ /[+--]/",
        ["xyz_,"],
        ["ay_,", "xy1,", "--_,", "xy_."],
    ),
    "a difference with a character": ("start: /[a--b]+/ /[0-9--[5]]/", ["aa4"], ["ab4", "a-4", "aa5"]),
    "a range from a hyphen, as in Python": ("start: /[x-z--0]/", ["y", "-", ".", "0"], ["1"]),
    "repetitions of repetitions": ("start: /a{2}{2}b**/ /^*c/", ["aaaac", "aaaabbc"], ["aac", "aaaaac"]),
    "a lazy one of Rust's": ('start: X "c"\nX: /[[:alpha:]]*?b/', ["abc", "bc"], ["abbc"]),
    "symmetric differences of classes": ("start: /[a-g~~b-h]+/", ["ah"], ["b", "~"]),
    "flags from the middle on": ("start: /a(?i)b(?-i)c/ /(?-u:\\w)/", ["aBc1", "abc_"], ["Abcd", "abCd", "abcé"]),
    "intersections of classes": ("start: /[a-z&&[^aeiou]]+/", ["xyz"], ["a", "&", "x]"]),
    "ampersands of Python": ('start: /(?<=!)[&&]/ | "!"', ["!"], ["&"]),
    "ignored once, as llguidance says it now": (
        '%llguidance {"skip_repetition": "once"}\n%ignore /[ ]{1,3}/\nstart: "A" "!"',
        ["A!", "A   !"],
        ["A    !"],
    ),
    "options of xgrammar": (
        '%grammar_options {"allow_initial_skip": false}\nstart: "a"\n%ignore " "',
        ["a"],
        [" a"],
    ),
    "templates": (
        'start: _sep{NUM, ","} | _sep{_sep{"x", "-"}, ";"}\n_sep{x, s}: x (s x)*\nNUM: /[0-9]+/',
        ["1,22,3", "x", "x-x;x"],
        ["1;2", "x;", "x,x"],
    ),
    "a template with a schema": (
        'start: twice{"-"}\ntwice{s}: %json {"enum": [1, 2]} s %json {"enum": [1, 2]}',
        ["1-2"],
        ["12", "1-3"],
    ),
    "a template with tokens": ('start: t{"a"} | t{<[97]>}\nt{x}: "<" x ">"', ["<a>"], ["a"]),
    "hyphens": ('start: a-b A-B\na-b: "a"\nA-B: "b"', ["ab"], ["a-b"]),
    "a hyphen before an arrow": ('start: a->b\na: "a"', ["a"], ["a-"]),
    "several lines in brackets": ('start: (\n  "a"\n  | [\n  "b"\n ]\n)', ["a", "b", ""], ["ab"]),
    "lines that go on": ('start: "a"\n\n  // and\n\n  | "b" \\\n    "c"\nx: "d"\n', ["a", "bc"], ["b", "d"]),
    "case of other scripts": ('start: "é"i "ß"i', ["éß", "Éß"], ["e\u0301ß"]),
    "a pair of surrogates": (r'start: "\ud83d\ude00"', ["\U0001f600"], []),
    "escapes": (r'start: "\U0001f600\x41\u00e9\\\"\t\f\r\n"', ['\U0001f600Aé\\"\t\f\r\n'], []),
    "empty strings": ('start: "" | "a" "" "b"', ["", "ab"], ["a"]),
    "ignored before and after": ('start: "a" "b"\n%ignore " "', [" ab", "ab ", "a  b", "  a b  "], [" "]),
    "ignored inside only": (
        '%cfgmask {"ignore_initial": false}\n%cfgmask {"ignore_final": false}\nstart: "a" "b"\n%ignore " "',
        ["ab", "a  b"],
        [" ab", "ab "],
    ),
    "ignored once": ('%cfgmask {"ignore_once": true}\nstart: "a" "b"\n%ignore " "', ["ab", " a b "], ["a  b"]),
    "options of llguidance": (
        '%llguidance {"allow_initial_skip": false, "ignore_once": true, "no_forcing": true}\nstart: "a"\n%ignore " "',
        ["a", "a "],
        [" a", "a  "],
    ),
    "imports of common": (
        IMPORTS,
        ['1.5e3 x_1/* a ** */"\\""', '1 x/**/""'],
        ['1 x/*/""', '1 x/* */"\\"', '1 x/**/"a"b"', '1x/**/""'],
    ),
    "substrings of chunks": (
        'start: "<" %regex {"substring_chunks": ["abc", "de", "", "fg"]} ">"',
        ["<>", "<abc>", "<de>", "<abcde>", "<defg>", "<abcdefg>"],
        ["<ab>", "<cde>", "<abcfg>", "<fgabc>"],
    ),
    "substrings of words": (
        'start: "<" %regex {"substring_words": "foo  bar.. it\'s 3.5\\n"} ">"',
        ["<>", "<foo>", "<foo  bar>", "<'>", "<it's>", "<.. it>", "<.5\n>"],
        ["<fo>", "<foo >", "< bar>", "<foo bar>", "<. it>"],
    ),
    "substrings of characters": (
        'start: "<" A ">"\nA: "«" %regex {"substring_chars": "ab é b"} "»" & /.{2,5}/',
        ["<«»>", "<«b »>", "<« é »>"],
        ["<«ab é»>", "<«ba»>", "<b>"],
    ),
    "substrings whose chunks begin alike": (
        'start: "<" %regex {"substring_chunks": ["a", "ab", "b", "a", "b", "abc"]} ">"',
        ["<aab>", "<aabb>", "<babc>", "<ba>", "<bab>", "<ababc>", "<abbababc>"],
        ["<aa>b", "<abab>c", "<aabba", "<abcb>"],
    ),
    "integers between bounds": (
        'start: %regex {"type": "integer", "minimum": -3, "exclusiveMaximum": 12}',
        ["-3", "-1", "0", "9", "11"],
        ["-4", "12", "1.0", "01", "+1", "111", "1e1"],
    ),
    "decimals between bounds": (
        'start: %regex {"type": "number", "exclusiveMinimum": 0.1, "maximum": 2.25, "multipleOf": 0.05}',
        ["0.15", "2", "2.2", "2.250", "1.05"],
        ["0.1", "2.3", "0.11", "3", "1e0"],
    ),
    "a grammar in a grammar has its own names and its own ignored text": (
        'start: x "(" %lark {\n start: x x\n x: "b"\n %ignore "-"\n} ")" x\nx: "a"\n%ignore " "',
        ["a(bb)a", " a ( -b--b )a ".replace("( -", "(-"), "a(-b-b ) a"],
        ["a(b b)a", "a(aa)a", "a-(bb)a", "a(bb-)a"],
    ),
    "grammars in grammars in grammars": (
        'start: "a" %lark { start: "b" %lark { start: T\n T: "c" } T\n T: "d" } T\nT: "e"',
        ["abcde"],
        ["abdde", "abcee"],
    ),
    "two blocks with the same names": (
        'start: %lark { start: n\n n: "1"\n %ignore " " } "," %lark { start: n\n n: "2" }',
        ["1,2", " 1,2"],
        ["2,1", "1, 2"],
    ),
    "a block in a template": ('start: t{"x"} t{"y"}\nt{p}: p %lark { start: "b"? } "!"', ["x!yb!", "xb!y!"], ["x!x!"]),
    "a permutation": (
        (
            'start: p::0\np::_: "" %if is_ones([0:3]) | "a" p::set_bit(0) %if bit_clear(0)'
            ' | "b" p::set_bit(1) %if bit_clear(1) | "c" p::set_bit(2) %if bit_clear(2)'
        ),
        ["abc", "cab", "bca"],
        ["ab", "abca", "aab", ""],
    ),
    "values of a parameter": (
        (
            'start: a::0xF0 | a::7\na::_: "x" b::bit_and(0xfe) | "y" b::bit_or(8)\n'
            'b::_: "e" %if eq(_, 6) | "f" %if eq([4:8], 0xF) | "g" %if and(gt(_, 14), lt(_, 0x10), bit_count_eq(_, 4))'
        ),
        ["xe", "xf", "yf", "yg"],
        ["ye", "xg"],
    ),
    "counting saturates": (
        (
            'start: u::0 "." d::2\nu::_: "a" u::incr([0:2]) | "b" %if is_ones([0:2])\n'
            'd::_: "a" d::decr(_) | "b" %if is_zeros(_)'
        ),
        ["aaab.aab", "aaaaab.aaaab"],
        ["aab.aab", "aaab.ab"],
    ),
    "conditions of groups and of repeated parts": (
        'start: r::1 r::2\nr::_: ("x" %if bit_set(0) | "y" %if not(bit_set(0)))~2 ("z" %if true)?',
        ["xxyy", "xxzyyz"],
        ["xyyy", "yyxx"],
    ),
    "a parameter through left recursion": (
        'start: l::0\nl::_: l::incr(_) "x" %if lt(_, 3) | "y"',
        ["y", "yx", "yxxx"],
        ["yxxxx", "x"],
    ),
    "nullable for some values": (
        'start: "<" n::0 ">" | "[" n::1 "]"\nn::_: m::_ m::_\nm::_: "" %if bit_set(0) | "a"',
        ["[]", "[a]", "[aa]", "<aa>"],
        ["<>", "<a>"],
    ),
    "a schema in a rule": (
        'start: "call " %json {"type": "integer", "minimum": 5} "!" | %json {"const": "x"}',
        ["call 5!", "call 12!", '"x"'],
        ["call 4!", "call !", '"y"', "5"],
    ),
    "schemas have white space of their own": (
        'start: "a" %json {"type": "array", "items": {"const": 1}} "b"\n%ignore "-"',
        ["a[1, 1]b", "-a[1]-b-", "a[\n 1]b"],
        ["a [1]b", "a-[1]b", "a[-1]b", "a[1-]b", "a[1] b"],
    ),
    "a schema twice": ('start: x x\nx: %json {"enum": ["a", 1]}', ['"a"1', '1"a"'], ["1"]),
    "rules that never end are left out": ('start: "a" x | "b" x?\nx: "c" x', ["b"], ["a", "bc"]),
}


@pytest.mark.parametrize("name", CASES)
def test_language(name: str) -> None:
    grammar, accepted, refused = CASES[name]
    engine = compiled(grammar)
    assert [text for text in accepted if not accepts(engine, text)] == []
    assert [text for text in refused if accepts(engine, text)] == []


def test_lexer_option() -> None:
    grammar = 'start: A "b"\nA: /[ab]+/\n'
    assert parse_lark(grammar).lexer == "longest"
    assert parse_lark(grammar + '%cfgmask {"lexer": "longest"}').lexer == "longest"
    assert parse_lark(grammar + '%cfgmask {"lexer": "complete"}').lexer == "complete"


def token_sets(grammar: str) -> list[TokenSet]:
    return [expr for rule in parse_lark(grammar).rules for expr in walk(rule.body) if isinstance(expr, TokenSet)]


def test_special_tokens() -> None:
    grammar = "start: <think> <|eot_id|> </s> <[5]> <[1-3, 7]> <[^2,4-5]> <[*]> <\uff5cUser\uff5c>"
    assert token_sets(grammar) == [
        TokenSet("<think>", ("<think>",)),
        TokenSet("<|eot_id|>", ("<|eot_id|>",)),
        TokenSet("</s>", ("</s>",)),
        TokenSet("<[5]>", ranges=((5, 5),)),
        TokenSet("<[1-3, 7]>", ranges=((1, 3), (7, 7))),
        TokenSet("<[^2,4-5]>", ranges=((2, 2), (4, 5)), negated=True),
        TokenSet("<[*]>", negated=True),
        TokenSet("<\uff5cUser\uff5c>", ("<\uff5cUser\uff5c>",)),
    ]


def test_special_tokens_in_the_engine() -> None:
    tokens = [b"a", b"b", b"", b"", b""]
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=4, special_tokens={"<think>": 2, "</think>": 3})
    grammar = cfgmask.Grammar.from_lark('start: <think> /[a]*/ </think> "b" <[0-1]>')
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert matcher.try_advance([2, 0, 0, 3, 1, 1]) == 6
    assert matcher.is_accepting
    assert cfgmask.compile(grammar, vocabulary).matcher().try_advance([2, 0, 1]) == 2


def test_declared_terminals_in_the_engine() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes(
        [b"a", b"", b"", b""], eos_token_id=3, special_tokens={"[X]": 1, "<|y|>": 2}
    )
    grammar = """
    start: X "a" y
    y: Y | Z
    %declare X Y Z UNUSED
    %cfgmask {"declared": {"X": "[X]", "Y": "<|y|>"}}
    %cfgmask {"declared": {"Z": "<[1]>"}}
    """
    compiled_grammar = cfgmask.compile(cfgmask.Grammar.from_lark(grammar), vocabulary)
    for tokens in ([1, 0, 1], [1, 0, 2]):
        matcher = compiled_grammar.matcher()
        assert matcher.try_advance(tokens) == 3
        assert matcher.is_accepting
    assert compiled_grammar.matcher().try_advance([2]) == 0


def test_terminals_keep_their_names_and_places() -> None:
    text = 'start: NUMBER "a"i /b+/ "c".."d"\nNUMBER: "0".."9"\n'
    body: Expr = parse_lark(text).rules[0].body
    assert isinstance(body, Sequence)
    assert [part.name for part in body.parts] == ["NUMBER", '"a"i', "/b+/", '"c".."d"']
    spans = [part.span for part in body.parts]
    assert [text[span.start : span.end] for span in spans] == ["NUMBER", '"a"i', "/b+/", '"c".."d"']
    assert spans[0].source.position(spans[0].start) == (2, 1)


def test_useless_rules_are_left_out_and_told() -> None:
    grammar = parse_lark('start: "a" | x\nx: x\nunused: "b"')
    assert [rule.name for rule in grammar.rules] == ["start"]
    assert isinstance(grammar.rules[0].body, Choice)
    assert [note.code for note in grammar.notes] == ["lark-endless-rule", "lark-unused-rule"]


def test_importing_the_front_end_leaves_lark_alone() -> None:
    code = "import sys, cfgmask, cfgmask.lark; assert 'lark' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_text_has_what_is_declared_and_bound_to_nothing() -> None:
    grammar = compiled('start: "a" X "b" | "c" [Y] "d" x*\nx: "q" Y | "r"\n%declare X Y\n')
    assert [accepts(grammar, text) for text in ("cd", "cdr", "ab")] == [True, True, False]
    # Nothing leads to where it would have to stand.
    assert [grammar.matcher().advance_bytes(text) for text in (b"a", b"cdq")] == [0, 2]
