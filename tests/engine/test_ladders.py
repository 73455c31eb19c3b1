"""Ladders: each definition has the next one twice, so that there are exponentially many ways to the last one.

Whatever walks what definitions share must look at each once, or stop at a limit that it names, soon.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask import Grammar
from tests.limited import WORKS, outcome

WORDS = [a + b for a in (b"a", b"b", b"c", b"d", b'"', b" ", b"{", b"[", b"1") for b in (b"a", b"c", b'"', b":", b"}")]
TOKENS = [*(bytes([byte]) for byte in range(256)), *WORDS, b"cdcd", b"ccccc", b'{"a":', b""]
END = len(TOKENS) - 1


def use(grammar: Grammar) -> None:
    """Whatever a matcher can be asked, along a walk."""
    compiled = cfgmask.compile(grammar, cfgmask.Vocabulary.from_bytes(TOKENS, END))
    matcher = compiled.matcher()
    choose = random.Random(0)
    for _ in range(8):
        allowed = tokens_of(matcher)
        if not allowed:
            break
        matcher.advance(choose.choice(allowed))
    matcher.explain(ord("c"))
    matcher.rollback(matcher.n_steps)
    for ask in (matcher.forced_bytes, matcher.jump, matcher.completion, matcher.expected, matcher.captures):
        ask()
    grammar.notes  # noqa: B018  # it is worked out when it is asked for


def use_within_a_budget(grammar: Grammar) -> None:
    matcher = cfgmask.compile(grammar, cfgmask.Vocabulary.from_bytes(TOKENS, END)).matcher(max_tokens=2_000)
    for _ in range(3):
        matcher.advance(tokens_of(matcher)[0])


def tokens_of(matcher: cfgmask.Matcher) -> list[int]:
    bits = np.zeros((len(TOKENS) + 31) // 32, np.uint32)
    matcher.fill_mask(bits)
    allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
    return [int(token) for token in allowed if token != END]


def lark(name: str, body: str, n: int, *, last: str = '"c" | "d"', start: str = "N0") -> Grammar:
    """name  T for terminals, r for rules: `N` stands for it in all other arguments."""
    steps = [f"N{i}: {body.replace('N', f'N{i + 1}')}" for i in range(n)]
    return Grammar.from_lark("\n".join([f"start: {start}", *steps, f"N{n}: {last}"]).replace("N", name))


def gbnf(body: str, n: int) -> Grammar:
    steps = [f"r{i} ::= {body.replace('N', f'r{i + 1}')}" for i in range(n)]
    return Grammar.from_gbnf("\n".join(["root ::= r0", *steps, f'r{n} ::= "c" | "d"']))


def schema(step: Any, n: int, last: Any) -> Grammar:
    """`N` in a step stands for a reference to the next one."""
    text = json.dumps(step)
    steps = {f"s{i}": json.loads(text.replace('"N"', f'{{"$ref": "#/$defs/s{i + 1}"}}')) for i in range(n)}
    return Grammar.from_json_schema({"$ref": "#/$defs/s0", "$defs": {**steps, f"s{n}": last}})


# What the masks and the tables of all of these take is little at any depth.
FLAT_TERMINALS = [
    "N? N",
    "N N | N",
    "N* N | N",
    "N{1,3} | N N",
    "N? N?",
    'N "a" | N "b"',
    'N "a"? | N N?',
    'N | N "x"',
    '"a"? N | "b"? N',
    'N & (N | "x")',
    'N "a"? & N N?',
    '(N "a" | N "b") & (N "a" | N "c")',
    "~N & /[a-z]{0,9}/",
    '(N | "a")*',
    '("a" N)* | N',
    '(N{0,3} "a") | N',
    'N | "x" N? "y"',
    'N+ "e" | N',
    "(N /\\b/) N | N",
    "N /(?=[cd])/ N | N",
    "/(?!x)/ N | N /y/",
    '("c" | "d")? N',
]
# These are as large as what they write out, or have as many residuals.
GROWING_TERMINALS = ["N N", "N{2}", "N{1,100} N{1,100} | N", "/(?!x)/ N N", "N /.{0,9}/ N", "~(N N) & /[a-z]+/", "~N N"]
VARIANTS: dict[str, Callable[[str, int], Grammar]] = {
    "any case": lambda body, n: lark("T", body, n, last='"c"i | "d"i'),
    "characters": lambda body, n: lark("T", body, n, last="/[a-zé-ü]/"),
    "counts": lambda body, n: lark("T", body, n, last="/[a-f]{1,60}/"),
    "loops": lambda body, n: lark("T", body, n, last="/[cd]*x/"),
    "bounds on the length": lambda body, n: lark("T", f"({body}) & /.{{0,300}}/", n),
    "nullable": lambda body, n: lark("T", body, n, last='"c"? | "d"'),
    "several": lambda body, n: lark("T", body, n, start='N0* N1? N0 | N2 "e" | N3'),
}
RULES = [
    "N? N",
    "N N | N",
    "N* N | N",
    "N~1..3 | N N",
    'N "a" | N "b"',
    "N | N",
    "N+",
    "N* N*",
    '("x" N)? N',
]
INTEGER = {"type": "integer"}
OBJECT = {"type": "object", "properties": {"z": {"type": "string", "maxLength": 8}}}
SCHEMAS: list[Any] = [
    {"anyOf": ["N", "N"]},
    {"anyOf": ["N", {"type": "array", "items": "N"}]},
    {"oneOf": ["N", {"type": "string"}]},
    {"oneOf": ["N", {"not": "N"}]},
    {"allOf": ["N", "N"]},
    {"allOf": [{"anyOf": ["N", {"type": "string"}]}, {"anyOf": ["N", {"type": "null"}]}]},
    {"allOf": [{"oneOf": ["N", {"type": "string"}]}, {"oneOf": ["N", {"type": "null"}]}]},
    {"not": {"not": "N"}},
    {"not": {"allOf": ["N", {"not": "N"}]}},
    {"if": "N", "then": "N", "else": "N"},
    {"type": "array", "prefixItems": ["N", "N"], "items": False},
    {"type": "array", "items": "N", "contains": "N"},
    {"type": "array", "items": "N", "uniqueItems": True},
    {"type": "object", "properties": {"a": "N", "b": "N"}, "required": ["a"]},
    {"type": "object", "properties": {"a": "N"}, "dependentSchemas": {"a": "N"}},
    {"type": "object", "patternProperties": {"^a": "N", "^b": "N"}},
    {"type": "object", "additionalProperties": "N", "propertyNames": {"maxLength": 3}},
]
LIMITS = {"max_regex_nodes", "max_search_steps", "max_lexer_states", "max_item_sets", "max_items", "max_rules"}
# What is refused since it takes more than is ever read.
REFUSED = {"schema-unsatisfiable", "schema-too-deep", "schema-too-many-alternatives"}


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("body", FLAT_TERMINALS)
def test_terminals(body: str, n: int) -> None:
    assert outcome(lambda: use(lark("T", body, n))) == WORKS


@pytest.mark.parametrize("n", [6, 20, 40])
@pytest.mark.parametrize("body", GROWING_TERMINALS)
def test_terminals_that_grow_come_to_a_limit_soon(body: str, n: int) -> None:
    assert outcome(lambda: use(lark("T", body, n))) in {WORKS, *LIMITS}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("body", FLAT_TERMINALS[:3])
def test_what_ladders_end_with(variant: str, body: str) -> None:
    assert outcome(lambda: use(VARIANTS[variant](body, 30))) in {WORKS, *LIMITS}


@pytest.mark.parametrize("body", FLAT_TERMINALS[:6])
def test_budgets(body: str) -> None:
    assert outcome(lambda: use_within_a_budget(lark("T", body, 20))) in {WORKS, *LIMITS}


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("body", RULES)
def test_rules(body: str, n: int) -> None:
    assert outcome(lambda: use(lark("r", body, n))) == WORKS


@pytest.mark.parametrize("n", [20, 40])
def test_priorities_and_templates(n: int) -> None:
    steps = "".join(f"T{i}.{i}: T{i + 1}? T{i + 1}\n" for i in range(n))
    assert outcome(lambda: use(Grammar.from_lark(f'start: T0 | T1\n{steps}T{n}: "c" | "d"\n'))) == WORKS
    nested = "_t{" * n + '"c"' + "}" * n
    assert outcome(lambda: use(Grammar.from_lark(f"start: {nested}\n_t{{x}}: x x | x\n"))) == WORKS


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("body", ["N? N", "N N | N", "N* N | N", "N{1,3} | N N", 'N "a" | N "b"', "N | N", "N+"])
def test_gbnf(body: str, n: int) -> None:
    assert outcome(lambda: use(gbnf(body, n))) == WORKS


@pytest.mark.parametrize("last", [INTEGER, OBJECT], ids=["integer", "object"])
@pytest.mark.parametrize("step", SCHEMAS, ids=json.dumps)
def test_schemas(step: Any, last: Any) -> None:
    for n in (20, 40):
        assert outcome(lambda: use(schema(step, n, last))) in {WORKS, *LIMITS, *REFUSED}  # noqa: B023
