"""The forms of content that structural tags and tools are made of: frozen data, lowered by `cfgmask.tags.lower`.

Content is text, a JSON value, free text and the like, put together by sequences, alternatives, repetition and tags.
A tag is content between a begin and an end, which are spellings: pieces that are texts, markers or white space.

Derivations are unique as far as free text is concerned: free text before the begin of a tag, or before the end of the
tag around it, goes up to the first place where one ends, and the white space of a spelling belongs to the spelling.

`at` is the place of a node in the JSON that it was read from, as a JSON Pointer, for diagnostics; None: it has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from cfgmask.grammar.ir import GrammarIR
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions

# ---- Spellings: what begins and ends tags ----


@dataclass(frozen=True)
class Text:
    """Exactly this text. Both content and a piece of a spelling; may be empty.

    If the text holds names of special tokens of the vocabulary, each of these may also be written by its id.
    """

    value: str
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Marker:
    """A text such as `<tool_call>` that many vocabularies have as one token. Both content and a piece of a spelling.

    A vocabulary that has a token of just this text, special or ordinary, writes it by the id of that token, and free
    text before it holds neither the token nor its text. Another vocabulary writes the text with any tokens.
    """

    text: str
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Space:
    """White space of a spelling: any number of these characters, at least `minimum`.

    Free text before it does not end with one of them, and free text after it does not begin with one.
    """

    characters: str = " \t\n\r"
    minimum: int = 0


@dataclass(frozen=True)
class Token:
    """One token of the vocabulary, by its id or by its exact text: a special token, or an ordinary one.

    Both content and a piece of a spelling. A vocabulary without it is an error.
    """

    token: int | str
    at: str | None = field(default=None, compare=False)


Piece: TypeAlias = Text | Marker | Space | Token
Spelling: TypeAlias = tuple[Piece, ...]
"""Pieces one after the other. A spelling that ends free text has a piece that is not white space and not empty."""


# ---- Content ----


def type_of(schema: Any) -> Any:
    """The value of the keyword `type` in a schema; None if there is none."""
    return schema.get("type") if isinstance(schema, dict) else None


@dataclass(frozen=True)
class Schema:
    """A value that a JSON Schema allows.

    schema   the schema, as Python values or JSON text; what it is made of is not changed by anybody
    form     how the value is written: "json", or a form of arguments in `cfgmask.tags.forms`
    options  of the lowering to JSON; forms use those that mean something to them
    excludes  texts that occur in no string and no name of a property, as they are written
    """

    schema: Any = field(hash=False)
    form: str = "json"
    options: JsonSchemaOptions = DEFAULTS
    at: str | None = field(default=None, compare=False)
    excludes: tuple[str, ...] = ()

    @property
    def type(self) -> Any:
        """As of `type_of`."""
        return type_of(self.schema)


class LaterSchema(Schema):
    """The same, with a schema that is made when it is first asked for."""

    def __init__(self, make: Callable[[], Any], form: str, options: JsonSchemaOptions, at: str | None) -> None:
        vars(self).update(_make=make, form=form, options=options, at=at)

    @cached_property
    def schema(self) -> Any:
        """As of `Schema`."""
        return vars(self)["_make"]()


@dataclass(frozen=True)
class LastToken:
    """One of the tokens that end a text after what it says, in a vocabulary that has other ones for other texts.

    texts   those after this text
    others  those after other texts

    Nothing in a vocabulary that has none of `texts`, or the same tokens for both.
    """

    texts: tuple[str, ...]
    others: tuple[str, ...]
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Inner:
    """A text of another grammar, with rules, ignored text and names of its own."""

    grammar: GrammarIR
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Regex:
    """A text that a regular expression matches as a whole. `name` is what diagnostics call it."""

    regex: RegexTree
    name: str = "REGEX"
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class FreeText:
    """Any text, perhaps none, without the ends of the tag around it.

    excludes    texts that do not occur in it
    matching    what it must match as a whole besides; None: anything
    max_chars   how many characters (code points) it has at most
    max_tokens  how many tokens have bytes of it at most
    """

    excludes: tuple[str, ...] = ()
    matching: RegexTree | None = None
    max_chars: int | None = None
    max_tokens: int | None = None
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class OtherTokens:
    """Tokens that are none of `excludes`, at least `minimum` and at most `maximum` of them. Never end tokens."""

    excludes: tuple[int | str, ...] = ()
    minimum: int = 1
    maximum: int | None = 1
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Sequence:
    """The parts in order; no parts: the empty text."""

    parts: tuple[Content, ...]
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Or:
    """One of the parts, of which there is at least one."""

    parts: tuple[Content, ...]
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Repeat:
    """`body` at least `minimum` and at most `maximum` times; None: any number of times."""

    body: Content
    minimum: int = 0
    maximum: int | None = None
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Tag:
    """`begin`, then `content`, then one of the `ends`.

    Free text at the end of `content` goes up to the first of the ends; free text elsewhere in it does not hold the text
    of any. An empty spelling among the ends means that the tag may end anywhere, and empty `ends` mean the same.
    """

    begin: Spelling
    content: Content
    ends: tuple[Spelling, ...] = ((),)
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Triggered:
    """Free text with tags in it: where the free text comes to a trigger, one of the tags that begin so must follow.

    triggers          spellings; each tag's `begin` begins with exactly one of them
    at_least_one      the text begins with a tag
    stop_after_first  nothing comes after the first tag
    maximum           how many tags there are at most; None: any number
    text              what is between tags, free text or tokens; its bounds hold for each piece of it
    mark              the name under which the free text is captured; None: it is not
    last              what comes after a text without tags, and after one with some
    """

    triggers: tuple[Spelling, ...]
    tags: tuple[Tag, ...]
    at_least_one: bool = False
    stop_after_first: bool = False
    maximum: int | None = None
    text: FreeText | OtherTokens = FreeText()
    mark: str | None = None
    last: tuple[LastToken, LastToken] | None = None
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Separated:
    """Tags with a separator between them and nothing else.

    at_least_one      there is at least one
    stop_after_first  there is at most one
    maximum           how many there are at most; None: any number
    """

    tags: tuple[Tag, ...]
    separator: Spelling = ()
    at_least_one: bool = False
    stop_after_first: bool = False
    maximum: int | None = None
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Dispatch:
    """Free text in which each pattern is followed by its content.

    Unlike other free text it may hold the ends of the tag around it: exclude them from `text` to keep them out.

    loop  free text goes on after the content; otherwise the text ends there
    """

    rules: tuple[tuple[Spelling, Content], ...]
    loop: bool = True
    text: FreeText | OtherTokens = FreeText()
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Mark:
    """`body`, which is captured as `name`.

    The names that tools use are `reasoning`, `content`, `tool_name` and `arguments`.
    """

    name: str
    body: Content
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Slot:
    """The place of a row's text or value in the body of `Each`."""

    of: Literal["text", "value"]
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class RowList:
    """Texts, and a schema for each, which is made into a node when it is asked for.

    node   the node of a schema by its number, the same whenever it is asked for
    types  what the schemas say under `type`, each or together
    """

    texts: tuple[str, ...]
    node: Callable[[int], Schema]
    types: Callable[[], Iterable[Any]]

    def nodes(self) -> list[Schema]:
        """All nodes."""
        return [self.node(number) for number in range(len(self.texts))]


