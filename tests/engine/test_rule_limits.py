"""`Rule.max_tokens`: the core against the oracle, over rules that lead to others and themselves."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar.ir import Rule
from tests.engine.harness import mask_of, oracle_of, walk_there_and_back
from tests.oracle_parameters import expanded
from tests.strategies import Problem, VocabularySpec, discards_undecided, problems

STEPS = 10
LIMITS = [0, 1, 2, 2, 3, 3, 4, 5, 6]


def with_limits(draw: st.DrawFn, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    limits = draw(st.dictionaries(st.sampled_from([rule.name for rule in rules]), st.sampled_from(LIMITS), min_size=1))
    return tuple(replace(rule, max_tokens=limits.get(rule.name)) for rule in rules)


@st.composite
def generated(draw: st.DrawFn) -> Problem:
    """Generated grammars, some of whose rules have limits."""
    problem = draw(problems())
    ir = replace(problem.ir, rules=with_limits(draw, problem.ir.rules))
    return replace(problem, ir=ir, oracle=oracle_of(ir, problem.vocabulary))


GRAMMARS = {
    "right": 'start: x "!"\nx: "a" x | "b"',
    "nested": 'start: x ("," x)*\nx: "(" y ")" | "[" x "]" | "a"\ny: x? ("b" | y "a")?',
    "left": 'start: x "!"?\nx: x "a" | x y | "b"\ny: "(" x ")"',
    "hidden left": 'start: x\nx: y x "a" | "b"\ny: "["?',
    "twice": 'start: x x\nx: "a" y?\ny: x "b" | "a" "b"',
    "ambiguous": 'start: x "!"?\nx: x x | "a" | "ab" | "b"',
    "palindromes": 'start: x\nx: "a" x "a" | "b" x "b" | y\ny: "(" ")" | ',
    "lexemes": 'start: x ";"?\nx: "(" x ")" | WORD x? | y\ny: /[12]+(px)?/ x?\nWORD: /[ab]+/',
    "lazy": 'start: x+\nx: "(" y ")"\ny[lazy]: /[ab()]*b/',
    "terminals with limits": 'start: x "!"\nx: "(" x ")" | y x? \ny[max_tokens=2]: /[ab]+p/',
    "counted": 'start: x{1,3}\nx: y{2,4} "!"?\ny: "a" | "(" x ")"',
    "by id": 'start: x "!"?\nx: "a" x? <[0]> | <[1-3]> y | "b"\ny: x "b"?',
    "edges": 'start: x "!"?\nx: /a+\\b/ " " x | /\\bb/ | "(" x ")" | /a(?=b)/ x',
    "edges behind a limit": 'start: x /\\b[ab]+/ | "[" z x\nx: /[ab(]+/ z? | "(" y\ny: /a+(?=[b!])/ z?\nz: "b" x | ""',
    "objects": 'start: x "!"\nx: %json {"type": "object", "properties": {"a": {"type": "integer"}}} | "b"',
    "values that must differ": """\
