"""Formats against judges that are independent of them: the standard library, and recognisers written out here."""

from __future__ import annotations

import calendar
import datetime
import ipaddress
import re
import urllib.parse
import uuid
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgmask.json_schema.formats import format_regex
from cfgmask.regex.algebra import RegexAlgebra

ALGEBRA = RegexAlgebra()


def accepts(name: str, text: str) -> bool:
    tree = format_regex(name)
    assert tree is not None
    return ALGEBRA.matches(tree, text.encode())


def pieces(*parts: str, most: int = 12) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), max_size=most).map("".join)


def raises(read: Callable[[], object]) -> bool:
    try:
        read()
    except ValueError:
        return True
    return False


# Dates and times

TWO = st.integers(0, 99).map("{:02}".format)


@given(st.integers(0, 9999), TWO, TWO)
@settings(max_examples=300)
def test_dates(year: int, month: str, day: str) -> None:
    # Python has no year 0, whose days are those of 2000.
    valid = 1 <= int(month) <= 12 and 1 <= int(day) <= calendar.monthrange(year or 2000, int(month))[1]
    assert accepts("date", f"{year:04}-{month}-{day}") == valid
    assert accepts("date-time", f"{year:04}-{month}-{day}T00:00:00Z") == valid


@pytest.mark.parametrize("year", [1600, 1700, 1800, 1900, 1904, 1999, 2000, 2023, 2024, 2100, 2400, 0, 4, 100])
def test_leap_years(year: int) -> None:
    assert accepts("date", f"{year:04}-02-29") == calendar.isleap(year)


@given(st.integers(0, 29), st.integers(0, 65), st.integers(0, 65), st.sampled_from(["", ".", ".5", ".123456789"]))
@settings(max_examples=200)
def test_times(hour: int, minute: int, second: int, fraction: str) -> None:
    valid = hour < 24 and minute < 60 and (second < 60 or (hour, minute, second) == (23, 59, 60)) and fraction != "."
    assert accepts("time", f"{hour:02}:{minute:02}:{second:02}{fraction}Z") == valid


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 25), st.integers(0, 3), st.sampled_from("+-"))
@settings(max_examples=300)
def test_leap_seconds(hour: int, minute: int, off_hour: int, quarter: int, sign: str) -> None:
    text = f"{hour:02}:{minute:02}:60{sign}{off_hour:02}:{quarter * 15:02}"
    offset = datetime.timedelta(hours=off_hour, minutes=quarter * 15)
    local = datetime.datetime(2000, 1, 2, hour, minute)
    utc = local - offset if sign == "+" else local + offset
    valid = off_hour < 24 and (utc.hour, utc.minute) == (23, 59)
    if accepts("time", text):
        assert valid
    elif valid:
        assert quarter == 1


@given(pieces("P", "T", "1", "20", "Y", "M", "D", "H", "S", "W", most=9))
@settings(max_examples=300)
def test_durations(text: str) -> None:
    """Units in order without gaps, as the grammar of RFC 3339 has them."""
    text = "P" + text
    date, found, time = text[1:].partition("T")
    units = [re.findall(r"[A-Z]", part) for part in (date, time)]
    valid = all(re.fullmatch(r"(?:[0-9]+[A-Z])*", part) for part in (date, time)) and "P" not in date + time
    valid = valid and (bool(time) if found else bool(date))
    weeks = text.endswith("W") and units[0] == ["W"] and not found
    in_order = "".join(units[0]) in "YMD" and "".join(units[1]) in "HMS"
    assert accepts("duration", text) == (valid and (weeks or in_order))


# Addresses and identifiers


@given(pieces("0", "1", "01", "255", "256", "99", ".", most=9))
@settings(max_examples=300)
def test_ipv4(text: str) -> None:
    assert accepts("ipv4", text) == (not raises(lambda: ipaddress.IPv4Address(text)))


@given(pieces("::", ":", "1", "ffff", "0a", "12345", "1.2.3.4", "g", "1:2:3", ":5:6:7:8", most=8))
@settings(max_examples=500)
def test_ipv6(text: str) -> None:
    valid = not raises(lambda: ipaddress.IPv6Address(text))
    assert accepts("ipv6", text) == valid
    assert accepts("uri", f"http://[{text}]/") == valid
    # In mail `::` stands for at least two groups.
    groups = len([group for group in text.split(":") if group]) + ("." in text)
    assert accepts("email", f"a@[IPv6:{text}]") == (valid and not ("::" in text and groups > 6))


@given(
    st.uuids(), st.sampled_from([str.upper, str.lower, lambda text: text.replace("-", ""), lambda text: f"{{{text}}}"])
)
def test_uuid(value: uuid.UUID, spell: Callable[[str], str]) -> None:
    text = spell(str(value))
    assert accepts("uuid", text) == (len(text) == 36)


