"""What the documentation shows works: its Python and Lark blocks, its commands, its links."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cfgmask

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def _blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def _pages(language: str) -> list[object]:
    return [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES if _blocks(page, language)]


@pytest.mark.parametrize("page", _pages("python"))
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other in one namespace, as a reader would type them."""
    code = "\n".join(_blocks(page, "python"))
    if "llama_cpp" in code:
        pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    monkeypatch.chdir(ROOT)
    exec(compile(code, page.name, "exec"), {"__name__": "docs"})


@pytest.mark.parametrize("page", _pages("lark"))
def test_lark_blocks_compile(page: Path) -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)
    for text in _blocks(page, "lark"):
        cfgmask.compile(cfgmask.Grammar.from_lark(text), vocabulary)


def _commands() -> list[str]:
    """The lines of the README's shell blocks that call cfgmask."""
    return [
        line
        for block in _blocks(ROOT / "README.md", "sh")
        for line in block.splitlines()
        if line.startswith("cfgmask ")
    ]


@pytest.mark.parametrize("command", _commands())
def test_commands_of_the_readme_succeed(command: str) -> None:
    if command.startswith("cfgmask generate"):
        pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    in_this_python = command.replace("cfgmask", f"'{sys.executable}' -m cfgmask", 1)
    done = subprocess.run(["bash", "-c", in_this_python], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    missing = [
        target for target in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / target).exists()
    ]
    assert not missing
