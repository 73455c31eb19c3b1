"""Masks of terminals that take nearly everything, over vocabularies of thousands of tokens: what tables answer.

Free text, counted classes, JSON strings with bounds and exceptions: their masks come from tables that states, grammars
and bounds share. Each is compared with brute force, which goes byte by byte and asks no table.
"""

from __future__ import annotations

import itertools
import random
import re
from functools import cache

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import Expr, GrammarIR
from cfgmask.grammar.regex_tree import RegexTree
from tests.build import alt, cat, choice, cls, grammar, lit, many, rule, scope, seq, t
from tests.engine.harness import as_set, compile_ir, empty_bits, mask_of, oracle_of, oracles_mask
from tests.strategies import VocabularySpec, discards_undecided, random_token

# Characters of every length of encoding, of many classes, some in one block and some at the edge of one.
ALPHABETS = [
    "etaoinshrdlu",
    "ABCXYZ",
    "0123456789",
    ' "\\/\n\t{}[]:,.-+_<>',
    "\x00\x1f\x7f",
    "éêàïß\x80\u07ff",
    "あい€漢字\u0800\ud7ff\ue000\uffff",
    "😀😁𝒳\U0010ffff",
]
PIECES = ['"', '",', '":', '"}', '\\"', "\\n", "\\u00", "\\ud83d\\ude00", "e9", "name", "names", " the", "\r\n", "true"]
# Longer than counts that end inside of tokens, and parted below the depth to which the trie counts.
LONG = ["a" * 40, "e" * 63 + "-", "-" * 64, "tea9" * 20, " " * 128, "é" * 33, "t" * 300, "A" * 300 + '"']
FAR_DOWN = ["t" * n + end for n in (254, 255, 256, 280, 299) for end in ("9", "A-", "-e", '"')]


@cache
def tokens(size: int) -> tuple[bytes, ...]:
    """Words of one alphabet or of several, parts of characters, pieces of JSON; duplicates among them."""
    rng = random.Random(size)
    made = [bytes([b]) for b in range(256)] + [piece.encode() for piece in PIECES + LONG + FAR_DOWN]
    while len(made) < size:
        alphabet = rng.choice(ALPHABETS)
        word = "".join(rng.choices(alphabet, k=rng.choice([1, 2, 3, 4, 5, 9, 17])))
        kind = rng.random()
        if kind < 0.15:
            word = " " + word
            if kind < 0.05:
                word = word.replace(rng.choice(word[1:]), " ")
        elif kind < 0.3:
            word = word + rng.choice(PIECES) + rng.choice(["", rng.choice(rng.choice(ALPHABETS))])
        elif kind < 0.4:
            word = word[:2] + "".join(rng.choices(rng.choice(ALPHABETS), k=2))
        data = word.encode()
        made.append(data[rng.choice([0, 0, 0, 0, 1]) : len(data) - rng.choice([0, 0, 0, 0, 1, 2])] or b"")
    return (*made, b"")


def vocabulary(size: int) -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_bytes(tokens(size), size)


# One for many examples, so that grammars meet what others have left.
SHARED = vocabulary(2_000)


CLASSES = [
    tree.ANY_CHAR,
    tree.negated(cls('"')),
    tree.negated(cls("\n")),
    tree.negated(cls('"', "\\", "\n", "é", "漢", "😀")),
    cls("az"),
    cls("az", "AZ", "09", "_"),
    cls("az", "09", "-"),
    cls("\x00\x7f"),
    cls("à\u07ff", "az"),
    cls("\u0800\uffff", " "),
    cls("あん", "€", "😀😁", "az", " "),
    cls("é", "e"),
    tree.char_class([(0x80, tree.MAX_CODE_POINT)]),
]
KEYS = tree.KeySet((b"name", b"na", "é".encode(), b"names", b"t", b"", "😀".encode()))
COUNTS = [
    (0, None),
    (1, None),
    (0, 1),
    (0, 5),
    (1, 3),
    (2, 2),
    (3, 8),
    (1, 40),
    (7, None),
    (0, 100),
    (12, 63),
    (1, 700),
]

