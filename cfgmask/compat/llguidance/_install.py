"""`llguidance` as a name for this package."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PEER = "llguidance"
OURS = "cfgmask.compat.llguidance"


class _Alias(Loader):
    """Gives one of our modules under another name."""

    def __init__(self, ours: str) -> None:
        self._ours = ours
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, imported under its own name."""
        module = importlib.import_module(self._ours)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it was executed. The import system has given it another name, which is taken back."""
        module.__spec__ = self._spec


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name = fullname.removeprefix(f"{PEER}.")
        if name == fullname or "." in name or importlib.util.find_spec(f"{OURS}.{name}") is None:
            return None
        return ModuleSpec(fullname, _Alias(f"{OURS}.{name}"))


def install() -> None:
    """Have `import llguidance` and its submodules give this package, in this process from now on.

    Call it before whatever imports llguidance. A second call does nothing.
    Errors: RuntimeError where the real one is loaded already: objects of both would be mixed.
    """
    ours = importlib.import_module(OURS)
    loaded = sys.modules.get(PEER)
    if loaded is ours:
        return
    if any(name == PEER or name.startswith(f"{PEER}.") for name in sys.modules):
        raise RuntimeError(f"{PEER} is loaded: call cfgmask.compat.llguidance.install() before it is imported")
    sys.modules[PEER] = ours
    sys.meta_path.insert(0, _Finder())
