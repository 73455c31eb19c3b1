"""`compile`: a grammar and a vocabulary become one `CompiledGrammar`.

Rules are handed to the core's builder as they are: a group becomes a nonterminal of its own, repetition stays a symbol.
Everything that masks need later is native; nothing here is called again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from cfgmask import _core
from cfgmask.compiler.arguments import check_arguments
from cfgmask.compiler.conditions import steps
from cfgmask.compiler.explanation import Places, RulePlace, remember_places
from cfgmask.compiler.grammar import PATTERN_SOURCE, Grammar
from cfgmask.compiler.missing_bytes import missing_bytes
from cfgmask.compiler.named_ends import remember_last_tokens, remember_named_ends
from cfgmask.compiler.own_tokens import remember_encoder
from cfgmask.compiler.readings import remember_names, remember_reading
from cfgmask.compiler.sources import register_pickling, remember_source
from cfgmask.compiler.token_sets import resolve
from cfgmask.diagnostics import Diagnostic, Related
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import (
    Choice,
    Expr,
    GrammarIR,
    Guarded,
    Part,
    Repeat,
    Rule,
    RuleRef,
    Scope,
    Sequence,
    Slot,
    Terminal,
    TokenSet,
    Variants,
)
from cfgmask.grammar.limited_rules import with_limited_rules
from cfgmask.grammar.parameters import Argument, Masked
from cfgmask.grammar.parts import expanded, parts_of, with_lazy_parts
from cfgmask.grammar.regex_tree import MAX_COUNT, Alternation
from cfgmask.json_schema.session import session
from cfgmask.lark import PlainGrammar
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.regex.lowering import RegexLowering
from cfgmask.tags.token_ids import ids_of
from cfgmask.vocabulary import Vocabulary

# As VocabularyStores has.
MAX_SHARDS = 256

# Nodes of what must stand before a lexeme and after it.
_Conditions: TypeAlias = tuple[int | None, int | None]


def compile(
    grammar: Grammar | GrammarIR, vocabulary: Vocabulary, limits: Limits | None = None, *, shard: int = 0
) -> _core.CompiledGrammar:
    """Bind a grammar to a vocabulary.

    limits   bounds on the cost of matching; None: the defaults of `Limits`
    shard    a number below 256. Grammars of one shard share tables of the vocabulary, and a lock; `fill_masks` computes
             new masks of different shards in parallel
    returns  a CompiledGrammar, which any number of threads may share; `matcher()` makes a matcher for one text
    Errors: GrammarError if the grammar names tokens that the vocabulary lacks, matches no text at all, or needs bytes
    that no token of the vocabulary contains; TypeError and ValueError for other arguments; LimitExceeded.
    Cost: linear in the grammar. States are computed when a text first reaches them. The first grammar of a vocabulary
    also builds its trie: 70 ms for 128,256 tokens.

    Example: compiled = cfgmask.compile(cfgmask.Grammar.from_regex("[0-9]+"), vocabulary)
    """
    check_arguments(grammar, vocabulary, limits)
    if not isinstance(shard, int) or not 0 <= shard < MAX_SHARDS:
        raise ValueError(f"shard must be an integer from 0 to {MAX_SHARDS - 1}, not {shard!r}")
    limits = limits or DEFAULT_LIMITS
    try:
        compiled = _compiled(grammar, vocabulary, limits, shard)
    except GrammarError as error:
        explained = missing_bytes(error, grammar, vocabulary, partial(_compiled, limits=limits, shard=shard))
        if explained is None:
            raise
        raise explained from None
    if isinstance(grammar, Grammar) and grammar._ends is not None:
        ids = ids_of(vocabulary)
        remember_last_tokens(compiled, {i for text in grammar._ends for i in ids.last(text)})
        remember_names(compiled, vocabulary.special_tokens)
    remember_encoder(compiled, vocabulary)
    remember_source(compiled, grammar, vocabulary, limits, shard)
    if isinstance(grammar, Grammar):
        remember_reading(compiled, grammar._reading)
    return compiled


register_pickling(compile)


def _compiled(
    grammar: Grammar | GrammarIR, vocabulary: Vocabulary, limits: Limits, shard: int
) -> _core.CompiledGrammar:
    if isinstance(grammar, GrammarIR):
        return _build(grammar, vocabulary, limits, shard)
    written = grammar.written_with(vocabulary.core)
    if written is not None:
        return _build(written, vocabulary, limits, shard)
    plain = grammar.plain
    if isinstance(plain, PlainGrammar):
        return _build_lark(plain, vocabulary, limits, shard)
    if plain is not None and not isinstance(plain, GrammarIR):
        return _build_plain(plain, vocabulary.core, limits, shard)
    return _build(grammar.compact_ir_for(vocabulary), vocabulary, limits, shard)


def _build(ir: GrammarIR, vocabulary: Vocabulary, limits: Limits, shard: int) -> _core.CompiledGrammar:
    return _Build(ir, vocabulary, limits, shard).run(partial(_build, ir, vocabulary, limits, shard))


def _build_plain(
    schema: _core.PlainSchema, vocabulary: _core.TokenTable, limits: Limits, shard: int
) -> _core.CompiledGrammar:
    builder = _core.GrammarBuilder(vocabulary, vars(limits), shard)
    handed_over = builder.plain_schema(schema)
    compile_anew = partial(_build_plain, schema, vocabulary, limits, shard)
    return builder.build(vocabulary, compile_anew, *handed_over, False, False, False)


def _build_lark(plain: PlainGrammar, vocabulary: Vocabulary, limits: Limits, shard: int) -> _core.CompiledGrammar:
    builder = _core.GrammarBuilder(vocabulary.core, vars(limits), shard)
    handed_over = builder.plain_lark(plain.core)
    compile_anew = partial(_build_lark, plain, vocabulary, limits, shard)
    try:
        compiled = builder.build(vocabulary.core, compile_anew, *handed_over)
    except ValueError:
        # There is no text, which is told of with places.
        return _build(plain.lower(), vocabulary, limits, shard)
    remember_places(compiled, partial(_places_of, plain, limits))
    return compiled


def _places_of(plain: PlainGrammar, limits: Limits) -> Places:
    """What the long way has for the symbols, whose numbers are the same. None of them are tokens.

    Whoever remembers this lives as long as the process: it must lead neither to the grammar nor to its vocabulary.
    """
    vocabulary = Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_token_id=256)
    try:
        return _Build(plain.lower(), vocabulary, limits, 0).places()
    except LimitExceeded:
        # What it shares with other grammars of its own vocabulary is not free here.
        return Places([], [], [])


def _scope(scope: Scope, builder: _core.GrammarBuilder, regexes: RegexLowering) -> int:
    """What a scope ignores under the same conditions is one terminal, the alternation."""
    number = builder.scope(scope.ignore_once)
    ignored: dict[_Conditions, list[Terminal]] = {}
    for terminal in scope.ignore:
        ignored.setdefault(_conditions(terminal, regexes), []).append(terminal)
    for conditions, terminals in ignored.items():
        regex = regexes.node(Alternation(tuple(terminal.regex for terminal in terminals)))
        name = " | ".join(dict.fromkeys(terminal.name for terminal in terminals))
        builder.ignore(number, regex, name, *conditions)
    return number


def _conditions(terminal: Terminal, regexes: RegexLowering) -> _Conditions:
    before = None if terminal.before is None else regexes.node(terminal.before)
    return before, None if terminal.after is None else regexes.node(terminal.after)


def _unwritable(ir: GrammarIR, vocabulary: _core.TokenTable) -> list[Part]:
    """The parts of which the vocabulary may not be able to write some values.

    JSON takes no more than printable ASCII; strings of other forms have no escapes.
    """
    if vocabulary.holds_every_byte:
        return []
    return [part for part in parts_of(ir) if part.form is not None or not vocabulary.writes_json]


_SLOTS = {"text": _core.ROW_TEXT, "part": _core.ROW_PART}


class _Build:
    def __init__(self, ir: GrammarIR, vocabulary: Vocabulary, limits: Limits, shard: int) -> None:
        with session(limits):
            # The rules that the core makes of such parts later would have texts that the vocabulary cannot write.
            parted = with_lazy_parts(expanded(ir, _unwritable(ir, vocabulary.core)))
            self._ir = ir = with_limited_rules(parted)
        self._vocabulary = vocabulary
        self._builder = _core.GrammarBuilder(vocabulary.core, vars(limits), shard)
        self._regexes = RegexLowering(self._builder, limits)
        self._problems: list[Diagnostic] = []
        self._scopes: list[int] = []
        self._rules: dict[str, int] = {}
        self._parts: dict[int, int] = {}  # by identity, which the grammar keeps alive
        self._terminals: dict[tuple[int, int, int, str, tuple[bool | int | str | None, ...]], int] = {}
        self._seen_terminals: dict[tuple[int, int], int] = {}  # by identity, which the grammar keeps alive
        self._rows: dict[int, tuple[list[int], list[int]]] = {}  # by identity, which the grammar keeps alive
        self._token_sets: dict[tuple[TokenSet, int], int] = {}
        self._places = Places([], [], [])
        self._rule_places: dict[str, RulePlace] = {}
        self._named_ends: set[int] = set()
        self._too_long: list[Terminal] = []  # the limit holds no text of them
        self._empty: list[Terminal] = []  # nor does anything else match them
        self._n_groups = 0

    def run(self, compile_anew: Callable[[], _core.CompiledGrammar]) -> _core.CompiledGrammar:
        ir = self._ir
        self._hand_over()
        start = next(rule for rule in ir.rules if rule.name == ir.start)
        try:
            compiled = self._builder.build(
                self._vocabulary.core,
                compile_anew,
                self._rules[ir.start],
                self._scopes[start.scope],
                ir.lexer == "complete",
                ir.ignore_initial,
                ir.ignore_final,
            )
        except ValueError:
            raise self._matches_nothing(start) from None
        remember_places(compiled, self._places)
        remember_named_ends(compiled, self._named_ends)
        return compiled

    def places(self) -> Places:
        """Where the symbols of what `run` would give stand in the grammar's text."""
        self._hand_over()
        return self._places

    def _hand_over(self) -> None:
        ir, builder = self._ir, self._builder
        self._scopes = [_scope(scope, builder, self._regexes) for scope in ir.scopes]
        if ir.indenter is not None:
            newline = self._regexes.node(ir.indenter.newline.regex)
            builder.indenter(newline, self._scopes[ir.indenter.scope], ir.indenter.tab_len, ir.indenter.newline.name)
        for rule in ir.rules:
            self._rules[rule.name] = self._nonterminal(rule)
        for rule in ir.rules:
            self._alternatives(rule)
        if self._problems:
            raise GrammarError(self._problems)

    def _matches_nothing(self, start: Rule) -> GrammarError:
        message = f"the grammar matches no text at all: its start rule {self._ir.start!r} can never end"
        help = "give each rule a way to end"
        if start.span is not None and start.span.source.name == PATTERN_SOURCE:
            # Nobody wrote a rule `start`, so the message speaks of the pattern.
            message = "the pattern matches no text at all"
            help = "it is matched against a whole text: nothing stands before it, or behind it, for assertions to see"
            return GrammarError([Diagnostic("grammar-empty", message, span=start.span, help=help)])
        related = [(terminal.span, "this terminal matches no text") for terminal in self._empty]
        limited = [rule for rule in self._ir.rules if rule.max_tokens is not None]
        too_long: list[Terminal | Rule] = [*self._too_long]
        too_long += (rule for rule in limited if not self._builder.is_closed(self._rules[rule.name]))
        if too_long:
            help = "raise `max_tokens`: this vocabulary cannot spell the marked rules in so few tokens"
        related += ((m.span, f"its shortest text takes more than {m.max_tokens} tokens") for m in too_long)
        places = tuple(Related(span, text) for span, text in related if span is not None)
        return GrammarError([Diagnostic("grammar-empty", message, span=start.span, related=places, help=help)])

    def _nonterminal(self, rule: Rule) -> int:
        place = self._rule_places[rule.name] = RulePlace(rule.shown_name, rule.span)
        self._places.nonterminals.append(place)
        bounds = {} if rule.opens_set is None else {"opens_set": True, **vars(rule.opens_set)}
        nonterminal = self._builder.nonterminal(rule.name, **bounds)
        if rule.capture is not None or rule.temperature is not None:
            self._builder.mark(nonterminal, rule.capture or "", rule.temperature)
        if rule.max_tokens is not None:
            self._builder.limit(nonterminal, rule.max_tokens)
        return nonterminal

    def _alternatives(self, rule: Rule) -> None:
        """Hand over the alternatives of a rule and of the groups inside it.

        Groups wait in a list instead of on Python's stack: a schema nests deeper than that may.
        """
        pending = [(self._rules[rule.name], rule.body)]
        while pending:
            owner, expr = pending.pop()
            for part in expr.parts if isinstance(expr, Choice) else (expr,):
                if isinstance(part, Variants):
                    self._variants(owner, part, rule, pending)
                    continue
                condition = steps(part.condition) if isinstance(part, Guarded) else []
                body = part.body if isinstance(part, Guarded) else part
                symbols = body.parts if isinstance(body, Sequence) else (body,)
                self._builder.alternative(owner, [self._symbol(s, rule, pending) for s in symbols], condition)

    def _check_counts(self, repeat: Repeat, rule: str) -> None:
        for count in (repeat.minimum, repeat.maximum or 0):
            if count > MAX_COUNT:
                message = f"rule {rule!r} repeats something {count} times, more than {MAX_COUNT}"
                raise GrammarError([Diagnostic("count-too-large", message, help="leave the bound out, or lower it")])

    def _symbol(self, expr: Expr, rule: Rule, pending: list[tuple[int, Expr]]) -> int:
        if isinstance(expr, RuleRef):
            called = self._rules[expr.name]
            return called if expr.argument is None else self._call(called, expr.argument)
        if isinstance(expr, Terminal):
            return self._terminal(expr, rule.scope)
        if isinstance(expr, Part):
            return self._part(expr, rule.scope)
        if isinstance(expr, TokenSet):
            return self._token_set(expr, rule.scope)
        if isinstance(expr, Slot):
            return _SLOTS[expr.of]
        if isinstance(expr, Repeat):
            self._check_counts(expr, rule.name)
            nested = isinstance(expr.body, Repeat)
            body = self._group(expr.body, rule, pending) if nested else self._symbol(expr.body, rule, pending)
            return self._builder.repeat(body, expr.minimum, expr.maximum)
        return self._group(expr, rule, pending)

    def _part(self, part: Part, scope: int) -> int:
        if id(part) not in self._parts:
            place = RulePlace(part.name.rstrip(":") or "schema", part.span)
            self._places.nonterminals.append(place)
            tokens = [self._token_set(tokens, scope) for tokens in part.tokens]
            symbol, _ = self._builder.plain_schema(part.schema, part.form, tokens)
            if part.may_be_empty:
                self._places.nonterminals.append(place)
                values, symbol = symbol, self._builder.nonterminal(part.name)
                self._builder.alternative(symbol, [values])
                self._builder.alternative(symbol, [])
            self._parts[id(part)] = symbol
        return self._parts[id(part)]

    def _variants(self, owner: int, variants: Variants, rule: Rule, pending: list[tuple[int, Expr]]) -> None:
        rows = variants.rows
        if id(rows) not in self._rows:
            # In the order in which the builder makes their symbols.
            name, value = (RulePlace(capture or "row", rule.span) for capture in rows.captures)
            self._places.terminals.extend([rule.span] * len(rows.texts))
            self._places.nonterminals.extend(place for place in (name, value, value) for _ in rows.texts)
            self._rows[id(rows)] = self._builder.rows(
                rows.texts,
                [part.schema for part in rows.parts],
                [part.may_be_empty for part in rows.parts],
                *rows.captures,
                self._scopes[rule.scope],
                rows.parts[0].form,
                [self._token_set(tokens, rule.scope) for tokens in rows.parts[0].tokens],
            )
        self._builder.variants(owner, [self._symbol(s, rule, pending) for s in variants.body], self._rows[id(rows)])

    def _group(self, expr: Expr, rule: Rule, pending: list[tuple[int, Expr]]) -> int:
        """A nonterminal for part of a rule, which has the rule's parameter."""
        self._n_groups += 1
        self._places.nonterminals.append(self._rule_places[rule.name])
        group = self._builder.nonterminal(f"{rule.name}.{self._n_groups}")
        pending.append((group, expr))
        return self._call(group, Masked()) if rule.parametric else group

    def _call(self, nonterminal: int, argument: Argument) -> int:
        if isinstance(argument, Masked):
            return self._builder.call(nonterminal, argument.keep, argument.set)
        return self._builder.call_counting(nonterminal, argument.bits.low, argument.bits.high, argument.up)

    def _terminal(self, terminal: Terminal, scope: int) -> int:
        seen = self._seen_terminals.get((id(terminal), scope))
        if seen is None:
            seen = self._seen_terminals[id(terminal), scope] = self._new_terminal(terminal, scope)
        return seen

    def _new_terminal(self, terminal: Terminal, scope: int) -> int:
        more = (
            terminal.distinct,
            terminal.closes_set,
            terminal.lazy,
            *_conditions(terminal, self._regexes),
            terminal.max_tokens,
        )
        regex, priority, name = self._regexes.node(terminal.regex), terminal.priority, terminal.name
        key = (regex, scope, priority, name, (*more, terminal.role, terminal.endless, *terminal.step))
        if key not in self._terminals:
            self._places.terminals.append(terminal.span)
            made = self._builder.terminal(regex, self._scopes[scope], priority, name, *more)
            if terminal.role:
                self._builder.role(made, terminal.role)
            if terminal.endless:
                self._builder.endless(made, terminal.endless)
            if terminal.step.place:
                self._builder.step(made, terminal.step)
            if terminal.suffix is not None:
                parts = (self._regexes.node(terminal.suffix.body), self._regexes.node(terminal.suffix.end))
                self._builder.suffix(made, *parts, terminal.suffix.capture or "")
            if not self._builder.matches_text(made):
                (self._too_long if terminal.max_tokens else self._empty).append(terminal)
            self._terminals[key] = made
        return self._terminals[key]

    def _token_set(self, tokens: TokenSet, scope: int) -> int:
        key = (tokens, scope)
        if key not in self._token_sets:
            self._places.token_sets.append(tokens.span)
            self._token_sets[key] = self._new_token_set(tokens, self._scopes[scope])
        return self._token_sets[key]

    def _new_token_set(self, tokens: TokenSet, scope: int) -> int:
        if tokens.kind in ("indent", "dedent"):
            return self._builder.indent(tokens.kind == "dedent", scope, tokens.text)
        ids = resolve(tokens, self._vocabulary, self._problems)
        if not tokens.is_last:
            self._named_ends.update(set(ids).intersection(self._vocabulary.eos_token_ids))
        return self._builder.token_set(ids, scope, tokens.text)
