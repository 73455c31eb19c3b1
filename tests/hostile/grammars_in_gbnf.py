"""GBNF that may do harm: nesting, ladders, damage."""

from __future__ import annotations

import random
from collections.abc import Iterator

from cfgmask import Grammar
from tests.hostile.runner import Case, Times
from tests.hostile.use import use

ANY = frozenset({"accepted", "GrammarError", "LimitExceeded"})

NESTED = {
    "groups": ("(", '"a"', ")"),
    "stars": ("(", '"a"', ")*"),
    "optional": ("(", '"a"', ")?"),
    "counts": ("(", '"a"', "){1,3}"),
    "choices": ('("b" | ', '"a"', ")"),
    "sequences": ('("b" ', '"a"', ' "c")'),
}
LADDERS = {
    "optional first": "{j}? {j}",
    "pair or one": "{j} {j} | {j}",
    "star or one": "{j}* {j} | {j}",
    "counted or pair": "{j}{{1,3}} | {j} {j}",
    "counts": "{j}{{1,50}}",
    "two ends": '{j} "a" | {j} "b"',
}
FIXED: dict[str, str | Times] = {
    "nothing": "",
    "itself": "root ::= root",
    "left": 'root ::= root "a" | "b"',
    "ambiguous": 'root ::= root root | "a"',
    "undefined": "root ::= x",
    "a class that is open": "root ::= [a",
    "a range the wrong way": "root ::= [z-a]",
    "all of Unicode": r"root ::= [\x00-\U0010FFFF]*",
    "a large count": 'root ::= "a"{1000000000}',
    "a larger count": 'root ::= "a"{99999999999999}',
    "counts the wrong way": 'root ::= "a"{5,2}',
    "many rules": "root ::= r0\n" + "".join(f'r{i} ::= "a" r{i + 1}\n' for i in range(3_000)) + 'r3000 ::= "b"',
    "many alternatives": "root ::= " + " | ".join(f'"{i}"' for i in range(20_000)),
    "a long text": f'root ::= "{"a" * 1_000_000}"',
    "escapes": r'root ::= "\x" "\u12" "\U0011FFFF" "\q"',
    "NUL": "root ::= \x00",
    "too long": Times("x", 40_000_000, "# "),
}


def case(name: str, text: str | Times) -> Case:
    return Case(f"gbnf/{name}", lambda: use(lambda: Grammar.from_gbnf(str(text)), dead_ends=True), ANY)


def nested() -> Iterator[Case]:
    for name, (begin, core, end) in NESTED.items():
        for n in (10, 100, 199, 201, 20_000):
            yield case(f"nested {name}, {n}", "root ::= " + begin * n + core + end * n)


def ladders() -> Iterator[Case]:
    for name, body in LADDERS.items():
        for n in (6, 20, 40, 100):
            steps = (
                f"r{i} ::= " + body.replace("{j}", f"r{i + 1}").replace("{{", "{").replace("}}", "}") for i in range(n)
            )
            yield case(f"{name}, {n} deep", "root ::= r0\n" + "\n".join(steps) + f'\nr{n} ::= "c" | "d"\n')


def damaged(n: int) -> Iterator[Case]:
    choose = random.Random(11)
    text = 'root ::= obj | "x" [a-z]+ {2,3}\nobj ::= "{" ws (pair ("," pair)*)? "}"\npair ::= [^"]* ":" obj\n'
    text += "ws ::= [ \\t\\n]*\n"
    for number in range(n):
        broken = text
        for _ in range(choose.choice((1, 2, 4))):
            at = choose.randint(0, len(broken))
            piece = choose.choice([*'()[]{}|*+?".\\^-\n', "::=", "root", "\\u", "é", "(("])
            broken = broken[:at] + piece + broken[at + choose.choice((0, 1, 3)) :]
        yield case(f"damaged {number}", broken)


def cases() -> Iterator[Case]:
    for name, text in FIXED.items():
        yield case(name, text)
    yield from nested()
    yield from ladders()
    yield from damaged(60)
