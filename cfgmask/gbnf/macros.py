"""What xgrammar's EBNF writes like calls: `Token(5)`, `TagDispatch(("<call>", call))` and their like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cfgmask.diagnostics import Related, Span, shortened
from cfgmask.errors import GrammarError
from cfgmask.gbnf import literals
from cfgmask.gbnf.free_text import HiddenTextError, Tag, free_text
from cfgmask.gbnf.tokens import Kind, Token
from cfgmask.grammar import ir
from cfgmask.grammar import regex_tree as regex
from cfgmask.limits import Limits
from cfgmask.problems import Problems
from cfgmask.regex import parse_lexeme, parse_regex

_BOOLEANS = {"true": True, "false": False}
_NOTHING = ir.Sequence(())


class _Unreadable(Exception):
    """The call makes no sense; `span` is the place."""

    def __init__(self, message: str, span: Span, help: str | None = None) -> None:
        super().__init__(message)
        self.message, self.span, self.help = message, span, help


@dataclass(frozen=True)
class _Argument:
    """`name=(value, …)`, without the name, without the parentheses, or both."""

    name: Token | None
    values: tuple[Token, ...]
    is_tuple: bool
    span: Span


def expand(name: Token, inside: Sequence[Token], closing: Token, limits: Limits, problems: Problems) -> ir.Expr:
    """What a call stands for; `inside` is what is between its parentheses. What is wrong is reported. Linear."""
    span = Span(name.span.source, name.span.start, closing.span.end)
    try:
        arguments = _Reader(inside, closing).arguments()
        if name.text in ("Token", "ExcludeToken"):
            return _token_set(name.text, arguments, span, problems)
        if name.text == "Regex":
            return _regex(arguments, span, limits, problems)
        if name.text == "Substring":
            return _substring(arguments, span, problems)
        if name.text == "TagDispatch":
            return _text_dispatch(_dispatch(arguments), span, limits, problems)
        return _token_dispatch(_dispatch(arguments), span, problems)
    except _Unreadable as error:
        problems.error("gbnf-bad-macro", error.message, error.span, help=error.help)
        return _NOTHING


class _Reader:
    """Reads what is between the parentheses of a call."""

    def __init__(self, inside: Sequence[Token], closing: Token) -> None:
        self._tokens = [*inside, closing]
        self._at = 0

    def arguments(self) -> list[_Argument]:
        found: list[_Argument] = []
        while not self._is_over():
            found.append(self._argument())
            if not self._is_over():
                self._take("mark", ",")
                if self._is_over():
                    raise self._unexpected(self._tokens[self._at - 1])
        return found

    def _argument(self) -> _Argument:
        first, name = self._tokens[self._at], None
        if self._tokens[self._at + 1 : self._at + 2] and self._tokens[self._at + 1].text == "=":
            name = self._take("name")
            self._at += 1
        is_tuple = self._tokens[self._at].kind == "open"
        values = self._tuple() if is_tuple else (self._value(),)
        last = self._tokens[self._at - 1].span
        return _Argument(name, values, is_tuple, Span(last.source, first.span.start, last.end))

    def _tuple(self) -> tuple[Token, ...]:
        self._take("open")
        values: list[Token] = []
        while self._tokens[self._at].kind != "close":
            values.append(self._value())
            if self._tokens[self._at].kind != "close":
                self._take("mark", ",")
        self._take("close")
        return tuple(values)

    def _value(self) -> Token:
        return self._take("string" if self._tokens[self._at].kind == "string" else "name")

    def _take(self, kind: Kind, text: str | None = None) -> Token:
        token = self._tokens[self._at]
        if token.kind != kind or text not in (None, token.text):
            raise self._unexpected(token)
        self._at += 1
        return token

    def _is_over(self) -> bool:
        return self._at == len(self._tokens) - 1

    def _unexpected(self, token: Token) -> _Unreadable:
        help = "arguments are strings, numbers and names, and tuples of them, with commas between"
        return _Unreadable(f"unexpected `{shortened(token.text)}`", token.span, help)


def _id(token: Token, problems: Problems) -> int:
    if token.kind != "name" or not (token.text.isascii() and token.text.isdigit()):
        raise _Unreadable("this is no id of a token", token.span, "ids are whole numbers")
    return literals.token_id(token, problems) or 0


def _token_set(name: str, arguments: Sequence[_Argument], span: Span, problems: Problems) -> ir.TokenSet:
    if not arguments:
        raise _Unreadable(f"`{name}` takes at least one id", span, f"write `{name}(5)`")
    for argument in arguments:
        if argument.name is not None or argument.is_tuple:
            raise _Unreadable(f"`{name}` takes ids alone", argument.span, f"write `{name}(5)` or `{name}(5, 7)`")
    ids = [_id(argument.values[0], problems) for argument in arguments]
    return _ids(ids, span, negated=name == "ExcludeToken")


def _ids(ids: Sequence[int], span: Span, *, negated: bool = False) -> ir.TokenSet:
    return ir.TokenSet(shortened(span.text), ranges=tuple((i, i) for i in ids), negated=negated, span=span)


_IN_JSON_STRING = regex.Repetition(
    regex.negated(regex.char_class([(0, 0x1F), (ord('"'), ord('"')), (ord("\\"), ord("\\"))])), 0, None
)
"""What stands in a string of JSON as it is."""


def _regex(arguments: Sequence[_Argument], span: Span, limits: Limits, problems: Problems) -> ir.Expr:
    """`Regex("[0-9]+", flags="i", json_string=true)`: a pattern of ECMA-262, in which lazy quantifiers are greedy."""
    plain = [argument for argument in arguments if argument.name is None]
    if len(plain) != 1 or plain[0].is_tuple or plain[0].values[0].kind != "string":
        raise _Unreadable("`Regex` takes one pattern", span, 'write `Regex("[0-9]+")`')
    flags, in_json = "s", False
    named = {argument.name.text: argument for argument in arguments if argument.name is not None}
    for name, argument in named.items():
        value = argument.values[0] if not argument.is_tuple else None
        if name == "flags" and value is not None and value.kind == "string":
            flags = literals.string(value, problems)
        elif name == "json_string" and value is not None and value.text in _BOOLEANS:
            in_json = _BOOLEANS[value.text]
        else:
            help = 'known are `flags="is"` and `json_string=true`'
            raise _Unreadable(f"`Regex` takes no such `{shortened(name)}`", argument.span, help)
    if len(named) + 1 < len(arguments) or not set(flags) <= set("isu"):
        raise _Unreadable("the flags are `i`, `s` and `u`, and each argument is given once", span)
    written = plain[0].values[0]
    # What is no part of a larger text may begin and end as such.
    pattern = literals.string(written, problems).removeprefix("^")
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        pattern = pattern[:-1]
    try:
        flags = flags.replace("u", "")
        lexeme = parse_lexeme(pattern, dialect="ecma", flags=flags, limits=limits, source_name="the pattern")
        tree = parse_regex(pattern, dialect="ecma", flags=flags, limits=limits)
    except GrammarError as error:
        problems.extend(
            replace(problem, related=(Related(written.span, "it stands here"),)) for problem in error.diagnostics
        )
        return _NOTHING
    if not all(case.is_plain for case in lexeme):
        raise _Unreadable("the pattern looks at the text around it", written.span, "write what may stand there")
    if in_json:
        tree = regex.Intersection((tree, _IN_JSON_STRING))
    return ir.Terminal(shortened(span.text), tree, span=span)


def _substring(arguments: Sequence[_Argument], span: Span, problems: Problems) -> ir.Expr:
    """`Substring("ab", "c")`: consecutive texts of these, none included."""
    chunks = []
    for argument in arguments:
        if argument.name is not None or argument.is_tuple or argument.values[0].kind != "string":
            raise _Unreadable("`Substring` takes strings", argument.span, 'write `Substring("ab", "c")`')
        chunks.append(literals.string(argument.values[0], problems).encode())
    return ir.Terminal(shortened(span.text), regex.Substring(tuple(chunks)), span=span)


@dataclass(frozen=True)
class _Dispatch:
    """Free text, and in it tags, each followed by a text of its rule.

    tags      what begins a text of a rule, and that rule
    excludes  what stands nowhere in the free text
    loops     whether free text goes on behind the text of a rule
    """

    tags: tuple[tuple[Token, ir.RuleRef], ...]
    excludes: tuple[Token, ...]
    loops: bool


def _dispatch(arguments: Sequence[_Argument]) -> _Dispatch:
    tags: list[tuple[Token, ir.RuleRef]] = []
    excludes: list[Token] = []
    loops = True
    given: set[str] = set()
    for argument in arguments:
        if argument.name is not None:
            if argument.name.text in given:
                raise _Unreadable(f"`{shortened(argument.name.text)}` is given twice", argument.name.span)
            given.add(argument.name.text)
        if argument.name is None:
            if not argument.is_tuple or len(argument.values) != 2 or argument.values[1].kind != "name":
                message = "a tag is a pair of what begins it and a rule"
                raise _Unreadable(message, argument.span, 'write `("<tag>", rule)`')
            tag, rule = argument.values
            tags.append((tag, ir.RuleRef(rule.text, rule.span)))
        elif argument.name.text == "loop_after_dispatch":
            value = argument.values[0].text if not argument.is_tuple else ""
            if value not in _BOOLEANS:
                raise _Unreadable("`loop_after_dispatch` is `true` or `false`", argument.span)
            loops = _BOOLEANS[value]
        elif argument.name.text == "excludes":
            if not argument.is_tuple:
                raise _Unreadable("`excludes` is a tuple", argument.span, 'write `excludes=("a", "b")`')
            excludes += argument.values
        else:
            help = "known are `loop_after_dispatch` and `excludes`"
            raise _Unreadable(f"there is no `{shortened(argument.name.text)}`", argument.name.span, help)
    return _Dispatch(tuple(tags), tuple(excludes), loops)


def _token_dispatch(dispatch: _Dispatch, span: Span, problems: Problems) -> ir.Expr:
    ids = [_id(tag, problems) for tag, _ in dispatch.tags]
    excluded = [_id(token, problems) for token in dispatch.excludes]
    free = ir.Repeat(_ids([*ids, *excluded], span, negated=True), 0, None)
    tagged = ir.Choice(
        tuple(
            ir.Sequence((free, _ids([tag], token.span), rule))
            for tag, (token, rule) in zip(ids, dispatch.tags, strict=True)
        )
    )
    return _around(tagged, free, loops=dispatch.loops)


def _text_dispatch(dispatch: _Dispatch, span: Span, limits: Limits, problems: Problems) -> ir.Expr:
    tags = [Tag(_string(text, problems), text.span, rule) for text, rule in dispatch.tags]
    excludes = [_string(token, problems) for token in dispatch.excludes]
    try:
        tagged, free = free_text(tags, excludes, span, limits)
    except HiddenTextError as error:
        message = f"`{shortened(error.hidden)}` is never found first: `{shortened(error.inside)}` is inside of it"
        if error.hidden == error.inside:
            message = f"`{shortened(error.hidden)}` is a tag and is excluded, too"
        raise _Unreadable(message, span, "take one of them out") from None
    return _around(tagged, free, loops=dispatch.loops)


def _around(tagged: ir.Choice, free: ir.Expr, *, loops: bool) -> ir.Expr:
    """Texts of rules with all that stands before each, and what is free behind them or without them."""
    if not tagged.parts:
        return free
    return ir.Sequence((ir.Repeat(tagged, 0, None), free)) if loops else ir.Choice((tagged, free))


def _string(token: Token, problems: Problems) -> str:
    text = literals.string(token, problems) if token.kind == "string" else ""
    if not text:
        raise _Unreadable("this is no text that can be looked for", token.span, 'write a string, `"<tag>"`')
    return text
