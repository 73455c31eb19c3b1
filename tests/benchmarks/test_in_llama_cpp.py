"""The benchmarks within llama.cpp run on a small model, and count what is forced."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
import cfgmask
from cfgmask.demo import model_path
from tests.scripts import benchmark

IN_LLAMA_CPP = benchmark("in_llama_cpp")
BYTEWISE = IN_LLAMA_CPP.vocabularies.bytewise()


def rows(*arguments: str) -> list[list[str]]:
    result = CliRunner().invoke(IN_LLAMA_CPP.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    table = [line for line in result.stdout.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[2:]]


@pytest.mark.long
def test_a_table_comes_out() -> None:
    table = rows("hook", "--model", str(model_path()), "--turns", "5", "--tokens", "4")
    assert [len(row) for row in table] == [7] * 6
    in_callback = [row[4].replace(",", "") for row in table]
    assert [bool(cell) and float(cell) > 0 for cell in in_callback] == [False, True, True, True, True, False]
    assert [bool(re.fullmatch(r"[+-]\d+ \([+-]\d+ to [+-]\d+\)", row[3])) for row in table] == [True, False] + [
        True
    ] * 4


def test_some_of_the_ways() -> None:
    table = rows("hook", "--model", str(model_path()), "--turns", "2", "--way", "no constraint")
    assert [row[0] for row in table] == ["no constraint", "a hook that does nothing"]


def test_the_interval_holds_the_median() -> None:
    assert IN_LLAMA_CPP.median_and_interval([n * 1000 for n in range(101)]) == "+50 (+40 to +60)"


def test_the_share_of_a_text() -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark('start: "name: " /[a-z]/ " ok" /[0-9]/'), BYTEWISE.vocabulary)
    share = IN_LLAMA_CPP.share_of(compiled, BYTEWISE, "name: x ok7")
    assert (share.texts, share.bytes, share.forced_bytes, share.tokens) == (1, 11, 9, 11)
    # A space at the end may belong to the next token.
    assert (share.forced_tokens, share.asked) == (8, 5)
    assert IN_LLAMA_CPP.share_of(compiled, BYTEWISE, "other") is None


def test_a_table_of_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IN_LLAMA_CPP.vocabularies, "load", lambda _: BYTEWISE)
    assert len(rows("share", "--limit", "2")) == 2


def test_a_table_of_ways_to_write() -> None:
    assert len(rows("jump", "--limit", "1")) == 4
