"""What a reference that points to nothing may have meant."""

from __future__ import annotations

from urllib.parse import quote

from cfgmask.json_schema.values import JsonValue, escape, unescape
from cfgmask.suggest import closest

_DEFINITIONS = ("$defs", "definitions")
_MOST_NAMES = 1_000


def near_reference(document: JsonValue, reference: str) -> str | None:
    """A reference within a document that is nearly this one and points to a schema; None if there is none.

    The name may be misspelt, in the other of `$defs` and `definitions`, or stand without its path.
    """
    if not isinstance(document, dict) or len(reference) > 200:
        return None
    names = {
        name: keyword
        for keyword in _DEFINITIONS
        if isinstance(held := document.get(keyword), dict) and len(held) <= _MOST_NAMES
        for name in held
    }
    if not names:
        return None
    path = [unescape(token) for token in reference.rpartition("#")[2].lstrip("/").split("/")]
    last = path[-1]
    name = last if last in names else closest(last, names)
    if name is None:
        return None
    found = f"#/{names[name]}/{quote(escape(name), safe='~!$&()*+,;=:@-._')}"
    return None if found == reference else found
