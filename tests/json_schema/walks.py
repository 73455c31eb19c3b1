"""Random walks through the masks of schemas over a real vocabulary; the validator judges every finished text.

    python -m tests.json_schema.walks -n 10000

The schemas are random ones, and those of MaskBench where it lies beside the repository; each is walked with its keys in
both orders. The vocabulary is that of the model that ships inside, or one of the reference data by its name.
"""

from __future__ import annotations

import argparse
import decimal
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

import cfgmask
import cfgmask.demo
from tests.json_schema.ecma import ecma_patterns
from tests.json_schema.judge import is_valid
from tests.json_schema.random_schemas import SCHEMAS
from tests.tokenizers.real import FOLDER

MASKBENCH = Path(__file__).resolve().parents[3] / "shared" / "data" / "maskbench-dev.jsonl.gz"
ORDERS = ("schema", "any")
TEXTS_OF_A_GRAMMAR = 4
# A walk is free for at most so many tokens, then goes where texts end; one that is not done by then is given up.
FREE_TOKENS, MAX_TOKENS = 24, 200


@dataclass(frozen=True)
class Failure:
    """What is wrong with a text, or with how it ended."""

    what: str
    schema: Any
    order: str
    text: bytes


@dataclass
class Tally:
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    @property
    def judged(self) -> int:
        return self.counts["valid"] + len(self.failures)


