"""What the package promises as a whole: its names, a light import, one direction of imports, a true `_core.pyi`."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cfgmask
from cfgmask import grammars

PACKAGE = Path(cfgmask.__file__).parent
CORE = PACKAGE / "core"

PUBLIC_NAMES = {
    "BudgetTooSmall",
    "CfgmaskError",
    "CompiledGrammar",
    "Compiler",
    "Diagnostic",
    "Grammar",
    "GrammarError",
    "LimitExceeded",
    "Limits",
    "MaskEvent",
    "Matcher",
    "ParseError",
    "TokenRejected",
    "Vocabulary",
    "VocabularyError",
    "advance_many",
    "compile",
    "fill_draft_masks",
    "fill_draft_masks_many",
    "fill_masks",
    "json_regex",
    "rollback_many",
}


def test_public_names() -> None:
    assert set(cfgmask.__all__) >= PUBLIC_NAMES
    for name in cfgmask.__all__:
        assert hasattr(cfgmask, name), name


def test_every_public_name_is_documented() -> None:
    for name in PUBLIC_NAMES:
        value = getattr(cfgmask, name)
        assert inspect.getdoc(value), name
        for key, member in vars(value).items() if inspect.isclass(value) else ():
            # Fields of dataclasses are documented in the class.
            is_documented = callable(member) or isinstance(member, (classmethod, property))
            assert key.startswith("_") or not is_documented or inspect.getdoc(getattr(value, key)), (name, key)


def test_import_is_light() -> None:
    heavy = [
        "numpy",
        "torch",
        "transformers",
        "llama_cpp",
        "lark",
        "tiktoken",
        "sentencepiece",
        "gguf",
        "rich",
        "click",
    ]
    code = f"import cfgmask, sys; print([name for name in {heavy} if name in sys.modules])"
    assert _run(code) == "[]"


def test_import_waits_with_what_reads_grammars() -> None:
    """The core reads most grammars; what reads the others took half of the time that importing the package does."""
    readers = [
        "cfgmask.regex.reading",
        "cfgmask.lark.parse",
        "tests.reference.json_schema.lower",
        "cfgmask.gbnf",
        "cfgmask.types",
    ]
    code = f"import cfgmask, sys; print([name for name in {readers} if name in sys.modules])"
    assert _run(code) == "[]"
    # Each of them, if it is still there, is imported by something: a name that is gone would never be found.
    for name in readers:
        assert importlib.util.find_spec(name) is not None


def test_import_waits_with_slow_modules_of_python() -> None:
    """They took a fifth of the time; most programs need none of them for their grammars."""
    modules = ["concurrent.futures", "difflib", "hashlib", "logging"]
    code = "import sys; before = set(sys.modules); import cfgmask; "
    assert _run(f"{code}print([name for name in {modules} if name in sys.modules and name not in before])") == "[]"


def test_a_source_tree_without_its_core_says_what_to_run(tmp_path: Path) -> None:
    """As after `pip install .` inside of a clone: the sources shadow the installed package."""
    shutil.copytree(PACKAGE, tmp_path / "cfgmask", ignore=shutil.ignore_patterns("*.so", "*.pyd", "core", "*.gguf"))
    command = [sys.executable, "-S", "-c", "import cfgmask"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env={})
    assert done.returncode == 1
    assert "the C++ core is not compiled" in done.stderr
    assert "`make develop`" in done.stderr


def test_shipped_grammars_are_found_by_name() -> None:
    assert {"json", "sql_select", "tool_call"} <= set(grammars.names())
    assert grammars.path("json").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="did you mean `json`"):
        grammars.path("jsn")


def test_reading_a_schema_needs_no_lark() -> None:
    code = """
