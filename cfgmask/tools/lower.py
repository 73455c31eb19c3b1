"""A style, tools and a choice of them to the nodes of `cfgmask.tags`: one way for all styles.

A text is thinking, then calls or an answer. Free text holds none of the begins of calls and no marker of thinking, so
each text has one way to be read.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from cfgmask.diagnostics import Diagnostic, shortened
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import Part
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    MAX_COUNT,
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    RegexTree,
    Repetition,
    text,
)
from cfgmask.grammar.white_space import ANY_SPACE
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.lark import parse_lark
from cfgmask.limits import Limits
from cfgmask.regex import parse_regex
from cfgmask.tags.joints import Joints
from cfgmask.tags.lower import joints_for
from cfgmask.tags.nodes import (
    Content,
    Each,
    FreeText,
    Inner,
    LastToken,
    Mark,
    Marker,
    Or,
    Piece,
    Regex,
    Repeat,
    RowList,
    Separated,
    Sequence,
    Slot,
    Space,
    Spelling,
    Tag,
    Text,
    Triggered,
)
from cfgmask.tags.outline import Filled, Outline
from cfgmask.tags.rows import RowValues
from cfgmask.tags.tagged import Tagged
from cfgmask.tools.answer import Answer
from cfgmask.tools.choice import Choice, Mode
from cfgmask.tools.read import Tool
from cfgmask.tools.schemas import Schemas
from cfgmask.tools.style import Style, Template, Variable, text_of

REASONING, CONTENT, VALUE = "reasoning", "content", "value"
TOOL_CALL, NAME, ARGUMENTS, ID = "tool_call", "name", "arguments", "id"
"""The names of segments: what `Grammar.parse` finds in a text."""

Start: TypeAlias = Literal["unknown", "plain", "opened", "closed"]

_SPACES = Repetition(ANY_SPACE, 0, None)


@dataclass(frozen=True)
class Reasoning:
    """Whether a text begins with thinking.

    max_tokens  how many tokens it has at most; None: any number
    """

    mode: Literal["enabled", "disabled", "auto"]
    max_tokens: int | None = None


def read_reasoning(value: Any) -> Reasoning:
    """The argument `reasoning`. Raises ValueError."""
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in ("max_tokens", "mode")]
        tokens, mode = value.get("max_tokens"), value.get("mode", "enabled")
        is_count = isinstance(tokens, int) and not isinstance(tokens, bool) and 0 <= tokens <= MAX_COUNT
        if not unknown and (is_count or tokens is None) and mode in ("enabled", "auto", "disabled"):
            return Reasoning(mode, tokens)
    elif value is None or isinstance(value, bool):
        return Reasoning("auto" if value is None else "enabled" if value else "disabled")
    elif value in ("enabled", "disabled", "auto"):
        return Reasoning(value)
    raise ValueError(
        f'reasoning must be "enabled", "disabled", "auto" or {{"max_tokens": n}}, not {reprlib.repr(value)}'
    )


def lower_tools(
    style: Style,
    choice: Choice,
    *,
    reasoning: Reasoning,
    answer: Answer,
    prompt: str | None,
    options: JsonSchemaOptions = DEFAULTS,
    limits: Limits,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Tagged | Filled, tuple[Diagnostic, ...]]:
    """The grammar that the style allows, and notes.

    prompt  the end of the rendered prompt, which tells where generation starts; None: unknown
    given   schemas of tools by their names, equal to those that the tools keep, which are then asked for later
    Errors: GrammarError with every problem of tools that the style cannot write (codes `tools-…`).
    Cost: linear. Schemas are read, and the core makes rules of them when a text comes to them.
    """
    lowering = _Lowering(style, choice, reasoning, answer, options, limits, given)
    opening = opening_of(style, prompt)
    if _names_matter(style) or not _are_plain_functions(choice):
        return _lowered(lowering, opening, None, limits), tuple(lowering.notes)
    around = _Around(style, choice.mode, choice.maximum, reasoning, answer, opening, limits)
    if answer.is_value:
        joints = around.joints()
        return _lowered(lowering, opening, joints, limits), tuple(lowering.notes)
    outline = _outline_for(around)
    values = lowering.row_values
    if outline.grammar is None or values is None or lowering.problems:
        return _lowered(lowering, opening, outline.joints, limits), tuple(lowering.notes)
    # It is lowered as a whole where a vocabulary asks for more than other rows.
    whole = partial(_lowered, lowering, opening, outline.joints, limits)
    return Filled(outline.grammar, values, whole), outline.notes


def _lowered(lowering: _Lowering, opening: Opening, joints: Joints | None, limits: Limits) -> Tagged:
    """The grammar with all tools. Raises GrammarError, LimitExceeded."""
    content, known = lowering.text(opening), lowering.parts()
    if lowering.problems:
        raise GrammarError(lowering.problems)
    rows, is_checked = lowering.row_values, lowering.is_checked
    return Tagged(content, joints=joints, limits=limits, parts=True, known=known, rows=rows, is_checked=is_checked)


_WORD = r"[A-Za-z0-9_.-]+"
_ARE_WORDS = re.compile(rf"(?:{_WORD}\n)*").fullmatch
_ANY_TOOL = Tool("any")
# Differs from others in its name and schema alone, which the core writes in all forms.
_ANY_ROW = Tool("any_tool", schema={"properties": {"a": {"type": "string"}}})


def _names_matter(style: Style) -> bool:
    """Whether what is no call, or thinking, ends where a name begins a call."""
    are_looked_for = style.thinking is not None or (style.has_free_answer and not style.whole_turn)
    return are_looked_for and any(template.has("name") for template in style.begins)


def _are_plain_functions(choice: Choice) -> bool:
    """Whether the tools are functions, whose names are words."""
    if not choice.tools or not all(tool.kind == "function" for tool in choice.tools):
        return False
    return _ARE_WORDS("".join([f"{tool.name}\n" for tool in choice.tools])) is not None


@dataclass(frozen=True)
class _Outlined:
    """What is the same for all lists of functions.

    grammar  with a row in place of those of the functions; None if there is none for all
    """

    joints: Joints
    grammar: Outline | None = None
    notes: tuple[Diagnostic, ...] = ()


class _Around(NamedTuple):
    """What a list of functions is lowered with."""

    style: Style
    mode: Mode
    maximum: int | None
    reasoning: Reasoning
    answer: Answer
    opening: Opening
    limits: Limits

    def lowering(self, tool: Tool) -> _Lowering:
        """That of one tool alone."""
        choice = Choice(self.mode, (tool,), self.maximum)
        return _Lowering(self.style, choice, self.reasoning, self.answer, DEFAULTS, self.limits)

    def joints(self) -> Joints:
        """The joints for functions of whatever names and arguments.

        "complete" is right for all. In theory "longest" may do for some names: for none of 11,232 choices in all
        styles.
        """
        return joints_for(self.lowering(_ANY_TOOL).text(self.opening), limits=self.limits)


@lru_cache(maxsize=256)
def _outline_for(around: _Around) -> _Outlined:
    """To look at 128 tools instead takes longer than all the rest of compiling them."""
    joints = around.joints()
    if any("$name" in excluded for excluded in around.style.excludes):
        return _Outlined(joints)
    lowering = around.lowering(_ANY_ROW)
    content, rows = lowering.text(around.opening), lowering.row_values
    if lowering.problems or rows is None:
        return _Outlined(joints)
    grammar = Outline(content, joints=joints, limits=around.limits, parts=True, rows=rows, is_checked=True)
    return _Outlined(joints, grammar, tuple(lowering.notes))


def begins_without_marker(style: Style, choice: Choice) -> list[str]:
    """The texts that begin calls, if nothing but their text tells them from an answer."""
    if choice.mode != "auto" or not choice.tools or not style.has_free_answer:
        return []
    lowering = _Lowering(style, choice, Reasoning("auto"), Answer(), DEFAULTS, Limits())
    triggers = _triggers(style)
    return [] if all(any(isinstance(p, Marker) for p in t) for t in triggers) else lowering.begins()


def start_of(style: Style, prompt: str | None) -> Start:
    """Where generation starts after a prompt: inside of thinking, after a closed block of it, or before any."""
    thinking = style.thinking
    if prompt is None:
        return "unknown"
    if thinking is None:
        return "plain"
    end = prompt.rstrip()
    opener, closer = text_of(thinking.begin).strip(), _closer(thinking.end)
    if any(end.endswith(closed) for closed in thinking.closed):
        return "closed"
    if re.search(re.escape(opener) + r"\s*" + re.escape(closer) + r"\Z", end):
        return "closed"
    if end.endswith(opener):
        return "opened"
    # Thinking that somebody has begun for the model.
    opened = end.rfind(opener)
    if style.turn and opened > max(end.rfind(closer), end.rfind(style.turn)):
        return "opened"
    return "plain"


@dataclass(frozen=True)
class Opening:
    """Where generation starts.

    begun           how many characters of the begin of a call the prompt has written; None: it has begun none
    is_after_space  whether the prompt ends with white space
    """

    start: Start
    begun: int | None = None
    is_after_space: bool = False


def opening_of(style: Style, prompt: str | None) -> Opening:
    """Where generation starts after a prompt; None: that is unknown."""
    if prompt is None:
        return Opening("unknown")
    return Opening(start_of(style, prompt), _begun(style, prompt), prompt[-1:].isspace())


def _begun(style: Style, prompt: str) -> int | None:
    """How much of the begin of a call the prompt ends with, if that is no less than what tells calls from text."""
    if style.whole_turn:
        return None
    first = _first_begin(style)
    whole = text_of(first)
    least = min(len(text_of(trigger)) for trigger in _triggers(style))
    lengths = range(len(whole), least - 1, -1)
    return next((n for n in lengths if prompt.endswith(whole[:n]) and _dropped(first, n) is not None), None)


def _first_begin(style: Style) -> Spelling:
    """What a text with calls begins with."""
    return style.sections[0].before("calls") if style.sections else _until_variable(style.calls[0])


def _triggers(style: Style) -> list[Spelling]:
    """The texts up to the first marker of a call, or of a section of calls, each once."""
    if style.begins and not any(template.has("name") for template in style.begins):
        return [template.before("name") for template in style.begins]
    found: list[Spelling] = []
    for template in style.sections or style.calls:
        begin = _without_leading_space(template.before("calls" if style.sections else "name"))
        at = next((i for i, piece in enumerate(begin) if isinstance(piece, Marker)), 0)
        if begin[: at + 1] not in found:
            found.append(begin[: at + 1])
    return found


def _closer(end: Spelling) -> str:
    """The marker that closes thinking."""
    return next((piece.text for piece in end if isinstance(piece, Marker)), text_of(end).strip())


class _Lowering:
    """Collects the problems of one list of tools."""

    def __init__(
        self,
        style: Style,
        choice: Choice,
        reasoning: Reasoning,
        answer: Answer,
        options: JsonSchemaOptions,
        limits: Limits,
        given: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.problems: list[Diagnostic] = []
        self.notes: list[Diagnostic] = []
        self._style = style
        self._choice = choice
        self._reasoning = reasoning
        self._answer_kind = answer
        self._options = replace(options, **style.options) if options == DEFAULTS else options
        self._limits = limits
        self._id = parse_regex(style.id)
        self._given = given
        self._schemas = Schemas(self._options, limits)
        # Tools that differ in name and schema alone, by the numbers of their schemas, and the others.
        self._alike: dict[str, int] = {}
        self._arguments: dict[str, Content] = {}
        for tool in choice.tools:
            self._add(tool)

    @property
    def is_checked(self) -> bool:
        """Whether lowering for a vocabulary finds no more problems, as Lark grammars of custom tools may."""
        return not any(tool.format.syntax == "lark" for tool in self._choice.tools)

    def parts(self) -> dict[int, Part]:
        """The schemas that the core reads, but for `row_values`; records what is wrong with the others."""
        return self._schemas.parts(self.problems, () if self.row_values is None else set(self._alike.values()))

    @cached_property
    def row_values(self) -> RowValues | None:
        """The tools that differ in name and schema alone, if the core reads the schemas of all."""
        numbers = list(self._alike.values())
        read = self._schemas.read_together(numbers, self._style.arguments) if numbers else None
        if read is None or None in read.schemas:
            return None
        return RowValues(self._alike_rows, read, (NAME, self._arguments_mark), self._limits)

    @cached_property
    def _alike_rows(self) -> RowList:
        schemas, numbers = self._schemas, list(self._alike.values())
        return RowList(tuple(self._alike), lambda n: schemas.node(numbers[n]), lambda: schemas.types(numbers))

    def _add(self, tool: Tool) -> None:
        """Note the arguments of a tool."""
        style = self._style
        if style.names and tool is not _ANY_TOOL and tool is not _ANY_ROW:
            self._check_name(tool)
        if tool.kind == "custom" and style.custom == "raw":
            self._arguments[tool.name] = Mark(f"{ARGUMENTS}:text", self._raw(tool))
            return
        number = self._wrapped_text(tool) if tool.kind == "custom" else self._schema_of(tool)
        if tool.kind == "builtin" or tool is _ANY_TOOL:
            self._arguments[tool.name] = Mark(self._arguments_mark, self._schemas.node(number))
        else:
            self._alike[tool.name] = number

    def _schema_of(self, tool: Tool) -> int:
        given, form = self._given.get(tool.name), self._style.arguments
        if given is None:
            return self._schemas.add(closed(tool.schema), form, tool.at)
        return self._schemas.add(closed(given), form, tool.at, lambda: closed(tool.schema))

    # ---- The whole text ----

    def text(self, opening: Opening) -> Content:
        """Thinking, calls and answers."""
        if opening.begun is not None and self._choice.tools:
            rest = _dropped(_first_begin(self._style), opening.begun)
            return self._finished(self._calls(self._choice.maximum, rest), "call")
        return _sequence([*self._thinking(opening), self._body()])

    def _finished(self, said: Content, kind: Literal["call", "answer"]) -> Content:
        """What was said, and what ends the text after it."""
        finish, last = _contents(self._style.finish), self._last(kind)
        return _sequence([said, *finish, *([] if last is None else [last])])

    def _last(self, kind: Literal["call", "answer"]) -> LastToken | None:
        """The end tokens after a call or an answer; None where they are the same, or part of the text already."""
        ends = self._style.ends
        written = text_of(_after_variables(self._style.calls[0]))
        if ends.call == ends.answer or written.endswith(ends.call):
            return None
        return LastToken(ends.call, ends.answer) if kind == "call" else LastToken(ends.answer, ends.call)

    def _thinking(self, opening: Opening) -> list[Content]:
        thinking, mode, start = self._style.thinking, self._reasoning.mode, opening.start
        if thinking is None:
            if mode == "enabled":
                message = f"the style {self._style.name} has no thinking: `reasoning` means nothing here"
                self.notes.append(Diagnostic("tools-no-thinking", message, severity="note"))
            return []
        if start == "opened" and mode == "disabled":
            message = "the prompt has opened thinking, and reasoning is disabled"
            help = "render the prompt without thinking, or leave `reasoning` out"
            self.problems.append(Diagnostic("tools-prompt-thinking", message, help=help))
            return []
        if start == "closed":
            return []
        skipped = [_sequence(_contents(thinking.skipped))] if thinking.skipped and start != "opened" else []
        if mode == "disabled":
            return [Repeat(skipped[0], 0, 1)] if skipped else []
        end = _trimmed(thinking.end)
        # White space that the prompt has written already is not written again.
        begin = _without_leading_space(thinking.begin) if opening.is_after_space else thinking.begin
        opener = (*_without_space(begin), Space())
        is_certain = start == "opened" or mode == "enabled"

        def block(begin: Spelling, *, knows: bool) -> Content:
            excludes = [_closer(thinking.begin)]
            if not knows:
                # It is only seen later that this was thinking: a call wins, and so does the marker of an answer.
                excludes += self.begins()
                if not self._style.has_free_answer:
                    excludes += filter(None, [_closer(self._style.answer.before("text"))])
            free = FreeText(excludes=tuple(dict.fromkeys(excludes)), max_tokens=self._reasoning.max_tokens)
            return Tag(begin, Mark(REASONING, free), (end,))

        # Where it may be an answer as well, the first lexemes of both have to end together, so that the longest match
        # is enough: the white space behind the prompt is the thought's then.
        opened, written = block((Space(),) if is_certain else (), knows=is_certain), block(opener, knows=True)
        more = [Repeat(written, 0, None)] if thinking.repeats else []
        if start == "opened":
            return [opened, *more]
        first: Content = written
        if start == "unknown" and (is_certain or thinking.opened_by == "prompt"):
            first = Or((written, opened))
        if mode == "enabled":
            return [first, *more]
        thought = _sequence([first, *more])
        return [Repeat(Or((thought, *skipped)) if skipped else thought, 0, 1)]

    def _body(self) -> Content:
        choice, style = self._choice, self._style
        if choice.mode == "none" or not choice.tools:
            return self._finished(self._answer(), "answer")
        if choice.mode == "required":
            return self._finished(self._only_calls(), "call")
        if self._answer_kind.is_value or not style.has_free_answer or style.whole_turn:
            return Or((self._finished(self._only_calls(), "call"), self._finished(self._answer(), "answer")))
        return self._text_with_calls()

    # ---- Answers ----

    def _answer(self) -> Content:
        before, after = self._style.answer.split("text")
        if self._answer_kind.is_value:
            number = self._schemas.add(self._answer_kind.schema, "json", "/response_format")
            value = Mark(VALUE, self._schemas.node(number))
            ends = [_sequence(_contents(end)) for end in (after, *self._style.answer_ends)]
            return _sequence([*_contents(before), value, ends[0] if len(ends) == 1 else Or(tuple(ends))])
        inner = Mark(CONTENT, self._free_answer())
        return inner if self._style.has_free_answer else Tag(before, inner, (after, *self._style.answer_ends))

    def _free_answer(self) -> Content:
        excludes = self._excludes()
        if not (self._style.whole_turn and self._style.has_free_answer and self._choice.tools):
            return FreeText(excludes=excludes)
        # A text that begins like a call is none, in a style whose calls are whole texts without a marker.
        free = FreeText(
            excludes=excludes, matching=Complement(Concatenation((_SPACES, self._begun_calls(""), ANY_TEXT)))
        )
        opener = text_of(self._style.sections[0].before("calls")) if self._style.sections else ""
        if not opener or excludes:
            return free
        # The first lexemes of both end together, so that the longest match is enough.
        behind = FreeText(matching=Complement(Concatenation((self._begun_calls(opener), ANY_TEXT))))
        opened = Complement(Concatenation((text(opener), ANY_TEXT)))
        assert free.matching is not None
        return Or((replace(free, matching=Intersection((free.matching, opened))), _sequence([Text(opener), behind])))

    def _begun_calls(self, begun: str) -> RegexTree:
        """The beginnings of calls, without the text that all of them begin with."""
        begins: list[RegexTree] = []
        for template in self._style.begins:
            before, after = template.split("name")
            # A call of a tool that does not exist is no answer either.
            name = [parse_regex(self._style.names)] if template.has("name") else []
            written = text_of(before).removeprefix(begun)
            begins.append(Concatenation((text(written), *name, text(text_of(after)))))
        return Alternation(tuple(begins))

    def _excludes(self) -> tuple[str, ...]:
        """What free text does not hold."""
        found: list[str] = []
        for excluded in self._style.excludes:
            names = [tool.name for tool in self._choice.tools] if "$name" in excluded else [""]
            found += [excluded.replace("$name", name) for name in names]
        if self._style.thinking is not None:
            found += [_closer(self._style.thinking.begin), _closer(self._style.thinking.end)]
        if self._style.has_free_answer and not self._style.whole_turn:
            found += self.begins()
        return tuple(dict.fromkeys(found))

    def begins(self) -> list[str]:
        """The texts that begin calls."""
        found: list[str] = []
        for template in self._style.begins:
            if template.has("name"):
                found += [
                    text_of(template.before("name")) + tool.name + text_of(template.after("name"))
                    for tool in self._choice.tools
                ]
            else:
                found.append(text_of(template.parts))  # type: ignore[arg-type]  # it has no variables
        return found or [text_of(trigger).strip() for trigger in _triggers(self._style)]

    # ---- Calls ----

    def _only_calls(self) -> Content:
        """Calls without any text around them, in the way in which models are trained to write them."""
        style = self._style
        # Where there is text before calls, it takes its place.
        has_preamble = style.preamble is not None and self._choice.mode != "required"
        calls = self._calls(self._choice.maximum, before=() if has_preamble else style.before)
        if not has_preamble or style.preamble is None:
            return calls
        opened, closed = style.preamble.split("text")
        said = Tag(opened, Mark(CONTENT, FreeText(excludes=self._excludes())), (closed,))
        return _sequence([Repeat(said, 0, 1), calls])

    def _calls(self, maximum: int | None, begun: Spelling | None = None, before: Spelling = ()) -> Content:
        """One or more calls, with the section around them if there is one.

        before  what the section may begin with
        begun   what is still to be written of the first begin, where the prompt has written the rest of it
        """
        style = self._style
        if not style.sections:
            tags = tuple(self._call(template, ()) for template in style.calls)
            first: Content
            if begun is not None:
                first = self._call(style.calls[0], (), begun)
            elif before:
                # One lexeme with the begin: thinking that may be an answer as well could go on after the white space.
                first = Or((*tags, *(self._call(template, before) for template in style.calls)))
            else:
                return Separated(tags, style.separator, at_least_one=True, maximum=maximum)
            left = None if maximum is None else maximum - 1
            return _sequence([first, Repeat(_sequence([*_contents(style.separator), Or(tags)]), 0, left)])
        if begun is not None:
            return self._section(begun, style.sections[0].after("calls"), maximum)
        sections: list[Content] = []
        for opened, closed in (section.split("calls") for section in style.sections):
            if before:
                # One lexeme with the begin, as above.
                ways = (Tag((*before, *opened), Sequence(())), Tag(opened, Sequence(())))
                sections.append(_sequence([Or(ways), self._section((), closed, maximum)]))
            else:
                sections.append(self._section(opened, closed, maximum))
        return sections[0] if len(sections) == 1 else Or(tuple(sections))

    def _section(self, opened: Spelling, closed: Spelling, maximum: int | None) -> Tag:
        tags = tuple(self._call(template, ()) for template in self._style.calls)
        inner = Separated(tags, self._style.separator, at_least_one=True, maximum=maximum)
        return Tag(opened, inner, (closed,))

    def _text_with_calls(self) -> Content:
        """Free text, with calls in it."""
        style, maximum = self._style, self._choice.maximum
        free = FreeText(excludes=self._excludes_beside_triggers())
        space = (Space(),)
        if style.sections:
            split = [section.split("calls") for section in style.sections]
            tags = tuple(self._section((*space, *_without_leading_space(a)), b, maximum) for a, b in split)
            most: int | None = 1
        else:
            tags = tuple(self._call(template, space) for template in style.calls)
            most = maximum
        after_answer, after_call = self._last("answer"), self._last("call")
        return Triggered(
            tuple((*space, *trigger) for trigger in _triggers(self._style)),
            tags,
            stop_after_first=maximum == 1,
            maximum=most,
            text=free,
            mark=CONTENT,
            last=None if after_answer is None or after_call is None else (after_answer, after_call),
        )

    def _excludes_beside_triggers(self) -> tuple[str, ...]:
        triggers = {text_of(trigger) for trigger in _triggers(self._style)}
        return tuple(found for found in self._excludes() if found not in triggers)

    def _call(self, template: Template, space: Spelling, begun: Spelling | None = None) -> Tag:
        """A call of any of the tools."""
        begin = _until_variable(template) if begun is None else begun
        builtins = [tool for tool in self._choice.tools if tool.kind == "builtin" and self._style.builtin is not None]
        tools = [tool for tool in self._choice.tools if tool not in builtins] if builtins else self._choice.tools
        alike = self._alike
        calls = [self._after_begin(template, tool) for tool in tools if tool.name not in alike]
        if alike:
            body = self._from_name(template, Slot("text"), Slot("value"))
            calls.insert(0, Each(body, (NAME, self._arguments_mark), self._alike_rows))
        end = _after_variables(template)
        if builtins and template == self._style.calls[0]:
            assert self._style.builtin is not None
            # They begin and end like others but for the words around the name.
            calls = [_sequence([*_contents(begin), call]) for call in calls]
            begin = ()
            calls += [self._of_begin(self._style.builtin, tool) for tool in builtins]
        if not calls:
            return Tag((*space, *begin), Or(()), (end,))
        head = begin if space == () else _without_leading_space(begin)
        return Tag((*space, *head), Mark(TOOL_CALL, calls[0] if len(calls) == 1 else Or(tuple(calls))), (end,))

    def _of_begin(self, template: Template, tool: Tool) -> Content:
        return _sequence([*_contents(_until_variable(template)), self._after_begin(template, tool)])

    def _after_begin(self, template: Template, tool: Tool) -> Content:
        """The call of a tool from the first variable to the last one."""
        any_name = Regex(parse_regex(self._style.names or _WORD), "NAME")
        name = any_name if tool is _ANY_TOOL else Text(tool.name)
        return self._from_name(template, Mark(NAME, name), self._arguments[tool.name])

    def _from_name(self, template: Template, name: Content, arguments: Content) -> Sequence:
        """A call from the first variable to the last one."""
        found: list[Content] = []
        at = next(i for i, part in enumerate(template.parts) if isinstance(part, Variable))
        for part in template.parts[at : len(template.parts) - len(_after_variables(template))]:
            if not isinstance(part, Variable):
                found += _contents((part,))
            elif part.name == "name":
                found.append(name)
            elif part.name == "id":
                found.append(Mark(ID, Regex(self._id, "ID")))
            else:
                found.append(arguments)
        return Sequence(tuple(found))

    # ---- Arguments ----

    @property
    def _arguments_mark(self) -> str:
        form = self._style.arguments
        return ARGUMENTS if form == "json" else f"{ARGUMENTS}:{form}"

    def _wrapped_text(self, tool: Tool) -> int:
        """The schema of an object with the text of a custom tool."""
        format = tool.format
        value: dict[str, Any] = {"type": "string"}
        if format.syntax == "lark":
            message = f"the text of the tool `{tool.name}` is a Lark grammar, and the style {self._style.name} writes "
            message += "arguments as JSON"
            help = "use a regex, or a style that writes bare arguments, such as harmony or mistral"
            self.problems.append(Diagnostic("tools-custom-grammar", message, pointer=tool.at, help=help))
        elif format.syntax == "regex":
            value["pattern"] = f"^(?:{format.definition})$"
        schema = {
            "type": "object",
            "properties": {"input": value},
            "required": ["input"],
            "additionalProperties": False,
        }
        return self._schemas.add(schema, self._style.arguments, tool.at)

    def _raw(self, tool: Tool) -> Content:
        format = tool.format
        try:
            if format.syntax == "regex":
                return Regex(parse_regex(format.definition, digits="ascii", limits=self._limits), tool.name)
            if format.syntax == "lark":
                name = f"<{tool.name}>"
                return Inner(parse_lark(format.definition, name=name, limits=self._limits, embedded=True), tool.at)
        except GrammarError as error:
            self.problems += [replace(found, pointer=tool.at) for found in error.diagnostics]
        return FreeText()

    def _check_name(self, tool: Tool) -> None:
        if not re.fullmatch(self._style.names, tool.name):
            message = f"the style {self._style.name} cannot write the name `{shortened(tool.name)}`"
            help = "in this style names are words of letters, digits and `_`"
            self.problems.append(Diagnostic("tools-name-style", message, pointer=tool.at, help=help))


def closed(schema: Any) -> Any:
    """The schema of arguments: an object. One that lists properties and says nothing of others has no others.

    A function has the parameters that its schema names; another one would be an error of the call.
    """
    if schema is True:
        return {"type": "object"}
    if not isinstance(schema, (dict, Mapping)):
        return schema
    found = dict(schema)
    if _SAY_TYPE.isdisjoint(found):
        found["type"] = "object"
    if "properties" in found and _SAY_MORE.isdisjoint(found):
        found["additionalProperties"] = False
    return found


_SAY_TYPE = {"type", "$ref", "anyOf", "allOf", "oneOf", "enum", "const"}
_SAY_MORE = {
    *("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames", "minProperties", "$ref"),
    *("allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef"),
}


def _sequence(parts: list[Content]) -> Content:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _contents(spelling: Spelling) -> list[Content]:
    """The pieces as content; there is no white space among them that may differ."""
    return [piece for piece in spelling if not isinstance(piece, Space)]


def _until_variable(template: Template) -> Spelling:
    """The pieces before the first variable."""
    found: list[Piece] = []
    for part in template.parts:
        if isinstance(part, Variable):
            break
        found.append(part)
    return tuple(found)


def _after_variables(template: Template) -> Spelling:
    """The pieces after the last variable."""
    found: list[Piece] = []
    for part in reversed(template.parts):
        if isinstance(part, Variable):
            break
        found.append(part)
    return tuple(reversed(found))


def _without_leading_space(spelling: Spelling) -> Spelling:
    first = spelling[0] if spelling else None
    if not isinstance(first, Text):
        return spelling
    left = first.value.lstrip()
    return ((Text(left),) if left else ()) + spelling[1:]


def _without_space(spelling: Spelling) -> Spelling:
    """The pieces without white space at the end."""
    last = spelling[-1] if spelling else None
    if not isinstance(last, Text):
        return spelling
    left = last.value.rstrip()
    return (*spelling[:-1], *((Text(left),) if left else ()))


def _trimmed(end: Spelling) -> Spelling:
    """The pieces with any white space before them."""
    return (Space(), *_without_leading_space(end))


def _dropped(spelling: Spelling, length: int) -> Spelling | None:
    """The pieces without so many characters; None where that would cut a marker in two."""
    left = length
    for i, piece in enumerate(spelling):
        size = len(text_of((piece,)))
        if left >= size:
            left -= size
            continue
        if left == 0:
            return spelling[i:]
        if not isinstance(piece, Text):
            return None
        return (Text(piece.value[left:]), *spelling[i + 1 :])
    return ()