classes = st.sampled_from(CLASSES)
counted = st.builds(lambda c, count: tree.Repetition(c, *count), classes, st.sampled_from(COUNTS))


def excepted(body: RegexTree) -> RegexTree:
    return tree.Intersection((body, tree.Complement(KEYS)))


def words(rounds: int) -> RegexTree:
    """`(\\S+\\s+){0,rounds}\\S+`, as schemas bound the number of words."""
    space = cls(" ", "\n")
    word = tree.Repetition(tree.negated(space), 1, None)
    return cat(tree.Repetition(cat(word, tree.Repetition(space, 1, None)), 0, rounds), word)


# Bounds that tokens come near, pass, or cannot see.
texts = st.builds(words, st.sampled_from([1, 4, 19, 25, 200]))
lengths = st.builds(tree.Repetition, classes, st.integers(0, 3), st.sampled_from([4, 30, 180, 260, 5_000]))
bounded_texts = st.one_of(texts, st.tuples(texts, lengths).map(tree.Intersection))
# Patterns with bounds on the length beside them: found anywhere, or in parts of which the last may go on or not.
searches = st.builds(
    lambda what: cat(tree.ANY_TEXT, what, tree.ANY_TEXT), st.one_of(counted, st.sampled_from(["e9", KEYS]))
)
parted = st.builds(cat, counted, st.sampled_from(["@", "-", "e"]), counted, st.one_of(counted, searches))
patterns = st.one_of(searches, parted, st.tuples(searches, parted).map(tree.Alternation))
any_lengths = st.builds(
    tree.Repetition, st.just(tree.ANY_CHAR), st.sampled_from([0, 1, 2, 5, 9]), st.sampled_from([30, 90, 180, 400])
)
bounded_patterns = st.tuples(patterns, st.one_of(any_lengths, any_lengths, lengths)).map(tree.Intersection)

# Bounds on what a text begins with, in one way or another, before something else.
heads = st.one_of(counted, bounded_patterns, st.builds(alt, st.builds(cat, counted, counted), st.just("-"), counted))
headed = st.builds(
    cat,
    st.one_of(heads, heads.map(lambda head: tree.Repetition(head, 0, 1))),
    st.sampled_from(["", "@", "-", "e"]),
    st.one_of(counted, heads),
)

# Bounds on parts that come again and again, as labels of host names do, and on all of those; before them others.
rounds = st.builds(
    lambda part, mark, more: cat(part, tree.Repetition(cat(mark, part), *more)),
    st.one_of(heads, heads.map(lambda head: cat("e", tree.Repetition(head, 0, 1)))),
    st.sampled_from([".", "-", "t"]),
    st.sampled_from([(0, None), (1, None), (0, 1)]),
)
bounded_rounds = st.one_of(rounds, st.tuples(rounds, st.one_of(any_lengths, lengths)).map(tree.Intersection))
later = st.builds(cat, st.one_of(counted, headed, bounded_rounds), st.sampled_from(["@", "-", "e"]), bounded_rounds)

bodies = st.one_of(
    counted,
    headed,
    bounded_rounds,
    later,
    counted,
    bounded_texts,
    patterns,
    bounded_patterns,
    st.just(tree.ANY_TEXT),
    counted.map(excepted),
    st.just(excepted(tree.ANY_TEXT)),
    st.just(tree.Complement(cat(tree.ANY_TEXT, "th", tree.ANY_TEXT))),
    st.tuples(counted, counted).map(tree.Concatenation),
    st.tuples(counted, counted).map(tree.Alternation),
    st.tuples(counted, counted).map(tree.Intersection),
    st.just(KEYS),
)
strings = st.builds(tree.JsonString, bodies, st.sampled_from(["any", "any", "literal", "canonical"]))
endings = st.sampled_from(["", '"', "e", " ", "\n", "é", "0", "}"])
dense = st.one_of(
    bodies,
    strings,
    strings,
    st.builds(cat, bodies, endings),
    st.builds(cat, counted, st.sampled_from(["\n", "\nthe", '"e', "}\n", "é"]), st.one_of(counted, endings)),
    st.builds(cat, st.sampled_from(['"', "<", "e", "é"]), bodies, endings),
    st.builds(lambda a, b: tree.Alternation((a, b)), strings, bodies),
)
small = st.sampled_from(['"', ",", ":", " ", "e", "the", "name", "\n", "é", "}", "0"])


