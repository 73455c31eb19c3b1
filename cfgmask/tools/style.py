"""Styles: how model families write thinking, tool calls and answers. Each is a file in `styles/`.

A style is data, and this module its reader. docs/tools.md tells what each field means; CONTRIBUTING how to add one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cfgmask.suggest import did_you_mean
from cfgmask.tags.nodes import Marker, Piece, Spelling, Text

Evidence: TypeAlias = Literal["rendered", "read", "third party", "ours"]

_FOLDER = Path(__file__).resolve().parent / "styles"
_VARIABLE = re.compile(r"\$(name|arguments|index|id|calls|text)\b")


@dataclass(frozen=True)
class Variable:
    """A place of a template that is not the same in all texts: `$name`, `$arguments`, `$id`, `$calls`, `$text`."""

    name: str


@dataclass(frozen=True)
class Template:
    """Texts, markers and variables one after the other."""

    parts: tuple[Piece | Variable, ...] = ()

    def before(self, variable: str) -> Spelling:
        """The pieces before a variable, or all if it has none. They hold no other variable."""
        return self.split(variable)[0]

    def after(self, variable: str) -> Spelling:
        """The pieces after a variable."""
        return self.split(variable)[1]

    def split(self, variable: str) -> tuple[Spelling, Spelling]:
        """The pieces before and after a variable."""
        at = next((i for i, part in enumerate(self.parts) if part == Variable(variable)), len(self.parts))
        return _pieces(self.parts[:at]), _pieces(self.parts[at + 1 :])

    def has(self, variable: str) -> bool:
        """Whether the variable is in it."""
        return Variable(variable) in self.parts


@dataclass(frozen=True)
class Thinking:
    """How thinking is written.

    begin      what opens it
    end        what closes it, with the white space that follows
    opened_by  who usually writes `begin`: the "prompt" or the "model"
    closed     texts that a prompt ends with where thinking is switched off, besides `begin` and `end` with white space
               between them
    repeats    whether there may be several blocks
    skipped    what a model may write in place of thinking, where the prompt leaves that to it
    """

    begin: Spelling
    end: Spelling
    opened_by: Literal["prompt", "model"] = "model"
    closed: tuple[str, ...] = ()
    repeats: bool = False
    skipped: Spelling = ()


@dataclass(frozen=True)
class Ends:
    """The tokens that end a text, by what it says. Empty: the end tokens of the vocabulary.

    call    after a call
    answer  after an answer
    """

    call: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


@dataclass(frozen=True)
class Style:
    """One style. The fields are those of its file; docs/tools.md tells what each means.

    calls     the templates of a call; the first is the one that models are trained with
    sections  those of what is around all calls, likewise; none: there is nothing around them
    """

    name: str
    about: str
    families: tuple[str, ...]
    evidence: Evidence
    recognise: tuple[tuple[str, ...], ...]
    calls: tuple[Template, ...]
    arguments: str = "json"
    separator: Spelling = ()
    sections: tuple[Template, ...] = ()
    before: Spelling = ()
    begins: tuple[Template, ...] = ()
    excludes: tuple[str, ...] = ()
    id: str = ""
    builtin: Template | None = None
    custom: Literal["json", "raw"] = "json"
    names: str = ""
    thinking: Thinking | None = None
    answer: Template = Template((Variable("text"),))
    answer_ends: tuple[Spelling, ...] = ()
    preamble: Template | None = None
    finish: Spelling = ()
    whole_turn: bool = False
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    ends: Ends = Ends()
    turn: str = ""

    @property
    def has_free_answer(self) -> bool:
        """Whether an answer is free text without anything around it."""
        return self.answer.parts == (Variable("text"),)


def style(name: str) -> Style:
    """The style of a name. Raises ValueError for an unknown one."""
    known = names()
    if name in ALIASES:
        name = ALIASES[name]
    if name not in known:
        help = did_you_mean(name, known) or f"the styles are {', '.join(known)}"
        raise ValueError(f"there is no style {name!r}: {help}")
    return _read(name)


ALIASES = {"qwen_2_5": "hermes", "qwen_2": "hermes", "gpt_oss": "harmony", "phi_4": "functools"}
"""Other names of styles, after families that share one."""


@cache
def names() -> tuple[str, ...]:
    """The names of all styles, sorted."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.json")))


@cache
def _read(name: str) -> Style:
    return read_style(name, json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def read_style(name: str, data: dict[str, Any]) -> Style:
    """The style in a file's data. Raises ValueError for a field that means nothing, or a template that lacks a part."""
    data = dict(data)
    markers = tuple(sorted(data.pop("markers", ()), key=len, reverse=True))

    def template(text: str) -> Template:
        return _template(text, markers)

    def spelling(text: str) -> Spelling:
        return _pieces(template(text).parts)

    def templates(found: str | list[str]) -> tuple[Template, ...]:
        return tuple(map(template, [found] if isinstance(found, str) else found))

    thinking = data.pop("thinking", None)
    if thinking is not None:
        thinking = Thinking(
            **{
                **thinking,
                "begin": spelling(thinking["begin"]),
                "end": spelling(thinking["end"]),
                "closed": tuple(thinking.get("closed", ())),
                "skipped": spelling(thinking.get("skipped", "")),
            }
        )
    read: dict[str, Any] = {
        "calls": templates(data.pop("call")),
        "sections": templates(data.pop("section", [])),
        "thinking": thinking,
        "families": tuple(data.pop("families")),
        "recognise": tuple(map(tuple, data.pop("recognise"))),
        "begins": tuple(map(template, data.pop("begins", ()))),
        "excludes": tuple(data.pop("excludes", ())),
        "ends": Ends(**{key: tuple(value) for key, value in data.pop("ends", {}).items()}),
    }
    for key in ("builtin", "answer", "preamble"):
        if key in data:
            read[key] = template(data.pop(key))
    read["answer_ends"] = tuple(map(spelling, data.pop("answer_ends", ())))
    for key in ("separator", "finish", "before"):
        if key in data:
            read[key] = spelling(data.pop(key))
    known = {item.name for item in fields(Style)}
    unknown = [key for key in data if key not in known]
    if unknown:
        raise ValueError(f"the style {name} has a field that means nothing: {unknown[0]}")
    made = Style(name=name, **data, **read)
    for call in made.calls:
        if not call.has("name") or not call.has("arguments"):
            raise ValueError(f"the style {name} has a call without $name or $arguments")
    if not all(section.has("calls") for section in made.sections):
        raise ValueError(f"the style {name} has a section without $calls")
    return made


def _template(text: str, markers: tuple[str, ...]) -> Template:
    """A template: markers, variables, and the texts between them."""
    found: list[Piece | Variable] = []
    split = re.compile("|".join([*map(re.escape, markers), _VARIABLE.pattern]))
    at = 0
    for match in split.finditer(text):
        if match.start() > at:
            found.append(Text(text[at : match.start()]))
        found.append(Marker(match[0]) if match[0] in markers else Variable(match[0][1:]))
        at = match.end()
    if at < len(text):
        found.append(Text(text[at:]))
    return Template(tuple(found))


def _pieces(parts: tuple[Piece | Variable, ...]) -> Spelling:
    return tuple(part for part in parts if not isinstance(part, Variable))


def text_of(spelling: Spelling) -> str:
    """The text of texts and markers."""
    found: list[str] = []
    for piece in spelling:
        if isinstance(piece, Marker):
            found.append(piece.text)
        elif isinstance(piece, Text):
            found.append(piece.value)
    return "".join(found)