start: x "!"?
x: y | "a" x
y: %json {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": true}""",
    "indented": """\
%cfgmask {"indenter": {"NL_type": "_NL", "OPEN_PAREN_types": ["OPEN"], "CLOSE_PAREN_types": ["CLOSE"]}}
start: x+
x: y _NL | "b" _NL _INDENT x+ _DEDENT
y: "a" y? | OPEN y CLOSE
OPEN: "("
CLOSE: ")"
_NL: /\\n[ \\n]*/
%declare _INDENT _DEDENT""",
    "parametric": """\
start: x::0 "!"? | y::1
x::_: "a" x::incr([0:2]) %if lt([0:2], 2) | "b" y::_ %if ge([0:2], 1) | "(" x::_ ")" y::incr([0:2])
y::_: "]" %if eq([0:2], 2) | ")" y::incr([0:2]) | x::_ "b" %if is_zeros([0:2])""",
    "different elements": """\
start: x::0 ("," x::0)*
x::_: y::_ x::_? | "" %if is_ones([0:3])
y::_: "a" x::set_bit(0) %if bit_clear(0) | "b" x::set_bit(1) %if bit_clear(1) | "12" x::set_bit(2) %if bit_clear(2)""",
    "chosen terminals": """\
start: x::0+ "!"?
x::_: y::_ x::incr([0:2]) %if lt([0:2], 3) | ";" | z::_
y::_: "a" %if eq([0:2], 0) | "(ab" %if eq([0:2], 1) | /1+px/ %if eq([0:2], 2)
z::_: z::_ y::_ %if lt([0:2], 2) | "b" y::incr([0:2])~1..2""",
    "nothing limited behind": 'start: x y*\nx: "a" x | "b"\ny: "(" y ")" | /[12]+/ ("," | "!") | "p" y',
    "nothing limited around": """\
start: z+ | "a" z
z: "(" x ")" | "[" z "]" | /[12]+/ z?
x: "a" x | "p" | y "b"
y: "!" x | "," """,
    "captured": 'start: x "!"?\nx[capture]: "(" y ")" x?\ny[capture]: x | "a" y?',
}
IGNORED = ["", "", '\n%ignore " "', "\n%ignore /#[^#]*#/", '\n%cfgmask {"ignore_once": true}\n%ignore " "']
PIECES = ["a", "b", "p", "x", "1", "2", '"', " ", "\n", "!", "(", ")", "[", "]", ",", ";", ":", "{", "}"]


@st.composite
def written(draw: st.DrawFn) -> Problem:
    """Written grammars of every shape, over tokens that cross from one rule into the next."""
    text = draw(st.sampled_from(list(GRAMMARS.values())))
    options = draw(st.sampled_from(["", "" if "indenter" in text else '%cfgmask {"lexer": "complete"}\n']))
    ignored = draw(st.sampled_from(IGNORED))
    joined = draw(st.lists(st.lists(st.sampled_from(PIECES), min_size=2, max_size=4).map("".join), max_size=25))
    single = sorted({*"".join(PIECES).encode(), *b"#"})
    tokens = [*(bytes([byte]) for byte in single), *(text.encode() for text in joined)]
    spec = VocabularySpec([*tokens, b""], [len(tokens)], {})
    ir = cfgmask.Grammar.from_lark(options + text + ignored).ir
    ir = replace(ir, rules=with_limits(draw, ir.rules))
    plain = expanded(ir) if any(rule.parametric for rule in ir.rules) else ir
    return Problem(ir, spec, oracle_of(plain, spec), random.Random(draw(st.integers(0, 2**16))))


@given(st.one_of(generated(), written(), written()), st.booleans())
@discards_undecided
def test_masks_are_the_oracles(problem: Problem, fresh: bool) -> None:
    """Along random walks, with what was remembered and without, on forks, and after a way back."""
    walk_there_and_back(problem, STEPS, fresh=fresh)


VOCABULARY = [b"a", b"(", b")", b"a)", b"))", b"!", b"", b"\\n"]


def allowed(matcher: cfgmask.Matcher) -> set[bytes]:
    return {VOCABULARY[token] for token in mask_of(matcher, len(VOCABULARY))}


def matcher_of(text: str) -> cfgmask.Matcher:
    vocabulary = cfgmask.Vocabulary.from_bytes(VOCABULARY, eos_token_id=6)
    return cfgmask.compile(cfgmask.Grammar.from_lark(text), vocabulary).matcher()


NESTED = 'start: x "!"\nx[max_tokens={}]: "(" x ")" | "a"'


def test_what_is_left_suffices_to_close() -> None:
    matcher = matcher_of(NESTED.format(5))
    assert allowed(matcher) == {b"a", b"("}
    matcher.advance(1)
    assert allowed(matcher) == {b"a", b"(", b"a)"}
    matcher.advance(1)
    # Three more brackets would take four tokens, one after the other, of which there are three.
    assert allowed(matcher) == {b"a", b"a)"}
    matcher.advance(0)
    assert allowed(matcher) == {b")", b"))"}
    matcher.advance(2)
    assert allowed(matcher) == {b")"}
    matcher.rollback(1)
    matcher.advance(4)
    assert allowed(matcher) == {b"!"}


