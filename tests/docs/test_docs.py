"""What the documentation shows is so. `pages.py` says how a page states what can be checked."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import importlib.util
import io
import json
import re
import shutil
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

import cfgmask
from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema import JsonSchemaOptions
from cfgmask.json_schema.drafts import ANNOTATIONS, ASSERTIONS
from cfgmask.json_schema.formats import FORMATS
from cfgmask.json_schema.options import NAMED_WHITESPACE
from tests.cli.test_docs import with_real_outputs
from tests.docs.pages import (
    HOW_TO,
    PAGES,
    ROOT,
    Block,
    Refused,
    anchors,
    blocks,
    links,
    refused_rows,
    words_in_backticks,
)
from tests.json_schema.judge import accepts, vocabulary

PACKAGE = ROOT / "cfgmask"
OPTIONAL = {"gguf", "llama_cpp", "pydantic", "tiktoken", "torch", "transformers"}
TORCH = {"torch", "transformers"}

ALL = [block for page in PAGES for block in blocks(page)]


# Python


def imports(block: Block) -> set[str]:
    """The packages that a block imports, by their first names; an integration counts as its library."""
    found = set()
    for node in ast.walk(ast.parse(block.text)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules.append(node.module)
        found |= {module.removeprefix("cfgmask.integrations.").partition(".")[0] for module in modules}
    return found


class PythonPage:
    """The blocks of one page, run one after the other in one namespace, each once."""

    def __init__(self, page: Path) -> None:
        self._blocks = [block for block in ALL if block.page == page and block.language == "python"]
        self._namespace: dict[str, Any] = {"__name__": "__docs__"}
        self._outcomes: dict[int, str | BaseException] = {}

    def output(self, wanted: Block) -> str:
        """What a block prints, after the blocks before it. Raises what it raises, or skips."""
        for block in self._blocks:
            if block.line not in self._outcomes:
                self._outcomes[block.line] = self._run(block)
            if block is wanted:
                break
        outcome = self._outcomes[wanted.line]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _run(self, block: Block) -> str | BaseException:
        missing = sorted(name for name in imports(block) & OPTIONAL if importlib.util.find_spec(name) is None)
        if missing:
            return pytest.skip.Exception(f"needs {', '.join(missing)}")
        printed = io.StringIO()
        # Line numbers in tracebacks are those of the page.
        code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec", dont_inherit=True)
        try:
            with contextlib.redirect_stdout(printed):
                exec(code, self._namespace)
        except NameError as error:
            skipped = any(isinstance(o, pytest.skip.Exception) for o in self._outcomes.values())
            return pytest.skip.Exception("needs a block that was skipped") if skipped else error
        except Exception as error:
            return error
        return printed.getvalue()


python_page = cache(PythonPage)


def _python_blocks() -> list[Any]:
    return [
        pytest.param(block, id=block.place, marks=[pytest.mark.torch] if imports(block) & TORCH else [])
        for block in ALL
        if block.language == "python"
    ]


@pytest.mark.parametrize("block", _python_blocks())
def test_python(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    printed = python_page(block.page).output(block)
    if block.output is not None:
        assert printed == block.output


# Grammars and schemas


def read(block: Block) -> cfgmask.Grammar:
    if block.language == "lark":
        return cfgmask.Grammar.from_lark(block.text)
    if block.language == "gbnf":
        return cfgmask.Grammar.from_gbnf(block.text)
    options = {name: int(value) if value.isdigit() else value for name, value in block.keywords.items()}
    return cfgmask.Grammar.from_json_schema(block.text, **options)


def check_grammar(block: Block) -> None:
    """Hold a grammar or schema to every sentence about it."""
    reported: tuple[Diagnostic, ...]
    if "Refused with" in block.sentences:
        with pytest.raises(cfgmask.GrammarError) as caught:
            read(block)
        reported = caught.value.diagnostics
        assert {d.code for d in reported if d.severity == "error"} == set(block.sentences["Refused with"])
    else:
        grammar = read(block)
        reported = grammar.notes
        if "Reports" in block.sentences:
            assert {d.code for d in reported} == set(block.sentences["Reports"])
        if "Allows" in block.sentences or "Refuses" in block.sentences:
            compiled = cfgmask.compile(grammar, vocabulary())
            verdicts = {text: accepts(compiled, text) for text in said(block, "Allows") + said(block, "Refuses")}
            assert verdicts == dict.fromkeys(said(block, "Allows"), True) | dict.fromkeys(said(block, "Refuses"), False)
    if block.output is not None:
        assert "".join(d.render() + "\n" for d in reported) == block.output


def said(block: Block, sentence: str) -> list[str]:
    return block.sentences.get(sentence, [])


@pytest.mark.parametrize("block", [pytest.param(b, id=b.place) for b in ALL if b.language in ("lark", "gbnf")])
def test_lark(block: Block) -> None:
    check_grammar(block)


@pytest.mark.parametrize("block", [pytest.param(b, id=b.place) for b in ALL if b.language == "json"])
def test_json(block: Block) -> None:
    json.loads(block.text)
    if block.sentences:
        check_grammar(block)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.place) for page in PAGES for row in refused_rows(page)])
def test_refused(row: Refused) -> None:
    is_schema = row.text.startswith(("{", "["))
    # Statements of a grammar are shown without the rest of it.
    text = row.text if is_schema or row.text.startswith("start") else f'{row.text}\nstart: "a"'
    make = cfgmask.Grammar.from_json_schema if is_schema else cfgmask.Grammar.from_lark
    with pytest.raises(cfgmask.GrammarError) as caught:
        make(text)
    assert {d.code for d in caught.value.diagnostics if d.severity == "error"} == {row.code}


# How-to pages

DIAGNOSTICS = ROOT / "docs" / "diagnostics.md"
WITH_SESSIONS = [page for page in (*HOW_TO, DIAGNOSTICS) if any(block.language == "console" for block in blocks(page))]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the pages are written for bash")
@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in WITH_SESSIONS])
def test_sessions(page: Path, tmp_path: Path) -> None:
    text = page.read_text("utf-8")
    assert text == with_real_outputs(text, tmp_path)


def test_each_finding_of_check_is_shown() -> None:
    """A heading for each code, and below it a session that prints it, unless it takes a vocabulary or minutes."""
    files = [*(PACKAGE / "analysis").glob("*.py"), *(PACKAGE / "cli").glob("*.py")]
    sources = "\n".join(path.read_text("utf-8") for path in files)
    codes = set(re.findall(r'"((?:grammar|check)-[a-z-]*[a-z])"', sources))
    sections = dict(
        re.findall(r"^### `([a-z-]*)`\n(.*?)(?=^##)", DIAGNOSTICS.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
    assert set(sections) == codes
    silent = {code for code, section in sections.items() if f"[{code}]" not in section}
    assert silent == {"check-not-analysed", "grammar-unspellable-terminal"}


def test_how_to_pages_are_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {index.parent / path for path, _ in links(index) if path.startswith("how-to/")}
    assert linked == set(HOW_TO)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in HOW_TO])
def test_how_to_pages_run(page: Path) -> None:
    """Each has Python code, or grammars that are tried; all Python code that prints shows what."""
    shown = blocks(page)
    assert any(block.language == "python" or block.sentences for block in shown)
    assert [block.place for block in shown if block.language == "python" and block.output is None] == []


# What holds a page to its word is itself held to its word.

PAGE = """\
# A page: with *marks*

