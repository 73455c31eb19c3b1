"""From a grammar's text to something that can be matched: the public `Grammar` and `compile`."""

from __future__ import annotations

from cfgmask.compiler.build import compile
from cfgmask.compiler.cache import Compiler
from cfgmask.compiler.explanation import Explanation
from cfgmask.compiler.grammar import Grammar
from cfgmask.compiler.observation import MaskEvent

__all__ = ["Compiler", "Explanation", "Grammar", "MaskEvent", "compile"]
