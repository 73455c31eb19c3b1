"""How states, item sets and items grow with the text. Counts repeat exactly; nothing is timed."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

import cfgmask
from cfgmask.grammar.ir import Expr, GrammarIR, Rule
from tests.build import DIGITS, choice, grammar, many, rep, rule, scope, seq
from tests.engine.harness import compile_ir, empty_bits

# A list of `$item`, separated by commas, in every way to write one.
LISTS = {
    "left": choice("$item", seq("$list", ",", "$item")),
    "right": choice("$item", seq("$item", ",", "$list")),
    "repeated": seq("$item", many(seq(",", "$item"))),
    "repeated at least once": choice("$item", seq("$item", many(seq(",", "$item"), 1))),
    "repeated with the comma first": seq(many(seq("$item", ",")), "$item"),
    "nullable tail": seq("$item", many(seq(",", "$list"), 0, 1)),
    "hidden left": choice("$item", seq(many("$list", 0, 1), ",", "$item")),
    "both sides": choice("$item", seq("$list", ",", "$list")),
}
DETERMINISTIC = [
    "left",
    "right",
    "repeated",
    "repeated at least once",
    "repeated with the comma first",
    "nullable tail",
]


def array_of(item: Rule, form: str, *rules: Rule) -> GrammarIR:
    return grammar(
        rule("start", seq("[", "$list", "]")), rule("list", LISTS[form]), item, *rules, scopes=(scope(rep(" ", 1)),)
    )


def stats_after(ir: GrammarIR, text: bytes) -> dict[str, int]:
    """Sizes after the text was read byte by byte and accepted."""
    compiled = compile_ir(ir)
    read(compiled, text)
    return compiled.stats()


def read(compiled: cfgmask.CompiledGrammar, text: bytes) -> cfgmask.Matcher:
    matcher = compiled.matcher()
    for byte in text:
        matcher.advance(byte)
    assert matcher.is_accepting
    return matcher


@pytest.mark.parametrize("form", [form for form in LISTS if form != "both sides"])
def test_sixty_integers_visit_a_bounded_number_of_states(form: str) -> None:
    ir = array_of(rule("item", DIGITS), form)
    few = stats_after(ir, b"[" + b", ".join(b"%d" % n for n in range(8, 20)) + b"]")
    many_more = stats_after(ir, b"[" + b", ".join(b"%d" % n for n in range(60)) + b"]")
    assert many_more["states"] <= 14
    assert many_more["states"] <= few["states"] + 1
    assert many_more["item_sets"] == few["item_sets"]


def object_rules(properties: str) -> list[Rule]:
    """Objects whose properties are all optional, in order."""
    rules, heads = [], [seq()]
    for i, name in enumerate(properties):
        member = seq(f'"{name}"', ":", DIGITS, f"$tail{i + 1}")
        heads.append(member)
        rules.append(rule(f"tail{i}", choice(seq(",", member), f"$tail{i + 1}")))
    last = rule(f"tail{len(properties)}", seq())
    return [rule("item", seq("{", choice(*heads), "}")), *rules, last]


def random_objects(n: int, properties: str) -> bytes:
    rng = random.Random(0)
    objects = []
    for _ in range(n):
        members = [f'"{name}": {rng.randrange(1000)}' for name in properties if rng.random() < 0.6]
        objects.append("{" + ", ".join(members) + "}")
    return ("[" + ", ".join(objects) + "]").encode()


@pytest.mark.parametrize("form", DETERMINISTIC)
def test_sixty_objects_with_six_optional_properties(form: str) -> None:
    item, *tails = object_rules("abcdef")
    ir = array_of(item, form, *tails)
    sixty = stats_after(ir, random_objects(60, "abcdef"))
    assert sixty["states"] < 100
    many_more = stats_after(ir, random_objects(600, "abcdef"))
    assert many_more["item_sets"] == sixty["item_sets"]
    assert many_more["states"] < 120


@pytest.mark.parametrize("n", [20, 40, 80])
def test_many_callers_share_one_item(n: int) -> None:
    """`start: "a" start "b" | "a" start "c" | "d"`: one caller an item would make 2^n of them."""
    ir = grammar(rule("start", choice(seq("a", "$start", "b"), seq("a", "$start", "c"), "d")))
    text = b"a" * n + b"d" + bytes(random.Random(n).choices(b"bc", k=n))
    stats = stats_after(ir, text)
    assert stats["item_sets"] <= 3 * n + 5
    assert stats["items"] <= 8 * n + 10


AMBIGUOUS = {
    "an expression": (choice(seq("$start", "+", "$start"), DIGITS), lambda n: b"1" + b"+1" * n),
    "two in a row": (choice(seq("$start", "$start"), "1"), lambda n: b"1" * n),
    "three in a row": (choice(seq("$start", "$start", "$start"), seq("$start", "$start"), "1"), lambda n: b"1" * n),
    "nullable in a row": (choice(seq("$start", "$start"), "1", seq()), lambda n: b"1" * n),
    "palindromes": (choice(seq("a", "$start", "a"), seq("b", "$start", "b"), seq()), lambda n: b"ab" * n + b"ba" * n),
    "dangling else": (choice(seq("i", "$start"), seq("i", "$start", "e", "$start"), "x"), lambda n: b"i" * n + b"xex"),
}


@pytest.mark.parametrize("lexer", ["longest", "complete"])
@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous_grammars_grow_polynomially(name: str, lexer: str) -> None:
    body, text = AMBIGUOUS[name]
    ir = grammar(rule("start", body), lexer=lexer)
    sizes = [stats_after(ir, text(n)) for n in (20, 40, 80)]
    for small, large in pairwise(sizes):
        assert large["item_sets"] <= 2.2 * small["item_sets"] + 10
        assert large["items"] <= 4.5 * small["items"] + 20
        assert large["bytes"] <= 9 * small["bytes"]


@pytest.mark.parametrize(
    "body",
    [
        many(choice(rep("a", 1), "aa")),
        choice(seq(), seq("$start", choice(rep("a", 1), "aa"))),
        choice(seq(), seq(choice(rep("a", 1), "aa"), "$start")),
    ],
    ids=["repeated", "left", "right"],
)
def test_complete_mode_merges_segmentations(body: Expr) -> None:
    """2^n ways to cut the text, a number of states that does not grow."""
    ir = grammar(rule("start", body), lexer="complete")
    small, large = (stats_after(ir, b"a" * n) for n in (50, 500))
    assert large["states"] <= small["states"] + 1
    assert large["item_sets"] <= small["item_sets"] + 1


@pytest.mark.parametrize("form", [form for form in LISTS if form != "both sides"])
def test_long_lists_take_constant_memory(form: str) -> None:
    """100,000 repetitions, by left, right and repeated rules alike."""
    ir = array_of(rule("item", DIGITS), form)
    small, large = (stats_after(ir, b"[" + b"1," * n + b"1]") for n in (100, 100_000))
    assert large["states"] == small["states"]
    assert large["items"] == small["items"]
    assert large["bytes"] <= small["bytes"] + 1024


def test_deep_nesting_takes_linear_memory() -> None:
    ir = grammar(rule("start", choice(seq("(", "$start", ")"), "1")))
    small, large = (stats_after(ir, b"(" * n + b"1" + b")" * n) for n in (1_000, 10_000))
    assert large["items"] <= 11 * small["items"]
    assert large["bytes"] <= 12 * small["bytes"]


@pytest.mark.parametrize("n", [10, 1_000])
def test_masks_are_remembered_by_state(n: int) -> None:
    """A document of n equal objects has the masks of one."""
    compiled = compile_ir(array_of(rule("item", seq("<", DIGITS, ">")), "right"))
    matcher = compiled.matcher()
    bits = empty_bits(compiled.vocabulary.n_vocab)
    for byte in b"[" + b",".join([b"<12>"] * n) + b"]":
        matcher.fill_mask(bits)
        matcher.advance(byte)
    assert compiled.stats()["masks"] <= 12


def test_rollback_and_fork_make_no_states() -> None:
    compiled = compile_ir(array_of(rule("item", DIGITS), "left"))
    matcher = read(compiled, b"[" + b"1," * 5_000 + b"1]")
    before = compiled.stats()
    for _ in range(1_000):
        fork = matcher.fork()
        fork.rollback(9_000)
        fork.advance_bytes(b"1,1")
    assert compiled.stats() == before
    assert matcher.n_steps == 10_003


def test_masks_are_counted_when_computed_and_tables_when_made() -> None:
    compiled = compile_ir(cfgmask.Grammar.from_regex("[a-z]{2,300}!").ir)
    matcher = compiled.matcher()
    bits = empty_bits(compiled.vocabulary.n_vocab)
    for _ in range(3):
        matcher.fill_mask(bits)
    once = compiled.stats()
    assert once["masks_computed"] == once["masks"] == 1
    ways = ("renamed", "counted", "bounded", "difference", "clipped", "patched", "walked")
    assert sum(once[f"tables_{way}"] for way in ways) == once["tables"] > 0
    compiled.clear_masks()
    matcher.fill_mask(bits)
    again = compiled.stats()
    assert again["masks_computed"] == 2
    assert again["tables"] == once["tables"]


@pytest.mark.parametrize("kind", ["integer", "number", "string"])
def test_values_that_must_differ_cost_the_same_each(kind: str) -> None:
    """An alternative for each number that came, in each mask, crossed this limit after 157 numbers."""
    grammar = cfgmask.Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": {"type": kind}})
    vocabulary = cfgmask.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], eos_token_id=256)
    matcher = cfgmask.compile(grammar, vocabulary, cfgmask.Limits(max_regex_nodes=50_000)).matcher()
    bits = empty_bits(257)
    for number in range(10_000, 10_500):
        item = f'"{number}"' if kind == "string" else str(number)
        assert matcher.advance_bytes(f"{'[' if number == 10_000 else ','}{item}".encode()) > 0
        matcher.fill_mask(bits)