import sys, cfgmask
cfgmask.Grammar.from_json_schema({"type": "integer"})
print("lark" in sys.modules)
"""
    assert _run(code) == "False"


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# Python: a module may import its own layer and those listed for it, nothing else of this package.
# Front ends know the compiled core through few leaves: the regex algebra, and what reads patterns, numbers and schemas.

BOTTOM = {"diagnostics", "errors", "limits", "problems", "source_file", "suggest", "text"}
TREES = BOTTOM | {"grammar"}
FRONT_ENDS = {"gbnf", "json_schema", "lark", "tags", "tools", "types"}
ENGINE = TREES | FRONT_ENDS | {"regex", "compiler", "values", "vocabulary", "tokenizers", "_core", "__init__"}
ALLOWED: dict[str, set[str]] = {
    "diagnostics": set(),
    "grammars": {"suggest"},
    "source_tree": set(),
    "errors": {"diagnostics"},
    "limits": set(),
    "problems": {"diagnostics", "errors"},
    "source_file": {"diagnostics", "errors", "limits"},
    "suggest": set(),
    "text": {"diagnostics", "errors", "limits", "problems"},
    "notebook": {"diagnostics"},
    "patterns": set(),
    "drafts": {"_core", "errors"},
    "grammar": BOTTOM,
    "regex": TREES,
    "json_schema": TREES | {"regex"},
    "lark": TREES | {"regex", "json_schema", "grammars"},
    "gbnf": TREES | {"regex"},
    "types": TREES | {"regex", "json_schema"},
    "tokenizers": BOTTOM,
    "vocabulary": TREES | {"tokenizers", "_core"},
    "values": {"errors", "json_schema", "notebook", "_core"},
    "compiler": TREES | FRONT_ENDS | {"regex", "values", "vocabulary", "notebook", "_core"},
    "tools": TREES | {"regex", "json_schema", "lark", "tags", "tokenizers", "types"},
    "tags": TREES | {"regex", "json_schema", "lark", "gbnf"},
    "__init__": ENGINE | {"patterns", "drafts", "grammars", "source_tree"},
    "integrations": ENGINE | {"drafts", "notebook"},
    "compat": ENGINE | {"integrations"},
    "demo": set(),
    "analysis": TREES | {"regex", "compiler", "vocabulary", "_core"},
    "cli": ENGINE | {"analysis", "integrations", "demo", "grammars"},
    "__main__": {"cli"},
}
LEAVES = {
    *(
        "cfgmask.regex.algebra",
        "cfgmask.regex.parser",
        "cfgmask.regex.lexemes",
        "cfgmask.json_schema.core_reader",
        "cfgmask.regex.numbers",
        "cfgmask.json_schema.core_forms",
    ),
    "cfgmask.lark.reader",
}
# A program that ends in the integrations; nothing imports it.
DEMO = "cfgmask.demo.__main__"


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(("cfgmask", *file.relative_to(PACKAGE).with_suffix("").parts))
        yield name, ast.parse(file.read_text(encoding="utf-8"))


def _imports(name: str, tree: ast.Module) -> Iterator[str]:
    """The modules of this package that a module imports, wherever the statements stand, but for types alone."""
    for node in _run_time_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "cfgmask")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: relative import"
            if node.module == "cfgmask":
                yield from (f"cfgmask.{_home(alias.name)}" for alias in node.names)
            elif node.module is not None and node.module.startswith("cfgmask."):
                yield node.module


def _run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below, without what stands under `if TYPE_CHECKING:`."""
    yield node
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    for child in ast.iter_child_nodes(node):
        yield from _run_time_nodes(child)


def _home(name: str) -> str:
    """`from cfgmask import name`: the submodule of that name, or the package itself for a public name."""
    is_module = (PACKAGE / name).is_dir() or any(PACKAGE.glob(f"{name}.*"))
    return name if is_module or name.startswith("_core") else "__init__"


