"""Hooks of mkdocs (see mkdocs.yml): pages of the API and of all codes, links out of docs/, and a place for new pages.

The docstrings are read from the sources, so that the site can be built without the compiled core.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import normpath
from typing import Any

# mkdocs reads this as a file, without its folder on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent))
import diagnostic_codes

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "cfgmask"

# Page of the API: title, first sentence, and the names on it with the files that define them.
API = {
    "grammar": (
        "Grammars",
        "Read a grammar, and compile it for a vocabulary.",
        {
            "Grammar": "compiler/grammar.py",
            "compile": "compiler/build.py",
            "Compiler": "compiler/cache.py",
            "json_regex": "patterns.py",
            "grammars": "grammars/__init__.py",
        },
    ),
    "vocabulary": ("Vocabularies", "The bytes of each token.", {"Vocabulary": "vocabulary.py"}),
    "matcher": (
        "Matchers and masks",
        "Follow one sequence, and ask for its masks.",
        {
            "CompiledGrammar": "_core.pyi",
            "Matcher": "_core.pyi",
            "fill_masks": "_core.pyi",
            "fill_draft_masks": "drafts.py",
            "fill_draft_masks_many": "drafts.py",
            "advance_many": "drafts.py",
            "rollback_many": "drafts.py",
            "Explanation": "compiler/explanation.py",
            "MaskEvent": "compiler/observation.py",
        },
    ),
    "values": (
        "Values of texts",
        "Results of `Grammar.parse` and `Grammar.parser`: see [Read values out of text](../how-to/values.md).",
        {
            "values.Parser": "values/parser.py",
            "values.Message": "values/events.py",
            "values.ToolCall": "values/events.py",
            "values.Captures": "values/events.py",
            "values.Capture": "values/events.py",
            "values.TextDelta": "values/events.py",
            "values.ReasoningDelta": "values/events.py",
            "values.ContentDelta": "values/events.py",
            "values.CallBegun": "values/events.py",
            "values.ArgumentsDelta": "values/events.py",
            "values.CallDone": "values/events.py",
            "values.CaptureDelta": "values/events.py",
            "values.CaptureDone": "values/events.py",
            "values.ValueDone": "values/events.py",
            "values.Retracted": "values/events.py",
        },
    ),
    "errors": (
        "Errors, diagnostics and limits",
        "All errors derive from `CfgmaskError`.",
        {
            "CfgmaskError": "errors.py",
            "GrammarError": "errors.py",
            "VocabularyError": "errors.py",
            "TokenRejected": "errors.py",
            "ParseError": "errors.py",
            "BudgetTooSmall": "errors.py",
            "LimitExceeded": "errors.py",
            "Diagnostic": "diagnostics.py",
            "Source": "diagnostics.py",
            "Span": "diagnostics.py",
            "Limits": "limits.py",
        },
    ),
    "integrations": (
        "Integrations",
        "Thin modules in `cfgmask.integrations`. Each imports its library.",
        {
            "llama_cpp.generate": "integrations/llama_cpp/generation.py",
            "llama_cpp.choose": "integrations/llama_cpp/choosing.py",
            "llama_cpp.LogitsProcessor": "integrations/llama_cpp/processor.py",
            "llama_cpp.LogitsProcessorList": "integrations/llama_cpp/processor_list.py",
            "llama_cpp.StoppingCriterion": "integrations/llama_cpp/processor.py",
            "llama_cpp.GeneratedText": "integrations/generated.py",
            "llama_cpp.TextStream": "integrations/generated.py",
            "llama_cpp.Choice": "integrations/choices.py",
            "llama_cpp.Logprob": "integrations/logprobs.py",
            "llama_cpp.TokenLogprob": "integrations/logprobs.py",
            "llama_cpp.IntegrationError": "integrations/errors.py",
            "transformers.generate": "integrations/transformers/generation.py",
            "transformers.choose": "integrations/transformers/choosing.py",
            "transformers.LogitsProcessor": "integrations/transformers/processor.py",
            "mlx_lm.LogitsProcessor": "integrations/mlx_lm/processor.py",
            "outlines.LogitsProcessor": "integrations/outlines/processor.py",
            "outlines.vocabulary_of": "integrations/outlines/processor.py",
            "exllamav3.Filter": "integrations/exllamav3/filter.py",
            "exllamav3.vocabulary_of": "integrations/exllamav3/filter.py",
            "vllm.install": "integrations/vllm/__init__.py",
            "numpy.apply_token_bitmask_inplace": "integrations/numpy.py",
            "torch.apply_token_bitmask_inplace": "integrations/torch/bitmask.py",
            "torch.MaskBuffer": "integrations/torch/buffer.py",
            "requests.ResponseFormat": "integrations/requests.py",
            "requests.CompiledFormats": "integrations/requests.py",
            "requests.RequestState": "integrations/requests.py",
            "requests.RequestError": "integrations/requests.py",
            "sampling.SamplingParams": "integrations/sampling.py",
            "sampling.sample_token": "integrations/sampling.py",
        },
    ),
}

# The plugin `offline` takes this from elsewhere; it lets the search run when pages are read from files.
SHIM = "https://unpkg.com/iframe-worker/shim"

# For this package's own use.
_INTERNAL = {"core", "ir", "ir_for", "compact_ir_for", "parted_ir", "written_with", "mask", "fail", "masked_text"}
# Methods of these names are documented nevertheless.
_KEPT = {"requests.RequestState.mask"}

_ENTRY = re.compile(r"(\*{0,2}[A-Za-z_][\w.]*(?:, \*{0,2}[A-Za-z_][\w.]*)*) {2,}(\S.*)")
_PARAGRAPH = re.compile(r"(Errors|Cost|Returns|Raises|Example|Threads)\b|returns ")
_FENCE = re.compile(r"^(```+[\w-]+) [^\n`]*$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(((?:\.\./)[^)\s#]+)(#[^)\s]*)?\)")


# Hooks


def on_config(config: Any) -> Any:
    written = [path.relative_to(config.docs_dir).as_posix() for path in sorted(Path(config.docs_dir).rglob("*.md"))]
    if more := [page for page in written if page not in pages_of(config.nav)]:
        config.nav.append({"More": more})
    return config


def pages_of(navigation: Any) -> list[str]:
    """The pages that a part of the navigation names, in order."""
    if isinstance(navigation, str):
        return [navigation]
    parts = navigation.values() if isinstance(navigation, dict) else navigation
    return [page for part in parts for page in pages_of(part)]


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    files.append(File.generated(config, "codes.md", content=diagnostic_codes.page()))
    for page in API:
        files.append(File.generated(config, f"api/{page}.md", content=api_page(page)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    # What the tests read behind a block's language is not for readers.
    text = _FENCE.sub(r"\1", markdown)
    text = without_links_out(text, page.file.src_uri, config.repo_url)
    return with_titles(text, Path(config.docs_dir) / page.file.src_uri)


def on_post_page(output: str, page: Any, config: Any) -> str:
    return output.replace(SHIM, "../" * page.url.count("/") + "assets/iframe-worker.js")


def on_post_template(output: str, template_name: str, config: Any) -> str:
    return output.replace(SHIM, "assets/iframe-worker.js")


def without_links_out(text: str, source: str, repository: str | None) -> str:
    """The text with links to files outside of docs/ as links into the repository, or as their words alone."""
    folder = "docs/" + source.rpartition("/")[0]

    def replaced(match: re.Match[str]) -> str:
        path = normpath(f"{folder}/{match[3]}")
        if path.startswith("docs/"):
            return match[0]
        if not repository:
            return match[2]
        return f"{match[1]}[{match[2]}]({repository.rstrip('/')}/blob/main/{path}{match[4] or ''})"

    return _LINK.sub(replaced, text)


def with_titles(text: str, source: Path) -> str:
    """The text with titles of pages in place of names of files as the words of links."""

    def titled(match: re.Match[str]) -> str:
        page = source.parent / match[1]
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") if page.is_file() else match[1]
        return f"[{title}]({match[1]}{match[2] or ''})"

    return re.sub(r"\[[\w./-]+\.md\]\(([\w./-]+\.md)(#[\w-]+)?\)", titled, text)


# The API


def api_page(page: str) -> str:
    title, first, names = API[page]
    parts = [f"# {title}", first]
    for name, file in names.items():
        parts += _definition(name, PACKAGE / file)
    return "\n\n".join(parts) + "\n"


def _definition(name: str, path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.name == "__init__.py" and path.parent.name == name:
        yield f"## `cfgmask.{name}`"
        yield _markdown(ast.get_docstring(tree))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield from _function(node, f"{name}.{node.name}", 3)
        return
    inner = name.rpartition(".")[2]
    nodes = [n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and n.name == inner]
    if not nodes:
        raise LookupError(f"{path} does not define {inner}")
    # Of overloads, the last one is the function itself, or they all are.
    node = nodes[-1]
    shown = name if "." in name else f"cfgmask.{name}"
    if isinstance(node, ast.FunctionDef):
        yield from _function(node, shown, 2)
        return
    yield f"## `{shown}`"
    if fields := _fields(node):
        yield f"```python\n{fields}\n```"
    yield _markdown(ast.get_docstring(node))
    for member in node.body:
        if not isinstance(member, ast.FunctionDef) or member.name.startswith("_"):
            continue
        full = f"{name}.{member.name}"
        if ast.get_docstring(member) and (member.name not in _INTERNAL or full in _KEPT):
            yield from _function(member, f"{inner}.{member.name}", 3, of_class=True, anchor=full)


def _fields(node: ast.ClassDef) -> str:
    """The public fields of a dataclass, one a line; "" for other classes."""
    if not any(ast.unparse(decorator).startswith("dataclass") for decorator in node.decorator_list):
        return ""
    fields = (n for n in node.body if isinstance(n, ast.AnnAssign) and not ast.unparse(n.target).startswith("_"))
    return "\n".join(f"{ast.unparse(field.target)}: {ast.unparse(field.annotation)}" for field in fields)


def _function(
    node: ast.FunctionDef, name: str, level: int, *, of_class: bool = False, anchor: str | None = None
) -> Iterator[str]:
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    # Classes of several modules have one name, and so have their methods; of one module, the name is enough.
    yield f"{'#' * level} `{name}`" + (f" {{#{anchor.lower()}}}" if anchor and anchor.count(".") > 1 else "")
    if not decorators & {"property", "cached_property"}:
        yield f"```python\n{_signature(node, bound=of_class and 'staticmethod' not in decorators)}\n```"
    elif node.returns is not None:
        yield f"Property: `{_public(ast.unparse(node.returns))}`"
    yield _markdown(ast.get_docstring(node))


def _signature(node: ast.FunctionDef, *, bound: bool) -> str:
    arguments = node.args
    if bound:
        arguments = ast.arguments(**{field: getattr(arguments, field) for field in arguments._fields})
        if arguments.posonlyargs:
            arguments.posonlyargs = arguments.posonlyargs[1:]
        else:
            arguments.args = arguments.args[1:]
    returns = f" -> {_public(ast.unparse(node.returns))}" if node.returns is not None else ""
    # `a: int=1`, as ast writes it, is `a: int = 1` to everybody else.
    parts = [re.sub(r"^([^=]*: [^=]*)=", r"\1 = ", _written(part)) for part in _each_argument(arguments)]
    line = f"{node.name}({', '.join(parts)}){returns}"
    if len(line) <= 88:
        return line
    return f"{node.name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def _written(argument: ast.arguments) -> str:
    """An argument with its default; of those that are fields of `DEFAULTS`, the value."""
    return re.sub(r"\bDEFAULTS\.(\w+)", lambda match: _defaults()[match[1]], _public(ast.unparse(argument)))


def _public(written: str) -> str:
    """An annotation or a default as people write it."""
    return written.replace("_core.", "").replace("Value_co", "Value").replace("STALL_AFTER", str(_stall_after()))


@cache
def _stall_after() -> int:
    source = (PACKAGE / "integrations" / "start.py").read_text(encoding="utf-8")
    (found,) = re.findall(r"^STALL_AFTER = (\d+)$", source, re.MULTILINE)
    return int(found)


@cache
def _defaults() -> dict[str, str]:
    tree = ast.parse((PACKAGE / "json_schema" / "options.py").read_text(encoding="utf-8"))
    (options,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "JsonSchemaOptions")
    fields = (n for n in options.body if isinstance(n, ast.AnnAssign) and n.value is not None)
    return {ast.unparse(field.target): ast.unparse(field.value) for field in fields}


def _each_argument(arguments: ast.arguments) -> Iterator[ast.arguments]:
    """Each argument, with its default, as arguments of one."""

    def alone(**given: Any) -> ast.arguments:
        none: dict[str, Any] = {"posonlyargs": [], "args": [], "kwonlyargs": [], "kw_defaults": [], "defaults": []}
        return ast.arguments(**{**none, "vararg": None, "kwarg": None, **given})

    plain = [*arguments.posonlyargs, *arguments.args]
    without = len(plain) - len(arguments.defaults)
    for number, argument in enumerate(plain):
        yield alone(args=[argument], defaults=arguments.defaults[number - without :][:1] if number >= without else [])
    if arguments.vararg:
        yield alone(vararg=arguments.vararg)
    for number, (argument, default) in enumerate(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
        only = alone(args=[argument], defaults=[default] if default is not None else [])
        if number == 0 and not arguments.vararg:
            yield alone(args=[ast.arg("*", None)])
        yield only
    if arguments.kwarg:
        yield alone(kwarg=arguments.kwarg)


def _markdown(docstring: str | None) -> str:
    """A docstring as Markdown: aligned names and their meanings become a list."""
    out: list[str] = []
    in_list = in_example = False
    for line in inspect.cleandoc(docstring or "").splitlines():
        if in_example:
            if line.strip():
                out.append(line.removeprefix("    "))
                continue
            out += ["```", ""]
            in_example = False
        entry = _ENTRY.fullmatch(line)
        if _PARAGRAPH.match(line) and out and out[-1] and not entry:
            out.append("")
        if line == "Example:":
            out += ["```python"]
            in_example, in_list = True, False
            continue
        if line.startswith("Example: "):
            out += ["", "```python", line.removeprefix("Example: "), "```"]
            in_list = False
            continue
        if line.startswith(">>>"):
            out += ["```pycon", line]
            in_example, in_list = True, False
        elif entry:
            if not in_list and out and out[-1]:
                out.append("")
            names = ", ".join(f"`{name}`" for name in entry[1].split(", "))
            out.append(f"- {names}: {entry[2]}")
            in_list = True
        elif in_list and line.startswith("  "):
            out[-1] += " " + line.strip()
        else:
            if in_list and line:
                out.append("")
            in_list = in_list and not line
            out.append(line)
    if in_example:
        out.append("```")
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out)).rstrip()
    # Links are checked when the site is built.
    return re.sub(r"\bdocs/([\w/-]+\.md)(#[\w-]+)?", r"[\1](../\1\2)", text)
