"""Groups whose names mean more than grouping: their texts, and what is said where they are misused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask import Grammar, GrammarError, Vocabulary, compile
from cfgmask.regex import parse_regex
from tests.oracle import Oracle

# Pattern, texts that it matches, texts that it does not.
CASES = [
    (r"a(?P<QUOTED_TEXT>)b", ['a""b', r'a"x\"y\\"b', 'a"é\\n"b'], ['a"b', 'a"""b', r'a"\"b', 'a"\n"b']),
    (
        r"(?P<UNQUOTED_TEXT>)",
        ["a", "a b", "x:y", "a#b", "-a", "-1", "http://x.y/z#q", "don't", 'say "x"', "a, [b]", "?x", "::a"],
        [
            "",
            " a",
            "a ",
            "a: b",
            "a #b",
            "- a",
            "-",
            "#a",
            "a:",
            '"a"',
            "'a'",
            "[a]",
            "{a}",
            "*a",
            "&a",
            "!a",
            "%a",
            "@a",
        ],
    ),
    (r"(?P<TEXT_UNTIL>END)", ["END", "a\nb END", "ENEND"], ["", "EN", "END.", "ENDEND"]),
    (r"(?P<TEXT_UNTIL>\n|!)x", ["\nx", "abc!x"], ["a!b!x", "x"]),
    (r"<(?P<SUBSTRING_OF>abcab)>", ["<>", "<ab>", "<bca>", "<abcab>"], ["<ac>", "<abca"]),
    (r"<(?P<SUBSTRING_OF>a\.é)>", ["<.>", "<.é>", "<a.é>"], ["<aé>", r"<\.>"]),
    (r"(?P<SUBSTRING_OF>a\nb)", ["a\nb", "\n"], ["nb"]),
    (r"(?P<DELIMITED_LIST>, |[a-z]+)", ["a", "ab, c", "a, b, c"], ["", "a,b", "a, ", ", a"]),
    (r"(?P<DELIMITED_LIST>;|a|b)", ["a", "a;b;a"], ["ab", ";"]),
    (
        r"(?P<DELIMITED_SUBSEQUENCE_OF>, |a|b|c)",
        ["a", "b", "c", "a, b", "a, c", "b, c", "a, b, c"],
        ["", "b, a", "a, a", "a, ", "ab"],
    ),
    (r"(?P<DELIMITED_SUBSEQUENCE_OF>-|x+|y?)!", ["x!", "!", "x-y!", "xx-!", "y!"], ["x-x!", "-y!"]),
    (r"(?:(?P<QUOTED_TEXT>)|(?P<UNQUOTED_TEXT>)){2}", ['"a"b', "ab"], ["a", '"a"']),
    (r"(?P<other>a)(?P<QUOTED_TEXT>)?", ["a", 'a""'], ['""']),
]

REPORTS = {
    r"(?P<QUOTED_TEXT>a)": """\
error[regex-named-group]: the group `QUOTED_TEXT` has no body
  --> <pattern>:1:1
1 | (?P<QUOTED_TEXT>a)
  | ^^^^^^^^^^^^^^^^^^
  help: write `(?P<QUOTED_TEXT>)`""",
    r"(?P<SUBSTRING_OF>a+)": """\
error[regex-named-group]: `SUBSTRING_OF` takes characters that stand for themselves
  --> <pattern>:1:1
1 | (?P<SUBSTRING_OF>a+)
  | ^^^^^^^^^^^^^^^^^^^^
  help: write a backslash before those that do not, and no flag `i`""",
    r"(?i)(?P<SUBSTRING_OF>a)": """\
error[regex-named-group]: `SUBSTRING_OF` takes characters that stand for themselves
  --> <pattern>:1:5
1 | (?i)(?P<SUBSTRING_OF>a)
  |     ^^^^^^^^^^^^^^^^^^^
  help: write a backslash before those that do not, and no flag `i`""",
    r"(?P<DELIMITED_LIST>a)": """\
error[regex-named-group]: `DELIMITED_LIST` takes a delimiter and items as alternatives
  --> <pattern>:1:1
1 | (?P<DELIMITED_LIST>a)
  | ^^^^^^^^^^^^^^^^^^^^^
  help: write `(?P<DELIMITED_LIST>, |item)`, the delimiter first""",
    r"(?P<IMAGE>x)": """\
error[regex-token-group]: the group `IMAGE` has no body
  --> <pattern>:1:1
1 | (?P<IMAGE>x)
  | ^^^^^^^^^^^^
  help: write `(?P<IMAGE>)`""",
    r"^(?P<IMAGE>)": """\
error[regex-token-group]: a pattern with tokens has no anchors
  --> <pattern>:1:1
1 | ^(?P<IMAGE>)
  | ^
  help: leave it out: the whole text is matched""",
    r"(?=(?P<IMAGE>))a": """\
error[regex-token-group]: tokens cannot stand in a group that looks at its text
  --> <pattern>:1:1
1 | (?=(?P<IMAGE>))a
  | ^^^^^^^^^^^^^^^
  help: take the token out of it""",
    r"(?P<DELIMITED_LIST>,|(?P<TEXT_TOKEN>))": """\
error[regex-token-group]: tokens cannot stand in a group that looks at its text
  --> <pattern>:1:1
1 | (?P<DELIMITED_LIST>,|(?P<TEXT_TOKEN>))
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  help: take the token out of it""",
}


