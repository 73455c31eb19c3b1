"""Mutates grammars and reads them: nothing but GrammarError and LimitExceeded may come of it.

python -m tests.lark.fuzz -n 100000 --seed 7
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

from cfgmask import GrammarError, LimitExceeded, Limits
from cfgmask.lark import parse_lark
from tests.lark.test_against_lark import CASES as AGAINST_LARK
from tests.lark.test_diagnostics import sections
from tests.lark.test_imports import CASES as IMPORTS
from tests.lark.test_meaning import CASES as MEANING

GRAMMARS = [
    [grammar for _, grammar, _ in sections()],
    [grammar for grammar, *_ in AGAINST_LARK.values()],
    [grammar for grammar, *_ in MEANING.values()],
    [text for files, *_ in IMPORTS.values() for text in files.values()],
]
PIECES = [
    *'"/{}()[]|&~:\n\\%#?*+!., -_Aax1é',
    *("%ignore ", "%import common.", "%import python.stmt\n", "%import .a.b\n", "%declare A\n", "%override "),
    *("%extend ", "%cfgmask {", "%llguidance {", "%json {", "%lark {", "%regex {", "%if ", "->", "::", "..", "<["),
    *("<a>", "//", "/i", "{1,2}", "~3", "~0..2", "{x, y}", 't{"a"}', "t{t{x}}", ".2", ".-1", "*?", "+?", "(?!a)"),
    *("(?<=b)", "\\b", "^", "[lazy]", "start: ", "x: ", "A: ", "\nstart", "_INDENT", "true", "null"),
    '{"declared": {"A": "<a>"}}',
]
# Small, so that what multiplies is soon over.
LIMITS = Limits(max_source_bytes=100_000, max_rules=20_000, max_nesting=50)


def mutated(choose: random.Random) -> str:
    """A grammar with some damage."""
    text = choose.choice(choose.choice(GRAMMARS))
    for _ in range(choose.choice([1, 1, 2, 4])):
        at, size = choose.randint(0, len(text)), choose.choice([0, 0, 1, 1, 2, 5, 20])
        kind = choose.randrange(5)
        if kind < 2:
            text = text[:at] + choose.choice(PIECES) + text[at + size :]
        elif kind == 2:
            text = text[:at] + text[at + size :]
        elif kind == 3:
            text = text[:at] + text[at : at + size] + text[at:]
        else:
            other = choose.choice(choose.choice(GRAMMARS))
            text = text[:at] + choose.choice(["", "\n"]) + other[choose.randint(0, len(other)) :]
    return text


def mutations(n: int, seed: int) -> Iterator[str]:
    choose = random.Random(seed)
    return (mutated(choose) for _ in range(n))


def outcome(text: str) -> str:
    """What becomes of a grammar: "read", "refused" or "limit". Whatever else is raised is a fault."""
    try:
        parse_lark(text, limits=LIMITS)
    except GrammarError:
        return "refused"
    except LimitExceeded:
        return "limit"
    return "read"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = {"read": 0, "refused": 0, "limit": 0}
    for number, text in enumerate(mutations(arguments.n, arguments.seed), start=1):
        try:
            found[outcome(text)] += 1
        except Exception:
            print(f"grammar {number} of seed {arguments.seed}: {text!r}")
            raise
        if number % 1_000 == 0:
            print(number, found, flush=True)


if __name__ == "__main__":
    main()
