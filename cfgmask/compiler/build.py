"""`compile`: a grammar and a vocabulary become one `CompiledGrammar`.

Rules are handed to the core as they are, one by one: the core makes symbols of it and numbers them.
Everything that masks need later is native; nothing here is called again, not even where a grammar's caches begin anew.
"""

from __future__ import annotations

from functools import partial

from cfgmask import _core
from cfgmask.compiler.arguments import check_arguments
from cfgmask.compiler.conditions import steps
from cfgmask.compiler.explanation import RulePlace, remember_places
from cfgmask.compiler.grammar import PATTERN_SOURCE, Grammar
from cfgmask.compiler.missing_bytes import missing_bytes
from cfgmask.compiler.named_ends import remember_last_tokens, remember_named_ends
from cfgmask.compiler.own_tokens import remember_encoder
from cfgmask.compiler.readings import remember_names, remember_reading
from cfgmask.compiler.sources import register_pickling, remember_source
from cfgmask.compiler.token_sets import resolve
from cfgmask.diagnostics import Diagnostic, Related, Span
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import (
    Choice,
    Expr,
    GrammarIR,
    Guarded,
    Part,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    Terminal,
    TokenSet,
    Variants,
)
from cfgmask.grammar.limited_rules import with_limited_rules
from cfgmask.grammar.parameters import Argument, Masked
from cfgmask.grammar.parts import expanded, parts_of, with_lazy_parts, without_limited_parts
from cfgmask.grammar.regex_tree import MAX_COUNT
from cfgmask.grammar.walk import fold
from cfgmask.json_schema.session import session
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.tags.token_ids import ids_of
from cfgmask.vocabulary import Vocabulary

# As VocabularyStores has.
MAX_SHARDS = 256


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
        remember_names(compiled, vocabulary)
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
    lazy = grammar.lazy
    if lazy is not None and not isinstance(lazy, GrammarIR):
        return _core.compile_schema(lazy, vocabulary.core, vars(limits), shard)
    return _build(grammar.compact_ir_for(vocabulary), vocabulary, limits, shard)


def _build(ir: GrammarIR, vocabulary: Vocabulary, limits: Limits, shard: int) -> _core.CompiledGrammar:
    return _Build(ir, vocabulary, limits).run(shard)


def _name_and_span(part: Part) -> tuple[str, Span | None]:
    return part.name.rstrip(":") or "schema", part.span


def _unwritable(ir: GrammarIR, vocabulary: _core.TokenTable) -> list[Part]:
    """The parts of which the vocabulary may not be able to write some values.

    JSON takes no more than printable ASCII; strings of other forms have no escapes.
    """
    if vocabulary.holds_every_byte:
        return []
    return [part for part in parts_of(ir) if part.form is not None]


