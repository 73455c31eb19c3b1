"""What GBNF means to the engine: texts that a grammar has and texts that it has not."""

from __future__ import annotations

from pathlib import Path

import pytest

import cfgmask
from tests.engine.harness import mask_of
from tests.lark.engine import VOCABULARY, accepts

JSON = r"""
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::=
  "\"" (
    [^"\\\x7F\x00-\x1F] | # plain
    "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
  )* "\"" ws
number ::= "-"? ([0-9] | [1-9] [0-9]{0,15}) ("." [0-9]+)? ([eE] [-+]? [1-9] [0-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
"""

TWO_THOUSAND = ", ".join(f'("<f{i}>", x{i % 2})' for i in range(2_000))

# Grammar, texts in its language, texts that are not.
CASES: dict[str, tuple[str, list[str], list[str]]] = {
    "a literal": ('root ::= "ab"', ["ab"], ["", "a", "abc"]),
    "sequences and alternatives": ('root ::= "a" "b" | "c"', ["ab", "c"], ["a", "abc"]),
    "empty alternatives": ('root ::= "a" ( | "b") | ', ["", "a", "ab"], ["b"]),
    "empty groups": ('root ::= () "a" ()', ["a"], [""]),
    "an empty literal": ('root ::= "" "a" ""*', ["a"], [""]),
    "quantifiers": ('root ::= "a"? "b"* "c"+', ["c", "abbcc"], ["", "aac", "ab"]),
    "a quantifier repeats the whole literal": ('root ::= "ab"*', ["", "abab"], ["abb"]),
    "quantifiers of quantifiers": ('root ::= "a"+? "b"{2}{2}', ["bbbb", "abbbb"], ["bbb", "bbbbb"]),
    "exact counts": ('root ::= "a"{2}', ["aa"], ["a", "aaa"]),
    "least counts": ('root ::= "a"{2,}', ["aa", "aaaaa"], ["a"]),
    "bounded counts": ('root ::= "a"{1,3}', ["a", "aaa"], ["", "aaaa"]),
    "counts from zero": ('root ::= "a"{0,2} "b"{0}', ["", "aa"], ["aaa", "b"]),
    "counts with blanks": ('root ::= "a"{ 1 , 2 } "b" { 2 }', ["abb"], ["ab"]),
    "large counts": ('root ::= "a"{0,100000} "b"', ["b", "a" * 3000 + "b"], ["a" * 100001 + "b"]),
    "classes": ("root ::= [a-c_] [^a-c]", ["a_", "_d", "bé"], ["d_", "ab", "a"]),
    "hyphens in classes": ("root ::= [a-] [-a] [+--]", ["--,", "aa-"], ["b-,", "--."]),
    "hyphens after ranges": ("root ::= [a-c-e]", ["a", "-", "e"], ["d"]),
    "escapes in classes": (r"root ::= [\]\\\n] [\x41-\u0043] [\U0001F600\-]", ["]A😀", "\\C-", "\nB-"], ["nA-", "]D-"]),
    "an escaped hyphen is no range": (r"root ::= [a\-c]", ["a", "-", "c"], ["b"]),
    "a caret that comes later": ("root ::= [a^]", ["^", "a"], ["b"]),
    "an escaped caret is no caret": (r"root ::= [\x5Ea]", ["^", "a"], ["b"]),
    "quotes in classes": ('root ::= ["]', ['"'], ["'"]),
    "line breaks in negated classes": ("root ::= [^a]", ["\n"], ["a"]),
    "surrogates in classes": (r"root ::= [^\uD800-\uDFFF]", ["a", "😀"], [""]),
    "escapes": (r'root ::= "\x41\u00e9\U0001F600\"\\\[\]\-\t\r\n"', ['Aé😀"\\[]-\t\r\n'], ["A"]),
    "other scripts": ('root ::= "日本" [ぁ-ゟ]+', ["日本あ"], ["日本"]),
    "the dot": ('root ::= . "." ', ["a.", "\n.", "😀."], [".", "ab"]),
    "comments": ('# one\nroot ::= "a" # two\n   # three\nx ::= "#" # "four"\n', ["a"], ["#"]),
    "a hash in a literal": ('root ::= "#" [#]', ["##"], ["#"]),
    "several lines after `::=` and `|`": ('root ::=\n\n  "a" |\n # and\n  "b"\n', ["a", "b"], ["ab"]),
    "lines that begin with `|`": ('root ::= "a"\n| "b"\n\n  # or\n  | x\nx ::= "c"', ["a", "b", "c"], ["ab"]),
    "lines farther in": ('root ::= "a"\n  x "c"\n\t[d]\nx ::= "b"', ["abcd"], ["a", "abc"]),
    "lines that begin with what no rule begins with": (
        'root ::= "a"\n"b"\n("c")\n[d] x\nx ::= "e"',
        ["abcde"],
        ["a", "abcd"],
    ),
    "escaped punctuation in classes": (r"root ::= [\.\$\(+]", [".", "$", "(", "+"], ["\\"]),
    "a lookahead of xgrammar": ('root ::= x "b" | x "c"\nx ::= "a" (= "b")', ["ab", "ac"], ["a"]),
    "a lookahead of a rule": ('root ::= x y (= y "c")\nx ::= "a" (= y)\ny ::= "b"', ["ab"], ["abbc"]),
    "a rule named like a call": ('root ::= Token("5")\nToken ::= "a"', ["a5"], ["5"]),
    "tags in free text": (
        'root ::= TagDispatch(("<a>", x), ("<b>", y))\nx ::= "1"\ny ::= "2"',
        ["", "text\n", "<a>1", "<<a>1 <b>2<", "<a>1<a>1", "<a", "2<b>2é"],
        ["<a>", "<a>2", "<b>1", "text <a> text", "<a>1<b>"],
    ),
    "tags once": (
        'root ::= TagDispatch(("<a>", x), loop_after_dispatch=false)\nx ::= "1"',
        ["", "text", "<a>1", "text<a>1"],
        ["<a>1.", "<a>1<a>1", "<a>"],
    ),
    "what free text must not hold": (
        'root ::= "[" TagDispatch(\n  ("<a>", x),\n  excludes=("]", "no")\n) "]"\nx ::= [0-9]+',
        ["[]", "[n<a>12o]", "[text]", "[n]"],
        ["[text", "[no]", "[]]", "[<a>]", "[<a>1no]"],
    ),
    "free text alone": ('root ::= TagDispatch() | TagDispatch(excludes=("x",))', ["", "any\nx"], []),
    "two thousand tags": (
        "root ::= TagDispatch("
        + ", ".join(f'("<f{i}>", x{i % 2})' for i in range(2_000))
        + ')\nx0 ::= "0"\nx1 ::= "1"',
        ["<f0>0", "<f<f1999>1<f2000>", "a<f10>0<f11>1b", "<f199"],
        ["<f1999>", "<f1999>0", "<f199>0", "a<f10><f11>1"],
    ),
    "the longest of tags that end together": (
        'root ::= TagDispatch(("abc", x), ("bc", y))\nx ::= "1"\ny ::= "2"',
        ["abc1", "bc2", "ab", "aabc1abbc2c"],
        ["abc2", "bc1", "babc2"],
    ),
    "the first of tags that overlap": (
        'root ::= TagDispatch(("abc", x), ("bcd", y), excludes=("cdd",))\nx ::= "1"\ny ::= "2"',
        ["abc1bcd2", "bbcd2", "abab"],
        ["abcd2", "acdd", "abccdd"],
    ),
    "any character": ("root ::= [^] [^]", ["\né"], ["a"]),
    "names with dots": (
        'root ::= a.b a.c a.b-2.x\na ::= "1"\nb ::= "2"\nc ::= "3"\na.b-2.x ::= "4"\na.c ::= "5"',
        ["1x254"],
        ["1x21x34", "1254"],
    ),
    "captures and temperatures": (
        'root ::= x y\nx[capture] ::= [a-z]+\ny[ capture="n" , temperature=0.5] ::= [0-9]',
        ["ab1"],
        ["1", "ab"],
    ),
    "a lazy rule": (
        'root ::= "<" x ">" y\nx[lazy] ::= [a-z]+\ny ::= [a-z]+',
        ["<a>abc"],
        ["<ab>c", "<>c"],
    ),
    "a lazy rule of rules": (
        'root ::= x y?\nx[lazy] ::= z* "b"\ny ::= "b"\nz ::= . | y',
        ["ab", "b", "acb", "abb"],
        ["aba", "abbb"],
    ),
    "at most so many characters": (
        'root ::= "<" x ">"\nx[max_chars=2] ::= "é" y*\ny ::= [a-z]',
        ["<é>", "<éa>"],
        ["<éab>", "<a>"],
    ),
    "a pattern": (
        r'root ::= Regex("^\\d{2}[a-c&&]+?$") Regex("a.b", flags="i")',
        ["12aa&aXB", "12&A.b"],
        ["1aaxb", "12aa\nb"],
    ),
    "a pattern over lines": ('root ::= Regex("a.b") Regex("(x|y)*", flags="su")', ["a\nb", "abbyx"], ["ab", "axbz"]),
    "a pattern in a string of JSON": (
        r'root ::= Regex("\\S+", json_string=true) Regex("[^a]", json_string=false)',
        ['x"', "xé\\"],
        ['""', "\\x", "xa"],
    ),
    "a substring": (
        'root ::= "<" Substring("ab", "", "c", "ab") ">" Substring()',
        ["<>", "<abc>", "<cab>"],
        ["<a>", "<abab>"],
    ),
    "tags that begin with each other": (
        'root ::= TagDispatch(("<a", x), ("<ab", y), loop_after_dispatch=false)\nx ::= "b"? "1"\ny ::= "2"',
        ["", "b<a1", "<ab1", "<ab2"],
        ["<a2", "<abb1", "<a1<ab2", "<ab"],
    ),
    "excluded texts that hold each other, and tags": (
        'root ::= TagDispatch(("b", x), excludes=("abc", "cd", "ccd"))\nx ::= "1"',
        ["ab1c", "cc", "acb1d"],
        ["abc", "cd", "ab", "accd"],
    ),
    "two rules for a tag": ('root ::= TagDispatch(("t", x), ("t", y))\nx ::= "1"\ny ::= "2"', ["at1t2"], ["t3", "t"]),
    "escapes of C": (r"""root ::= [\^a] "\a\b\f\v\0\e\'\?\/" """, ["^\a\b\f\v\0\x1b'?/"], ["^"]),
    "several lines in groups": ('root ::= (\n "a"\n | "b"\n)\n', ["a", "b"], ["ab"]),
    "blanks between rules": ('\n\n root ::= x\n\n\n\tx ::= "a"\n\n', ["a"], [""]),
    "line breaks of Windows": ('root ::= x\r\nx ::= "a" |\r\n "b"\r\n', ["a", "b"], [""]),
    "line breaks of old": ('root ::= x\rx ::= "a"\r', ["a"], [""]),
    "no blanks": ('root::="a"[b]x|"c"(x)\nx::="d"', ["abd", "cd"], ["a"]),
    "names": ('root ::= A-1 2x -y a_b\nA-1 ::= "a"\n2x ::= "b"\n-y ::= "c"\na_b ::= "d"', ["abcd"], ["abc"]),
    "a byte order mark": ('\ufeffroot ::= "a"', ["a"], []),
    "left recursion": ('root ::= root "+" "1" | "1"', ["1", "1+1+1"], ["", "1+"]),
    "right recursion": ('root ::= "a" root |', ["", "aaa"], ["b"]),
    "hidden left recursion": ('root ::= e root "a" | "b"\ne ::= "c"?', ["b", "cba", "ccbaa"], ["c", "cb"]),
    "recursion in the middle": ('root ::= "(" root ")" |', ["", "(())"], ["(", "())"]),
    "palindromes": ('root ::= "a" root "a" | "b" root "b" | [ab]?', ["", "aba", "abba"], ["ab"]),
    "every way to cut": ('root ::= x "b"\nx ::= [ab]+', ["ab", "aabb"], ["a", "b"]),
    "optional spaces twice": ('root ::= ws "a" ws ws\nws ::= [ ]*', ["a", "  a  "], ["a a"]),
    "keyword and name": ('root ::= "if" " " name | name "f"\nname ::= [a-z]+', ["if x", "iff"], ["if ", "i"]),
    "rules that never end": ('root ::= "a" | x\nx ::= "b" x', ["a"], ["b"]),
    "JSON": (
        JSON,
        ["{}", '{"a": [1, -2.5e+3, "\\u00e9\\n", null], "b": {"": true}}\n  ', '{"é":"日"}'],
        ["1", '{"a": 01}', '{"a"}', '{"a": "\\x"}', '{"a": [1,]}', '{"a":  1}'],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_language(name: str) -> None:
    grammar, accepted, refused = CASES[name]
    compiled = cfgmask.compile(cfgmask.Grammar.from_gbnf(grammar), VOCABULARY)
    assert [text for text in accepted if not accepts(compiled, text)] == []
    assert [text for text in refused if accepts(compiled, text)] == []


TOKENS = cfgmask.Vocabulary.from_bytes(
    [b"a", b"b", b"ab", b"", b"", b"</s>"], eos_token_id=5, special_tokens={"<think>": 3, "<a b>": 4, "</s>": 5}
)

# Grammar, ids of tokens that are consumed, what may come then.
TOKEN_CASES: dict[str, tuple[str, list[int], set[int]]] = {
    "by name": ('root ::= <think> "a"', [], {3}),
    "by id": ('root ::= <[3]> "a"', [], {3}),
    "after it": ('root ::= <think> "a"', [3], {0}),
    "a name with blanks": ("root ::= <a b>", [], {4}),
    "any but one": ("root ::= !<think>", [], {0, 1, 2, 4}),
    "any but an id": ("root ::= !<[0]>", [], {1, 2, 3, 4}),
    "repeated": ("root ::= !<[3]>* <think>", [0, 2], {0, 1, 2, 3, 4}),
    "beside text": ('root ::= <[2]> "b" | "a"', [], {0, 2}),
    "by id and by text": ('root ::= <[2]> "b" | "ab" "a"', [2], {0, 1}),
    "a token ends a lexeme": ("root ::= [a-z]* <think>", [0], {0, 1, 2, 3}),
    "an id in a call": ('root ::= Token(3) "a" | Token (4, 1)', [], {1, 3, 4}),
    "any but those of a call": ("root ::= ExcludeToken(0, 4)", [], {1, 2, 3}),
    "tags among tokens": ('root ::= TokenTagDispatch((3, x))\nx ::= "a"', [0, 4], {0, 1, 2, 3, 4, 5}),
    "behind a tag": ('root ::= TokenTagDispatch((3, x))\nx ::= "a"', [4, 3], {0}),
    "free tokens behind a rule": (
        'root ::= TokenTagDispatch((3, x), excludes=(1))\nx ::= "a"',
        [3, 0],
        {0, 2, 3, 4, 5},
    ),
    "one tag at most": ('root ::= TokenTagDispatch((3, x), loop_after_dispatch=false)\nx ::= "a"', [1, 3, 0], {5}),
    "an end token by name": ("root ::= </s> <think>", [5], {3}),
}


@pytest.mark.parametrize("name", TOKEN_CASES)
def test_tokens(name: str) -> None:
    grammar, consumed, expected = TOKEN_CASES[name]
    matcher = cfgmask.compile(cfgmask.Grammar.from_gbnf(grammar), TOKENS).matcher()
    assert matcher.try_advance(consumed) == len(consumed)
    allowed = {token for token in range(TOKENS.n_vocab) if matcher.fork().try_advance([token])}
    assert allowed == expected


def test_unknown_tokens_are_errors_of_compiling() -> None:
    with pytest.raises(cfgmask.GrammarError, match="no special token <nothing>"):
        cfgmask.compile(cfgmask.Grammar.from_gbnf("root ::= <nothing>"), TOKENS)


def test_from_file(tmp_path: Path) -> None:
    path = tmp_path / "g.gbnf"
    path.write_text('root ::= "a"', encoding="utf-8")
    assert accepts(cfgmask.compile(cfgmask.Grammar.from_file(path), VOCABULARY), "a")


def test_captures_and_temperatures_of_rules() -> None:
    grammar = 'root ::= x y\nx[capture] ::= z ","\ny[capture="n", temperature=0.5] ::= [0-9]+\nz ::= [a-z]'
    matcher = cfgmask.compile(cfgmask.Grammar.from_gbnf(grammar), VOCABULARY).matcher()
    assert matcher.advance_bytes(b"a,") == 2
    assert matcher.temperature == 0.5
    assert matcher.advance_bytes(b"12") == 2
    assert matcher.captures() == [("x", b"a,"), ("n", b"12")]


def test_a_rule_has_no_more_tokens_than_its_limit() -> None:
    grammar = 'root ::= "b" x "b"\nx[max_tokens=2] ::= y*\ny ::= "a"'
    matcher = cfgmask.compile(cfgmask.Grammar.from_gbnf(grammar), TOKENS).matcher()
    assert matcher.try_advance([1, 0]) == 2
    assert mask_of(matcher, TOKENS.n_vocab) == {0, 1, 2}
    matcher.advance(0)
    assert mask_of(matcher, TOKENS.n_vocab) == {1}