@st.composite
def dense_grammars(draw: st.DrawFn) -> GrammarIR:
    parts: list[str | RegexTree | Expr] = []
    for _ in range(draw(st.integers(1, 3))):
        terminals = [t(lit(draw(st.one_of(dense, dense, small))), draw(st.sampled_from([0, 0, 1]))) for _ in range(3)]
        parts.append(choice(*terminals[: draw(st.integers(1, 3))]))
    body = draw(st.sampled_from([seq(*parts), many(seq(*parts)), many(seq(*parts, ","), 0, 3), choice(*parts)]))
    spaces = draw(st.sampled_from([(), (" ",), (tree.Repetition(cls(" ", "\n"), 1, None),)]))
    return grammar(rule("start", body), scopes=(scope(*spaces, once=draw(st.booleans())),))


def compare(compiled: cfgmask.CompiledGrammar, rng: random.Random, steps: int) -> None:
    matcher, n = compiled.matcher(), compiled.vocabulary.n_vocab
    bits = empty_bits(n)
    for _ in range(steps):
        matcher.fill_mask(bits)
        allowed = as_set(bits)
        fits = matcher.try_advance
        assert allowed == {token for token in range(n) if fits([token], consume=False)}
        going_on = sorted(allowed - {n - 1})
        if not going_on:
            return
        matcher.advance(
            max(rng.choices(going_on, k=rng.choice([1, 1, 4])), key=lambda token: len(tokens(n - 1)[token]))
        )


@given(dense_grammars(), st.sampled_from([None, 700, 1_500]), st.integers(0, 2**16))
def test_masks_from_tables_are_brute_force(ir: GrammarIR, size: int | None, seed: int) -> None:
    try:
        compiled = cfgmask.compile(cfgmask.Grammar(ir), vocabulary(size) if size else SHARED)
    except cfgmask.GrammarError:
        return  # it matches nothing
    rng = random.Random(seed)
    for _ in range(3):
        compare(compiled, rng, 8)
    compiled.clear_masks()
    compare(compiled, rng, 8)


WORDS = ["n", "na", "name", "names", "name1", "the", "thé", "e9", "漢字", "t\\n", "", "true", "etaoin", "r-_.", "漢"]
word_sets = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8, unique=True)
text_sets = st.one_of(
    word_sets.map(lambda words: tree.KeySet(tuple(f'"{word}"'.encode() for word in words))),
    word_sets.map(lambda words: tree.KeySet(tuple(word.encode() for word in words if word))),
)


@given(st.lists(text_sets, min_size=1, max_size=4), endings, st.integers(0, 2**16))
def test_masks_of_a_few_texts_are_brute_force(sets: list[RegexTree], ending: str, seed: int) -> None:
    """Several terminals that share texts and go on in different ways; of some sets one text begins another."""
    ways = [seq(t(lit(texts)), f"{i}{ending}") for i, texts in enumerate(sets) if texts != tree.KeySet(())]
    if not ways:
        return
    compiled = cfgmask.compile(cfgmask.Grammar(grammar(rule("start", many(choice(*ways), 1, 4)))), SHARED)
    rng = random.Random(seed)
    for _ in range(3):
        compare(compiled, rng, 8)


