"""Addresses of the Internet: dotted quads (RFC 2673, section 3.2) and IPv6 (RFC 4291, section 2.2)."""

from __future__ import annotations

from cfgmask.json_schema.formats.pattern import one_of

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = "[0-9A-Fa-f]{1,4}"


def _with_gap(groups: int, last: str) -> list[str]:
    """A `::` with at most so many groups around it, by how many stand before it.

    last  what may stand in the place of the last two groups, "" if only groups may
    """
    found = []
    for before in range(groups + 1):
        left = f"{_GROUP}(?::{_GROUP}){{{before - 1}}}" if before else ""
        after = groups - before
        if last:
            found.append(f"{left}::(?:{_GROUP}:){{0,{after}}}{last}")
        else:
            found.append(f"{left}::" + (f"(?:{_GROUP}(?::{_GROUP}){{0,{after - 1}}})?" if after else ""))
    return found


def _ipv6(shortest_gap: int) -> str:
    """An address in which `::` stands for at least so many groups."""
    full = [f"{_GROUP}(?::{_GROUP}){{7}}", f"{_GROUP}(?::{_GROUP}){{5}}:{IPV4}"]
    return one_of(*full, *_with_gap(8 - shortest_gap, ""), *_with_gap(6 - shortest_gap, IPV4))


IPV6 = _ipv6(shortest_gap=1)
# RFC 5321, section 4.1.3: in mail a `::` stands for two groups or more.
MAIL_IPV6 = _ipv6(shortest_gap=2)
