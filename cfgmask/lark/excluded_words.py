r"""Help for names without keywords, `(?!(?:if|else|…)\b)[a-z]\w*`, where the lookahead is too complex."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cfgmask.diagnostics import Diagnostic, shortened

_EXCLUDED = re.compile(r"\(\?!(?P<words>\((?:\?:)?[\w|\\-]+\)|[\w|\\-]+?)(?:\\b|\$)\)(?P<name>.+)", re.DOTALL)


def with_help(found: Iterable[Diagnostic], pattern: str) -> Iterator[Diagnostic]:
    """The diagnostics of a pattern; one of assertions that exclude words says how to write that as a difference."""
    excluded = _EXCLUDED.fullmatch(pattern)
    for diagnostic in found:
        if diagnostic.code != "regex-assertions-too-complex" or excluded is None:
            yield diagnostic
            continue
        words = re.sub(r"^\((?:\?:)?|\)$", "", excluded["words"])
        yield replace(
            diagnostic,
            help=f"take the words out of a terminal, as in `NAME: /{excluded['name']}/ & ~/(?:{shortened(words)})/`; "
            "that is the same if names have word characters only: where they may have a `-`, say, the lookahead "
            "also excludes `if-x`, and the difference does not",
        )
