"""The grammars in `grammars/`, the tables of their texts, and texts as tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cfgmask
from cfgmask.cli.stand_in import stand_in_vocabulary

TABLES = Path(__file__).parent
GRAMMARS = TABLES.parent.parent / "grammars"
NAMES = sorted(path.name for path in GRAMMARS.glob("*.lark"))


def tables() -> list[dict[str, Any]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(TABLES.glob("*.json"))]


@dataclass(frozen=True)
class Reader:
    """A compiled grammar and the vocabulary that it was compiled for."""

    compiled: cfgmask.CompiledGrammar
    vocabulary: cfgmask.Vocabulary

    @classmethod
    def of(cls, grammar: cfgmask.Grammar) -> Reader:
        """Over single bytes and the special tokens that the grammar names."""
        vocabulary = stand_in_vocabulary(grammar)
        return cls(cfgmask.compile(grammar, vocabulary), vocabulary)

    def accepts(self, text: str) -> bool:
        matcher = self.compiled.matcher()
        return all(self._takes(matcher, piece) for piece in self._pieces(text)) and matcher.is_accepting

    def _pieces(self, text: str) -> Iterator[str]:
        """The text, cut before and behind every special token."""
        names = sorted(self.vocabulary.special_tokens, key=len, reverse=True)
        yield from re.split(f"({'|'.join(map(re.escape, names))})", text) if names else [text]

    def _takes(self, matcher: cfgmask.Matcher, piece: str) -> bool:
        token_id = self.vocabulary.special_tokens.get(piece)
        if token_id is not None:
            return matcher.try_advance([token_id]) == 1
        data = piece.encode()
        return matcher.advance_bytes(data) == len(data)


@cache
def reader(grammar: str) -> Reader:
    return Reader.of(cfgmask.Grammar.from_file(GRAMMARS / grammar))


@cache
def spelled_reader(grammar: str) -> Reader | None:
    """The grammar with its special tokens spelled as text, as the comment in its file says; None where none does."""
    comment = re.findall(r"^//     (.*)$", (GRAMMARS / grammar).read_text("utf-8"), re.MULTILINE)
    importing = [number for number, line in enumerate(comment) if line.startswith("%import ")]
    if not importing:
        return None
    return Reader.of(cfgmask.Grammar.from_lark("\n".join(comment[importing[0] :]), folder=GRAMMARS))
