"""The pages of the documentation, cut into what can be checked.

A page is Markdown. What it claims stands in it as a reader sees it:

    ```python        runs, after the blocks before it on the page; a `text` block right after it is what it prints
    ```lark          is a grammar that can be used; a `text` block right after it is what is reported about it
    ```json          is JSON, and a schema if one of the sentences below follows
    ```console       is a session; in docs/cli.md and below docs/how-to/ each command prints what follows it
    ```sh, ...       not checked

Sentences after a block, each on a line of its own, with texts or codes in backticks; what follows a `;` is only prose:

    Allows `a`, `ab` and the empty text.        Refuses `b`; it is none.
    Refused with `lark-unknown-rule`.           Reports `lark-unused-rule`.

A table row whose last cell is a code (`lark-…`, `schema-…`, `regex-…`) says that the code span in the cell before it is
refused with that code. The word `skip` after a block's language takes the block out, `key=value` is an option.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
HOW_TO = [page for page in PAGES if page.parent.name == "how-to"]

EMPTY_TEXT = "the empty text"
_FENCE = re.compile(r"(```+)(\S*) ?(.*)")
_SENTENCE = re.compile(r"(Allows|Refuses|Refused with|Reports) (.*)")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_CODE = re.compile(r"(?:lark|schema|regex|token)-[a-z-]*[a-z]")
_CELL_END = re.compile(r"(?<!\\)\|")


@dataclass
class Block:
    """A fenced block and what the page says about it. `line` is that of its first line of content, from 1."""

    page: Path
    line: int
    language: str
    options: list[str]
    text: str
    sentences: dict[str, list[str]] = field(default_factory=dict)
    output: str | None = None

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"

    @property
    def is_skipped(self) -> bool:
        return "skip" in self.options

    @property
    def keywords(self) -> dict[str, str]:
        """The options of the form `key=value`."""
        return dict(option.split("=", 1) for option in self.options if "=" in option)


@dataclass(frozen=True)
class Refused:
    """A row of a table of refusals."""

    place: str
    text: str
    code: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page that are not taken out, in order, with the sentences after each."""
    found: list[Block] = []
    fence, content = "", list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        opening = _FENCE.fullmatch(line)
        if fence:
            if line == fence:
                found[-1].text = "\n".join(content) + "\n"
                fence = ""
            else:
                content.append(line)
        elif opening:
            fence, content = opening[1], []
            found.append(Block(page, number + 1, opening[2], opening[3].split(), ""))
        elif found and (sentence := _SENTENCE.fullmatch(line)):
            found[-1].sentences.setdefault(sentence[1], []).extend(_texts(sentence[2]))
    assert not fence, f"{page.name}: a block is not closed"
    return _with_outputs([block for block in found if not block.is_skipped])


def _with_outputs(found: list[Block]) -> list[Block]:
    for block, following in pairwise(found):
        if following.language == "text" and block.language in ("python", "lark", "json"):
            block.output = following.text
    return found


def refused_rows(page: Path) -> list[Refused]:
    """The rows of the page's tables whose last cell is a code."""
    found = []
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        cells = [cell.strip() for cell in _CELL_END.split(line)][1:-1] if line.startswith("|") else []
        if len(cells) > 1 and _CODE.fullmatch(cells[-1].strip("`")):
            (text,) = code_spans(cells[-2].replace("\\|", "|"))
            found.append(Refused(f"{page.name}:{number}", text, cells[-1].strip("`")))
    return found


def code_spans(text: str) -> list[str]:
    """What stands in backticks, as CommonMark reads it: one blank on each side is padding."""
    found = []
    for match in _CODE_SPAN.finditer(text):
        span = match[2]
        padded = span.startswith(" ") and span.endswith(" ") and span.strip(" ")
        found.append(span[1:-1] if padded else span)
    return found


def _texts(sentence: str) -> list[str]:
    """The texts that a sentence names before its first semicolon outside of backticks."""
    prose = _CODE_SPAN.sub(lambda span: "`" * len(span[0]), sentence)
    end = prose.find(";") if ";" in prose else len(prose)
    return code_spans(sentence[:end]) + ([""] if EMPTY_TEXT in prose[:end] else [])


def links(page: Path) -> list[tuple[str, str]]:
    """The links of a page into this repository: a path, "" for the page itself, and an anchor or ""."""
    targets = re.findall(r"\]\(([^)\s]+)\)", _prose(page))
    parts = [target.partition("#") for target in targets if "://" not in target]
    return [(path, anchor) for path, _, anchor in parts]


def anchors(page: Path) -> set[str]:
    """What links to a page's headings are called."""
    headings = re.findall(r"^#+ (.*)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def words_in_backticks(page: Path) -> set[str]:
    """The code spans of a page, its blocks aside."""
    return set(code_spans(_prose(page)))


def _prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
