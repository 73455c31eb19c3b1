"""Random schemas of keywords that meet, held against `jsonschema`, with keys in both orders.

    python -m tests.json_schema.keyword_pairs --count 20000 --seed 0

Of each schema likely values are judged, and those near them, and the texts of random walks through its masks. What is
wrong is shown as small as it can be made:

- `accepted`, `refused`: a text that the schema does not allow, or does allow (in any order of its keys, where these
  come in the order of the schema);
- `dead end`: the beginning of a text that nothing completes, though the grammar allows it;
- `nothing satisfies it`: the schema is refused so, and the judge says that a text does;
- `crash`: an exception that is no answer.

What is refused as not to be enforced, or at a limit, is counted. `--start K --count 1` looks at one schema again.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import DecimalException
from functools import partial
from typing import Any, NamedTuple

import jsonschema
import numpy as np

import cfgmask
from tests.json_schema import ecma
from tests.json_schema.general import general_rules
from tests.json_schema.judge import MASKBENCH, judge_of, vocabulary
from tests.json_schema.likely_values import likely_value, mutated
from tests.json_schema.paired_keywords import Maker, cuts_of
from tests.json_schema.shrinking import smallest

ORDERS = ("schema", "any")
N_VALUES, N_WALKS, FREE_BYTES, MAX_BYTES = 14, 2, 40, 160
# A text with more orders of keys than these is not tried in all of them.
MOST_ORDERS = 200
# Seconds of CPU for one schema, beyond which it is told of, and given up where Python is at work.
SLOW, SLOWEST = 4.0, 12.0


class Wrong(NamedTuple):
    """What is wrong with a text, which was read in a way: the order of keys, and the reader."""

    what: str
    way: str
    text: str


@dataclass
class Tally:
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[int, Any, Wrong]] = field(default_factory=list)
    slow: list[tuple[int, Any, float]] = field(default_factory=list)


class Grammars:
    """The grammars of a schema, one for each way, or why there are none."""

    def __init__(self, schema: Any) -> None:
        self.compiled: dict[str, cfgmask.CompiledGrammar] = {}
        self.codes: dict[str, set[str]] = {}
        for order in ORDERS:
            try:
                grammar = cfgmask.Grammar.from_json_schema(schema, property_order=order, formats="annotate")
                self.compiled[order] = cfgmask.compile(grammar, vocabulary())
                if grammar.lazy is not None:
                    self.compiled[f"{order}, general"] = cfgmask.compile(general_rules(grammar), vocabulary())
            except cfgmask.GrammarError as error:
                self.codes[order] = {diagnostic.code for diagnostic in error.diagnostics}
            except cfgmask.LimitExceeded as error:
                self.codes[order] = {f"limit {error.limit}"}

    def accepts(self, way: str, text: str) -> bool:
        matcher = self.compiled[way].matcher()
        data = text.encode()
        return matcher.advance_bytes(data) == len(data) and matcher.is_accepting


class Examination:
    """Looks for what is wrong with one schema."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.grammars = Grammars(schema)
        self._is_valid = judge_of(schema)

    def wrong_of(self, text: str) -> Iterator[Wrong]:
        """The fault found with a whole text. Raises an exception if the judge cannot decide."""
        is_valid = self._is_valid(text)
        for way in self.grammars.compiled:
            is_accepted = self.grammars.accepts(way, text)
            if is_accepted and not is_valid:
                yield Wrong("accepted", way, text)
            if not is_valid or is_accepted or not is_plainly_written(text):
                continue
            if not (way.startswith("schema") and self._in_some_order(way, text)):
                yield Wrong("refused", way, text)
        for order, codes in self.grammars.codes.items():
            if is_valid and codes == {"schema-unsatisfiable"}:
                yield Wrong("nothing satisfies it", order, text)

    def _in_some_order(self, way: str, text: str) -> bool:
        """True if a text is accepted with its keys in some order, or if there are too many orders to try."""
        orders = list(itertools.islice(_turned(json.loads(text)), MOST_ORDERS))
        return len(orders) == MOST_ORDERS or any(self.grammars.accepts(way, json.dumps(value)) for value in orders)

    def is_dead(self, way: str, begun: str) -> bool:
        """Whether the grammar allows a beginning that nothing completes."""
        matcher = self.grammars.compiled[way].matcher()
        data = begun.encode("utf-8", "surrogateescape")
        return matcher.advance_bytes(data) == len(data) and matcher.completion() is None

    def walk(self, way: str, rng: random.Random) -> tuple[str, bool]:
        """A text that the masks lead to, and whether it is whole; it is not where nothing goes on. Raises GivenUp."""
        matcher, mask, text = self.grammars.compiled[way].matcher(), np.zeros(9, np.uint32), b""
        free = rng.randrange(FREE_BYTES)
        while len(text) < MAX_BYTES:
            if matcher.is_accepting and (len(text) > free or rng.random() < 0.15):
                return text.decode(), True
            if len(text) > free and rng.random() < 0.2:
                break
            matcher.fill_mask(mask)
            allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")[:256])
            if not len(allowed):
                return text.decode("utf-8", "surrogateescape"), matcher.is_accepting
            liked = [byte for byte in allowed.tolist() if byte in b'"]},:[{ab10.-tfn']
            byte = rng.choice(liked if liked and rng.random() < 0.85 else allowed.tolist())
            matcher.advance(byte)
            text += bytes([byte])
        rest = matcher.completion()
        if rest is None:
            return text.decode("utf-8", "surrogateescape"), False
        return (text + bytes(rest)).decode(), True

    def texts(self, rng: random.Random) -> Iterator[str]:
        """Texts of likely values and of values near these."""
        values = [likely_value(self.schema, rng) for _ in range(N_VALUES)]
        for value in [*values, *(mutated(value, rng) for value in values)]:
            text = json.dumps(value, ensure_ascii=False)
            yield spelled_otherwise(text, rng) if rng.random() < 0.1 else text


