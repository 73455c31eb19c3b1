"""Where the members of a JSON object stand that is part of a grammar. `json` keeps no places."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def member_places(text: str) -> Iterator[tuple[str, int, int]]:
    """The members of the object that the text is, in order: the key, and where the member begins and ends.

    The text must be JSON. Linear.
    """
    depth, key, start, end = 0, "", -1, 0
    for match in _LEXEME.finditer(text):
        lexeme = match[0]
        if depth == 1 and lexeme in (",", "}"):
            if start >= 0:
                yield key, start, end
            start = -1
        elif depth == 1 and start < 0:
            key, start = json.loads(lexeme), match.start()
        depth += (lexeme in ("{", "[")) - (lexeme in ("}", "]"))
        end = match.end()
