"""Run tests with the Python module of a build with -DCFGMASK_SANITIZE, in place of that of the source tree.

Example: python .ci/sanitized_tests.py build/asan tests/engine/test_masks.py
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

MODULE = "cfgmask._core"

# The sanitizers' own libraries come before all others, and libstdc++ with them: its `throw` is intercepted.
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")

# Python keeps what it made until it exits.
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


def main() -> int:
    if "LD_PRELOAD" not in os.environ:
        preload = {"LD_PRELOAD": " ".join(map(_library, LIBRARIES))}
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **OPTIONS, **preload})
    folder, *arguments = sys.argv[1:]
    (path,) = Path(folder).glob("_core*.so")
    spec = importlib.util.spec_from_file_location(MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    spec.loader.exec_module(module)
    import pytest

    return pytest.main(arguments)


def _library(name: str) -> str:
    compiler = os.environ.get("CXX", "c++")
    return subprocess.run(
        [compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
