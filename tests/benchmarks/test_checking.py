"""The grammars whose check is timed are sound, and of the size that is said."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import cfgmask
from cfgmask.analysis import find
from cfgmask.cli.stand_in import stand_in_vocabulary
from tests.scripts import benchmark

CHECKING = benchmark("checking")


# Of all shipped grammars joined, one ignores what another one's operator begins with.
JOINED = {"grammar-dead-end-undecided", "grammar-blocked-text"}


@pytest.mark.parametrize(
    ("text", "known"),
    [
        pytest.param(CHECKING.languages(43), {"grammar-dead-end-undecided"}, id="languages"),
        pytest.param(CHECKING.repository(), JOINED, id="repository"),
    ],
)
def test_grammars_of_some_500_lines_have_no_problems(text: str, known: set[str]) -> None:
    assert 500 <= len(text.splitlines()) <= 520
    grammar = cfgmask.Grammar.from_lark(text)
    findings = find(grammar.ir, cfgmask.compile(grammar, stand_in_vocabulary(grammar)))
    assert {note.code for note in (*grammar.notes, *findings)} <= known


def test_it_runs() -> None:
    done = CliRunner().invoke(CHECKING.main, ["--runs", "1"])
    assert done.exit_code == 0, done.output
    assert len(done.output.strip().splitlines()) == 4
