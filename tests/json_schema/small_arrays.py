"""All small schemas of arrays of some kinds, each held against every short array of a few items.

    python -m tests.json_schema.small_arrays --every 1 --seed 0

The schemas are all choices of up to two first items, further items and `contains`; bounds, `uniqueItems` and the draft
go round with the seed, and some of these arrays are items of an array in which no two are equal. Which arrays are valid
is what `jsonschema` says of each. The grammar must take these and no others, must not begin what has no end, and must
be refused, as one that nothing satisfies, where there are none.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema

import cfgmask
from tests.json_schema.general import general_rules
from tests.json_schema.judge import vocabulary
from tests.json_schema.test_drafts import URI

# What an item must be, and texts of items that tell it from others.
PARTS: list[tuple[Any, list[str]]] = [
    ({"const": "a"}, ['"a"']),
    ({"const": "b"}, ['"b"']),
    ({"enum": ["a", "b"]}, ['"a"', '"b"']),
    ({"type": "null"}, ["null"]),
    ({"type": "integer"}, ["1", "2"]),
    ({"type": "string"}, ['"a"', '"\\u0061"', '"c"']),
    ({"type": "boolean"}, ["true", "false"]),
    ({}, ['"a"', "null"]),
    ({"type": "array"}, ["[]", "[[]]"]),
    ({"const": [1]}, ["[1]", "[]"]),
    ({"type": ["null", "integer"]}, ["null", "1"]),
    ({"type": ["string", "object"]}, ['"a"', "{}"]),
]
FURTHER: list[tuple[Any, list[str]]] = [
    ({}, []),
    (False, []),
    PARTS[2],
    PARTS[5],
    ({"type": ["string", "array"], "maxItems": 0}, ['"a"', "[]"]),
    PARTS[11],
]
CONTAINED: list[tuple[Any, list[str]] | None] = [None, PARTS[1], PARTS[2], PARTS[4], PARTS[7]]
# minContains and maxContains, minItems and maxItems
COUNTS = [(None, None), (None, None), (2, None), (None, 1), (0, 1), (1, 2), (2, 2), (0, 0)]
LENGTHS = [(None, None), (None, None), (2, None), (3, None), (None, 2), (2, 2), (1, 3), (4, None)]
MORE = ['"a"', "null", "1", '"\\u0061"', "[]", '"b"']
# How many items arrays are made of, and how long they are; of the first few of these, one item longer.
N_ITEMS, N_FEW, LENGTH = 5, 3, 3
BEGINNINGS = b'"[{-0tfn],'


class Case(NamedTuple):
    """A schema and texts of arrays."""

    schema: dict[str, Any]
    texts: list[str]


class Disagreement(NamedTuple):
    """What is wrong with a text, read in which way."""

    what: str
    way: str
    text: str


def cases(seed: int = 0) -> Iterator[Case]:
    """All of them, in an order of their own."""
    prefixes = [prefix for length in range(3) for prefix in itertools.product(PARTS, repeat=length)]
    for number, (prefix, further, contained) in enumerate(itertools.product(prefixes, FURTHER, CONTAINED)):
        rng = random.Random(f"{seed} {number}")
        schema: dict[str, Any] = {"type": "array"}
        if rng.random() < 0.85:
            schema["uniqueItems"] = True
        first, rest = [part for part, _ in prefix], further[0]
        if first and rng.random() < 0.3:
            # Before 2019-09 nothing counts what `contains` finds.
            draft = rng.choice(["7", "2019-09"]) if contained is None else "2019-09"
            schema = {"$schema": URI[draft], **schema, "items": first}
            schema |= {} if rest == {} else {"additionalItems": rest}
        else:
            schema |= {"prefixItems": first} if first else {}
            schema |= {} if rest == {} else {"items": rest}
        if contained is not None:
            schema |= {"contains": contained[0], **_bounds("Contains", rng.choice(COUNTS))}
        schema |= _bounds("Items", rng.choice(LENGTHS))
        parts = [*prefix, further, *([] if contained is None else [contained])]
        items = dict.fromkeys([*(text for _, texts in parts for text in texts), *MORE])
        if rng.random() < 0.9:
            yield Case(schema, [*arrays(list(items)[:N_ITEMS], LENGTH), *arrays(list(items)[:N_FEW], LENGTH + 1)])
        else:
            inner = list(arrays(list(items)[:N_FEW], 2))
            yield Case({"type": "array", "uniqueItems": True, "items": schema}, list(arrays(inner, 2)))


def _bounds(of: str, bounds: tuple[int | None, int | None]) -> dict[str, int]:
    least, most = bounds
    return ({} if least is None else {f"min{of}": least}) | ({} if most is None else {f"max{of}": most})


def arrays(items: list[str], most: int) -> Iterator[str]:
    """The texts of all arrays of at most so many of some items."""
    for length in range(most + 1):
        for chosen in itertools.product(items, repeat=length):
            yield f"[{','.join(chosen)}]"


def disagreements(case: Case) -> Iterator[Disagreement]:
    """The mistakes of the grammar of a schema, as the core and the reference read the schema."""
    judge = jsonschema.validators.validator_for(case.schema, default=jsonschema.Draft202012Validator)(case.schema)
    valid = {text: judge.is_valid(json.loads(text)) for text in case.texts}
    try:
        grammar = cfgmask.Grammar.from_json_schema(case.schema)
        general = general_rules(grammar)
    except cfgmask.GrammarError as error:
        codes = " ".join(sorted({diagnostic.code for diagnostic in error.diagnostics}))
        if codes == "schema-unique-items":
            return
        if codes != "schema-unsatisfiable":
            yield Disagreement("refused", codes, "")
        yield from (Disagreement("nothing satisfies it", codes, text) for text, is_valid in valid.items() if is_valid)
        return
    yield from _of_grammar(grammar, "core", judge, valid)
    yield from _of_grammar(general, "general", judge, valid)


def _of_grammar(grammar: Any, way: str, judge: Any, valid: dict[str, bool]) -> Iterator[Disagreement]:
    matcher = cfgmask.compile(grammar, vocabulary()).matcher()
    live: set[str] = set()
    taken: set[str] = {"["}
    for text, is_valid in valid.items():
        matcher.reset()
        n_taken = matcher.advance_bytes(text.encode())
        is_accepted = n_taken == len(text) and matcher.is_accepting
        # Listed strings are written in one way.
        if is_accepted != is_valid and (is_accepted or "\\" not in text):
            yield Disagreement("accepted" if is_accepted else "not accepted", way, text)
        beginnings = [text[:end] for end in range(1, n_taken + 1)]
        taken.update(beginnings)
        if is_accepted:
            live.update(beginnings)
    # What none of these arrays goes on from is asked of the grammar; and at the edges of items, what else may begin.
    edges = [begun for begun in taken if begun[-1] in '[,]}"el12' and begun.count(",") <= LENGTH]
    for begun in sorted(taken - live, key=len):
        yield from _is_dead(matcher, begun, way, judge)
    for begun in sorted(edges):
        for byte in BEGINNINGS:
            further = begun + chr(byte)
            if further not in taken and _allows(matcher, further):
                yield from _is_dead(matcher, further, way, judge)


def _allows(matcher: cfgmask.Matcher, text: str) -> bool:
    matcher.reset()
    return matcher.advance_bytes(text.encode()) == len(text)


def _is_dead(matcher: cfgmask.Matcher, begun: str, way: str, judge: Any) -> Iterator[Disagreement]:
    """Whether nothing valid begins so, though the grammar allows it."""
    matcher.reset()
    matcher.advance_bytes(begun.encode())
    completion = matcher.completion()
    if completion is None:
        yield Disagreement("dead end", way, begun)
        return
    whole = begun + bytes(completion).decode()
    if not judge.is_valid(json.loads(whole)):
        yield Disagreement("completed wrongly", way, whole)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--every", type=int, default=1, help="take each so-manieth schema")
    parser.add_argument("--seed", type=int, default=0, help="of bounds, uniqueItems and drafts")
    arguments = parser.parse_args()
    n_schemas = n_wrong = 0
    for case in itertools.islice(cases(arguments.seed), 0, None, arguments.every):
        n_schemas += 1
        found = list(disagreements(case))
        n_wrong += bool(found)
        for each in found[:1]:
            print(f"WRONG: {each.what} ({each.way}) {each.text} of {json.dumps(case.schema)}; {len(found)} in all")
    print(f"{n_schemas} schemas, {n_wrong} of them wrong")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
