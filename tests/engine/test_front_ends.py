"""The core against the oracle on grammars as the front ends make them."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

import cfgmask
from cfgmask.grammar.ir import GrammarIR
from tests.engine.harness import compile_ir, mask_of
from tests.engine.test_differential import walk
from tests.oracle_regex import Undecided
from tests.strategies import Problem, problems_of

LARK = {
    "sums": (
        """
        start: sum
        ?sum: sum ("+" | "-") product | product
        ?product: product "*" atom | atom
        atom: NUMBER | "(" sum ")" | "-" atom
        NUMBER: /[0-9]+(\\.[0-9]+)?/
        %ignore /[ \\t]+/
        """,
        ["1 + 2.5*(3-4)", "-1*-2"],
    ),
    "statements": (
        """
        start: statement+
        statement: NAME "=" value ";" | "if" value "then" statement | "print" value ";"
        value: NAME | STRING | NUMBER
        NAME: /[a-z_]\\w*/
        STRING: /"[^"\\n]*"/ | /'[^'\\n]*'/
        NUMBER: /-?[0-9]{1,5}/
        %ignore " "
        %ignore /#[^\\n]*\\n/
        """,
        ["x = 1;if y then print 'é';", 'iffy = "a"; # no\nprint iffy;'],
    ),
    "a schema inside": (
        """
        start: "call " NAME payload "\\n"
        NAME: /[a-z]{2,8}/
        payload: %json {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
        """,
        ['call tool{"a": 12}\n', 'call ab{\n  "a":-3\n}\n'],
    ),
}
SCHEMAS: dict[str, tuple[Any, list[Any]]] = {
    "anything": (True, [{"a": [1, 2.5e3, None, True, 'x\n"é😀']}, []]),
    "optional properties": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "ab": {"type": "boolean"}, "é": {"enum": ["x", 1, None]}},
            "additionalProperties": False,
        },
        [{"a": 10, "ab": True}, {"é": "x"}, {}],
    ),
    "extra properties": (
        {"properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": {"type": "string"}},
        [{"a": 1, "b": "c"}],
    ),
    "bounded arrays": (
        {"type": "array", "items": {"type": "integer", "minimum": -5, "maximum": 120}, "minItems": 1, "maxItems": 3},
        [[1, 120], [-5]],
    ),
    "tuples": (
        {"type": "array", "prefixItems": [{"type": "string", "maxLength": 3}, {"type": "null"}], "items": False},
        [["abc", None], ["é"]],
    ),
    "strings": (
        {"anyOf": [{"type": "string", "pattern": "^a[bc]{2,3}$"}, {"type": "string", "format": "date"}]},
        ["abc", "2024-02-29"],
    ),
    "recursion": (
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "number"}}}
            },
        },
        [{"next": {"next": {}}}, {"v": 1.5}],
    ),
}
DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "maskbench-dev.jsonl.gz"


def check(ir: GrammarIR, texts: list[bytes], seed: int) -> None:
    """Along each text, cut into random tokens, and along random walks."""
    rng = random.Random(seed)
    (problem,) = problems_of([ir], rng, tuple(texts))
    for text in texts:
        follow(problem, text)
    for fresh in (False, True):
        walk(problem, fresh=fresh)


def follow(problem: Problem, text: bytes) -> None:
    oracle, state, done = problem.oracle, problem.oracle.initial, 0
    matcher = compile_ir(problem.ir, problem.vocabulary).matcher()
    while True:
        mask = oracle.mask(state)
        assert mask_of(matcher, len(oracle.tokens)) == mask
        assert matcher.is_accepting == oracle.is_accepting(state)
        fitting = [t for t in mask - oracle.end_tokens if oracle.tokens[t] and text.startswith(oracle.tokens[t], done)]
        if not fitting:
            break
        token = problem.random.choice(sorted(fitting))
        matcher.advance(token)
        state, done = oracle.step_token(state, token), done + len(oracle.tokens[token])
    assert done == len(text)
    assert matcher.is_accepting


@pytest.mark.parametrize("name", LARK)
def test_lark_grammars(name: str) -> None:
    text, accepted = LARK[name]
    check(cfgmask.Grammar.from_lark(text).ir, [t.encode() for t in accepted], seed=1)


@pytest.mark.parametrize("name", SCHEMAS)
def test_json_schemas(name: str) -> None:
    schema, instances = SCHEMAS[name]
    texts = [json.dumps(instance, ensure_ascii=False).encode() for instance in instances]
    check(cfgmask.Grammar.from_json_schema(schema).ir, texts, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_published_schemas(part: int) -> None:
    """A sample of real schemas with their valid instances, of those that compile."""
    if not DATA.exists():
        pytest.skip(f"the reference data file {DATA.name} is missing")
    with gzip.open(DATA) as lines:
        sample = [json.loads(line) for n, line in enumerate(lines) if n % 397 == part]
    for case in sample:
        try:
            ir = cfgmask.Grammar.from_json_schema(case["schema"]).ir
        except (cfgmask.GrammarError, cfgmask.LimitExceeded):
            continue
        instances = [json.dumps(t["data"], ensure_ascii=False).encode() for t in case["tests"] if t["valid"]]
        with_order = [text for text in instances if len(text) < 300 and _accepts(ir, text)][:2]
        try:
            check(ir, with_order, seed=part)
        except Undecided:
            continue


def _accepts(ir: GrammarIR, text: bytes) -> bool:
    """Whether the text is in the language: property order is that of the schema, which instances need not keep."""
    matcher = compile_ir(ir).matcher()
    return matcher.advance_bytes(text) == len(text) and matcher.is_accepting
