"""Tables of what is reported: Markdown, in which each section has a text and the report about it, rendered.

The title of a section begins with the code that it is about. `(nothing)` is the empty text, and `{NUL}` is U+0000.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from cfgmask import GrammarError
from cfgmask.diagnostics import Diagnostic

PACKAGE = Path(__file__).parents[1] / "cfgmask"
_SPECIAL = {"(nothing)": "", "{NUL}": "\0"}


class Section(NamedTuple):
    title: str
    text: str
    report: str

    @property
    def code(self) -> str:
        return self.title.partition(":")[0]


def sections(table: Path, language: str) -> list[Section]:
    """Those of a table whose texts are blocks of this language; all of them are."""
    found = re.compile(
        rf"^## ([^\n]*)\n\n```{language}\n(.*?)\n```\n\n```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL
    ).findall(table.read_text("utf-8"))
    assert len(found) == table.read_text("utf-8").count("\n## ")
    return [Section(*each) for each in found]


def reported(read: Callable[[str], Iterable[Diagnostic]], text: str) -> str:
    """What is said about a text; `read` gives the notes, or raises GrammarError."""
    for shown, meant in _SPECIAL.items():
        text = text.replace(shown, meant)
    try:
        found = read(text)
    except GrammarError as error:
        found = error.diagnostics
    return "\n".join(diagnostic.render() for diagnostic in found)


def codes_in(folder: str, prefix: str) -> set[str]:
    """The codes that a part of the package reports."""
    sources = "\n".join(path.read_text("utf-8") for path in sorted((PACKAGE / folder).rglob("*.py")))
    return set(re.findall(rf'"({prefix}-[a-z-]*[a-z])"', sources))
