"""`StructTag`: free text in which calls may stand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cfgmask.compat.llguidance._grammars import read_json


class StructTag:
    """A call that may stand in free text.

    trigger  the text, or special token, that begins it
    begin    all that stands before its content; begins with the trigger
    grammar  its content: a JSON Schema, as an object or as text; a grammar of `LLMatcher.grammar_from_json_schema`; or
             Lark text with a rule `start`
    end      what stands behind its content
    Errors: AssertionError for a trigger that is empty, or does not begin `begin`.
    """

    def __init__(self, *, trigger: str, begin: str, grammar: str | dict[str, Any], end: str) -> None:
        self.trigger = trigger
        self.begin = begin
        self.grammar = grammar
        self.end = end
        self._validate()

    def _validate(self) -> None:
        if not self.trigger:
            raise AssertionError("trigger must not be empty")
        if not self.begin.startswith(self.trigger):
            raise AssertionError("begin must start with trigger")

    @staticmethod
    def to_grammar(tags: Sequence[StructTag], *, assume_special: bool = True, text_regex: str = r"(.|\n)*") -> str:
        """The grammar of free text with calls in it.

        assume_special  whether triggers such as `<tool>`, that begin with `<` and end with `>`, are special tokens
        text_regex      what free text is, as a regex
        Errors: AssertionError for no tags, and a regex with `/`; ValueError for content of another type.
        """
        if not tags:
            raise AssertionError("tags must not be empty")
        if "/" in text_regex:
            raise AssertionError("text_regex must not contain /")
        names = [f"tag_{i}" for i in range(len(tags))]
        lines = [
            "%llguidance {}",
            f"start: ({' | '.join(names)})* tag_end",
            "tag_end: TAG_TEXT",
            f"TAG_TEXT: /{text_regex}/",
        ]
        parts: list[dict[str, Any]] = []
        for name, tag in zip(names, tags, strict=True):
            if not isinstance(tag, StructTag):
                raise AssertionError("tags must be StructTag instances")
            tag._validate()
            content = _content(tag.grammar, f"{name}_grm", parts)
            body = f"{_literal(tag.begin[len(tag.trigger) :])} {content} {_literal(tag.end)}"
            if assume_special and tag.trigger[0] == "<" and tag.trigger[-1] == ">":
                lines += ["", f"{name}: TAG_TEXT {tag.trigger} {body}"]
            else:
                lines += ["", f"{name}_trig[lazy]: TAG_TEXT {_literal(tag.trigger)}", f"{name}: {name}_trig {body}"]
        text = "\n".join(lines) + "\n"
        if not parts:
            return text
        return json.dumps({"grammars": [{"name": "struct_tag", "lark_grammar": text}, *parts]})


def _literal(text: str) -> str:
    return json.dumps(text) if text else ""


def _content(grammar: object, name: str, parts: list[dict[str, Any]]) -> str:
    if isinstance(grammar, dict):
        return f"%json {json.dumps(grammar)}"
    if not isinstance(grammar, str):
        raise ValueError("grammar must be a string or a dictionary")
    if not grammar.lstrip().startswith("{"):
        parts.append({"name": name, "lark_grammar": grammar})
        return f"@{name}"
    value = read_json(grammar)
    if isinstance(value, dict) and isinstance(value.get("grammars"), list) and len(value["grammars"]) == 1:
        # The text of `grammar_from_json_schema`, which callers hand over as it is.
        parts.append({**value["grammars"][0], "name": name})
        return f"@{name}"
    return f"%json {grammar}"
