"""The texts of the modules of the installed `lark` package, from which grammars import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LIBRARY = ("common", "lark", "python", "unicode")
"""The names of the modules."""


def library_texts(name: str) -> dict[str, str]:
    """The texts of a module by what diagnostics call them. What later ones define they define anew."""
    texts = [_packaged("lark", f"grammars/{name}.lark")]
    if name == "common":
        texts.append(_packaged("cfgmask.lark", "common.lark"))
    return dict(texts)


def _packaged(package: str, path: str) -> tuple[str, str]:
    """A file of a package, which is not imported for it: `lark` takes longer to import than any grammar to read."""
    from importlib.util import find_spec

    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    loader: Any = spec.loader
    data: bytes = loader.get_data(str(Path(spec.origin).parent / path))
    return f"{package.replace('.', '/')}/{path}", data.decode("utf-8")
