"""Host names: RFC 1123, section 2.1.

Labels that begin with `xn--` are left out: whether one is valid is a matter of punycode, which no regex decides.
"""

from __future__ import annotations

from cfgmask.json_schema.formats.pattern import Part

ANY_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
# Spelled out, for a complement would cost every host name a search of whether it can still be completed. From the
# inside: after `xn-` no hyphen, after `xn` not `--`, after `x` not `n--`.
_AFTER_XN_ = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,58}[A-Za-z0-9])?"
_AFTER_XN = f"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{{0,59}}[A-Za-z0-9])?|-{_AFTER_XN_})"
_AFTER_X = (
    f"(?:[A-MO-Za-mo-z0-9](?:[A-Za-z0-9-]{{0,60}}[A-Za-z0-9])?|-[A-Za-z0-9-]{{0,60}}[A-Za-z0-9]|[Nn]{_AFTER_XN}?)"
)
_LABEL = f"(?:[A-WYZa-wyz0-9](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?|[Xx]{_AFTER_X}?)"

POSSIBLE_HOSTNAME = rf"{ANY_LABEL}(?:\.{ANY_LABEL})*\.?"
# At most 253 characters, which is what fits the 255 octets of the protocol.
HOSTNAME = (Part(rf"{_LABEL}(?:\.{_LABEL})*", 253),)
