"""How arguments of calls are read that are not written as JSON, by the form that their capture names: `arguments:FORM`.

A form is data (`cfgmask.json_schema.forms`), and one reader serves all. Where a form does not tell strings from other
values, a value is JSON if the tool's schema allows that value there, otherwise a string: `5` under
`["string", "integer"]` is 5. In forms that write Python's words, `None`, `True` and `False` are values as well.

Arguments are read once they are complete: until then the value is `{}`, and the text is what has come.
Values may be nested to any depth: nothing here recurses, and all of it is linear in the text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from cfgmask.json_schema.forms import FORMS, Form
from cfgmask.values.json_reader import JsonReader, NotJson

Allows: TypeAlias = Callable[[str, str], bool]
"""allows(key, text): whether the schema of a tool allows the value of this JSON for the argument of this name."""

_WORDS = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False}


def read_form(name: str, text: str, allows: Allows | None = None) -> Any:
    """The value of complete arguments in a form; the text itself in a form that has no reader.

    allows  None: any value is allowed
    Errors: ValueError if the text is not in the form, or has an integer of more digits than Python reads.
    """
    form = FORMS.get(name)
    if form is None:
        return text
    return _Reader(form, allows or (lambda _key, _text: True)).arguments(text)


class NotInForm(ValueError):
    """A text that is not the value of a form."""


class _Reader:
    def __init__(self, form: Form, allows: Allows) -> None:
        self._form = form
        self._allows = allows

    def arguments(self, text: str) -> Any:
        form = self._form
        if form.strings == "python":
            return _Literals(text if form.open else f"dict({text})").value
        if form.strings == "delimited":
            return _Literals(text, form.delimiter).value
        return self._nested(text) if form.nested == "same" else self._members(text)

    def _members(self, text: str) -> dict[str, Any]:
        """Members between tags."""
        found: dict[str, Any] = {}
        key_tag = _pattern(self._form.key)
        at = 0
        while tag := key_tag.search(text, at):
            end = self._form.end.replace("$key", tag["key"])
            closed = text.index(end, tag.end())
            kinds = tag.groupdict()
            found[tag["key"]] = self._value(
                text[tag.end() : closed], tag["key"], kinds.get("string"), kinds.get("type")
            )
            at = closed + len(end)
        return found

    def _value(self, text: str, key: str, is_string: str | None = None, kind: str | None = None) -> Any:
        form = self._form
        body = text.removeprefix(form.pad).removesuffix(form.pad) if form.pad else text
        if is_string is not None:
            return body if is_string == "true" else _json(text)
        if kind is not None:
            return body if kind in ("string", "raw") else _json(text)
        word = text.strip()
        try:
            if form.words == "either" and word in _WORDS:
                value, shown = _WORDS[word], json.dumps(_WORDS[word])
            elif form.nested == "python" and word[:1] in "[{(":
                literals = _Literals(word)
                value, shown = literals.value, literals.json
            else:
                value, shown = _json(text), text
        except NotInForm:
            return body
        return value if self._allows(key, shown.strip()) else body

    def _nested(self, text: str) -> dict[str, Any]:
        """Members whose values may be members or items between tags of the same kind."""
        form = self._form
        root: dict[str, Any] = {}
        opened = [_Opened("", 0, root)]
        for tag in _tags(form).finditer(text):
            if tag["closed"] is None:
                if opened[-1].value is None:
                    opened[-1].value = [] if tag[0] == form.item[0] else {}
                opened.append(_Opened(tag["key"], tag.end()))
            elif len(opened) > 1:
                ended = opened.pop()
                around = opened[-1].value
                value = ended.value
                if value is None:
                    body = text[ended.start : tag.start()]
                    top = ended.key if len(opened) == 1 else opened[1].key
                    value = _json_or_text(body) if isinstance(around, list) else self._value(body, top)
                if isinstance(around, list):
                    around.append(value)
                elif around is not None:
                    around[ended.key] = value
        return root


@dataclass
class _Opened:
    """A value whose end has not come: where its text begins, and its members or items if it has any."""

    key: str
    start: int
    value: dict[str, Any] | list[Any] | None = None


def _tags(form: Form) -> re.Pattern[str]:
    """The tags that open (`key`) and close (`closed`) a value."""
    return re.compile(f"{_pattern(form.end, 'closed').pattern}|{_pattern(form.key).pattern}", re.DOTALL)


def _pattern(template: str, key: str = "key") -> re.Pattern[str]:
    """What a key's tag looks like; `key`: the name of the group that holds it."""
    # Nothing but the name stands in a tag: `<$key>` does not begin in the middle of another one.
    parts = {
        "key": rf"(?P<{key}>[^<>\"]*?)",
        "string": "(?P<string>true|false)",
        "type": r"(?P<type>\w+)",
        "gap": r"\s*",
    }
    pieces = re.split(r"\$(key|string|type|gap)", template)
    return re.compile("".join(parts[piece] if n % 2 else re.escape(piece) for n, piece in enumerate(pieces)), re.DOTALL)