@given(word_sets, st.sets(st.integers(0, 15)), st.sampled_from([True, False, {"type": "null"}]), st.integers(0, 2**16))
def test_masks_of_keys_are_brute_force(
    names: list[str], required: set[int], others: bool | dict[str, str], seed: int
) -> None:
    schema = {
        "type": "object",
        "properties": {name: {"enum": [name, i, *names[:i]]} for i, name in enumerate(names)},
        "required": [name for i, name in enumerate(names) if i in required],
        "additionalProperties": others,
    }
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), SHARED)
    rng = random.Random(seed)
    for _ in range(4):
        compare(compiled, rng, 12)


def test_exits_that_are_asked_for_often_are_brute_force() -> None:
    """One table for many states: what is below its exits is put together once it has been walked some times.

    Where names are told apart, where a bound is near and where another terminal matches, some exits are others.
    """
    values: list[RegexTree] = [
        tree.JsonString(tree.ANY_TEXT),
        tree.JsonString(excepted(tree.ANY_TEXT)),
        tree.JsonString(tree.Repetition(tree.ANY_CHAR, 1, 5)),
        tree.JsonString(excepted(tree.Repetition(tree.ANY_CHAR, 0, 9))),
    ]
    others: list[RegexTree] = [tree.JsonString(KEYS), lit('"t"')]
    parts: list[str | RegexTree | Expr] = []
    for i in range(24):
        value = values[i % len(values)]
        parts += [value if i % 3 else choice(value, others[i % len(others)]), (",", ":", "}")[i % 3]]
    compiled = cfgmask.compile(cfgmask.Grammar(grammar(rule("start", seq(*parts)))), SHARED)
    for seed in range(3):
        compare(compiled, random.Random(seed), 80)


def compare_with_oracle(ir: GrammarIR, seed: int) -> None:
    """Over fewer tokens, since the oracle is slow; brute force alone would not see what both get wrong."""
    spec = VocabularySpec(list(tokens(420)), [420], {})
    oracle = oracle_of(ir, spec)
    matcher, state, rng = compile_ir(ir, spec).matcher(), oracle.initial, random.Random(seed)
    for _ in range(6):
        mask = oracles_mask(matcher, oracle, state)
        token = random_token(oracle, mask, rng)
        if token is None:
            return
        matcher.advance(token)
        state = oracle.step_token(state, token)


@given(dense_grammars(), st.integers(0, 2**16))
@discards_undecided
def test_masks_from_tables_are_the_oracles(ir: GrammarIR, seed: int) -> None:
    compare_with_oracle(ir, seed)


# What patterns repeat: characters, several of them at once, as many as they come. Then texts have not every length.
UNITS = [cls("az"), cat(cls("et"), cls("ao")), alt("éé", "t"), lit("the"), alt("e", cat(cls("az"), "漢é"))]
units = st.sampled_from(UNITS)
loops = st.builds(tree.Repetition, units, st.integers(0, 2), st.sampled_from([None, None, 7, 40]))
patterns = st.one_of(
    loops,
    st.lists(st.one_of(loops, units), min_size=2, max_size=3).map(lambda parts: cat(*parts)),
    st.lists(st.one_of(loops, units), min_size=2, max_size=3).map(lambda parts: alt(*parts)),
)
lengths = st.one_of(st.just((0, 0)), st.tuples(st.integers(0, 34), st.integers(0, 3)))


@given(patterns, lengths, st.booleans(), st.integers(0, 2**16))
@discards_undecided
def test_masks_of_patterns_within_bounds_are_the_oracles(
    pattern: RegexTree, bounds: tuple[int, int], in_json: bool, seed: int
) -> None:
    least, more = bounds
    body = tree.Intersection((tree.Repetition(tree.ANY_CHAR, least, least + more), pattern))
    compare_with_oracle(grammar(rule("start", seq(tree.JsonString(body, "literal") if in_json else body, "!"))), seed)


def test_a_state_whose_first_bytes_are_dead_takes_nothing_of_a_class() -> None:
    """What is left of `~(~"0")` behind the zero looks as if it took anything."""
    vocabulary = cfgmask.Vocabulary.from_bytes([b"0", b"d", b"00", b"0x", b" ", b"\x00", b""], eos_token_id=6)
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark('start: A\nA: ~(~"0")'), vocabulary).matcher()
    matcher.advance(0)
    assert mask_of(matcher, 7) == {6}


