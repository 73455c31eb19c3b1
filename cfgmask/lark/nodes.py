"""The syntax of a grammar, as it was written: what `reader` makes and `names`, `terminals` and `rules` read.

Nodes compare by identity, and nothing changes them: they are not frozen only because a frozen one takes three times as
long to be made, which was a twentieth of reading a grammar.
Trees of expressions may be as deep as `Limits.max_nesting`: walk them with `fold`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, TypeAlias, TypeVar

from cfgmask.diagnostics import Span
from cfgmask.grammar.parameters import Argument, Condition

# The rule that every text is, unless the caller names another.
START = "start"


@dataclass(eq=False)
class Name:
    """A use of a rule or terminal; `argument` is what stands after `::`."""

    text: str
    span: Span
    argument: Argument | None = None


@dataclass(eq=False)
class String:
    """`value` is the text that it stands for, escapes resolved."""

    value: str
    ignore_case: bool
    span: Span


@dataclass(eq=False)
class Pattern:
    """A regex between slashes; `body` is the span of what stands between them."""

    flags: str
    body: Span
    span: Span


@dataclass(eq=False)
class CharacterRange:
    """`"a".."z"` as code points, both included."""

    first: int
    last: int
    span: Span


@dataclass(eq=False)
class SpecialTokens:
    """`<name>` (then `names` has it) or `<[...]>`; the fields are those of `ir.TokenSet`."""

    names: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    negated: bool
    span: Span


@dataclass(eq=False)
class JsonBlock:
    """`%json {...}`; `value` is the span of the braces and what is between them."""

    value: Span
    span: Span


@dataclass(eq=False)
class LarkBlock:
    """`%lark {...}`; `value` is the span of the braces and what is between them."""

    value: Span
    span: Span


@dataclass(eq=False)
class Subgrammar:
    """`@name`"""

    name: str
    span: Span


@dataclass(eq=False)
class RegexBlock:
    """`%regex {...}`; `value` is the span of the braces and what is between them."""

    value: Span
    span: Span


@dataclass(eq=False)
class TemplateUse:
    """`name{argument, ...}`; `template` is the span of the name."""

    name: str
    arguments: tuple[Expression, ...]
    template: Span
    span: Span


@dataclass(eq=False)
class Invalid:
    """In place of an expression about which an error was reported, so that the others can be found too."""

    span: Span


@dataclass(eq=False)
class Sequence:
    """The parts in order; no parts: the empty text."""

    parts: tuple[Expression, ...]
    span: Span


@dataclass(eq=False)
class Choice:
    """`|`"""

    parts: tuple[Expression, ...]
    span: Span


@dataclass(eq=False)
class Intersection:
    """`&`"""

    parts: tuple[Expression, ...]
    span: Span


@dataclass(eq=False)
class Complement:
    """`~`"""

    body: Expression
    span: Span


@dataclass(eq=False)
class Repeat:
    """`?`, `*`, `+`, `[...]`, `{n,m}` and `~n..m`; `maximum` None is without bound."""

    body: Expression
    minimum: int
    maximum: int | None
    span: Span


@dataclass(eq=False)
class Alias:
    """`body -> name`, which changes a parse tree and not the language."""

    body: Expression
    name: str
    span: Span


@dataclass(eq=False)
class Conditional:
    """`body %if condition`; `condition_span` is the place of the condition."""

    body: Expression
    condition: Condition
    condition_span: Span
    span: Span


Inner: TypeAlias = JsonBlock | LarkBlock | Subgrammar
Leaf: TypeAlias = Name | String | Pattern | CharacterRange | SpecialTokens | RegexBlock | Inner | Invalid
Expression: TypeAlias = (
    Leaf | TemplateUse | Sequence | Choice | Intersection | Complement | Repeat | Alias | Conditional
)


@dataclass(eq=False)
class Attributes:
    """What stands in the brackets after a rule's name.

    lazy           the rule ends as soon as it matches
    suffix, stop   it ends with the first match of this; `stop` may be the empty string: with an end token
    max_chars      how many characters its body may have
    max_tokens     how many tokens one text of it may lie in
    capture        the name of the capture that it is
    stop_capture   that of the capture that its suffix or stop is
    temperature    what a caller is told of inside of it
    json           the value of its capture is that of the JSON that it matches
    """

    lazy: bool = False
    suffix: Expression | None = None
    stop: Expression | None = None
    max_chars: int | None = None
    max_tokens: int | None = None
    capture: str | None = None
    stop_capture: str | None = None
    temperature: float | None = None
    json: bool = False

    @property
    def ends(self) -> tuple[Expression, ...]:
        """The expressions among the values."""
        return tuple(end for end in (self.suffix, self.stop) if end is not None)

    @property
    def one_terminal(self) -> str | None:
        """An attribute that makes the rule's body one terminal, if there is one. `max_tokens` does so where it can."""
        if self is NO_ATTRIBUTES:
            return None
        if self.lazy:
            return "lazy"
        names = ("suffix", "stop", "max_chars")
        return next((name for name in names if getattr(self, name) is not None), None)


NO_ATTRIBUTES = Attributes()


