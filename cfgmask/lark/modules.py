"""The grammars that `%import` reads: modules of the installed `lark` package, the grammars that come with cfgmask
(`cfgmask.json`), and files beside the grammar's own.

A grammar may come from strangers. So it reads files only if it was loaded from one itself, or its reader named a
folder; and of these only `.lark` files in that folder or below it, wherever links may lead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from cfgmask import grammars
from cfgmask.diagnostics import Source, Span
from cfgmask.errors import GrammarError
from cfgmask.lark import nodes
from cfgmask.lark.library import LIBRARY, library_texts
from cfgmask.lark.problems import Problems
from cfgmask.lark.reader import read
from cfgmask.limits import Limits
from cfgmask.source_file import read_source
from cfgmask.suggest import did_you_mean
from cfgmask.text import check_text

_SHIPPED = "cfgmask."


@dataclass(frozen=True, eq=False)
class Module:
    """A grammar that names can be imported from.

    folder  where its own relative imports are looked up; None: nowhere
    """

    name: str
    document: nodes.Document
    folder: Path | None = None

    @cached_property
    def defined_names(self) -> frozenset[str]:
        """The names that can be imported: those that it defines, declares and imports."""
        document = self.document
        names = [*(s.alias for s in document.imports), *(s.name for s in document.definitions)]
        return frozenset([*names, *(s.name for s in document.declarations)])

    @cached_property
    def _own(self) -> Mapping[str, nodes.Definition | nodes.Declaration] | None:
        """What it defines and declares, if each name has one meaning."""
        own: list[nodes.Definition | nodes.Declaration] = [*self.document.definitions, *self.document.declarations]
        n_names = len(own) + len(self.document.imports)
        is_plain = not self.document.changes and len(self.defined_names) == n_names
        return {entry.name: entry for entry in own} if is_plain else None

    def needed(self, names: Iterable[str]) -> list[nodes.Definition | nodes.Declaration] | None:
        """Of what it defines and declares what these of its names lead to; None if some name has several meanings."""
        if self._own is None:
            return None
        needed: dict[str, nodes.Definition | nodes.Declaration] = {}
        pending = list(names)
        while pending:
            name = pending.pop()
            entry = self._own.get(name)
            if entry is not None and name not in needed:
                needed[name] = entry
                pending += entry.used_names if isinstance(entry, nodes.Definition) else ()
        return list(needed.values())


class Files:
    """The `.lark` files that a grammar may import, and the texts of those that it did: a pickle reads no others.

    folder  where they are; None: nowhere
    kept    the texts by the path that an import leads to, with the true path; None: they are read
    """

    def __init__(self, folder: Path | None, kept: Mapping[str, tuple[str, str]] | None = None) -> None:
        self.folder = folder
        self.kept = kept
        self.texts: dict[str, tuple[str, str]] = {}

    def text(self, shown: Path, path: Path, limits: Limits) -> str:
        """The text of the file at a true path, to which `shown` leads. Raises OSError, GrammarError, LimitExceeded."""
        read = self.kept if self.kept is not None else self.texts
        if str(shown) not in read:
            known = next((text for true, text in self.texts.values() if true == str(path)), None)
            self.texts[str(shown)] = (str(path), read_source(path, limits) if known is None else known)
        self.texts[str(shown)] = read[str(shown)]
        return read[str(shown)][1]


class Modules:
    """Finds and reads the modules of one grammar, each file once."""

    def __init__(self, files: Files, limits: Limits, problems: Problems) -> None:
        self._files_beside = files
        self._root = files.folder
        self._limits = limits
        self._problems = problems
        self._files: dict[Path, Module] = {}

    def find(self, imported: nodes.Import, importer: Module) -> Module | None:
        """The module that an import of `importer` names; None, and a report, where there is none that can be read."""
        if not imported.module:
            message = f"nothing is imported from the module `{imported.name}`"
            help = f"write `%import {'.' * imported.is_relative}{imported.name}.NAME`"
            self._problems.error("lark-bad-import", message, imported.path, help=help)
            return None
        name = ".".join(imported.module)
        if imported.is_relative:
            is_shipped = importer.folder == grammars.folder() != self._root and name in grammars.names()
            return self._shipped(name) if is_shipped else self._relative(imported, importer)
        if name in LIBRARY:
            return library(name)
        if name.startswith(_SHIPPED) and name[len(_SHIPPED) :] in grammars.names():
            return self._shipped(name[len(_SHIPPED) :])
        known = ", ".join(f"`{module}`" for module in LIBRARY)
        candidates = [*LIBRARY, *(_SHIPPED + shipped for shipped in grammars.names())]
        help = did_you_mean(name, candidates) or (
            f"known are {known}, and `{_SHIPPED}json` and the like for the grammars that come with cfgmask; "
            f"a file beside the grammar is imported as `.{name}`"
        )
        self._problems.error("lark-unknown-module", f"there is no module `{name}`", imported.path, help=help)
        return None

    def _shipped(self, name: str) -> Module:
        """A grammar that comes with cfgmask. Like those of `lark`, it is read where the package is, by pickles too."""
        path = grammars.path(name)
        return self._module(path, path, path.read_text(encoding="utf-8"))

    def _relative(self, imported: nodes.Import, importer: Module) -> Module | None:
        if importer.folder is None or self._root is None:
            self._problems.error(
                "lark-import-without-file",
                "a grammar that was not read from a file has no files beside it",
                imported.path,
                help="read it with `Grammar.from_file`, or give `Grammar.from_lark` the `folder` of its imports",
            )
            return None
        shown = importer.folder.joinpath(*imported.module[:-1], imported.module[-1] + ".lark")
        try:
            path = self._allowed(shown, self._root, imported.path)
            if path is None:
                return None
            # A file that two imports name differently is kept for each.
            text = self._files_beside.text(shown, path, self._limits)
        except (OSError, RuntimeError) as error:
            # Some versions of Python tell of links in a circle by a RuntimeError.
            reason = error.strerror if isinstance(error, OSError) else "its links are a circle"
            self._problems.error("lark-import-missing", f"{shown.name} cannot be read: {reason}", imported.path)
            return None
        except GrammarError as error:
            self._problems.extend(error.diagnostics)
            return None
        return self._module(path, shown, text)

    def _module(self, path: Path, shown: Path, text: str) -> Module:
        """The module in a file with this text, which errors call `shown`."""
        if path not in self._files:
            self._files[path] = Module(str(shown), self._read(Source(str(shown), text)), shown.parent)
        return self._files[path]

    def _allowed(self, shown: Path, root: Path, place: Span) -> Path | None:
        """The true path of a file that may be read. Raises OSError or RuntimeError for links and names too long."""
        kept = self._files_beside.kept
        if kept is not None and str(shown) in kept:
            return Path(kept[str(shown)][0])
        if kept is not None:
            self._problems.error("lark-import-missing", f"{shown.name} was not imported before", place)
            return None
        path = shown.resolve()
        if not path.is_relative_to(root.resolve()) or path.suffix != ".lark":
            message = f"`{shown.name}` leads to a file that is no `.lark` file below the grammar's folder"
            self._problems.error("lark-import-outside", message, place, help="copy the file there")
            return None
        if not path.is_file():
            message = f"there is no file {shown.relative_to(root).as_posix()} in the grammar's folder"
            self._problems.error("lark-import-missing", message, place)
            return None
        return path

    def _read(self, source: Source) -> nodes.Document:
        check_text(source, self._limits, self._problems, "lark-not-text")
        return read(Span(source, 0, len(source.text)), self._limits, self._problems)


@cache
def library(name: str) -> Module:
    """A module of the installed `lark` package. Read once a process; 10 ms, `python` 100."""
    documents = [_read(source_name, text) for source_name, text in library_texts(name).items()]
    if len(documents) == 1:
        return Module(name, documents[0])
    merged = {definition.name: definition for document in documents for definition in document.definitions}
    return Module(name, nodes.Document(documents[0].place, definitions=tuple(merged.values())))


def _read(source_name: str, text: str) -> nodes.Document:
    problems = Problems()
    document = read(Span(Source(source_name, text), 0, len(text)), Limits(), problems)
    problems.raise_errors()
    return document
