"""Rules with attributes: what they match, against the definitions of docs/semantics.md read word by word."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.lark.engine import VOCABULARY, accepts, compiled

TEXTS = ["".join(letters) for length in range(6) for letters in product("ab", repeat=length)]

_patterns = st.recursive(
    st.sampled_from(["a", "b", "ab", "[ab]", "(?:)"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda parts: f"(?:{parts[0]}|{parts[1]})"),
        inner.map(lambda part: f"(?:{part})*"),
        inner.map(lambda part: f"(?:{part})?"),
    ),
    max_leaves=5,
)


def matching(pattern: str) -> set[str]:
    return {text for text in TEXTS if re.fullmatch(pattern, text)}


def shortest(texts: set[str]) -> set[str]:
    """Those that begin with no other."""
    return {text for text in texts if not any(text != other and text.startswith(other) for other in texts)}


def language(grammar: str) -> set[str]:
    """What the engine takes before a final `!`."""
    engine = compiled(grammar)
    return {text for text in TEXTS if accepts(engine, text + "!")}


@given(body=_patterns)
def test_lazy(body: str) -> None:
    assert language(f'start: x "!"\nx[lazy]: /{body}/') == shortest(matching(body))


@given(body=_patterns, maximum=st.integers(0, 4))
def test_max_chars(body: str, maximum: int) -> None:
    expected = {text for text in matching(body) if len(text) <= maximum}
    grammar = f'start: x "!" | "-"\nx[max_chars={maximum}]: /{body}/'
    if expected:
        assert language(grammar) == expected
    else:
        # A shortest text of these patterns has at most five characters, so there is none at all.
        with pytest.raises(cfgmask.GrammarError, match="lark-limit-too-small"):
            compiled(grammar)


@given(body=_patterns, end=_patterns, maximum=st.none() | st.integers(0, 3), name=st.sampled_from(["stop", "suffix"]))
def test_ends(body: str, end: str, maximum: int | None, name: str) -> None:
    limit = "" if maximum is None else f", max_chars={maximum}"
    bodies = {text for text in matching(body) if maximum is None or len(text) <= maximum}
    grammar = f'start: x "!" | "-"\nx[{name}=/{end}/{limit}]: /{body}/'
    if re.fullmatch(end, ""):
        with pytest.raises(cfgmask.GrammarError, match=r"lark-empty-stop|lark-limit-too-small"):
            compiled(grammar)
    elif bodies:
        ends = matching(end)
        assert language(grammar) == shortest({b + e for b in bodies for e in ends} & set(TEXTS))


# Grammar, texts in its language, texts that are not.
CASES = {
    "tool calls in free text": (
        """\