def compiled(schema: dict[str, object]) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), vocabulary(2_000))


def n_tables(compiled: cfgmask.CompiledGrammar) -> int:
    return sum(n for name, n in compiled.stats().items() if name.startswith("tables_"))


def test_bounds_that_no_text_reaches_need_no_tables() -> None:
    """Such as of e-mail addresses, each position of which had two bounds to count for."""
    for schema in ({"pattern": "^[a-z]{2,20}-[a-z0-9]{2,20}$"}, {"format": "email"}):
        text = '"teatime-at9"' if "pattern" in schema else '"tea@rest.ac"'
        without, within = (
            compiled({"type": "string", **schema}),
            compiled({"type": "string", **schema, "maxLength": 1024}),
        )
        matcher, bounded = without.matcher(), within.matcher()
        n_vocab = without.vocabulary.n_vocab
        for byte in text.encode():
            mask = mask_of(matcher, n_vocab)
            before = n_tables(without)
            assert mask_of(bounded, n_vocab) == mask
            assert n_tables(within) == before
            matcher.advance(byte)
            bounded.advance(byte)


@pytest.mark.parametrize(
    ("pattern", "longest", "accepted"),
    [
        ("^[ab]{1,3}$", 3, ["a", "bab"]),
        ("^[ab]{1,3}$", 2, ["a", "ba"]),
        ("^[éa]{1,3}$", 3, ["é", "ééé", "aaa"]),  # 6 bytes
        ("^[éa]{1,3}$", 2, ["éé", "aa"]),
        ("^(a|éé){1,2}$", 3, ["a", "éé", "aéé", "ééa"]),
        ("^(a|éé){1,2}$", 4, ["a", "éé", "éééé"]),
    ],
)
def test_bounds_that_some_text_reaches_hold(pattern: str, longest: int, accepted: list[str]) -> None:
    grammar = compiled({"type": "string", "pattern": pattern, "maxLength": longest})
    words = {"".join(letters) for n in range(6) for letters in itertools.product("abé", repeat=n)}
    found = {word for word in words if grammar.matcher().try_advance([*json_bytes(word)]) == len(json_bytes(word))}
    matching = {word for word in words if re.search(pattern, word) and len(word) <= longest}
    assert found == matching
    assert found.issuperset(accepted)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ({"pattern": r"^\S+@\S+\.\S+$", "maxLength": 90}, r"""tea-9\\e@\"the\u00e9\\.a\ud83d\ude00t"""),
        ({"pattern": "^[^:]+:.*:e9$", "maxLength": 60}, r"t:\\\te:e9:name\te"),
        ({"pattern": "^.{1,63}:the:", "maxLength": 300}, r"tea\\:th\te:the:\\n"),
        ({"pattern": "^t:.{1,40}:the:[a-z]{1,700}/.{2,30}e$"}, r"t:t\\e:th:the:tea/\\n\u00e9e"),
        ({"pattern": "^(t:.{2,20}!|e{1,3}|.{1,18}:a)$", "maxLength": 40}, r"t:\t\\:"),
        ({"minLength": 20, "maxLength": 30}, r"\n\\teatime\u00e9t"),
        ({"minLength": 2, "maxLength": 24, "not": {"const": "t\n\n"}}, r"t\n\n\\t\/"),
    ],
)
def test_masks_near_bounds_inside_of_escapes_and_behind_runs_with_a_minimum_are_brute_force(
    condition: dict[str, object], text: str
) -> None:
    """At once, and where so few characters are left that long tokens do not fit; then the text may not, either."""
    grammar = compiled({"type": "string", **condition})
    n_vocab = grammar.vocabulary.n_vocab
    for n_more in (0, 12, 20):
        matcher = grammar.matcher()
        for byte in ('"' + text[:2] + "e" * n_more + text[2:]).encode():
            if matcher.advance_bytes(bytes([byte])) == 0:
                assert n_more > 0
                break
            mask = mask_of(matcher, n_vocab)
            assert mask == {i for i in range(n_vocab) if matcher.try_advance([i], consume=False)}


