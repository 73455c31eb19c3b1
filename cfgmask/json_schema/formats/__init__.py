"""The formats of JSON Schema as regexes over the decoded string.

Each follows the standard named in its module. Where a standard asks for what no regex of sensible size can say, the
regex here is narrower and says so: a format may refuse a rare valid spelling, and never accepts an invalid one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.json_schema.formats import addresses, dates, ecma, hosts, idn, mail, pointers, uris
from cfgmask.json_schema.formats.pattern import Part, in_parts, read


@dataclass(frozen=True)
class Format:
    """How a format is enforced.

    allowed   what is generated: a pattern, parts that stand one behind the other, or what makes the tree
    possible  what the strings of the format are sure to match, where `allowed` is narrower than the standard
    """

    allowed: str | tuple[Part, ...] | Callable[[], RegexTree]
    possible: str | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is allowed, if it is said by patterns alone; else nothing."""
        if isinstance(self.allowed, str):
            return (Part(self.allowed),)
        return self.allowed if isinstance(self.allowed, tuple) else ()


FORMATS: dict[str, Format] = {
    "date-time": Format(dates.DATE_TIME, dates.POSSIBLE_DATE_TIME),
    "date": Format(dates.DATE),
    "time": Format(dates.TIME, dates.POSSIBLE_TIME),
    "duration": Format(dates.DURATION),
    "uuid": Format("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),  # RFC 4122, section 3
    "email": Format(mail.EMAIL, mail.POSSIBLE_EMAIL),
    "idn-email": Format(mail.idn_email, ".+@.+"),
    "ipv4": Format(addresses.IPV4),
    "ipv6": Format(addresses.IPV6),
    "hostname": Format(hosts.HOSTNAME, hosts.POSSIBLE_HOSTNAME),
    "idn-hostname": Format(idn.idn_hostname, idn.POSSIBLE_IDN_HOSTNAME),
    "uri": Format(uris.URI),
    "uri-reference": Format(uris.URI_REFERENCE),
    "iri": Format(uris.IRI, uris.POSSIBLE_IRI),
    "iri-reference": Format(uris.IRI_REFERENCE, uris.POSSIBLE_IRI_REFERENCE),
    "uri-template": Format(uris.URI_TEMPLATE),
    "json-pointer": Format(pointers.JSON_POINTER),
    "relative-json-pointer": Format(pointers.RELATIVE_JSON_POINTER, pointers.POSSIBLE_RELATIVE_JSON_POINTER),
    "regex": Format(ecma.REGEX, ".*"),
}


@cache
def format_regex(name: str) -> RegexTree | None:
    """The strings of a format; None where it is unknown."""
    found = FORMATS.get(name)
    if found is None:
        return None
    return found.allowed() if callable(found.allowed) else in_parts(found.parts)


@cache
def possible_regex(name: str) -> RegexTree | None:
    """What the strings of a format are sure to match, where `format_regex` is narrower than the standard; else None."""
    found = FORMATS.get(name)
    return None if found is None or found.possible is None else read(found.possible)


def is_known(name: str) -> bool:
    """Whether JSON Schema defines the format."""
    return name in FORMATS
