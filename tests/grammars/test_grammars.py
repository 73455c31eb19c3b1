"""The grammars in `grammars/`: what each must accept and refuse is in the table of its name beside this file."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import cfgmask

TABLES = Path(__file__).parent
GRAMMARS = TABLES.parent.parent / "grammars"


def tables() -> list[dict[str, list[str]]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(TABLES.glob("*.json"))]


def texts(kind: str) -> list[object]:
    """(grammar, text) of every table, with short ids."""
    return [
        pytest.param(table["grammar"], text, id=f"{table['grammar']}-{number}")
        for table in tables()
        for number, text in enumerate(table[kind])
    ]


@cache
def compiled(grammar: str) -> cfgmask.CompiledGrammar:
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)
    return cfgmask.compile(cfgmask.Grammar.from_file(GRAMMARS / grammar), vocabulary)


def accepts(grammar: str, text: str) -> bool:
    data, matcher = text.encode(), compiled(grammar).matcher()
    return matcher.advance_bytes(data) == len(data) and matcher.is_accepting


@pytest.mark.parametrize(("grammar", "text"), texts("accept"))
def test_accepts(grammar: str, text: str) -> None:
    assert accepts(grammar, text)


@pytest.mark.parametrize(("grammar", "text"), texts("refuse"))
def test_refuses(grammar: str, text: str) -> None:
    assert not accepts(grammar, text)


def test_every_grammar_has_a_table() -> None:
    assert {path.name for path in GRAMMARS.iterdir()} == {table["grammar"] for table in tables()}


@pytest.mark.parametrize("path", sorted(GRAMMARS.iterdir()), ids=lambda path: path.name)
def test_nothing_in_a_grammar_needs_a_warning(path: Path) -> None:
    assert [note.render() for note in cfgmask.Grammar.from_file(path).notes] == []
