"""The formats of JSON Schema as regexes over the decoded string.

Each follows the standard named beside it. Where a standard asks for what no regex of sensible size can say, the regex
here is narrower and says so: a format may refuse a rare valid spelling, and never accepts an invalid one.
"""

from __future__ import annotations

from functools import cache

from cfgmask.grammar.regex_tree import Intersection, RegexTree
from cfgmask.regex import parse_regex


@cache
def format_regex(name: str) -> RegexTree | None:
    """The strings of a format; None where it is unknown or cannot be enforced (`UNENFORCEABLE_FORMATS`)."""
    pattern = _PATTERNS.get(name)
    if pattern is None:
        return None
    return _hostname() if name == "hostname" else _read(pattern)


def possible_regex(name: str) -> RegexTree | None:
    """What the strings of a format are sure to match, where `format_regex` is narrower than the standard; else None."""
    pattern = _WIDER.get(name)
    return None if pattern is None else _read(pattern)


def _hostname() -> RegexTree:
    return Intersection((_read(_PATTERNS["hostname"]), _read(".{1,253}")))


def _read(pattern: str) -> RegexTree:
    return parse_regex(pattern, dialect="python", flags="s", source_name="<format>")


def is_known(name: str) -> bool:
    """Whether JSON Schema defines the format."""
    return name in _PATTERNS or name in UNENFORCEABLE_FORMATS


def _one_of(*parts: str) -> str:
    return "(?:" + "|".join(parts) + ")"


# Dates and times: RFC 3339, section 5.6.

_LEAP_YEAR = r"(?:[0-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = _one_of(
    r"[0-9]{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    r"[0-9]{4}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    r"[0-9]{4}-02-(?:0[1-9]|1[0-9]|2[0-8])",
    _LEAP_YEAR + "-02-29",
)
_HOUR, _SIXTY = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_OFFSET = f"(?:[Zz]|[+-]{_HOUR}:{_SIXTY})"


def _leap_second() -> str:
    """A leap second, which is the last of a day in UTC.

    Only for offsets of which the minutes are in use somewhere: all others would make this 20 times as large.
    """
    local = [f"23:59:60{_FRACTION}(?:[Zz]|[+-]00:00)"]
    for offset in range(15, 24 * 60, 15):
        if offset % 60 != 15:
            for sign, time in (("+", offset - 1), ("-", 24 * 60 - 1 - offset)):
                shown = f"{offset // 60:02}:{offset % 60:02}"
                local.append(f"{time // 60:02}:{time % 60:02}:60{_FRACTION}[{sign}]{shown}")
    return _one_of(*local)


_FRACTION = r"(?:\.[0-9]+)?"
_TIME = _one_of(f"{_HOUR}:{_SIXTY}:{_SIXTY}{_FRACTION}{_OFFSET}", _leap_second())

# Durations: RFC 3339, appendix A.

_DUR_TIME = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DUR_DATE = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_DURATION = f"P(?:{_DUR_DATE}(?:{_DUR_TIME})?|{_DUR_TIME}|[0-9]+W)"

# Addresses: RFC 2673 (dotted quad), RFC 4291, section 2.2.

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = f"(?:{_H16}:{_H16}|{_IPV4})"


def _ipv6() -> str:
    """The nine forms of RFC 3986, by how many groups stand before the `::`."""
    forms = [f"(?:{_H16}:){{6}}{_LS32}"]
    for before in range(8):
        left = f"(?:{_H16}(?::{_H16}){{0,{before - 1}}})?" if before else ""
        right = 5 - before
        if right >= 0:
            tail = f"(?:{_H16}:){{{right}}}{_LS32}" if right else _LS32
        else:
            tail = _H16 if right == -1 else ""
        forms.append(f"{left}::{tail}")
    return _one_of(*forms)


_IPV6 = _ipv6()

# Host names: RFC 1123, section 2.1. Labels that begin with `xn--` are left out: whether one is valid is a matter of
# punycode, which no regex decides. The bound of 253 characters for the whole name is an intersection.

_ANY_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
# Spelled out, for a complement would cost every host name a search of whether it can still be completed. From the
# inside: after `xn-` no hyphen, after `xn` not `--`, after `x` not `n--`.
_AFTER_XN_ = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,58}[A-Za-z0-9])?"
_AFTER_XN = f"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{{0,59}}[A-Za-z0-9])?|-{_AFTER_XN_})"
_AFTER_X = (
    f"(?:[A-MO-Za-mo-z0-9](?:[A-Za-z0-9-]{{0,60}}[A-Za-z0-9])?|-[A-Za-z0-9-]{{0,60}}[A-Za-z0-9]|[Nn]{_AFTER_XN}?)"
)
_LABEL = f"(?:[A-WYZa-wyz0-9](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?|[Xx]{_AFTER_X}?)"

