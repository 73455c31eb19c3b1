"""A page of the site with an example of each diagnostic: the tables that the tests hold the reports to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent.parent / "tests"

# Title, table, and what the examples are written in.
PARTS = (
    ("Grammars", "lark/diagnostics.md", "lark"),
    ("GBNF", "gbnf/diagnostics.md", "gbnf"),
    ("Patterns", "regex/diagnostics.txt", "regex"),
    ("JSON Schemas", "json_schema/diagnostics.txt", "json"),
    ("Tools", "tools/diagnostics.md", "json"),
    ("Structural tags", "tags/diagnostics.md", "json"),
)
_FIRST = """# All codes

An example of each diagnostic: the input, and the report about it. The tests compare these reports.
The findings of `cfgmask check` have [a page of their own](diagnostics.md#what-cfgmask-check-finds).
For tools, the example is the argument of `Grammar.from_tools`. For patterns, its first word is the dialect."""
_CODE = re.compile(r"^(?:error|warning|note)\[([\w-]+)\]", re.MULTILINE)
_BLOCKS = re.compile(r"^## ([^\n]*)\n\n(.*?)\n\n```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_PLAIN = re.compile(r"^## (.*?)\n((?:error|warning|note)\[.*?)(?=\n\n## |\s*\Z)", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A code; what it is reported about, as Markdown; the report."""

    code: str
    given: str
    report: str


def examples(table: str, language: str) -> Iterator[Example]:
    """One for each code of a table: that of which the title says so, else the first that reports it."""
    text = (TESTS / table).read_text("utf-8")
    if table.endswith(".md"):
        found = [(title.partition(":")[0], given, report) for title, given, report in _BLOCKS.findall(text)]
    else:
        found = [("", f"```{language}\n{given}\n```", report) for given, report in _PLAIN.findall(text)]
    known = set()
    for title, given, report in found:
        code = title if title in (codes := _CODE.findall(report)) else codes[0]
        if code not in known:
            known.add(code)
            yield Example(code, given, report)


def page() -> str:
    """The page as Markdown."""
    parts = [_FIRST]
    known: set[str] = set()
    for title, table, language in PARTS:
        parts.append(f"## {title}")
        for code, given, report in sorted(examples(table, language)):
            # Patterns stand in grammars, too.
            if code in known:
                continue
            known.add(code)
            parts += [f"### `{code}`", given, f"```text\n{report}\n```"]
    return "\n\n".join(parts) + "\n"