def test_limits_in_each_other() -> None:
    matcher = matcher_of('start: x "!"\nx[max_tokens=6]: "(" y ")"\ny[max_tokens=2]: x | "a"+')
    matcher.advance(1)
    assert allowed(matcher) == {b"a", b"a)"}
    matcher.advance(0)
    matcher.advance(0)
    assert allowed(matcher) == {b")"}


def test_a_token_counts_for_both_rules_that_it_has_bytes_of() -> None:
    matcher = matcher_of('start: x x\nx[max_tokens=1]: y\ny: "a" | ")"')
    matcher.advance(3)
    assert allowed(matcher) == {b""}


@pytest.mark.parametrize(("limit", "needs"), [(0, 1), (1, 2)])
def test_a_limit_that_holds_no_text(limit: int, needs: int) -> None:
    body = "y" if needs == 1 else '"(" y'
    with pytest.raises(cfgmask.GrammarError) as error:
        matcher_of(f'start: x "!"\nx[max_tokens={limit}]: {body}\ny: "a" y?')
    [diagnostic] = error.value.diagnostics
    assert diagnostic.code == "grammar-empty"
    assert [related.message for related in diagnostic.related] == [f"its shortest text takes more than {limit} tokens"]


def test_no_tokens() -> None:
    assert allowed(matcher_of('start: x "!"\nx[max_tokens=0]: y*\ny: "a" y?')) == {b"!"}


def test_a_budget_for_the_whole_text() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes(VOCABULARY, eos_token_id=6)
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark(NESTED.format(5)), vocabulary)
    for budget in (2, 3, 4, 7):
        matcher = compiled.matcher(max_tokens=budget)
        rng = random.Random(budget)
        for _ in range(budget):
            if matcher.is_accepting:
                break
            matcher.advance(rng.choice(sorted(mask_of(matcher, len(VOCABULARY)))))
        assert matcher.is_accepting


def test_rules_with_limits_one_after_the_other_come_back_to_the_same_states() -> None:
    compiled = matcher_of('start: x+\nx[max_tokens=5]: "(" x ")" | "a"').fork()
    for _ in range(50):
        assert compiled.try_advance([1, 1, 0, 2, 2, 0]) == 6
    assert allowed(compiled) == {b"a", b"(", b""}


@pytest.mark.parametrize(
    ("grammar", "first"),
    [
        ("start: x /\\ba+/\nx[max_tokens=1]: /[a!]+/", {b"!"}),
        ('start: x /\\ba+/\nx[max_tokens=1]: y z?\ny: /[a!]+/\nz: "("', {b"!"}),
        ('start: x "!"\nx[max_tokens=1]: /(a|[(])+(?=!)/', {b"a", b"("}),
        ('start: x "!"\nx[max_tokens=1]: /(a|[(])+(?=[)])/ | "("', {b"("}),
        ('start: x* ")"\nx[max_tokens=1]: y y?\ny: /a+(?=!)/ | "("', {b"(", b")"}),
    ],
)
def test_conditions_on_what_comes_behind_a_limit(grammar: str, first: set[bytes]) -> None:
    """A lexeme that has no tokens left ends, and what may come next has conditions too."""
    assert allowed(matcher_of(grammar)) == first


def test_ignored_text_that_lets_a_condition_hold() -> None:
    matcher = matcher_of('start: x /\\ba/\nx[max_tokens=2]: "a" | "(" ")"\n%ignore "!"')
    assert allowed(matcher) == {b"a", b"(", b"!"}
    matcher.advance(0)
    assert allowed(matcher) == {b"!"}
    matcher.advance(5)
    assert allowed(matcher) == {b"a", b"!"}
    matcher.advance(0)
    assert allowed(matcher) == {b"", b"!"}
