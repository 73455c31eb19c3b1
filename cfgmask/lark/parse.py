"""Extended Lark text to the intermediate form: every stage of this package, in order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cfgmask.diagnostics import Source, Span
from cfgmask.grammar.ir import GrammarIR
from cfgmask.lark import nodes
from cfgmask.lark.lower import lower_document
from cfgmask.lark.modules import Files
from cfgmask.lark.problems import Problems
from cfgmask.lark.reader import read
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.text import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cfgmask.json_schema import JsonSchemaOptions
    from cfgmask.lark.inner import GivenGrammar


def parse_lark(
    text: str,
    *,
    name: str = "<grammar>",
    limits: Limits = DEFAULT_LIMITS,
    json_options: JsonSchemaOptions | None = None,
    folder: Path | Files | None = None,
    grammars: Mapping[str, GivenGrammar] | None = None,
    start: str = nodes.START,
    lazy: bool = False,
    held: bytes | None = None,
    embedded: bool = False,
) -> GrammarIR:
    """Read a grammar in extended Lark.

    text          the grammar
    name          what diagnostics call it, usually the path of its file
    json_options  for the schemas in `%json` blocks
    folder        where relative imports look for files, there and below; None: they are refused
    grammars      what `@name` refers to: texts in this language, or grammars that were read
    start         the rule that every text is
    lazy          whether schemas in `%json` blocks may stay parts of the grammar (`ir.Part`), which have their notes
    held          the bytes that the values of `%json` blocks may consist of, ascending; None: any
    embedded      whether the grammar becomes part of another, in which tokens may stand beside its lexemes
    Errors: GrammarError with every problem found, LimitExceeded. Warnings are the `notes` of the result.
    Cost: linear in the text, some 5 microseconds a token.
    Threads: any.
    """
    source, problems = Source(name, text), Problems()
    check_text(source, limits, problems, "lark-not-text")
    document = read(Span(source, 0, len(text)), limits, problems)
    files = folder if isinstance(folder, Files) else Files(folder)
    return lower_document(
        document,
        limits,
        json_options,
        files,
        grammars or {},
        start,
        problems,
        lazy=lazy,
        held=held,
        embedded=embedded,
    )
