"""What `cfgmask check` finds out about a grammar: more than reading it should cost. One analysis a file."""

from __future__ import annotations

from cfgmask.analysis.findings import QUICK, THOROUGH, find, without_superseded, written_rules
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.texts import Text, Texts

__all__ = ["QUICK", "THOROUGH", "Flat", "Text", "Texts", "find", "without_superseded", "written_rules"]