# Runs of letters up to 20 bytes, of which some end a lexeme, some begin another, and some do both.
RUNS = [
    *(f"{begin}{'ab' * 10}"[:n] + end for begin in ("", ";", ":", "b!;") for n in (1, 2, 5, 12, 18) for end in "ab:;!"),
    *("a" * n + ";" + "b" * (19 - n) for n in range(20)),
    *("a" * n for n in range(15, 21)),
    *("a" * n + "!" for n in range(15, 20)),
]


@pytest.mark.parametrize("shorter", range(15, 25))
@pytest.mark.parametrize("more", range(3))
def test_bounds_about_as_far_as_the_longest_token_hold(shorter: int, more: int) -> None:
    """Of lexemes that go on side by side, and begin inside of tokens."""
    texts = list(dict.fromkeys(RUNS))
    vocabulary = cfgmask.Vocabulary.from_bytes([*(text.encode() for text in texts), b""], len(texts))
    text = f"""
        start: (";" (KEY ":" | TEXT))+
        KEY: /[ab]{{1,{shorter}}}/
        TEXT: /[ab:!]{{1,{shorter + more}}}/ & /[ab:]+!?/
    """
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(text), vocabulary).matcher()
    letters = shorter + more
    for byte in f";{'ab' * letters}"[: letters + 1].encode():
        assert matcher.advance_bytes(bytes([byte])) == 1
        mask = mask_of(matcher, vocabulary.n_vocab)
        assert mask == {i for i in range(vocabulary.n_vocab) if matcher.try_advance([i], consume=False)}


def json_bytes(text: str) -> bytes:
    return f'"{text}"'.encode()


# Tokens of each class, so many below one beginning that they are answered together, and among them some with a space
# where none of the class may have one.
BELOW = [
    *(
        f"{begin}{a}{b}{end}"
        for begin in (" ", " n", "")
        for a in "abcdxyz"
        for b in "aeiou0Z"
        for end in ("", "n", " n")
    ),
    *(f" {a}{b}{end}" for a in "é漢ab" for b in "aeiouéà漢Z09" for end in ("", "n", " n", "é", "é n")),
    *(f" {a}{b}{end}" for a in ":;+*" for b in "=+-*:;,.ab" for end in ("", ")", " (", ":")),
    *(" " * n for n in range(1, 60)),
]


@pytest.mark.parametrize(
    "pattern",
    [
        " [a-z]+",
        " *[A-Za-z0-9]*!",
        " [A-Za-z]*(?:!| [a-z])",
        "[ ]?[^ ]{2,9} ",
        " [a-z0-9é]*",
        " [^ \n]*",
        "(?: [!-~]+)+",
        " {0,40}[!-~]*",
        "(?: [a-zA-Z0-9é漢àZ]{1,3}){2}",
    ],
)
def test_what_is_below_a_space_is_told_apart_from_what_has_another(pattern: str) -> None:
    texts = list(dict.fromkeys(BELOW))
    # Without some bytes, the pattern would be another one.
    rest = [bytes([byte]) for byte in range(256)]
    vocabulary = cfgmask.Vocabulary.from_bytes([*(text.encode() for text in texts), b"", *rest], len(texts))
    for begun in ("", "n", " n", " "):
        matcher = cfgmask.compile(cfgmask.Grammar.from_regex(pattern), vocabulary).matcher()
        if matcher.advance_bytes(begun.encode()) == len(begun):
            viable = {i for i, text in enumerate(texts) if regex.fullmatch(pattern, begun + text, partial=True)}
            assert {i for i in mask_of(matcher, vocabulary.n_vocab) if i < len(texts)} == viable
