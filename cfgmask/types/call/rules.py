"""From shapes to rules: which texts are calls of the constructors of a type."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from dataclasses import replace

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import (
    Choice,
    Expr,
    GrammarIR,
    Part,
    Repeat,
    Rule,
    RuleRef,
    Scope,
    Sequence,
    SetBounds,
    Terminal,
)
from cfgmask.grammar.productive import productive_rules, without_nonproductive
from cfgmask.grammar.reachable import without_unreachable
from cfgmask.grammar.regex_tree import Alternation, KeySet, RegexTree, text
from cfgmask.json_schema import schema_part
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.limits import Limits
from cfgmask.types.call.literals import as_literals
from cfgmask.types.call.python_string import NoLiteralError
from cfgmask.types.call.tree import Call, Field, Fixed, Items, Leaf, Names, OneOf, Pairs, Record, Shape

# A register of keys takes these for values that are no strings.
_NOT_STRINGS = frozenset({"null", "true", "false", "None", "True", "False"})


def call_grammar(shape: Shape, options: JsonSchemaOptions, limits: Limits) -> GrammarIR:
    """The grammar of a shape's texts, with ", " and ": " as `repr` has them.

    Keyword arguments come in any order, once each, after positional ones in theirs.
    Errors: GrammarError for what a literal cannot be written of, and where no text is left; LimitExceeded.
    Cost: of a class with n fields, n² rules' parts: after each positional argument, those that are left may have names.
    """
    writer = _Writer(options, limits)
    start = Rule("start", writer.value(shape))
    writer.finish()
    grammar = GrammarIR(
        (start, *writer.rules),
        "start",
        (Scope("call"),),
        ignore_initial=False,
        ignore_final=False,
        notes=tuple(writer.notes),
    )
    live = productive_rules(grammar)
    if "start" not in live:
        message = "no value of the type can be written: each holds another one, without end"
        raise GrammarError([Diagnostic("type-unsupported", message)])
    return without_unreachable(without_nonproductive(grammar, live))


def _fixed(written: str) -> Terminal:
    return Terminal(f'"{written}"', text(written))


_COMMA, _COLON, _EQUALS, _CLOSE = _fixed(", "), _fixed(": "), _fixed("="), _fixed(")")


class _Writer:
    def __init__(self, options: JsonSchemaOptions, limits: Limits) -> None:
        self.rules: list[Rule] = []
        self.notes: list[Diagnostic] = []
        self._options = options
        self._limits = limits
        self._names: dict[int, str] = {}
        self._shapes: list[Shape] = []  # those with names, which live as long as their ids are used
        self._waiting: list[Call | Record] = []

    def finish(self) -> None:
        """Write the rules of the classes that were met."""
        while self._waiting:
            shape = self._waiting.pop()
            name = self._names[id(shape)]
            if isinstance(shape, Call):
                self._call(shape, name)
            else:
                opened = self._set(f"{name}.keys", shape.fields, "}", _COLON)
                self._add(name, Sequence((_fixed("{"), opened)))

    def value(self, shape: Shape) -> Expr:
        """A value of a shape."""
        if isinstance(shape, OneOf):
            return Choice(tuple(map(self.value, shape.parts)))
        if isinstance(shape, Names):
            names = tuple(name.encode() for name in shape.members)
            return Terminal(
                " | ".join(list(shape.members)[:8]), text(names[0].decode()) if len(names) == 1 else KeySet(names)
            )
        if id(shape) not in self._names:
            self._shapes.append(shape)
            is_class = isinstance(shape, (Call, Record))
            stem = shape.name if isinstance(shape, (Call, Record)) else type(shape).__name__.lower()
            self._names[id(shape)] = f"{stem}#{len(self._names)}"
            if is_class:
                self._waiting.append(shape)  # type: ignore[arg-type]  # one of them
            else:
                self._add(self._names[id(shape)], self._body(shape))
        return RuleRef(self._names[id(shape)])

    def _add(self, name: str, body: Expr, opens_set: SetBounds | None = None) -> Expr:
        self.rules.append(Rule(name, body, opens_set=opens_set))
        return RuleRef(name)

    def _body(self, shape: Shape) -> Expr:
        if isinstance(shape, Leaf):
            return self._leaf(shape)
        if isinstance(shape, Fixed):
            return self._tuple([self.value(item) for item in shape.items])
        if isinstance(shape, Pairs):
            pair = Sequence((self.value(shape.key), _COLON, self.value(shape.value)))
            return Choice((_fixed("{}"), Sequence((_fixed("{"), _list_of(pair, 1, None), _fixed("}")))))
        assert isinstance(shape, Items)
        return self._items(shape)

    def _items(self, shape: Items) -> Expr:
        item, least, most = self.value(shape.item), shape.minimum, shape.maximum
        if shape.written == "list":
            return _bracketed("[", item, least, most, "]")
        if shape.written == "tuple":
            choices: list[Expr] = [_fixed("()")] if least == 0 else []
            if least <= 1 and most != 0:
                choices.append(Sequence((_fixed("("), item, _fixed(",)"))))
            if most is None or most > 1:
                choices.append(Sequence((_fixed("("), _list_of(item, max(least, 2), most), _CLOSE)))
            return Choice(tuple(choices))
        before, after = ("frozenset({", "})") if shape.written == "frozenset" else ("{", "}")
        full = Sequence((_fixed(before), _list_of(item, 1, None), _fixed(after)))
        return Choice((_fixed(f"{shape.written}()"), full))

    def _tuple(self, items: SequenceOf[Expr]) -> Expr:
        if not items:
            return _fixed("()")
        if len(items) == 1:
            return Sequence((_fixed("("), items[0], _fixed(",)")))
        parts: list[Expr] = [_fixed("("), items[0]]
        for item in items[1:]:
            parts += [_COMMA, item]
        return Sequence((*parts, _CLOSE))

    def _leaf(self, leaf: Leaf) -> Expr:
        """The literals of a JSON Schema: the rules of its JSON without white space, in another form."""
        options = replace(self._options, whitespace="compact")
        if leaf.dialect is not None:
            options = replace(options, pattern_dialect=leaf.dialect)
        part = schema_part(leaf.schema, self._names[id(leaf)], options=options, limits=self._limits)
        assert isinstance(part, Part), "a terminal stands for bytes that are missing"
        try:
            inner = as_literals(part.lower(f"{self._names[id(leaf)]}."))
        except NoLiteralError as error:
            message = f"strings of {error} cannot be written as literals of Python"
            raise GrammarError([Diagnostic("type-unsupported", message)]) from None
        self.notes += part.notes()
        self.rules += (replace(rule, scope=0) for rule in inner.rules)
        return RuleRef(inner.start)

    # ---- calls

    def _call(self, shape: Call, name: str) -> None:
        places = [field for field in shape.fields if field.positional]
        by_name = [field for field in shape.fields if not field.positional]
        # From the last place on: what may come after so many arguments without names.
        following: Expr = Choice(())
        for n in range(len(places), -1, -1):
            left = [*places[n:], *by_name]
            named = self._set(f"{name}.{n}", left, ")", _EQUALS, may_be_empty=n == 0)
            if n == len(places):
                following = named
                continue
            rest = places[n + 1 :] + by_name
            after: list[Expr] = [Sequence((_COMMA, following))] if rest else []
            if not any(field.required for field in rest):
                after.append(_CLOSE)
            without = Sequence((self.value(places[n].shape), Choice(tuple(after))))
            following = self._add(f"{name}.from{n}", Choice((named, without)))
        self._add(name, Sequence((_fixed(f"{shape.name}("), following)))

    def _set(self, name: str, fields: list[Field], close: str, between: Terminal, *, may_be_empty: bool = True) -> Expr:
        """Members by their names, in any order and each once, and what closes them."""
        is_call = between is _EQUALS
        closing = replace(_fixed(close), closes_set=True)
        if any(field.name in _NOT_STRINGS for field in fields):
            return self._in_order(name, fields, closing, is_call, may_be_empty)
        members = [
            Sequence((replace(_key_of(field, is_call), distinct=True), between, self.value(field.shape)))
            for field in fields
        ]
        required = tuple(field.name for field in fields if field.required)
        body: Expr = Sequence(
            (Choice(tuple(members)), Repeat(Sequence((_COMMA, Choice(tuple(members)))), 0, None), closing)
        )
        if may_be_empty and not required:
            body = Choice((_fixed(close), body)) if members else _fixed(close)
        return self._add(name, body, SetBounds(required=required))

    def _in_order(self, name: str, fields: list[Field], closing: Terminal, is_call: bool, may_be_empty: bool) -> Expr:
        """The same in the order of the fields alone, where a name is one that the register of names cannot hold."""
        closing = replace(closing, closes_set=False)
        between = _EQUALS if is_call else _COLON
        # What may follow a member: the rest, from each place on.
        rest: Expr = closing
        for n in range(len(fields) - 1, -1, -1):
            field = fields[n]
            member = Sequence((_key_of(field, is_call), between, self.value(field.shape)))
            later = self._add(f"{name}.after{n}", Sequence((_COMMA, member, rest)))
            self._add(f"{name}.first{n}", Sequence((member, rest)))
            rest = later if field.required else Choice((later, rest))
        starts: list[Expr] = []
        for n, field in enumerate(fields):
            starts.append(RuleRef(f"{name}.first{n}"))
            if field.required:
                break
        if may_be_empty and not any(field.required for field in fields):
            starts.append(closing)
        return Choice(tuple(starts))


def _key_of(field: Field, is_call: bool) -> Terminal:
    if is_call:
        return Terminal(field.name, text(field.name))
    regex: RegexTree = Alternation((text(f"'{field.name}'"), text(f'"{field.name}"')))
    return Terminal(f"'{field.name}'", regex)


def _list_of(item: Expr, minimum: int, maximum: int | None) -> Expr:
    """At least one item, with commas between them."""
    more = Repeat(Sequence((_COMMA, item)), max(minimum - 1, 0), None if maximum is None else maximum - 1)
    return Sequence((item, more))


def _bracketed(before: str, item: Expr, minimum: int, maximum: int | None, after: str) -> Expr:
    empty: Iterable[Expr] = (_fixed(before + after),) if minimum == 0 else ()
    if maximum == 0:
        return Choice(tuple(empty))
    return Choice((*empty, Sequence((_fixed(before), _list_of(item, minimum, maximum), _fixed(after)))))
