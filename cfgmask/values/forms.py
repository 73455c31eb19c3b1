"""How arguments of calls are read that are not written as JSON, by the form that their capture names: `arguments:FORM`.

A form is data (`cfgmask.json_schema.forms`), and one reader serves all. Where a form does not tell strings from other
values, a value is JSON if the tool's schema allows that value there, otherwise a string: `5` under
`["string", "integer"]` is 5. In forms that write Python's words, `None`, `True` and `False` are values as well.

Arguments are read once they are complete: until then the value is `{}`, and the text is what has come.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from cfgmask.json_schema.forms import FORMS, Form

Allows: TypeAlias = Callable[[str, str], bool]
"""allows(key, text): whether the schema of a tool allows the value of this JSON for the argument of this name."""

_WORDS = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False}


def read_form(name: str, text: str, allows: Allows | None = None) -> Any:
    """The value of complete arguments in a form; the text itself in a form that has no reader.

    allows  None: any value is allowed
    """
    form = FORMS.get(name)
    if form is None:
        return text
    return _Reader(form, allows or (lambda _key, _text: True)).arguments(text)


class _Reader:
    def __init__(self, form: Form, allows: Allows) -> None:
        self._form = form
        self._allows = allows

    def arguments(self, text: str) -> Any:
        form = self._form
        if form.strings == "python":
            return _python(text if form.open else f"dict({text})")
        if form.strings == "delimited":
            return _Delimited(form, text).value()
        return self._members(text, top="")

    def _members(self, text: str, top: str) -> dict[str, Any]:
        """Members between tags; `top` is the argument that they stand in."""
        found: dict[str, Any] = {}
        key_tag = _pattern(self._form.key)
        at = 0
        while tag := key_tag.search(text, at):
            key = tag["key"]
            end = self._form.end.replace("$key", key)
            closed = self._closing(text, tag.end(), tag[0], end)
            kinds = tag.groupdict()
            found[key] = self._value(text[tag.end() : closed], top or key, kinds.get("string"), kinds.get("type"))
            at = closed + len(end)
        return found

    def _closing(self, text: str, start: int, begin: str, end: str) -> int:
        """Where the tag that ended at `start` is closed: members of one name may stand in each other."""
        depth, at = 1, start
        while True:
            closed = text.index(end, at)
            depth += text.count(begin, at, closed) if self._form.nested == "same" else 0
            depth -= 1
            if depth == 0:
                return closed
            at = closed + len(end)

    def _value(self, text: str, key: str, is_string: str | None, kind: str | None) -> Any:
        form = self._form
        body = text.removeprefix(form.pad).removesuffix(form.pad) if form.pad else text
        if is_string is not None:
            return body if is_string == "true" else json.loads(text)
        if kind is not None:
            return body if kind in ("string", "raw") else json.loads(text)
        if form.nested == "same":
            nested = self._nested(text, key)
            if nested is not None:
                return nested
        word = text.strip()
        try:
            if form.words == "either" and word in _WORDS:
                value, shown = _WORDS[word], json.dumps(_WORDS[word])
            elif form.nested == "python" and word[:1] in "[{(":
                value = _python(word)
                shown = json.dumps(value)
            else:
                value, shown = json.loads(text), text
        except (ValueError, SyntaxError):
            return body
        return value if self._allows(key, shown.strip()) else body

    def _nested(self, text: str, key: str) -> Any:
        """Items or members that are written in the form itself; None where there are none."""
        begin, end = self._form.item
        if begin and text.startswith(begin):
            items = []
            at = 0
            while text.startswith(begin, at):
                closed = self._closing(text, at + len(begin), begin, end)
                items.append(self._item(text[at + len(begin) : closed], key))
                at = closed + len(end)
            return items
        return self._members(text, key) if _pattern(self._form.key).match(text) else None

    def _item(self, text: str, key: str) -> Any:
        nested = self._nested(text, key)
        if nested is not None:
            return nested
        try:
            return json.loads(text)
        except ValueError:
            return text


def _pattern(template: str) -> re.Pattern[str]:
    """What a key's tag looks like."""
    parts = {"key": r"(?P<key>.*?)", "string": "(?P<string>true|false)", "type": r"(?P<type>\w+)", "gap": r"\s*"}
    pieces = re.split(r"\$(key|string|type|gap)", template)
    pattern = "".join(parts[piece] if n % 2 else re.escape(piece) for n, piece in enumerate(pieces))
    # Nothing but the name stands in a tag: `<$key>` does not begin in the middle of another one.
    return re.compile(pattern.replace(".*?", r"[^<>\"]*?"), re.DOTALL)


def _python(text: str) -> Any:
    """The value of literals of Python, in which JSON's words stand for themselves as well; calls of `dict` alone."""
    return _literal(ast.parse(text.strip(), mode="eval").body)


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        return {keyword.arg: _literal(keyword.value) for keyword in node.keywords}
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {
            _literal(key): _literal(item) for key, item in zip(node.keys, node.values, strict=True) if key is not None
        }
    return ast.literal_eval(node)


class _Delimited:
    """Values with strings between delimiters, and keys without quotes: `{city:<|"|>Lima<|"|>,days:[1,2]}`."""

    def __init__(self, form: Form, text: str) -> None:
        self._delimiter = form.delimiter
        self._text = text
        self._at = 0

    def value(self) -> Any:
        self._space()
        text, at = self._text, self._at
        if text.startswith(self._delimiter, at):
            start = at + len(self._delimiter)
            end = text.index(self._delimiter, start)
            self._at = end + len(self._delimiter)
            return text[start:end]
        if text[at] == "{":
            return dict(self._parts("}", self._member))
        if text[at] == "[":
            return self._parts("]", self.value)
        scalar = re.compile(r"[^\s,\]}]+").match(text, at)
        if scalar is None:
            raise ValueError(f"no value at character {at}")
        self._at = scalar.end()
        return json.loads(scalar[0])

    def _member(self) -> tuple[str, Any]:
        self._space()
        end = self._text.index(":", self._at)
        key = self._text[self._at : end].strip()
        self._at = end + 1
        return key, self.value()

    def _parts(self, close: str, read: Callable[[], Any]) -> list[Any]:
        self._at += 1
        found = []
        self._space()
        while self._text[self._at] != close:
            found.append(read())
            self._space()
            if self._text[self._at] == ",":
                self._at += 1
                self._space()
        self._at += 1
        return found

    def _space(self) -> None:
        while self._text[self._at : self._at + 1] in (" ", "\n", "\t", "\r"):
            self._at += 1
