"""Import of a library that an extra brings."""

from __future__ import annotations

import importlib
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """The module. Raises ImportError that names the extra to install where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"cfgmask needs the module {module!r} for this; install it with: pip install 'cfgmask[{extra}]'",
            name=module,
        ) from error
