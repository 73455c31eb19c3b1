"""Use the installed cfgmask: needs nothing else, so any system can test its wheel. Run it outside the clone."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

import cfgmask

TOKENS = [bytes([byte]) for byte in range(256)] + [b"ab", b"true", b'{"', b'":', "ö".encode(), b"12", b""]
EOS = len(TOKENS) - 1
GRAMMARS = {
    "lark": (cfgmask.Grammar.from_lark('start: "a" %json {"const": 1} /b+/'), b"a1bb", b"a1c"),
    "regex": (cfgmask.Grammar.from_regex(r"(?i)straße|\d{2,3}"), b"123", b"1a"),
    "schema": (
        cfgmask.Grammar.from_json_schema({"properties": {"x": {"type": "number", "minimum": 0.5}}, "required": ["x"]}),
        b'{"x": 0.75}',
        b'{"x": 0.25}',
    ),
    "gbnf": (cfgmask.Grammar.from_gbnf('root ::= "a" [0-9]+'), b"a12", b"ba"),
}


def main() -> None:
    here = Path(cfgmask.__file__).resolve()
    assert "site-packages" in here.parts, f"cfgmask is imported from {here}, not from a wheel"
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=EOS)
    for name, (grammar, accepted, rejected) in GRAMMARS.items():
        check_masks(grammar, vocabulary, accepted)
        matcher = cfgmask.compile(pickle.loads(pickle.dumps(grammar)), vocabulary).matcher()
        assert matcher.advance_bytes(rejected) < len(rejected), name
    check_threads(vocabulary)
    check_logits(vocabulary)
    done = subprocess.run([sys.executable, "-m", "cfgmask", "--help"], capture_output=True, text=True, check=True)
    assert "check" in done.stdout, done.stdout
    print(f"{here.parent} works")


def check_masks(grammar: cfgmask.Grammar, vocabulary: cfgmask.Vocabulary, text: bytes) -> None:
    """Hold each mask on the way through the text against trying every token."""
    compiled = cfgmask.compile(grammar, vocabulary)
    matcher = compiled.matcher()
    bits = np.zeros((len(TOKENS) + 31) // 32, np.uint32)
    for byte in text:
        matcher.fill_mask(bits)
        allowed = [bool(bits[token // 32] >> (token % 32) & 1) for token in range(len(TOKENS))]
        tried = []
        for token in range(len(TOKENS)):
            fork = matcher.fork()
            tried.append(fork.try_advance([token]) == 1)
        assert allowed == tried
        matcher.advance(byte)
    assert matcher.is_accepting


def check_threads(vocabulary: cfgmask.Vocabulary) -> None:
    compiled = cfgmask.compile(GRAMMARS["schema"][0], vocabulary)
    rows = np.zeros((8, (len(TOKENS) + 31) // 32), np.uint32)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            matchers = [compiled.matcher() for _ in range(8)]
            cfgmask.fill_masks(matchers, rows.copy(), threads=2)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def check_logits(vocabulary: cfgmask.Vocabulary) -> None:
    matcher = cfgmask.compile(GRAMMARS["gbnf"][0], vocabulary).matcher()
    logits = np.zeros(len(TOKENS), np.float32)
    matcher.apply(logits)
    assert np.flatnonzero(np.isfinite(logits)).tolist() == [ord("a")]


if __name__ == "__main__":
    main()
