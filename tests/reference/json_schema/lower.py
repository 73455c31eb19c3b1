"""JSON Schema to grammar: the whole way.

The schema is read (`values`), surveyed (`survey`), brought to normal form place by place (`normalise`) and lowered to
rules (`lowering`, `lower_objects`, `lower_arrays`); rules that no value can satisfy are taken out. How values are
written is up to passes over these rules (`spelled`, `indented`, `in_blocks` for YAML). Whatever cannot be enforced is a
refusal in the normal form; it is an error if the part that carries it is left in the grammar in the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Rule, SetBounds, Terminal, TokenSet
from cfgmask.grammar.productive import productive_rules, without_nonproductive
from cfgmask.grammar.reachable import without_unreachable
from cfgmask.grammar.regex_tree import ByteClass
from cfgmask.json_schema import form_bytes
from cfgmask.json_schema.contradictions import contradictions
from cfgmask.json_schema.forms import FORMS
from cfgmask.json_schema.guidance import POINTER as GUIDANCE
from cfgmask.json_schema.guidance import guided
from cfgmask.json_schema.nodes import Node, Retriever
from cfgmask.json_schema.notes import shown
from cfgmask.json_schema.options import DEFAULTS, GuidedOptions, JsonSchemaOptions
from cfgmask.json_schema.problems import first_errors, ordered, placed
from cfgmask.json_schema.resolve import Schemas
from cfgmask.json_schema.session import session
from cfgmask.json_schema.spelling import spelled
from cfgmask.json_schema.survey import Survey, surveyed
from cfgmask.json_schema.values import Document, read_object, read_text
from cfgmask.json_schema.wrapped import wrapped
from cfgmask.json_schema.yaml_scalars import DEFAULT_INDENT
from cfgmask.limits import Limits
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.in_form import in_form
from tests.reference.json_schema.indent import indented
from tests.reference.json_schema.liveness import all_live, needs_of
from tests.reference.json_schema.lower_items import Items, ToldApart
from tests.reference.json_schema.lowering import Lowering
from tests.reference.json_schema.normal_form import Conjunction
from tests.reference.json_schema.normalise import Normaliser
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.told_apart import told_apart
from tests.reference.json_schema.writable import Writable
from tests.reference.json_schema.yaml_blocks import in_blocks


def lower_schema(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions = DEFAULTS,
    prefix: str = "",
    span: Span | None = None,
    limits: Limits = Limits(),  # noqa: B008  # immutable
    retrieve: Retriever | None = None,
    form: str = "json",
    tokens: Mapping[str, TokenSet] | None = None,
    held: bytes | None = None,
) -> GrammarIR:
    """The grammar of the texts, of JSON or YAML, whose value the schema allows.

    schema  a JSON Schema as JSON text or as Python objects. Text keeps numbers exact and gives diagnostics their places
    prefix  of the names of all rules, for grammars with several schemas
    span    where the text stands in a larger source; given to the rules
    retrieve  gives the schema with a URI, as Python objects, where a reference leads out of this one; what it raises
            becomes an error at the reference
    form    "json", or the name of one of `FORMS`, in which the outermost object is written then
    tokens  what markers of the form are written by, if not by their text
    held    the bytes that texts may consist of, ascending; None: any. If no value can be written in them, the grammar
            is one whose only terminal has other bytes. In a form that is not JSON, all values are left in, and a set
            that may need one which cannot be written is an error (code `schema-form-bytes`)

    The draft is what `$schema` names, otherwise 2020-12, with the keywords of earlier drafts that it dropped.
    Notes: keywords and formats that restrict nothing.
    Errors: GrammarError with every place that is malformed or cannot be enforced, or where no value satisfies the
    schema (codes `schema-...`, and `regex-...` for patterns); LimitExceeded (max_source_bytes, max_nesting, max_rules
    and what patterns cross).
    Cost: linear in the schema but for combinations of alternatives (`allOf` of `anyOf`, overlapping `oneOf`), whose
    number is bounded.
    """
    tried = attempt(
        schema,
        options=options,
        prefix=prefix,
        span=span,
        limits=limits,
        retrieve=retrieve,
        form=form,
        tokens=tokens,
        held=held,
    )
    return tried.result()


@dataclass(frozen=True)
class Attempt:
    """What became of a schema.

    grammar      may be used only if there are no errors; None where it could not be made
    errors       all of them, without the places of the text
    is_complete  whether the errors and relaxations are all that there are: False where too many errors or a crossed
                 limit ended the search, and where errors hid what would have been relaxed
    """

    document: Document
    schemas: Schemas
    survey: Survey
    grammar: GrammarIR | None
    errors: list[Diagnostic]
    is_complete: bool

    @property
    def relaxations(self) -> tuple[Diagnostic, ...]:
        """Warnings of what is allowed that the schema does not allow."""
        return () if self.grammar is None else self.grammar.notes

    def result(self) -> GrammarIR:
        """The grammar with its notes. Raises GrammarError with every error, placed in the text."""
        if self.grammar is None or self.errors:
            raise GrammarError(self.document.placed(first_errors(self.errors)))
        notes = shown([*self.survey.notes, *self.relaxations])
        return replace(self.grammar, notes=tuple(self.document.placed(ordered(notes))))


def attempt(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions,
    limits: Limits,
    prefix: str = "",
    span: Span | None = None,
    retrieve: Retriever | None = None,
    form: str = "json",
    tokens: Mapping[str, TokenSet] | None = None,
    held: bytes | None = None,
) -> Attempt:
    """Do what `lower_schema` does, and tell of errors instead of raising them.

    Raises GrammarError for a text that is not JSON, and LimitExceeded where there are no errors besides.
    """
    document = read_text(schema, span, limits) if isinstance(schema, str) else read_object(schema, limits)
    options, misguided = guided(document.value, options)
    if form != "json" and isinstance(options, GuidedOptions):
        misguided.append(
            Diagnostic("schema-guidance", f"escapes of JSON cannot be chosen in the form {form}", pointer=GUIDANCE)
        )
    schemas = Schemas(document.value, limits, retrieve)
    no_schema = wrapped(document.value)
    if no_schema is not None:
        return Attempt(document, schemas, Survey(complete=False), None, [*document.problems, no_schema], False)
    found = surveyed(schemas, document, options)
    errors = [*document.problems, *misguided, *found.errors]
    grammar, is_complete = None, found.complete
    if found.complete:
        normaliser = Normaliser(schemas, options, limits)
        try:
            grammar = _lowered(normaliser, prefix, span, form, tokens or {}, held)
        except GrammarError as error:
            # That nothing satisfies the schema may come of what is disregarded in it.
            errors += [d for d in error.diagnostics if not errors or d.code != "schema-unsatisfiable"]
            is_complete = options.on_unsupported == "error"
        except LimitExceeded:
            # A schema that leads back to itself, with others in each round, is what often takes so long.
            normaliser.find_loops(found.reached)
            errors += normaliser.all_problems()
            if not errors:
                raise
            is_complete = False
    return Attempt(document, schemas, found, grammar, errors, is_complete)


def _lowered(
    normaliser: Normaliser,
    prefix: str,
    span: Span | None,
    form: str,
    tokens: Mapping[str, TokenSet],
    held: bytes | None,
) -> GrammarIR:
    limits = normaliser.limits
    try:
        with session(limits):
            return _grammar(normaliser, prefix, span, form, tokens, held)
    except LimitExceeded as error:
        raise placed(error, "") from None
    except RecursionError:
        # Nothing here recurses over the schema, but comparing and hashing the trees of deeply nested patterns does.
        raise LimitExceeded("max_nesting", limits.max_nesting, "a pattern in a JSON Schema") from None


def _grammar(
    normaliser: Normaliser,
    prefix: str,
    span: Span | None,
    form: str,
    tokens: Mapping[str, TokenSet],
    held: bytes | None,
) -> GrammarIR:
    """The grammar of a schema that the survey found well formed. Raises GrammarError."""
    schemas, options, limits = normaliser.schemas, normaliser.options, normaliser.limits
    if form == "json" and (held is not None or isinstance(options, GuidedOptions)):
        normaliser.writable = Writable(_ALL_BYTES if held is None else held, options)
    lowering = _Main(normaliser, RuleSet(prefix), options)
    bodies, start = lowering.rules_of(schemas.root)
    grammar = GrammarIR(
        tuple(Rule(name, body, span=span, opens_set=lowering.opening.get(name)) for name, body in bodies.items()),
        start,
        (lexemes.scope(f"{prefix}json", options),),
        ignore_initial=False,
        ignore_final=False,
    )
    live = frozenset(bodies)
    if not lowering.has_only_live_rules:
        live = productive_rules(grammar, lowering.needs)
        if len(live) < len(bodies) or lowering.may_have_loose_rules:
            grammar = without_unreachable(without_nonproductive(grammar, live))
    problems, refusals = normaliser.all_problems(), lowering.refusals(grammar)
    if options.on_unsupported == "relax":
        grammar = replace(grammar, notes=tuple(replace(refusal, severity="warning") for refusal in refusals))
    else:
        problems += refusals
    if not problems and start not in live:
        if normaliser.writable is not None and held is not None:
            return _unwritable(grammar, span, held)
        problems.append(lowering.unsatisfiable(schemas.root, live))
    if problems:
        raise GrammarError(problems)
    if form != "json":
        if options.syntax != "json" or options.indent is not None:
            raise ValueError(f"the form {form} has no lines: leave syntax and indent out")
        grammar = in_form(grammar, FORMS[form], tokens)
        if held is not None and (unwritten := form_bytes.unwritten(grammar, held, options)):
            raise GrammarError(unwritten)
    if options.syntax == "yaml":
        return in_blocks(grammar, DEFAULT_INDENT if options.indent is None else options.indent)
    return spelled(grammar if options.indent is None else indented(grammar, options.indent, limits), options)


def _unwritable(grammar: GrammarIR, span: Span | None, held: bytes) -> GrammarIR:
    """The grammar with one terminal, which has bytes that are not held, instead of all rules."""
    other = ByteClass(tuple((b, b) for b in range(256) if b not in held))
    rule = Rule(grammar.start, Terminal("other bytes", other), span=span)
    return replace(grammar, rules=(rule,))


_MOST_PARTS = 100
_ALL_BYTES = bytes(range(256))


class _Main(Lowering):
    """All rules of one schema."""

    def __init__(self, normaliser: Normaliser, rules: RuleSet, options: JsonSchemaOptions) -> None:
        super().__init__(normaliser, rules, options)
        self._told_apart: ToldApart | None = None
        self._items: Items | None = None

    @property
    def apart(self) -> ToldApart:
        """The rules of values that must not come twice, whatever they are."""
        if self._told_apart is None:
            self._told_apart = ToldApart(self)
        return self._told_apart

    @property
    def items(self) -> Items:
        """The rules of arrays and objects that are items of arrays without equal items."""
        if self._items is None:
            self._items = Items(self)
        return self._items

    def rules_of(self, root: Node) -> tuple[dict[str, Expr], str]:
        """The rules by name, and which of them is the start. Some may match nothing."""
        start = self.rule_of(self.normaliser.conjunction(root)).name
        self.make_rules()
        if self._told_apart is not None:
            self._told_apart.make_rules()
        if self._items is not None:
            self._items.make_items()
        if self._told_apart is not None:
            self.rules.take(self._told_apart.rules, told_apart)
        return self.rules.bodies, start

    @property
    def opening(self) -> dict[str, SetBounds]:
        """The rules that open a set of values."""
        return self.rules.opening

    @property
    def needs(self) -> dict[str, tuple[Expr, ...]]:
        """What rules need besides their bodies."""
        return self.rules.needs

    @property
    def has_only_live_rules(self) -> bool:
        """Whether it is plain that every rule matches some text, which saves a search of the whole grammar."""
        if any(isinstance(inline, Choice) and not inline.parts for inline in self._inline.values()):
            return False
        if self._told_apart is not None or self._items is not None:
            return False
        return all_live({conjunction: self.normaliser.normal(conjunction) for conjunction in self._names})

    @property
    def may_have_loose_rules(self) -> bool:
        """Whether some rules may have only been made to be copied."""
        return self._items is not None

    def refusals(self, grammar: GrammarIR) -> list[Diagnostic]:
        """What cannot be enforced in the rules that are left in a grammar: they allow more than the schema does."""
        refused = {d for rule in grammar.rules for d in self.rules.refusals.get(rule.name, ())}
        return [d for found in refused for d in self.normaliser.everywhere(found)]

    def unsatisfiable(self, root: Node, live: frozenset[str]) -> Diagnostic:
        """Why no value satisfies the schema: the innermost part that is needed and allows nothing.

        live  the rules that some text can complete
        """
        conjunction, seen = self.normaliser.conjunction(root), set[Conjunction]()
        while True:
            seen.add(conjunction)
            needed = [part for parts in needs_of(self.normaliser.normal(conjunction)) for part in parts]
            dead = [part for part in needed if part not in seen and not self._is_live(part, live)]
            if not dead:
                break
            conjunction = dead[0]
        nodes = [term for term in conjunction if isinstance(term, Node)]
        places = [node.pointer for node in nodes if node.pointer]
        nodes = self._with_parts(nodes)
        reason = "look for types, bounds or required properties that contradict each other"
        if places:
            reason = f"nothing satisfies {' together with '.join(places)}, which is required"
        message, plain = "no value satisfies this schema", next(contradictions(nodes), None)
        if plain is None:
            return Diagnostic("schema-unsatisfiable", message, pointer="", help=reason)
        help = reason if places else "change one of the two"
        return Diagnostic("schema-unsatisfiable", f"{message}: {plain.message}", pointer=plain.pointer, help=help)

    def _with_parts(self, nodes: list[Node]) -> list[Node]:
        """The schemas with those that all of them hold to: their `allOf` and `$ref`. Bounded."""
        schemas = self.normaliser.schemas
        found = dict.fromkeys(nodes)
        pending = list(found)
        for node in pending:
            parts = schemas.children(node, "allOf")
            target = schemas.target(node, "$ref") if node.has("$ref") else None
            for part in [*parts, target] if isinstance(target, Node) else parts:
                if part not in found and len(found) < _MOST_PARTS:
                    found[part] = None
                    pending.append(part)
        return list(found)

    def _is_live(self, conjunction: Conjunction, live: frozenset[str]) -> bool:
        name = self._names.get(conjunction)
        return name in live if name is not None else not self.normaliser.normal(conjunction).is_plainly_empty
