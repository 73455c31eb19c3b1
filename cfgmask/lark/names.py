"""Which names a grammar defines and imports, and whether every name that it uses is one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cfgmask.diagnostics import Related, Span
from cfgmask.lark import nodes
from cfgmask.lark.common import common_terminals
from cfgmask.lark.problems import Problems
from cfgmask.lark.reader import is_terminal_name
from cfgmask.suggest import did_you_mean

START = "start"


@dataclass(frozen=True, eq=False)
class Symbols:
    """What the names of a grammar mean: each is a key of one of these, or an error was reported."""

    rules: dict[str, nodes.Definition]
    terminals: dict[str, nodes.Definition]
    imports: dict[str, nodes.Import]


def resolve_names(document: nodes.Document, problems: Problems) -> Symbols:
    """The symbols of a document. Reports what is defined twice, unknown or unused, and a missing `start`. Linear."""
    symbols = _Collector(problems).collect(document)
    known = {*symbols.rules, *symbols.terminals, *symbols.imports}
    used = _check_uses(document, known, problems)
    _check_start(document, symbols, problems)
    _check_parameters(document, symbols, problems)
    # What could not be read may have used anything, and a misspelled name meant to use something.
    if not problems.has_errors:
        _report_unused(symbols, used, problems)
    return symbols


class _Collector:
    """Fills `Symbols`, first definition first."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._symbols = Symbols({}, {}, {})
        self._places: dict[str, Span] = {}

    def collect(self, document: nodes.Document) -> Symbols:
        statements: list[nodes.Definition | nodes.Import] = [*document.imports, *document.definitions]
        for statement in sorted(statements, key=lambda s: s.span.start):
            if isinstance(statement, nodes.Import):
                self._add_import(statement)
            elif self._is_new(statement.name, statement.span):
                table = self._symbols.terminals if statement.is_terminal else self._symbols.rules
                table[statement.name] = statement
        return self._symbols

    def _add_import(self, imported: nodes.Import) -> None:
        earlier = self._symbols.imports.get(imported.alias)
        if earlier is not None and earlier.name == imported.name:
            return
        if not is_terminal_name(imported.alias):
            message = f"`{imported.name}` is a terminal and cannot be named like a rule"
            help = f"write `-> {imported.alias.upper()}`" if imported.alias.upper() != imported.alias else None
            self._problems.error("lark-bad-import", message, imported.span, help=help)
        if imported.name not in common_terminals():
            message = f"`common` has no terminal `{imported.name}`"
            help = did_you_mean(imported.name, common_terminals())
            self._problems.error("lark-bad-import", message, imported.span, help=help)
        if self._is_new(imported.alias, imported.span):
            self._symbols.imports[imported.alias] = imported

    def _is_new(self, name: str, span: Span) -> bool:
        first = self._places.setdefault(name, span)
        if first is span:
            return True
        related = (Related(first, "it is first defined here"),)
        self._problems.error("lark-duplicate", f"`{name}` is defined twice", span, related=related)
        return False


def _uses(document: nodes.Document) -> Iterator[tuple[nodes.Definition | nodes.Ignore, nodes.Name]]:
    """Each use of a name with the statement that it stands in."""
    statements: list[nodes.Definition | nodes.Ignore] = [*document.definitions, *document.ignores]
    for statement in statements:
        ends = statement.attributes.ends if isinstance(statement, nodes.Definition) else ()
        for expression in (statement.body, *ends):
            for node in nodes.walk(expression):
                if isinstance(node, nodes.Name):
                    yield statement, node
                elif isinstance(node, nodes.TemplateUse):
                    yield statement, nodes.Name(node.name, node.template)


def _parameters(definition: nodes.Definition) -> set[str]:
    return {parameter.text for parameter in definition.parameters}


def _check_uses(document: nodes.Document, known: set[str], problems: Problems) -> set[str]:
    """Report names that are unknown or out of place; the names that are used outside their own definition."""
    used: set[str] = set()
    for statement, name in _uses(document):
        if isinstance(statement, nodes.Definition) and name.text in _parameters(statement):
            continue
        if isinstance(statement, nodes.Ignore) or name.text != statement.name:
            used.add(name.text)
        is_rule = not is_terminal_name(name.text)
        if is_rule and (isinstance(statement, nodes.Ignore) or statement.is_terminal):
            problems.error(
                "lark-rule-in-terminal",
                f"a terminal cannot use the rule `{name.text}`",
                name.span,
                help="a terminal is one regex; make it a rule by writing its name in lower case",
            )
        elif name.text not in known and name.text not in document.defined_elsewhere:
            _report_unknown(name, is_rule, known, problems)
    return used


def _report_unknown(name: nodes.Name, is_rule: bool, known: set[str], problems: Problems) -> None:
    kind = "rule" if is_rule else "terminal"
    help = did_you_mean(name.text, known)
    if help is None and name.text in common_terminals():
        help = f"write `%import common.{name.text}`"
    problems.error(f"lark-unknown-{kind}", f"there is no {kind} `{name.text}`", name.span, help=help)


def _check_start(document: nodes.Document, symbols: Symbols, problems: Problems) -> None:
    if START in symbols.rules or START in document.defined_elsewhere:
        return
    first = next(iter(symbols.rules.values()), None)
    if first is not None:
        span, help = first.span, f"every text of the grammar is a `start`: write `start: {first.name}`"
    else:
        span, help = Span(document.source, 0, 0), "every text of the grammar is a `start`: write `start: ...`"
    problems.error("lark-no-start", "the grammar has no rule `start`", span, help=help)


def _check_parameters(document: nodes.Document, symbols: Symbols, problems: Problems) -> None:
    """Report parameters of templates that cannot be told from something else."""
    for definition in document.definitions:
        if definition.is_terminal and definition.parameters:
            message, help = "a terminal cannot be a template", "make it a rule by writing its name in lower case"
            problems.error("lark-template-terminal", message, definition.span, help=help)
        if definition.name == START and definition.parameters:
            message = "the rule `start` cannot be a template: nothing gives it arguments"
            problems.error("lark-no-start", message, definition.span, help="use the template in a `start` of its own")
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
    for table in (symbols.terminals, symbols.imports):
        for name, definition in table.items():
            if name not in used:
                problems.warning("lark-unused-terminal", f"the terminal `{name}` is not used", definition.span)
