"""GBNF text to the intermediate form: every stage of this package, in order."""

from __future__ import annotations

from dataclasses import replace

from cfgmask.diagnostics import Source
from cfgmask.gbnf.names import ROOT, defined_rules
from cfgmask.gbnf.options import with_options
from cfgmask.gbnf.reader import read
from cfgmask.grammar.ir import GrammarIR
from cfgmask.grammar.lexemes import with_lexemes
from cfgmask.grammar.useless import without_useless
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.problems import Problems
from cfgmask.regex.boundaries import has_clear_boundaries
from cfgmask.text import check_text


def parse_gbnf(text: str, *, name: str = "<grammar>", limits: Limits = DEFAULT_LIMITS, start: str = ROOT) -> GrammarIR:
    """Read a grammar in GBNF.

    text   the grammar
    name   what diagnostics call it, usually the path of its file
    start  the rule that every text is
    The language is that of the rules read as a context-free grammar over characters and tokens: every way to derive a
    text counts. So the result has the lexer `complete`, or `longest` where that is the same.
    Errors: GrammarError with every problem found, LimitExceeded. Warnings are the `notes` of the result.
    Cost: linear in the text. Threads: any.
    """
    source, problems = Source(name, text), Problems("gbnf-too-many-errors")
    check_text(source, limits, problems, "gbnf-not-text")
    document = read(source, limits, problems)
    rules = defined_rules(document, start, problems)
    problems.raise_errors()
    grammar = GrammarIR(rules=tuple(rules.values()), start=start, lexer="complete")
    grammar = without_useless(grammar, problems, endless="gbnf-endless-rule", unused="gbnf-unused-rule")
    grammar = with_options(grammar, document.options, limits, problems)
    problems.raise_errors()
    grammar = replace(with_lexemes(grammar), notes=problems.warnings)
    return replace(grammar, lexer="longest") if has_clear_boundaries(grammar) else grammar
