"""Everything that the commands print goes through here.

What a command was asked for goes to stdout, remarks go to stderr. Colours appear only on a terminal and never with
`NO_COLOR`; nothing that is printed can raise for its encoding or send control sequences of a file to the terminal.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from cfgmask.diagnostics import Diagnostic

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)}


def make_streams_tolerant() -> None:
    """Let stdout and stderr write a character that their encoding lacks as an escape instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_labelled(label: str, text: str) -> None:
    """A line of two columns; the first is bold on a terminal."""
    print_rows([(label, "bold", text)])


def print_rows(rows: Iterable[tuple[str, str, str]]) -> None:
    """Lines of two columns: a label, its style on a terminal, and a text."""
    console = _console(sys.stdout)
    for label, style, text in rows:
        console.print(Text.assemble((label, style), "  ", text), soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document, in ASCII, so that no locale can spoil it."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_diagnostics(diagnostics: Iterable[Diagnostic], stream: TextIO | None = None) -> None:
    """Each diagnostic with its source line and caret, an empty line after each."""
    stream = stream or sys.stdout
    color = _is_coloured(stream)
    for diagnostic in diagnostics:
        stream.write(diagnostic.render(color=color) + "\n\n")


def stream_text(piece: str) -> None:
    """A piece of generated text, at once. On a terminal its control characters are shown, not obeyed."""
    sys.stdout.write(piece.translate(_CONTROL) if sys.stdout.isatty() else piece)
    sys.stdout.flush()


def bytes_to_json(data: bytes) -> dict[str, str | None]:
    """The bytes for machines: as text, None where they are not UTF-8, and in hexadecimal."""
    try:
        text: str | None = data.decode()
    except UnicodeDecodeError:
        text = None
    return {"text": text, "hex": data.hex()}


def _is_coloured(stream: TextIO) -> bool:
    console = _console(stream)
    return console.is_terminal and not console.no_color


def _console(stream: TextIO) -> Console:
    return Console(file=stream, highlight=False, emoji=False, markup=False)
