"""A `Document` to the IR: names, then terminals, then rules, then the checks that need all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cfgmask.errors import GrammarError
from cfgmask.grammar import ir
from cfgmask.grammar.productive import productive_rules
from cfgmask.grammar.useless import UNUSED, without_useless
from cfgmask.grammar.walk import walk
from cfgmask.lark import nodes
from cfgmask.lark.declared import bind
from cfgmask.lark.extension_terminals import EXTENSION_TOKENS
from cfgmask.lark.ignored_text import greedy_ignores
from cfgmask.lark.indenter import Indentation, indent_tokens
from cfgmask.lark.inner import GivenGrammar, GrammarText, InnerGrammars
from cfgmask.lark.lazy_ends import lazy_ends
from cfgmask.lark.link import link
from cfgmask.lark.modules import Files, Module, Modules
from cfgmask.lark.names import Symbols, resolve_names
from cfgmask.lark.one_terminal import OneTerminalLowering
from cfgmask.lark.options import GrammarOptions, read_options
from cfgmask.lark.patterns import TOKEN_GROUP
from cfgmask.lark.problems import Problems
from cfgmask.lark.rules import Place, RuleLowering
from cfgmask.lark.templates import expand
from cfgmask.lark.terminals import TerminalLowering, TerminalRegex
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask.json_schema import JsonSchemaOptions


def lower_document(
    document: nodes.Document,
    limits: Limits,
    json_options: JsonSchemaOptions | None,
    files: Files,
    grammars: Mapping[str, GivenGrammar],
    start: str,
    problems: Problems,
    *,
    lazy: bool = False,
    held: bytes | None = None,
    embedded: bool = False,
) -> ir.GrammarIR:
    """The grammar that a document describes, with what is inside it.

    files       what relative imports look for
    grammars    those that `@name` refers to
    start       the rule that every text is
    lazy        whether schemas in `%json` blocks may stay parts of the grammar
    held        the bytes that values of `%json` blocks may consist of; None: any
    embedded    whether the grammar becomes part of another
    Raises GrammarError with all of `problems`, and LimitExceeded.
    """
    options = read_options(document.options, problems)
    inner = InnerGrammars(
        grammars, json_options, options.lexer, limits, problems, lazy=lazy, held=held, embedded=embedded
    )
    inner.pending.append(GrammarText(document, options, "", 0, start))
    modules = Modules(files, limits, problems)
    while inner.pending:
        _lower_text(inner.pending.popleft(), inner, files.folder, modules, limits, problems)
    problems.raise_errors()
    grammar = ir.GrammarIR(
        rules=tuple(inner.rules),
        start=start,
        scopes=tuple(inner.scopes),
        lexer=options.lexer,
        ignore_initial=options.ignore_initial,
        ignore_final=options.ignore_final,
        indenter=inner.indenter,
    )
    _refuse_unbound(grammar, problems)
    grammar = without_useless(
        grammar, problems, endless="lark-endless-rule", unused="lark-unused-rule", places=inner.places
    )
    problems.extend(greedy_ignores(grammar))
    notes = problems.warnings
    return replace(grammar, notes=notes) if notes else grammar


def _refuse_unbound(grammar: ir.GrammarIR, problems: Problems) -> None:
    """Declared terminals that nothing is bound to are what keeps a start rule from ending: they are the errors then."""
    unbound = [warning for warning in problems.warnings if warning.code == "lark-unbound"]
    if unbound and grammar.start not in productive_rules(grammar):
        others = [warning for warning in problems.warnings if warning.code != "lark-unbound"]
        raise GrammarError([*(replace(warning, severity="error") for warning in unbound), *others])


def _lower_text(
    text: GrammarText, inner: InnerGrammars, folder: Path | None, modules: Modules, limits: Limits, problems: Problems
) -> None:
    """Add one grammar to `inner`, its rules before those that they lead to."""
    document = text.document
    _refuse_empty(document, problems)
    scope, n_rules = inner.open_scope(text), len(inner.rules)
    table = link(Module(document.place.source.name, document, folder), modules, limits, problems)
    symbols = resolve_names(document, table, text.start, problems)
    for name, place in symbols.places.items():
        inner.places[text.prefix + name] = place
    declared = bind(symbols.declared, text.options.declared, problems) if text.options.declared else {}
    if text.options.indenter is not None:
        declared |= indent_tokens(*text.options.indenter, symbols, declared, problems)
    written_out, unused_templates = expand(symbols.rules, limits, problems)
    literals = TerminalLowering(
        limits,
        inner.patterns,
        problems,
        is_alone=lambda: not inner.embedded and not text.depth and _is_text_alone(text.options, written_out.values()),
    )
    named = literals.define(symbols.terminals)
    one_terminal = OneTerminalLowering(named, written_out, literals, limits, problems)
    lowering = RuleLowering(symbols, named, declared, literals, one_terminal, Place(inner, text, scope), problems)
    rules = [lowering.lower(rule) for rule in written_out.values()]
    if unused_templates:
        _check_unused_templates(unused_templates, symbols, lowering, problems)
    ignored: list[ir.Terminal] = []
    for ignore in document.ignores:
        ignored += _ignored(ignore, named, literals, lowering, problems)
    if named:
        _warn_of_empty_terminals(symbols, named, problems)
    if literals.has_lazy_end:
        problems.extend(lazy_ends(document))
    if text.options.indenter is not None:
        indentation = Indentation(*text.options.indenter, symbols, named, limits, problems)
        rules, ignored = [indentation.rule(rule) for rule in rules], [*indentation.ignored(ignored)]
        inner.indenter = indentation.indenter(scope)
    inner.rules[n_rules:n_rules] = rules
    inner.scopes[scope] = ir.Scope(inner.scopes[scope].name, tuple(ignored), text.options.ignore_once)


def _is_text_alone(options: GrammarOptions, rules: Iterable[nodes.Definition]) -> bool:
    """Whether a lexeme ends only before what it cannot go on with, and there is nothing but text.

    Between the texts of two tokens, or after the last token that a limit allows, any lexeme ends.
    """
    if options.lexer != "longest" or options.declared or options.indenter is not None:
        return False
    return not any(
        rule.attributes.max_tokens is not None
        or rule.attributes.stop is not None
        or any(
            isinstance(node, (nodes.SpecialTokens, nodes.LarkBlock, nodes.Subgrammar))
            or (isinstance(node, nodes.Name) and node.text in EXTENSION_TOKENS)
            or (isinstance(node, nodes.Pattern) and TOKEN_GROUP.search(node.body.text))
            for node in nodes.walk(rule.body)
        )
        for rule in rules
    )


def _refuse_empty(document: nodes.Document, problems: Problems) -> None:
    """An empty grammar is told apart from one without a start rule: it is often the wrong file."""
    statements = [*document.definitions, *document.changes, *document.declarations, *document.ignores]
    if not statements and not document.imports and not document.options and not document.defined_elsewhere:
        span = document.place
        problems.raise_errors()
        problems.error("lark-empty", "the grammar is empty", span, help="write at least `start: ...`")
        problems.raise_errors()


def _ignored(
    ignore: nodes.Ignore,
    named: dict[str, TerminalRegex],
    literals: TerminalLowering,
    rules: RuleLowering,
    problems: Problems,
) -> Iterator[ir.Terminal]:
    """The terminal of an `%ignore`, in its cases. A lone name is that terminal itself."""
    lowered = literals.lower(ignore.body, named)
    if lowered.only_empty:
        problems.error("lark-empty-ignore", "only the empty text would be ignored", ignore.span)
    found = rules.terminal(ignore.body) if isinstance(ignore.body, nodes.Name) else None
    if found is None:
        literals.check_used(lowered, ignore.body)
        found = literals.terminals(nodes.spelling(ignore.body), lowered, 0, ignore.body.span, ignore.body)
    return (part for part in walk(found) if isinstance(part, ir.Terminal))


def _check_unused_templates(
    templates: list[nodes.Definition], symbols: Symbols, lowering: RuleLowering, problems: Problems
) -> None:
    """What is wrong inside of them is said as of any other rule."""
    # A use of them may have been what could not be read.
    tell = not problems.has_errors
    for template in templates:
        lowering.lower(template)
        if tell and template.name in symbols.places:
            problems.warning(
                "lark-unused-rule", f"the template `{template.name}` is not used", template.span, help=UNUSED
            )


def _warn_of_empty_terminals(symbols: Symbols, named: dict[str, TerminalRegex], problems: Problems) -> None:
    for name in symbols.places:
        if name in symbols.terminals and named[name].only_empty and not named[name].is_lazy:
            message = f"the terminal `{name}` matches the empty text only"
            problems.warning("lark-empty-terminal", message, symbols.terminals[name].span)
