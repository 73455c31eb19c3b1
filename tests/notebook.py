"""Runs a notebook as Jupyter would, without Jupyter: `python -m tests.notebook FILE` writes its outputs anew.

Cells run one after the other in one namespace. A cell shows what it prints, and the value of its last expression, as
HTML too if the value has it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs that its cells have now."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            outputs = _outputs("".join(cell["source"]), namespace, number)
            cell = {**cell, "outputs": outputs, "execution_count": number}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"<cell {number}>", "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        shown = {"output_type": "execute_result", "execution_count": number, "data": data, "metadata": {}}
        outputs.append(shown)
    return outputs


def main() -> None:
    path = Path(sys.argv[1])
    done = run(json.loads(path.read_text("utf-8")))
    path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
