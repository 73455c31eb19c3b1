"""grammars/python.lark against Lark's LALR parser with `PythonIndenter`: the standard library, whole and mutated.

Each file that Lark accepts must be accepted. One that Lark refuses must be refused at the same place or before it. Lark
names the first character of a token; where cfgmask refuses behind that, a completion of what it took must be a text
that Lark accepts. Lark's answers are the slow part; `--cache` keeps them.

Example: python -m tests.grammars.python_stdlib --mutants 2000 --cache lark.jsonl
"""

from __future__ import annotations

import json
import random
import re
import sysconfig
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

import click
from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.indenter import DedentError, PythonIndenter

import cfgmask

GRAMMAR = Path(__file__).resolve().parents[2] / "grammars" / "python.lark"
VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)

# Where a text is refused, as the offset of a character; None where it is accepted.
Place: TypeAlias = "tuple[int, int] | None"
Verdict = Literal["both accept", "same place", "before", "can go on", "after", "only ours", "only Lark's"]
GOOD: frozenset[Verdict] = frozenset(("both accept", "same place", "before", "can go on"))


class _Lines(PythonIndenter):
    """Keeps the token at which it raises."""

    last: Token | None = None

    def handle_NL(self, token: Token) -> Iterator[Token]:
        self.last = token
        yield from super().handle_NL(token)


@cache
def _lark() -> tuple[Lark, _Lines]:
    lines = _Lines()
    parser = Lark.open_from_package(
        "lark", "python.lark", ["grammars"], parser="lalr", postlex=lines, start="file_input", maybe_placeholders=False
    )
    return parser, lines


def in_lark(text: str) -> Place:
    """The token that Lark refuses, from its first character to behind its last."""
    parser, lines = _lark()
    try:
        parser.parse(text)
    except UnexpectedToken as error:
        if error.token.type == "$END" or error.token.start_pos is None:
            return len(text), len(text)
        return error.token.start_pos, error.token.end_pos
    except UnexpectedCharacters as error:
        return error.pos_in_stream, error.pos_in_stream
    except (DedentError, IndexError, AssertionError):  # the indenter's: a width, a comment at the end, a bracket
        assert lines.last is not None
        return lines.last.start_pos, lines.last.end_pos
    return None


@cache
def compiled() -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_file(GRAMMAR), VOCABULARY)


def in_cfgmask(text: str) -> int | None:
    """The character at which cfgmask refuses; None where it accepts."""
    data, matcher = text.encode(), compiled().matcher()
    taken = matcher.advance_bytes(data)
    if taken < len(data):
        return len(data[:taken].decode(errors="ignore"))
    return None if matcher.is_accepting else len(text)


def compare(text: str, lark: Place, ours: int | None) -> Verdict:
    if lark is None:
        return "both accept" if ours is None else "only Lark's"
    if ours is None:
        return "only ours"
    if ours <= lark[0]:
        return "same place" if ours == lark[0] else "before"
    return "can go on" if in_lark(completed(text, ours)) is None else "after"


def completed(text: str, place: int) -> str:
    """The part that cfgmask takes of a text which it refuses at `place`, and the shortest way on from there."""
    data, matcher = text.encode(), compiled().matcher()
    taken = data[: matcher.advance_bytes(data)]
    assert len(taken.decode(errors="ignore")) == place
    matcher.advance_bytes(taken)
    return (taken + bytes(matcher.completion() or [])).decode()


_PIECES = re.compile(r"\w+|\s+|[^\w\s]+")


def mutated(text: str, rng: random.Random) -> str:
    """The text with a character or a piece deleted, doubled, moved or replaced by another of its own."""
    pieces = _PIECES.findall(text) if rng.random() < 0.6 else list(text)
    at, other = rng.randrange(len(pieces)), rng.choice(pieces)
    new = rng.choice([[], [pieces[at], other], [other], [other, pieces[at]], [pieces[at]] * 2])
    return "".join([*pieces[:at], *new, *pieces[at + 1 :]])


def texts(root: Path, largest: int, pattern: str = "**/*.py") -> Iterator[tuple[str, str]]:
    """Name and text of each file that can be decoded, with a line break behind it, as users of Lark's grammar add."""
    for path in sorted(root.glob(pattern)):
        if "site-packages" in path.parts or path.stat().st_size > largest:
            continue
        try:
            with tokenize.open(path) as file:
                yield str(path.relative_to(root)), file.read() + "\n"
        except (SyntaxError, UnicodeDecodeError):
            continue


@dataclass
class _Answers:
    """Lark's answers, by the text, kept in a file."""

    path: Path | None

    def __post_init__(self) -> None:
        lines = self.path.read_text().splitlines() if self.path and self.path.exists() else []
        self._known: dict[str, Place] = {key: place and tuple(place) for key, place in map(json.loads, lines)}

    def of(self, text: str) -> Place:
        key = sha256(text.encode()).hexdigest()
        if key not in self._known:
            self._known[key] = in_lark(text)
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps([key, self._known[key]]) + "\n")
        return self._known[key]


def _show(name: str, text: str, verdict: Verdict, lark: Place, ours: int | None) -> None:
    at = min(place for place in (lark and lark[0], ours) if place is not None)
    click.echo(f"{verdict}: {name}: Lark at {lark}, cfgmask at {ours}: {text[max(0, at - 60) : at + 40]!r}")


@click.command(help=__doc__)
@click.option("--root", type=click.Path(path_type=Path), default=Path(sysconfig.get_path("stdlib")))
@click.option("--largest", default=1_000_000, show_default=True, help="Bytes of a file, to be looked at.")
@click.option("--mutants", default=1_000, show_default=True)
@click.option("--largest-mutant", default=20_000, show_default=True, help="Characters of a file that is mutated.")
@click.option("--seed", default=1, show_default=True)
@click.option("--whole/--no-whole", default=True, help="Whether files are read as they are, too.")
@click.option("--cache", "cache_path", type=click.Path(path_type=Path), help="Where Lark's answers are kept.")
def main(
    root: Path, largest: int, mutants: int, largest_mutant: int, seed: int, whole: bool, cache_path: Path | None
) -> None:
    answers, rng = _Answers(cache_path), random.Random(seed)
    small: list[tuple[str, str]] = []
    counts: Counter[tuple[str, Verdict]] = Counter()

    def judge(kind: str, name: str, text: str) -> None:
        lark, ours = answers.of(text), in_cfgmask(text)
        verdict = compare(text, lark, ours)
        counts[kind, verdict] += 1
        if verdict not in GOOD:
            _show(name, text, verdict, lark, ours)

    for name, text in texts(root, largest):
        if whole:
            judge("whole", name, text)
        if 1 < len(text) <= largest_mutant:
            small.append((name, text))
    for _ in range(mutants):
        name, text = rng.choice(small)
        judge("mutated", name, mutated(text, rng))
    for (kind, verdict), n in sorted(counts.items()):
        click.echo(f"{kind:8} {verdict:20} {n:7}")


if __name__ == "__main__":
    main()
