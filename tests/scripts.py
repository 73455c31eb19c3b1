"""Benchmarks and scripts as modules, for the tests of what is in them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def benchmark(name: str) -> ModuleType:
    """The command `benchmarks/name.py`. It imports `library`, the folder beside it."""
    return _module(str(ROOT / "benchmarks"), name)


def script(name: str) -> ModuleType:
    """What is in `scripts/name.py`."""
    return _module(str(ROOT / "scripts"), name)


def _module(folder: str, name: str) -> ModuleType:
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(name, f"{folder}/{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module
