"""Patterns as ECMA-262 has them, asked of node: `re`, which `jsonschema` uses, differs in `$`, `.` and `\\s`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from unittest import mock

import jsonschema._keywords
import jsonschema._legacy_keywords
import jsonschema._utils

IS_INSTALLED = shutil.which("node") is not None

_JAVASCRIPT = """
require("readline").createInterface({input: process.stdin}).on("line", line => {
    const [pattern, text] = JSON.parse(line);
    let regex;
    try { regex = new RegExp(pattern, "u"); } catch { regex = new RegExp(pattern); }
    console.log(regex.test(text));
});
"""


class Node:
    """A running node that stands in for the module `re`: of its functions `jsonschema` uses `search` alone."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self._node = subprocess.Popen(["node", "-e", _JAVASCRIPT], stdin=pipe, stdout=pipe, text=True)

    def search(self, pattern: str, text: str) -> bool:
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps([pattern, text]) + "\n")
        self._node.stdin.flush()
        answer = self._node.stdout.readline()
        assert answer, f"node does not take {pattern!r}"
        return answer == "true\n"


@cache
def _node() -> Node:
    return Node()


@contextmanager
def ecma_patterns() -> Iterator[None]:
    """Within it, `jsonschema` reads patterns in the dialect of JSON Schema."""
    with ExitStack() as patches:
        for module in (jsonschema._keywords, jsonschema._legacy_keywords, jsonschema._utils):
            patches.enter_context(mock.patch.object(module, "re", _node()))
        yield
