"""Terminals to regex trees.

Terminals may use terminals, in any order and without recursion: a terminal is one regex.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from weakref import WeakKeyDictionary

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar import ir
from cfgmask.grammar import regex_tree as regex
from cfgmask.lark import nodes, one_regex
from cfgmask.lark.excluded_words import with_help
from cfgmask.lark.extension_terminals import EXTENSION_TEMPLATES, EXTENSION_TEXTS, EXTENSION_TOKENS, substring_argument
from cfgmask.lark.habits import comment_at
from cfgmask.lark.lazy_ends import LAZY_AT_END
from cfgmask.lark.literals import LiteralError
from cfgmask.lark.patterns import TOKEN_GROUP, PatternAccount
from cfgmask.lark.problems import Problems
from cfgmask.lark.regex_blocks import regex_of_block
from cfgmask.limits import Limits
from cfgmask.regex import DialectName, Lexeme, LexemeCase, has_lazy, parse_extended, parse_lexeme
from cfgmask.regex.case_folding import closure
from cfgmask.regex.lexemes import (
    TooEntangled,
    all_of,
    alone,
    any_of,
    in_cases,
    in_sequence,
    is_empty_by_assertion,
    repeated,
    terminals_of,
    texts_anywhere,
)


@dataclass(eq=False)
class TerminalRegex:
    """A regex and what must be known of it where it is used. Not changed, as nodes are not.

    tree        the texts
    edges       where they stand only between certain others: which of them between what; their tree is then unused
    depth       levels of nesting that terminals put on top of each other
    only_empty  whether it is certain that nothing but the empty text matches
    pattern     the same as one regex of Python's; None where there is none
    is_lazy     whether it has lazy quantifiers, which look at what follows
    is_joined   whether some of them look at other parts: then only `pattern` says what all of it matches, not `tree`
    """

    tree: regex.RegexTree
    edges: Lexeme = ()
    depth: int = 0
    only_empty: bool = False
    pattern: str | None = None
    is_lazy: bool = False
    is_joined: bool = False

    @property
    def cases(self) -> Lexeme:
        """The texts and what they ask of the text around them."""
        return self.edges or (LexemeCase(self.tree),)


_CLASS_OPERATION = re.compile(r"&&|~~|--\[")
"""In Python a class that holds it means what it says, with a warning; in Rust it is an operation on sets."""
_ONLY_IN_RUST = {
    *("regex-bad-class-range", "regex-bad-escape", "regex-bad-flag", "regex-misplaced-flags", "regex-posix-class"),
    *("regex-multiple-repeat", "regex-nothing-to-repeat", "regex-reversed-range"),
}
"""What Python does not know and Rust may, in this order: `[\\w--\\d]`, `\\x{41}`, `a(?-u)b`, `a(?i)b`, `[[:alpha:]]`,
`a{2}{3}`, `^*`, `[a--b]`."""


@dataclass(eq=False)
class _Kept:
    """The regex that was made of a terminal under some limits, with the regexes of the terminals that it uses."""

    limits: Limits
    used: dict[str, TerminalRegex]
    made: TerminalRegex


_KEPT: WeakKeyDictionary[nodes.Definition, _Kept] = WeakKeyDictionary()

INVALID = TerminalRegex(regex.ANY_CHAR, pattern="")
"""In place of a regex about which an error was reported."""

EMPTY = TerminalRegex(regex.EMPTY_TEXT, only_empty=True, pattern="")


class TerminalLowering:
    """Lowers terminals and, in rules, the literals that are terminals without a name."""

    def __init__(
        self, limits: Limits, patterns: PatternAccount, problems: Problems, *, is_alone: Callable[[], bool]
    ) -> None:
        """`patterns` counts those that take Python to read, and may raise LimitExceeded.

        is_alone  whether a lexeme ends only before what it cannot go on with, and there is nothing but text
        """
        self._limits = limits
        self._is_alone = cache(is_alone)
        self._patterns = patterns
        self._problems = problems
        self._strings: dict[tuple[str, bool], TerminalRegex] = {}
        self._joined: dict[str, Lexeme] = {}  # by the one regex that they are
        self.has_lazy_end = False  # whether some pattern ends in a lazy quantifier

    def define(self, definitions: Mapping[str, nodes.Definition]) -> dict[str, TerminalRegex]:
        """The regex of each definition, as a part of others: see `whole`. Reports recursion and what they cannot hold.

        Raises LimitExceeded. Linear.
        """
        done: dict[str, TerminalRegex] = {}
        for name in self._in_order(definitions):
            # A terminal of a cycle comes before what it uses; its cycle was reported.
            definition = definitions[name]
            done[name] = self._kept(definition, done) if definition.is_shared else self._parts(definition.body, done)
        return done

    def _kept(self, definition: nodes.Definition, done: Mapping[str, TerminalRegex]) -> TerminalRegex:
        """The regex of a definition that many grammars import, for all of them that mean the same by its names."""
        used = {name: done[name] for name in definition.used_names if name in done}
        kept = _KEPT.get(definition)
        if kept is None or kept.limits != self._limits or kept.used != used:
            kept = _KEPT[definition] = _Kept(self._limits, used, self._parts(definition.body, done))
        return kept.made

    def lower(self, body: nodes.Expression, known: Mapping[str, TerminalRegex]) -> TerminalRegex:
        """The regex of a terminal expression; names are looked up in `known`; others were reported before."""
        return self.whole(self._parts(body, known), body)

    def _parts(self, body: nodes.Expression, known: Mapping[str, TerminalRegex]) -> TerminalRegex:
        def combine(node: nodes.Expression, parts: list[TerminalRegex]) -> TerminalRegex:
            if isinstance(node, nodes.Name):
                return known.get(node.text) or self._extension(node)
            if isinstance(node, (nodes.String, nodes.Pattern)):
                return self.literal(node)
            if isinstance(node, (nodes.SpecialTokens, nodes.JsonBlock, nodes.LarkBlock, nodes.Subgrammar)):
                return self._refuse(node)
            if isinstance(node, nodes.Alias):
                self._problems.error("lark-alias-in-terminal", "terminals have no aliases", node.span)
                return INVALID
            if isinstance(node, nodes.Conditional):
                message, help = "a terminal has no conditions", "use the condition in a rule"
                self._problems.error("lark-condition-in-terminal", message, node.condition_span, help=help)
                return INVALID
            if isinstance(node, nodes.TemplateUse):
                return self._template(node, parts)
            return self._combine(node, parts) if parts else self.literal(node)

        return nodes.fold(body, combine)

    def whole(self, lowered: TerminalRegex, node: nodes.Expression) -> TerminalRegex:
        """What is a lexeme, as one regex: lazy quantifiers in it then see all that follows them."""
        if not lowered.is_joined:
            return lowered
        if lowered.pattern is None:
            message = "what follows a lazy quantifier in this terminal cannot be said by a regex"
            help = 'write what the repetition may hold instead, as in `/[^"]*/`'
            self._problems.error("lark-lazy-part", message, node.span, help=help)
            return INVALID
        if lowered.pattern not in self._joined:
            self._patterns.charge(lowered.pattern)
            try:
                source_name = f"{node.span.source.name}, the terminal as one regex"
                lexeme = parse_lexeme(
                    lowered.pattern,
                    limits=self._limits,
                    source_name=source_name,
                    named_groups=True,
                    keep_excluded=True,
                )
            except GrammarError as error:
                self._problems.extend(error.diagnostics)
                return INVALID
            self._joined[lowered.pattern] = lexeme
        made = _terminal_regex(self._joined[lowered.pattern])
        return replace(lowered, tree=made.tree, edges=made.edges, is_joined=False)

    def check_used(self, lowered: TerminalRegex, node: nodes.Expression) -> None:
        """Report what cannot be a lexeme where `node` uses it as one."""
        if not lowered.edges or not is_empty_by_assertion(lowered.edges):
            return
        message = "this may match the empty text, depending on what stands around it, which is not supported"
        help = "let it match one character at least: write `+` for `*`, say"
        self._problems.error("lark-empty-by-assertion", message, node.span, help=help)

    def terminals(
        self, name: str, lowered: TerminalRegex, priority: int, span: Span, node: nodes.Expression
    ) -> ir.Expr:
        """A terminal, or one for each pair of conditions that it has on the text around it; `node` is what it is."""
        if not lowered.edges:
            return ir.Terminal(name, lowered.tree, priority, span=span)
        edges = alone(lowered.edges) if self._is_alone() else lowered.edges
        try:
            return terminals_of(in_cases(edges), name, priority, span)
        except TooEntangled:
            while isinstance(node, (nodes.Sequence, nodes.Choice)) and len(node.parts) == 1:
                node = node.parts[0]
            pattern = node.body.text if isinstance(node, nodes.Pattern) else ""
            self._problems.extend(with_help([_too_complex(node.span)], pattern))
            return ir.Sequence(())

    def literal(self, node: nodes.Expression) -> TerminalRegex:
        """The regex of an expression that has no parts."""
        if isinstance(node, nodes.String):
            key = node.value, node.ignore_case
            if key not in self._strings:
                self._strings[key] = _string(node)
            return self._strings[key]
        if isinstance(node, nodes.Pattern):
            return self._pattern(node)
        if isinstance(node, nodes.CharacterRange):
            tree = regex.char_class([(node.first, node.last)])
            return TerminalRegex(tree, pattern=one_regex.of_range(node))
        if isinstance(node, nodes.RegexBlock):
            return self._regex_block(node)
        if isinstance(node, nodes.Sequence):
            return EMPTY
        return INVALID

    def _regex_block(self, node: nodes.RegexBlock) -> TerminalRegex:
        try:
            tree = regex_of_block(node.value)
        except LiteralError as error:
            place = node.value.within(error.start, error.end)
            self._problems.error(error.code, error.message, place, help=error.help)
            return INVALID
        return TerminalRegex(tree, only_empty=isinstance(tree, regex.Substring) and not any(tree.chunks))

    def _extension(self, node: nodes.Name) -> TerminalRegex:
        """What a name stands for that the grammar does not define; unknown ones were reported."""
        if node.text in EXTENSION_TOKENS:
            return self._refuse(node)
        tree = EXTENSION_TEXTS.get(node.text)
        return INVALID if tree is None else TerminalRegex(tree, pattern=f"(?P<{node.text}>)")

    def _template(self, node: nodes.TemplateUse, parts: list[TerminalRegex]) -> TerminalRegex:
        template = EXTENSION_TEMPLATES.get(node.name)
        if template is None or not template.takes(len(parts)):
            return INVALID  # a rule, or a wrong use: either was reported
        if any(part.edges for part in parts):
            message = f"`{node.name}` cannot be made of what looks at the text around it"
            help = "put the assertion and what it looks at into one regex"
            self._problems.error("lark-edges-in-one-terminal", message, node.span, help=help)
            return INVALID
        if template.build is not None:
            parts = [self.whole(part, child) for part, child in zip(parts, node.arguments, strict=True)]
            made = template.build([part.tree for part in parts])
            return replace(self._nested(made, node, parts, only_empty=False), pattern=None)
        tree = substring_argument(node.arguments[0])
        if tree is None:
            message = f"`{node.name}` takes a string, without flags"
            self._problems.error("lark-template-arguments", message, node.arguments[0].span)
            return INVALID
        return TerminalRegex(tree, only_empty=parts[0].only_empty)

    def joined(self, first: TerminalRegex, second: TerminalRegex, node: nodes.Expression) -> TerminalRegex:
        """One after the other; `node` is the place of both."""
        return self.whole(self._combine(nodes.Sequence((node, node), node.span), [first, second]), node)

    def at_most(self, whole: TerminalRegex, n_characters: int) -> TerminalRegex:
        """The texts of a regex that have so many characters or fewer."""
        within = regex.Repetition(regex.ANY_CHAR, 0, n_characters)
        return replace(whole, tree=regex.Intersection((whole.tree, within)), pattern=None)

    def _pattern(self, node: nodes.Pattern) -> TerminalRegex:
        text = node.span.source.text[node.body.start : node.body.end]
        # Of a class of ampersands, say, Rust's reading has errors.
        if _CLASS_OPERATION.search(text) and (in_rust := self._in_rust(node, text)) is not None:
            return in_rust
        try:
            lexeme = self._lexeme(node, text, "python")
        except GrammarError as error:
            only_in_rust = {problem.code for problem in error.diagnostics} <= _ONLY_IN_RUST
            if only_in_rust and (in_rust := self._in_rust(node, text)) is not None:
                return in_rust
            if (comment := comment_at(node.span.source, node.span.start)) is not None:
                message = comment.message or "this is no regex"
                self._problems.error("lark-syntax", message, comment.span, help=comment.help, fix=comment.fix)
                return INVALID
            self._problems.extend(with_help(error.diagnostics, text))
            return INVALID
        pattern = one_regex.of_pattern(node, text)
        self.has_lazy_end |= LAZY_AT_END.search(text) is not None
        return replace(_terminal_regex(lexeme), pattern=pattern, is_lazy=has_lazy(text, node.flags))

    def _in_rust(self, node: nodes.Pattern, text: str) -> TerminalRegex | None:
        """What a pattern is in Rust's syntax; None where it has errors there. No regex of Python's says the same."""
        try:
            lexeme = self._lexeme(node, text, "rust")
        except GrammarError:
            return None
        return replace(_terminal_regex(lexeme), is_lazy=has_lazy(text, node.flags, "rust"))

    def _lexeme(self, node: nodes.Pattern, text: str, dialect: DialectName) -> Lexeme:
        self._patterns.charge(text)
        return parse_lexeme(
            text,
            dialect=dialect,
            flags=node.flags,
            span=node.body,
            limits=self._limits,
            source_name=node.span.source.name,
            named_groups=True,
            keep_excluded=True,
        )

    def with_tokens(self, node: nodes.Pattern) -> ir.Expr | None:
        """What stands in a rule for a pattern some of whose groups are tokens; None for any other pattern."""
        text = node.body.source.text[node.body.start : node.body.end]
        if not TOKEN_GROUP.search(text):
            return None
        try:
            return parse_extended(text, flags=node.flags, context="lexeme", span=node.body, limits=self._limits)
        except GrammarError as error:
            self._problems.extend(error.diagnostics)
            return ir.Sequence(())

    def _combine(self, node: nodes.Expression, parts: list[TerminalRegex]) -> TerminalRegex:
        if len(parts) == 1 and isinstance(node, (nodes.Sequence, nodes.Choice, nodes.Intersection)):
            return parts[0]
        if isinstance(node, (nodes.Intersection, nodes.Complement)):
            # Each is a regex of its own.
            parts = [self.whole(part, child) for part, child in zip(parts, nodes.children(node), strict=True)]
        if any(part.edges for part in parts):
            return self._combine_edges(node, parts)
        trees = tuple(part.tree for part in parts)
        all_empty = all(part.only_empty for part in parts)
        if isinstance(node, nodes.Sequence):
            return self._nested(regex.Concatenation(trees), node, parts, all_empty)
        if isinstance(node, nodes.Choice):
            return self._nested(regex.Alternation(trees), node, parts, all_empty)
        if isinstance(node, nodes.Intersection):
            return self._nested(regex.Intersection(trees), node, parts, all_empty)
        if isinstance(node, nodes.Complement):
            return self._nested(regex.Complement(trees[0]), node, parts, False)
        assert isinstance(node, nodes.Repeat)
        if node.maximum == 0:
            return EMPTY
        return self._nested(regex.Repetition(trees[0], node.minimum, node.maximum), node, parts, all_empty)

    def _nested(
        self, tree: regex.RegexTree, node: nodes.Expression, parts: list[TerminalRegex], only_empty: bool
    ) -> TerminalRegex:
        depth, is_lazy = 1, False
        for part in parts:
            depth = max(depth, part.depth + 1)
            is_lazy |= part.is_lazy
        if depth > self._limits.max_nesting:
            raise LimitExceeded("max_nesting", self._limits.max_nesting, "terminals inside terminals")
        pattern = one_regex.of_parts(node, [part.pattern for part in parts])
        return TerminalRegex(tree, (), depth, only_empty, pattern, is_lazy, is_lazy and _is_joined(node, parts))

    def _combine_edges(self, node: nodes.Expression, parts: list[TerminalRegex]) -> TerminalRegex:
        """Terminals of which some look at what stands beside them: at each other first."""
        if isinstance(node, nodes.Complement):
            message = "`~` cannot be taken of what looks at the text around it"
            self._problems.error("lark-complement-of-edges", message, node.span, help="list what may stand there")
            return INVALID
        cases = [part.cases for part in parts]
        try:
            if isinstance(node, nodes.Sequence):
                lexeme = in_sequence(cases)
            elif isinstance(node, nodes.Choice):
                lexeme = any_of(cases)
            elif isinstance(node, nodes.Intersection):
                lexeme = all_of(cases)
            else:
                assert isinstance(node, nodes.Repeat)
                lexeme = repeated(cases[0], node.minimum, node.maximum)
        except TooEntangled:
            self._problems.extend([_too_complex(node.span)])
            return INVALID
        made = _terminal_regex(lexeme)
        return replace(self._nested(made.tree, node, parts, made.only_empty), edges=made.edges)

    def _refuse(self, node: nodes.Name | nodes.SpecialTokens | nodes.Inner) -> TerminalRegex:
        if isinstance(node, nodes.Name):
            code, message = "lark-token-in-terminal", f"`{node.text}` is a token and cannot be part of a terminal"
        elif isinstance(node, nodes.SpecialTokens):
            code, message = "lark-token-in-terminal", "special tokens have no text and cannot be part of a terminal"
        elif isinstance(node, nodes.JsonBlock):
            code, message = "lark-json-in-terminal", "`%json` is a rule's and cannot be part of a terminal"
        else:
            code, message = "lark-grammar-in-terminal", "another grammar cannot be part of a terminal"
        self._problems.error(code, message, node.span, help="use it in a rule")
        return INVALID

    def _in_order(self, definitions: Mapping[str, nodes.Definition]) -> Iterable[str]:
        """The names, each after those that it uses. Reports every cycle, once."""
        order: list[str] = []
        state: dict[str, bool] = {}  # False while what the terminal uses is being visited, True after it
        for root in definitions:
            path: list[str] = []
            pending: list[tuple[str, bool]] = [(root, False)]
            while pending:
                name, uses_done = pending.pop()
                if uses_done:
                    state[name] = True
                    order.append(path.pop())
                elif name not in state:
                    state[name] = False
                    path.append(name)
                    pending.append((name, True))
                    pending.extend((used, False) for used in reversed(_used_terminals(definitions[name], definitions)))
                elif not state[name]:
                    self._report_cycle(path[path.index(name) :], definitions)
        return order

    def _report_cycle(self, cycle: list[str], definitions: Mapping[str, nodes.Definition]) -> None:
        shown = [*cycle[:5], "..."] if len(cycle) > 5 else [*cycle, cycle[0]]
        self._problems.error(
            "lark-recursive-terminal",
            f"the terminal `{cycle[0]}` contains itself" + (f": {' -> '.join(shown)}" if len(cycle) > 1 else ""),
            definitions[cycle[0]].span,
            help="a terminal is one regex; recursion needs rules, whose names are in lower case",
        )


def _too_complex(span: Span) -> Diagnostic:
    message = "the assertions here depend on each other in too many ways"
    help = "write what may stand there as part of one regex"
    return Diagnostic("regex-assertions-too-complex", message, span, help=help)


def _is_joined(node: nodes.Expression, parts: list[TerminalRegex]) -> bool:
    """Whether lazy quantifiers in some part look at another."""
    if isinstance(node, nodes.Repeat) and node.maximum != 1:
        return parts[0].is_lazy
    followed = parts[:-1] if isinstance(node, nodes.Sequence) else []
    return any(part.is_joined for part in parts) or any(part.is_lazy for part in followed)


def _terminal_regex(lexeme: Lexeme) -> TerminalRegex:
    tree = texts_anywhere(lexeme)
    if tree is not None:
        return TerminalRegex(tree, only_empty=isinstance(tree, regex.Literal) and not tree.data)
    return TerminalRegex(regex.Alternation(tuple(case.tree for case in lexeme)), edges=lexeme)


def _used_terminals(definition: nodes.Definition, definitions: Mapping[str, nodes.Definition]) -> list[str]:
    """The defined terminals that a definition uses, each once, in order."""
    names = (node.text for node in definition.uses if isinstance(node, nodes.Name))
    return [name for name in dict.fromkeys(names) if name in definitions]


def _string(node: nodes.String) -> TerminalRegex:
    pattern, only_empty = one_regex.of_string(node), not node.value
    if not node.ignore_case:
        return TerminalRegex(regex.text(node.value), only_empty=only_empty, pattern=pattern)
    parts = tuple(_any_case(character) for character in node.value)
    tree = parts[0] if len(parts) == 1 else regex.Concatenation(parts)
    return TerminalRegex(tree, only_empty=only_empty, pattern=pattern)


@lru_cache(maxsize=4096)
def _any_case(character: str) -> regex.RegexTree:
    """What the character matches under the flag `i`, as regexes have it."""
    alone = regex.char_class([(ord(character), ord(character))])
    alike = closure(alone, "python")
    return regex.text(character) if alike == alone else alike