def _layer(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def test_python_imports_point_one_way() -> None:
    wrong = []
    for name, tree in _modules():
        allowed = ALLOWED[_layer(name)] | {_layer(name)}
        if name in LEAVES:
            allowed |= {"_core"}
        if name != DEMO:
            wrong += [f"{name} imports {target}" for target in _imports(name, tree) if _layer(target) not in allowed]
    assert not wrong


def test_every_layer_is_known() -> None:
    assert {_layer(name) for name, _ in _modules()} <= set(ALLOWED)


# C++: bindings -> lark, grammar -> json_schema -> pattern, matcher -> mask -> earley, lexer, vocab -> regex -> util.
# Only bindings knows Python.

CPP_ALLOWED: dict[str, set[str]] = {
    "util": set(),
    "regex": {"util"},
    "pattern": {"regex", "util"},
    "vocab": {"regex", "util"},
    "lexer": {"regex", "util"},
    "earley": {"lexer", "regex", "util"},
    "mask": {"earley", "lexer", "vocab", "regex", "util"},
    "matcher": {"mask", "earley", "lexer", "vocab", "regex", "util"},
    "json_schema": {"earley", "matcher", "pattern", "regex", "util"},
    "grammar": {"json_schema", "earley", "matcher", "regex", "util"},
    "lark": {"util"},
    "bindings": {
        "lark",
        "grammar",
        "json_schema",
        "pattern",
        "matcher",
        "mask",
        "earley",
        "lexer",
        "vocab",
        "regex",
        "util",
    },
}
# Inside of json_schema: rules, keywords -> layouts -> sets -> spelling -> document, references.
JSON_SCHEMA_ALLOWED: dict[str, set[str]] = {
    "document": set(),
    "references": set(),
    "spelling": {"document"},
    "sets": {"document", "spelling"},
    "layouts": {"document", "spelling", "sets"},
    "keywords": {"document", "references", "spelling", "sets", "layouts"},
    "rules": {"document", "spelling", "sets", "layouts"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)

core_sources = pytest.mark.skipif(not CORE.is_dir(), reason="the C++ sources are not part of an installed package")


def _includes() -> Iterator[tuple[str, str, str]]:
    """(file, its part of the core, what it includes) for every include of the core."""
    for file in sorted([*CORE.rglob("*.cc"), *CORE.rglob("*.h")]):
        path = file.relative_to(CORE)
        for target in INCLUDE.findall(file.read_text(encoding="utf-8")):
            yield path.as_posix(), path.parts[0].removesuffix(".cc"), target


@core_sources
def test_cpp_includes_point_one_way() -> None:
    wrong = []
    for file, part, target in _includes():
        other = target.split("/")[0]
        if other in CPP_ALLOWED and other not in CPP_ALLOWED[part] | {part}:
            wrong.append(f"{file} includes {target}")
    assert not wrong


@core_sources
def test_includes_of_json_schema_point_one_way() -> None:
    wrong = []
    for file, part, target in _includes():
        if part == "json_schema" and target.startswith("json_schema/"):
            folder, other = file.split("/")[1], target.split("/")[1]
            if other not in JSON_SCHEMA_ALLOWED[folder] | {folder}:
                wrong.append(f"{file} includes {target}")
    assert not wrong


@core_sources
def test_only_the_bindings_know_python() -> None:
    python = [(file, target) for file, part, target in _includes() if part != "bindings" and _is_python(target)]
    assert not python


def _is_python(header: str) -> bool:
    return header == "Python.h" or header.startswith(("nanobind/", "numpy/"))


@core_sources
def test_quoted_includes_name_their_part() -> None:
    """As in `util/ids.h`, so that a reader, and the tests above, can tell where a header is from."""
    for file in sorted([*CORE.rglob("*.cc"), *CORE.rglob("*.h")]):
        for target in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(encoding="utf-8"), re.MULTILINE):
            assert target.split("/")[0] in CPP_ALLOWED, f"{file.name}: {target}"


# _core.pyi is written by hand, for people; it has to name exactly what the module has, and to be what `help` shows.


def _stub() -> ast.Module:
    return ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))


def _public(names: Iterator[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_stub_names_what_the_core_has() -> None:
    from cfgmask import _core

    definitions = {node.name for node in _stub().body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    constants = {ast.unparse(node.target) for node in _stub().body if isinstance(node, ast.AnnAssign)}
    assert _public(iter(vars(_core))) == definitions | constants


def test_stub_classes_have_the_members_of_the_core() -> None:
    from cfgmask import _core

    for node in _stub().body:
        if isinstance(node, ast.ClassDef):
            members = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
            cls = getattr(_core, node.name)
            assert _public(iter(vars(cls))) == _public(iter(members)), node.name
            assert [base.__name__ for base in cls.__bases__ if base is not object] == [
                ast.unparse(b) for b in node.bases
            ]


def test_docstrings_of_the_core_are_those_of_the_stub() -> None:
    from cfgmask import _core

    for node in _stub().body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            continue
        shown = getattr(_core, node.name)
        _assert_shown(shown, node)
        # What the compiler of grammars alone uses is documented as a whole.
        if isinstance(node, ast.ClassDef) and not node.name.endswith("Builder"):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name != "__init__":
                    _assert_shown(getattr(shown, member.name), member)


def _assert_shown(shown: object, node: ast.ClassDef | ast.FunctionDef) -> None:
    """The docstring is that of the stub, below a line with the signature where it is a function's."""
    text, written = inspect.getdoc(shown), ast.get_docstring(node)
    assert text, node.name
    assert written, node.name
    assert text.endswith(written), node.name
