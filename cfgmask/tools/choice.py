"""Which tools may be called, and how often: `tool_choice` and `parallel_tool_calls`."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.suggest import did_you_mean
from cfgmask.tools.read import Tool

Mode: TypeAlias = Literal["auto", "required", "none"]

_MODES: dict[str, Mode] = {"auto": "auto", "required": "required", "any": "required", "none": "none"}
# Where places in `tool_choice` begin: a list of tools has places of its own.
_ROOT = "/tool_choice"


@dataclass(frozen=True)
class Choice:
    """What a text may call.

    mode     "auto": calls or an answer; "required": calls alone, at least one; "none": an answer
    tools    those that may be called; with "none", those that an answer must not look like
    maximum  how many calls there are at most; None: any number
    """

    mode: Mode
    tools: tuple[Tool, ...]
    maximum: int | None


def read_choice(tools: tuple[Tool, ...], tool_choice: Any, parallel: bool | int) -> Choice:
    """The choice out of some tools.

    tool_choice  "auto", "required" (or "any"), "none"; {"type": "function", "function": {"name": …}} or its flat form,
                 and the same of "custom" tools, for one call of one tool; {"type": "allowed_tools", "allowed_tools":
                 {"mode": "auto" or "required", "tools": […]}} or its flat form
    parallel     whether there may be several calls, or how many at most
    Errors: GrammarError (codes `tools-choice…`, at places in `/tool_choice`); ValueError for less than 1 call.
    """
    maximum = _maximum(parallel)
    if tool_choice is None:
        tool_choice = "auto"
    if isinstance(tool_choice, str):
        mode = _MODES.get(tool_choice)
        if mode is None:
            named = {"type": "function", "function": {"name": tool_choice}}
            is_tool = any(tool.name == tool_choice for tool in tools)
            help = f"this tool alone is {json.dumps(named)}" if is_tool else did_you_mean(tool_choice, _MODES)
            raise _error("tools-choice", f"there is no tool_choice {tool_choice!r}", _ROOT, help)
        return _checked(Choice(mode, tools, maximum))
    if not isinstance(tool_choice, Mapping) or not isinstance(tool_choice.get("type"), str):
        raise _error("tools-choice", "tool_choice is a text, or a dict with a `type`", _ROOT)
    kind = tool_choice["type"]
    if kind == "allowed_tools":
        return _allowed(tools, tool_choice, maximum)
    if kind in ("auto", "any", "required", "none") and "name" not in tool_choice:
        return _checked(Choice(_MODES[kind], tools, maximum))
    return Choice("required", (_named(tools, tool_choice, _ROOT),), 1)


def _maximum(parallel: bool | int) -> int | None:
    if isinstance(parallel, bool):
        return None if parallel else 1
    if not isinstance(parallel, int) or parallel < 1:
        raise ValueError(f"parallel_tool_calls must be True, False or a number from 1, not {reprlib.repr(parallel)}")
    return parallel


def _allowed(tools: tuple[Tool, ...], written: Mapping[str, Any], maximum: int | None) -> Choice:
    inner, at = written, _ROOT
    if "allowed_tools" in written:
        inner, at = written["allowed_tools"], f"{_ROOT}/allowed_tools"
    if not isinstance(inner, Mapping):
        raise _error("tools-choice", "`allowed_tools` is an object with `mode` and `tools`", at)
    mode, listed = inner.get("mode", "auto"), inner.get("tools")
    if mode not in ("auto", "required"):
        raise _error("tools-choice", 'the `mode` of allowed tools is "auto" or "required"', f"{at}/mode")
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise _error("tools-choice", "`tools` lists the tools that are allowed, at least one", f"{at}/tools")
    found: dict[str, Tool] = {}
    problems: list[Diagnostic] = []
    for number, one in enumerate(listed):
        try:
            tool = _named(tools, one, f"{at}/tools/{number}")
            found[tool.name] = tool
        except GrammarError as error:
            problems += error.diagnostics
    if problems:
        raise GrammarError(problems)
    return Choice("required" if mode == "required" else "auto", tuple(found.values()), maximum)


def _named(tools: tuple[Tool, ...], written: Any, at: str) -> Tool:
    """The tool that a dict names, or that is a name."""
    name: Any = written
    if isinstance(written, Mapping):
        kind = written.get("type")
        inner = written.get(kind) if isinstance(kind, str) else None
        if isinstance(inner, Mapping):
            name, at = inner.get("name"), f"{at}/{kind}"
        else:
            name = written.get("name", kind if kind not in ("function", "custom", "tool") else None)
        at = f"{at}/name"
    if not isinstance(name, str):
        raise _error("tools-choice", "the name of a tool is missing", at)
    for tool in tools:
        if tool.name == name:
            return tool
    names = [tool.name for tool in tools]
    help = did_you_mean(name, names) or f"the tools are {', '.join(names[:8]) or 'none'}"
    raise _error("tools-choice-unknown", f"there is no tool `{name}`", at, help)


def _checked(choice: Choice) -> Choice:
    if choice.mode == "required" and not choice.tools:
        raise _error("tools-choice-no-tools", "a call is required, and there are no tools", _ROOT, "give some tools")
    return choice


def _error(code: str, message: str, at: str, help: str | None = None) -> GrammarError:
    return GrammarError([Diagnostic(code, message, pointer=at, help=help)])
