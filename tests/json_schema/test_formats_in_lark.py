"""Formats as terminals of Lark grammars: `%import cfgmask.formats.DATE`."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import cfgmask
from tests.grammars.reading import GRAMMARS
from tests.scripts import script

SCRIPT = script("make_formats")
VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_token_id=256)


def test_the_file_is_that_of_the_patterns() -> None:
    assert (GRAMMARS / "formats.lark").read_text(encoding="utf-8") == SCRIPT.grammar(), "run scripts/make_formats.py"


def accepts(compiled: cfgmask.CompiledGrammar, text: bytes) -> bool:
    matcher = compiled.matcher()
    return matcher.advance_bytes(text) == len(text) and matcher.is_accepting


def walk(compiled: cfgmask.CompiledGrammar, rng: random.Random) -> bytes:
    """A text of the grammar: some bytes at random, then a short way to the end."""
    matcher, bits, text = compiled.matcher(), np.zeros(9, np.uint32), b""
    for _ in range(rng.randrange(40)):
        matcher.fill_mask(bits)
        allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")[:256])
        if not len(allowed):
            break
        byte = int(rng.choice(allowed))
        matcher.advance(byte)
        text += bytes([byte])
    return text + bytes(token for token in matcher.completion() if token < 256)


@pytest.mark.parametrize(("terminal", "name"), SCRIPT.names().items())
def test_a_terminal_allows_what_the_format_allows(terminal: str, name: str) -> None:
    source = cfgmask.Grammar.from_lark(f"%import cfgmask.formats.{terminal}\nstart: {terminal}")
    in_lark = cfgmask.compile(source, VOCABULARY)
    in_json = cfgmask.compile(cfgmask.Grammar.from_json_schema({"type": "string", "format": name}), VOCABULARY)
    rng = random.Random(name)
    verdicts = set()
    for _ in range(40):
        text = walk(in_lark, rng)
        changed = bytearray(text)
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice(b"09aZ.:-/@%")
        for one in (text, bytes(changed), text + b"0", text[:-1]):
            try:
                quoted = json.dumps(one.decode(), ensure_ascii=False).encode()
            except UnicodeDecodeError:
                continue
            verdict = accepts(in_lark, one)
            assert accepts(in_json, quoted) == verdict, one
            verdicts.add(verdict)
        assert accepts(in_lark, text)
    assert verdicts == {False, True}
