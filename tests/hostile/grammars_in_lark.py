"""Lark text that may do harm: ladders, damage, nesting."""

from __future__ import annotations

from collections.abc import Iterator

from cfgmask import Grammar
from tests.hostile.runner import Case
from tests.hostile.use import use
from tests.lark import fuzz

ANY = frozenset({"accepted", "GrammarError", "LimitExceeded"})


def case(name: str, text: str, *expected: str) -> Case:
    return Case(
        f"lark/{name}",
        lambda: use(lambda: Grammar.from_lark(text), dead_ends=True),
        frozenset(expected) or ANY,
    )


def ladder(top: str, step: str, end: str, n: int) -> str:
    """`top`, then n definitions by the next one, and the last."""
    return top + "".join(step.format(i=i, j=i + 1) + "\n" for i in range(n)) + end.format(i=n) + "\n"


# Of every operator: each definition has the next one twice. Terminals, then the same in rules.
TWICE = {
    "optional first": "{j}? {j}",
    "optional last": "{j} {j}?",
    "pair or one": "{j} {j} | {j}",
    "star or one": "{j}* {j} | {j}",
    "counted or pair": "{j}{{1,3}} | {j} {j}",
    "plus": "{j}+ {j}+",
    "stars": "{j}* {j}*",
    "two ends": '{j} "a" | {j} "b"',
    "two beginnings": '"a" {j} | "b" {j}',
    "in brackets": '"(" {j} ")" | "[" {j} "]"',
    "counts": "{j}{{2,2}}",
    "large counts": "{j}{{1,50}}",
}
ONLY_TERMINALS = {
    "complement": "~({j} {j})",
    "complement of one": '~({j} | "x")',
    "intersection": "({j} {j}) & /.{{0,9}}/",
    "complement and": "~({j} {j}) & /[a-z]{{0,9}}/",
    "both": "{j} & ({j} | /x+/)",
}
DEPTHS = (2, 6, 12, 20, 40, 100)


def ladders() -> Iterator[Case]:
    for name, body in (TWICE | ONLY_TERMINALS).items():
        for n in DEPTHS:
            text = ladder("start: T0\n", "T{i}: " + body.replace("{j}", "T{j}"), 'T{i}: "c" | "d"', n)
            yield case(f"terminals, {name}, {n} deep", text)
    for name, body in TWICE.items():
        for n in DEPTHS:
            text = ladder("start: r0\n", "r{i}: " + body.replace("{j}", "r{j}"), 'r{i}: "c" | "d"', n)
            yield case(f"rules, {name}, {n} deep", text)
    for n in DEPTHS:
        yield case(
            f"templates, {n} deep",
            ladder('start: t0{{"a"}}\n'.format(), "t{i}{{x}}: t{j}{{x}} | x x", "t{i}{{x}}: x", n),
        )


NESTED = {
    "parentheses": ("(", '"a"', ")"),
    "parentheses with stars": ("(", '"a"', ")*"),
    "brackets": ("[", '"a"', "]"),
    "choices": ('("b" | ', '"a"', ")"),
    "sequences": ('("b" ', '"a"', ' "c")'),
    "counts": ("(", '"a"', "){1,9}"),
    "few counts": ("(", '"a"', "){1,2}"),
    "blocks": ("%lark { start: ", '"a"', " }"),
    "patterns": ("/", "a", "/"),
    "groups": ("/(", "a", ")/"),
}


def nested() -> Iterator[Case]:
    for name, (begin, core, end) in NESTED.items():
        for n in (1, 10, 50, 100, 199, 200, 201, 1000, 20_000):
            if name in ("patterns", "groups"):
                text = (
                    "start: /" + "(?:" * n + core + ")" * n + "/"
                    if name == "groups"
                    else f"start: /{'(' * n}a{')*' * n}/"
                )
            else:
                text = "start: " + begin * n + core + end * n
            yield case(f"nested {name}, {n}", text)