start: (call_f | call_g)* text
text: TEXT
TEXT: /(.|\\n)*/
head_f[lazy]: TEXT "<fun"
call_f: head_f "=f>" %json {"const": 1} "</fun>"
head_g[lazy]: TEXT "<fun"
call_g: head_g "=g>" /[0-9]+/ "</fun>"
""",
        ["", "a\nb", "a <fun=f>1</fun> b <fun=g>12</fun>", "<fu<fun=g>3</fun>"],
        ["<fun=h>", "a<fun", "a<fun=f>2</fun>"],
    ),
    "an end of several characters": (
        'start: x\nx[suffix="aab"]: /[ab]*/',
        ["aab", "aaab", "abaab"],
        ["aa", "aabaab"],
    ),
    "a suffix makes a rule lazy in any case": (
        'start: x "c"\nx[lazy, suffix="b"]: /[a-d]*/',
        ["dbc", "abc", "bc"],
        ["db", "bbc"],
    ),
    "the first of two ends": ('start: x "c"?\nx[stop=/b|bc/]: /[a-c]*/', ["ab", "b", "abc"], ["abb", "abcc"]),
    "an end by name": (
        'start: x+\nx[suffix=END]: /[a-z ]/*\nEND: "." | LINE\nLINE: "\\n"',
        ["a b.", "a\nb.", "\n."],
        ["a", "a.b"],
    ),
    "one terminal: nothing is ignored inside": (
        'start: x y\nx[max_chars=2]: "a" "b"?\ny: "c" "d"\n%ignore " "',
        ["ab c d", " acd"],
        ["a b c d", "abbcd"],
    ),
    "characters, not bytes": ('start: x\nx[max_chars=2]: /.*/', ["", "éé", "\U0001f600a"], ["aaa", "ééé"]),
    "no tokens": ('start: x "!"\nx[max_tokens=0]: /a*/', ["!"], ["a!"]),
    "tokens, of which these are one": ('start: x "!"\nx[lazy, max_tokens=3]: /a*b/', ["aaaab!"], ["aaa!"]),
    "limits of lazy rules": ('start: x "!"\nx[lazy, max_chars=3]: /a*b/', ["b!", "aab!"], ["aaab!", "a!"]),
    "several lists, and none": ('start: x y\nx[lazy][max_chars=1]: /a+/\ny[]: "b"', ["ab"], ["aab"]),
    "others drop out": ('start: x "-" | LONG\nx[lazy]: /ba+/\nLONG: "bab" | "b"', ["ba-", "b"], ["bab", "baa-"]),
    "others drop out where they match, too": (
        'start: x "-" | WORD "+"\nx[lazy]: "ab" | "abc"\nWORD: /[a-c]+/',
        ["ab-", "a+", "bab+"],
        ["ab+", "abc+", "abc-"],
    ),
    "two lazy terminals": (
        'start: x "-" | y "+"\nx[lazy]: /a*b/\ny[suffix="b"]: /[ab]a*/',
        ["b-", "ab-", "ab+", "aab+"],
        ["bb+", "bab+"],
    ),
    "every segmentation": (
        '%cfgmask {"lexer": "complete"}\nstart: x "-" | WORD "+"\nx[lazy]: "ab" | "abc"\nWORD: /[a-c]+/',
        ["ab-", "ab+", "abc+"],
        ["abc-"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_language(name: str) -> None:
    grammar, accepted, refused = CASES[name]
    engine = compiled(grammar)
    assert [text for text in accepted if not accepts(engine, text)] == []
    assert [text for text in refused if accepts(engine, text)] == []


def test_an_end_token_stops() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([b"a", b"b", b"", b""], eos_token_id=[2, 3])
    grammar = cfgmask.Grammar.from_lark('start: x /[ab]+/\nx[stop=""]: /[ab]*/')
    compiled_grammar = cfgmask.compile(grammar, vocabulary)
    for end in (2, 3):
        matcher = compiled_grammar.matcher()
        assert matcher.try_advance([0, 1, end]) == 3
        assert not matcher.is_accepting
        assert not matcher.is_finished
        assert matcher.try_advance([0, end]) == 2
        assert matcher.is_finished
    assert compiled_grammar.matcher().try_advance([2, 2]) == 1


def test_a_lazy_rule_may_end_in_a_token() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes(
        [b"a", b"b", b"", b"", b""], eos_token_id=4, special_tokens={"<t>": 2, "<u>": 3}
    )
    grammar = cfgmask.Grammar.from_lark("start: x* /b*/\nx[lazy, max_chars=3]: TEXT <[2-3]>\nTEXT: /[ab]*/")
    compiled_grammar = cfgmask.compile(grammar, vocabulary)
    for tokens in ([0, 1, 2, 3, 1], [2], [1, 1, 3, 0, 2], [1, 1, 1, 1]):
        matcher = compiled_grammar.matcher()
        assert matcher.try_advance(tokens) == len(tokens)
        assert matcher.is_accepting
    assert compiled_grammar.matcher().try_advance([0, 1, 0, 0]) == 3
    assert compiled_grammar.matcher().try_advance([0, 4]) == 1


def test_ends_of_imported_rules(tmp_path: Path) -> None:
    (tmp_path / "ends.lark").write_text('line[suffix=END]: /[a-z]*/\nEND: STOP | ";"\nSTOP: "."\n')
    (tmp_path / "main.lark").write_text(
        'start: line+\nEND: "!"\n%import .ends.line\n%override line[suffix=END]: "x"*\n'
    )
    (tmp_path / "plain.lark").write_text("start: line+\n%import .ends.line\n")
    for name, accepted, refused in [("plain.lark", "ab.;c;", "a!"), ("main.lark", "xx!!", "x.")]:
        engine = cfgmask.compile(cfgmask.Grammar.from_file(tmp_path / name), VOCABULARY)
        assert accepts(engine, accepted)
        assert not accepts(engine, refused)
