"""Formats: a table for each, and the official suite where it is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cfgmask.json_schema.formats import format_regex, possible_regex
from cfgmask.regex.algebra import RegexAlgebra
from tests.json_schema.judge import accepts, compiled

SUITE = Path(__file__).parents[2] / ".." / "shared" / "data" / "json-schema-test-suite" / "draft2020-12"

TABLE: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["2024-02-29", "2000-02-29", "1999-12-31", "2023-04-30"],
        ["2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2023-1-1", "20230101", "2023-00-10"],
    ),
    "time": (
        ["00:00:00Z", "23:59:59.123456+05:30", "12:00:00z", "23:59:60Z", "22:59:60-01:00", "01:29:60+01:30"],
        ["24:00:00Z", "12:60:00Z", "12:00:61Z", "12:00:00", "12:00:60Z", "22:59:60+01:00", "12:00:00+24:00"],
    ),
    "date-time": (
        ["2024-02-29T12:00:00Z", "1963-06-19t08:30:06.283185z", "1990-12-31T15:59:60-08:00"],
        ["2023-02-29T12:00:00Z", "2024-02-29 12:00:00Z", "2024-02-29T12:00Z", "2024-02-29T12:00:00"],
    ),
    "duration": (["P1Y2M3DT4H5M6S", "PT36H", "P4W", "P1M"], ["P", "PT", "P1W2D", "P1D2H", "1D", "P1Y3D", "P2S"]),
    "uuid": (
        ["2eb8aa08-aa98-11ea-b4aa-73b441d16380", "00000000-0000-0000-0000-000000000000"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "g" * 36],
    ),
    "email": (
        ["a@b.c", "first.last+tag@sub.example.com", '"a b"@example.com', "a@[127.0.0.1]", "a@[IPv6:::1]"],
        ["a", "@b", "a@", ".a@b", "a..b@c", "a.@b", "a b@c", "a@-b", "a@[300.0.0.1]", "a@[IPv6:1:2:3:4:5:6:7::]"],
    ),
    "hostname": (
        ["a", "example.com", "x" * 63, "xn.n--a.x-n", "x--n", "1.2", "Xn-a", "xn-"[:2]],
        ["", "-a", "a-", "a..b", "x" * 64, "a_b", "a.", "xn--a", "a.XN--b"],
    ),
    "idn-email": (["δ@παράδειγμα.ελ", "a@b.c", "a@[127.0.0.1]"], ["@é", "a@é..b", "δ", "a b@é", "a@é。b"]),
    "idn-hostname": (["παράδειγμα.ελ", "例え。テスト"], ["", "é-", "-é", "É", "aא", "xn--a"]),
    "ipv4": (["0.0.0.0", "255.255.255.255"], ["256.0.0.0", "1.2.3", "01.2.3.4", "1.2.3.4.5", "1.2.3.4 "]),
    "ipv6": (
        [
            "::",
            "::1",
            "1::",
            "1:2:3:4:5:6:7:8",
            "1::8",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
        ],
        ["1:2:3:4:5:6:7", "1::2::3", "12345::", ":1", "1:2:3:4:5:6:7:8:9", "::1%eth0", "1:2:3:4:5:6:7:8::"],
    ),
    "uri": (
        ["http://a/b?c#d", "urn:x:y", "mailto:a@b", "http://[::1]:80/", "a:"],
        ["/a", "a b:c", "http://[::1", "://a", "http://a/%zz", "é:x"],
    ),
    "uri-reference": (["", "a/b", "#x", "//a", "?q", "../c:d"], ["a b", "\\", "%z", "1:2:"]),
    "iri": (["http://é/ü"], ["/é", "http://a b"]),
    "iri-reference": (["é", ""], ["a b"]),
    "uri-template": (["a{b}c{?d,e*}", "", "{x:3}"], ["{", "a}", "{}", "{a b}"]),
    "json-pointer": (["", "/a/~0~1", "/"], ["a", "/~2", "#/a"]),
    "regex": (["^[a-z]+$", "(a|b)*"], ["(", "[b-a]", "a{2,1}"]),
    "relative-json-pointer": (["0", "1/a", "2#"], ["", "/a", "01", "-1"]),
}


@pytest.mark.parametrize("name", TABLE)
def test_table(name: str) -> None:
    grammar = compiled({"type": "string", "format": name})
    valid, invalid = TABLE[name]
    assert [text for text in valid if not accepts(grammar, json.dumps(text))] == []
    assert [text for text in invalid if accepts(grammar, json.dumps(text))] == []


def test_a_host_name_has_at_most_253_characters() -> None:
    grammar = compiled({"type": "string", "format": "hostname"})
    longest = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert accepts(grammar, json.dumps(longest))
    assert not accepts(grammar, json.dumps(longest + "c"))


def test_the_parts_of_a_mail_address_have_limits() -> None:
    grammar = compiled({"type": "string", "format": "email"})
    assert accepts(grammar, json.dumps("a" * 64 + "@example.com"))
    assert not accepts(grammar, json.dumps("a" * 65 + "@example.com"))
    assert not accepts(grammar, json.dumps("a@" + "b" * 64 + ".com"))
    assert not accepts(grammar, json.dumps("a@" + ".".join(["b" * 63] * 4)))


LEFT_OUT = {
    "time": "12:34:60Z",
    "date-time": "2020-01-01T12:34:60Z",
    "hostname": "xn--a",
    "email": "a@" + ".".join(["b" * 63] * 3),
    "idn-email": "a@xn--a",
    "idn-hostname": "xn--a",
    "iri": "http://a/\u200e",
    "iri-reference": "\u200e",
    "relative-json-pointer": "0+1/a",
    "regex": "(?<n>x)",
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_narrower_than_the_standard_knows_what_it_leaves_out(name: str) -> None:
    algebra = RegexAlgebra()
    narrow, wide = format_regex(name), possible_regex(name)
    assert narrow is not None
    assert wide is not None
    for text in TABLE[name][0]:
        assert algebra.matches(wide, text.encode())
    assert not algebra.matches(narrow, LEFT_OUT[name].encode())
    assert algebra.matches(wide, LEFT_OUT[name].encode())
    if name != "regex":
        grammar = compiled({"type": "string", "not": {"format": name}})
        assert not accepts(grammar, json.dumps(LEFT_OUT[name]))
        assert accepts(grammar, json.dumps(TABLE[name][1][0]))


def suite_cases() -> list[Any]:
    files = sorted((SUITE / "optional" / "format").glob("*.json"))
    return [pytest.param(file, id=file.stem) for file in files] or [
        pytest.param(None, marks=pytest.mark.skip(reason="the official test suite is not beside the repository"))
    ]


# Valid texts that a format leaves out: labels in punycode, labels of more than 20 characters, names in patterns,
# marks that could compose.
NARROWER = {
    "valid Chinese Punycode",
    *["an ECMA 262 named group (?<name>...)", r"an ECMA 262 named backreference \k<name>"],
    *["a domain label that is not in Unicode NFC is valid"],
}


@pytest.mark.parametrize("file", suite_cases())
def test_the_official_suite(file: Path) -> None:
    for group in json.loads(file.read_text(encoding="utf-8")):
        if file.stem == "ecmascript-regex" and "format" not in group["schema"]:
            continue
        grammar = compiled(group["schema"])
        for case in group["tests"]:
            accepted = accepts(grammar, json.dumps(case["data"]))
            if "punycode" not in group["description"] or not case["valid"]:
                narrower = case["description"] in NARROWER or "too long if separator ignored" in case["description"]
                assert accepted == (case["valid"] and not narrower), case