@dataclass(frozen=True)
class Each:
    """Alternatives that differ in a text and a value, such as calls of many tools: `body` for each of the rows.

    body   a sequence with both slots, which are neither in tags nor in alternatives
    marks  the names under which the text and the value of a row are captured
    rows   of schemas in one form, with the same options; the same in several places are lowered once
    """

    body: Sequence
    marks: tuple[str, str]
    rows: RowList = field(hash=False)
    at: str | None = field(default=None, compare=False)

    def spread(self, rows: tuple[tuple[str, Schema], ...]) -> Or:
        """The same as alternatives, for some of the rows."""
        text_mark, value_mark = self.marks

        def part(node: Content, text: str, value: Schema) -> Content:
            if not isinstance(node, Slot):
                return node
            return Mark(text_mark, Text(text)) if node.of == "text" else Mark(value_mark, value)

        return Or(tuple(Sequence(tuple(part(node, *row) for node in self.body.parts)) for row in rows))


Content: TypeAlias = (
    Text
    | Marker
    | LastToken
    | Schema
    | Inner
    | Regex
    | FreeText
    | Sequence
    | Or
    | Repeat
    | Tag
    | Triggered
    | Separated
    | Dispatch
    | Token
    | OtherTokens
    | Mark
    | Each
    | Slot
)
