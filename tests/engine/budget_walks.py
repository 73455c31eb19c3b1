"""Random walks with budgets, and what each mask must be: a token is allowed if and only if its way to the end fits.

Run as a command with how many walks and a seed:

    python -m tests.engine.budget_walks 5000 0

Each walk has a random small schema or Lark grammar, a random vocabulary, and a budget from tight to loose. Its masks
are compared with brute force, where every text is as many tokens as it has bytes, and otherwise with what brute force
allows at most (unless there are too many states); and those of a grammar that other texts have used with those of one
compiled for this text alone.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import cfgmask
from tests.engine.harness import mask_of

# What a text may consist of; further bytes lead where these do.
LETTERS = 'abcpqru0126-:,.{}[]()"\\ntefalsxyz \n'
MOST_STATES = 1500


class TooLarge(Exception):
    """More states than brute force looks at."""


@dataclass
class Graph:
    """All states that a text within a budget comes to, and how many tokens each is from a complete text."""

    start: cfgmask.Matcher
    n_vocab: int
    end_tokens: set[int]
    matchers: dict[int, cfgmask.Matcher] = field(default_factory=dict)
    steps: dict[int, dict[int, int]] = field(default_factory=dict)  # by state and token, the state after it
    accepting: set[int] = field(default_factory=set)

    def add(self, matcher: cfgmask.Matcher) -> int:
        state = matcher.state
        if state not in self.matchers:
            if len(self.matchers) >= MOST_STATES:
                raise TooLarge
            self.matchers[state] = matcher
            if matcher.is_accepting:
                self.accepting.add(state)
        return state

    def after(self, state: int) -> dict[int, int]:
        if state not in self.steps:
            matcher, found = self.matchers[state], {}
            for token in mask_of(matcher, self.n_vocab) - self.end_tokens:
                fork = matcher.fork()
                fork.advance(token)
                found[token] = self.add(fork)
            self.steps[state] = found
        return self.steps[state]

    def numbers(self, budget: int) -> dict[int, int]:
        """The fewest tokens to the end of each state that `budget` tokens from the start can come to."""
        level, seen = [self.add(self.start)], set()
        for _ in range(budget + 1):
            seen.update(level)
            level = list({to for at in level for to in self.after(at).values()} - seen)
        before: dict[int, set[int]] = {}
        for at in seen:
            for to in self.after(at).values():
                before.setdefault(to, set()).add(at)
        found, level, n = {}, [at for at in seen if at in self.accepting], 0
        while level:
            for at in level:
                found[at] = n
            level = list({at for to in level for at in before.get(to, ())} - found.keys())
            n += 1
        return found


def random_scalar(rng: random.Random) -> dict[str, Any]:
    return rng.choice(
        [
            {"type": "null"},
            {"type": "boolean"},
            {"const": rng.choice(["a", "b", "", 1, 0, None, True])},
            {"enum": rng.sample(["a", "ab", "b", 1, 10, None, False, "a\\u0062"], rng.randint(1, 3))},
            {"type": "string", "pattern": rng.choice(["^[ab]{2}$", "^a+$", "^(ab|b)$", "^[01]{3,5}$", "^a{0,2}$"])},
            {"type": "string", "maxLength": rng.randint(0, 2)},
            {"type": "integer", "minimum": 0, "maximum": rng.choice([1, 12, 100])},
        ]
    )


def random_schema(rng: random.Random, depth: int = 2) -> dict[str, Any]:
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        return random_scalar(rng)
    if kind < 0.35:
        return random_array(rng, depth)
    names = rng.sample(["a", "b", "p", "r", "ab", "pq", "q"], rng.randint(1, 4))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: random_schema(rng, depth - 1) if rng.random() < 0.3 else random_scalar(rng) for name in names
        },
        "required": rng.sample(names, rng.randint(0, len(names))),
    }
    others = rng.random()
    if others < 0.6:
        schema["additionalProperties"] = False
    elif others < 0.8:
        schema["additionalProperties"] = random_scalar(rng)
    if rng.random() < 0.3:
        schema["minProperties"] = rng.randint(0, len(names))
    if rng.random() < 0.3:
        schema["maxProperties"] = rng.randint(len(schema["required"]) or 1, len(names) + 1)
    if rng.random() < 0.15:
        schema["patternProperties"] = {rng.choice(["^p", "^[ab]*$", "q"]): random_scalar(rng)}
    if rng.random() < 0.15:
        schema["dependentRequired"] = {rng.choice(names): [rng.choice(names)]}
    return schema


def random_array(rng: random.Random, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "array",
        "items": random_schema(rng, depth - 1) if rng.random() < 0.3 else random_scalar(rng),
    }
    if rng.random() < 0.3:
        schema["prefixItems"] = [random_scalar(rng) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.5:
        schema["minItems"] = rng.randint(0, 2)
    if rng.random() < 0.5:
        schema["maxItems"] = rng.randint(2, 3)
    if rng.random() < 0.5:
        schema["uniqueItems"] = True
    if rng.random() < 0.2:
        schema["contains"] = random_scalar(rng)
    return schema


def random_lark(rng: random.Random) -> str:
    """A few rules over a few letters, with loops, options, counts and ignored blanks."""
    rules = ["start", "x", "y"]

    def expression(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.35:
            if rng.random() < 0.4:
                return rng.choice(["x", "y"])
            return rng.choice(
                ['"a"', '"ab"', '"ba"', "/a+/", "/[ab]{2}/", "/a|ab/", "/0[01]*/", '"("', '")"', "/(ab)*c/"]
            )
        if kind < 0.6:
            return " ".join(expression(depth - 1) for _ in range(rng.randint(2, 3)))
        if kind < 0.8:
            return "(" + " | ".join(expression(depth - 1) for _ in range(2)) + ")"
        return "(" + expression(depth - 1) + ")" + rng.choice(["?", "*", "+", "~2", "~1..3"])

    lines = [f"{name}: {expression(3)}" for name in rules]
    if rng.random() < 0.3:
        lines.append("%ignore / +/")
    return "\n".join(lines) + "\n"


@dataclass
class Subject:
    """A grammar, said in a way that it can be made again, and a vocabulary."""

    source: Any
    options: dict[str, Any]
    tokens: list[bytes]
    byte_tokens: bool

    def compiled(self) -> cfgmask.CompiledGrammar:
        if isinstance(self.source, str):
            grammar = cfgmask.Grammar.from_lark(self.source)
        else:
            grammar = cfgmask.Grammar.from_json_schema(self.source, **self.options)
        return cfgmask.compile(grammar, cfgmask.Vocabulary.from_bytes(self.tokens, len(self.tokens) - 1))


def random_subject(rng: random.Random) -> Subject:
    if rng.random() < 0.2:
        source: Any = random_lark(rng)
        options: dict[str, Any] = {}
    else:
        source = random_schema(rng)
        options = {
            "property_order": rng.choice(["schema", "any", "any"]),
            "whitespace": rng.choice(["compact", "compact", "compact", "bounded"]),
        }
    kind = rng.random()
    if kind < 0.4:
        tokens = [bytes([byte]) for byte in range(256)]
    elif kind < 0.7:
        tokens = [character.encode() for character in LETTERS if character.isascii()]
    else:
        tokens = [bytes([byte]) for byte in range(256)]
    byte_tokens = kind < 0.7
    if not byte_tokens:
        pieces = [
            '":',
            ',"',
            '{"',
            '"}',
            "null",
            "true",
            '":"',
            '","',
            "ab",
            "aa",
            "[1",
            "},",
            '"a',
            'a"',
            "01",
            "[[",
            "]}",
        ]
        tokens += [piece.encode() for piece in rng.sample(pieces, rng.randint(2, 9))]
    return Subject(source, options, [*tokens, b""], byte_tokens)


@dataclass
class Fault:
    what: str
    subject: Subject
    budget: int
    text: bytes
    tokens: list[bytes]

    def __str__(self) -> str:
        subject = self.subject
        return (
            f"{self.what}: {self.subject.source!r} {subject.options} {len(subject.tokens)} tokens"
            f"{'' if subject.byte_tokens else ' ' + repr(subject.tokens[256:])}"
            f" max_tokens={self.budget} after {self.text!r}: {self.tokens}"
        )


def numbers_within(graph: Graph, budget: int) -> dict[int, int] | None:
    """What `Graph.numbers` gives; None where that is too much for brute force."""
    try:
        return graph.numbers(budget)
    except TooLarge:
        return None


def right_tokens(graph: Graph, numbers: dict[int, int], state: int, left: int) -> set[int]:
    """What a mask must allow, end tokens included."""
    ends = graph.end_tokens if state in graph.accepting else set()
    return ends | {token for token, to in graph.after(state).items() if numbers.get(to, left) < left}


def wrong_tokens(subject: Subject, mask: set[int], right: set[int]) -> set[int]:
    """Where every text is as many tokens as bytes all that fits is found; else a longer text may take fewer tokens."""
    return mask ^ right if subject.byte_tokens else mask - right


def walk(
    subject: Subject, used: cfgmask.CompiledGrammar, graph: Graph, rng: random.Random, counts: Counter[str]
) -> Fault | None:
    """The first fault of one walk."""
    end = len(subject.tokens) - 1
    way = used.matcher().completion()
    if way is None:
        # In a Lark grammar the longest match may leave no end.
        return None if isinstance(subject.source, str) else Fault("no completion", subject, 0, b"", [])
    budget = len(way) + rng.choice([0, 0, 1, 1, 2, 3, 4, 6, 9])
    numbers = numbers_within(graph, budget)
    state = graph.add(graph.start)
    if numbers is None:
        counts["walks without brute force"] += 1
    elif subject.byte_tokens and numbers[state] != len(way):
        return Fault(f"completion of {len(way)} tokens, not {numbers[state]}", subject, budget, b"", [])
    counts["walks"] += 1
    matcher, fresh = used.matcher(max_tokens=budget), subject.compiled().matcher(max_tokens=budget)
    path: list[int] = []

    def fault(what: str, tokens: set[int]) -> Fault:
        text = b"".join(subject.tokens[token] for token in path)
        return Fault(what, subject, budget, text, [subject.tokens[token] for token in sorted(tokens)])

    while True:
        alone = subject.compiled().matcher(max_tokens=budget)
        if alone.try_advance(path) < len(path):
            return fault("alone does not take this text, which used does", set())
        mask = mask_of(matcher, end + 1)
        counts["masks"] += 1
        for name, other in (("fresh", mask_of(fresh, end + 1)), ("alone", mask_of(alone, end + 1))):
            if other != mask:
                return fault(f"{name} differs from used", other ^ mask)
        if numbers is not None:
            right = right_tokens(graph, numbers, state, budget - len(path))
            if wrong := wrong_tokens(subject, mask, right):
                return fault("allows" if wrong & mask else "refuses", wrong)
            counts["masks that refuse"] += len(graph.after(state)) > len(right - graph.end_tokens)
        going_on = sorted(mask - {end})
        if not going_on and not matcher.is_accepting:
            return fault("is stuck", set())
        if not going_on or (matcher.is_accepting and rng.random() < 0.1):
            return None
        for token in rng.sample(going_on, min(2, len(going_on))):
            if matcher.try_advance([token], consume=False) != 1:
                return fault("does not take what its mask allows", {token})
        token = rng.choice(going_on)
        matcher.advance(token)
        fresh.advance(token)
        path.append(token)
        if numbers is not None:
            state = graph.after(state)[token]


def run(n_walks: int, seed: int, *, most_seconds: float | None = None) -> tuple[list[Fault], Counter[str]]:
    """Walks until there are so many; a grammar serves several, so that later ones find it used."""
    faults: list[Fault] = []
    counts: Counter[str] = Counter()
    start, at = time.monotonic(), 0
    while (
        counts["walks"] < n_walks and at < n_walks and (most_seconds is None or time.monotonic() - start < most_seconds)
    ):
        rng = random.Random(f"{seed} {at}")
        at += 1
        subject = random_subject(rng)
        try:
            used = subject.compiled()
        except cfgmask.GrammarError:
            counts["no grammar"] += 1
            continue
        end = len(subject.tokens) - 1
        graph = Graph(subject.compiled().matcher(), end + 1, {end})
        try:
            for _ in range(6):
                fault = walk(subject, used, graph, rng, counts)
                if fault is not None:
                    faults.append(fault)
                    break
        except cfgmask.LimitExceeded as error:
            # No search can tell whether the longest match leaves an end.
            if isinstance(subject.source, str):
                counts["undecided"] += 1
            else:
                faults.append(Fault(str(error), subject, 0, b"", []))
        counts["grammars"] += 1
    return faults, counts


if __name__ == "__main__":
    found, counted = run(int(sys.argv[1]), int(sys.argv[2]))
    for fault in found:
        print(fault)
    print(dict(counted), len(found), "faults")
    sys.exit(bool(found))
