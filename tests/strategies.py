"""Hypothesis strategies: random regex trees, grammars, vocabularies and walks.

Everything is small and made of few characters, so that terminals overlap, rules meet and texts are found.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from itertools import pairwise
from typing import Any, Literal

from hypothesis import reject
from hypothesis import strategies as st

from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import (
    Choice,
    Expr,
    GrammarIR,
    Guarded,
    Repeat,
    Rule,
    RuleRef,
    Scope,
    Sequence,
    SetBounds,
    Terminal,
    TokenSet,
)
from cfgmask.grammar.parameters import LARGEST, All, Bits, Compare, Counted, Masked, Not
from cfgmask.grammar.parameters import Any as Any_
from cfgmask.grammar.regex_tree import RegexTree
from tests.oracle import Oracle
from tests.oracle_regex import Regexes, Undecided

# Characters of one, two, three and four bytes; é and ê differ in their last byte only, as do 😀 and 😁.
CHARACTERS = 'aab  \n10."\\/+éê€😀😁'
BYTES = sorted({*"".join(CHARACTERS).encode(), *b"cxunfdDE{}\x00\x1f\x7f\x80\xbf\xc3\xe0\xed\xf0\xf4\xff"})

characters = st.sampled_from(sorted(set(CHARACTERS)))
texts = st.text(characters, max_size=6)


def discards_undecided(test: Callable[..., Any]) -> Callable[..., Any]:
    """Drop examples whose regexes are too hard for the oracle."""

    @wraps(test)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return test(*args, **kwargs)
        except Undecided:
            reject()

    return wrapper


# Regexes.


@st.composite
def character_classes(draw: st.DrawFn) -> RegexTree:
    ends = draw(st.lists(st.tuples(characters, characters), min_size=1, max_size=2))
    cls = tree.char_class([(ord(min(a, b)), ord(max(a, b))) for a, b in ends])
    return draw(st.sampled_from([cls, cls, tree.negated(cls), tree.ANY_CHAR]))


literals = st.text(characters, min_size=1, max_size=3).map(tree.text)
key_sets = st.lists(texts.map(str.encode), min_size=1, max_size=4).map(lambda keys: tree.KeySet(tuple(keys)))
divisibles = st.sampled_from([2, 3, 7, 30]).map(tree.Divisible)
_multiples_cases = st.builds(
    tree.MultiplesCase,
    st.sampled_from([1, 2, 3, 4, 6, 7, 10, 30]),
    st.lists(st.sampled_from([2, 3, 5, 9, 20]), max_size=2).map(tuple),
    st.sampled_from([0, 1, 3, None]),
    st.booleans(),
)
multiples = st.builds(
    tree.Multiples,
    st.integers(0, 2),
    st.lists(_multiples_cases, min_size=1, max_size=3).map(tuple),
    st.sampled_from([None, None, 3]),
)
substrings = st.lists(st.text(st.sampled_from("ab "), max_size=3).map(str.encode), max_size=6).map(
    lambda chunks: tree.Substring(tuple(chunks))
)
counts = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 2))).map(
    lambda c: (c[0], None if c[1] is None else c[0] + c[1])
)


def _combined(parts: st.SearchStrategy[RegexTree]) -> st.SearchStrategy[RegexTree]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    repeated = st.tuples(parts, counts).map(lambda p: tree.Repetition(p[0], *p[1]))
    return st.one_of(several.map(tree.Concatenation), several.map(tree.Alternation), repeated)


def _combined_by_sets(parts: st.SearchStrategy[RegexTree]) -> st.SearchStrategy[RegexTree]:
    pair = st.tuples(parts, parts)
    return st.one_of(_combined(parts), pair.map(tree.Intersection), parts.map(tree.Complement))


plain_regexes = st.recursive(st.one_of(literals, character_classes()), _combined, max_leaves=5)
text_regexes = st.recursive(
    st.one_of(literals, character_classes(), key_sets, divisibles, multiples, substrings),
    _combined_by_sets,
    max_leaves=4,
)
json_strings = st.builds(
    tree.JsonString,
    st.one_of(st.just(tree.ANY_TEXT), text_regexes),
    st.sampled_from(["any", "literal", "canonical", "yaml"]),
)
byte_classes = st.lists(st.sampled_from(BYTES), min_size=1, max_size=3, unique=True).map(
    lambda values: tree.ByteClass(tuple((v, v) for v in sorted(values)))
)
regexes = st.one_of(
    literals,
    plain_regexes,
    plain_regexes,
    text_regexes,
    json_strings,
    st.recursive(st.one_of(literals, byte_classes, json_strings), _combined_by_sets, max_leaves=3),
)

# Terminals that begin alike, end alike, hold each other or look like what is ignored.
_AB = tree.char_class([(ord("a"), ord("b"))])
overlapping_regexes = st.sampled_from(
    [
        *map(tree.text, ["a", "b", "ab", "ba", "aab", " ", "a ", " b", "\n", "é"]),
        _AB,
        tree.Repetition(tree.text("a"), 1, None),
        tree.Repetition(tree.text("b"), 0, None),
        tree.Repetition(_AB, 1, None),
        tree.Repetition(_AB, 2, 3),
        tree.Repetition(tree.text("ab"), 0, 2),
        tree.Concatenation((tree.text("a"), tree.Repetition(tree.text("b"), 0, 1))),
        tree.Concatenation((tree.Repetition(_AB, 0, None), tree.text("é"))),
        tree.Repetition(tree.char_class([(0x20, 0x20), (ord("a"), ord("b"))]), 1, None),
        tree.KeySet((b"a", b"aba", b"b ")),
        tree.Substring((b"a", b"b", b"a", b"a", b" ", b"b")),
        tree.Substring((b"ab", b"a", b"b", b"ab", b"aba")),
    ]
)

# Grammars.

END, OTHER_END, TOOL, EMPTY = range(4)
SPECIAL = {"<|end|>": END, "<|eot|>": OTHER_END, "<|tool|>": TOOL}
FIRST_TEXT = 4

_any_token_sets = st.builds(
    lambda names, ranges, negated: TokenSet("<…>", tuple(names), tuple(sorted(ranges)), negated),
    st.lists(st.sampled_from(sorted(SPECIAL)), max_size=2, unique=True),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6)).map(lambda r: (r[0], r[0] + r[1])), max_size=2),
    st.booleans(),
)
token_sets = st.one_of(_any_token_sets, st.just(TokenSet("<|end|>", ("<|end|>",))))
spaces = st.sampled_from(
    [
        tree.text(" "),
        tree.Repetition(tree.text(" "), 1, None),
        tree.Repetition(tree.char_class([(0x20, 0x20), (0x0A, 0x0A)]), 0, 2),
        tree.Alternation((tree.text("\n"), tree.text(" a"))),
    ]
)


# What may be asked of the text before a lexeme, and after it.


def _then_anything(*parts: RegexTree) -> RegexTree:
    return tree.Concatenation((*parts, tree.ANY_TEXT))


_BESIDE = [tree.text("a"), tree.text("b"), _AB, tree.negated(_AB), tree.text("é"), tree.text(" "), tree.text("ab")]
_AFTER = [tree.EMPTY_TEXT, _then_anything(tree.ANY_TEXT, tree.text("b")), *map(_then_anything, _BESIDE)]
_BEFORE = [tree.EMPTY_TEXT, *(tree.Concatenation((tree.ANY_TEXT, beside)) for beside in _BESIDE)]


def _asked(regexes: list[RegexTree]) -> st.SearchStrategy[RegexTree | None]:
    """Nothing; that one of the regexes matches; that it does not; that it does, or the text has an end there."""
    asked = st.sampled_from(regexes)
    at_end = asked.map(lambda regex: tree.Alternation((tree.EMPTY_TEXT, regex)))
    return st.one_of(st.none(), st.none(), asked, asked.map(tree.Complement), at_end)


def conditional(terminals: st.SearchStrategy[Terminal]) -> st.SearchStrategy[Terminal]:
    """The terminals, some of those that are not lazy with conditions on the text around their lexemes."""
    return st.builds(
        lambda t, b, a: t if t.lazy else replace(t, before=b, after=a), terminals, _asked(_BEFORE), _asked(_AFTER)
    )


@dataclass(frozen=True)
class VocabularySpec:
    """The arguments of `Vocabulary.from_bytes` and of `Oracle`."""

    tokens: list[bytes]
    end_tokens: list[int]
    special: dict[str, int]


@dataclass(frozen=True)
class GrammarShape:
    """What kinds of grammar to make."""

    token_sets: bool = True
    priorities: bool = True
    scopes: int = 3
    ignores: bool = True
    conditions: bool = False
    lexers: tuple[str, ...] = ("longest", "complete")


@st.composite
def grammars(draw: st.DrawFn, shape: GrammarShape = GrammarShape()) -> GrammarIR:
    """Grammars of one to five rules that call each other in every way; not all match something."""
    names = ["start", "one", "two", "three", "four"][: draw(st.integers(1, 5))]
    overlapping = st.lists(overlapping_regexes, min_size=2, max_size=5)
    pool = draw(
        st.one_of(overlapping, overlapping, st.lists(st.one_of(regexes, overlapping_regexes), min_size=1, max_size=4))
    )
    priorities = st.sampled_from([0, 0, 0, 1, -1]) if shape.priorities else st.just(0)
    lazy = st.sampled_from([False, False, False, True])
    terminals = st.builds(
        lambda i, p, lazy: Terminal(f"T{i}", pool[i], p, lazy=lazy), st.integers(0, len(pool) - 1), priorities, lazy
    )
    if shape.conditions:
        terminals = conditional(terminals)
    leaves = [terminals, terminals, terminals, st.sampled_from(names).map(RuleRef)]
    if shape.token_sets and draw(st.integers(0, 2)) == 0:
        leaves.append(token_sets)
    bodies = st.recursive(st.one_of(leaves), _expressions, max_leaves=6)
    skipped = spaces.map(lambda regex: Terminal("SPACE", regex))
    ignored = st.lists(conditional(skipped) if shape.conditions else skipped, max_size=2 if shape.ignores else 0).map(
        tuple
    )
    described = st.builds(Scope, st.just("scope"), ignored, st.booleans())
    scopes = draw(st.lists(described, min_size=1, max_size=shape.scopes))
    rules = []
    for name in names:
        body: Expr = draw(bodies)
        if draw(st.booleans()):
            body = Choice((body, draw(terminals)))
        if name == "start" and draw(st.booleans()):
            body = Repeat(body, *draw(counts))
        rules.append(Rule(name, body, draw(st.integers(0, len(scopes) - 1))))
    return GrammarIR(
        rules=tuple(rules),
        start="start",
        scopes=tuple(scopes),
        lexer=draw(st.sampled_from(shape.lexers)),  # type: ignore[arg-type]
        ignore_initial=draw(st.booleans()),
        ignore_final=draw(st.booleans()),
    )


_VALUES = [
    tree.JsonString(tree.Repetition(_AB, 0, 2), escapes="canonical"),
    tree.JsonString(tree.KeySet((b"a", b'"')), escapes="canonical"),
    tree.Alternation((tree.JsonString(tree.Repetition(_AB, 0, None), escapes="canonical"), tree.text("1"))),
    tree.KeySet((b"0", b"-0.0", b"1", b"1.0")),
    tree.Concatenation(
        (tree.Repetition(tree.text("-"), 0, 1), tree.text("1"), tree.Repetition(tree.text("0"), 0, None))
    ),
    tree.Concatenation((tree.text("1.1"), tree.Repetition(tree.text("0"), 0, 1))),
    tree.KeySet((b"true", b"null")),
    tree.text("true"),
]
_MARKS = [tree.text(c) for c in ("[", "]", ",", ",", "a")]
LIST_TEXTS = (b'["a","b",1,1.0,-0,0,true,null]', b'["\\u0061","a","\\"","aa"],[1,10,1.1,1.10]')


@st.composite
def list_problems(draw: st.DrawFn) -> Problem:
    """Lists of JSON scalars, nested and ambiguous, in which some terminals are distinct and some rules open sets."""
    names = ["start", "one", "two", "three"][: draw(st.integers(1, 4))]
    chosen = draw(st.lists(st.sampled_from(_VALUES), min_size=1, max_size=3))
    values = st.sampled_from(chosen).flatmap(lambda r: st.builds(Terminal, st.just("V"), st.just(r), distinct=_OFTEN))
    marks = st.sampled_from(_MARKS).map(lambda r: Terminal("M", r, closes_set=r == tree.text("]")))
    references = st.sampled_from(names).map(RuleRef)
    listed = st.builds(_listed, st.one_of(values, values, references), st.one_of(values, references), _COUNTS)
    bodies = st.recursive(st.one_of(values, values, marks, references, listed, listed), _expressions, max_leaves=4)
    scopes = draw(st.sampled_from([_NO_SPACE, (_scope([tree.text(" ")], True),)]))
    start = Rule("start", draw(st.one_of(listed, listed, bodies)), opens_set=draw(_set_bounds()))
    others = [Rule(name, draw(bodies), opens_set=draw(st.one_of(_set_bounds(), st.none()))) for name in names[1:]]
    ir = GrammarIR((start, *others), "start", tuple(scopes), draw(st.sampled_from(["longest", "complete"])))  # type: ignore[arg-type]
    try:
        return problems_of([ir], random.Random(draw(st.integers(0, 2**16))), LIST_TEXTS)[0]
    except (Undecided, ValueError):
        reject()


@st.composite
def _set_bounds(draw: st.DrawFn) -> SetBounds:
    required = tuple(draw(st.sampled_from([[], [], [], ["a"], ["a", "b"], ['"']])))
    minimum = draw(st.sampled_from([0, 0, 1, 2]))
    room = draw(st.sampled_from([None, None, 0, 1]))
    return SetBounds(required, minimum, None if room is None else max(minimum, len(required)) + room)


_OFTEN = st.sampled_from([True, True, True, False])
_COUNTS = st.sampled_from([(0, None), (2, None), (3, None), (4, 4)])


def _listed(first: Expr, more: Expr, count: tuple[int, int | None]) -> Expr:
    """[first,more,more...]"""
    comma, opening, closing = (Terminal(c, tree.text(c), closes_set=c == "]") for c in ",[]")
    return Sequence((opening, first, Repeat(Sequence((comma, more)), *count), closing))


_ONE_KEY = tree.JsonString(tree.text("a"), escapes="canonical")
COMPOSITE_TEXTS = (
    b'[{"a":1,"b":[]},{"b":[],"a":1.0},[[],"a"],[1],[1.0],{}]',
    b'[[],[[]],[[],[]],{"a":{"a":[]}},{"a":{"a":[]}},1]',
)


@st.composite
def composite_problems(draw: st.DrawFn) -> Problem:
    """Lists of values of JSON, nested and ambiguous, in which arrays and objects are told apart, too."""
    names = ["one", "two", "three"][: draw(st.integers(1, 3))]
    few = [tree.text("1"), tree.KeySet((b"1", b"1.0")), *_VALUES[:2]]
    scalars = [Terminal("V", regex, distinct=True) for regex in draw(st.lists(st.sampled_from(few), max_size=1))]
    keys = Terminal("KEY", draw(st.sampled_from([*_VALUES[:2], _ONE_KEY])), distinct=True)
    values = st.sampled_from([*scalars, *map(RuleRef, names), *map(RuleRef, names)])
    kinds = ["array", "distinct array", "object"]
    rules = [draw(_composite(name, draw(st.sampled_from(kinds)), keys, values)) for name in names]
    start = draw(_composite("start", draw(st.sampled_from(["values", "values", "distinct array"])), keys, values))
    scopes = draw(st.sampled_from([_NO_SPACE, _NO_SPACE, (_scope([tree.text(" ")], True),)]))
    lexer = draw(st.sampled_from(["longest", "longest", "complete"]))
    ir = GrammarIR((start, *rules), "start", tuple(scopes), lexer)  # type: ignore[arg-type]
    try:
        return problems_of([ir], random.Random(draw(st.integers(0, 2**16))), COMPOSITE_TEXTS)[0]
    except (Undecided, ValueError):
        reject()


@st.composite
def _composite(
    draw: st.DrawFn,
    name: str,
    holds: Literal["values", "array", "distinct array", "object"],
    key: Terminal,
    values: st.SearchStrategy[Expr],
) -> Rule:
    """A rule of arrays or objects."""
    brackets = "{}" if holds == "object" else "[]"
    opening, closing = (Terminal(c, tree.text(c), closes_set=c == brackets[1]) for c in brackets)
    comma, colon = (Terminal(c, tree.text(c)) for c in ",:")
    choices = Choice(tuple(draw(st.lists(values, min_size=1, max_size=3, unique=True))))
    part: Expr = Sequence((key, colon, choices)) if holds == "object" else choices
    most = None if name == "start" else draw(st.sampled_from([None, 0, 1]))
    some = Sequence((opening, part, Repeat(Sequence((comma, part)), 0, most), closing))
    body = Choice((Sequence((opening, closing)), some)) if draw(st.booleans()) or holds != "values" else some
    bounds = replace(draw(_set_bounds()), holds=holds) if draw(st.integers(0, 3)) == 0 else SetBounds(holds=holds)
    return Rule(name, body, opens_set=bounds)


AGAIN_TEXTS = (b'["a","b","a",1,1.0,[1,"a"],[1.0,"a"]]', b'[[],[1],[[]],[[]],1,"\\u0061","a"]')


@st.composite
def again_problems(draw: st.DrawFn) -> Problem:
    """Lists of values of JSON in which some must be equal to one before."""
    few = [tree.text("1"), tree.KeySet((b"1", b"1.0", b"10")), *_VALUES]
    scalars = [Terminal("V", regex, distinct=True) for regex in draw(st.lists(st.sampled_from(few), max_size=2))]
    inner = draw(
        _composite("inner", draw(st.sampled_from(["array", "distinct array"])), _KEY, st.just(RuleRef("inner")))
    )
    new = [*scalars, RuleRef("inner")]
    some = st.lists(st.sampled_from(new), min_size=1, max_size=2, unique=True).map(lambda parts: Choice(tuple(parts)))
    again = Rule("again", draw(some), opens_set=SetBounds(holds="again"))
    items = st.one_of(some, st.just(RuleRef("again")), some.map(lambda part: Choice((part, RuleRef("again")))))
    comma = Terminal(",", tree.text(","))
    more = [Repeat(Sequence((comma, draw(items))), *draw(_AGAIN_COUNTS)) for _ in range(draw(st.integers(1, 3)))]
    marks = (Terminal(c, tree.text(c)) for c in "[]")
    body = Sequence((next(marks), draw(some), *more, next(marks)))
    scopes = draw(st.sampled_from([_NO_SPACE, (_scope([tree.text(" ")], True),)]))
    lexer = draw(st.sampled_from(["longest", "longest", "complete"]))
    ir = GrammarIR((Rule("start", body, opens_set=SetBounds()), inner, again), "start", tuple(scopes), lexer)  # type: ignore[arg-type]
    try:
        return problems_of([ir], random.Random(draw(st.integers(0, 2**16))), AGAIN_TEXTS)[0]
    except (Undecided, ValueError):
        reject()


_AGAIN_COUNTS = st.sampled_from([(0, None), (0, 1), (1, 1), (1, None)])
_KEY = Terminal("KEY", _VALUES[0], distinct=True)

# Keys of objects: none of these languages leaves finitely many texts anywhere.
_ENDLESS = [
    tree.Repetition(_AB, 0, None),
    tree.Repetition(tree.char_class([(ord("a"), ord("b")), (0x22, 0x22)]), 0, None),
    tree.Concatenation((tree.text("a"), tree.Repetition(_AB, 0, None))),
    tree.Alternation((tree.Repetition(tree.text("ab"), 0, None), tree.Repetition(tree.text("b"), 1, None))),
]
_NAMES = [(b"a",), (b"b",), (b"a", b"ab")]
OBJECT_TEXTS = (
    b'{"a":1,"b":"a","ab":{"a":1},"aa":1}',
    b'["a",1,"b",{"a":["b","a"],"b":1},"ab","\\u0061",0,["a","a"]]',
    b'{"":1,"":1},"a":1,"b":{"\\u0061":1,"a\\u0062":1,"\\"":1},"b',
)


@st.composite
def object_problems(draw: st.DrawFn) -> Problem:
    """Objects and arrays, nested and ambiguous, in which no other key or string may come twice, among texts of another
    scope. Beside those that never run out, others are in sets.
    """
    names = ["start", "one", "two", "three"][: draw(st.integers(2, 4))]
    escapes = draw(st.sampled_from(["canonical", "any"]))
    of_scope = st.sampled_from(names[1:]).map(RuleRef)
    plain = [Terminal("V", tree.text("1")), Terminal("V", tree.JsonString(_ENDLESS[0], escapes))]
    values = st.one_of(st.sampled_from(plain), of_scope, of_scope)
    rules = [Rule(name, draw(values), 1) for name in names[1:]]
    for i in range(len(rules)):
        if not draw(st.sampled_from([True, True, False])):
            continue
        is_endless = draw(st.sampled_from([True, True, True, False]))
        texts = draw(st.lists(st.sampled_from(_ENDLESS), min_size=1, max_size=2))
        form = draw(st.sampled_from(["object", "object", "any order", "array"]))
        named = () if form == "array" else draw(st.sampled_from([(), *_NAMES]))
        endless = ("items" if form == "array" else "keys") if is_endless else ""
        others = [
            Terminal("KEY", tree.JsonString(_without(text, named), escapes), distinct=True, endless=endless)
            for text in texts
        ]
        if form == "array":
            with_words = draw(st.booleans())
            body, bounds = _array(others, with_words), SetBounds(endless=is_endless and not with_words)
        elif form == "any order":
            required = draw(st.sets(st.sampled_from([name.decode() for name in named]))) if named else ()
            body = _in_any_order(named, others, [draw(values) for _ in range(3)])
            bounds = SetBounds(required=tuple(sorted(required)))
        else:
            body, bounds = _object(named, others, [draw(values) for _ in range(3)]), SetBounds(endless=is_endless)
        alternatives = (body, rules[i].body) if form != "any order" and draw(st.booleans()) else (body,)
        rules[i] = Rule(rules[i].name, Choice(alternatives), 1, opens_set=bounds)
    marks = st.sampled_from(["{", "}", '"a"', ":", "1", ","]).map(lambda c: Terminal("M", tree.text(c)))
    outside = st.recursive(st.one_of(of_scope, of_scope, marks), _expressions, max_leaves=5)
    body = draw(st.one_of(of_scope, outside))
    scopes = (*_NO_SPACE, *draw(st.sampled_from([_NO_SPACE, (_scope([tree.text(" ")], True),)])))
    lexer = draw(st.sampled_from(["longest", "longest", "longest", "complete"]))
    ir = GrammarIR((Rule("start", body), *rules), "start", scopes, lexer)  # type: ignore[arg-type]
    try:
        return problems_of([ir], random.Random(draw(st.integers(0, 2**16))), OBJECT_TEXTS)[0]
    except (Undecided, ValueError):
        reject()


def _without(keys: RegexTree, names: tuple[bytes, ...]) -> RegexTree:
    return tree.Intersection((keys, tree.Complement(tree.KeySet(names)))) if names else keys


def _object(names: tuple[bytes, ...], others: list[Terminal], values: list[Expr]) -> Expr:
    """{"name":value,"other":value,...}, each of them or none."""
    comma, colon, opening, closing = (Terminal(c, tree.text(c)) for c in ",:{}")
    other = Choice(tuple(Sequence((key, colon, value)) for key, value in zip(others, values[1:], strict=False)))
    more = Repeat(Sequence((comma, other)), 0, None)
    ways: list[Expr] = [Sequence((other, more))]
    if names:
        ways.append(
            Sequence((Terminal("NAME", tree.JsonString(tree.KeySet(names), "literal")), colon, values[0], more))
        )
    return Sequence((opening, Choice((Sequence(()), *ways)), closing))


def _in_any_order(names: tuple[bytes, ...], others: list[Terminal], values: list[Expr]) -> Expr:
    """{"other":value,"name":value,...}, of which those with names are in a set with bounds."""
    comma, colon, opening = (Terminal(c, tree.text(c)) for c in ",:{")
    closing = Terminal("}", tree.text("}"), closes_set=True)
    named = [Terminal("NAME", tree.JsonString(tree.KeySet((name,)), "literal"), distinct=True) for name in names]
    keys = zip([*named, *others], [values[0], *values[1:], values[0], values[1]], strict=False)
    member = Choice(tuple(Sequence((key, colon, value)) for key, value in keys))
    more = Sequence((member, Repeat(Sequence((comma, member)), 0, None), closing))
    return Sequence((opening, Choice((closing, more))))


def _array(strings: list[Terminal], with_words: bool) -> Expr:
    """["string",1,...], of which no two are equal."""
    comma, opening, closing = (Terminal(c, tree.text(c)) for c in ",[]")
    words = [Terminal("WORD", tree.text(word), distinct=True) for word in ("1", "0")] if with_words else []
    item = Choice((*strings, *words))
    return Sequence(
        (opening, Choice((Sequence(()), Sequence((item, Repeat(Sequence((comma, item)), 0, None))))), closing)
    )


LETTERS = VocabularySpec([b"a", b"b", b"c", b" ", b"ab", b"a ", b""], [6], {})


@st.composite
def letter_grammars(draw: st.DrawFn) -> GrammarIR:
    """Grammars of up to seven rules over three letters: all that is hard about them is parsing."""
    names = ["start", "one", "two", "three", "four", "five", "six"][: draw(st.integers(1, 7))]
    letters = st.sampled_from("abc").map(lambda c: Terminal(c, tree.text(c)))
    references = st.sampled_from(names).map(RuleRef)
    bodies = st.recursive(st.one_of(letters, references, references), _expressions, max_leaves=5)
    scopes = draw(
        st.sampled_from([_NO_SPACE, _NO_SPACE, (_scope([tree.text(" ")], False), _scope([tree.text(" ")], True))])
    )
    rules = []
    for name in names:
        alternatives = draw(st.lists(bodies, min_size=1, max_size=3))
        escape = [draw(letters)] if draw(st.booleans()) else []
        rules.append(Rule(name, Choice((*alternatives, *escape)), draw(st.integers(0, len(scopes) - 1))))
    lexer = draw(st.sampled_from(["longest", "complete"]))
    return GrammarIR(tuple(rules), "start", tuple(scopes), lexer, draw(st.booleans()), draw(st.booleans()))  # type: ignore[arg-type]


@st.composite
def ambiguous_grammars(draw: st.DrawFn) -> GrammarIR:
    """Rules of which several in a row are one of them: in long texts, items that come about in many ways."""
    symbols = st.sampled_from([RuleRef("start"), RuleRef("start"), RuleRef("one"), *map(_letter, "ab")])
    alternatives = st.lists(
        st.lists(symbols, min_size=1, max_size=3).map(lambda parts: Sequence(tuple(parts))), min_size=1, max_size=3
    )
    twice = Sequence((RuleRef("start"), RuleRef("start")))
    bodies = {"start": [twice, _letter("a"), *draw(alternatives)], "one": [_letter("b"), *draw(alternatives)]}
    lexer = draw(st.sampled_from(["longest", "complete"]))
    return GrammarIR(tuple(Rule(name, Choice(tuple(body))) for name, body in bodies.items()), "start", lexer=lexer)  # type: ignore[arg-type]


def _letter(character: str) -> Terminal:
    return Terminal(character, tree.text(character))


# Parameters of three bits, so that all their values can be substituted.
_BITS = st.sampled_from([Bits(0, 1), Bits(0, 2), Bits(1, 3), Bits(0, 3), Bits(2, 3), Bits()])
_LOW_BITS = st.sampled_from([Bits(0, 1), Bits(0, 2), Bits(1, 3), Bits(0, 3)])
arguments = st.one_of(
    st.builds(Masked, st.just(0), st.integers(0, 7)),
    st.just(Masked()),
    st.integers(0, 2).map(lambda bit: Masked(LARGEST, 1 << bit)),
    st.integers(0, 2).map(lambda bit: Masked(LARGEST ^ 1 << bit, 0)),
    st.builds(Counted, _LOW_BITS, st.booleans()),
)
conditions = st.recursive(
    st.builds(Compare, _BITS, st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]), st.integers(0, 7), st.booleans()),
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.lists(parts, max_size=3).map(tuple).map(All),
        st.lists(parts, min_size=1, max_size=3).map(tuple).map(Any_),
    ),
    max_leaves=3,
)


@st.composite
def parametric_grammars(draw: st.DrawFn) -> GrammarIR:
    """Grammars over three letters whose rules, but `start`, have parameters, conditions and calls in every way."""
    names = ["start", "one", "two", "three"][: draw(st.integers(2, 4))]
    letters = st.sampled_from("abc").map(lambda c: Terminal(c, tree.text(c)))
    constants = st.builds(Masked, st.just(0), st.integers(0, 7))

    def references(given: st.SearchStrategy[Any]) -> st.SearchStrategy[Expr]:
        return st.builds(lambda name, argument: RuleRef(name, argument=argument), st.sampled_from(names[1:]), given)

    calls = references(arguments)
    nothing = st.just(Sequence(()))
    bodies = st.recursive(st.one_of(letters, letters, calls, calls, nothing), _expressions, max_leaves=4)
    alternatives = st.one_of(bodies, st.builds(Guarded, bodies, conditions), st.builds(Guarded, bodies, conditions))
    bodies_with_groups = st.one_of(
        st.lists(alternatives, min_size=1, max_size=3).map(tuple).map(Choice),
        st.builds(lambda a, b: Sequence((a, b)), alternatives, alternatives),
    )
    start = draw(st.recursive(references(constants), _expressions, max_leaves=3))
    rules = [Rule("start", start), *(Rule(name, draw(bodies_with_groups), parametric=True) for name in names[1:])]
    return GrammarIR(tuple(rules), "start", lexer=draw(st.sampled_from(["longest", "complete"])))  # type: ignore[arg-type]


def _scope(ignore: list[RegexTree], once: bool) -> Scope:
    return Scope("scope", tuple(Terminal("SPACE", regex) for regex in ignore), once)


def _expressions(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(parts, max_size=3).map(tuple)
    repeated = st.tuples(parts, counts).map(lambda p: Repeat(p[0], *p[1]))
    return st.one_of(several.map(Sequence), several.map(Sequence), several.map(Choice), repeated)


_NO_SPACE = (_scope([], False),)

# Vocabularies and walks.


@dataclass(frozen=True)
class Problem:
    """A grammar over a vocabulary, its oracle, and a seed for whatever else is random."""

    ir: GrammarIR
    vocabulary: VocabularySpec
    oracle: Oracle
    random: random.Random


@st.composite
def problems(draw: st.DrawFn, shape: GrammarShape = GrammarShape()) -> Problem:
    """A grammar that matches something and a vocabulary that has pieces of its texts."""
    try:
        return problems_of([draw(grammars(shape))], random.Random(draw(st.integers(0, 2**16))))[0]
    except (Undecided, ValueError):
        reject()


@st.composite
def families(draw: st.DrawFn, shape: GrammarShape = GrammarShape()) -> list[Problem]:
    """A grammar and variants of it over one vocabulary: what they share, the core may share too."""
    ir = draw(grammars(shape))
    variants = [
        replace(
            ir,
            start=draw(st.sampled_from([rule.name for rule in ir.rules])),
            lexer=draw(st.sampled_from(shape.lexers)),
            scopes=tuple(replace(scope, ignore_once=draw(st.booleans())) for scope in ir.scopes),
            ignore_initial=draw(st.booleans()),
            ignore_final=draw(st.booleans()),
        )
        for _ in range(2)
    ]
    try:
        return problems_of([ir, *variants], random.Random(draw(st.integers(0, 2**16))))
    except (Undecided, ValueError):
        reject()


def problems_of(irs: list[GrammarIR], rng: random.Random, texts: tuple[bytes, ...] = ()) -> list[Problem]:
    """The grammars over one vocabulary made of pieces of their texts and of `texts`.

    Raises ValueError if one of them matches nothing, `Undecided`.
    """
    regexes = Regexes()
    by_bytes = [Oracle(ir, [b""] * 64, special=SPECIAL, regexes=regexes) for ir in irs]
    sampled = [random_text(oracle, rng, 12) for oracle in by_bytes for _ in range(6)]
    vocabulary = _vocabulary([piece for text in [*texts, *sampled] for piece in _pieces(text, rng)], rng)
    oracles = [Oracle(ir, vocabulary.tokens, vocabulary.end_tokens, SPECIAL, regexes) for ir in irs]
    return [Problem(ir, vocabulary, oracle, rng) for ir, oracle in zip(irs, oracles, strict=True)]


def random_text(oracle: Oracle, rng: random.Random, length: int) -> bytes:
    """Bytes that the lexer and the parser can take, drawn one by one, `length` of them unless they come to an end."""
    state, text = oracle.initial, b""
    while len(text) < length:
        following = [byte for byte in BYTES if oracle.step_byte(state, byte)]
        if not following:
            break
        text += bytes([rng.choice(following)])
        state = oracle.step_byte(state, text[-1])
    return text


def _pieces(text: bytes, rng: random.Random) -> list[bytes]:
    """The text cut at three places or more: tokens by which it can be written."""
    cuts = sorted({0, len(text), *(rng.randrange(len(text) + 1) for _ in range(3 + len(text) // 6))})
    return [text[a:b] for a, b in pairwise(cuts)]


def _vocabulary(pieces: list[bytes], rng: random.Random) -> VocabularySpec:
    """Special ids, all single bytes, pieces, joined ones, some with a wrong end, duplicates and empty tokens."""
    joined = [rng.choice(pieces) + rng.choice(pieces) for _ in range(8)] if pieces else []
    broken = [piece + bytes([rng.choice(BYTES)]) for piece in pieces[:8]]
    single = sorted({*BYTES, *b"".join(pieces)})
    texts = [bytes([b]) for b in single] + pieces + joined + broken + [b"", b"a", "é".encode()[:1], "😀".encode()[2:]]
    rng.shuffle(texts)
    tokens = [b"", rng.choice([b"", b"</s>", b"a"]), b"", b"", *texts]
    return VocabularySpec(tokens, [END] if rng.random() < 0.5 else [END, OTHER_END], dict(SPECIAL))


def random_token(oracle: Oracle, mask: set[int], rng: random.Random) -> int | None:
    """A token of the mask; None if there is none. One that does not end the text rather than one that does.

    Half of the time a long one, now and then one that can only be matched by its id.
    """
    by_id = sorted(token for token in mask if not oracle.tokens[token] or token in oracle.end_tokens)
    spelled = sorted(mask.difference(by_id))
    if not mask:
        return None
    if not spelled or (by_id and rng.random() < 0.15):
        return rng.choice(by_id)
    return max(rng.choices(spelled, k=rng.choice([1, 3])), key=lambda token: len(oracle.tokens[token]))
