"""The site of the documentation: `mkdocs.yml` and `scripts/docs_site.py`. mkdocs itself checks links when it builds."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import cfgmask
from tests.docs.pages import PAGES, ROOT
from tests.scripts import script

site = script("docs_site")
codes_page = script("diagnostic_codes")
# Other words that begin as codes do.
_NO_CODES = {"token-allowed", "token-refused", "token-group"}
CONFIG = (ROOT / "mkdocs.yml").read_text("utf-8")


def test_the_navigation_names_pages_that_there_are() -> None:
    navigation = re.findall(r"[\w./-]+\.md", CONFIG.partition("\nnav:")[2])
    written = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert len(set(navigation)) == len(navigation)
    assert set(navigation) <= written | {"codes.md"} | {f"api/{page}.md" for page in site.API}


def test_pages_that_the_navigation_lacks_have_a_place(tmp_path: Path) -> None:
    (tmp_path / "how-to").mkdir()
    for name in ("README.md", "how-to/a.md", "how-to/new.md"):
        (tmp_path / name).write_text("# A page", "utf-8")
    config = SimpleNamespace(docs_dir=str(tmp_path), nav=[{"Start": ["README.md", {"Jobs": [{"A": "how-to/a.md"}]}]}])
    assert site.pages_of(site.on_config(config).nav) == ["README.md", "how-to/a.md", "how-to/new.md"]
    assert config.nav[-1] == {"More": ["how-to/new.md"]}


def test_every_public_name_is_in_the_api() -> None:
    assert set(cfgmask.__all__) - {name for _, _, names in site.API.values() for name in names} == set()


@pytest.mark.parametrize("page", site.API)
def test_pages_of_the_api_document_each_name(page: str) -> None:
    text = site.api_page(page)
    for name in site.API[page][2]:
        section = re.search(rf"^## `(?:cfgmask\.)?{re.escape(name)}`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        assert section is not None, name
        assert len(section[1].split()) > 3, name
    assert text.count("```") % 2 == 0


def test_every_code_has_an_example_or_says_when_it_comes() -> None:
    prefixes = ("lark", "gbnf", "regex", "schema", "tag", "tools", "token", "grammar", "check")
    sources = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "cfgmask").rglob("*.py")))
    codes = set(re.findall(rf'"((?:{"|".join(prefixes)})-[a-z-]*[a-z])"', sources)) - _NO_CODES
    examples = {each.code for _, table, language in codes_page.PARTS for each in codes_page.examples(table, language)}
    told = set(re.findall(r"`([a-z-]+)`", (ROOT / "docs" / "diagnostics.md").read_text("utf-8")))
    assert codes - examples - told == set()
    text = codes_page.page()
    assert text.count("\n### `") == len(examples) > 150
    assert text.count("\n```") % 2 == 0


def test_docstrings_become_lists_and_examples() -> None:
    docstring = """A thing.

    first, second  two things that
                   go on
    third          one more
    Errors: none.

    See docs/lark.md#regexes.
    Example:
        thing(1)

    Example: thing("docs")
    """
    assert site._markdown(docstring).splitlines() == [
        "A thing.",
        "",
        "- `first`, `second`: two things that go on",
        "- `third`: one more",
        "",
        "Errors: none.",
        "",
        "See [lark.md](../lark.md#regexes).",
        "",
        "```python",
        "thing(1)",
        "```",
        "",
        "```python",
        'thing("docs")',
        "```",
    ]


def test_signatures_are_those_that_people_write() -> None:
    grammars = site.api_page("grammar")
    assert "\npath(name: str) -> Path\n" in grammars
    assert "    read: Callable[_P, Grammar],\n    *args" in grammars.partition("`Compiler.read`")[2][:200]
    assert "    whitespace: str = 'natural',\n" in grammars
    assert not re.search(r"DEFAULTS|_core\.|Value_co|\bself\b", grammars)
    assert "\nindex: int\nname: str\n" in site.api_page("values")


@pytest.mark.parametrize("module", ["values", "integrations.llama_cpp", "integrations.transformers"])
def test_public_names_of_modules_are_in_the_api(module: str) -> None:
    """By the sources: their libraries may be missing. `JsonReader` is for `Parser` alone."""
    source = (ROOT / "cfgmask" / module.replace(".", "/") / "__init__.py").read_text("utf-8")
    names = set(re.findall(r'"(\w+)"', source.partition("__all__")[2])) - {"JsonReader"}
    assert names
    shown = {name.rpartition(".")[2] for _, _, names in site.API.values() for name in names}
    assert names - shown - {"Event"} == set()


def test_links_that_leave_the_docs_need_a_repository() -> None:
    text = "[a](../benchmarks/README.md#x) and [b](../lark.md), ![c](../images/x.svg)"
    assert site.without_links_out(text, "how-to/page.md", None) == text
    text = "[a](../../benchmarks/README.md#x)"
    assert site.without_links_out(text, "how-to/page.md", None) == "a"
    expected = "[a](https://example.org/r/blob/main/benchmarks/README.md#x)"
    assert site.without_links_out(text, "how-to/page.md", "https://example.org/r/") == expected


def test_links_that_are_called_by_files_get_titles() -> None:
    text = "See [x.md](../gbnf.md#tokens), [GBNF](gbnf.md) and [none.md](none.md)."
    expected = "See [GBNF](../gbnf.md#tokens), [GBNF](gbnf.md) and [none.md](none.md)."
    assert site.with_titles(text, ROOT / "docs" / "how-to" / "page.md") == expected


def test_nothing_is_fetched_by_readers() -> None:
    assert "font: false" in CONFIG
    assert not re.search(r"https?://", CONFIG)
    assert site.SHIM not in site.on_post_template(f'<script src="{site.SHIM}">', "404.html", None)
