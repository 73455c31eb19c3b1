"""Install a wheel into an empty venv outside of the clone, and use it: by itself, and for all that the pages show.

Example: python .ci/check_wheel.py build/wheels
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What the tests of the pages need; not the package itself.
BESIDE = ("README.md", "docs", "grammars", "examples", "tests", "pyproject.toml")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the one wheel lies")
    (wheel,) = parser.parse_args().folder.resolve().glob("*.whl")
    if sys.platform == "linux":
        _check_tag(wheel)
    with tempfile.TemporaryDirectory() as folder:
        _use(wheel, Path(folder))
    print(f"{wheel.name} works outside of the clone")


def _check_tag(wheel: Path) -> None:
    """Hold the name of a wheel to what auditwheel finds in it: `linux_x86_64` is for no other machine than this."""
    found = subprocess.run(["auditwheel", "show", wheel], capture_output=True, text=True, check=True).stdout
    print(found.strip())
    if "linux_" in wheel.name.replace("manylinux_", "").replace("musllinux_", ""):
        sys.exit(f"{wheel.name} is for this machine only; auditwheel repair makes a wheel for others")


def _use(wheel: Path, folder: Path) -> None:
    environment = folder / "venv"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=folder)
    _run(python, "-I", ROOT / ".ci" / "use_wheel.py", cwd=folder)
    # The pages import other packages too. They come from the venv that runs this script, after those of the new one.
    (there,) = environment.glob("lib/python*/site-packages")
    (there / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    pages = folder / "pages"
    pages.mkdir()
    for name in BESIDE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, pages / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, pages / name)
    tests = ["-k", "test_python or test_sessions or test_lark or test_json", "tests/docs/test_docs.py"]
    _run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=pages)


def _run(*command: str | Path, cwd: Path) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)


if __name__ == "__main__":
    main()
