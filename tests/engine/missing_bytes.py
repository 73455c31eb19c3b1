"""Random vocabularies that lack bytes, and random grammars: nothing may be begun that these bytes cannot complete.

Run as a command with how many grammars and a seed:

    python -m tests.engine.missing_bytes 2000 0

Every byte that is there is a token. The judge is the same grammar compiled for all bytes: a token of the small
vocabulary is right exactly if it leads to a complete text there, by bytes of the small vocabulary alone. If no text can
be completed, compiling must be the error that says so.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import cfgmask
from tests.engine.budget_walks import random_schema
from tests.engine.harness import mask_of

MOST_STATES = 1200
END = 256
_ALL = cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], END)
# What the texts of the grammars below consist of, mostly.
_COMMON = sorted(b'abcpqru0126-:,.{}[]()"\\ntefalsxyz \n19')
_PATTERNS = ["(?:0x1f|0x2)a*", "[ab]+\\.c|[0-9]{2}", "\\w{1,2}é|a[^b]", "(?:ab|cd|\\U0001F600)+", "[^a-c]{1,2}"]
_EXPRESSIONS = ['"ab"', '"c"', '"0x1f"', "/[ab]+/", "/a?b|é/", "/[^x]z/", '"("', '")"', "/0|[1-9][0-9]*/", "JSON"]
# Styles that write arguments in a form that is not JSON: raw strings, nested tags, delimiters, Python.
_OTHER_FORMS = ["qwen_3_coder", "glm_4_5", "minimax_m3", "gemma_4", "pythonic", "seed_oss"]
_BLOCKS = [
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False},
    {"type": "array", "items": {"enum": ["a", "b", 1, None]}, "uniqueItems": True, "minItems": 2},
    {"enum": [1, 10, "é", True]},
]


class TooLarge(Exception):
    """More states than brute force looks at."""


@dataclass
class Subject:
    """A grammar, and the bytes that are there."""

    kind: str
    source: Any
    options: dict[str, Any]
    held: list[int]

    def grammar(self) -> cfgmask.Grammar:
        if self.kind == "schema":
            return cfgmask.Grammar.from_json_schema(self.source, **self.options)
        if self.kind == "tag":
            return cfgmask.Grammar.from_structural_tag(self.source, **self.options)
        if self.kind == "tools":
            return cfgmask.Grammar.from_tools(self.source, **self.options)
        if self.kind == "lark":
            return cfgmask.Grammar.from_lark(self.source)
        return cfgmask.Grammar.from_regex(self.source)

    def vocabulary(self) -> cfgmask.Vocabulary:
        return cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in self.held), b""], len(self.held))


def random_subject(rng: random.Random) -> Subject:
    """Most bytes that the grammars use are there, and some of them not."""
    kind = rng.choice(["schema", "schema", "schema", "lark", "regex", "tag", "tools"])
    held = {byte for byte in _COMMON if rng.random() < rng.choice([0.8, 0.95, 1])}
    if rng.random() < 0.3:
        held.update(range(0x20, 0x7F))
        held.discard(rng.choice(_COMMON))
    if rng.random() < 0.2:
        held.update(rng.choice([range(0x80, 0x100), b"\xc3\xa9", b"\xc3"]))
    if kind in ("tag", "tools"):
        # Markers have many letters. Without a backslash strings have no other way to be written.
        held.update(range(0x20, 0x7F))
        held.difference_update(rng.sample(b"abp0126,\\", rng.randint(1, 3)))
    options: dict[str, Any] = {}
    if kind == "schema":
        source: Any = random_schema(rng)
        options = {"whitespace": rng.choice(["compact", "compact", "natural"])}
        if rng.random() < 0.25:
            options["property_order"] = "any"
        elif rng.random() < 0.15:
            options = {"indent": 1}
        elif rng.random() < 0.15:
            options["escapes"] = "canonical"
        elif rng.random() < 0.2:
            source = {**source, "x-guidance": {"json_allowed_escapes": rng.choice(["", "u", "n", '\\"', '"bfnrtu'])}}
    elif kind == "tag":
        source = {"type": "structural_tag", "format": _random_format(rng, 2)}
        options = {"whitespace": rng.choice(["compact", "natural"])}
    elif kind == "tools":
        source = [_random_tool(rng, name) for name in ("a", "b")[: rng.randint(1, 2)]]
        options = {
            "style": rng.choice(["hermes", "mistral", "llama", *_OTHER_FORMS, *_OTHER_FORMS]),
            "tool_choice": "required",
            "parallel_tool_calls": False,
            "reasoning": "disabled",
            "whitespace": "compact",
        }
    elif kind == "lark":
        source = _random_lark(rng)
    else:
        source = rng.choice(_PATTERNS)
    return Subject(kind, source, options, sorted(held))


def _random_format(rng: random.Random, depth: int) -> dict[str, Any]:
    """Content of a structural tag without free text."""
    kind = rng.random() if depth else 1.0
    if kind < 0.3:
        return {"type": "sequence", "elements": [_random_format(rng, depth - 1) for _ in range(2)]}
    if kind < 0.6:
        return {"type": "or", "elements": [_random_format(rng, depth - 1) for _ in range(2)]}
    if kind < 0.8:
        begin, end = rng.sample(["<a>", "a(", ")", "</a>", "b:"], 2)
        return {"type": "tag", "begin": begin, "content": _random_format(rng, depth - 1), "end": end}
    if kind < 0.85:
        return {"type": "const_string", "value": rng.choice(["a", "b1", "{x"])}
    return {"type": "json_schema", "json_schema": _random_value(rng)}


def _random_value(rng: random.Random) -> dict[str, Any]:
    """Often an array that may have too few values left, beside others."""
    if rng.random() < 0.4:
        return random_schema(rng, 1)
    values = rng.sample(["a", "b", 0, 1, 2, None, "p1"], 4)
    array = {"type": "array", "items": {"enum": values}, "uniqueItems": True, "minItems": rng.choice([2, 3, 4])}
    return {"anyOf": [array, random_schema(rng, 0)]}


def _random_tool(rng: random.Random, name: str) -> dict[str, Any]:
    names = rng.sample(["x", "y", "z"], rng.randint(1, 2))
    parameters = {
        "type": "object",
        "properties": {each: _random_value(rng) for each in names},
        "required": rng.sample(names, rng.randint(0, len(names))),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _random_lark(rng: random.Random) -> str:
    """Every segmentation counts: with the longest match a grammar without some texts is read otherwise."""

    def body(depth: int) -> str:
        if depth == 0 or rng.random() < 0.3:
            return rng.choice([*_EXPRESSIONS, "x"])
        parts = [body(depth - 1) for _ in range(rng.randint(2, 3))]
        return f"({rng.choice([' ', ' | ']).join(parts)}){rng.choice(['', '', '?', '+', '~1..2'])}"

    lines = ['%cfgmask {"lexer": "complete"}', f"start: {body(3)}", f'x: {body(2)} | "c"', "JSON: /null|true/"]
    source = "\n".join(lines)
    if rng.random() < 0.5:
        block = repr(rng.choice(_BLOCKS)).replace("'", '"').replace("True", "true").replace("False", "false")
        source = source.replace("JSON: /null|true/", "") + f"json: %json {block.replace('None', 'null')}\n"
        source = source.replace("JSON", "json")
    return source


class Judge:
    """The states that the held bytes lead to, and which of these they complete."""

    def __init__(self, grammar: cfgmask.Grammar, held: list[int]) -> None:
        start = cfgmask.compile(grammar, _ALL).matcher()
        self.start = start.state
        self.steps: dict[int, dict[int, int]] = {}
        self.accepting: set[int] = set()
        waiting = [start]
        known = {start.state}
        while waiting:
            at = waiting.pop()
            found = {}
            if at.is_accepting:
                self.accepting.add(at.state)
            for byte in mask_of(at, END + 1).intersection(held):
                fork = at.fork()
                fork.advance(byte)
                found[byte] = fork.state
                if fork.state not in known:
                    known.add(fork.state)
                    waiting.append(fork)
            self.steps[at.state] = found
            if len(known) > MOST_STATES:
                raise TooLarge
        self.completed = set(self.accepting)
        before: dict[int, list[int]] = {}
        for state, steps in self.steps.items():
            for after in steps.values():
                before.setdefault(after, []).append(state)
        todo = list(self.completed)
        while todo:
            for state in before.get(todo.pop(), ()):
                if state not in self.completed:
                    self.completed.add(state)
                    todo.append(state)

    def right(self, state: int) -> set[int]:
        return {byte for byte, after in self.steps[state].items() if after in self.completed}


def fault_of(subject: Subject, counts: Counter[str]) -> str | None:
    """The first mask that is wrong."""
    try:
        grammar = subject.grammar()
        judge = Judge(grammar, subject.held)
    except (cfgmask.GrammarError, TooLarge) as error:
        counts[f"no judge: {type(error).__name__}"] += 1
        return None
    try:
        compiled = cfgmask.compile(grammar, subject.vocabulary())
    except cfgmask.GrammarError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics}
        counts[f"refused: {min(codes)}"] += 1
        if codes <= {"schema-form-bytes", "schema-form-unique"} and "style" in subject.options:
            return None
        if codes != {"grammar-bytes-missing"}:
            return f"refused: {error}"
        return "refused, though something can be written" if judge.start in judge.completed else None
    if judge.start not in judge.completed:
        return "compiled, though nothing can be written"
    end = len(subject.held)
    pairs = [(compiled.matcher(), judge.start, b"")]
    known = {(pairs[0][0].state, judge.start)}
    while pairs and len(known) < MOST_STATES:
        matcher, state, text = pairs.pop()
        found = {subject.held[token] for token in mask_of(matcher, end + 1) - {end}}
        right = judge.right(state)
        counts["masks"] += 1
        if found != right:
            wrong = bytes(sorted(found - right)), bytes(sorted(right - found))
            return f"after {text!r}: allows {wrong[0]!r}, refuses {wrong[1]!r}"
        if matcher.is_accepting != (state in judge.accepting):
            return f"after {text!r}: is_accepting is {matcher.is_accepting}"
        for token, byte in enumerate(subject.held):
            if byte not in found:
                continue
            fork, after = matcher.fork(), judge.steps[state][byte]
            fork.advance(token)
            if (fork.state, after) not in known:
                known.add((fork.state, after))
                pairs.append((fork, after, text + bytes([byte])))
    counts["compared"] += 1
    return None


def run(count: int, seed: int) -> tuple[list[tuple[Subject, str]], Counter[str]]:
    """The faults of so many grammars."""
    faults, counts = [], Counter[str]()
    for number in range(count):
        subject = random_subject(random.Random(f"{seed} {number}"))
        try:
            fault = fault_of(subject, counts)
        except Exception as error:  # whatever it is, it is a fault
            fault = f"{type(error).__name__}: {error}"
        if fault is not None:
            faults.append((subject, fault))
    return faults, counts


if __name__ == "__main__":
    found, counted = run(int(sys.argv[1]), int(sys.argv[2]))
    for subject, fault in found:
        held = bytes(subject.held)
        print(f"{fault}: {subject.source!r} {subject.options} with {held!r}")
    print(dict(counted), len(found), "faults")
    sys.exit(bool(found))