def _json(text: str) -> Any:
    """The value of JSON. Raises NotInForm for other texts, ValueError for an integer that Python does not read."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise NotInForm(str(error)) from None
    except RecursionError:
        pass
    # Slower, and without recursion.
    reader = JsonReader()
    try:
        reader.feed(text)
        return reader.finish()
    except NotJson as error:
        raise NotInForm(str(error)) from None


def _no_constant(name: str) -> Any:
    raise NotInForm(f"{name} is not JSON")


def _json_or_text(text: str) -> Any:
    try:
        return _json(text)
    except NotInForm:
        return text


_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SCALAR = re.compile(r"[^\s,:=\[\](){}'\"]+")
_SPACE = re.compile(r"\s*")
_ESCAPE = r"""\\[\n\\'"abfnrtvxuUN0-7]"""
_QUOTED = re.compile(rf"""'(?:[^'\\\n]|{_ESCAPE})*'|"(?:[^"\\\n]|{_ESCAPE})*\"""")
_BARE_KEY = re.compile(r"[^\s,:\[\](){}]+")
_NAME = re.compile(r"[A-Za-z0-9_]+")
_CLOSING = {"[": "]", "(": ")", "{": "}", "dict(": ")"}


@dataclass
class _Around:
    """An array or object that is open, its bracket, and the key of its member."""

    value: dict[str, Any] | list[Any]
    opening: str
    key: str = ""

    def add(self, part: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(part)
        else:
            self.value[self.key] = part


class _Literals:
    """Literals of Python, in which JSON's words stand for themselves as well, and of calls those of `dict` alone.

    With a delimiter, strings stand between two of it, and keys have no quotes: `{city:<|"|>Lima<|"|>,days:[1,2]}`.

    value  of the text
    json   the same as JSON
    Errors: NotInForm, and ValueError for an integer that Python does not read.
    """

    def __init__(self, text: str, delimiter: str = "") -> None:
        self._text = text
        self._delimiter = delimiter
        self._at = 0
        self._written: list[str] = []
        self.value = self._read()
        self.json = "".join(self._written)

    def _read(self) -> Any:
        around: list[_Around] = []
        while True:
            opening = self._opening()
            if opening:
                around.append(_Around([] if opening in "[(" else {}, opening))
                self._written.append("[" if opening in "[(" else "{")
                if not self._take(_CLOSING[opening]):
                    self._begin_part(around[-1])
                    continue
                value: Any = self._closed(around)
            else:
                value = self._scalar()
                self._written.append(json.dumps(value))
            # The value is complete, and with it perhaps those around it.
            while around:
                around[-1].add(value)
                has_comma = self._take(",")
                if self._take(_CLOSING[around[-1].opening]):
                    value = self._closed(around)
                    continue
                if not has_comma:
                    raise self._wrong()
                self._written.append(",")
                self._begin_part(around[-1])
                break
            else:
                self._space()
                if self._at < len(self._text):
                    raise self._wrong()
                return value

    def _begin_part(self, around: _Around) -> None:
        """An item or a member begins."""
        if isinstance(around.value, dict):
            around.key = self._key(around.opening)
            self._written.append(f"{json.dumps(around.key)}:")

    def _closed(self, around: list[_Around]) -> dict[str, Any] | list[Any]:
        closed = around.pop().value
        self._written.append("]" if isinstance(closed, list) else "}")
        return closed

    def _opening(self) -> str:
        """The bracket that comes next; empty if there is none."""
        self._space()
        for bracket in ("[", "{") if self._delimiter else _CLOSING:
            if self._text.startswith(bracket, self._at):
                self._at += len(bracket)
                return bracket
        return ""

    def _key(self, opening: str) -> str:
        self._space()
        if opening == "{" and not self._delimiter:
            key = self._scalar()
            if not isinstance(key, str):
                raise self._wrong()
        else:
            found = (_BARE_KEY if self._delimiter else _NAME).match(self._text, self._at)
            if found is None:
                raise self._wrong()
            key, self._at = found[0], found.end()
        if not self._take("=" if opening == "dict(" else ":"):
            raise self._wrong()
        return key

    def _scalar(self) -> Any:
        """A string, a number or a word."""
        text, at, delimiter = self._text, self._at, self._delimiter
        if delimiter and text.startswith(delimiter, at):
            end = text.find(delimiter, at + len(delimiter))
            if end < 0:
                raise self._wrong()
            self._at = end + len(delimiter)
            return text[at + len(delimiter) : end]
        quoted = None if delimiter else _QUOTED.match(text, at)
        found = quoted or _SCALAR.match(text, at)
        if found is None:
            raise self._wrong()
        self._at = found.end()
        word = found[0]
        if delimiter:
            return _json(word)
        if quoted is not None:
            return self._string(word)
        if word in _WORDS:
            return _WORDS[word]
        number = _NUMBER.fullmatch(word)
        if number is None:
            raise self._wrong()
        return int(word) if number.end(1) == number.end() else float(word)

    def _string(self, literal: str) -> str:
        try:
            return str(ast.literal_eval(literal))
        except (SyntaxError, ValueError):
            raise self._wrong() from None

    def _take(self, text: str) -> bool:
        self._space()
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _space(self) -> None:
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]

    def _wrong(self) -> NotInForm:
        return NotInForm(f"no value of the form at character {self._at}")
