"""One table of what a grammar and all that it imports define.

As in Lark, names are those of one flat table. What an imported definition uses comes along under a name that begins
with its module's, `module__name`, unless it is imported as well; so two modules never mix, and `%override` or
`%extend` of an imported name also changes what other imported definitions see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import TypeAlias

from cfgmask.diagnostics import Related, Span
from cfgmask.errors import LimitExceeded
from cfgmask.lark import nodes
from cfgmask.lark.extension_terminals import EXTENSION_TERMINALS
from cfgmask.lark.library import LIBRARY
from cfgmask.lark.modules import Files, Module, Modules, library
from cfgmask.lark.problems import Problems
from cfgmask.lark.reader import is_terminal_name
from cfgmask.limits import Limits
from cfgmask.suggest import did_you_mean

Entry: TypeAlias = nodes.Definition | nodes.Declaration

_MOST_ALIASES = 100
"""With more, what is made of a module is not kept for other grammars."""

_MODULE_COST = 1_000
"""What one import of a module counts beside its definitions, in rules of `Limits.max_rules`."""


@dataclass(frozen=True, eq=False)
class Table:
    """Definitions and declarations by name.

    places             where the grammar's own text defines or imports a name
    defined_elsewhere  names that statements with errors, here or in a module, would have given
    """

    entries: Mapping[str, Entry]
    places: Mapping[str, Span]
    defined_elsewhere: frozenset[str]


def link(module: Module, modules: Modules, limits: Limits, problems: Problems) -> Table:
    """The table of a grammar. Reports what is defined twice, what cannot be imported, overridden or extended.

    Raises LimitExceeded (max_nesting, max_rules) for imports that lead to too many others. Linear in what is imported.
    """
    return _Linker(modules, limits, problems).link(module)


@dataclass(frozen=True)
class _Renaming:
    """What the names of a module are to its importer: aliases, or names with the module's in front."""

    prefix: str
    aliases: Mapping[str, str]

    def __call__(self, name: str) -> str:
        alias = self.aliases.get(name)
        if alias is not None:
            return alias
        return f"_{self.prefix}__{name[1:]}" if name.startswith("_") else f"{self.prefix}__{name}"


@dataclass(eq=False)
class _Instance:
    """A module as one of its importers sees it.

    renamings  from its own names to those of the grammar, first to last; none for the grammar itself
    importers  the modules from the grammar down to this one
    place      of the import, in its importer
    copies     names and further aliases
    """

    module: Module
    renamings: tuple[_Renaming, ...] = ()
    importers: tuple[Module, ...] = ()
    place: Span | None = None
    copies: list[tuple[str, nodes.Import]] = field(default_factory=list)
    children: list[_Instance] = field(default_factory=list)
    places: dict[str, Span] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)

    def rename(self, name: str) -> str:
        """What the grammar calls what the module calls `name`."""
        if name in EXTENSION_TERMINALS and name not in self.module.defined_names:
            return name
        for renaming in self.renamings:
            name = renaming(name)
        return name


