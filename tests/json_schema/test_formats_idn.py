"""Internationalised names: nothing that the `idna` package refuses, and what people write in many scripts."""

from __future__ import annotations

import unicodedata

import idna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask.json_schema.formats import format_regex, possible_regex
from cfgmask.json_schema.formats.idna_table import FIRST, STARTERS
from cfgmask.regex.algebra import RegexAlgebra

ALGEBRA = RegexAlgebra()

NAMES_BY_REGION = """
    bücher.example café.fr đường.vn straße.de l·l.cat żółć.pl ğüş.com.tr привет.рф αβγ.ελ ͵α.gr հայ.am ქართული.ge
    שלום.קום א׳.co.il مثال.إختبار می‌خواهم.com فارسی.ir हिन्दी.भारत क़लम.भारत বাংলা.ভারত ਪੰਜਾਬੀ.com ગુજરાતી.com
    தமிழ்.இந்தியா తెలుగు.భారత్ ಕನ್ನಡ.com മലയാളം.com සිංහල.ලංකා ผู้.ไทย ລາວ.com မြန်မာ.com ខ្មែរ.com አማርኛ.com
    例え.テスト・データ 北京大学.中国 한국어.kr Example.COM a.b.c.d.e.f x--y.z
"""


def accepts(text: str, name: str = "idn-hostname") -> bool:
    tree = format_regex(name)
    assert tree is not None
    return ALGEBRA.matches(tree, text.encode())


def is_valid(name: str) -> bool:
    """Whether every label is one, and they agree about their direction, which `idna` does not look at."""
    if len(name) > 253 and name.isascii():
        return False
    try:
        written = idna.encode(name)
        labels = idna.decode(written).split(".")
        if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for label in labels for c in label):
            return all(idna.check_bidi(label, check_ltr=True) for label in labels if label)  # the root has none
    except idna.IDNAError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES_BY_REGION.split())
def test_names_of_many_scripts(name: str) -> None:
    assert is_valid(name)
    assert accepts(name)
    assert accepts(f"someone@{name}", "idn-email") or "・" in name


POOLS = [
    "ab1-.",
    "aéß·l-.",
    "αβ͵ς1-.",
    "אבג׳״ְּ1-.a",
    "بتد‌ًّ٠۰1-.a",
    "कख्‍‌़ािन.1",
    "কোৗ়্০.",
    "தெொா்ூௗ.",
    "ぁア丈・ー.",
    "ผู้ี๋.ั",
    "실〮례.",
    "eé́̄а̀.",
    "ab1-жπ語.",
    "z9-क्‍丈é.",
    "x-ขំ្.",
]


@given(st.sampled_from(POOLS).flatmap(lambda pool: st.text(pool, min_size=1, max_size=12)))
def test_nothing_invalid_is_accepted(name: str) -> None:
    if accepts(name):
        assert is_valid(name), ascii(name)
    elif is_valid(name):
        possible = possible_regex("idn-hostname")
        assert possible is not None
        assert ALGEBRA.matches(possible, name.encode())


def codes(ranges: str) -> list[int]:
    found = []
    for span in ranges.split():
        low, _, high = span.partition("-")
        found += range(int(low, 16), int(high or low, 16) + 1)
    return found


def test_characters_are_valid_ones() -> None:
    wrong = []
    for code in codes(STARTERS):
        label = chr(code)
        if unicodedata.category(label)[0] == "M":
            label = "a" + label
        try:
            idna.check_label(label)
        except idna.IDNABidiError:
            pass
        except idna.IDNAError:
            wrong += [hex(code)] if label != "-" else []
    assert wrong == []


@given(st.data())
def test_labels_fit_their_punycode(data: st.DataObject) -> None:
    letters = [chr(code) for code in codes(FIRST)]
    window = data.draw(st.integers(0, len(letters) - 1))
    low = ord(letters[window])
    width = data.draw(st.sampled_from([0x80, 0x100, 0x10000, 0x110000]))
    size = data.draw(st.integers(8, 23))
    near = [c for c in letters[window : window + 300] if ord(c) < low + width] if width <= 0x100 else letters
    begin = "a" * data.draw(st.integers(0, 8))
    label = begin + "".join(data.draw(st.lists(st.sampled_from([*near, "a"]), min_size=size, max_size=size)))
    if accepts(label):
        assert len(idna.alabel(label)) <= 62


@given(st.text("कणऴ\u094d\u200c\u200d\u093c\u0951", min_size=8, max_size=24), st.integers(0, 8))
def test_labels_with_joiners_fit_their_punycode(label: str, n_before: int) -> None:
    label = "a" * n_before + label
    if accepts(label):
        assert len(idna.alabel(label)) <= 62


def test_as_long_as_the_limits_allow() -> None:
    assert accepts("ж" * 23)
    assert not accepts("ж" * 24)
    assert accepts("東京都庁舎前広場公園町内")
    assert not accepts("東京都庁舎前広場公園町内会")
    assert accepts(".".join(["a" * 63] * 3 + ["b" * 61]))
    assert not accepts(".".join(["a" * 63] * 3 + ["b" * 62]))
    assert not accepts("é.é.é.é.é")


@pytest.mark.parametrize("ending", ["ж", "語語語", "한국", "ไทย", "क्ष", "α"])
def test_what_other_scripts_may_begin_with(ending: str) -> None:
    for beginning in ("a", "7-", "ab", "web", "jr2-", "example", "abcdefgh"):
        assert is_valid(beginning + ending)
        assert accepts(beginning + ending)
    assert not accepts("abcdefghi" + ending)
    for beginning in ("-", "ab--", "A"):
        assert not accepts(beginning + ending)


def test_any_number_of_ascii_before_latin() -> None:
    assert accepts("caféinternationalité")
    assert accepts("abcdefghijklmnopqrstuvé")


def test_local_parts_of_mail_are_counted_in_octets() -> None:
    assert accepts("é" * 32 + "@example.com", "idn-email")
    assert not accepts("é" * 32 + "a@example.com", "idn-email")
    assert accepts('"δ δ"@example.com', "idn-email")
    assert not accepts("δ δ@example.com", "idn-email")
    assert not accepts("é@example.com", "email")
