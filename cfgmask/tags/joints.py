"""The lexer of a structural tag: "longest", which is fast, if it means the same as "complete".

It does if no byte can both go on with a lexeme and begin the next one. Inside of JSON values this is so; so for this
question a value is only what it begins and ends with. Fixed texts may be cut into several lexemes where that helps:
with "complete" this changes nothing, and a newline between calls may begin the text after the last call, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from typing import Literal as OneOf

from cfgmask.grammar import ir
from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.parts import parts_of
from cfgmask.grammar.regex_tree import Concatenation, KeySet, Literal, Repetition, char_class, text
from cfgmask.grammar.variants import shown_text
from cfgmask.grammar.walk import fold, walk
from cfgmask.regex.boundaries import has_clear_boundaries, unclear_texts
from cfgmask.tags.nodes import Each
from cfgmask.tags.problems import TagProblems

_DIGITS = char_class([(ord("0"), ord("9")), *((ord(c), ord(c)) for c in ".eE+-")])
_NUMBER = Concatenation((char_class([(ord("0"), ord("9")), (ord("-"), ord("-"))]), Repetition(_DIGITS, 0, None)))
_IN_OBJECT = char_class([(ord(c), ord(c)) for c in '" \t\r\n'])
_IN_ARRAY = char_class([(ord(c), ord(c)) for c in '" \t\r\n[{-0123456789tfn'])
_NOTHING = ir.Sequence(())
_QUOTE = '"'


_MOST_ROUNDS = 8


Cuts: TypeAlias = frozenset[tuple[bytes, int]]


@dataclass(frozen=True)
class Joints:
    """How the texts of a grammar are cut into lexemes.

    lexer  of the grammar
    cuts   fixed texts, and after how many bytes they are cut; so are texts that these begin with, such as what is left
           of them before a marker that is written by id
    """

    lexer: OneOf["longest", "complete"]
    cuts: Cuts = frozenset()


class Shadows:
    """For each embedded rule, content that begins and ends as it does.

    bodies  by the name of the rule
    shared  rules that bodies refer to: many values are alike
    """

    def __init__(self) -> None:
        self.bodies: dict[str, ir.Expr] = {}
        self.shared: dict[str, ir.Rule] = {}
        self._texts: dict[str, list[bytes]] = {}
        self._rows: dict[int, Each] = {}
        self._slots: dict[int, dict[str, ir.Expr]] = {}
        self._needs_longest: list[str | None] = []
        self._needs_complete = False

    def json(self, start: str, names: Iterable[str], type: Any) -> None:
        """Note a value of a JSON Schema whose keyword `type` has this value. `names` are those of all of its rules."""
        self.opaque(start, names)
        self.bodies[start] = self._json(_kinds(type))

    def _json(self, kinds: frozenset[str]) -> ir.Expr:
        name = "%json " + " ".join(sorted(kinds))
        if name not in self.shared:
            self.shared[name] = ir.Rule(name, _json_value(kinds))
        return ir.RuleRef(name)

    def rows(self, rows: ir.Rows, node: Each) -> None:
        """Note rows of a node, whose parts are values in JSON or in a form with clear ends."""
        self._rows[id(rows)] = node

    def _slots_of(self, rows: int, node: Each) -> dict[str, ir.Expr]:
        """Expressions for the slots of rows: one for the names of all tools, one for all their arguments."""
        if rows not in self._slots:
            name = f"%texts {node.marks[0]}"
            self._texts.setdefault(name, []).extend(text.encode() for text in node.rows.texts)
            part: ir.Expr = _NOTHING
            if node.rows.node(0).form == "json":
                part = self._json(frozenset[str]().union(*map(_kinds, node.rows.types())))
            self._slots[rows] = {"text": ir.RuleRef(name), "part": part}
        return self._slots[rows]

    def bare(self, body: ir.Expr) -> ir.Expr:
        """A body without limits, and without parts that stand in two places: each has its own surroundings there."""
        if isinstance(body, ir.Terminal):
            return replace(body, max_tokens=None)
        if isinstance(body, (ir.Sequence, ir.Choice)):
            return replace(body, parts=tuple(map(self.bare, body.parts)))
        if isinstance(body, ir.Variants):
            slots = self._slots_of(id(body.rows), self._rows[id(body.rows)])
            return ir.Sequence(
                tuple(replace(slots[part.of]) if isinstance(part, ir.Slot) else self.bare(part) for part in body.body)
            )
        return replace(body, body=self.bare(body.body)) if isinstance(body, (ir.Repeat, ir.Guarded)) else replace(body)

    def text(self, rule: str, mark: str, value: str) -> None:
        """Note a text under a mark: the names of tools are alike."""
        name = f"%texts {mark}"
        texts = self._texts.setdefault(name, [])
        texts.append(value.encode())
        self.bodies[rule] = ir.RuleRef(name)

    def rules(self) -> list[ir.Rule]:
        """The rules that bodies refer to."""
        for rows, node in self._rows.items():
            self._slots_of(rows, node)
        texts = (ir.Rule(name, ir.Terminal(name, KeySet(tuple(found)))) for name, found in self._texts.items())
        return [*self.shared.values(), *texts]

    def opaque(self, start: str, names: Iterable[str]) -> None:
        """Note rules whose ends are clear whatever is around them."""
        self.bodies.update(dict.fromkeys(names, _NOTHING))
        self.bodies[start] = _NOTHING

    def grammar(self, start: str, grammar: ir.GrammarIR, at: str | None) -> None:
        """Note a grammar of its own. Its rules count as they are if either lexer fits them."""
        is_known = not parts_of(grammar) and not any(scope.ignore for scope in grammar.scopes)
        if is_known and (grammar.lexer == "complete" or has_clear_boundaries(_bare(grammar, Shadows()))):
            return
        prefix = start[: len(start) - len(grammar.start)]
        self.opaque(start, [prefix + rule.name for rule in grammar.rules])
        if grammar.lexer == "longest":
            self._needs_longest.append(at)
        else:
            self._needs_complete = True

    def chosen(self, clear: Cuts | None, problems: TagProblems) -> Joints:
        """The joints for the whole grammar; reports errors if no lexer suits all of it.

        clear  the cuts with which all boundaries are clear; None: there are none
        """
        if not self._needs_longest:
            return Joints("complete") if clear is None or self._needs_complete else Joints("longest", clear)
        if clear is None or self._needs_complete:
            message = 'this grammar has the lexer "longest", and other content of the structural tag needs "complete"'
            for at in self._needs_longest:
                problems.error("tag-lexer", message, at, 'write `%cfgmask {"lexer": "complete"}` in the grammar')
        return Joints("longest", clear or frozenset())


def joints_of(grammar: ir.GrammarIR, shadows: Shadows, problems: TagProblems) -> Joints:
    """The joints of rules that were lowered. Cost: that of `has_clear_boundaries`, a few times."""
    return shadows.chosen(_clear(grammar, shadows), problems)


def with_joints(grammar: ir.GrammarIR, shadows: Shadows, joints: Joints) -> ir.GrammarIR:
    """The grammar with these joints. Linear."""
    return replace(_cut(grammar, shadows, joints.cuts), lexer=joints.lexer)


def _clear(grammar: ir.GrammarIR, shadows: Shadows) -> Cuts | None:
    """Where fixed texts are cut so that all boundaries are clear; None if that was not found."""
    cuts: Cuts = frozenset()
    for _ in range(_MOST_ROUNDS):
        bare = _bare(_cut(grammar, shadows, cuts), shadows)
        unclear = unclear_texts(bare)
        if not unclear:
            return None if unclear is None else cuts
        if unclear <= cuts:
            return None
        cuts |= unclear
    return None


def _cut(grammar: ir.GrammarIR, shadows: Shadows, cuts: Cuts) -> ir.GrammarIR:
    """The rules with fixed texts cut; not those that have shadows."""
    if not cuts:
        return grammar

    def combine(expr: ir.Expr, operands: list[ir.Expr]) -> ir.Expr:
        if not isinstance(expr, ir.Terminal) or expr != ir.Terminal(expr.name, expr.regex):
            return with_operands(expr, operands)
        pieces = _pieces(expr, cuts)
        return expr if len(pieces) == 1 else ir.Sequence(tuple(pieces))

    def cut(rule: ir.Rule) -> ir.Rule:
        return rule if rule.name in shadows.bodies else replace(rule, body=fold(rule.body, combine))

    return replace(grammar, rules=tuple(map(cut, grammar.rules)))


def _pieces(terminal: ir.Terminal, cuts: Cuts) -> list[ir.Terminal]:
    if not isinstance(terminal.regex, Literal):
        return [terminal]
    data = terminal.regex.data
    places = sorted({length for whole, length in cuts if length < len(data) and whole.startswith(data)})
    if not places:
        return [terminal]
    pieces = (data[start:end] for start, end in zip((0, *places), (*places, len(data)), strict=True))
    return [replace(terminal, name=shown_text(piece.decode()), regex=Literal(piece)) for piece in pieces]


def _bare(grammar: ir.GrammarIR, shadows: Shadows) -> ir.GrammarIR:
    """The rules with their shadows, without limits on tokens, which leave out texts and change no others.

    Of alternatives that are alike then, such as many tools, one is left.
    """
    found = {rule.name: rule.body for rule in (*grammar.rules, *shadows.rules())} | shadows.bodies
    alias: dict[str, object] = {}
    rules: dict[str, ir.Rule] = {}
    pending = [grammar.start]
    while pending:
        name = pending.pop()
        if name in rules:
            continue
        body = found[name]
        if isinstance(body, ir.Choice):
            body = ir.Choice(tuple({_shape(part, alias, found): part for part in body.parts}.values()))
        rules[name] = ir.Rule(name, shadows.bare(body))
        pending += [expr.name for expr in walk(rules[name].body) if isinstance(expr, ir.RuleRef)]
    return ir.GrammarIR(tuple(rules.values()), grammar.start)


def _alias(name: str, alias: dict[str, object], found: dict[str, ir.Expr]) -> object:
    """Equal only for rules that mean the same."""
    known = alias.get(name)
    if known is None:
        last, body = name, found[name]
        while isinstance(body, ir.RuleRef):
            last, body = body.name, found[body.name]
        known = alias[name] = _shape(body, alias, found) if isinstance(body, ir.Terminal) else last
    return known


def _shape(expr: ir.Expr, alias: dict[str, object], found: dict[str, ir.Expr]) -> object:
    """Equal only for expressions that mean the same."""
    if isinstance(expr, ir.RuleRef) and expr.argument is None:
        return _alias(expr.name, alias, found)
    if isinstance(expr, ir.Terminal) and expr.max_tokens is None:
        return expr.regex.data if isinstance(expr.regex, Literal) else id(expr.regex)
    if isinstance(expr, ir.Sequence):
        return tuple(_shape(part, alias, found) for part in expr.parts)
    return id(expr)


_ALL_KINDS = frozenset(("array", "boolean", "null", "number", "object", "string"))


def _kinds(kinds: Any) -> frozenset[str]:
    """The types of values that a schema may allow, as far as its `type` tells."""
    named = {kinds} if isinstance(kinds, str) else kinds if isinstance(kinds, list) else _ALL_KINDS
    return frozenset("number" if kind == "integer" else str(kind) for kind in named) & _ALL_KINDS or _ALL_KINDS


def _json_value(kinds: frozenset[str]) -> ir.Expr:
    values: list[ir.Expr] = []
    if "string" in kinds:
        values.append(ir.Sequence((_terminal(_QUOTE), _terminal(_QUOTE))))
    for kind, opened, closed, inside in (("object", "{", "}", _IN_OBJECT), ("array", "[", "]", _IN_ARRAY)):
        if kind in kinds:
            # What a text around could go on with where the bracket ends.
            first = ir.Repeat(ir.Terminal("first", inside), 0, 1)
            values.append(ir.Sequence((_terminal(opened), first, _terminal(closed))))
    words = {"boolean": ("true", "false"), "null": ("null",)}
    values += [_terminal(word) for kind, written in words.items() if kind in kinds for word in written]
    if "number" in kinds:
        values.append(ir.Terminal("number", _NUMBER))
    return ir.Choice(tuple(values))


def _terminal(written: str) -> ir.Terminal:
    return ir.Terminal(written, text(written))
