"""Lists of tools, in the forms that people have them in, to `Tool`s.

Every problem of a list is found before any is raised; places are JSON Pointers into the list.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from cfgmask.diagnostics import Diagnostic, shortened
from cfgmask.errors import GrammarError
from cfgmask.json_schema.values import escape
from cfgmask.suggest import did_you_mean
from cfgmask.types import schema_of

Kind: TypeAlias = Literal["function", "custom", "builtin"]

MAX_TOOLS = 10_000
"""More tools than any prompt can hold."""

_MAX_NAME = 256
# What would end a name early in some style, or is not seen: quotes, brackets, white space, controls.
_NAME = re.compile(r"""[^\s"'`\\<>(){}\[\]=,|\x00-\x1f\x7f-\x9f]+""")

_FUNCTION_KEYS = {"type", "name", "description", "parameters", "strict", "response", "returns"}
_CUSTOM_KEYS = {"type", "name", "description", "format"}
# Keys of MCP and of Anthropic's messages; `annotations`, `title` and others say nothing about arguments.
_SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters")
# Most are dicts, and the question whether something is another mapping takes ten times as long.
_MAPPING = (dict, Mapping)


@dataclasses.dataclass(frozen=True)
class TextFormat:
    """Free text as the argument of a custom tool.

    syntax      "text" for any text, or the language of the definition
    definition  a Lark grammar or a regular expression; "" for any text
    """

    syntax: Literal["text", "lark", "regex"] = "text"
    definition: str = ""


_ANY_TEXT = TextFormat()


@dataclasses.dataclass(frozen=True)
class Tool:
    """One tool.

    kind    a "function" has a schema, "custom" a format, a "builtin" is one that the model was trained with
    schema  of the arguments; True for any object
    format  of the text that a custom tool takes
    at      the place of the schema or format, as a JSON Pointer into the list of tools
    """

    name: str
    kind: Kind = "function"
    schema: Any = dataclasses.field(default=True, hash=False)
    format: TextFormat = _ANY_TEXT
    description: str = ""
    at: str = ""

    def with_schema(self, schema: Any) -> Tool:
        """The same tool with another schema of its arguments."""
        return Tool(self.name, self.kind, schema, self.format, self.description, self.at)

    def with_later_schema(self, later: Callable[[], Mapping[str, Any]]) -> Tool:
        """The same tool with a schema that is looked up when it is first asked for: `later` gives them by name."""
        return _LaterTool(self, later)


class _LaterTool(Tool):
    def __init__(self, like: Tool, later: Callable[[], Mapping[str, Any]]) -> None:
        # An assignment to each field takes twice as long.
        values = vars(self)
        values.update(vars(like))
        values["_later"] = later
        del values["schema"]

    @functools.cached_property
    def schema(self) -> Any:
        """As of `Tool`."""
        return vars(self)["_later"]()[self.name]

    def __reduce__(self) -> tuple[type[Tool], tuple[Any, ...]]:
        return Tool, (self.name, self.kind, self.schema, self.format, self.description, self.at)


def read_tools(tools: Any) -> tuple[Tool, ...]:
    """The tools of a list, in its order.

    tools  a list of dicts (functions, custom tools and builtin ones as OpenAI has them in both of its APIs, tools of
           MCP with `inputSchema`), Python functions, dataclasses, TypedDicts or models of pydantic; may be mixed. The
           answer of MCP's `tools/list`, a dict with `tools`, is the list in it
    Errors: GrammarError with every problem (codes `tools-…`, and `type-…` for Python types); TypeError if it is no
    list.
    Cost: linear. Schemas are not read here.
    """
    if isinstance(tools, Mapping) and isinstance(tools.get("tools"), (list, tuple)):
        tools = tools["tools"]
    if not isinstance(tools, (list, tuple)):
        raise TypeError(f"tools must be a list, not {type(tools).__name__}")
    if len(tools) > MAX_TOOLS:
        raise GrammarError([Diagnostic("tools-too-many", f"there are {len(tools):,} tools, more than {MAX_TOOLS:,}")])
    reader = _Reader()
    found = [reader.tool(tool, f"/{number}") for number, tool in enumerate(tools)]
    read = tuple([tool for tool in found if tool is not None])
    reader.check_names(read)
    if reader.problems:
        raise GrammarError(reader.problems)
    return read