class _Linker:
    def __init__(self, modules: Modules, limits: Limits, problems: Problems) -> None:
        self._modules = modules
        self._limits = limits
        self._problems = problems
        self._n_rules = 0
        self._defined_elsewhere: set[str] = set()

    def link(self, module: Module) -> Table:
        root = _Instance(module, importers=(module,))
        instances = [root]
        # Importers come before what they import, and grow the list while it is read.
        for instance in instances:
            if instance.module.document.imports:
                instance.children = self._imported(instance)
                instances += instance.children
        for instance in reversed(instances):
            known = _known_entries(instance)
            if known is None:
                self.define_all(instance)
            else:
                instance.entries = dict(known)
            self._defined_elsewhere.update(map(instance.rename, instance.module.document.defined_elsewhere))
        # An override may have left some that only what it replaced had used.
        entries = _reachable(root.entries, root.places) if root.children else root.entries
        return Table(entries, root.places, frozenset(self._defined_elsewhere))

    def _imported(self, importer: _Instance) -> list[_Instance]:
        """One instance for each module that is imported, whatever the number of statements."""
        statements: dict[tuple[bool, tuple[str, ...]], list[nodes.Import]] = {}
        for imported in importer.module.document.imports:
            statements.setdefault((imported.is_relative, imported.module), []).append(imported)
        found = (self._instance(importer, same) for same in statements.values())
        return [instance for instance in found if instance is not None]

    def _instance(self, importer: _Instance, statements: list[nodes.Import]) -> _Instance | None:
        first = statements[0]
        module = self._modules.find(first, importer.module)
        if module is None or self._is_cycle(module, importer, first):
            self._defined_elsewhere.update(importer.rename(imported.alias) for imported in statements)
            return None
        self._count(module, importer)
        aliases: dict[str, str] = {}
        copies: list[tuple[str, nodes.Import]] = []
        for imported in statements:
            if not self._can_import(imported, module):
                self._defined_elsewhere.add(importer.rename(imported.alias))
            elif aliases.setdefault(imported.name, imported.alias) != imported.alias:
                copies.append((importer.rename(aliases[imported.name]), imported))
            importer.places.setdefault(imported.alias, imported.span)
        renaming = _Renaming("__".join(first.module), aliases)
        return _Instance(module, (renaming, *importer.renamings), (*importer.importers, module), first.path, copies)

    def _count(self, module: Module, importer: _Instance) -> None:
        self._n_rules += _MODULE_COST + len(module.document.definitions)
        if self._n_rules > self._limits.max_rules:
            raise LimitExceeded("max_rules", self._limits.max_rules, "modules that import modules")
        if len(importer.importers) > self._limits.max_nesting:
            raise LimitExceeded("max_nesting", self._limits.max_nesting, "modules that import modules")

    def _is_cycle(self, module: Module, importer: _Instance, imported: nodes.Import) -> bool:
        if module not in importer.importers:
            return False
        names = [f"`{shown.name}`" for shown in importer.importers[importer.importers.index(module) :]]
        message = f"the module {names[0]} imports itself" + (f" by way of {', '.join(names[1:])}" if names[1:] else "")
        self._problems.error("lark-import-cycle", message, imported.path, help="move what both need into a third file")
        return True

    def _can_import(self, imported: nodes.Import, module: Module) -> bool:
        shown = "." * imported.is_relative + ".".join(imported.module)
        is_terminal = is_terminal_name(imported.name)
        kind = "terminal" if is_terminal else "rule"
        if is_terminal_name(imported.alias) != is_terminal:
            fitting = imported.alias.upper() if is_terminal else imported.alias.lower()
            other = "rule" if is_terminal else "terminal"
            message = f"`{imported.name}` is a {kind} and cannot be named like a {other}"
            help = f"write `-> {fitting}`" if is_terminal_name(fitting) == is_terminal else None
            self._problems.error("lark-bad-import", message, imported.span, help=help)
            return False
        if imported.name in module.defined_names:
            return True
        if imported.name not in module.document.defined_elsewhere:
            message = f"`{shown}` has no {kind} `{imported.name}`"
            help = did_you_mean(imported.name, module.defined_names)
            self._problems.error("lark-bad-import", message, imported.span, help=help)
        return False

    def define_all(self, instance: _Instance) -> None:
        """Fill the entries of an instance whose children are done."""
        for child in instance.children:
            for entry in child.entries.values():
                self._add(instance, entry, child.place)
            for original, imported in child.copies:
                if original in child.entries:
                    copy = replace(child.entries[original], name=instance.rename(imported.alias))
                    self._add(instance, copy, imported.span)
        n_imported = len(instance.entries)
        for statement in sorted(self._statements(instance), key=attrgetter("span.start")):
            if isinstance(statement, nodes.Change):
                self._change(instance, statement, list(instance.entries)[:n_imported])
                continue
            if not instance.renamings:
                entry = statement
            elif isinstance(statement, nodes.Definition):
                entry = nodes.renamed(statement, instance.rename(statement.name), instance.rename)
            else:
                entry = replace(statement, name=instance.rename(statement.name))
            self._add(instance, entry, statement.span)
            instance.places.setdefault(statement.name, statement.span)
        if instance.renamings:
            instance.entries = _reachable(instance.entries, map(instance.rename, instance.renamings[0].aliases))

    def _statements(self, instance: _Instance) -> Sequence[Entry | nodes.Change]:
        """Those that define something; of most modules a few names are imported, and renaming takes long."""
        if instance.renamings:
            needed = instance.module.needed(instance.renamings[0].aliases)
            if needed is not None:
                return needed
        document = instance.module.document
        return [*document.definitions, *document.changes, *document.declarations]

    def _add(self, instance: _Instance, entry: Entry, place: Span | None) -> None:
        if instance.entries.setdefault(entry.name, entry) is entry:
            return
        first = instance.places.get(entry.name, instance.entries[entry.name].span)
        second = place or entry.span
        if first.source is second.source and first.start > second.start:
            first, second = second, first
        related = (Related(first, "it is first defined here"),)
        self._problems.error("lark-duplicate", f"`{entry.name}` is defined twice", second, related=related)

    def _change(self, instance: _Instance, change: nodes.Change, imported: list[str]) -> None:
        name = instance.rename(change.definition.name)
        definition = nodes.renamed(change.definition, name, instance.rename)
        base = instance.entries.get(name)
        if base is None:
            self._report_missing(instance, change)
        elif change.kind == "extend":
            self._extend(instance, base, definition)
        else:
            if definition.is_terminal and name in imported:
                self._keep_for_terminals(instance, base, imported)
            instance.entries[name] = definition

    def _report_missing(self, instance: _Instance, change: nodes.Change) -> None:
        name = change.definition.name
        if name in instance.module.document.defined_elsewhere | self._defined_elsewhere:
            return
        known = instance.module.defined_names
        help = "its definition must come first" if name in known else did_you_mean(name, known)
        message = f"there is no `{name}` to {change.kind}"
        code = "lark-nothing-to-extend" if change.kind == "extend" else "lark-nothing-to-override"
        self._problems.error(code, message, change.definition.span, help=help)
        self._defined_elsewhere.add(instance.rename(name))

    def _extend(self, instance: _Instance, base: Entry, new: nodes.Definition) -> None:
        if isinstance(base, nodes.Declaration):
            message = f"`{base.name}` is only declared and cannot be extended"
            self._problems.error("lark-bad-extend", message, new.span, help="write `%override` to define it")
        elif [parameter.text for parameter in base.parameters] != [parameter.text for parameter in new.parameters]:
            message = f"`{base.name}` must be extended with its own parameters"
            related = (Related(base.span, "it is defined here"),)
            self._problems.error("lark-bad-extend", message, new.span, related=related)
        elif new.priority not in (0, base.priority):
            message = f"extending `{base.name}` cannot change its priority"
            self._problems.error("lark-bad-extend", message, new.span, help="write `%override`, or no priority")
        elif new.attributes is not nodes.NO_ATTRIBUTES:
            message = f"extending `{base.name}` cannot change its attributes"
            self._problems.error("lark-bad-extend", message, new.span, help="write `%override`, or no attributes")
        else:
            body = nodes.Choice((base.body, new.body), new.body.span)
            instance.entries[base.name] = replace(base, body=body)

    def _keep_for_terminals(self, instance: _Instance, base: Entry, imported: Iterable[str]) -> None:
        """Let imported terminals go on using what is overridden: to Lark they are regexes by now."""
        # No name in a grammar has such a character.
        kept = f"{base.name}'"
        while kept in instance.entries:
            kept += "'"
        instance.entries[kept] = replace(base, name=kept)
        for name in imported:
            entry = instance.entries[name]
            if isinstance(entry, nodes.Definition) and entry.is_terminal and name != base.name:
                instance.entries[name] = nodes.renamed(entry, name, lambda used: kept if used == base.name else used)