@given(pieces("a", "B", "0", "-", ".", "_", "xn--", "é", most=10))
@settings(max_examples=300)
def test_host_names(text: str) -> None:
    labels = text.split(".")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    valid = all(
        label and set(label) <= set(letters + "-") and "-" not in (label[0], label[-1]) and label[:4].lower() != "xn--"
        for label in labels
    )
    assert accepts("hostname", text) == valid


# References


@given(
    pieces("a", ":", "/", "//", "?", "#", "[", "]", "@", "%41", "%4", "%", "é", " ", "1", "[::1]", "\\", "^", most=8)
)
@settings(max_examples=500)
def test_uris(text: str) -> None:
    """The five components of RFC 3986, appendix B, with the characters that each may have."""
    scheme, authority, path, query, fragment = _COMPONENTS.fullmatch(text).groups()  # type: ignore[union-attr]
    pchar = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
    valid = bool(re.fullmatch(rf"(?:{pchar}|/)*", path))
    valid = valid and all(re.fullmatch(rf"(?:{pchar}|[/?])*", part or "") for part in (query, fragment))
    valid = valid and (authority is None or is_authority(authority))
    if scheme is None:
        valid = valid and not (authority is None and ":" in path.split("/")[0])
    else:
        valid = valid and bool(re.fullmatch("[A-Za-z][A-Za-z0-9+.-]*", scheme))
    assert accepts("uri-reference", text) == valid
    assert accepts("uri", text) == (valid and scheme is not None)
    assert not valid or accepts("iri-reference", text)
    if "é" not in text:
        assert accepts("iri-reference", text) == valid
    else:
        # An IRI is what becomes a URI by encoding its characters (RFC 3987, section 3.1).
        encoded = urllib.parse.quote(text, safe="".join(map(chr, range(0x80))))
        assert accepts("iri-reference", text) == (accepts("uri-reference", encoded) and "é" not in (scheme or ""))


_COMPONENTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def is_authority(text: str) -> bool:
    user, found, host = text.rpartition("@")
    unreserved = r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
    if found and not re.fullmatch(rf"(?:{unreserved}|:)*", user):
        return False
    name, _port = re.fullmatch(r"(.*?)(:[0-9]*)?", host, re.DOTALL).groups()  # type: ignore[union-attr]
    return bool(re.fullmatch(rf"{unreserved}*", name)) or name == "[::1]"


@given(pieces("/", "~", "0", "1", "2", "a", "#", "é", most=7))
@settings(max_examples=300)
def test_json_pointers(text: str) -> None:
    tokens = text.split("/")
    valid = not tokens[0] and all(re.fullmatch("(?:[^~]|~[01])*", token) for token in tokens)
    assert accepts("json-pointer", text) == valid
    for prefix in ("0", "12"):
        number, rest = re.fullmatch("([0-9]*)(.*)", prefix + text).groups()  # type: ignore[union-attr]
        pointer = accepts("json-pointer", rest) or rest == "#"
        assert accepts("relative-json-pointer", prefix + text) == (pointer and number == str(int(number)))


@given(pieces("{", "}", "a", "b_1", ",", ":3", ":0", "*", "+", "?", ".", "%41", "%", " ", "é", "<", most=8))
@settings(max_examples=400)
def test_uri_templates(text: str) -> None:
    assert accepts("uri-template", text) == is_template(text)


def is_template(text: str) -> bool:
    while "{" in text:
        before, _, rest = text.partition("{")
        expression, found, text = rest.partition("}")
        if not found or not is_literal(before) or not is_expression(expression):
            return False
    return is_literal(text)


def is_literal(text: str) -> bool:
    return bool(re.fullmatch('(?:%[0-9A-Fa-f]{2}|[^% <>{}"\\\\^`|])*', text))


def is_expression(text: str) -> bool:
    variables = text[1:] if text[:1] in tuple("+#./;?&=,!@|") else text
    return all(
        re.fullmatch(
            r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?::[1-9][0-9]{0,3}|\*)?", v
        )
        for v in variables.split(",")
    )


# Mail


@given(pieces("a", ".", "@", '"', "\\", " ", "é", "+", "<", "-", "b.c", "[1.2.3.4]", most=9))
@settings(max_examples=500)
def test_mail(text: str) -> None:
    local, _, domain = text.rpartition("@")
    quoted = re.fullmatch(r'"(?:[^"\\]|\\.)*"', local)
    atoms = all(atom and set(atom) <= set("abc+-") for atom in local.split("."))
    valid = local.isascii() and bool(quoted or atoms)
    valid = valid and (
        domain == "[1.2.3.4]"
        or all(label and set(label) <= set("abc-") and "-" not in (label[0], label[-1]) for label in domain.split("."))
    )
    assert accepts("email", text) == valid
