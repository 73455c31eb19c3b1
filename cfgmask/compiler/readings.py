"""How the texts of compiled grammars are read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from cfgmask._core import CompiledGrammar

if TYPE_CHECKING:
    from cfgmask.values import Parser
    from cfgmask.values.reading import Reading

_readings: WeakKeyDictionary[CompiledGrammar, Callable[[], Reading]] = WeakKeyDictionary()


def remember_reading(compiled: CompiledGrammar, reading: Callable[[], Reading] | None) -> None:
    """Keep how values are made of a grammar's texts, for as long as it lives: the core knows nothing of that."""
    if reading is not None:
        _readings[compiled] = reading


def parser_of(compiled: CompiledGrammar) -> Parser:
    """A parser of the texts of a compiled grammar, as `Grammar.parser` gives it."""
    from cfgmask.values.parser import Parser
    from cfgmask.values.reading import Reading

    reading = _readings.get(compiled, Reading)
    return Parser(compiled, reading(), {})