def _turned(value: Any) -> Iterator[Any]:
    """The value with the keys of its objects in all orders."""
    if isinstance(value, list):
        yield from map(list, itertools.product(*(list(itertools.islice(_turned(v), MOST_ORDERS)) for v in value)))
    elif isinstance(value, dict):
        held = [list(itertools.islice(_turned(v), MOST_ORDERS)) for v in value.values()]
        for values in itertools.product(*held):
            for pairs in itertools.permutations(zip(value, values, strict=True)):
                yield dict(pairs)
    else:
        yield value


# What the judge cannot do, or will not.
_UNJUDGED = (jsonschema.exceptions.SchemaError, DecimalException, RecursionError, OverflowError, AssertionError)


def examine(schema: Any, rng: random.Random, counts: Counter[str]) -> Iterator[Wrong]:
    """What is wrong with a schema. Raises what the judge cannot do."""
    found = Examination(schema)
    for order, codes in found.grammars.codes.items():
        counts[f"{order}: {' '.join(sorted(codes))}"] += 1
    texts = list(found.texts(rng))
    for way in found.grammars.compiled:
        for _ in range(N_WALKS):
            try:
                text, is_whole = found.walk(way, rng)
            except cfgmask.LimitExceeded as error:
                counts[f"walks: limit {error.limit}"] += 1
                continue
            if not is_whole:
                yield Wrong("dead end", way, text)
            elif is_judged(text):
                texts.append(text)
                if len(text) < 100:
                    texts.append(json.dumps(mutated(json.loads(text), rng)))
    for text in dict.fromkeys(texts):
        counts["texts"] += 1
        wrong = list(found.wrong_of(text))
        counts["valid texts"] += found._is_valid(text)
        yield from wrong


def is_plainly_written(text: str) -> bool:
    """Whether every grammar that allows a value allows it to be written so: no grammar has to take all spellings."""
    return re.search(r"\\u00[2-7]|[0-9][eE]|[0-9]\.0+(?![0-9])", text) is None


def spelled_otherwise(text: str, rng: random.Random) -> str:
    """The text with some letters as escapes."""
    letters = {letter: f"\\u{ord(letter):04x}" for letter in rng.sample("abx1", 2)}
    strings = re.compile(r'"(?:[^"\\]|\\.)*"')
    return strings.sub(lambda found: re.sub(r"\\.|[abx1]", lambda m: letters.get(m[0], m[0]), found[0]), text)


def is_judged(text: str) -> bool:
    """Whether the judge reads a text as it is written: no endless exponents, all numbers are values, no key twice."""
    try:
        value = json.loads(text, object_pairs_hook=_without_repeated_keys)
        return len(json.dumps(value, allow_nan=False)) < 4 * len(text) + 40
    except (ValueError, RecursionError):
        return False