@dataclass(eq=False)
class Definition:
    """A rule or, if `is_terminal`, a terminal. `span` is that of its name.

    parameters  those of a template; none: the rule is no template
    priority    as Lark has it: of a terminal, among those that end together; of a rule, among parse trees
    parametric  whether it is written `name::_`
    is_shared   whether it is a terminal that other grammars have as well, with the same definitions of what it uses
    """

    name: str
    is_terminal: bool
    body: Expression
    span: Span
    parameters: tuple[Name, ...] = ()
    priority: int = 0
    attributes: Attributes = NO_ATTRIBUTES
    parametric: bool = False
    is_shared: bool = False

    @cached_property
    def uses(self) -> tuple[Name | TemplateUse | Conditional, ...]:
        """Every node of the body and of the attributes' values that asks for something outside of it, in order.

        The core, which makes most definitions, has found them by then.
        """
        ends = () if self.attributes is NO_ATTRIBUTES else self.attributes.ends
        return tuple(
            node
            for expression in (self.body, *ends)
            for node in walk(expression)
            if isinstance(node, (Name, TemplateUse, Conditional))
        )

    @cached_property
    def used_names(self) -> frozenset[str]:
        """The names of rules and terminals in it."""
        return frozenset(
            node.text if isinstance(node, Name) else node.name
            for node in self.uses
            if not isinstance(node, Conditional)
        )


@dataclass(eq=False)
class Ignore:
    """`%ignore body`"""

    body: Expression
    span: Span


@dataclass(eq=False)
class Change:
    """`%override definition` or `%extend definition`."""

    kind: Literal["override", "extend"]
    definition: Definition
    span: Span


@dataclass(eq=False)
class Declaration:
    """`%declare NAME`: a name that something outside of the grammar gives a meaning."""

    name: str
    span: Span


@dataclass(eq=False)
class Import:
    """`%import module.name -> alias`; `alias` is `name` where none is given. One for each name of a list.

    module       the parts of its path, without the name
    is_relative  whether it is a file beside the grammar's own
    path         the place of the module
    span         the place of the name that it has here
    """

    module: tuple[str, ...]
    is_relative: bool
    name: str
    alias: str
    path: Span
    span: Span


@dataclass(eq=False)
class Options:
    """`%cfgmask {...}` or, if `of_llguidance`, `%llguidance {...}`; `value` spans the braces."""

    value: Span
    span: Span
    of_llguidance: bool = False


Statement: TypeAlias = Definition | Change | Declaration | Ignore | Import | Options


@dataclass(eq=False)
class Document:
    """A grammar text, read.

    place              where the text begins
    defined_elsewhere  names that statements with errors would have defined, so that their uses are not reported too
    """

    place: Span
    definitions: tuple[Definition, ...] = ()
    changes: tuple[Change, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    ignores: tuple[Ignore, ...] = ()
    imports: tuple[Import, ...] = ()
    options: tuple[Options, ...] = ()
    defined_elsewhere: frozenset[str] = frozenset()


T = TypeVar("T")


def children(node: Expression) -> tuple[Expression, ...]:
    """The parts of an expression, in order; none for a leaf."""
    parts = _PARTS.get(type(node))
    return () if parts is None else parts(node)


def _body(node: Complement | Repeat | Alias | Conditional) -> tuple[Expression, ...]:
    return (node.body,)


_PARTS: dict[type, Callable[[Any], tuple[Expression, ...]]] = {
    **dict.fromkeys((Sequence, Choice, Intersection), attrgetter("parts")),
    **dict.fromkeys((Complement, Repeat, Alias, Conditional), _body),
    TemplateUse: attrgetter("arguments"),
}


def with_children(node: Expression, parts: SequenceOf[Expression]) -> Expression:
    """The node with other parts; itself where they are the same."""
    if all(new is old for new, old in zip(parts, children(node), strict=True)):
        return node
    if isinstance(node, (Sequence, Choice, Intersection)):
        return replace(node, parts=tuple(parts))
    if isinstance(node, TemplateUse):
        return replace(node, arguments=tuple(parts))
    assert isinstance(node, (Complement, Repeat, Alias, Conditional))
    return replace(node, body=parts[0])


def fold(root: Expression, combine: Callable[[Expression, list[T]], T]) -> T:
    """Combine a tree from its leaves up: `combine(node, results of its children)`. No recursion; linear."""
    if type(root) not in _PARTS:
        return combine(root, [])  # as many are
    # Parents first and the last child before the others is backwards the order of combining.
    order: list[tuple[Expression, int]] = []
    pending = [root]
    while pending:
        node = pending.pop()
        parts = _PARTS.get(type(node))
        found = () if parts is None else parts(node)
        order.append((node, len(found)))
        pending += found
    results: list[T] = []
    for node, n_parts in reversed(order):
        if n_parts:
            results[-n_parts:] = [combine(node, results[-n_parts:])]
        else:
            results.append(combine(node, []))
    return results[0]


def walk(root: Expression) -> Iterator[Expression]:
    """Every node of a tree, in the order of the text, parents first."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if (parts := _PARTS.get(type(node))) is not None:
            pending += parts(node)[::-1]


def spelling(node: Expression) -> str:
    """How the grammar writes an expression."""
    return node.span.source.text[node.span.start : node.span.end]


def renamed(definition: Definition, name: str, rename: Callable[[str], str]) -> Definition:
    """A copy under another name, in which all names but those of its parameters are replaced."""
    own = {parameter.text for parameter in definition.parameters}

    def combine(node: Expression, parts: list[Expression]) -> Expression:
        if isinstance(node, Name) and node.text not in own:
            return replace(node, text=rename(node.text))
        node = with_children(node, parts)
        if isinstance(node, TemplateUse) and node.name not in own:
            return replace(node, name=rename(node.name))
        return node

    def folded(end: Expression | None) -> Expression | None:
        return None if end is None else fold(end, combine)

    attributes = definition.attributes
    if attributes.ends:
        attributes = replace(attributes, suffix=folded(attributes.suffix), stop=folded(attributes.stop))
    return replace(definition, name=name, body=fold(definition.body, combine), attributes=attributes)
