"""The files of a release agree: versions, supported Pythons, and the targets that wheels are made for."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.scripts import script

ROOT = Path(__file__).parents[1]

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_a_release_names_one_version(tmp_path: Path) -> None:
    check = script("check_release")
    for name, text in {
        "pyproject.toml": '[project]\nversion = "1.2.3"\n',
        "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\n",
        "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2030-01-01\n",
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert check.mistakes(tmp_path, "1.2.3") == []
    assert [line.split()[0] for line in check.mistakes(tmp_path, "1.2.4")] == list(check.PLACES)


def test_wheels_are_built_for_every_python_that_is_supported() -> None:
    named = {c.rpartition(" ")[2] for c in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", c)}
    built = {f"3.{name[3:-2]}" for name in PROJECT["tool"]["cibuildwheel"]["build"].split()}
    assert built == named
    assert PROJECT["project"]["requires-python"] == f">={min(named, key=lambda name: int(name[2:]))}"


@pytest.mark.parametrize("path", sorted((ROOT / "cfgmask" / "core").rglob("*.*")), ids=lambda path: path.name)
def test_only_one_header_knows_compilers_and_systems(path: Path) -> None:
    """What MSVC or Windows lack is in one place, where the other way stands beside it."""
    text = path.read_text("utf-8")
    if path.name == "platform.h":
        return
    for word in ("__builtin_", "__attribute__", "__int128", "pthread_atfork", "sys/mman.h", "<pthread.h>"):
        assert word not in re.sub(r"//.*", "", text), word
    # glibc's alone, where a thread is ended by force.
    if path.name != "interpreter.h":
        assert "<unistd.h>" not in text


def test_every_test_that_is_named_to_a_command_exists() -> None:
    named = {
        name
        for path in ("Makefile", ".ci/run", "pyproject.toml")
        for name in re.findall(r"(?<!/)\btests/[\w/.*\[\]-]*\w", (ROOT / path).read_text("utf-8"))
    }
    assert named
    assert [name for name in sorted(named) if not any(ROOT.glob(name))] == []
