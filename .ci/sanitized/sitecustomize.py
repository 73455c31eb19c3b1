"""On PYTHONPATH, the core is the module at CFGMASK_CORE, in each process that a test starts as well."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "cfgmask._core":
            return None
        return importlib.util.spec_from_file_location(name, os.environ["CFGMASK_CORE"])


sys.meta_path.insert(0, _Finder)
