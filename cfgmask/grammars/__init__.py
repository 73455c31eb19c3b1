"""The grammars that come with the package, by name.

In an installed package the files lie beside this one; in a source tree they are the top-level folder `grammars/`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["folder", "names", "path"]


@cache
def folder() -> Path:
    """The folder that holds the shipped `.lark` files. They import each other, so copy all of them or none."""
    here = Path(__file__).resolve().parent
    source_tree = here.parent.parent / "grammars"
    return here if any(here.glob("*.lark")) or not source_tree.is_dir() else source_tree


@cache
def names() -> tuple[str, ...]:
    """The names of the shipped grammars, sorted: "arithmetic", "c", …"""
    return tuple(sorted(file.stem for file in folder().glob("*.lark")))


def path(name: str) -> Path:
    """The file of a shipped grammar: `cfgmask.Grammar.from_file(cfgmask.grammars.path("json"))`.

    name  one of `names()`
    Errors: ValueError for any other name. A grammar text can also import from it: `%import cfgmask.json.value`.
    """
    if name not in names():
        from cfgmask.suggest import did_you_mean  # whose library is slow to import, for a message

        help = did_you_mean(name, names()) or f"there are {', '.join(names())}"
        raise ValueError(f"no grammar called {name!r} comes with cfgmask: {help}")
    return folder() / f"{name}.lark"