```lark
start: "a"
```

Allows `a`, `` ` `` and the empty text; `b` is only mentioned.
It is said that this is prose.
Refuses `a;b`.

```text
output
```

```python skip
1 / 0
```

| `a \\| b` | `lark-x` |

[one](other.md#a-heading) and [two](https://example.com)
"""


def test_what_a_page_says(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, "utf-8")
    lark, text = blocks(page)
    assert (lark.language, lark.line, lark.text, lark.output) == ("lark", 4, 'start: "a"\n', "output\n")
    assert lark.sentences == {"Allows": ["a", "`", ""], "Refuses": ["a;b"]}
    assert (text.language, text.sentences) == ("text", {})
    assert refused_rows(page) == [Refused("page.md:19", "a | b", "lark-x")]
    assert links(page) == [("other.md", "a-heading")]
    assert anchors(page) == {"a-page-with-marks"}


@pytest.mark.parametrize("name", ["lark.md", "json_schema.md"])
def test_pages_hold_what_is_checked(name: str) -> None:
    page = ROOT / "docs" / name
    grammars = [block for block in blocks(page) if block.language in ("lark", "gbnf", "json")]
    assert sum(bool(block.sentences) for block in grammars) >= len(grammars) - 1
    assert len(refused_rows(page)) > 10


def test_only_grammars_and_schemas_have_sentences() -> None:
    """Anywhere else nobody would check them."""
    assert [block.place for block in ALL if block.sentences and block.language not in ("lark", "gbnf", "json")] == []


# Nothing is left out


def named_in(page: str) -> set[str]:
    return words_in_backticks(ROOT / "docs" / page)


def test_every_code_of_schemas_is_named() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in (PACKAGE / "json_schema").glob("*.py"))
    assert set(re.findall(r'"(schema-[a-z-]*[a-z])"', sources)) <= named_in("json_schema.md")


def test_every_keyword_and_format_is_named() -> None:
    assert {*ASSERTIONS, *ANNOTATIONS, *FORMATS} <= named_in("json_schema.md")


def test_every_option_of_schemas_is_named() -> None:
    choices = get_type_hints(JsonSchemaOptions)
    listed = [get_args(choice) for choice in choices.values() if get_origin(choice) is Literal]
    values = {f'"{value}"' for value in (*NAMED_WHITESPACE, *chain(*listed))}
    assert {*choices, *values} <= named_in("json_schema.md")


def test_every_public_name_is_in_the_tour() -> None:
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    public = set(cfgmask.__all__) | {limit.name for limit in dataclasses.fields(cfgmask.Limits)}
    for owner in (cfgmask.Grammar, cfgmask.Vocabulary, cfgmask.Matcher, cfgmask.CompiledGrammar):
        public |= {name for name in vars(owner) if not name.startswith("_")}
    public -= {"core", "ir", "ir_for", "compact_ir_for", "parted_ir", "written_with"}  # for this package's own use
    assert {name for name in public if not re.search(rf"\b{name}\b", text)} == set()


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for path, anchor in links(page):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}")
    assert broken == []
