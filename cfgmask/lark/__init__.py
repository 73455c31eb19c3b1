"""Extended Lark text to `GrammarIR`.

One stage a file, in this order:

    reader      text -> `Document` of syntax nodes, most of     literals    strings, counts, token sets
                which the core makes
    link        definitions and imports -> one table            modules      the grammars that `%import` reads
    names       checks of every name                            templates    `list{x}: ...` -> rules
    terminals   syntax nodes -> regex trees                     json_blocks  `%json {...}` -> rules of a schema
    rules       syntax nodes -> rules of the IR                 options     `%cfgmask {...}`
    parse       all of them in a row

The stages are imported when a grammar first needs them, and the `lark` package where one imports one of its modules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cfgmask.lark.modules import Files
    from cfgmask.lark.parse import parse_lark

__all__ = ["Files", "parse_lark"]

_MODULES = {"Files": "modules", "parse_lark": "parse"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Found without this function from now on.
    return globals().setdefault(name, getattr(import_module(f"{__name__}.{_MODULES[name]}"), name))
