"""The one form that every front end lowers to and the compiler reads.

Everything is immutable. Rules refer to each other by name; terminals stand where they are used.
Two terminals with equal regexes in one scope are one terminal to the core, so front ends need not share them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.grammar.parameters import Argument, Condition
from cfgmask.grammar.quick_init import quick_init
from cfgmask.grammar.regex_tree import RegexTree

if TYPE_CHECKING:
    from cfgmask import _core

LineRole: TypeAlias = Literal["", "newline", "open", "close"]
"""What a lexeme does to indentation: it begins a line, or opens or closes brackets, in which lines do not count."""

EndlessKind: TypeAlias = Literal["", "keys", "items"]
"""See `Terminal`."""

HoldsKind: TypeAlias = Literal["values", "array", "distinct array", "object", "item", "list", "members", "again"]
"""See `SetBounds`."""

_INNER_PREFIX = re.compile(r"^(?:%lark#[0-9]+|@[\w-]+):")


class Step(NamedTuple):
    """Where something stands in the rules of an item that no other may be equal to; see `SetBounds`.

    place  a number of its own among all that may stand after the same beginning of an item; 0: nothing else may
    ways   how many different ends of the item may follow, with all that can be written there; None: more than are
           counted
    """

    place: int = 0
    ways: int | None = None


NO_STEP = Step()


@dataclass(frozen=True)
class Suffix:
    """How a text of a terminal falls into a body and what ends it: at the first place where both match.

    capture  the name under which the text of the end is captured; None: not at all
    """

    body: RegexTree
    end: RegexTree
    capture: str | None = None


@quick_init
@dataclass(frozen=True)
class Terminal:
    """A named regex, as one symbol of a rule's body. It may match the empty text; the lexer then skips it.

    name      what diagnostics call it: `NUMBER`, `"{"`
    before    what all of the text before a lexeme must be, from its first byte; None: anything
    after     what all of the text that follows must be, to its last byte; None: anything
    distinct  its lexemes are scalars of JSON (numbers without exponents) or of YAML (strings without quotes, too, and
              keys with their colon), and in the innermost rule around it that `opens_set`, none is equal to one before
              it; outside of such rules it means nothing
    endless   `distinct` strings of JSON, the "keys" of an object or the "items" of an array: whatever begins one of its
              lexemes begins infinitely many, and none is equal to another value of its set but to those of such
              terminals. Bounds of the set are on others alone. Braces in its scope, or square brackets, are those of
              objects, or arrays. "": it may run out, or bounds count it
    closes_set  it may come only where that rule's bounds are met, and the set around it may have what this one comes
              to; outside of such rules it means nothing
    step      where it stands in an item; one that is not `distinct` has lexemes of one value
    lazy      its texts are those of `regex` that begin with no other of them. With the lexer "longest", a lexeme ends
              where a lazy terminal is complete, and terminals that are not lazy drop out there. It has no conditions
    max_tokens  how many tokens may have bytes of one lexeme of it; None: any number
    role      what its lexemes do where the grammar has an indenter
    suffix    what a rule that is this terminal alone leaves out of its capture

    Under a condition a terminal never matches the empty text. One with several pairs of conditions is a choice of
    terminals of one name.
    """

    name: str
    regex: RegexTree
    priority: int = 0
    distinct: bool = False
    endless: EndlessKind = ""
    closes_set: bool = False
    step: Step = NO_STEP
    lazy: bool = False
    max_tokens: int | None = None
    role: LineRole = ""
    suffix: Suffix | None = None
    before: RegexTree | None = None
    after: RegexTree | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class SetBounds:
    """What a set of seen values is of, and what it must come to before it may be closed.

    required  strings that must be in it, decoded
    minimum   how many values there must be at least
    maximum   and at most
    endless   no bounds are given, and all its distinct terminals are `endless`
    holds     "values", of which no two are equal; or all that is written in an array or an object, which is itself a
              value of the set around it, told from others by its own values: the items of an "array" or of a "distinct
              array", in which no two are equal, or the keys of an "object", no two equal, each with its value behind
              it. All scalars in those are `distinct` terminals, all arrays and objects rules with such sets, and each
              alternative ends with a terminal that `closes_set`. Or all that is written of an "item", which is a value
              of the set around it, too: a set of values, a "distinct array", or an "item" or "list" that it is a part
              of, at a step. Its terminals have steps, those with several values are `distinct`, and arrays and objects
              in it are rules without sets or with steps of theirs. Each item has one derivation. No step is taken
              after which as many items as it has `ways` came. A "list" is such a part of an item, of whose values no
              two are equal: all of them are `distinct` or an "item".
              Or the "members" of an object in an item, with its closing brace, in any order: keys are `distinct`
              terminals, at the steps 1, 2 and so on, and have values that are an "item" by themselves, in which only
              the ends of that value count as `ways`. Or a value that came "again": one `distinct` terminal or set that
              is a value, equal to one that is in the set of "values" around it, which is empty behind it. In it nothing
              comes but what does next in one of those that begins like what is written
    step      of a set in an item
    members   which keys it may have then, and how many values each: of keys with names those, each 1, then classes of
              keys without, None, and how many there are; None for numbers: more than are counted
    """

    required: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    endless: bool = False
    holds: HoldsKind = "values"
    step: Step = NO_STEP
    members: tuple[tuple[str | None, int | None, int | None], ...] = ()


@dataclass(frozen=True)
class TokenSet:
    """Tokens of the vocabulary, matched by id: `<name>`, `<[5]>`, `<[1-3,7]>`, `<[^2]>`, `<[*]>`.

    names    names of special tokens, without the angle brackets' change: `<|eot_id|>` is written `<|eot_id|>`
    ranges   inclusive ranges of ids; empty with `negated` means all
    negated  every id but these; end tokens are in a negated set only if nothing else names them: never
    text     how the grammar spelled it
    end      the end tokens besides
    kind     what other tokens besides: those whose bytes are text ("text"), those of them that have no line break
             ("paragraph"), or special tokens that are named after images ("image"). "indent" and "dedent" are no
             tokens of a vocabulary: they are what the grammar's indenter puts behind a newline
    is_last  nothing comes after it, so hosts may stop at it even where it is an end token
    """

    text: str
    names: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    negated: bool = False
    end: bool = False
    kind: Literal["", "text", "paragraph", "image", "indent", "dedent"] = ""
    is_last: bool = False
    span: Span | None = field(default=None, compare=False)


@quick_init
@dataclass(frozen=True)
class RuleRef:
    """A use of a rule; `argument` is what a parametric one is given."""

    name: str
    span: Span | None = field(default=None, compare=False)
    argument: Argument | None = None


@quick_init
@dataclass(frozen=True)
class Sequence:
    """The parts in order; no parts: the empty text."""

    parts: tuple[Expr, ...]


@quick_init
@dataclass(frozen=True)
class Choice:
    """One of the parts; no parts: nothing."""

    parts: tuple[Expr, ...]


@quick_init
@dataclass(frozen=True)
class Repeat:
    """`body` at least `minimum` and at most `maximum` times (None: without bound). Never unrolled."""

    body: Expr
    minimum: int
    maximum: int | None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Guarded:
    """`body` where the condition holds of the parameter of the rule around it, and nothing elsewhere."""

    body: Expr
    condition: Condition


@dataclass(frozen=True, eq=False)
class Part:
    """Texts of a JSON Schema, of which the core makes rules when a text first reaches them.

    It has a scope of its own.

    name    no other part or rule of the grammar begins with it
    schema  as the core read it
    lower   the same as a grammar whose rules have names that begin with what it is given; LimitExceeded
    notes   what there is to be warned of
    source  gives the schema as JSON values, where that is known
    form    of arguments that the outermost object is written in; None: it is JSON
    tokens  those that the form writes by id
    may_be_empty  whether the empty text is one of them
    """

    name: str
    schema: _core.SchemaWithLayout
    lower: Callable[[str], GrammarIR]
    notes: Callable[[], tuple[Diagnostic, ...]]
    span: Span | None = None
    source: Callable[[], Any] | None = None
    form: _core.SchemaForm | None = None
    tokens: tuple[TokenSet, ...] = ()
    may_be_empty: bool = False


@dataclass(frozen=True)
class Slot:
    """The place of a row's text or part in the body of `Variants`."""

    of: Literal["text", "part"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Texts, and a part for each. A list of tools is one: names, and the arguments of each.

    The parts are in one form, with the same tokens. There are fewer questions about parts than lists of tools, so they
    are made when they are asked for.

    name          no other rows of the grammar have it
    schemas       those of the parts, as the core read them
    may_be_empty  as in `Part`, for each; so are `form` and `tokens`, for all
    make_parts    makes the parts
    captures      the names under which the text and the part of a row are captured; None: they are not
    """

    name: str
    texts: tuple[str, ...]
    schemas: SequenceOf[_core.SchemaWithLayout]
    may_be_empty: SequenceOf[bool]
    make_parts: Callable[[], tuple[Part, ...]]
    captures: tuple[str | None, str | None] = (None, None)
    form: _core.SchemaForm | None = None
    tokens: tuple[TokenSet, ...] = ()

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts, the same whenever they are asked for."""
        return self.make_parts()


@dataclass(frozen=True)
class Variants:
    """Alternatives that are alike but for a text and a part: `body` for each of the rows.

    The core is given them at once; `cfgmask.grammar.variants` makes a `Choice` of them.

    body  symbols, of which each slot is one, once
    """

    body: tuple[Expr, ...]
    rows: Rows


Expr: TypeAlias = Terminal | TokenSet | RuleRef | Sequence | Choice | Repeat | Guarded | Part | Variants | Slot


@dataclass(frozen=True)
class Scope:
    """What may stand between the lexemes of the rules that belong to it.

    A Lark grammar is one scope; every `%json` block has its own.

    ignore       terminals that are skipped before a terminal of this scope
    ignore_once  at most one skip per gap (for bounded whitespace); otherwise any number
    """

    name: str
    ignore: tuple[Terminal, ...] = ()
    ignore_once: bool = False


@dataclass(frozen=True)
class Indenter:
    """How newlines become indentation, as with Lark's class of that name; docs/semantics.md has the rules.

    newline  the terminal with that role. Inside of brackets its lexemes are ignored text of `scope`
    scope    that of the rules which are indented
    tab_len  how many blanks a tab counts for
    """

    newline: Terminal
    scope: int = 0
    tab_len: int = 8


@quick_init
@dataclass(frozen=True)
class Rule:
    """One rule.

    scope       index into `GrammarIR.scopes`
    opens_set   each text of it is a list of its own to `distinct` terminals. It must not be left-recursive
    parametric  every use of it has an argument, which is its parameter; the start rule is not parametric
    capture     the name under which its texts are captured; None: they are not
    temperature  the sampling temperature that callers are told of inside of it
    max_tokens  how many tokens may have bytes of one text of it; None: any number
    json        whether the value of its capture is that of its text, which is JSON
    """

    name: str
    body: Expr
    scope: int = 0
    span: Span | None = field(default=None, compare=False)
    opens_set: SetBounds | None = None
    parametric: bool = False
    capture: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    json: bool = False

    @property
    def shown_name(self) -> str:
        """The name in the text that defines the rule: that of a grammar inside another one begins with its place."""
        return _INNER_PREFIX.sub("", self.name)


@dataclass(frozen=True)
class GrammarIR:
    """A whole grammar. Every `RuleRef` in it has a rule, rule names are unique.

    lexer           "longest" or "complete", see docs/semantics.md
    ignore_initial  whether the start rule's scope may skip before the first terminal
    ignore_final    whether it may skip after the last one
    indenter        what the roles of terminals come to, with the lexer "longest" only; None: nothing
    notes           warnings and annotations that do not stop the grammar from being used
    """

    rules: tuple[Rule, ...]
    start: str
    scopes: tuple[Scope, ...] = (Scope("main"),)
    lexer: Literal["longest", "complete"] = "longest"
    ignore_initial: bool = True
    ignore_final: bool = True
    indenter: Indenter | None = None
    notes: tuple[Diagnostic, ...] = ()
