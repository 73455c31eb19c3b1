"""Conditions on strings that the core works out by itself: patterns with assertions, formats, and combinations."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask import GrammarError, Limits, _core
from cfgmask.grammar import ir
from cfgmask.grammar.regex_tree import JsonString, RegexTree
from cfgmask.grammar.walk import walk
from cfgmask.json_schema import core_reader
from cfgmask.regex import parse_regex
from tests.json_schema.general import general_rules

MAX_STATES = 3_000


@pytest.fixture
def nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: object, question: str, *__: object) -> None:
        pytest.fail(f"Python was asked about {question}")

    for question in ("alike", "format", "properties", "drafts"):
        monkeypatch.setattr(core_reader._Answers, question, asked)


def regexes_of(schema: dict[str, Any]) -> list[_core.PortableRegex] | None:
    """As the core reads a schema; None if there are no such strings."""
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema)
    except GrammarError as error:
        if [d.code for d in error.diagnostics] != ["schema-unsatisfiable"]:
            raise
        return None
    assert grammar.lazy is not None
    return grammar.lazy.regexes


def are_equal(regex: _core.PortableRegex, tree: RegexTree) -> bool | None:
    """Whether they match the same texts; None for too many states."""
    builder = _core.RegexBuilder(vars(Limits()))
    nodes = [builder.portable(regex), builder.portable(_core.portable_regex(tree, 200))]
    states = builder.automaton(nodes, MAX_STATES)
    return None if states is None else all(len(matched) != 1 for _, matched, _ in states)


# ---- patterns with assertions

PATTERNS = [
    # Those of MaskBench that are not simple.
    r"^(?!pattern$).*$",
    r"^(?!tag|category)$",
    r"^(?!interactive|name|style).+$",
    r"^(?!io\.papermc\.)([a-zA-Z_$][a-zA-Z\d_$]*\.)*[a-zA-Z_$][a-zA-Z\d_$]*$",
    r"^(?![ \t\n]*\(default(.*)\))[\s\S]*",
    r"^(?![i|I][o|O][b|B][r|R][o|O][k|K][e|E][r|R])",
    r"^((?!mode)(?!Mode).)*$",
    r"^(?!.*\/)^(.*[^.]+.*)$",
    r"^(https?://|/?.?-?(?!\w+://)\w).+\.ya?ml$",
    r"((?:[^/]*/)*)(?=\.(yaml|yml|json))",
    r"^([^,]+(,|$)){3,}$",
    r"^(\/?((\.{2})|([a-z0-9\-]*))($|\/))*$",
    r"^(\/?((\.{2})|([a-z0-9][a-z0-9\-.]*[a-z0-9]+)|([a-z0-9]*))($|\/))+$",
    r"^@([\da-z](?:(?!.*--)[\da-z-]*[\da-z])?)/([\da-z](?:(?!.*--)[\da-z-]*[\da-z])?)$",
    r"^https?:\/\/(www\.)?[-a-zA-Z0-9@:%._\+~#=]{1,6}\.[a-zA-Z0-9()]{1,6}\b([-a-zA-Z0-9()@:%_\+.~#?&//=]*)$",
    r"^$[a-zA-Z0-9$_]*$",
    r".*\{\{.+}}.*",
    r"^PUBMED:\{d}",
    # Others.
    r"\bcat\b",
    r"\Bcat\B",
    r"^\b",
    r"\b$",
    r"a\b.b",
    r"(?<=a)b",
    r"(?<!a)b|c$",
    r"(?<![0-9])[0-9]{2}(?![0-9])",
    r"(?:(?<=x)y|z\b)+?",
    r"(a|b$){2,3}",
    r"(?:^|,)a(?=,|$)",
    r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{3,5}$",
    r"(?<name>a)(?!b)",
    r"(?!)",
    r"(?=)a",
    r"[^]\b",
    r"(?<=ab)c",
    r"(?<!a.*b)c",
    r"(?:(?=a)\w\w)*c",
    r"(?:\ba)*$",
    r"(?:a\b){2000}",
    r"(a|b)(?!\1)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_with_assertions_mean_what_the_general_way_says(pattern: str, nothing_is_asked: None) -> None:
    regexes = regexes_of({"type": "string", "pattern": pattern})
    tree = parse_regex(pattern, dialect="ecma", context="search")
    if regexes is None:
        assert cfgmask.regex.algebra.is_empty(tree)
    elif regexes:
        assert are_equal(regexes[0], JsonString(tree)) in (True, None)


def test_the_flag_i_asks_for_letters_that_are_alike() -> None:
    tree = parse_regex(r"(?i:ſ\b)", dialect="ecma", context="search")
    regexes = regexes_of({"type": "string", "pattern": r"(?i:ſ\b)"})
    assert regexes
    assert are_equal(regexes[0], JsonString(tree))


ITEMS = st.sampled_from(["a", "b", " ", ".", r"\w", r"\W", "[ab]", "[^a]", "ab"])
EDGES = st.sampled_from(["^", "$", r"\b", r"\B", "(?<=a)", "(?<!a)", r"(?<=\W)", "(?<![ab])", "(?<=ab)", "(?<!b )"])


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    groups = inner.map("(?:{})".format)
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(groups, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{2,}", "*?"])).map("".join),
        inner.map("(?={})".format),
        inner.map("(?!{})".format),
    )


SEARCHES = st.recursive(st.one_of(ITEMS, ITEMS, EDGES), _composed, max_leaves=7)
SHORT = [json.dumps("".join(letters)).encode() for n in range(5) for letters in product("ab ", repeat=n)]


@settings(max_examples=150)
@given(SEARCHES)
def test_assertions_hold_as_in_an_engine_that_backtracks(pattern: str) -> None:
    try:
        regexes = regexes_of({"type": "string", "pattern": pattern})
    except (GrammarError, cfgmask.LimitExceeded):
        event("not read")
        return
    # `re` has no `\B` in the empty text.
    judge = re.compile(pattern.replace("$", r"\Z").replace(r"\B", r"(?!\b)"), re.ASCII)
    matching = {text for text in SHORT if judge.search(json.loads(text))}
    if regexes is None:
        assert not matching
    elif regexes:
        builder = _core.RegexBuilder(vars(Limits()))
        node = builder.portable(regexes[0])
        assert {text for text in SHORT if builder.matches(node, text)} == matching


# ---- conditions together

CONDITIONS: list[dict[str, Any]] = [
    {"format": "date", "pattern": "^2"},
    {"format": "date", "maxLength": 9},
    {"format": "date", "minLength": 3, "maxLength": 10},
    {"format": "ipv4", "enum": ["1.2.3.4", "a", "1.2.3.256"]},
    {"format": "hostname", "pattern": "^(?!www)", "maxLength": 5},
    {"format": "uri", "pattern": "^https?://"},
    {"format": "regex", "minLength": 1, "maxLength": 2},
    {"format": "email", "maxLength": 4},
    {"pattern": "a", "allOf": [{"pattern": "b"}, {"maxLength": 3}]},
    {"pattern": "^a", "not": {"pattern": "b$"}},
    {"pattern": "^a*$", "not": {"minLength": 2}},
    {"maxLength": 3, "not": {"enum": ["", "a", "é"]}},
    {"minLength": 1, "not": {"pattern": "^[ab]+$"}},
    {"not": {"format": "date"}, "pattern": "^[0-9-]{10}$"},
    {"not": {"format": "hostname"}, "pattern": "^[a-z]+$"},
    {"not": {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}, "format": "hostname"},
    {"oneOf": [{"pattern": "a"}, {"pattern": "b"}], "maxLength": 2},
    {"pattern": "^a", "allOf": [{"pattern": "^b"}]},
    {"not": {"not": {"pattern": "a"}}, "allOf": [{"pattern": "b"}]},
    {"format": "time", "not": {"pattern": "Z$"}},
]


def strings_of(grammar: ir.GrammarIR) -> list[RegexTree]:
    found = [node.regex for rule in grammar.rules for node in walk(rule.body) if isinstance(node, ir.Terminal)]
    return list(dict.fromkeys(regex for regex in found if isinstance(regex, JsonString)))


@pytest.mark.parametrize("conditions", CONDITIONS, ids=repr)
def test_conditions_mean_what_the_general_way_says(conditions: dict[str, Any], nothing_is_asked: None) -> None:
    schema = {"type": "string", **conditions}
    regexes = regexes_of(schema)
    if not regexes:
        return  # none, or listed, or simple: tested with those
    trees = strings_of(general_rules(cfgmask.Grammar.from_json_schema(schema)))
    if len(regexes) == len(trees) == 1:
        assert are_equal(regexes[0], trees[0]) in (True, None)


@pytest.mark.parametrize("schema", [{"format": "idn-email"}, {"format": "idn-hostname", "maxLength": 4}], ids=repr)
def test_formats_that_are_trees_are_asked_for_once(schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    original = core_reader._Answers.format
    core_reader._known_strings.cache_clear()
    core_reader._reader.cache_clear()
    monkeypatch.setattr(core_reader._Answers, "format", lambda self, name: asked.append(name) or original(self, name))
    for title in ("a", "b"):
        assert regexes_of({"type": "string", "title": title, **schema}) is not None
    assert asked == [schema["format"]]


KEYS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"patternProperties": {"^(?!a)": {"const": 1}}, "additionalProperties": False}, ["", "b"], ["a", "ab"]),
    ({"patternProperties": {r"\ba\b": {"const": 1}}, "additionalProperties": False}, ["a", "b a"], ["ab", "b"]),
    ({"propertyNames": {"format": "date"}, "additionalProperties": {"const": 1}}, ["2024-02-29"], ["2023-02-29", ""]),
    ({"propertyNames": {"pattern": "^(?!a)[ab]{8}$"}, "additionalProperties": {"const": 1}}, ["b" * 8], ["a" * 8, "b"]),
    ({"propertyNames": {"not": {"enum": ["a", "b"]}}, "additionalProperties": {"const": 1}}, ["c", ""], ["a", "b"]),
    (
        {"patternProperties": {"^(?!a)": {"const": 1}, "^(?!b)": {"const": 1}}, "additionalProperties": False},
        ["a", "b", "c"],
        [],
    ),
]


@pytest.mark.parametrize(("schema", "keys", "others"), KEYS, ids=repr)
def test_conditions_on_keys(schema: dict[str, Any], keys: list[str], others: list[str], nothing_is_asked: None) -> None:
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", **schema})
    assert grammar.lazy is not None
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([i]) for i in range(256)), b""], eos_token_id=256)
    compiled = cfgmask.compile(grammar, vocabulary)
    for key in [*keys, *others]:
        matcher = compiled.matcher()
        text = json.dumps({key: 1}).encode()
        assert (matcher.try_advance(list(text), consume=False) == len(text)) == (key in keys), key


def test_many_keys_of_a_pattern_with_lookahead(nothing_is_asked: None) -> None:
    grammar = cfgmask.Grammar.from_json_schema({"propertyNames": {"pattern": "^(?!a)[ab]{8}$"}, "minProperties": 65})
    assert grammar.lazy is not None
