"""Build the sdist and from it the wheel, look into both, then install the wheel into an empty venv and use it.

Example: python .ci/check_package.py build/package
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

IN_WHEEL = {
    "cfgmask/py.typed",
    "cfgmask/_core.pyi",
    "cfgmask/demo/model.gguf",
    "cfgmask/lark/syntax.lark",
    "cfgmask/grammars/json.lark",
}
IN_SDIST = {"CMakeLists.txt", "pyproject.toml", "LICENSE", "cfgmask/core/bindings.cc", "tests/test_package.py"}

SMOKE_TEST = """
import cfgmask

vocabulary = cfgmask.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], eos_token_id=256)
for grammar in (
    cfgmask.Grammar.from_lark('start: "a" %json {"const": 1} /b+/'),
    cfgmask.Grammar.from_regex("a1b+"),
):
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert matcher.advance_bytes(b"a1b") == 3 and matcher.is_accepting
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder to work in; it is emptied")
    folder = parser.parse_args().folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    _check_sdist(sdist)
    _check_wheel(wheel)
    _use(wheel, folder / "venv")
    _use_readme(folder)
    print(f"{sdist.name} and {wheel.name} hold what they should, and the wheel works alone")


def _check_sdist(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    _expect(names >= IN_SDIST, f"the sdist lacks {IN_SDIST - names}")
    built = {name for name in names if name.endswith((".so", ".o"))}
    _expect(not built, f"the sdist holds {built}")


def _check_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    _expect(names >= IN_WHEEL, f"the wheel lacks {IN_WHEEL - names}")
    sources = {name for name in names if name.startswith("cfgmask/core/") or name.endswith((".cc", ".h"))}
    _expect(not sources, f"the wheel holds {sources}")
    modules = [name for name in names if name.endswith((".so", ".pyd"))]
    _expect(len(modules) == 1, f"the wheel holds the compiled modules {modules}")
    foreign = {name for name in names if not name.startswith(("cfgmask/", "cfgmask-"))}
    _expect(not foreign, f"the wheel holds {foreign}")


def _use(wheel: Path, environment: Path) -> None:
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    # -I and another folder: the source tree must not be found.
    _run(python, "-I", "-c", SMOKE_TEST, cwd=environment)
    _run(environment / "bin" / "cfgmask", "--help", cwd=environment, stdout=subprocess.DEVNULL)


def _use_readme(folder: Path) -> None:
    """Run what the README shows, by the installed wheel, where no clone is.

    Other packages that the README imports come from the venv that runs this script; cfgmask itself is found before it.
    """
    python = folder / "venv" / "bin" / "python"
    (there,) = (folder / "venv").glob("lib/python*/site-packages")
    (there / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "readme.py").write_text("\n".join(text for language, text in blocks if language == "python"), "utf-8")
    # -P or -I would hide the folder of the script, as a reader's own program has it.
    printed = _printed(str(python), "readme.py", cwd=elsewhere)
    expected = "".join(text for language, text in blocks if language == "text")
    _expect(printed == expected, f"the README's blocks print {printed!r}, and it shows {expected!r}")
    for language, text in blocks:
        for line in text.splitlines() if language == "sh" else ():
            if line.startswith("cfgmask "):
                _printed("bash", "-c", f'PATH="{python.parent}:$PATH"; {line}', cwd=elsewhere)


def _printed(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    _expect(done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _run(*command: str | Path, cwd: Path = ROOT, stdout: int | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd, stdout=stdout)


def _expect(condition: bool, message: str) -> None:
    if not condition:
        sys.exit(message)


if __name__ == "__main__":
    main()
