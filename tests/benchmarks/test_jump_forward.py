"""The benchmark of forced text runs, and counts what is forced."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import cfgmask
from tests.scripts import benchmark

JUMP_FORWARD = benchmark("jump_forward")
BYTEWISE = JUMP_FORWARD.vocabularies.bytewise()


def test_the_share_of_a_text() -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark('start: "name: " /[a-z]/ " ok" /[0-9]/'), BYTEWISE.vocabulary)
    share = JUMP_FORWARD.share_of(compiled, BYTEWISE, "name: x ok7")
    assert (share.texts, share.bytes, share.forced_bytes, share.tokens) == (1, 11, 9, 11)
    # A blank at the end may belong to what follows.
    assert (share.forced_tokens, share.asked) == (8, 5)
    assert JUMP_FORWARD.share_of(compiled, BYTEWISE, "other") is None


def test_a_table_of_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JUMP_FORWARD.vocabularies, "load", lambda _: BYTEWISE)
    result = CliRunner().invoke(JUMP_FORWARD.main, ["share", "--limit", "2"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert len([line for line in result.stdout.splitlines() if line.startswith("|")]) == 4


def test_a_table_of_ways_to_write() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    result = CliRunner().invoke(JUMP_FORWARD.main, ["llama", "--limit", "1"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert len([line for line in result.stdout.splitlines() if line.startswith("|")]) == 6