def _usual(tool: Mapping[str, Any], at: str) -> Tool | None:
    """A function as OpenAI's chat completions have it; None for anything else, and if something is wrong.

    Most tools are such, and `_Reader.tool` takes three times as long.
    """
    inner = tool.get("function")
    if type(inner) is not dict or tool.get("type") != "function" or not inner.keys() <= _FUNCTION_KEYS:
        return None
    name, schema, strict = inner.get("name"), inner.get("parameters"), inner.get("strict")
    if type(name) is not str or type(schema) is not dict or not (strict is None or strict is True):
        return None
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        return None
    # To assign to each field of a frozen one takes three times as long.
    made = object.__new__(Tool)
    values = {"name": name, "kind": "function", "schema": schema, "format": _ANY_TEXT}
    vars(made).update(values, description=_text(inner, "description"), at=f"{at}/function/parameters")
    return made


class _Reader:
    """Collects the problems of a list."""

    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []

    def tool(self, tool: Any, at: str) -> Tool | None:
        """One of the list; None if it has problems."""
        if isinstance(tool, _MAPPING):
            return _usual(tool, at) or self._dict(tool, at)
        if isinstance(tool, Tool):
            return tool
        if isinstance(tool, type):
            return self._class(tool, at)
        if callable(tool):
            return self._function(tool, at)
        shown = type(tool).__name__
        help = "use a dict as OpenAI or MCP have it, a function, a dataclass or a model of pydantic"
        self._problem("tools-form", f"a tool cannot be of type {shown}", at, help)
        return None

    def check_names(self, tools: tuple[Tool, ...]) -> None:
        """No two tools have one name."""
        if len({tool.name for tool in tools}) == len(tools):
            return
        seen: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in seen:
                first = seen[tool.name].at or "/"
                help = f"the first one is at {first}"
                self._problem("tools-same-name", f"two tools are called `{shortened(tool.name)}`", tool.at, help)
            seen.setdefault(tool.name, tool)

    def _problem(self, code: str, message: str, at: str, help: str | None = None) -> None:
        self.problems.append(Diagnostic(code, message, pointer=at, help=help))

    def _dict(self, tool: Mapping[str, Any], at: str) -> Tool | None:
        kind = tool.get("type")
        if kind is None:
            if isinstance(tool.get("function"), _MAPPING):
                return self._nested(tool, "function", at)
            return self._of_schema(tool, at)
        if not isinstance(kind, str):
            self._problem("tools-form", "`type` must be a text", f"{at}/type")
            return None
        if kind == "function":
            return self._nested(tool, "function", at)
        if kind == "custom":
            return self._nested(tool, "custom", at)
        return self._builtin(tool, kind, at)

    def _nested(self, tool: Mapping[str, Any], kind: Literal["function", "custom"], at: str) -> Tool | None:
        """As OpenAI's chat completions have it, in a dict of its own, or as its responses do, flat."""
        inner, place = tool, at
        if kind in tool:
            inner, place = tool[kind], f"{at}/{kind}"
            if not isinstance(inner, _MAPPING):
                self._problem("tools-form", f"`{kind}` must be an object", place)
                return None
        known = _FUNCTION_KEYS if kind == "function" else _CUSTOM_KEYS
        for key in inner:
            if key not in known and (question := did_you_mean(str(key), known)):
                self._problem(
                    "tools-unknown-key", f"`{key}` means nothing here", f"{place}/{escape(str(key))}", question
                )
        if kind == "function":
            return self._of_schema(inner, place)
        name = self._name(inner, place)
        format = self._format(inner.get("format"), f"{place}/format")
        if name is None or format is None:
            return None
        return Tool(name, "custom", format=format, description=_text(inner, "description"), at=f"{place}/format")

    def _of_schema(self, tool: Mapping[str, Any], at: str) -> Tool | None:
        name = self._name(tool, at)
        key = next((key for key in _SCHEMA_KEYS if key in tool), None)
        schema: Any = True if key is None or tool[key] is None else tool[key]
        place = at if key is None else f"{at}/{key}"
        strict = tool.get("strict")
        if strict is not None and not isinstance(strict, bool):
            self._problem("tools-form", "`strict` must be true or false", f"{at}/strict")
            return None
        if not isinstance(schema, (dict, Mapping, bool)):
            shown = type(schema).__name__
            self._problem("tools-form", f"the parameters of a tool are a JSON Schema, not a {shown}", place)
            return None
        if name is None:
            return None
        allowed = True if strict is False else schema
        return Tool(name, "function", allowed, description=_text(tool, "description"), at=place)

    def _builtin(self, tool: Mapping[str, Any], kind: str, at: str) -> Tool | None:
        name = tool.get("name", kind) if kind != "builtin" else tool.get("name")
        checked = self._name({"name": name}, at)
        schema = tool.get("parameters", True)
        if not isinstance(schema, (dict, Mapping, bool)):
            self._problem("tools-form", "the parameters of a tool are a JSON Schema", f"{at}/parameters")
            return None
        return None if checked is None else Tool(checked, "builtin", schema, at=f"{at}/parameters")

    def _name(self, tool: Mapping[str, Any], at: str) -> str | None:
        name = tool.get("name")
        if not isinstance(name, str) or not name:
            self._problem("tools-name", "a tool needs a `name`, a text", f"{at}/name")
            return None
        if len(name) > _MAX_NAME:
            self._problem("tools-name", f"a name has at most {_MAX_NAME} characters", f"{at}/name")
            return None
        if not _NAME.fullmatch(name):
            help = "use letters, digits, `_`, `-`, `.`, `:` and `/`"
            self._problem("tools-name", f"`{shortened(name)}` cannot be the name of a tool", f"{at}/name", help)
            return None
        return name

    def _format(self, format: Any, at: str) -> TextFormat | None:
        if format is None:
            return TextFormat()
        if not isinstance(format, _MAPPING) or format.get("type") not in ("text", "grammar"):
            self._problem("tools-format", 'a format has a `type`, "text" or "grammar"', at)
            return None
        if format["type"] == "text":
            return TextFormat()
        inner, place = format, at
        if "grammar" in format:
            inner, place = format["grammar"], f"{at}/grammar"
        syntax = inner.get("syntax") if isinstance(inner, _MAPPING) else None
        definition = inner.get("definition") if isinstance(inner, _MAPPING) else None
        if syntax not in ("lark", "regex"):
            self._problem("tools-format", 'the `syntax` of a format is "lark" or "regex"', f"{place}/syntax")
            return None
        if not isinstance(definition, str) or not definition:
            self._problem("tools-format", "a grammar needs a `definition`, a text", f"{place}/definition")
            return None
        return TextFormat("lark" if syntax == "lark" else "regex", definition)

    def _class(self, kind: type, at: str) -> Tool | None:
        return self._of_type(kind, kind.__name__, inspect.getdoc(kind) or "", at)

    def _function(self, function: Callable[..., Any], at: str) -> Tool | None:
        name = getattr(function, "__name__", None)
        if name is None or not _NAME.fullmatch(name):
            help = "give it a name: `def`, or a dict with the schema of its arguments"
            self._problem("tools-name", "this function has no name that a model could write", at, help)
            return None
        try:
            signature = inspect.signature(function)
            hints = typing.get_type_hints(function, include_extras=True)
        except (NameError, TypeError, ValueError, SyntaxError) as error:
            self._problem("tools-signature", f"the signature of `{name}` cannot be read: {error}", at)
            return None
        fields: list[tuple[str, Any, Any]] = []
        for parameter in signature.parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                message = f"`{name}` has the parameter `{parameter}`, which is not passed by its name"
                help = "arguments come by name: use ordinary or keyword-only parameters"
                self._problem("tools-signature", message, at, help)
                return None
            is_needed = parameter.default is parameter.empty
            default = dataclasses.field() if is_needed else dataclasses.field(default=None)
            fields.append((parameter.name, hints.get(parameter.name, Any), default))
        try:
            kind = dataclasses.make_dataclass(name, fields, kw_only=True)
        except (TypeError, ValueError) as error:
            self._problem("tools-signature", f"the signature of `{name}` cannot be read: {error}", at)
            return None
        return self._of_type(kind, name, inspect.getdoc(function) or "", at)

    def _of_type(self, kind: Any, name: str, description: str, at: str) -> Tool | None:
        try:
            return Tool(name, "function", schema_of(kind), description=description, at=at)
        except GrammarError as error:
            self.problems += error.diagnostics
            return None


def _text(tool: Mapping[str, Any], key: str) -> str:
    value = tool.get(key)
    return value if isinstance(value, str) else ""