@pytest.mark.parametrize(("pattern", "matched", "refused"), CASES)
def test_texts(pattern: str, matched: list[str], refused: list[str]) -> None:
    oracle = Oracle(Grammar.from_regex(pattern).ir)
    assert [text for text in matched if not oracle.accepts(text.encode())] == []
    assert [text for text in refused if oracle.accepts(text.encode())] == []


@pytest.mark.parametrize("pattern", REPORTS)
def test_reports(pattern: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_regex(pattern)
    assert "\n".join(diagnostic.render() for diagnostic in caught.value.diagnostics) == REPORTS[pattern]


def test_names_mean_nothing_where_nobody_asked_for_them() -> None:
    assert parse_regex("(?P<SUBSTRING_OF>abc)") == parse_regex("abc")


def test_tokens_are_no_part_of_terminals() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark('start: A\nA: "a" /(?P<TEXT_TOKEN>)/')
    assert caught.value.diagnostics[0].render() == (
        "error[regex-token-group]: `TEXT_TOKEN` is a token, which has no text and cannot be part of a terminal\n"
        '  --> <grammar>:2:9\n2 | A: "a" /(?P<TEXT_TOKEN>)/\n  |         ^^^^^^^^^^^^^^^^\n'
        "  help: use it outside of terminals"
    )


IMAGE, TEXT, END = 0, 1, 2
VOCABULARY = Vocabulary.from_bytes(
    [b"", b"ab", b"", b"a", b"b", b"\n"], eos_token_id=END, special_tokens={"<|image|>": 0}
)


@pytest.mark.parametrize(
    ("grammar", "tokens", "accepted"),
    [
        (Grammar.from_regex("a(?P<IMAGE>)b"), [3, IMAGE, 4], True),
        (Grammar.from_regex("a(?P<IMAGE>)b"), [3, 4], False),
        (Grammar.from_regex("(?P<TEXT_TOKEN>){2}"), [TEXT, 5], True),
        (Grammar.from_regex("(?P<TEXT_TOKEN>){2}"), [TEXT], False),
        (Grammar.from_regex("(?P<PARAGRAPH_TOKEN>)|\n+b"), [5, 4], True),
        # By its id or by its bytes: both readings go on.
        (Grammar.from_regex("(?P<PARAGRAPH_TOKEN>)x|abb"), [TEXT, 4], True),
        (Grammar.from_regex("(?P<PARAGRAPH_TOKEN>)b|abx"), [TEXT, 4], True),
        (Grammar.from_lark('start: "a" /(?P<IMAGE>)+b/ "a"'), [3, IMAGE, IMAGE, 4, 3], True),
        (Grammar.from_lark("start: A+\nA: /(?P<QUOTED_TEXT>)|(?P<DELIMITED_LIST>\\n|a|b)/"), [3, 5, 4], True),
    ],
)
def test_tokens(grammar: Grammar, tokens: list[int], accepted: bool) -> None:
    matcher = compile(grammar, VOCABULARY).matcher()
    all_fit = all(matcher.try_advance([token]) == 1 for token in tokens)
    assert (all_fit and matcher.is_accepting) == accepted


def test_a_vocabulary_without_images() -> None:
    words = Vocabulary.from_bytes([b"a", b""], eos_token_id=1)
    with pytest.raises(GrammarError) as caught:
        compile(Grammar.from_regex("(?P<IMAGE>)"), words)
    assert caught.value.diagnostics[0].render() == (
        "error[token-unknown]: the vocabulary has no token for (?P<IMAGE>)\n"
        "  --> <pattern>:1:1\n1 | (?P<IMAGE>)\n  | ^^^^^^^^^^^"
    )


@given(st.text(st.sampled_from("ab:#-?, []'\"&!%@|>é\t"), max_size=6))
def test_unquoted_text_is_what_yaml_reads_as_it_stands(text: str) -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML to compare with")
    if not Oracle(Grammar.from_regex("(?P<UNQUOTED_TEXT>)").ir).accepts(text.encode()):
        return
    node = yaml.compose(f"- {text}\n", Loader=yaml.BaseLoader).value[0]
    assert (node.style, node.value) == (None, text)
