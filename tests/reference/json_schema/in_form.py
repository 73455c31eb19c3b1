"""The outermost object of a schema in a form that is not JSON: a pass over the finished grammar of the same values.

As for YAML, a rule of that grammar is a value, or the rest of an object or array together with its closing bracket.
Rules of the outermost object are written anew, and those of values in it where the form has a way of its own for them;
all others stay.

Strings are written without quotes in most forms, so other values may look like strings. The rule: a value is JSON if
its text is JSON that the schema allows there, and otherwise the string of its text. So where any string is allowed, any
text is; where only some strings are, arrays and objects come before those that begin with the same bracket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

from cfgmask.diagnostics import Diagnostic, shortened
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import NO_STEP, Choice, Expr, GrammarIR, Repeat, Rule, RuleRef, Sequence, Terminal, TokenSet
from cfgmask.grammar.productive import productive_rules, without_nonproductive
from cfgmask.grammar.reachable import without_unreachable
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    NOTHING,
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    JsonString,
    KeySet,
    RegexTree,
    Repetition,
    char_class,
    negated,
    text,
)
from cfgmask.grammar.regex_tree import (
    Literal as Fixed,
)
from cfgmask.grammar.white_space import ANY_SPACE
from cfgmask.json_schema.forms import FORMS, Form, keys_without_names
from cfgmask.regex import parse_regex
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.indent import closed_brackets

_Kind: TypeAlias = Literal["string", "number", "boolean", "null", "array", "object"]

_NOTHING_WRITTEN = Sequence(())
_NO_VALUE = Choice(())
_COMPOSITE: tuple[_Kind, ...] = ("array", "object")
_BRACKETS: dict[_Kind, str] = {"array": "[", "object": "{"}
_MOST_SPACE = 64
_SPACE = Repetition(ANY_SPACE, 0, _MOST_SPACE)
_GAP = Terminal("WHITESPACE", _SPACE)
_VARIABLE = re.compile(r"\$(key|string|type|gap)\b")
# What the register of keys does not take for a string.
_READ_OTHERWISE = r"null|true|false|-?[0-9]+(?:\.[0-9]+)?"
_PYTHON_WORDS = {"null": "None", "true": "True", "false": "False"}
_SINGLE_QUOTED = Repetition(negated(char_class([(0, 0x1F), (0x27, 0x27), (0x5C, 0x5C), (0x7F, 0x9F)])), 0, None)


class _Valued(NamedTuple):
    """An alternative of a value."""

    kind: _Kind
    expr: Expr


def in_form(grammar: GrammarIR, form: Form, tokens: Mapping[str, TokenSet]) -> GrammarIR:
    """The texts of the form whose value the grammar writes in JSON; only objects are left in most forms.

    grammar  of JSON values without white space
    tokens   by the markers of the form that are written by id
    Errors: GrammarError if no object is left, if a key cannot be written, or for keys in any order in a form without
    brackets (codes `schema-form…`).
    Cost: linear in the rules.
    """
    writer = _Writer(grammar, form, tokens)
    made = writer.written()
    if writer.problems:
        raise GrammarError(list(writer.problems))
    made = replace(made, notes=(*made.notes, *writer.notes))
    live = productive_rules(made)
    if made.start not in live:
        message = "arguments are an object, and the schema allows none that this form can write"
        raise GrammarError([Diagnostic("schema-form-object", message, pointer="", help='use "type": "object"')])
    return without_unreachable(without_nonproductive(made, live))


class _Writer:
    """Writes the rules of a grammar in a form.

    outer  the writer of the form that values of this one are nested in
    """

    def __init__(
        self, grammar: GrammarIR, form: Form, tokens: Mapping[str, TokenSet], outer: _Writer | None = None
    ) -> None:
        self.problems: dict[Diagnostic, None] = {} if outer is None else outer.problems
        self.notes: dict[Diagnostic, None] = {} if outer is None else outer.notes
        self._grammar = grammar
        self._form = form
        self._suffix = "" if outer is None else "+"
        self._tokens = {marker: found for marker, found in tokens.items() if marker in form.markers}
        self._rules = {rule.name: rule for rule in grammar.rules}
        self._is_rest = {name: closed == 1 for name, closed in closed_brackets(grammar).items()}
        self._key_chars = Repetition(parse_regex(form.key_chars), 1, None)
        self._names: dict[tuple[str, str], str] = {}
        self._todo: list[tuple[_Writer, str, str]] = [] if outer is None else outer._todo
        # Values in this one; None: they stay.
        self._nested: _Writer | None = self
        if form.nested != "same":
            self._nested = None if form.nested == "json" else _Writer(grammar, FORMS[form.nested], tokens, self)

    def written(self) -> GrammarIR:
        """The whole grammar, with rules that nothing needs."""
        values = self._kinds(RuleRef(self._grammar.start))
        body = _choice([self._composite(value.expr, "object") for value in values if value.kind == "object"])
        start = Rule(f"{self._grammar.start}@arguments", body)
        rules = [start]
        while self._todo:
            writer, name, place = self._todo.pop()
            rules.append(writer._rule(self._rules[name], place))
        return replace(self._grammar, rules=(*rules, *self._grammar.rules), start=start.name)

    def _rule(self, rule: Rule, place: str) -> Rule:
        body = self._rest(rule.body) if place == "rest" else self._brackets(rule.body)
        bounds = rule.opens_set
        if bounds is not None:
            required = tuple(map(self._written_key, bounds.required)) if place == "object" else bounds.required
            for name in required:
                if re.fullmatch(_READ_OTHERWISE, name):
                    self._check_key(name, is_readable=False)
            bounds = replace(bounds, endless=False, required=required)
        return replace(rule, name=self._names[rule.name, place], body=body, opens_set=bounds)

    def _check_numbers(self, values: list[_Valued]) -> None:
        """Registers read JSON. Where items have no quotes, they would take `1` and `1.0` for two values."""
        if self._form.strings != "raw" or self._form.nested != "same":
            return
        numbers = [value.expr for value in values if value.kind not in ("string", "boolean", "null", *_COMPOSITE)]
        if any(isinstance(expr, Terminal) and (expr.distinct or expr.step != NO_STEP) for expr in numbers):
            message = "numbers that must differ, or must not, cannot be told apart in a form without quotes"
            self._problem("schema-form-unique", message, "leave out `uniqueItems` and the like, or numbers")

    def _copy(self, rule: str, place: str) -> RuleRef:
        found = self._names.get((rule, place))
        if found is None:
            found = self._names[rule, place] = f"{rule}@{place}{self._suffix}"
            self._todo.append((self, rule, place))
        return RuleRef(found)

    # ---- Values ----

    def _kinds(self, expr: Expr) -> list[_Valued]:
        """The alternatives of a value, by their kinds. Rules of arrays and objects are not looked into."""
        found: list[_Valued] = []
        seen: set[str] = set()
        pending = [expr]
        while pending:
            part = pending.pop()
            if isinstance(part, Choice):
                pending += part.parts[::-1]
            elif isinstance(part, RuleRef):
                rule = self._rules[part.name]
                kind = _bracketed(rule.body)
                if kind is not None:
                    found.append(_Valued(kind, part))
                elif part.name not in seen:
                    seen.add(part.name)
                    pending.append(rule.body)
            elif isinstance(part, Sequence):
                kind = _bracketed(part)
                assert kind is not None, "a value is a scalar, or begins with a bracket"
                found.append(_Valued(kind, part))
            else:
                assert isinstance(part, Terminal), "what is left are scalars"
                found.append(_Valued(_scalar_kind(part), part))
        return found

    def _value(self, values: list[_Valued], end: str) -> Expr:
        """A value and what ends it."""
        self._check_numbers(values)
        strings = [value for value in values if value.kind == "string"]
        others = [value for value in values if value.kind != "string"]
        is_raw = self._form.strings == "raw"
        if is_raw and any(ANY_TEXT in _bodies(value.expr) for value in strings):
            # Any text is a string, or another value that reads better.
            strings, others = [value for value in strings if ANY_TEXT in _bodies(value.expr)][:1], []
        choices = [self._string(value.expr, others, end) for value in strings]
        for kind, expr in others:
            if kind in _COMPOSITE:
                pad = [_GAP] if is_raw and self._form.nested != "same" else []
                inner = expr if self._nested is None else self._nested._composite(expr, kind)
                choices.append(_sequence([*pad, inner, *pad, *self._spelled(end)]))
            else:
                choices.append(self._scalar(expr, end))
        return _choice(choices)

    def _string(self, expr: Expr, others: list[_Valued], end: str) -> Expr:
        assert isinstance(expr, Terminal)
        bodies = _bodies(expr)
        if expr.distinct and self._form.strings == "python":
            return _told_apart(expr, bodies)
        if self._form.strings == "python":
            return replace(expr, regex=_python_string(bodies), endless="")
        body = bodies[0] if len(bodies) == 1 else Alternation(tuple(bodies))
        if self._form.strings == "delimited":
            inside = self._raw(body, self._form.delimiter)
            opened = self._spelled(self._form.delimiter)
            return _sequence([*opened, self._ended(expr, inside, self._form.delimiter), *self._spelled(end)])
        if others:
            body = _without(body, others)
        pad: RegexTree = text(self._form.pad)
        raw = self._raw(body, end)
        if self._form.pad and body is not ANY_TEXT:
            once = Repetition(pad, 0, 1)
            raw = Concatenation((once, raw, once))
        return self._ended(expr, raw, end)

    def _raw(self, body: RegexTree, end: str) -> RegexTree:
        """The texts of a body that do not hold what ends them, or the first marker of it."""
        stop = self._form.stop(end)
        if isinstance(body, Fixed):
            return NOTHING if stop.encode() in body.data else body
        holds = Concatenation((ANY_TEXT, text(stop), ANY_TEXT))
        return Complement(holds) if body == ANY_TEXT else Intersection((body, Complement(holds)))

    def _scalar(self, expr: Expr, end: str) -> Expr:
        """A number or a word."""
        assert isinstance(expr, Terminal)
        regex = expr.regex
        kind = _scalar_kind(expr)
        if kind in ("boolean", "null"):
            regex = self._word(expr)
        if self._form.strings == "raw" and self._form.nested != "same":
            regex = Concatenation((_SPACE, regex, _SPACE))
        return self._ended(expr, regex, end)

    def _word(self, expr: Terminal) -> RegexTree:
        assert isinstance(expr.regex, Fixed)
        python = text(_PYTHON_WORDS[expr.regex.data.decode()])
        if self._form.words == "either":
            # Registers read the words of JSON.
            return expr.regex if expr.distinct else Alternation((expr.regex, python))
        return expr.regex if self._form.words == "json" else python

    def _ended(self, like: Terminal, regex: RegexTree, end: str) -> Expr:
        """A lexeme that takes in the text of what ends it, up to a token."""
        parts = self._spelled(end)
        if parts and isinstance(parts[0], Terminal):
            first = parts.pop(0)
            assert isinstance(first, Terminal)
            regex = Concatenation((regex, first.regex))
        return _sequence([replace(like, regex=regex, endless=""), *parts])

    def _composite(self, expr: Expr, kind: _Kind) -> Expr:
        """An array or object."""
        if isinstance(expr, RuleRef):
            return self._copy(expr.name, kind)
        return self._brackets(expr)

    def _brackets(self, expr: Expr) -> Expr:
        """The body of a rule of arrays or objects."""
        if isinstance(expr, RuleRef):
            return self._composite(expr, _bracketed(self._rules[expr.name].body) or "object")
        if isinstance(expr, Choice):
            return Choice(tuple(map(self._brackets, expr.parts)))
        assert isinstance(expr, Sequence)
        is_object = lexemes.mark(expr.parts[0]) == lexemes.OPEN_OBJECT
        opened = self._around("{" if is_object else "[")
        return _sequence([*opened, self._rest(Sequence(expr.parts[1:]))])

    def _around(self, bracket: str) -> list[Expr]:
        """A bracket of this kind."""
        written = {"{": self._form.open, "}": self._form.close}.get(bracket, bracket)
        return self._spelled("" if self._form.item[0] and bracket in "[]" else written)

    # ---- Objects and arrays ----

    def _rest(self, expr: Expr) -> Expr:
        """The rest of an object or array."""
        if isinstance(expr, Choice):
            return Choice(tuple(map(self._rest, expr.parts)))
        if isinstance(expr, Repeat):
            return replace(expr, body=self._rest(expr.body))
        if isinstance(expr, RuleRef) and self._is_in_rest(expr.name):
            return self._copy(expr.name, "rest")
        if isinstance(expr, Sequence) and (not expr.parts or lexemes.mark(expr.parts[0]) not in lexemes.OPEN):
            return self._sequence(expr)
        mark = lexemes.mark(expr)
        if mark == lexemes.COMMA:
            return _sequence(self._spelled(self._form.separator))
        if isinstance(expr, Terminal) and mark in lexemes.CLOSE:
            return self._closing(expr)
        before, after = self._form.item
        return _sequence([*self._spelled(before), self._value(self._kinds(expr), after)])

    def _sequence(self, expr: Sequence) -> Expr:
        written: list[Expr] = []
        parts = iter(zip(expr.parts, (*expr.parts[1:], None), strict=True))
        for part, following in parts:
            if following is not None and lexemes.mark(following) == lexemes.COLON:
                next(parts)
                value, _ = next(parts)
                written.append(self._member(part, value))
            else:
                written.append(self._rest(part))
        return _sequence(written)

    def _closing(self, bracket: Terminal) -> Expr:
        is_object = lexemes.mark(bracket) in lexemes.CLOSE_OBJECTS
        parts = [_GAP] if self._form.has_gaps and is_object else []
        closing = self._around("}" if is_object else "]")
        if not bracket.closes_set:
            return _sequence([*parts, *closing])
        if len(closing) != 1 or not isinstance(closing[0], Terminal):
            message = 'property_order="any" needs a form that closes objects by a bracket'
            self._problem("schema-form-order", message, 'use property_order="schema"')
            return _NO_VALUE
        return _sequence([*parts, replace(bracket, name=closing[0].name, regex=closing[0].regex)])

    def _is_in_rest(self, rule: str) -> bool:
        """Whether a rule is the rest of a value, or some of the items in it, and no value."""
        return self._is_rest.get(rule, True) or _is_more(self._rules[rule].body)

    def _member(self, key: Expr, value: Expr) -> Expr:
        assert isinstance(key, Terminal), "a key is one lexeme"
        end = self._end_of(key)
        if end is None:
            return _NO_VALUE
        values = self._kinds(value)
        gap = [_GAP] if self._form.has_gaps else []
        if not self._form.has_kinds:
            return _sequence([*gap, *self._key(key, None), self._value(values, end)])
        choices: list[Expr] = []
        for kind in dict.fromkeys(value.kind for value in values):
            alike = [value for value in values if value.kind == kind]
            choices.append(_sequence([*self._key(key, kind), self._value(alike, end)]))
        return _sequence([*gap, _choice(choices)])

    def _end_of(self, key: Terminal) -> str | None:
        """What ends the value of a key; None where the key cannot be written."""
        if not self._form.ends_with_key:
            return self._form.end
        name = _name_of(key)
        if name is None:
            self.notes[keys_without_names()] = None
            return None
        return self._form.end.replace("$key", name)

    def _key(self, key: Terminal, kind: _Kind | None) -> list[Expr]:
        """A key, up to its value. The part with the key itself is one lexeme, by which keys are told apart."""
        name = _name_of(key)
        if name is not None:
            self._check_key(name)
        found: list[Expr] = []
        for part in self._key_parts(kind):
            if isinstance(part, str) and "$key" in part and self._form.quotes:
                found += [self._quoted_key(key, name), _fixed(part.removeprefix("$key"))]
            elif isinstance(part, str) and "$key" in part:
                before, after = part.split("$key")
                # A name that a lexeme begins with is one by itself, as the register of keys has it.
                rest = [] if before or not after else [_fixed(after)]
                after = "" if rest else after
                if name is not None:
                    lexeme = replace(_fixed(before + name + after), distinct=key.distinct)
                else:
                    body = Intersection((_bodies(key)[0], self._key_chars))
                    lexeme = replace(key, regex=Concatenation((text(before), body, text(after))), endless="")
                found += [lexeme, *rest]
            elif isinstance(part, str):
                found.append(_fixed(part) if part else _GAP)
            else:
                found.append(part)
        return found

    def _quoted_key(self, key: Terminal, name: str | None) -> Terminal:
        quote = text(self._form.quotes)
        if name is None:
            body = Intersection((_bodies(key)[0], self._key_chars))
            return replace(key, regex=Concatenation((quote, body, quote)), endless="")
        if key.distinct:
            return _told_apart(key, _bodies(key))
        # The same name between the quotes of JSON.
        return replace(key, regex=Alternation((text(f"'{name}'"), text(f'"{name}"'))), endless="")

    def _key_parts(self, kind: _Kind | None) -> list[str | TokenSet]:
        """Texts, "" for a gap, and tokens."""
        parts: list[str | TokenSet] = []
        type_name = self._form.type_name(str(kind))
        written = self._form.key.replace("$type", type_name)
        if "$string" in written:
            # The attribute is a lexeme of its own, so that a key is the same with either.
            before, after = written.split("$string")
            pieces = [*self._cut(before), *self._cut(("true" if kind == "string" else "false") + after)]
        elif "$type" in self._form.key:
            before, after = self._form.key.split("$type")
            pieces = [*self._cut(before), *self._cut(type_name + after)]
        else:
            pieces = self._cut(written)
        for piece in pieces:
            if isinstance(piece, str) and "$gap" in piece:
                before, after = piece.split("$gap")
                parts += [*([before] if before else []), "", *([after] if after else [])]
            else:
                parts.append(piece)
        return parts

    def _check_key(self, name: str, *, is_readable: bool = True) -> None:
        if not is_readable or not re.fullmatch(f"(?:{self._form.key_chars})+", name):
            message = f"the key {shortened(json.dumps(name, ensure_ascii=False))} cannot be written in this form"
            self._problem("schema-form-key", message, "use another name, or a style that writes arguments as JSON")

    def _written_key(self, name: str) -> str:
        """What the register of written keys has for a key."""
        for part in self._key_parts(None):
            if isinstance(part, str) and "$key" in part:
                before, after = part.split("$key")
                return before + name + after if before else name
        return name

    def _problem(self, code: str, message: str, help: str) -> None:
        self.problems[Diagnostic(code, message, pointer="", help=help)] = None

    # ---- Fixed texts ----

    def _cut(self, written: str) -> list[str | TokenSet]:
        """A text, cut at the markers that are written by id."""
        if not self._tokens:
            return [written] if written else []
        pattern = "(" + "|".join(map(re.escape, sorted(self._tokens, key=len, reverse=True))) + ")"
        return [self._tokens.get(part, part) for part in re.split(pattern, written) if part]

    def _spelled(self, written: str) -> list[Expr]:
        return [_fixed(part) if isinstance(part, str) else part for part in self._cut(written)]


def _bracketed(expr: Expr) -> _Kind | None:
    """The kind of arrays or objects if all that an expression has are such."""
    if isinstance(expr, Sequence) and expr.parts:
        mark = lexemes.mark(expr.parts[0])
        return "object" if mark == lexemes.OPEN_OBJECT else "array" if mark == lexemes.OPEN_ARRAY else None
    if isinstance(expr, Choice) and expr.parts:
        kinds = {_bracketed(part) for part in expr.parts}
        return kinds.pop() if len(kinds) == 1 else None
    return None


def _scalar_kind(terminal: Terminal) -> _Kind:
    if terminal.regex == lexemes.NULL.regex:
        return "null"
    if terminal.regex in (lexemes.TRUE.regex, lexemes.FALSE.regex):
        return "boolean"
    return "string" if _is_string(terminal.regex) else "number"


def _is_string(regex: RegexTree) -> bool:
    if isinstance(regex, Alternation):
        return bool(regex.parts) and isinstance(regex.parts[0], JsonString)
    return isinstance(regex, JsonString)


def _bodies(expr: Expr) -> list[RegexTree]:
    """What the strings of a terminal say, in the parts that it has."""
    assert isinstance(expr, Terminal)
    return _bodies_of(expr.regex)


def _bodies_of(regex: RegexTree) -> list[RegexTree]:
    if isinstance(regex, Alternation):
        return [body for part in regex.parts for body in _bodies_of(part)]
    assert isinstance(regex, JsonString), "a string of JSON"
    return [regex.body]


def _name_of(key: Terminal) -> str | None:
    """The name of a key; None for keys without names."""
    (body,) = _bodies(key)
    return body.data.decode() if isinstance(body, Fixed) else None


def _without(body: RegexTree, others: SequenceOf[_Valued]) -> RegexTree:
    """The strings that are not read as one of the other values."""
    taken: list[RegexTree] = []
    for kind, expr in others:
        if kind in _COMPOSITE:
            taken.append(Concatenation((_SPACE, text(_BRACKETS[kind]), ANY_TEXT)))
        else:
            assert isinstance(expr, Terminal)
            taken.append(Concatenation((_SPACE, expr.regex, _SPACE)))
    return Intersection((body, Complement(Alternation(tuple(taken)))))


def _told_apart(expr: Terminal, bodies: list[RegexTree]) -> Terminal:
    """Literals of Python that must differ: in double quotes, with one spelling of each, since registers read JSON."""
    return replace(expr, regex=Alternation(tuple(JsonString(body, "canonical") for body in bodies)), endless="")


def _python_string(bodies: list[RegexTree]) -> RegexTree:
    """Literals of Python: in double quotes with the escapes of JSON, or in single ones without any."""
    found: list[RegexTree] = []
    for body in bodies:
        found.append(JsonString(body, "canonical"))
        if isinstance(body, (Fixed, KeySet)):
            listed = body.keys if isinstance(body, KeySet) else (body.data,)
            plain = tuple(one for one in listed if not re.search(rb"['\\\x00-\x1f]", one))
            if plain:
                found.append(Concatenation((text("'"), KeySet(plain), text("'"))))
        else:
            inside = _SINGLE_QUOTED if body == ANY_TEXT else Intersection((body, _SINGLE_QUOTED))
            found.append(Concatenation((text("'"), inside, text("'"))))
    return Alternation(tuple(found))


def _is_more(expr: Expr) -> bool:
    """Whether what an expression begins with is a further item, with the comma before it, or none."""
    if isinstance(expr, Choice):
        return any(map(_is_more, expr.parts))
    if isinstance(expr, Sequence):
        return not expr.parts or _is_more(expr.parts[0])
    return isinstance(expr, Repeat) or lexemes.mark(expr) == lexemes.COMMA


def _fixed(lexeme: str) -> Terminal:
    return Terminal(json.dumps(lexeme, ensure_ascii=False), text(lexeme))


def _choice(exprs: list[Expr]) -> Expr:
    return exprs[0] if len(exprs) == 1 else Choice(tuple(exprs))


def _sequence(parts: list[Expr]) -> Expr:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Sequence) else (part,))]
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))
