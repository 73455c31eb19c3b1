"""Structural tags in JSON to nodes. docs/structural_tags.md describes the format.

Every kind of content has a reader, and a list of its fields. All problems are reported, each with its JSON Pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from cfgmask.diagnostics import Diagnostic, Source, Span
from cfgmask.errors import GrammarError
from cfgmask.gbnf import parse_gbnf
from cfgmask.grammar.ir import GrammarIR, Rule, Terminal
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.json_schema.values import JsonValue, read_object, read_text
from cfgmask.lark import parse_lark
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.regex import parse_extended
from cfgmask.suggest import did_you_mean
from cfgmask.tags import nodes
from cfgmask.tags.fields import TOKEN, Fields, token
from cfgmask.tags.forms import FORMS
from cfgmask.tags.joints import Joints
from cfgmask.tags.lower import MAX_DEPTH
from cfgmask.tags.problems import TagProblems
from cfgmask.tags.tagged import Tagged

_NOTHING = nodes.Text("")
_WHITESPACE = r"[ \t\n\r]"
_MOST_WHITESPACE = 1_000_000


def read_structural_tag(
    value: dict[str, Any] | str,
    *,
    name: str = "<structural tag>",
    options: JsonSchemaOptions = DEFAULTS,
    limits: Limits = DEFAULT_LIMITS,
) -> Tagged:
    """The content that a structural tag describes, lowered.

    value    Python values or JSON text
    options  of the JSON Schemas in it
    Errors: GrammarError with every problem (codes `tag-...`; those of schemas, patterns and grammars in it), each with
    its JSON Pointer, and its place in the text if there is one; LimitExceeded.
    Cost: linear in the tag and in the grammars in it; see `lower`.
    """
    try:
        document = (
            read_text(value, Span(Source(name, value), 0, len(value)), limits)
            if isinstance(value, str)
            else read_object(value, limits)
        )
    except GrammarError as error:
        raise GrammarError(_of_the_tag(error.diagnostics)) from None
    problems = TagProblems()
    problems.take(_of_the_tag(document.problems), None)
    reader = _Reader(options, limits, problems)
    root = reader.root(document.value)
    try:
        if problems.has_errors:
            reader.check_schemas()
            problems.raise_if_any()
        return Tagged(root, limits=limits, parts=True)
    except GrammarError as error:
        raise GrammarError(document.placed(error.diagnostics)) from None


def _of_the_tag(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """What the reader of schemas says of JSON that is a structural tag."""
    return [
        replace(
            diagnostic,
            code=diagnostic.code.replace("schema-", "tag-", 1),
            message=diagnostic.message.replace("the schema", "the structural tag"),
        )
        for diagnostic in found
    ]


class _Kind(NamedTuple):
    """A kind of content: how it is read, the fields that it must have, and the others."""

    read: Callable[[_Reader, Fields, int], nodes.Content]
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


class _Reader:
    """Reads one structural tag."""

    def __init__(self, options: JsonSchemaOptions, limits: Limits, problems: TagProblems) -> None:
        self._options = options
        self._limits = limits
        self._problems = problems
        self._schemas: list[nodes.Schema] = []

    def check_schemas(self) -> None:
        """Report the problems of all schemas, whatever is wrong around them."""
        for schema in self._schemas:
            try:
                Tagged(schema, joints=Joints("longest"), limits=self._limits)
            except GrammarError as error:
                self._problems.take(error.diagnostics, None)

    # ---- The whole ----

    def root(self, value: JsonValue) -> nodes.Content:
        """The content of a request."""
        if not isinstance(value, dict):
            self._problems.error("tag-bad-field", "a structural tag must be an object", "")
            return _NOTHING
        fields = Fields(value, "", "a structural tag", self._problems)
        if fields.text("type", "structural_tag") != "structural_tag":
            help = 'write {"type": "structural_tag", "format": {"type": ..., ...}}'
            self._problems.error("tag-unknown-type", 'the type must be "structural_tag"', "/type", help)
        if "structures" in value:
            fields.check_names(_LEGACY, ("structures", "triggers"))
            return self._legacy(fields)
        fields.check_names(("type", "format"), ("format",))
        return self.content(fields.value("format"), "/format", 0) if "format" in value else _NOTHING

    def _legacy(self, fields: Fields) -> nodes.Content:
        def structure(value: JsonValue, at: str) -> nodes.Tag | None:
            if not isinstance(value, dict):
                return None
            item = Fields(value, at, "a structure", self._problems)
            item.check_names(("begin", "schema", "end"), ("begin", "schema", "end"))
            schema = item.value("schema")
            if "schema" in value and not isinstance(schema, (dict, bool, str)):
                self._problems.error("tag-bad-field", '"schema" must be a JSON Schema', item.place("schema"))
            content = self._schema_node(schema, "json", self._options, (), item.place("schema"))
            return nodes.Tag(_spelling(item.text("begin")), content, (_spelling(item.text("end")),), at)

        tags = fields.each("structures", "an object", structure, at_least_one=True)
        return self._triggered_by(fields, self._triggers(fields), tags, nodes.FreeText(at=fields.at))

    # ---- Content ----

    def content(self, value: JsonValue, at: str, depth: int) -> nodes.Content:
        """One object with a type."""
        if depth > MAX_DEPTH:
            self._problems.error("tag-too-deep", f"content is nested more than {MAX_DEPTH} deep", at)
            return _NOTHING
        if not isinstance(value, dict):
            self._problems.error("tag-bad-field", "content must be an object with a type", at)
            return _NOTHING
        name = value.get("type")
        if name is None:
            help = "known are " + ", ".join(_KINDS)
            self._problems.error("tag-missing-field", 'content needs the field "type"', at, help)
            return _NOTHING
        kind = _KINDS.get(name) if isinstance(name, str) else None
        if kind is None:
            help = (did_you_mean(name, _KINDS) if isinstance(name, str) else None) or "known are " + ", ".join(_KINDS)
            self._problems.error("tag-unknown-type", f"there is no content of type {_shown(name)}", f"{at}/type", help)
            return _NOTHING
        fields = Fields(value, at, f'"{name}"', self._problems)
        fields.check_names(("type", *kind.required, *kind.optional), kind.required)
        return kind.read(self, fields, depth)

    def const_string(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.Text(fields.text("value"), fields.at)

    def json_schema(self, fields: Fields, depth: int) -> nodes.Content:
        options = replace(self._options, property_order="any") if fields.flag("any_order") else self._options
        most = fields.count("max_whitespace_cnt")
        if most is not None and most <= _MOST_WHITESPACE:
            options = replace(options, whitespace="compact" if most == 0 else f"{_WHITESPACE}{{0,{most}}}")
        style = fields.text("style", "json")
        if style not in FORMS:
            help = did_you_mean(style, FORMS) or "known are " + ", ".join(FORMS)
            self._problems.error("tag-unknown-style", f'there is no style "{style}"', fields.place("style"), help)
            style = "json"
        excludes = fields.texts("excludes")
        if excludes and style != "json":
            message = f'"excludes" is not supported with the style "{style}"'
            help = 'the strings of a style end at its own markers; leave "excludes" out'
            self._problems.error("tag-excludes-style", message, fields.place("excludes"), help)
        return self._schema(fields, style, options, excludes)

    def qwen_xml_parameter(self, fields: Fields, depth: int) -> nodes.Content:
        return self._schema(fields, "qwen_xml", self._options, ())

    def _schema(
        self, fields: Fields, style: str, options: JsonSchemaOptions, excludes: tuple[str, ...]
    ) -> nodes.Content:
        schema = fields.value("json_schema")
        if "json_schema" in fields and not isinstance(schema, (dict, bool)):
            message = '"json_schema" must be a JSON Schema: an object, true or false'
            self._problems.error("tag-bad-field", message, fields.place("json_schema"))
            return _NOTHING
        return self._schema_node(schema, style, options, excludes, fields.place("json_schema"))

    def _schema_node(
        self, schema: JsonValue, style: str, options: JsonSchemaOptions, excludes: tuple[str, ...], at: str
    ) -> nodes.Content:
        if schema is None:
            return _NOTHING
        node = nodes.Schema(schema, style, options, at, excludes)
        self._schemas.append(node)
        return node

    def any_text(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.FreeText(
            excludes=fields.texts("excludes"),
            max_chars=fields.count("max_chars"),
            max_tokens=fields.count("max_tokens"),
            at=fields.at,
        )

    def grammar(self, fields: Fields, depth: int) -> nodes.Content:
        text, syntax = fields.non_empty("grammar"), fields.text("syntax", "ebnf")
        place = fields.place("grammar")
        if syntax not in ("ebnf", "lark"):
            message, help = f'there is no syntax "{syntax}"', "known are ebnf, lark"
            self._problems.error("tag-bad-field", message, fields.place("syntax"), help)
        elif text:
            try:
                if syntax == "ebnf":
                    return nodes.Inner(parse_gbnf(text, name=place, limits=self._limits), place)
                return nodes.Inner(parse_lark(text, name=place, limits=self._limits, embedded=True), place)
            except GrammarError as error:
                self._problems.take(error.diagnostics, place)
        return _NOTHING

    def regex(self, fields: Fields, depth: int) -> nodes.Content:
        pattern, place = fields.non_empty("pattern"), fields.place("pattern")
        try:
            span = Span(Source(place, pattern), 0, len(pattern))
            expr = parse_extended(pattern, dialect="ecma", span=span, limits=self._limits)
        except GrammarError as error:
            self._problems.take(error.diagnostics, place)
            return _NOTHING
        if isinstance(expr, Terminal) and expr.before is None and expr.after is None:
            return nodes.Regex(expr.regex, pattern, place)
        return nodes.Inner(GrammarIR((Rule("start", expr, span=span),), "start", lexer="complete"), place)

    def token(self, fields: Fields, depth: int) -> nodes.Content:
        found = self._token(fields.value("token"), fields.place("token"))
        return _NOTHING if found is None else found

    def exclude_token(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.OtherTokens(fields.tokens("exclude_tokens"), at=fields.at)

    def any_tokens(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.OtherTokens(fields.tokens("exclude_tokens"), 0, fields.count("max_tokens"), fields.at)

    def sequence(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.Sequence(self._elements(fields, depth), fields.at)

    def one_of(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.Or(self._elements(fields, depth) or (_NOTHING,), fields.at)

    def _elements(self, fields: Fields, depth: int) -> tuple[nodes.Content, ...]:
        return fields.each("elements", "", lambda value, at: self.content(value, at, depth + 1), at_least_one=True)

    def optional(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.Repeat(self._inside(fields, depth), 0, 1, fields.at)

    def plus(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.Repeat(self._inside(fields, depth), 1, None, fields.at)

    def star(self, fields: Fields, depth: int) -> nodes.Content:
        return nodes.Repeat(self._inside(fields, depth), 0, None, fields.at)

    def repeat(self, fields: Fields, depth: int) -> nodes.Content:
        least, most = fields.count("min"), fields.count("max", -1)
        if least is not None and most is not None and most != -1 and most < least:
            message, help = '"max" must be at least "min"', "write -1 for any number of times"
            self._problems.error("tag-bad-field", message, fields.place("max"), help)
        return nodes.Repeat(self._inside(fields, depth), least or 0, None if most == -1 else most, fields.at)

    def _inside(self, fields: Fields, depth: int) -> nodes.Content:
        value = fields.value("content")
        return _NOTHING if value is None else self.content(value, fields.place("content"), depth + 1)

    # ---- Tags ----

    def tag(self, fields: Fields, depth: int) -> nodes.Tag:
        begin = fields.value("begin")
        spelled = self._spelling(begin, fields.place("begin"), "begin") if begin is not None else ()
        content, ends = self._inside(fields, depth), self._ends(fields)
        if "end" in fields and ends == ((),) and fields.value("end") in ("", [""]) and _is_endless(content):
            message = "the content of the tag is free text that nothing ends"
            help = "give the tag an end that is not empty, or the free text a limit or texts that it excludes"
            self._problems.error("tag-endless", message, fields.place("end"), help)
        return nodes.Tag(spelled or (), content, ends, fields.at)

    def _ends(self, fields: Fields) -> tuple[nodes.Spelling, ...]:
        value = fields.value("end")
        if isinstance(value, list):
            return fields.each(
                "end", "a string", lambda v, _: _spelling(v) if isinstance(v, str) else None, at_least_one=True
            ) or ((),)
        spelled = None if value is None else self._spelling(value, fields.place("end"), "end")
        return ((),) if spelled is None else (spelled,)

    def _spelling(self, value: JsonValue, at: str, name: str) -> nodes.Spelling | None:
        """The `begin` or the `end` of a tag: a text, or an object that names a token."""
        if isinstance(value, str):
            return _spelling(value)
        if not isinstance(value, dict):
            self._problems.error("tag-bad-field", f'"{name}" must be a string or a token', at)
            return None
        fields = Fields(value, at, '"token"', self._problems)
        fields.check_names(("type", "token"), ("token",))
        if fields.text("type", "token") != "token":
            message = f'"{name}" must be a string or of type "token"'
            self._problems.error("tag-bad-field", message, fields.place("type"))
        found = self._token(fields.value("token"), fields.place("token"))
        return None if found is None else (found,)

    def _token(self, value: JsonValue, at: str) -> nodes.Token | None:
        found = token(value)
        if found is None:
            if value is not None:
                self._problems.error("tag-bad-field", f'"token" must be {TOKEN}', at)
            return None
        return nodes.Token(found, at)

    def _tags(self, fields: Fields, depth: int) -> tuple[nodes.Tag, ...]:
        def read(value: JsonValue, at: str) -> nodes.Tag | None:
            if not isinstance(value, dict):
                return None
            inner = self.content({"type": "tag", **value}, at, depth + 1)
            return inner if isinstance(inner, nodes.Tag) else None

        return fields.each("tags", 'an object of type "tag"', read, at_least_one=True)

    def triggered_tags(self, fields: Fields, depth: int) -> nodes.Content:
        text = nodes.FreeText(fields.texts("excludes"), at=fields.at)
        return self._triggered_by(fields, self._triggers(fields), self._tags(fields, depth), text)

    def token_triggered_tags(self, fields: Fields, depth: int) -> nodes.Content:
        found = fields.tokens("trigger_tokens", at_least_one=True)
        triggers: tuple[nodes.Spelling, ...] = tuple((nodes.Token(trigger),) for trigger in found)
        text = nodes.OtherTokens(fields.tokens("exclude_tokens"), 0, None, fields.at)
        return self._triggered_by(fields, triggers, self._tags(fields, depth), text)

    def _triggers(self, fields: Fields) -> tuple[nodes.Spelling, ...]:
        found = fields.texts("triggers", at_least_one=True)
        return tuple(_spelling(trigger) for trigger in dict.fromkeys(found))

    def _triggered_by(
        self,
        fields: Fields,
        triggers: tuple[nodes.Spelling, ...],
        tags: tuple[nodes.Tag, ...],
        text: nodes.FreeText | nodes.OtherTokens,
    ) -> nodes.Content:
        least, first = fields.flag("at_least_one"), fields.flag("stop_after_first")
        if not tags:
            return _NOTHING
        return nodes.Triggered(triggers, tags, least, first, text=text, at=fields.at)

    def tags_with_separator(self, fields: Fields, depth: int) -> nodes.Content:
        tags = self._tags(fields, depth)
        separator = _spelling(fields.text("separator"))
        least, first = fields.flag("at_least_one"), fields.flag("stop_after_first")
        return nodes.Separated(tags, separator, least, first, at=fields.at) if tags else _NOTHING

    def dispatch(self, fields: Fields, depth: int) -> nodes.Content:
        text = nodes.FreeText(fields.texts("excludes"), at=fields.at)

        def pattern(value: JsonValue) -> nodes.Spelling | None:
            return _spelling(value) if isinstance(value, str) and value else None

        return self._dispatch(fields, depth, pattern, "a string that is not empty", text)

    def token_dispatch(self, fields: Fields, depth: int) -> nodes.Content:
        text = nodes.OtherTokens(fields.tokens("exclude_tokens"), 0, None, fields.at)

        def pattern(value: JsonValue) -> nodes.Spelling | None:
            found = token(value)
            return None if found is None else (nodes.Token(found),)

        return self._dispatch(fields, depth, pattern, TOKEN, text)

    def _dispatch(
        self,
        fields: Fields,
        depth: int,
        pattern: Callable[[JsonValue], nodes.Spelling | None],
        needs: str,
        text: nodes.FreeText | nodes.OtherTokens,
    ) -> nodes.Content:
        def rule(value: JsonValue, at: str) -> tuple[nodes.Spelling, nodes.Content] | None:
            if not isinstance(value, list) or len(value) != 2:
                return None
            found = pattern(value[0])
            if found is None:
                self._problems.error("tag-bad-field", f"a pattern must be {needs}", f"{at}/0")
            return found or (), self.content(value[1], f"{at}/1", depth + 1)

        rules = fields.each("rules", "a list of a pattern and content", rule, at_least_one=True)
        loop = fields.flag("loop", True)
        return nodes.Dispatch(rules, loop, text, fields.at) if rules else _NOTHING


def _is_endless(content: nodes.Content) -> bool:
    """Whether content ends with free text without excluded texts or a limit."""
    if isinstance(content, nodes.FreeText):
        return not content.excludes and content.max_chars is None and content.max_tokens is None
    if isinstance(content, nodes.OtherTokens):
        return not content.excludes and content.maximum is None
    if isinstance(content, nodes.Triggered):
        return not content.stop_after_first and _is_endless(content.text)
    if isinstance(content, nodes.Repeat):
        return content.maximum != 0 and _is_endless(content.body)
    if isinstance(content, nodes.Sequence):
        return _is_endless(content.parts[-1]) if content.parts else False
    return isinstance(content, nodes.Or) and any(map(_is_endless, content.parts))


def _spelling(text: str) -> nodes.Spelling:
    return (nodes.Text(text),) if text else ()


def _shown(value: JsonValue) -> str:
    return f'"{value}"' if isinstance(value, str) else "that is no string"


_LEGACY = ("type", "structures", "triggers", "at_least_one", "stop_after_first")

_FIRST = ("at_least_one", "stop_after_first")

_KINDS: dict[str, _Kind] = {
    "const_string": _Kind(_Reader.const_string, ("value",)),
    "json_schema": _Kind(
        _Reader.json_schema, ("json_schema",), ("style", "any_order", "max_whitespace_cnt", "excludes")
    ),
    "qwen_xml_parameter": _Kind(_Reader.qwen_xml_parameter, ("json_schema",)),
    "any_text": _Kind(_Reader.any_text, (), ("excludes", "max_tokens", "max_chars")),
    "grammar": _Kind(_Reader.grammar, ("grammar",), ("syntax",)),
    "regex": _Kind(_Reader.regex, ("pattern",)),
    "sequence": _Kind(_Reader.sequence, ("elements",)),
    "or": _Kind(_Reader.one_of, ("elements",)),
    "optional": _Kind(_Reader.optional, ("content",)),
    "plus": _Kind(_Reader.plus, ("content",)),
    "star": _Kind(_Reader.star, ("content",)),
    "repeat": _Kind(_Reader.repeat, ("min", "max", "content")),
    "tag": _Kind(_Reader.tag, ("begin", "content", "end")),
    "triggered_tags": _Kind(_Reader.triggered_tags, ("triggers", "tags"), (*_FIRST, "excludes")),
    "tags_with_separator": _Kind(_Reader.tags_with_separator, ("tags", "separator"), _FIRST),
    "dispatch": _Kind(_Reader.dispatch, ("rules",), ("loop", "excludes")),
    "token": _Kind(_Reader.token, ("token",)),
    "exclude_token": _Kind(_Reader.exclude_token, (), ("exclude_tokens",)),
    "any_tokens": _Kind(_Reader.any_tokens, (), ("exclude_tokens", "max_tokens")),
    "token_triggered_tags": _Kind(
        _Reader.token_triggered_tags, ("trigger_tokens", "tags"), (*_FIRST, "exclude_tokens")
    ),
    "token_dispatch": _Kind(_Reader.token_dispatch, ("rules",), ("loop", "exclude_tokens")),
}
