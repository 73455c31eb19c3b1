"""Values in the blocks of YAML: a pass over the finished grammar of the same values in JSON.

A rule of that grammar is a value, or the rest of an object or array together with its closing bracket. Each is written
anew for every form that it is used in: its block begins where the text stands or on a line of its own, or has begun.
How far lines are indented is a parameter of the rules, the *column*, so that they are not written again for each depth.
Of a value it is where its block begins or, behind a key, where that key stands; of a rest it is where its lines begin.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import (
    NO_STEP,
    Choice,
    Expr,
    GrammarIR,
    Guarded,
    Repeat,
    Rule,
    RuleRef,
    Scope,
    Sequence,
    Terminal,
)
from cfgmask.grammar.parameters import Bits, Compare, Counted, Masked, Relation
from cfgmask.grammar.regex_tree import Alternation, Concatenation, JsonString, text
from cfgmask.grammar.walk import walk
from cfgmask.json_schema import yaml_scalars
from cfgmask.json_schema.problems import MAX_DEPTH
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.indent import closed_brackets
from tests.reference.json_schema.nesting import is_deeper, least_depth

_DASH = "- "

_Place: TypeAlias = Literal["here", "below", "inside"]


class _Form(NamedTuple):
    """What a rule is written as.

    kind   a value, or the rest of what kind of value
    place  here    its block begins where the text stands
           below   on a line of its own, behind a key
           inside  it has begun
    """

    kind: Literal["value", "object", "array"]
    place: _Place


_WORDS = tuple(word.regex for word in (lexemes.NULL, lexemes.TRUE, lexemes.FALSE))
_NOTHING_WRITTEN = Sequence(())


def in_blocks(grammar: GrammarIR, indent: int) -> GrammarIR:
    """The texts of YAML whose value the grammar writes in JSON.

    grammar  of JSON values without white space, with the keys of an object in the order of its rules
    indent   by how many blanks a block below a key is indented

    Values that are nested deeper than `MAX_DEPTH` are left out, which a note says where there may be any.
    Errors: GrammarError where every value is so deep, or a key is too long for YAML.
    Cost: linear in the rules of the grammar.
    """
    made = _Writer(grammar, indent).written()
    if not is_deeper(grammar, MAX_DEPTH):
        return made
    message = f"values are nested at most {MAX_DEPTH} deep where lines are indented"
    if least_depth(grammar) > MAX_DEPTH:
        raise GrammarError([Diagnostic("schema-indent-depth", message, pointer="", help='use syntax="json"')])
    note = Diagnostic("schema-indent-depth", message, pointer="", severity="note")
    return replace(made, notes=(*made.notes, note))


class _Writer:
    """Writes the rules of a grammar in the forms that they are used in."""

    def __init__(self, grammar: GrammarIR, indent: int) -> None:
        self._grammar = grammar
        self._rules = {rule.name: rule for rule in grammar.rules}
        self._is_rest = {name: closed == 1 for name, closed in closed_brackets(grammar).items()}
        # A column is counted in units of which the blanks behind a dash and behind a key are multiples.
        self._unit = math.gcd(len(_DASH), indent)
        self._below_dash = len(_DASH) // self._unit
        self._below_key = indent // self._unit
        self._deepest = (MAX_DEPTH - 1) * max(self._below_dash, self._below_key)
        self._blank_is_apart = _tells_values_apart(grammar)
        self._names: dict[tuple[str, _Form], str] = {}
        self._todo: list[tuple[str, _Form]] = []
        self._shifts: dict[str, Rule] = {}

    def written(self) -> GrammarIR:
        """The whole grammar."""
        whole = RuleRef(self._name(self._grammar.start, _Form("value", "here")), argument=Masked(0))
        start = Rule("@start", Sequence((whole, Repeat(_fixed("\n"), 0, 1))))
        rules = [start, self._lines("@line", ""), self._lines("@dash", _DASH)]
        while self._todo:
            name, form = self._todo.pop()
            rule = self._rules[name]
            body = self._value(rule.body, form.place) if form.kind == "value" else self._rest(rule.body, form)
            rules.append(replace(rule, name=self._names[name, form], body=body, parametric=True))
        rules += self._shifts.values()
        return replace(
            self._grammar, rules=tuple(rules), start=start.name, scopes=(Scope(self._grammar.scopes[0].name),)
        )

    def _lines(self, name: str, mark: str) -> Rule:
        """A line break, the blanks of the column and a mark."""
        lines = [
            Guarded(_fixed(f"\n{' ' * self._unit * column}{mark}"), self._column("eq", column))
            for column in range(self._deepest + 1)
        ]
        return Rule(name, Choice(tuple(lines)), parametric=True)

    def _column(self, relation: Relation, column: int) -> Compare:
        return Compare(Bits(), relation, column)

    def _name(self, rule: str, form: _Form) -> str:
        found = self._names.get((rule, form))
        if found is None:
            found = self._names[rule, form] = f"{rule}@{form.kind}-{form.place}"
            self._todo.append((rule, form))
        return found

    def _call(self, rule: str, form: _Form, further: int = 0) -> RuleRef:
        """The use of a rule, so many units further to the right."""
        name = self._name(rule, form)
        for i in range(1, further):
            shifted = f"{name}+{i}"
            self._shifts[shifted] = Rule(shifted, _moved(f"{name}+{i - 1}" if i > 1 else name), parametric=True)
        if not further:
            return RuleRef(name, argument=Masked())
        return _moved(f"{name}+{further - 1}" if further > 1 else name)

    def _value(self, expr: Expr, place: _Place, further: int = 0) -> Expr:
        """A value, the first of its lines at this place."""
        if isinstance(expr, RuleRef):
            return self._call(expr.name, _Form("value", place), further)
        if isinstance(expr, Choice):
            return Choice(tuple(self._value(part, place, further) for part in expr.parts))
        if isinstance(expr, Sequence):
            return self._block(expr, place, further)
        assert isinstance(expr, Terminal), "a value is a scalar, or begins with a bracket"
        scalar = _scalar(expr)
        return self._behind_key(scalar) if place == "below" else scalar

    def _behind_key(self, scalar: Terminal) -> Expr:
        """A scalar and the blank before it: one lexeme, unless that of some scalar is compared, without the blank.

        Two scalars that begin alike may both be meant, and the longest lexeme would leave one of them if the blank were
        a lexeme of its own for the other only.
        """
        if self._blank_is_apart:
            return Sequence((_fixed(" "), scalar))
        return replace(scalar, regex=Concatenation((text(" "), scalar.regex)))

    def _block(self, expr: Sequence, place: _Place, further: int) -> Expr:
        """An array or an object."""
        bracket, rest = expr.parts
        assert isinstance(rest, RuleRef), "the rest of it is a rule"
        is_object = lexemes.mark(bracket) == lexemes.OPEN_OBJECT
        form = _Form("object" if is_object else "array", place)
        if place == "here":
            return self._within(self._call(rest.name, form, further), further)
        deeper = self._within(self._call(rest.name, form, further + self._below_key), further + self._below_key)
        # Dashes may stand right below the key.
        return deeper if is_object else Choice((self._within(self._call(rest.name, form, further), further), deeper))

    def _within(self, body: Expr, further: int) -> Expr:
        """A block whose lines begin so many units further to the right, where that is not too far."""
        return Guarded(body, self._column("le", self._deepest - further))

    def _rest(self, expr: Expr, form: _Form) -> Expr:
        """The rest of an object or array."""
        if isinstance(expr, Choice):
            return Choice(tuple(self._rest(part, form) for part in expr.parts))
        if isinstance(expr, Repeat):
            assert form.place == "inside", "what is repeated follows an item"
            return replace(expr, body=self._rest(expr.body, form))
        if isinstance(expr, RuleRef) and self._is_in_rest(expr.name):
            return self._call(expr.name, form)
        if isinstance(expr, Sequence) and expr.parts and lexemes.mark(expr.parts[0]) not in lexemes.OPEN:
            return self._sequence(expr, form)
        if lexemes.mark(expr) == lexemes.COMMA or expr == _NOTHING_WRITTEN:
            return _NOTHING_WRITTEN
        if isinstance(expr, Terminal) and lexemes.mark(expr) in lexemes.CLOSE:
            return self._closing(expr, form)
        return self._item(expr, form)

    def _closing(self, bracket: Terminal, form: _Form) -> Expr:
        """The end of a block; of one that has not begun, an empty value."""
        if form.place == "inside":
            return _NOTHING_WRITTEN
        written = "{}" if form.kind == "object" else "[]"
        empty = replace(bracket, name=json.dumps(written), regex=text(written))
        return self._behind_key(empty) if form.place == "below" else empty

    def _is_in_rest(self, rule: str) -> bool:
        """Whether a rule is the rest of a value, or some of the items in it, and no value."""
        return self._is_rest.get(rule, True) or _is_more(self._rules[rule].body)

    def _sequence(self, expr: Sequence, form: _Form) -> Expr:
        written: list[Expr] = []
        parts = iter(zip(expr.parts, (*expr.parts[1:], None), strict=True))
        for part, following in parts:
            if following is not None and lexemes.mark(following) == lexemes.COLON:
                next(parts)
                value, _ = next(parts)
                written += self._member(part, value, form)
            else:
                written.append(self._rest(part, form))
            if lexemes.mark(part) != lexemes.COMMA:
                form = form._replace(place="inside")
        return Sequence(tuple(part for part in written if part != _NOTHING_WRITTEN))

    def _member(self, key: Expr, value: Expr, form: _Form) -> list[Expr]:
        assert isinstance(key, Terminal), "a key is one lexeme"
        written = replace(key, name=f"{key.name}:", regex=yaml_scalars.key(key.regex))
        line = [] if form.place == "here" else [RuleRef("@line", argument=Masked())]
        return [*line, written, self._value(value, "below")]

    def _item(self, value: Expr, form: _Form) -> Expr:
        dash = _fixed(_DASH) if form.place == "here" else RuleRef("@dash", argument=Masked())
        return Sequence((dash, self._value(value, "here", self._below_dash)))


def _tells_values_apart(grammar: GrammarIR) -> bool:
    """Whether something is compared with what came before it, or is a step of such, that is no key."""
    for rule in grammar.rules:
        parts = list(walk(rule.body))
        keys = {
            id(part)
            for expr in parts
            if isinstance(expr, Sequence)
            for part, following in pairwise(expr.parts)
            if lexemes.mark(following) == lexemes.COLON
        }
        for part in parts:
            if isinstance(part, Terminal) and (part.distinct or part.step != NO_STEP) and id(part) not in keys:
                return True
    return False


def _is_more(expr: Expr) -> bool:
    """Whether what an expression begins with is a further item, with the comma before it, or none."""
    if isinstance(expr, Choice):
        return any(map(_is_more, expr.parts))
    if isinstance(expr, Sequence):
        return not expr.parts or _is_more(expr.parts[0])
    return isinstance(expr, Repeat) or lexemes.mark(expr) == lexemes.COMMA


def _scalar(terminal: Terminal) -> Terminal:
    if terminal.regex in _WORDS:
        return terminal
    is_string = isinstance(terminal.regex, JsonString) or (
        isinstance(terminal.regex, Alternation) and isinstance(terminal.regex.parts[0], JsonString)
    )
    written = yaml_scalars.string if is_string else yaml_scalars.number
    return replace(terminal, regex=written(terminal.regex))


def _moved(rule: str) -> RuleRef:
    return RuleRef(rule, argument=Counted(Bits(), up=True))


def _fixed(lexeme: str) -> Terminal:
    return Terminal(json.dumps(lexeme), text(lexeme))
