"""Where the values of a JSON text stand in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?P<quote>"?)|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")


class JsonField(NamedTuple):
    """A value: its path, as in `items[0].price`, and which bytes of the text it is."""

    path: str
    start: int
    end: int


def json_fields(data: bytes) -> Iterator[JsonField]:
    """The values of a JSON text that stand in its outermost one, in the order in which they end; of a scalar itself.

    data  a JSON text, or its beginning: values that have not ended are left out
    Cost: linear in the text and in the paths.
    """
    open_values: list[tuple[bytes, str, int]] = []  # bracket, path, where it begins
    path, index, key = "", 0, None
    counts: list[int] = []
    for token in _TOKEN.finditer(data):
        written = token[0]
        if token["quote"] == b"":
            return
        if written in b"]}":
            _, path, start = open_values.pop()
            index = counts.pop()
            if path:
                yield JsonField(path, start, token.end())
        elif written == b",":
            index, key = index + 1, None
        elif written == b":":
            pass
        elif open_values and open_values[-1][0] == b"{" and key is None:
            key = json.loads(written)
        else:
            path = _path(open_values[-1] if open_values else None, index, key)
            if written in b"[{":
                open_values.append((written, path, token.start()))
                counts.append(index)
                index, key = 0, None
            elif token.end() < len(data) or not open_values:
                yield JsonField(path, token.start(), token.end())


def _path(around: tuple[bytes, str, int] | None, index: int, key: str | None) -> str:
    if around is None:
        return ""
    bracket, path, _ = around
    if bracket == b"[":
        return f"{path}[{index}]"
    name = str(key)
    if not _NAME.fullmatch(name):
        return f"{path}[{json.dumps(name, ensure_ascii=False)}]"
    return f"{path}.{name}" if path else name
