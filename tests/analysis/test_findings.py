"""What `cfgmask check` says about grammars beyond what reading them says: the sections of `findings.md`, rendered.

After each grammar that triggers a code comes one near it that does not.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cfgmask
from cfgmask.analysis import find
from cfgmask.cli.stand_in import stand_in_vocabulary

TABLE = Path(__file__).with_name("findings.md")
_SECTION = re.compile(r"^## ([^\n]*)\n\n```lark\n(.*?)\n```\n\n```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_NEAR = "not "


def sections() -> list[tuple[str, str, str]]:
    """Title, grammar and report of each section."""
    return _SECTION.findall(TABLE.read_text("utf-8"))


def reported(grammar: str) -> str:
    read = cfgmask.Grammar.from_lark(grammar, name="g.lark")
    found = find(read.ir, cfgmask.compile(read, stand_in_vocabulary(read)))
    return "\n".join(diagnostic.render() for diagnostic in found) or "(nothing)"


@pytest.mark.parametrize(("grammar", "report"), [pytest.param(g, r, id=title) for title, g, r in sections()])
def test_report(grammar: str, report: str) -> None:
    assert reported(grammar) == report


def test_every_section_is_read() -> None:
    assert len(sections()) == TABLE.read_text("utf-8").count("\n## ")


def test_every_code_has_a_section_and_one_near_it() -> None:
    package = Path(cfgmask.__file__).parent / "analysis"
    sources = "\n".join(path.read_text("utf-8") for path in package.glob("*.py"))
    codes = set(re.findall(r'"(grammar-[a-z-]*[a-z])"', sources)) - _NEED_A_VOCABULARY
    titles = [title.partition(":")[0] for title, _, _ in sections()]
    assert {title for title in titles if not title.startswith(_NEAR)} == codes
    assert {title.removeprefix(_NEAR) for title in titles if title.startswith(_NEAR)} == codes


def test_what_a_code_is_near_does_not_have_it() -> None:
    for title, _, report in sections():
        if title.startswith(_NEAR):
            assert f"[{title.removeprefix(_NEAR).partition(':')[0]}]" not in report


# Tested in test_spelling.py.
_NEED_A_VOCABULARY = {"grammar-unspellable-terminal"}
