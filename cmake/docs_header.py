"""`docs_header.py STUB HEADER`: the docstrings of a stub file as constants of C++.

The module's is `docs::module`, that of a function or class `docs::Name`, that of a member `docs::Class_member`.
What the bindings name and the stub does not document is an error of the compiler.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

_HEAD = """\
// Made from cfgmask/_core.pyi by cmake/docs_header.py.
#pragma once

namespace cfgmask::docs {
"""


def docstrings(stub: str) -> Iterator[tuple[str, str]]:
    """Name and docstring of all that has one."""
    tree = ast.parse(stub)
    for name, node in (("module", tree), *_definitions(tree, "")):
        text = ast.get_docstring(node)
        if text is not None:
            yield name, text


def _definitions(
    parent: ast.Module | ast.ClassDef, prefix: str
) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    for node in parent.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield prefix + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node, f"{node.name}_")


def main(stub: str, header: str) -> None:
    constants = [
        f'inline constexpr const char* {name} = R"docs({text})docs";\n'
        for name, text in docstrings(Path(stub).read_text(encoding="utf-8"))
    ]
    target = Path(header)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join([_HEAD, *constants, "}  // namespace cfgmask::docs\n"]), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