# E-mail: RFC 5321, section 4.1.2 (Mailbox).

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_LOCAL = rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})"
_MAIL_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_MAIL_DOMAIN = rf"(?:{_MAIL_LABEL}(?:\.{_MAIL_LABEL})*|\[(?:{_IPV4}|IPv6:{_IPV6})\])"

# URIs: RFC 3986, appendix A. `{extra}` is what IRIs (RFC 3987) allow besides.

_UCS = (
    r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF"
    r"\U00010000-\U0001FFFD\U00020000-\U0002FFFD\U00030000-\U0003FFFD\U00040000-\U0004FFFD\U00050000-\U0005FFFD"
    r"\U00060000-\U0006FFFD\U00070000-\U0007FFFD\U00080000-\U0008FFFD\U00090000-\U0009FFFD\U000A0000-\U000AFFFD"
    r"\U000B0000-\U000BFFFD\U000C0000-\U000CFFFD\U000D0000-\U000DFFFD\U000E1000-\U000EFFFD"
)
_PRIVATE = r"\uE000-\uF8FF\U000F0000-\U000FFFFD\U00100000-\U0010FFFD"
_PERCENT = "%[0-9A-Fa-f]{2}"


def _uri(extra: str, private: str, relative: bool) -> str:
    def some(characters: str) -> str:
        return rf"(?:[A-Za-z0-9._~!$&'()*+,;={extra}{characters}-]|{_PERCENT})"

    pchar = some(":@")
    authority = (
        rf"(?:{some(':')}*@)?"
        rf"(?:\[(?:{_IPV6}|[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]|{some('')}*)"
        r"(?::[0-9]*)?"
    )
    segments = f"(?:/{pchar}*)*"
    rest = rf"(?:\?(?:{some(':@/?' + private)})*)?(?:#(?:{some(':@/?')})*)?"
    absolute = (
        rf"[A-Za-z][A-Za-z0-9+.-]*:(?://{authority}{segments}|/(?:{pchar}+{segments})?|{pchar}+{segments}|){rest}"
    )
    if not relative:
        return absolute
    first = some("@")
    return _one_of(absolute, f"(?://{authority}{segments}|/(?:{pchar}+{segments})?|{first}+{segments}|){rest}")


# URI templates: RFC 6570, section 2.

_VARIABLE = rf"(?:[A-Za-z0-9_]|{_PERCENT})(?:\.?(?:[A-Za-z0-9_]|{_PERCENT}))*(?::[1-9][0-9]{{0,3}}|\*)?"
_EXPRESSION = rf"\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}}"
_TEMPLATE = rf"(?:[!#$&-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]|{_PERCENT}|{_EXPRESSION})*"

# JSON Pointers: RFC 6901, section 3, and the draft of relative ones.

_POINTER = r"(?:/(?:[^/~]|~[01])*)*"

_PATTERNS: dict[str, str] = {
    "date-time": f"{_DATE}[Tt]{_TIME}",
    "date": _DATE,
    "time": _TIME,
    "duration": _DURATION,
    "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "email": f"{_LOCAL}@{_MAIL_DOMAIN}",
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "hostname": rf"{_LABEL}(?:\.{_LABEL})*",
    "uri": _uri("", "", relative=False),
    "uri-reference": _uri("", "", relative=True),
    "iri": _uri(_UCS, _PRIVATE, relative=False),
    "iri-reference": _uri(_UCS, _PRIVATE, relative=True),
    "uri-template": _TEMPLATE,
    "json-pointer": _POINTER,
    "relative-json-pointer": rf"(?:0|[1-9][0-9]*)(?:#|{_POINTER})",
}

_WIDER: dict[str, str] = {
    "date-time": f"{_DATE}[Tt]{_HOUR}:{_SIXTY}:(?:{_SIXTY}|60){_FRACTION}{_OFFSET}",
    "time": f"{_HOUR}:{_SIXTY}:(?:{_SIXTY}|60){_FRACTION}{_OFFSET}",
    "hostname": rf"{_ANY_LABEL}(?:\.{_ANY_LABEL})*\.?",
}

UNENFORCEABLE_FORMATS: dict[str, str] = {
    "regex": "the patterns of ECMA-262 are not a regular language",
    "idn-email": "internationalised domain names are not supported yet",
    "idn-hostname": "internationalised domain names are not supported yet",
}
