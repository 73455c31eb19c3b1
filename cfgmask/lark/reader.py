"""Grammar text to a `Document` of syntax nodes.

The core cuts the text into statements and parses them (`core/lark`), and makes what most grammars consist of; the rest,
and what is wrong, is for the reader here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from cfgmask import _core
from cfgmask.diagnostics import Fix, Related, Source, Span, shortened
from cfgmask.errors import LimitExceeded
from cfgmask.grammar.parameters import All, Condition
from cfgmask.lark import nodes
from cfgmask.lark.attributes import WrittenAttribute, read_attributes
from cfgmask.lark.habits import at_token, single_quoted
from cfgmask.lark.literals import LiteralError, parse_count, parse_priority, parse_special_tokens, unescape
from cfgmask.lark.parametric import (
    SELF,
    ParameterError,
    ParameterText,
    read_argument,
    read_condition,
)
from cfgmask.lark.problems import Problems
from cfgmask.lark.tokens import BYTES_PER_TOKEN, Token
from cfgmask.limits import Limits
from cfgmask.suggest import closest, question

DIRECTIVES = (
    *("%cfgmask", "%declare", "%extend", "%ignore", "%import", "%json", "%lark", "%llguidance", "%override", "%regex"),
)
"""The supported `%` keywords."""

Built: TypeAlias = Any
"""What a piece of a statement became: a node, a list of statements, or a token that its parent reads."""

_TOKEN_WORDS = {
    "NAME": "a name",
    "STRING": "a string",
    "REGEXP": "a regex",
    "SPECIAL_TOKENS": "a special token",
    "NUMBER": "a number",
    "BLOCK": "`{`",
    "COLON": "`:`",
    "RPAR": "`)`",
    "RSQB": "`]`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "LPAR": "`(`",
    "EQUAL": "`=`",
}

_BLOCKS = ("JSON", "REGEX", "LARK")
_CLOSER = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_CLOSERS = frozenset(_CLOSER.values())
_MODIFIERS = frozenset({"QUESTION", "BANG"})
_CHANGES = frozenset({"OVERRIDE", "EXTEND"})

_UNREADABLE_HELP = {
    ";": "a statement ends with its line, and comments begin with `//` or `#`",
    "<": "a special token is written `<name>`, without blanks",
    **dict.fromkeys(
        "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb", 'strings are written with straight double quotes, `"`'
    ),
}


@dataclass(frozen=True, eq=False)
class _Parameters:
    """`{x, y}` behind the name of a template."""

    names: tuple[nodes.Name, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class _Priority:
    """`.2` behind the name of a definition."""

    value: int
    span: Span


@dataclass(frozen=True, eq=False)
class _RuleParameter:
    """`::_` behind the name of a definition."""

    span: Span


@dataclass(frozen=True, eq=False)
class _Condition:
    """`%if condition` behind an alternative."""

    condition: Condition
    span: Span


_NODE_TYPES = _core.LarkNodeTypes()

T = TypeVar("T")
H = TypeVar("H", _Parameters, _Priority, _RuleParameter)


def read(text: Span, limits: Limits, problems: Problems) -> nodes.Document:
    """Read a grammar, which may stand inside another one.

    What is wrong or not supported is reported to `problems`, and reading goes on.
    Raises LimitExceeded. Linear: a microsecond a token, ten where the core does not make the node.
    """
    reader = _Reader(text.source, limits, problems)
    max_tokens = limits.max_source_bytes // BYTES_PER_TOKEN
    statements = _NODE_TYPES.read(reader, text.source, text.start, text.end, max_tokens, limits.max_nesting)
    found: defaultdict[type, list[Any]] = defaultdict(list)
    for statement in statements:
        found[type(statement)].append(statement)
    return nodes.Document(
        place=text.within(0, 0),
        definitions=tuple(found[nodes.Definition]),
        changes=tuple(found[nodes.Change]),
        declarations=tuple(found[nodes.Declaration]),
        ignores=tuple(found[nodes.Ignore]),
        imports=tuple(found[nodes.Import]),
        options=tuple(found[nodes.Options]),
        defined_elsewhere=frozenset(reader.defined_elsewhere),
    )


def _closer(tokens: list[Token]) -> str | None:
    """What closes the innermost bracket that is open behind some tokens; None if none is."""
    brackets: list[str] = []
    for token in tokens:
        if token.type in _CLOSER:
            brackets.append(_CLOSER[token.type])
        elif token.type in _CLOSERS and brackets:
            brackets.pop()
    return brackets[-1] if brackets else None


@lru_cache(maxsize=4096)
def is_terminal_name(name: str) -> bool:
    """Whether a name is that of a terminal: upper case, whatever module stands before it."""
    return next((c.isupper() for c in reversed(name) if c.isascii() and c.isalpha()), False)


class _Reader:
    """What the core asks for when it reads statements.

    It calls one `build_*` for each rule of `syntax.lark`, children first, that it makes no node of itself, and the
    others where something is wrong. What `build_*` returns is a part of what its parent is built of.
    """

    def __init__(self, source: Source, limits: Limits, problems: Problems) -> None:
        self._source = source
        self._limits = limits
        self._problems = problems
        self.defined_elsewhere: set[str] = set()
        """The names that statements with errors define or seem to define."""

    # What is wrong before statements are parsed.

    def report_unreadable(self, token: Token) -> None:
        """No token begins with this character."""
        character, fix = str(token), None
        if character == '"':
            message, help = "the string is not closed on its line", 'write a quote inside a string as `\\"`'
        elif character == "/":
            message = "the regex is not closed on its line"
            help = "write a slash inside a regex as `\\/`; only regexes with the flag x may span lines"
        elif character == "'":
            message, help = "strings are written with double quotes", None
            fix = single_quoted(self._source, token.start)
        else:
            shown = character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
            message, help = f"unexpected character `{shown}` (U+{ord(character):04X})", _UNREADABLE_HELP.get(character)
            if character == ";" and not self._source.text[token.end :].partition("\n")[0].strip():
                fix = Fix(self._span(token), "")
        self._problems.error("lark-unreadable", message, self._span(token), help=help, fix=fix)

    def report_unclosed(self, bracket: Token, next_begins: int | None) -> None:
        """A bracket is open where the next statement, if it was found, begins."""
        related: tuple[Related, ...] = ()
        if next_begins is not None:
            related = (Related(Span(self._source, next_begins, next_begins + 1), "the next statement begins here"),)
        message = f"`{bracket}` is not closed"
        self._problems.error("lark-unclosed-bracket", message, self._span(bracket), related=related)

    def refuse_nesting(self, bracket: Token) -> None:
        """More brackets are open than may be."""
        line, column = self._source.position(bracket.start)
        raise LimitExceeded("max_nesting", self._limits.max_nesting, f"brackets at {self._source.name}:{line}:{column}")

    def refuse_tokens(self) -> None:
        """There are more tokens than may be."""
        most = self._limits.max_source_bytes // BYTES_PER_TOKEN
        detail = f"more than {most} tokens in a grammar, one for {BYTES_PER_TOKEN} bytes of the limit"
        raise LimitExceeded("max_source_bytes", self._limits.max_source_bytes, detail)

    def pass_over(self, tokens: list[Token]) -> None:
        """An error was reported of the statement that has these tokens; of an import, its module may be meant too."""
        names = [str(token) for token in tokens if token.type == "NAME"]
        if tokens[0].type not in ("IMPORT", "DECLARE"):
            heads = (token.type for token in tokens if token.type not in _MODIFIERS | _CHANGES)
            names = names[:1] if next(heads, None) == "NAME" else []
        self.defined_elsewhere.update(names)

    def report_syntax(self, tokens: list[Token], token: Token, expected: set[str]) -> None:
        """A statement cannot go on with `token`; terminals of the types `expected` could stand there."""
        for suspect in (tokens[0], token):
            if suspect.type == "UNKNOWN_DIRECTIVE":
                self._report_directive(suspect)
                return
        # The tables know what may follow in some text, and so expect brackets to be closed that are not open.
        closer = _closer([before for before in tokens if before.start < token.start])
        words = [
            words
            for name, words in _TOKEN_WORDS.items()
            if name in expected and (name not in _CLOSERS or name == closer)
        ]
        habit = at_token(self._source, tokens, token)
        help = None if habit is None else habit.help
        if help is None and "COLON" in expected:
            help = "a definition is written `name: ...`"
        elif help is None and 0 < len(words) < 4:
            help = "expected " + " or ".join(words)
        if token.type == "$END":
            end = tokens[-1].end
            span, message = Span(self._source, end, end + 1), "the statement is not complete"
        else:
            shown = "{" if token.type == "BLOCK" else str(token)
            span, message = self._span(token), f"unexpected `{shortened(shown)}`"
        if habit is not None:
            span, message = habit.span or span, habit.message or message
        self._problems.error("lark-syntax", message, span, help=help, fix=None if habit is None else habit.fix)

    def _report_directive(self, token: Token) -> None:
        close, span = closest(str(token), DIRECTIVES), self._span(token)
        help = "known are " + ", ".join(f"`{d}`" for d in DIRECTIVES) if close is None else question(close)
        fix = None if close is None else Fix(span, close)
        message = f"there is no `{shortened(str(token))}`"
        self._problems.error("lark-unknown-directive", message, span, help=help, fix=fix)

    # Statements: each gives a list of them.

    def build_definition(self, parts: list[Built]) -> Built:
        name = next(part for part in parts if isinstance(part, Token))
        written = self._written_attributes(name, parts)
        if not self._check_name(name):
            self.defined_elsewhere.add(str(name))
            return []
        parameters = self._only(_Parameters, "list of parameters", parts)
        priority = self._only(_Priority, "priority", parts)
        return [
            nodes.Definition(
                str(name),
                is_terminal_name(name),
                parts[-1],
                self._span(name),
                parameters.names if parameters is not None else (),
                priority.value if priority is not None else 0,
                read_attributes(str(name), written, self._problems),
                self._only(_RuleParameter, "parameter", parts) is not None,
            )
        ]

    def _written_attributes(self, name: Token, parts: list[Built]) -> list[WrittenAttribute]:
        """The attributes in a definition's head. Reports what must not stand around the name."""
        if is_terminal_name(name) and parts[0] is not name:
            message, help = "`?` and `!` go before the names of rules only", "a terminal needs none: leave it out"
            span = self._span(parts[0])
            self._problems.error("lark-terminal-modifier", message, span, help=help, fix=Fix(span, ""))
        modifiers = [part.span for part in parts[:-1] if isinstance(part, nodes.Invalid)]
        for number, span in enumerate(modifiers):
            if span.text in [before.text for before in modifiers[:number]]:
                self._problems.error("lark-syntax", f"the definition has a second `{span.text}`", span)
        written = [attribute for part in parts if isinstance(part, tuple) for attribute in part]
        if written and is_terminal_name(name):
            message = "attributes belong to rules"
            help = "give them to a rule, whose name is in lower case, and use the terminal in it"
            self._problems.error("lark-terminal-attribute", message, written[0].span, help=help)
            return []
        return written

    def _only(self, kind: type[H], what: str, parts: list[Built]) -> H | None:
        """The part of a definition's head that is of a kind, if there is one; reports a second one."""
        found = [part for part in parts if isinstance(part, kind)]
        for part in found[1:]:
            self._problems.error("lark-syntax", f"the definition has a second {what}", part.span)
        return found[0] if found else None

    def build_modifier(self, parts: list[Built]) -> Built:
        return nodes.Invalid(self._span(parts[0]))

    def build_template_parameters(self, parts: list[Built]) -> Built:
        names = [token for token in parts if token.type == "NAME" and self._check_name(token)]
        return _Parameters(tuple(nodes.Name(str(name), self._span(name)) for name in names), self._across(parts))

    def build_priority(self, parts: list[Built]) -> Built:
        span = self._across(parts)
        return _Priority(self._literal(parts[1], parse_priority) or 0, span)

    def build_rule_parameter(self, parts: list[Built]) -> Built:
        written: ParameterText = parts[1]
        if written.text != SELF or written.parts is not None:
            message, help = "a rule's parameter has no name of its own", "define the rule as `name::_: ...`"
            self._problems.error("lark-bad-parameter", message, written.span, help=help)
        return _RuleParameter(self._across(parts))

    def build_options(self, parts: list[Built]) -> Built:
        return [nodes.Options(self._span(parts[1]), self._across(parts))]

    def build_foreign_options(self, parts: list[Built]) -> Built:
        return [nodes.Options(self._span(parts[1]), self._across(parts), of_llguidance=True)]

    def build_import_path(self, parts: list[Built]) -> Built:
        return parts

    def build_import_one(self, parts: list[Built]) -> Built:
        path, alias = parts[1], parts[2] if len(parts) > 2 else parts[1][-1]
        return self._imports(path[:-1], [(path[-1], alias)])

    def build_import_list(self, parts: list[Built]) -> Built:
        return self._imports(parts[1], [(name, name) for name in parts[2:]])

    def build_unknown_directive(self, parts: list[Built]) -> Built:
        self._report_directive(parts[0])
        return []

    def _imports(self, module: list[Token], names: list[tuple[Token, Token]]) -> list[nodes.Statement]:
        is_relative = bool(module) and module[0].type == "DOT"
        path = self._across([*module, names[0][0]])
        return [
            nodes.Import(
                tuple(map(str, module[is_relative:])), is_relative, str(name), str(alias), path, self._span(alias)
            )
            for name, alias in names
            if self._check_name(name) and (alias is name or self._check_name(alias))
        ]

    def build_override(self, parts: list[Built]) -> Built:
        return [nodes.Change("override", definition, self._span(parts[0])) for definition in parts[1]]

    def build_extend(self, parts: list[Built]) -> Built:
        return [nodes.Change("extend", definition, self._span(parts[0])) for definition in parts[1]]

    def build_declare(self, parts: list[Built]) -> Built:
        return [nodes.Declaration(str(name), self._span(name)) for name in parts[1:] if self._check_name(name)]

    # Expressions.

    def build_alternative(self, parts: list[Built]) -> Built:
        body: nodes.Expression = parts[0]
        for part in parts[1:]:
            if isinstance(part, Token) and part.type == "NAME":
                body = nodes.Alias(body, str(part), self._span(part))
            elif isinstance(part, _Condition):
                body = nodes.Conditional(
                    body, part.condition, part.span, Span(self._source, body.span.start, part.span.end)
                )
        return body

    def build_condition(self, parts: list[Built]) -> Built:
        span = self._across(parts)
        return _Condition(self._parameter(parts[1], read_condition) or All(()), span)

    def build_intersection(self, parts: list[Built]) -> Built:
        if any(isinstance(part, nodes.Sequence) and not part.parts for part in parts):
            span, help = self._across(parts), "write `()` if the empty text is meant"
            self._problems.error("lark-syntax", "`&` has nothing on one side", span, help=help)
            return nodes.Invalid(span)
        return nodes.Intersection(tuple(parts), self._across(parts))

    def build_complement(self, parts: list[Built]) -> Built:
        return nodes.Complement(parts[1], self._across(parts))

    def build_repeat(self, parts: list[Built]) -> Built:
        body, operator = parts
        if operator.type == "COUNT":
            bounds = self._literal(operator, parse_count)
            if bounds is None:
                return nodes.Invalid(self._span(operator))
        else:
            bounds = {"?": (0, 1), "*": (0, None), "+": (1, None)}[str(operator)]
        if isinstance(body, nodes.Complement):
            self._warn_of_repeated_complement(body, operator)
        return nodes.Repeat(body, bounds[0], bounds[1], self._across(parts))

    def _warn_of_repeated_complement(self, body: nodes.Complement, operator: Token) -> None:
        """Warn of `~"a"+`: it reads like the complement of `"a"+`, but repeats the complement of `"a"`."""
        inner = shortened(self._source.text[body.body.span.start : body.body.span.end])
        times = shortened(str(operator))
        self._problems.warning(
            "lark-repeated-complement",
            f"`~` binds tighter than `{times}`: this is `(~{inner}){times}`",
            self._across([body, operator]),
            help=f"write `~({inner}{times})` or `(~{inner}){times}`",
        )

    def build_name(self, parts: list[Built]) -> Built:
        self._check_name(parts[0])
        return nodes.Invalid(self._span(parts[0]))

    def build_string(self, parts: list[Built]) -> Built:
        token: Token = parts[0]
        span, read = self._span(token), self._literal(token, unescape)
        if read is None:
            return nodes.Invalid(span)
        for start, end in read.kept:
            escape = token[start:end]
            self._problems.warning(
                "lark-unknown-escape",
                f"`{escape}` in a string is a backslash and a character, as in Lark",
                span.within(start, end),
                help=f"write `\\{escape}` if that is meant",
            )
        return nodes.String(read.value, token.endswith("i"), span)

    def build_character_range(self, parts: list[Built]) -> Built:
        span, (first, last) = self._across(parts), parts
        if isinstance(first, nodes.Invalid) or isinstance(last, nodes.Invalid):
            return nodes.Invalid(span)
        for end in (first, last):
            if len(end.value) != 1 or end.ignore_case:
                message = "each end of a range is one character, without flags"
                self._problems.error("lark-bad-range", message, end.span)
                return nodes.Invalid(span)
        if first.value > last.value:
            message, help = "the range is empty", "write the smaller character first"
            self._problems.error("lark-bad-range", message, span, help=help)
            return nodes.Invalid(span)
        return nodes.CharacterRange(ord(first.value), ord(last.value), span)

    def build_special_tokens(self, parts: list[Built]) -> Built:
        read, span = self._literal(parts[0], parse_special_tokens), self._span(parts[0])
        if read is None:
            return nodes.Invalid(span)
        return nodes.SpecialTokens(read.names, read.ranges, read.negated, span)

    def build_template_use(self, parts: list[Built]) -> Built:
        name, *rest = parts
        arguments = tuple(part for part in rest if not isinstance(part, Token))
        span = self._across(parts)
        if not self._check_name(name):
            return nodes.Invalid(span)
        return nodes.TemplateUse(str(name), arguments, self._span(name), span)

    def build_parametric_use(self, parts: list[Built]) -> Built:
        name, _, written = parts
        argument, span = self._parameter(written, read_argument), self._across(parts)
        if not self._check_name(name) or argument is None:
            return nodes.Invalid(span)
        return nodes.Name(str(name), span, argument)

    def build_parameter(self, parts: list[Built]) -> Built:
        head = parts[0]
        if isinstance(head, ParameterText):
            return head
        inside = tuple(part for part in parts[1:] if isinstance(part, ParameterText))
        return ParameterText(str(head), inside if len(parts) > 1 else None, self._across(parts))

    def build_bits(self, parts: list[Built]) -> Built:
        span = self._across(parts)
        return ParameterText(self._source.text[span.start : span.end], None, span)

    def _parameter(self, written: ParameterText, read: Callable[[ParameterText], T]) -> T | None:
        """What a parameter or condition means; None, and a report, if it means nothing."""
        try:
            return read(written)
        except ParameterError as error:
            self._problems.error("lark-bad-parameter", error.message, error.span, help=error.help)
            return None

    def build_json_block(self, parts: list[Built]) -> Built:
        return nodes.JsonBlock(self._span(parts[1]), self._across(parts))

    def build_lark_block(self, parts: list[Built]) -> Built:
        return nodes.LarkBlock(self._span(parts[1]), self._across(parts))

    def build_subgrammar(self, parts: list[Built]) -> Built:
        return nodes.Subgrammar(str(parts[0][1:]), self._span(parts[0]))

    def build_regex_block(self, parts: list[Built]) -> Built:
        return nodes.RegexBlock(self._span(parts[1]), self._across(parts))

    def build_attributes(self, parts: list[Built]) -> Built:
        return tuple(parts[1:-1])

    def build_attribute(self, parts: list[Built]) -> Built:
        return WrittenAttribute(str(parts[0]), parts[1] if len(parts) > 1 else None, self._across(parts))

    def _literal(self, token: Token, parse: Callable[[str], T]) -> T | None:
        """What `parse` makes of a token; None, and a report, if it raises LiteralError."""
        try:
            return parse(str(token))
        except LiteralError as error:
            span = self._span(token).within(error.start, error.end)
            self._problems.error(error.code, error.message, span, help=error.help)
            return None

    def _check_name(self, token: Token) -> bool:
        if _core.lark_name(token) is not None:
            return True
        if len(token) > _core.MAX_LARK_NAME:
            message, help = f"the name is longer than {_core.MAX_LARK_NAME} characters", None
        else:
            message = f"`{token}` is neither the name of a rule nor of a terminal"
            help = "rules are written like_this and terminals LIKE_THIS, in ASCII letters, digits, `_` and `-`"
        self._problems.error("lark-bad-name", message, self._span(token), help=help)
        return False

    def _span(self, part: Token | nodes.Expression) -> Span:
        if isinstance(part, Token):
            return Span(self._source, part.start, part.end)
        return part.span

    def _across(self, parts: list[Built]) -> Span:
        """From the first part to the last."""
        first, last = parts[0], parts[-1]
        start = first.start if isinstance(first, Token) else first.span.start
        return Span(self._source, start, last.end if isinstance(last, Token) else last.span.end)
