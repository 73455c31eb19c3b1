"""Run tests with the Python module of a build with -DCFGMASK_SANITIZE, in place of that of the source tree.

Example: python .ci/sanitized_tests.py build/asan -n 2 tests/engine/test_masks.py
         python .ci/sanitized_tests.py --module tests.hostile build/asan --count 100   another module than pytest
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# The sanitizers' own libraries come before all others, and libstdc++ with them: its `throw` is intercepted.
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")

# Python keeps what it made until it exits.
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


def main() -> None:
    module, arguments = "pytest", sys.argv[1:]
    if arguments[0] == "--module":
        module, arguments = arguments[1], arguments[2:]
    folder, *arguments = arguments
    (core,) = Path(folder).resolve().glob("_core*.so")
    environment = {
        **os.environ,
        **OPTIONS,
        "LD_PRELOAD": " ".join(map(_library, LIBRARIES)),
        "PYTHONPATH": str(Path(__file__).resolve().parent / "sanitized"),
        "CFGMASK_CORE": str(core),
    }
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], environment)


def _library(name: str) -> str:
    compiler = os.environ.get("CXX", "c++")
    return subprocess.run(
        [compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
