"""The terminals that `%import common.X` finds: those of the installed `lark` package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from cfgmask.diagnostics import Source
from cfgmask.lark import nodes
from cfgmask.lark.problems import Problems
from cfgmask.lark.reader import read
from cfgmask.limits import Limits


@cache
def common_terminals() -> Mapping[str, nodes.Definition]:
    """The definitions of the module `common` by name. Read once a process; about 10 ms."""
    theirs = _read("lark/grammars/common.lark", files("lark").joinpath("grammars/common.lark").read_text("utf-8"))
    ours = _read("cfgmask/lark/common.lark", files("cfgmask.lark").joinpath("common.lark").read_text("utf-8"))
    return {definition.name: definition for document in (theirs, ours) for definition in document.definitions}


def _read(name: str, text: str) -> nodes.Document:
    problems = Problems()
    document = read(Source(name, text), Limits(), problems)
    problems.raise_errors()
    return document
