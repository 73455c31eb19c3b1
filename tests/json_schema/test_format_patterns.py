"""What the modules of formats write their patterns with."""

from __future__ import annotations

import re

import pytest

import cfgmask
from cfgmask import Limits, _core
from cfgmask.grammar.regex_tree import Complement, Intersection, RegexTree
from cfgmask.json_schema import core_reader
from cfgmask.json_schema.formats import FORMATS, dates, format_regex
from cfgmask.json_schema.formats.pattern import read
from cfgmask.regex.algebra import RegexAlgebra

ALGEBRA = RegexAlgebra()

# The days of months by their lengths, and the leap days: what DATE says, each alternative with its own years.
PLAIN_DATE = (
    r"[0-9]{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|[0-9]{4}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|[0-9]{4}-02-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:[0-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"
)


def equal(first: RegexTree, second: RegexTree) -> bool:
    return all(ALGEBRA.is_empty(Intersection((a, Complement(b)))) for a, b in ((first, second), (second, first)))


def test_dates_say_what_each_alternative_says() -> None:
    assert equal(read(dates.DATE), read(PLAIN_DATE))


def test_a_leap_second_is_the_last_of_a_day_in_utc() -> None:
    time, fraction = read(dates.TIME), ".25"
    found = set()
    for minute in range(24 * 60):
        for offset in range(0, 24 * 60, 15):
            for sign, utc in (("+", minute - offset), ("-", minute + offset)):
                last = utc % (24 * 60) == 24 * 60 - 1
                if not last and minute % 30 != 29:
                    continue  # few of those that are not will do
                shown = f"{minute // 60:02}:{minute % 60:02}:60{fraction}{sign}{offset // 60:02}:{offset % 60:02}"
                accepted = ALGEBRA.matches(time, shown.encode())
                assert accepted == (last and offset % 60 != 15), shown
                if accepted:
                    found.add(shown)
    assert len(found) == 2 * 3 * 24
    assert all(re.fullmatch(r"[0-2][0-9]:(?:59|29|44|14):60\.25[+-][0-9]{2}:(?:00|30|45)", shown) for shown in found)


@pytest.mark.parametrize("name", [name for name in FORMATS if FORMATS[name].parts])
def test_the_core_reads_formats_as_their_trees(name: str) -> None:
    read_by_core = core_reader._known_strings("ecma").format(name)
    tree = format_regex(name)
    assert tree is not None
    assert read_by_core is not None
    builder = _core.RegexBuilder(vars(Limits()))
    # What is equal is one node.
    assert builder.portable(read_by_core) == builder.portable(_core.portable_regex(tree, 200))


@pytest.mark.parametrize("name", [name for name in FORMATS if FORMATS[name].parts])
def test_strings_of_formats_are_read_without_trees(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_tree(*_: object) -> None:
        pytest.fail("a tree was made")

    for question in ("alike", "format", "properties"):
        monkeypatch.setattr(core_reader._Answers, question, no_tree)
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": name}}}
    grammar = cfgmask.Grammar.from_json_schema(schema)
    assert grammar.lazy is not None