class _Build:
    def __init__(
        self, ir: GrammarIR, vocabulary: Vocabulary, limits: Limits, *, has_limited_parts: bool = True
    ) -> None:
        self._given = ir
        with session(limits):
            # The rules that the core makes of such parts later would have texts that the vocabulary cannot write.
            parted = with_lazy_parts(expanded(ir, _unwritable(ir, vocabulary.core)))
            self._ir = with_limited_rules(parted if has_limited_parts else without_limited_parts(parted))
        self._vocabulary = vocabulary
        self._limits = limits
        self._builder = _core.GrammarBuilder(limits.max_nesting)
        self._problems: list[Diagnostic] = []
        self._scopes: list[int] = []
        self._rules: dict[str, int] = {}
        self._references: dict[str, int] = {}
        # By identity, which the grammar keeps alive.
        self._parts: dict[int, int] = {}
        self._terminals: dict[tuple[int, int], int] = {}
        self._rows: dict[int, int] = {}
        self._token_sets: dict[tuple[TokenSet, int], int] = {}
        self._token_ids: list[list[int]] = []
        self._places: list[tuple[str, Span | None]] = []
        self._limited: dict[int, Terminal | Rule] = {}  # by place
        self._named_ends: set[int] = set()

    def run(self, shard: int) -> _core.CompiledGrammar:
        try:
            self._hand_over()
        except OverflowError:
            raise _counts_too_far(f"a repetition counts beyond {MAX_COUNT}") from None
        if self._problems:
            raise GrammarError(self._problems)
        compiled = self._builder.compile(self._vocabulary.core, vars(self._limits), shard, self._token_ids)
        if not isinstance(compiled, _core.CompiledGrammar):
            failure, places = compiled
            if failure == "needs rules":
                return _Build(self._given, self._vocabulary, self._limits, has_limited_parts=False).run(shard)
            if failure == "distinct within limits":
                raise self._distinct_within(places)
            raise self._matches_nothing(places)
        remember_places(compiled, partial(_place_of, self._places))
        remember_named_ends(compiled, self._named_ends)
        return compiled

    def _hand_over(self) -> None:
        ir, builder = self._ir, self._builder
        for scope in ir.scopes:
            self._scopes.append(builder.scope(scope.ignore_once))
            for terminal in scope.ignore:
                builder.ignore(self._scopes[-1], terminal.regex, terminal.name, terminal.before, terminal.after)
        if ir.indenter is not None:
            newline = ir.indenter.newline
            builder.indenter(newline.regex, self._scopes[ir.indenter.scope], ir.indenter.tab_len, newline.name)
        for rule in ir.rules:
            self._rules[rule.name] = self._rule(rule)
        for rule in ir.rules:
            builder.body(self._rules[rule.name], self._body(rule))
        start = next(rule for rule in ir.rules if rule.name == ir.start)
        complete = ir.lexer == "complete"
        builder.start(
            self._reference(ir.start), self._scopes[start.scope], complete, ir.ignore_initial, ir.ignore_final
        )

    def _distinct_within(self, places: list[int]) -> GrammarError:
        """The error for limits around values that have to be there and to differ."""
        message = (
            "a limit on tokens cannot stand around values that must differ and be there: `uniqueItems` with "
            "`minItems` or with arrays and objects in it, `minProperties` of keys without names, and keys that may "
            "come in any order"
        )
        help = 'take the limit away, or what must differ; for keys, `property_order="schema"`'
        spans = [self._places[place][1] for place in places]
        return GrammarError([Diagnostic("grammar-limited-distinct", message, span=span, help=help) for span in spans])

    def _matches_nothing(self, without_texts: list[int]) -> GrammarError:
        """`without_texts`: the places of what matches no text, or none within its limit."""
        start = next(rule for rule in self._ir.rules if rule.name == self._ir.start)
        message = f"the grammar matches no text at all: its start rule {self._ir.start!r} can never end"
        help = "give each rule a way to end"
        if start.span is not None and start.span.source.name == PATTERN_SOURCE:
            # Nobody wrote a rule `start`, so the message speaks of the pattern.
            message = "the pattern matches no text at all"
            help = "it is matched against a whole text: nothing stands before it, or behind it, for assertions to see"
            return GrammarError([Diagnostic("grammar-empty", message, span=start.span, help=help)])
        too_long = [self._limited[place] for place in without_texts if place in self._limited]
        empty = [self._places[place][1] for place in without_texts if place not in self._limited]
        related = [(span, "this terminal matches no text") for span in empty]
        if too_long:
            help = "raise `max_tokens`: this vocabulary cannot spell the marked rules in so few tokens"
        related += ((m.span, f"its shortest text takes more than {m.max_tokens} tokens") for m in too_long)
        places = tuple(Related(span, text) for span, text in related if span is not None)
        return GrammarError([Diagnostic("grammar-empty", message, span=start.span, related=places, help=help)])

    def _place(self, name: str, span: Span | None) -> int:
        self._places.append((name, span))
        return len(self._places) - 1

    def _rule(self, rule: Rule) -> int:
        place = self._place(rule.shown_name, rule.span)
        if rule.max_tokens is not None:
            self._limited[place] = rule
        bounds = {} if rule.opens_set is None else {"opens_set": True, **vars(rule.opens_set)}
        return self._builder.rule(place, rule.parametric, rule.capture, rule.temperature, rule.max_tokens, **bounds)

    def _reference(self, name: str) -> int:
        if name not in self._references:
            self._references[name] = self._builder.reference(self._rules[name])
        return self._references[name]

    def _body(self, rule: Rule) -> int:
        """Most bodies are alternatives of symbols: to take them for any expression took twice as long."""
        body = rule.body
        if not isinstance(body, Choice):
            return self._alternative(rule, body)
        return self._builder.choice([self._alternative(rule, part) for part in body.parts])

    def _alternative(self, rule: Rule, expr: Expr) -> int:
        if not isinstance(expr, Sequence):
            return self._symbol(rule, expr)
        return self._builder.sequence([self._symbol(rule, part) for part in expr.parts])

    def _symbol(self, rule: Rule, expr: Expr) -> int:
        if isinstance(expr, Terminal):
            return self._terminals.get((id(expr), rule.scope)) or self._terminal(expr, rule.scope)
        if isinstance(expr, RuleRef) and expr.argument is None:
            return self._references.get(expr.name) or self._reference(expr.name)
        if isinstance(expr, Repeat) and isinstance(expr.body, (Terminal, RuleRef)):
            return self._expression(rule, expr, [self._symbol(rule, expr.body)])
        made: int = fold(expr, partial(self._expression, rule))
        return made

    def _expression(self, rule: Rule, expr: Expr, parts: list[int]) -> int:
        builder = self._builder
        if isinstance(expr, Terminal):
            return self._terminals.get((id(expr), rule.scope)) or self._terminal(expr, rule.scope)
        if isinstance(expr, RuleRef):
            return self._reference(expr.name) if expr.argument is None else self._call(expr.name, expr.argument)
        if isinstance(expr, Sequence):
            return builder.sequence(parts)
        if isinstance(expr, Choice):
            return builder.choice(parts)
        if isinstance(expr, Repeat):
            _check_counts(expr, rule.name)
            return builder.repeat(parts[0], expr.minimum, expr.maximum)
        if isinstance(expr, Guarded):
            return builder.guarded(parts[0], steps(expr.condition))
        if isinstance(expr, Part):
            return self._part(expr, rule.scope)
        if isinstance(expr, TokenSet):
            return self._token_set(expr, rule.scope)
        if isinstance(expr, Variants):
            return builder.variants(self._rows_of(expr, rule), parts)
        return builder.row_text() if expr.of == "text" else builder.row_part()

    def _call(self, name: str, argument: Argument) -> int:
        rule = self._rules[name]
        if isinstance(argument, Masked):
            return self._builder.call(rule, argument.keep, argument.set)
        return self._builder.call_counting(rule, argument.bits.low, argument.bits.high, argument.up)

    def _part(self, part: Part, scope: int) -> int:
        if id(part) not in self._parts:
            place = self._place(*_name_and_span(part))
            tokens = [self._token_set(tokens, scope) for tokens in part.tokens]
            self._parts[id(part)] = self._builder.part(part.schema, part.form, tokens, part.may_be_empty, place)
        return self._parts[id(part)]

    def _rows_of(self, variants: Variants, rule: Rule) -> int:
        rows = variants.rows
        if id(rows) not in self._rows:
            self._rows[id(rows)] = self._builder.rows(
                rows.texts,
                rows.schemas,
                rows.may_be_empty,
                *rows.captures,
                self._scopes[rule.scope],
                rows.form,
                [self._token_set(tokens, rule.scope) for tokens in rows.tokens],
                *(self._place(capture or "row", rule.span) for capture in rows.captures),
            )
        return self._rows[id(rows)]

    def _terminal(self, terminal: Terminal, scope: int) -> int:
        seen = self._terminals.get((id(terminal), scope))
        if seen is None:
            seen = self._terminals[id(terminal), scope] = self._new_terminal(terminal, scope)
        return seen

    def _new_terminal(self, terminal: Terminal, scope: int) -> int:
        place = self._place(terminal.name, terminal.span)
        if terminal.max_tokens is not None:
            self._limited[place] = terminal
        suffix = terminal.suffix
        return self._builder.terminal(
            terminal.name,
            terminal.regex,
            self._scopes[scope],
            place,
            terminal.priority,
            terminal.distinct,
            terminal.closes_set,
            terminal.lazy,
            terminal.endless,
            terminal.role,
            terminal.step,
            terminal.max_tokens,
            terminal.before,
            terminal.after,
            None if suffix is None else (suffix.body, suffix.end, suffix.capture or ""),
        )

    def _token_set(self, tokens: TokenSet, scope: int) -> int:
        key = (tokens, scope)
        if key not in self._token_sets:
            self._token_sets[key] = self._new_token_set(tokens, self._scopes[scope])
        return self._token_sets[key]

    def _new_token_set(self, tokens: TokenSet, scope: int) -> int:
        place = self._place(tokens.text, tokens.span)
        if tokens.kind in ("indent", "dedent"):
            return self._builder.indent(tokens.kind == "dedent", scope, tokens.text, place)
        ids = resolve(tokens, self._vocabulary, self._problems)
        if not tokens.is_last:
            self._named_ends.update(set(ids).intersection(self._vocabulary.eos_token_ids))
        self._token_ids.append(ids)
        return self._builder.token_set(len(self._token_ids) - 1, scope, tokens.text, place)


def _place_of(places: list[tuple[str, Span | None]], place: int) -> RulePlace:
    return RulePlace(*places[place])


def _check_counts(repeat: Repeat, rule: str) -> None:
    count = max(repeat.minimum, repeat.maximum or 0)
    if count > MAX_COUNT:
        raise _counts_too_far(f"rule {rule!r} repeats something {count} times, more than {MAX_COUNT}")


def _counts_too_far(message: str) -> GrammarError:
    return GrammarError([Diagnostic("count-too-large", message, help="leave the bound out, or lower it")])