def _without_repeated_keys(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(members)) < len(members):
        raise ValueError("a key comes twice")
    return dict(members)


def still_wrong(schema: Any, wrong: Wrong) -> bool:
    """Whether the same is wrong with the same text of a schema."""
    try:
        found = Examination(schema)
        if wrong.what == "dead end":
            return wrong.way in found.grammars.compiled and found.is_dead(wrong.way, wrong.text)
        return any((each.what, each.way) == (wrong.what, wrong.way) for each in found.wrong_of(wrong.text))
    except Exception as error:
        return wrong.what == f"crash: {type(error).__name__}"


def shrunk(schema: Any, wrong: Wrong) -> tuple[Any, Wrong]:
    """The same fault of as small a schema and text as are found."""
    has_text = wrong.what != "dead end" and not wrong.what.startswith("crash")
    for _ in range(2 if has_text else 1):
        schema = smallest(schema, partial(_is_wrong_still, wrong), 400)
        value = smallest(json.loads(wrong.text), partial(_is_wrong_with, schema, wrong), 200) if has_text else None
        if has_text and _is_wrong_with(schema, wrong, value):
            wrong = wrong._replace(text=json.dumps(value))
    return schema, wrong


def _is_wrong_still(wrong: Wrong, schema: Any) -> bool:
    return still_wrong(schema, wrong)


def _is_wrong_with(schema: Any, wrong: Wrong, value: Any) -> bool:
    return still_wrong(schema, wrong._replace(text=json.dumps(value)))


class _TooSlow(BaseException):
    """A schema takes too long."""


@contextmanager
def _given_up_after(seconds: float) -> Iterator[None]:
    """Raises `_TooSlow` in Python code after so much CPU."""

    def stop(*_: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def look_at(number: int, seed: int, cuts: list[Any], tally: Tally) -> None:
    """Make and examine the schema of a number."""
    rng = random.Random(f"{seed} {number}")
    schema = Maker(rng, cuts).schema()
    tally.counts["schemas"] += 1
    began, found = time.process_time(), []
    try:
        with _given_up_after(SLOWEST):
            found = list(examine(schema, rng, tally.counts))
    except _TooSlow:
        tally.counts["given up as too slow"] += 1
    except _UNJUDGED as error:
        tally.counts[f"unjudged: {type(error).__name__}"] += 1
    except Exception as error:  # whatever it is, it is what is looked for
        found = [Wrong(f"crash: {type(error).__name__}", "", "null")]
    took = time.process_time() - began
    if took > SLOW:
        tally.slow.append((number, schema, took))
    kinds = {(wrong.what, wrong.way): wrong for wrong in reversed(found)}
    for wrong in list(kinds.values())[-2:]:
        tally.wrong.append((number, *shrunk(schema, wrong)))


def real_cuts(n: int = 300) -> list[Any]:
    """Parts of schemas of MaskBench, the same ones each time; none where it does not lie beside the repository."""
    if not MASKBENCH.exists():
        return []
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        chosen = random.Random(0).sample(list(lines), n)
    return [cut for line in chosen for cut in itertools.islice(cuts_of(json.loads(line)["schema"]), 20)]


def run(count: int, seed: int, start: int = 0, progress: Callable[[str], None] | None = None) -> Tally:
    """Look at so many schemas."""
    tally, cuts = Tally(), real_cuts()
    with ecma.ecma_patterns():
        for number in range(start, start + count):
            n_before = len(tally.wrong)
            look_at(number, seed, cuts, tally)
            if progress is not None:
                for told in tally.wrong[n_before:]:
                    progress(line_of(*told))
    return tally


def line_of(number: int, schema: Any, wrong: Wrong) -> str:
    return f"WRONG {number}: {wrong.what} ({wrong.way}) {wrong.text!r} of {json.dumps(schema)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=1_000, help="how many schemas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first")
    arguments = parser.parse_args()
    tally = run(arguments.count, arguments.seed, arguments.start, lambda line: print(line, flush=True))
    for number, schema, took in tally.slow:
        print(f"SLOW {number}: {took:.1f} s of CPU for {json.dumps(schema)}")
    for what, count in sorted(tally.counts.items()):
        print(f"{count:8} {what}")
    print(f"{len(tally.wrong)} wrong")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