def _known_entries(instance: _Instance) -> Mapping[str, Entry] | None:
    """What `define_all` makes of a module of the installed `lark`, if it imports nothing itself."""
    module = instance.module
    if module.name not in LIBRARY or module is not library(module.name) or len(instance.renamings) != 1:
        return None
    renaming = instance.renamings[0]
    if module.document.imports or len(renaming.aliases) > _MOST_ALIASES:
        return None
    return _entries_of_library(module.name, renaming.prefix, tuple(renaming.aliases.items()))


@lru_cache(maxsize=64)
def _entries_of_library(name: str, prefix: str, aliases: tuple[tuple[str, str], ...]) -> Mapping[str, Entry] | None:
    """None where an alias is what something else is called. Most grammars import the same names."""
    limits, problems = Limits(), Problems()
    module = library(name)
    instance = _Instance(module, (_Renaming(prefix, dict(aliases)),))
    _Linker(Modules(Files(None), limits, problems), limits, problems).define_all(instance)
    if problems.has_errors:
        return None
    return {
        name: replace(entry, is_shared=entry.is_terminal) if isinstance(entry, nodes.Definition) else entry
        for name, entry in instance.entries.items()
    }


def _reachable(entries: Mapping[str, Entry], roots: Iterable[str]) -> dict[str, Entry]:
    """The entries that are roots or used by some of those, in their order."""
    pending = [name for name in roots if name in entries]
    found = set(pending)
    while pending:
        entry = entries[pending.pop()]
        used = entry.used_names if isinstance(entry, nodes.Definition) else ()
        fresh = {name for name in used if name in entries and name not in found}
        found |= fresh
        pending.extend(fresh)
    return {name: entry for name, entry in entries.items() if name in found}
