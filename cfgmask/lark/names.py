"""Whether every name that a grammar uses is one that it defines, declares or imports, and is in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TypeAlias

from cfgmask.diagnostics import Fix, Related, Span
from cfgmask.grammar.useless import UNUSED
from cfgmask.lark import nodes
from cfgmask.lark.extension_terminals import EXTENSION_TEMPLATES, EXTENSION_TERMINALS
from cfgmask.lark.habits import near_unknown
from cfgmask.lark.link import Entry, Table
from cfgmask.lark.modules import library
from cfgmask.lark.parametric import check_parameter
from cfgmask.lark.problems import Problems
from cfgmask.lark.reader import is_terminal_name
from cfgmask.suggest import closest, did_you_mean, question


@dataclass(frozen=True, eq=False)
class Symbols:
    """What the names of a grammar mean: each is a key of one of these, or an error was reported.

    places  where the grammar's own text defines or imports a name
    """

    rules: dict[str, nodes.Definition]
    terminals: dict[str, nodes.Definition]
    declared: dict[str, nodes.Declaration]
    places: Mapping[str, Span]


def resolve_names(document: nodes.Document, table: Table, start: str, problems: Problems) -> Symbols:
    """The symbols of a document. Reports what is unknown, out of place or unused, and a missing start rule. Linear."""
    definitions: list[nodes.Definition] = []
    symbols = Symbols({}, {}, {}, table.places)
    for entry in table.entries.values():
        if isinstance(entry, nodes.Declaration):
            symbols.declared[entry.name] = entry
            continue
        definitions.append(entry)
        (symbols.terminals if entry.is_terminal else symbols.rules)[entry.name] = entry
    used: set[str] = set()
    for definition in definitions:
        parameters = {parameter.text for parameter in definition.parameters} if definition.parameters else frozenset()
        is_one_terminal = definition.is_terminal or definition.attributes.one_terminal is not None
        names = _check_uses(definition.uses, parameters, definition.is_terminal, is_one_terminal, table, problems)
        used |= names - {definition.name}
    for ignore in document.ignores:
        used |= _check_uses(nodes.walk(ignore.body), frozenset(), True, True, table, problems)
    _check_start(document, table, symbols.rules, start, problems)
    known = {*table.entries, *EXTENSION_TERMINALS}
    for definition in definitions:
        if definition.parameters:
            _check_template(definition, symbols, problems)
        check_parameter(definition, symbols.rules, known, problems)
    # What could not be read may have used anything, and a misspelled name meant to use something.
    if symbols.terminals and not problems.has_errors:
        _report_unused(symbols, used, problems)
    return symbols


_Use: TypeAlias = nodes.Name | nodes.TemplateUse


def _check_uses(
    parts: Iterable[nodes.Expression],
    parameters: Set[str],
    in_terminal: bool,
    in_one_terminal: bool,
    table: Table,
    problems: Problems,
) -> set[str]:
    """Report names that are unknown or out of place; all names but those of parameters."""
    names: set[str] = set()
    for use in parts:
        if isinstance(use, nodes.Name):
            name = use
        elif isinstance(use, nodes.TemplateUse):
            name = nodes.Name(use.name, use.template)
        else:
            continue
        if name.text in parameters:
            continue
        names.add(name.text)
        entry = table.entries.get(name.text)
        if in_terminal and not is_terminal_name(name.text):
            problems.error(
                "lark-rule-in-terminal",
                f"a terminal cannot use the rule `{nodes.spelling(name)}`",
                name.span,
                help="a terminal is one regex; make it a rule by writing its name in lower case",
            )
        elif in_one_terminal and isinstance(entry, nodes.Declaration):
            message = f"a terminal cannot use the declared terminal `{nodes.spelling(name)}`, which has no regex"
            problems.error("lark-declared-in-terminal", message, name.span, help="use it in a rule")
        elif isinstance(use, nodes.TemplateUse) and entry is not None and is_terminal_name(name.text):
            problems.error("lark-not-a-template", f"`{nodes.spelling(name)}` is no template", name.span)
        elif entry is None and name.text in EXTENSION_TERMINALS:
            _check_extension(use, name, problems)
        elif entry is None and name.text not in table.defined_elsewhere:
            _report_unknown(use, name, table.entries, problems)
    return names


def _check_extension(use: _Use, name: nodes.Name, problems: Problems) -> None:
    """Report one of the terminals that every grammar has if it has too many arguments or too few."""
    n_arguments = len(use.arguments) if isinstance(use, nodes.TemplateUse) else 0
    template = EXTENSION_TEMPLATES.get(name.text)
    if template is None:
        if n_arguments:
            problems.error("lark-not-a-template", f"`{name.text}` is no template", name.span)
    elif not template.takes(n_arguments):
        message = f"`{name.text}` takes {template.minimum} argument{'s' * (template.minimum != 1)}"
        message += " or more" * (template.maximum is None) + f", not {n_arguments}"
        help = f"write `{name.text}{template.arguments}`"
        problems.error("lark-template-arguments", message, use.span, help=help)


def _report_unknown(use: _Use, name: nodes.Name, known: Mapping[str, Entry], problems: Problems) -> None:
    kind = "terminal" if is_terminal_name(name.text) else "rule"
    # An imported name has its module in front; a parameter may stand behind.
    shown = nodes.spelling(name).partition("::")[0].rstrip()
    habit = near_unknown(name.span.within(0, len(shown)))
    if habit is not None:
        message = habit.message or f"there is no {kind} `{shown}`"
        place = habit.span or name.span.within(0, len(shown))
        problems.error(f"lark-unknown-{kind}", message, place, help=habit.help, fix=habit.fix)
        return
    close = closest(shown, [*known, *EXTENSION_TERMINALS])
    help = None if close is None else question(close)
    if help is None and shown in library("common").defined_names:
        help = f"write `%import common.{shown}`"
    place = name.span.within(0, len(shown))
    fix = None
    if close is not None and shown == name.text and _fits(use, close, known.get(close)):
        fix = Fix(place, close)
    problems.error(f"lark-unknown-{kind}", f"there is no {kind} `{shown}`", place, help=help, fix=fix)


def _fits(use: _Use, name: str, entry: Entry | None) -> bool:
    """Whether a definition can be used, by its name, as an unknown one is."""
    written = use.text if isinstance(use, nodes.Name) else use.name
    if is_terminal_name(written) and not is_terminal_name(name):
        return False  # terminals use no rules
    if isinstance(use, nodes.TemplateUse):
        return isinstance(entry, nodes.Definition) and len(entry.parameters) == len(use.arguments)
    if isinstance(entry, nodes.Definition):
        return not entry.parameters and entry.parametric == (use.argument is not None)
    # A terminal may use no declared one.
    return entry is None and use.argument is None and name not in EXTENSION_TEMPLATES


def _check_start(
    document: nodes.Document, table: Table, rules: Mapping[str, nodes.Definition], start: str, problems: Problems
) -> None:
    rule = rules.get(start)
    if rule is None:
        # `Start` was reported as a name.
        if start not in map(str.lower, table.defined_elsewhere):
            _refuse_without_start(document, rules, start, problems)
    elif rule.parameters:
        message = f"the rule `{start}` cannot be a template: nothing gives it arguments"
        problems.error("lark-no-start", message, rule.span, help=f"use the template in a `{start}` of its own")
    elif rule.parametric:
        message = f"the rule `{start}` cannot have a parameter: nothing gives it a value"
        problems.error("lark-no-start", message, rule.span, help=f"write another rule, and `{start}: other::0`")


def _refuse_without_start(
    document: nodes.Document, rules: Mapping[str, nodes.Definition], start: str, problems: Problems
) -> None:
    first = next((rule for rule in document.definitions if not rule.is_terminal), None)
    place, example = (first.span, first.name) if first is not None else (document.place, "...")
    alike = next((other for other in document.definitions if other.name.lower() == start), None)
    if alike is not None:
        place, help = alike.span, f"`{alike.name}` is a terminal: write its name in lower case to make it a rule"
    elif start == nodes.START:
        help = f"every text of the grammar is a `start`: write `start: {example}`"
    else:
        help = did_you_mean(start, rules) or f"every text of the grammar is to be a `{start}`: it must be a rule"
    problems.error("lark-no-start", f"the grammar has no rule `{start}`", place, help=help)


def _check_template(definition: nodes.Definition, symbols: Symbols, problems: Problems) -> None:
    """Report parameters of a template that cannot be told from something else."""
    if definition.is_terminal and definition.parameters:
        message, help = "a terminal cannot be a template", "make it a rule by writing its name in lower case"
        problems.error("lark-template-terminal", message, definition.span, help=help)
    seen: set[str] = set()
    for parameter in definition.parameters:
        name = parameter.text
        if is_terminal_name(name):
            message, help = "parameters are named like rules", f"write `{name.lower()}`"
            problems.error("lark-template-parameter", message, parameter.span, help=help)
        elif name in symbols.rules:
            related = (Related(symbols.rules[name].span, "it is defined here"),)
            message = f"the parameter `{name}` has the name of a rule"
            problems.error("lark-template-parameter", message, parameter.span, related=related)
        elif name in seen:
            message = f"the template has two parameters `{name}`"
            problems.error("lark-template-parameter", message, parameter.span)
        seen.add(name)


def _report_unused(symbols: Symbols, used: set[str], problems: Problems) -> None:
    """Warn of terminals that nothing uses. Rules are looked at when they can be followed from `start`."""
    for name, place in symbols.places.items():
        if name in symbols.terminals and name not in used:
            problems.warning("lark-unused-terminal", f"the terminal `{name}` is not used", place, help=UNUSED)
