"""What may stand in place of a grammar."""

from __future__ import annotations

import re
import typing
from typing import Any

from cfgmask import Grammar


def grammar_of(what: Any) -> Any:
    """The grammar that a type, schema, pattern or list of texts makes; anything else as it is, for others to judge.

    Raises what `Grammar`'s readers raise.
    """
    if isinstance(what, dict):
        return Grammar.from_json_schema(what)
    if isinstance(what, re.Pattern):
        flags = "".join(letter for letter in "aimsx" if what.flags & getattr(re, letter.upper()))
        return Grammar.from_regex(what.pattern, flags=flags)
    if isinstance(what, (list, tuple)):
        return Grammar.from_choices(what)
    if isinstance(what, type) or typing.get_origin(what) is not None:
        return Grammar.from_type(what)
    return what
