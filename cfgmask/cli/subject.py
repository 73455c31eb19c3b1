"""The grammar that `cfgmask check` is about, as far as it could be read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cfgmask
from cfgmask.cli.failures import diagnostics_of
from cfgmask.compiler.grammar import is_structural_tag
from cfgmask.diagnostics import Diagnostic, Source, Span
from cfgmask.errors import CfgmaskError
from cfgmask.grammar.ir import GrammarIR
from cfgmask.source_file import read_source

if TYPE_CHECKING:
    from cfgmask.json_schema import Covered


@dataclass(frozen=True)
class Subject:
    """What became of a grammar's file.

    grammar   None where it has errors
    problems  the errors
    coverage  what becomes of a schema's keywords; None for other grammars and for what is no JSON
    """

    grammar: cfgmask.Grammar | None
    problems: tuple[Diagnostic, ...] = ()
    coverage: tuple[Covered, ...] | None = None


def rules_of(grammar: cfgmask.Grammar) -> GrammarIR | None:
    """All rules of a grammar; None where they are too many to be made all at once, though it can be compiled."""
    try:
        return grammar.ir
    except CfgmaskError:
        return None


def read_subject(file: Path, start: str | None, options: dict[str, Any]) -> Subject:
    """Read a file, and a schema once for both its grammar and its coverage. Raises OSError.

    start    the rule that every text is; None takes the usual one
    options  for a schema, the fields of `JsonSchemaOptions`
    """
    try:
        if file.suffix == ".json" and start is None:
            return _read_schema(file, options)
        return Subject(cfgmask.Grammar.from_file(file, start=start))
    except CfgmaskError as error:
        return Subject(None, diagnostics_of(error))


def _read_schema(file: Path, options: dict[str, Any]) -> Subject:
    # Grammars in Lark need not wait for what reads schemas.
    from cfgmask.json_schema import JsonSchemaOptions, attempt, coverage_of

    limits = cfgmask.Limits()
    text = read_source(file, limits)
    if is_structural_tag(text):
        return Subject(cfgmask.Grammar.from_file(file, **options))
    span = Span(Source(str(file), text), 0, len(text))
    coverage = None
    with suppress(CfgmaskError):
        coverage = coverage_of(attempt(text, options=JsonSchemaOptions(**options), limits=limits, span=span))
    try:
        return Subject(cfgmask.Grammar.from_json_schema(text, name=str(file), limits=limits, **options), (), coverage)
    except CfgmaskError as error:
        return Subject(None, diagnostics_of(error), coverage)
