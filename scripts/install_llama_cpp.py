"""Install llama-cpp-python for the demo and the tests, built without what they do not use.

    python scripts/install_llama_cpp.py --constraint constraints.txt

An ordinary build takes 10 minutes of CPU, in silence; this one takes 2 to 3 and shows how far it is. It leaves out the
multimodal library and llama.cpp's helpers for its own programs, and optimises the C++ that computes nothing less. The
kernels of ggml, which compute, keep their options. The wheel stays out of pip's cache, whose key ignores such options,
so that no other project gets it. A wheel that pip has in its cache from an ordinary build is used instead.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "llama-cpp-python"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
CMAKE_OPTIONS = [
    "-DLLAVA_BUILD=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DGGML_LLAMAFILE=OFF",
    "-DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG'",
    f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={(ROOT / 'cmake' / 'llama_cpp.cmake').as_posix()}",
]
STEP = re.compile(r"\[(\d+)/(\d+)\]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--constraint", type=Path, required=True, help="pip's constraints, which name the version")
    constraint: Path = parser.parse_args().constraint
    wanted = pinned(constraint.read_text(encoding="utf-8"))
    try:
        if version(NAME) == wanted:
            return
    except PackageNotFoundError:
        pass
    if wanted is None or not installed_from_cache(wanted):
        build(f"{NAME}=={wanted}" if wanted else NAME, constraint)


def pinned(constraints: str) -> str | None:
    """The version that the constraints pin."""
    found = re.search(rf"^{NAME}==(\S+)", constraints, re.MULTILINE)
    return None if found is None else found[1]


def installed_from_cache(wanted: str) -> bool:
    """Whether pip had a wheel of this version in its cache that fits this Python, and installed it."""
    command = [*PIP, "cache", "list", "--format=abspath", NAME.replace("-", "_")]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    wheels = [line for line in listed if f"-{wanted}-" in Path(line).name]
    return any(subprocess.run([*PIP, "install", "--quiet", wheel], check=False).returncode == 0 for wheel in wheels)


def build(requirement: str, constraint: Path) -> None:
    """Build the wheel, show progress, and install it. The build's output is printed if it fails."""
    print(f"building {requirement} without what is not used here: 2 to 3 minutes of CPU", flush=True)
    environment = {**os.environ, "CMAKE_ARGS": " ".join([os.environ.get("CMAKE_ARGS", ""), *CMAKE_OPTIONS]).strip()}
    environment["SKBUILD_BUILD_TARGETS"] = "llama"
    with tempfile.TemporaryDirectory() as folder:
        command = [*PIP, "wheel", "--verbose", "--no-cache-dir", "--no-deps", "--wheel-dir", folder]
        command += ["--constraint", str(constraint), requirement]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        assert process.stdout is not None
        lines, shown = [], -1
        for line in process.stdout:
            lines.append(line)
            found = STEP.search(line)
            if found:
                shown = report(int(found[1]), int(found[2]), shown)
        if process.wait() != 0:
            sys.exit("".join(lines[-200:]) + f"\n{requirement} cannot be built")
        if sys.stdout.isatty():
            print()
        subprocess.run([*PIP, "install", "--quiet", *map(str, Path(folder).glob("*.whl"))], check=True)


def report(done: int, total: int, shown: int) -> int:
    """Show the progress: a bar on a terminal, a line for each tenth elsewhere. Returns the tenth that is shown."""
    tenth = 10 * done // max(total, 1)
    if sys.stdout.isatty():
        bar = "#" * (30 * done // max(total, 1))
        print(f"\r  [{bar:<30}] {done} of {total} files", end="", flush=True)
    elif tenth > shown:
        print(f"  {done} of {total} files", flush=True)
    return tenth


if __name__ == "__main__":
    main()
