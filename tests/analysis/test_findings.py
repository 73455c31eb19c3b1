"""What `cfgmask check` says about grammars beyond what reading them says: the sections of `findings.md`, rendered.

After each grammar that triggers a code comes one near it that does not.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import cfgmask
from cfgmask.analysis import find
from cfgmask.cli.stand_in import stand_in_vocabulary
from cfgmask.diagnostics import Diagnostic, Fix
from tests.cpu_time import cpu_seconds, hold

TABLE = Path(__file__).with_name("findings.md")
_SECTION = re.compile(r"^## ([^\n]*)\n\n```lark\n(.*?)\n```\n\n```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_NEAR = "not "


def sections() -> list[tuple[str, str, str]]:
    """Title, grammar and report of each section."""
    return _SECTION.findall(TABLE.read_text("utf-8"))


def found_in(grammar: str) -> tuple[Diagnostic, ...]:
    read = cfgmask.Grammar.from_lark(grammar, name="g.lark")
    return find(read.ir, cfgmask.compile(read, stand_in_vocabulary(read)))


def reported(grammar: str) -> str:
    return "\n".join(diagnostic.render() for diagnostic in found_in(grammar)) or "(nothing)"


def corrections() -> list[tuple[str, str, Diagnostic]]:
    """Title, grammar and finding of each correction in the table."""
    return [(title, g, found) for title, g, _ in sections() for found in found_in(g) if found.fix is not None]


def corrected(grammar: str, fix: Fix) -> str:
    return grammar[: fix.span.start] + fix.replacement + grammar[fix.span.end :]


def language(grammar: str, alphabet: str) -> list[str]:
    """The texts of up to four of these characters."""
    read = cfgmask.Grammar.from_lark(grammar)
    compiled = cfgmask.compile(read, stand_in_vocabulary(read))
    texts, pending = [], [("", compiled.matcher())]
    for text, matcher in pending:
        texts += [text] * matcher.is_accepting
        for character in alphabet if len(text) < _MAX_LENGTH else "":
            next_one = matcher.fork()
            if next_one.advance_bytes(character.encode()) == 1:
                pending.append((text + character, next_one))
    return texts


_MAX_LENGTH = 4
# What endless derivations hide, and options inside of a repetition.
_BEHIND_OTHERS = {"grammar-ambiguous", "grammar-slow-repetition"}
_SAME_LANGUAGE = {"grammar-cycle", "grammar-endless-repetition", "grammar-slow-repetition"}


@pytest.mark.parametrize(("grammar", "report"), [pytest.param(g, r, id=title) for title, g, r in sections()])
def test_report(grammar: str, report: str) -> None:
    assert reported(grammar) == report


@pytest.mark.parametrize(("grammar", "found"), [pytest.param(g, f, id=title) for title, g, f in corrections()])
def test_a_corrected_grammar_passes(grammar: str, found: Diagnostic) -> None:
    assert found.fix is not None
    after = Counter(other.code for other in found_in(corrected(grammar, found.fix)))
    before = Counter(other.code for other in found_in(grammar))
    assert after[found.code] < before[found.code]
    assert not {code for code in after if after[code] > before[code]} - _BEHIND_OTHERS


@pytest.mark.parametrize(
    ("grammar", "found"),
    [pytest.param(g, f, id=title) for title, g, f in corrections() if f.code in _SAME_LANGUAGE],
)
def test_a_corrected_grammar_has_the_same_texts(grammar: str, found: Diagnostic) -> None:
    assert found.fix is not None
    alphabet = "".join(sorted(set(grammar.replace("\\n", "\n")) & set("abcdefgnx+1-<>,\n ")))
    texts = language(grammar, alphabet)
    assert texts
    assert language(corrected(grammar, found.fix), alphabet) == texts


def test_a_long_chain_of_rules_is_looked_at_once() -> None:
    n = 20_000
    grammar = "start: a0\n" + "".join(f"a{i}: a{i + 1}\n" for i in range(n)) + f'a{n}: "xy"\n'
    read = cfgmask.Grammar.from_lark(grammar)
    compiled = cfgmask.compile(read, stand_in_vocabulary(read))
    found: list[object] = []
    # It takes half a second; in the square of the rules it took 12.
    hold(cpu_seconds(lambda: found.append(find(read.ir, compiled))), 6)
    assert found == [()]


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