class Walker:
    """Chooses tokens at random, with a liking for those that make or end structure."""

    def __init__(self, vocabulary: cfgmask.Vocabulary, rng: random.Random) -> None:
        tokens = vocabulary.tokens
        self._vocabulary = vocabulary
        self._rng = rng
        self._mask = np.zeros((len(tokens) + 31) // 32, dtype=np.uint32)
        self._structure = np.array([t.strip() in _STRUCTURE for t in tokens])
        self._closing = np.array([t.strip()[:1] in _CLOSING and len(t) < 4 for t in tokens])

    def walk(self, matcher: cfgmask.Matcher) -> tuple[bytes, bool]:
        """A text, and whether it is finished. Raises `DeadEnd` where no token is allowed."""
        text, free = b"", self._rng.randrange(FREE_TOKENS)
        for step in range(MAX_TOKENS):
            if matcher.is_accepting and (step > free or self._rng.random() < 0.2):
                return text, True
            matcher.fill_mask(self._mask)
            allowed = np.unpackbits(self._mask.view(np.uint8), bitorder="little")[: len(self._structure)].astype(bool)
            allowed[list(self._vocabulary.eos_token_ids)] = False
            if not allowed.any():
                if not matcher.is_accepting:
                    raise DeadEnd(text)
                return text, True
            token = self._choose(allowed, step > free)
            matcher.advance(token)
            text += self._vocabulary.tokens[token]
        return text, False

    def _choose(self, allowed: np.ndarray, at_end: bool) -> int:
        liked = allowed & (self._closing if at_end else self._structure)
        among = liked if liked.any() and (at_end or self._rng.random() < 0.5) else allowed
        return int(self._rng.choice(np.flatnonzero(among)))


_STRUCTURE = {bytes([byte]) for byte in b'{}[],:"-019.abxtfn\\'} | {
    b'":',
    b'",',
    b'","',
    b'"}',
    b'"]',
    b"},",
    b'{"',
    b'["',
}
_CLOSING = (b'"', b"]", b"}")


class DeadEnd(Exception):
    """A text that neither goes on nor may stop."""


def verdict(schema: Any, text: bytes) -> str | None:
    """What is wrong with a finished text; None where it is valid. Raises `Unjudged`."""
    try:
        if _repeats_a_key(text.decode()):
            return "repeats a key"
        with ecma_patterns():
            return None if is_valid(schema, text.decode()) else "invalid"
    except (jsonschema.exceptions.SchemaError, decimal.DecimalException, RecursionError, OverflowError) as error:
        raise Unjudged(type(error).__name__) from error
    except ValueError as error:
        return f"unreadable: {error}"


class Unjudged(Exception):
    """The validator cannot say: a schema that its metaschema refuses, a number beyond its reach."""


def _repeats_a_key(text: str) -> bool:
    repeated = False

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        repeated |= len(dict(pairs)) < len(pairs)
        return dict(pairs)

    json.loads(text, object_pairs_hook=note, parse_float=decimal.Decimal)
    return repeated


def walk_schema(schema: Any, walker: Walker, vocabulary: cfgmask.Vocabulary, tally: Tally) -> None:
    """Walk one schema in both orders of keys."""
    tally.counts["schemas"] += 1
    for order in ORDERS:
        try:
            grammar = cfgmask.Grammar.from_json_schema(schema, property_order=order, formats="annotate")
            compiled = cfgmask.compile(grammar, vocabulary)
        except (cfgmask.GrammarError, cfgmask.LimitExceeded):
            tally.counts["refused grammars"] += 1
            continue
        for _ in range(TEXTS_OF_A_GRAMMAR):
            _walk_once(schema, order, compiled, walker, tally)


def _walk_once(schema: Any, order: str, compiled: cfgmask.CompiledGrammar, walker: Walker, tally: Tally) -> None:
    try:
        text, is_finished = walker.walk(compiled.matcher())
        wrong = verdict(schema, text) if is_finished else None
    except DeadEnd as error:
        tally.failures.append(Failure("dead end", schema, order, error.args[0]))
        return
    except cfgmask.LimitExceeded:
        tally.counts["stopped at a limit"] += 1
        return
    except Unjudged as error:
        tally.counts[f"unjudged: {error}"] += 1
        return
    if not is_finished:
        tally.counts["given up"] += 1
    elif wrong is None:
        tally.counts["valid"] += 1
    else:
        tally.failures.append(Failure(wrong, schema, order, text))


def random_schemas(count: int, number: int) -> Iterator[Any]:
    """So many random schemas, the same ones for the same number."""
    found: list[Any] = []

    @seed(number)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(SCHEMAS)
    def collect(schema: Any) -> None:
        found.append(schema)

    collect()
    yield from found


def maskbench_schemas(rng: random.Random) -> Iterator[Any]:
    """The schemas of MaskBench in random order."""
    lines = gzip.decompress(MASKBENCH.read_bytes()).splitlines()
    rng.shuffle(lines)
    for line in lines:
        yield json.loads(line)["schema"]


def run(vocabulary: cfgmask.Vocabulary, schemas: Iterator[Any], n: int, rng: random.Random) -> Tally:
    """Walk schemas until `n` texts are judged, or there are no more."""
    tally, walker = Tally(), Walker(vocabulary, rng)
    for schema in schemas:
        if tally.judged >= n:
            break
        walk_schema(schema, walker, vocabulary, tally)
    return tally


def report(name: str, tally: Tally, write: Callable[[str], None] = print) -> None:
    counts = ", ".join(f"{count} {what}" for what, count in sorted(tally.counts.items()))
    write(f"{name}: {tally.judged} texts judged, {len(tally.failures)} failures; {counts}")
    for failure in tally.failures:
        write(f"WRONG ({failure.what}, order {failure.order}): {failure.text!r} of {json.dumps(failure.schema)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("-n", type=int, default=1_000, help="texts that are judged, half of them of MaskBench")
    parser.add_argument("--vocabulary", help="a name in the reference data, like llama-bpe")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    name = arguments.vocabulary
    path = FOLDER / f"ggml-vocab-{name}.gguf" if name else cfgmask.demo.model_path()
    vocabulary, rng = cfgmask.Vocabulary.from_gguf(path), random.Random(arguments.seed)
    half = arguments.n // 2 if MASKBENCH.exists() else arguments.n
    tallies = {"random schemas": run(vocabulary, random_schemas(max(20, half // 4), arguments.seed), half, rng)}
    if MASKBENCH.exists():
        tallies["MaskBench"] = run(vocabulary, maskbench_schemas(rng), arguments.n - half, rng)
    for source, tally in tallies.items():
        report(source, tally)
    return 1 if any(tally.failures for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