FIXED: dict[str, tuple[str, tuple[str, ...]]] = {
    "empty": ("", ("GrammarError lark-empty",)),
    "a NUL": ("start: \x00", ("GrammarError lark-not-text",)),
    "half a surrogate pair": ('start: "\ud800"', ("GrammarError lark-not-text",)),
    "a rule of itself": ("start: start", ("GrammarError",)),
    "left recursion alone": ('start: start "a"', ("GrammarError lark-endless-rule",)),
    "mutual": ("start: a\na: b\nb: a", ("GrammarError",)),
    "hidden left recursion": ('start: [start] start "a" | "b"', ("accepted",)),
    "ambiguous": ('start: start start | "a" |', ("accepted",)),
    "cyclic and nullable": ("start: start | a*\na: b*\nb: start*", ("GrammarError", "accepted")),
    "a count of many digits": ('start: "a"{' + "9" * 10_000 + "}", ("GrammarError lark-bad-count",)),
    "the largest count": ('start: "a"{0,2147483647}', ("accepted",)),
    "beyond the largest count": ('start: "a"{0,2147483648}', ("GrammarError",)),
    "counts of counts": ('start: ((("a"{1,9999}){1,9999}){1,9999}){1,9999}', ("accepted", "LimitExceeded")),
    "all tokens": ("start: " + '"a" ' * 1_000_000, ("LimitExceeded max_source_bytes",)),
    "quotes": ('"' * 3_000_000, ("LimitExceeded max_source_bytes", "GrammarError")),
    "unknown names": ("start: " + " ".join(f"x{i}" for i in range(5_000)), ("GrammarError lark-too-many-errors",)),
    "ignored everything": ("start: A\nA: /a/\n%ignore /(.|\\n)*/", ANY and tuple(ANY)),
    "ignored nothing": ('start: "a"\n%ignore ""', tuple(ANY)),
    "a terminal of any text": ("start: /(.|\\n)*/ /(.|\\n)*/ /(.|\\n)*/", ("accepted",)),
    "long alternatives": (
        "start: "
        + " | ".join(f'"{i:x}" x{i % 7}' for i in range(3_000))
        + "".join(f'\nx{i}: "y{i}"' for i in range(7)),
        ("accepted",),
    ),
    "long literals": (f'start: "{"ab" * 200_000}" | "{"ab" * 200_000}c"', ("accepted",)),
    "one long chain": ("start: r0\n" + "".join(f'r{i}: r{i + 1} "a" |\n' for i in range(2_000)) + "r2000:", tuple(ANY)),
    "a terminal chain": (
        "start: R0\n" + "".join(f"R{i}: R{i + 1}\n" for i in range(3_000)) + 'R3000: "a"',
        ("accepted",),
    ),
    "assertions": (r"start: /(?=(a|b)*c)(?=(b|c)*a)(?<=x*)[abc]+\b\B\b/", tuple(ANY)),
    "priorities": ("start: A | B\nA.99999999999999999999: /a/\nB.-99999999999999999999: /a/", tuple(ANY)),
    "imports of all": ("%import common (" + ", ".join(["INT"] * 5_000) + ")\nstart: INT", tuple(ANY)),
    "an unknown module": ("%import nowhere.X\nstart: X", ("GrammarError",)),
    "a file above": ("%import ....etc.passwd\nstart: passwd", ("GrammarError",)),
    "a schema in a block": ('start: %json {"items":' + '{"items":' * 150 + "true" + "}" * 151, tuple(ANY)),
    "a schema too deep": ("start: %json " + '{"not":' * 10_000 + "{}" + "}" * 10_000, ("LimitExceeded max_nesting",)),
    "many schemas": ("start: " + " | ".join(f'%json {{"const": {i}}}' for i in range(500)), tuple(ANY)),
    "many captures": (
        "start: " + " ".join(f"x{i}" for i in range(500)) + "".join(f'\nx{i}[capture]: "a"?' for i in range(500)),
        tuple(ANY),
    ),
    "conditions": ('start: a::[0:64]\na: "x" a::incr([0:64]) | "y"', tuple(ANY)),
    "lazy": (
        "start: " + "".join(f"a{i} " for i in range(50)) + "".join(f"\na{i}[lazy]: /.*x/" for i in range(50)),
        tuple(ANY),
    ),
    "temperatures": ('start[temperature=1e999]: "a"', tuple(ANY)),
    "tokens of rules": ('start[max_tokens=99999999999999999999]: "a"+', tuple(ANY)),
    "special tokens": ("start: " + " ".join(f"<[{i}]>" for i in range(2_000)), tuple(ANY)),
    "a range of special tokens": ("start: <[0-99999999999999999999]>", tuple(ANY)),
    "substrings": ('start: %regex {"substring_chars": "' + "abcab" * 4_000 + '"}', tuple(ANY)),
    "substring words": ('start: %regex {"substring_words": "' + "ab cab " * 4_000 + '"}', tuple(ANY)),
}


def damaged(n: int) -> Iterator[Case]:
    for number, text in enumerate(fuzz.mutations(n, seed=42)):
        yield case(f"damaged {number}", text)


def cases() -> Iterator[Case]:
    for name, (text, expected) in FIXED.items():
        yield case(name, text, *expected)
    yield from nested()
    yield from ladders()
    yield from damaged(120)
