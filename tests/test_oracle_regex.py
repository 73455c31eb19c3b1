"""The oracle's regex engine against a matcher of another kind, against `re` and `regex`, and against `json`."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest
import regex
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.regex_tree import RegexTree
from tests.build import alt, cat, cls, lit, opt, rep
from tests.oracle_regex import Regexes, Residual
from tests.strategies import character_classes, characters, discards_undecided, plain_regexes, text_regexes, texts


def residual(node: RegexTree, data: bytes = b"") -> tuple[Regexes, Residual]:
    regexes = Regexes()
    return regexes, regexes.after(regexes.lower(node), data)


def accepts(node: RegexTree, data: bytes) -> bool:
    regexes, rest = residual(node, data)
    return regexes.nullable(rest)


def is_prefix(node: RegexTree, data: bytes) -> bool:
    regexes, rest = residual(node, data)
    return not regexes.is_empty(rest)


def _is_taken(node: tree.Multiples, text: str) -> bool:
    """Whether a decimal is one of the multiples, by the value of the whole text."""
    if not re.fullmatch(r"(0|[1-9][0-9]*)(\.[0-9]+)?", text):
        return False
    whole, _, fraction = text.partition(".")
    if node.most_digits is not None and len(whole) > node.most_digits:
        return False
    units = Fraction(text) * 10**node.places
    for case in node.cases:
        most = node.most_digits if case.most_places is None else case.most_places
        if most is not None and len(fraction) > most:
            continue
        if case.finer if units.denominator > 1 else units % case.step == 0 and all(units % n for n in case.without):
            return True
    return False


def ends(node: RegexTree, text: str, start: int) -> set[int]:
    """Where a match of `node` that starts at `start` may end: matching by definition, over characters."""
    everywhere = set(range(start, len(text) + 1))
    match node:
        case tree.Literal(data):
            return {start + len(data.decode())} if text.startswith(data.decode(), start) else set()
        case tree.KeySet(keys):
            return {start + len(key.decode()) for key in keys if text.startswith(key.decode(), start)}
        case tree.Substring(chunks):
            runs = (
                "".join(map(bytes.decode, chunks[a:b])) for a in range(len(chunks) + 1) for b in range(len(chunks) + 1)
            )
            return {start + len(run) for run in runs if text.startswith(run, start)}
        case tree.Divisible(modulus):
            places = {start}
            for end in range(start + 1, len(text) + 1):
                if text[end - 1] not in "0123456789.":
                    break
                if int(text[start:end].replace(".", "") or "0") % modulus == 0:
                    places.add(end)
            return places
        case tree.Multiples():
            return {end for end in range(start + 1, len(text) + 1) if _is_taken(node, text[start:end])}
        case tree.CharClass(ranges):
            inside = start < len(text) and any(low <= ord(text[start]) <= high for low, high in ranges)
            return {start + 1} if inside else set()
        case tree.Concatenation(parts):
            places = {start}
            for part in parts:
                places = {end for place in places for end in ends(part, text, place)}
            return places
        case tree.Alternation(parts):
            return {end for part in parts for end in ends(part, text, start)}
        case tree.Intersection(parts):
            return everywhere.intersection(*(ends(part, text, start) for part in parts))
        case tree.Complement(body):
            return everywhere - ends(body, text, start)
        case tree.Repetition(body, minimum, maximum):
            return repeated_ends(body, minimum, len(text) + minimum + 1 if maximum is None else maximum, text, start)
    raise TypeError(node)


def repeated_ends(body: RegexTree, minimum: int, maximum: int, text: str, start: int) -> set[int]:
    places, found = {start}, set[int]()
    for count in range(maximum + 1):
        if count >= minimum:
            found |= places
        places = {end for place in places for end in ends(body, text, place)}
    return found


def pattern(node: RegexTree) -> str:
    """A plain tree as a pattern that `re` and `regex` read alike."""
    match node:
        case tree.Literal(data):
            return "".join(re.escape(c) for c in data.decode())
        case tree.CharClass(ranges):
            return "[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges) + "]"
        case tree.Concatenation(parts):
            return "".join(f"(?:{pattern(part)})" for part in parts)
        case tree.Alternation(parts):
            return "|".join(f"(?:{pattern(part)})" for part in parts)
        case tree.Repetition(body, minimum, maximum):
            return f"(?:{pattern(body)}){{{minimum},{'' if maximum is None else maximum}}}"
    raise TypeError(node)


@given(text_regexes, texts)
@discards_undecided
def test_derivatives_agree_with_matching_by_definition(node: RegexTree, text: str) -> None:
    assert accepts(node, text.encode()) == (len(text) in ends(node, text, 0))


@given(plain_regexes, texts)
def test_plain_trees_agree_with_re(node: RegexTree, text: str) -> None:
    assert accepts(node, text.encode()) == bool(re.fullmatch(pattern(node), text))


@given(plain_regexes, texts)
def test_prefixes_agree_with_partial_matches(node: RegexTree, text: str) -> None:
    assert is_prefix(node, text.encode()) == bool(regex.fullmatch(pattern(node), text, partial=True))


@given(text_regexes, texts, texts)
@discards_undecided
def test_every_prefix_of_a_match_is_a_prefix(node: RegexTree, text: str, more: str) -> None:
    data = (text + more).encode()
    if accepts(node, data):
        assert all(is_prefix(node, data[:n]) for n in range(len(data) + 1))


@given(text_regexes)
@discards_undecided
def test_every_prefix_leads_to_a_match(node: RegexTree) -> None:
    """From any non-empty residual some bytes lead to the empty text, found without asking for emptiness."""
    regexes, rest = residual(node)
    seen, layer = {rest}, [rest]
    while layer and not any(map(regexes.nullable, layer)):
        layer = list({regexes.derivative(r, byte) for r in layer for byte in range(256)} - seen)
        seen.update(layer)
        if len(seen) > 300:
            return
    assert regexes.is_empty(rest) == (not layer)


@given(character_classes(), st.characters(exclude_categories=["Cs"]))
def test_classes_are_lowered_to_the_encodings_of_their_members(node: tree.CharClass, character: str) -> None:
    inside = any(low <= ord(character) <= high for low, high in node.ranges)
    assert accepts(node, character.encode()) == inside


def test_the_class_of_all_characters_takes_exactly_the_valid_encodings() -> None:
    edges = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    for code in edges:
        data = chr(code).encode()
        assert accepts(tree.ANY_CHAR, data)
        assert all(is_prefix(tree.ANY_CHAR, data[:n]) for n in range(len(data)))
    for data in [
        b"\x80",
        b"\xc0",
        b"\xc1",
        b"\xe0\x9f",
        b"\xed\xa0",
        b"\xf0\x8f",
        b"\xf4\x90",
        b"\xf5",
        b"\xff",
        b"\xc3a",
    ]:
        assert not is_prefix(tree.ANY_CHAR, data)


# JSON strings.

HEX = "0123456789abcdefABCDEF"
spellings = st.one_of(
    characters,
    st.sampled_from([r"\n", r"\"", r"\\", r"\/", r"\b", r"\u00e9", r"\u00E9", r"\ud83d\ude00", r"\uD83D\uDE01", r"\x"]),
    st.sampled_from(
        [r"\u0061", r"\u000a", r"\u001f", r"\u001F", r"\u002f", r"\ud83d", r"\ude00", "\x00", "\x7f", "\\"]
    ),
    st.text(HEX, min_size=4, max_size=4).map(lambda digits: "\\u" + digits),
)


def is_yaml(character: str) -> bool:
    """Whether PyYAML reads a character of a string with quotes as itself."""
    try:
        # At the edge of a line, blanks fall away.
        value: object = yaml.safe_load(f'"a {character} b"')
    except yaml.YAMLError:
        return False
    return value == f"a {character} b" and character != "\ufeff"


def spelled_as(spelling: str, mode: str) -> bool:
    """Whether a valid literal is spelled as the mode asks, character by character."""
    for match in re.finditer(r"\\u[dD][89abAB]..\\u....|\\u....|\\.|.", spelling[1:-1], re.DOTALL):
        character = json.loads(f'"{match[0]}"')
        itself = match[0] == character
        if mode == "literal" and " " <= character <= "~" and character not in '"\\/' and not itself:
            return False
        if mode == "yaml" and (len(match[0]) > 6 or (itself and not is_yaml(character))):
            return False
        if mode == "canonical" and json.dumps(character, ensure_ascii=False)[1:-1] != match[0]:
            return False
    return True


@given(text_regexes, st.lists(spellings, max_size=4), st.sampled_from(["any", "literal", "canonical", "yaml"]))
@example(tree.ANY_TEXT, [r"\ud83d\ude00"], "any")
@example(lit("/"), [r"\/"], "canonical")
@example(tree.ANY_TEXT, [r"\ud83d\ude00"], "yaml")
@example(tree.ANY_TEXT, ["\u2028"], "yaml")
@example(tree.ANY_TEXT, ["\u2027", r"\u2028"], "yaml")
@discards_undecided
def test_json_strings_agree_with_the_json_module(body: RegexTree, parts: list[str], mode: str) -> None:
    spelling = f'"{"".join(parts)}"'
    node = tree.JsonString(body, mode)  # type: ignore[arg-type]
    try:
        value = json.loads(spelling)
        valid = isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)
    except ValueError:
        valid = False
    expected = valid and len(value) in ends(body, value, 0) and spelled_as(spelling, mode)
    assert accepts(node, spelling.encode()) == expected
    if expected:
        assert all(is_prefix(node, spelling.encode()[:n]) for n in range(len(spelling.encode())))


@pytest.mark.parametrize(
    ("body", "prefix", "viable"),
    [
        (lit("é"), r'"\u00', True),
        (lit("é"), r'"\u00E', True),
        (lit("é"), r'"\u01', False),
        (lit("😀"), r'"\ud83', True),
        (lit("😀"), r'"\ud83d\ude0', True),
        (lit("😀"), r'"\ud83e', False),
        (lit("é"), r'"\n', False),
        (lit("a"), '"\\', True),
        (rep(cls("09"), 1), r'"1\u003', True),
        (rep(cls("09"), 1), r'"1\u004', False),
        (
            tree.Intersection((tree.ANY_TEXT, tree.Complement(cat(tree.ANY_TEXT, "\n", tree.ANY_TEXT)))),
            r'"a\u000',
            True,
        ),
        (tree.Intersection((tree.ANY_TEXT, tree.Complement(cat(tree.ANY_TEXT, "\n", tree.ANY_TEXT)))), r'"a\n', False),
    ],
)
def test_prefixes_of_escapes(body: RegexTree, prefix: str, viable: bool) -> None:
    assert is_prefix(tree.JsonString(body), prefix.encode()) == viable


def test_an_escape_in_the_middle_of_a_character_is_refused() -> None:
    assert is_prefix(tree.JsonString(lit("é")), b'"\xc3')
    assert not is_prefix(tree.JsonString(lit("é")), b'"\xc3\\')


@pytest.mark.parametrize(
    "node",
    [
        tree.NOTHING,
        cat("a", tree.NOTHING),
        tree.Intersection((lit("a"), lit("b"))),
        tree.Intersection((rep("a", 1), tree.Complement(rep(alt("a", "b"))))),
        tree.Complement(tree.ANY_TEXT),
        tree.JsonString(tree.Intersection((lit("a"), opt("b")))),
        tree.Intersection((rep("aa", 1), cat("a", rep("aa")))),
    ],
)
def test_nothing_is_recognised(node: RegexTree) -> None:
    assert not is_prefix(node, b"")
