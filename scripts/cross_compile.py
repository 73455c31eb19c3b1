"""Compile the core for systems and processors that this machine is not, with zig's C++ compiler (package `ziglang`).

    python scripts/cross_compile.py build/cross --python
    python scripts/cross_compile.py build/cross --target x86_64-windows-gnu --programs out_of_memory

The core needs no Python, so it is compiled and linked with a test program for each target. With --python, the bindings
are compiled as well, by the headers of the Python that runs this script: right for Linux on other processors, and for
macOS as far as it goes. Windows' `pyconfig.h` differs, so there they are not tried.
zig compiles with clang and libc++. MSVC cannot be had without Windows: .github/workflows/wheels.yml builds with it, and
cfgmask/core/util/platform.h holds what it spells differently.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Name of the target: CMake's name of the system, and of the processor.
TARGETS = {
    "aarch64-linux-musl": ("Linux", "aarch64"),
    "aarch64-linux-gnu.2.17": ("Linux", "aarch64"),
    "x86_64-linux-musl": ("Linux", "x86_64"),
    "aarch64-macos": ("Darwin", "arm64"),
    "x86_64-macos": ("Darwin", "x86_64"),
    "x86_64-windows-gnu": ("Windows", "AMD64"),
    "aarch64-windows-gnu": ("Windows", "ARM64"),
}
# One of each system and processor that wheels are made for; the others take as long and show little more.
DEFAULT_TARGETS = ("aarch64-linux-musl", "aarch64-macos", "x86_64-windows-gnu")
DEFAULT_PROGRAMS = ("hash_tables", "threads")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder to build in; it is kept, so that a second call is short")
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: " + ", ".join(DEFAULT_TARGETS))
    parser.add_argument("--programs", nargs="*", default=DEFAULT_PROGRAMS, help="test programs of tests/native to link")
    parser.add_argument("--python", action="store_true", help="compile the bindings, where this Python's headers do")
    arguments = parser.parse_args()
    failed = []
    for target in arguments.target or DEFAULT_TARGETS:
        try:
            _build(arguments.folder.resolve() / target, target, arguments.programs, arguments.python)
        except subprocess.CalledProcessError as error:
            failed.append(target)
            print(f"{target}: {error}", file=sys.stderr)
        else:
            print(f"{target}: compiled", flush=True)
    if failed:
        sys.exit(f"failed for {', '.join(failed)}")


def _build(folder: Path, target: str, programs: list[str], with_python: bool) -> None:
    system, processor = TARGETS[target]
    folder.mkdir(parents=True, exist_ok=True)
    compiler = f"{_tool(folder, 'c++', f'-target {target}')}"
    options = {
        "CMAKE_SYSTEM_NAME": system,
        "CMAKE_SYSTEM_PROCESSOR": processor,
        "CMAKE_CXX_COMPILER": compiler,
        "CMAKE_AR": _tool(folder, "ar"),
        "CMAKE_RANLIB": _tool(folder, "ranlib"),
        # zig adds -fsanitize=undefined to what is not optimised.
        "CMAKE_CXX_FLAGS": "-fno-sanitize=undefined",
        "CMAKE_CXX_FLAGS_RELEASE": "-O0 -DNDEBUG",
        "CMAKE_BUILD_TYPE": "Release",
        "CFGMASK_PYTHON": "OFF",
        "CFGMASK_NATIVE_TESTS": "ON",
    }
    if system == "Darwin":
        # zig brings the headers and stubs of libSystem; there is no SDK to look for.
        options |= {"CMAKE_OSX_SYSROOT": "", "CMAKE_OSX_ARCHITECTURES": "", "CMAKE_OSX_DEPLOYMENT_TARGET": ""}
    cmake = Path(sys.executable).parent / "cmake"
    ninja = Path(sys.executable).parent / "ninja"
    defined = [f"-D{name}={value}" for name, value in options.items()]
    _run(cmake, "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", "--log-level=ERROR", *defined)
    _run(cmake, "--build", folder, "--target", "cfgmask_core", *programs)
    if with_python and system != "Windows":
        _compile_bindings(folder, compiler)


def _compile_bindings(folder: Path, compiler: str) -> None:
    generated = folder / "generated" / "bindings" / "docs.h"
    generated.parent.mkdir(parents=True, exist_ok=True)
    _run(sys.executable, ROOT / "cmake" / "docs_header.py", ROOT / "cfgmask" / "_core.pyi", generated)
    found = find_spec("nanobind")
    if found is None or found.origin is None:
        sys.exit("the bindings need nanobind: pip install nanobind")
    includes = [
        ROOT / "cfgmask" / "core",
        folder / "generated",
        Path(found.origin).parent / "include",
        sysconfig.get_path("include"),
    ]
    flags = ["-std=c++20", "-O0", "-fno-sanitize=undefined", "-fvisibility=hidden", "-DNDEBUG", "-Wno-shadow"]
    flags += [f"-I{path}" for path in includes]
    _run(compiler, *flags, "-c", ROOT / "cfgmask" / "core" / "bindings.cc", "-o", folder / "bindings.o")


def _tool(folder: Path, name: str, arguments: str = "") -> str:
    """A program that runs `zig NAME ARGUMENTS`: CMake wants one file for each tool."""
    path = folder / f"zig-{name}"
    text = f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {name} {arguments} "$@"\n'
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return str(path)


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
