"""Nodes to the intermediate form of grammars.

Free text and what ends it are one terminal, so that there is one way to read them with either lexer. Where content is
followed by an end, the end is handed down to the free text that the content ends with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as SequenceOf
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from cfgmask.errors import GrammarError
from cfgmask.grammar import ir
from cfgmask.grammar.embedding import include, with_prefix
from cfgmask.grammar.regex_tree import EMPTY_TEXT, RegexTree
from cfgmask.grammar.regex_tree import Literal as Bytes
from cfgmask.grammar.variants import shown_text
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.tags import free_text, nodes
from cfgmask.tags.forms import FORMS, schema_part, schema_rules, with_ids
from cfgmask.tags.joints import Joints, Shadows, joints_of, with_joints
from cfgmask.tags.problems import TagProblems
from cfgmask.tags.rows import RowValues, are_plain
from cfgmask.tags.spelling import Run, Spelled, spelled, token_set, trailing_space
from cfgmask.tags.token_ids import NO_TOKENS, TokenIds

START = "start"

MAX_DEPTH = 200
"""How deep content may be nested; it is lowered with Python's stack."""

_MANY_TAGS = 16
"""The pairs of more tags are too many to look at."""

_NOTHING = ir.Sequence(())

_TextsAndValues: TypeAlias = tuple[tuple[str, nodes.Schema], ...]


def _any_bytes(_: nodes.Schema) -> None:
    """That values may consist of any bytes."""


def lower(
    root: nodes.Content,
    *,
    ids: TokenIds = NO_TOKENS,
    joints: Joints | None = None,
    limits: Limits = DEFAULT_LIMITS,
    parts: bool = False,
    known: Mapping[int, ir.Part] = MappingProxyType({}),
    rows: RowValues | None = None,
    held_for: Callable[[nodes.Schema], bytes | None] = _any_bytes,
) -> ir.GrammarIR:
    """The grammar of the texts of a node.

    ids       the tokens that markers are written by
    joints    how texts are cut into lexemes; None: as `joints_for` says
    parts     whether schemas become parts where the core reads them
    known     parts of some schemas, by the identity of their nodes
    rows      the rows of some `Each`, if they are parts
    held_for  the bytes that the values of a schema may consist of, ascending, with which it becomes no part; None: any
    Errors: GrammarError with every problem, each at the place of its node.
    Cost: linear, but for the joints and what the schemas take.
    """
    lowering = _Lowering(ids, limits, parts, known, rows, held_for)
    grammar = lowering.grammar(root)
    return with_joints(grammar, lowering.shadows, joints or lowering.joints(grammar))


def joints_for(root: nodes.Content, *, limits: Limits = DEFAULT_LIMITS) -> Joints:
    """How the texts of a node are cut: for the lexer "longest", where that means the same as "complete".

    Errors: as `lower`. Cost: that of lowering, and what grows with the pairs of texts that can begin at one place.
    """
    lowering = _Lowering(NO_TOKENS, limits, True, MappingProxyType({}), None, _any_bytes)
    return lowering.joints(lowering.grammar(root))


class _Around(NamedTuple):
    """The surroundings of content.

    ends   those of the tag around it
    after  characters that free text does not begin with here
    depth  of nodes
    """

    ends: tuple[nodes.Spelling, ...] = ()
    after: str = ""
    depth: int = 0


class _Lowering:
    """Rules, scopes and problems of what has been lowered so far."""

    def __init__(
        self,
        ids: TokenIds,
        limits: Limits,
        parts: bool,
        known: Mapping[int, ir.Part],
        rows: RowValues | None,
        held_for: Callable[[nodes.Schema], bytes | None],
    ) -> None:
        self._ids = ids
        self._row_values = rows
        self._held_for = held_for
        self._known = known
        self._parts = parts
        self._limits = limits
        self.problems = TagProblems()
        self.rules: list[ir.Rule] = []
        self.scopes: list[ir.Scope] = [ir.Scope("main")]
        self.shadows = Shadows()
        self._names: dict[str, int] = {}
        # Many tools have the same texts around what differs.
        self._spelled: dict[nodes.Spelling, ir.Expr] = {}
        self._bodies: dict[tuple[object, ...], RegexTree] = {}
        # By what they were made of: tools share their schemas, and a tag may be lowered in two places.
        self._known_rows: dict[int, tuple[ir.Rows | None, _TextsAndValues]] = {}
        self._embedded: dict[int, tuple[nodes.Schema | nodes.Inner, str]] = {}

    def grammar(self, root: nodes.Content) -> ir.GrammarIR:
        """The rules of the texts of a node, before they are cut. Raises GrammarError."""
        start = self.rule(START, self.content(root, None, _Around()))
        self.problems.raise_if_any()
        return ir.GrammarIR(
            tuple(self.rules),
            start,
            tuple(self.scopes),
            ignore_initial=False,
            ignore_final=False,
            notes=tuple(self.problems.notes),
        )

    def joints(self, grammar: ir.GrammarIR) -> Joints:
        """How these rules are cut. Raises GrammarError."""
        found = joints_of(grammar, self.shadows, self.problems)
        self.problems.raise_if_any()
        return found

    def rule(self, name: str, body: ir.Expr, capture: str | None = None) -> str:
        """A new rule; its name."""
        number = self._names[name] = self._names.get(name, 0) + 1
        unique = name if number == 1 else f"{name}#{number}"
        self.rules.append(ir.Rule(unique, body, capture=capture))
        return unique

    def content(self, node: nodes.Content, ends: tuple[nodes.Spelling, ...] | None, around: _Around) -> ir.Expr:
        """The content and then one of the ends; `ends` None: the content alone."""
        if around.depth > MAX_DEPTH:
            self.problems.error("tag-too-deep", f"content is nested more than {MAX_DEPTH} deep", node.at)
            return _NOTHING
        around = _Around(around.ends, around.after, around.depth + 1)
        if isinstance(node, nodes.FreeText):
            return self._free(node, ends, around, None)
        if isinstance(node, nodes.Mark):
            return self._mark(node, ends, around)
        if isinstance(node, nodes.Sequence):
            return self._sequence(node, ends, around)
        if isinstance(node, nodes.Or):
            return _choice([self.content(part, ends, around) for part in node.parts])
        if isinstance(node, nodes.Repeat) and (node.minimum, node.maximum) == (0, 1):
            return _choice([self.content(node.body, ends, around), self._ends(ends)])
        if isinstance(node, nodes.Triggered):
            return self._triggered(node, ends, around)
        return _sequence([self._alone(node, around), self._ends(ends)])

    def _alone(self, node: nodes.Content, around: _Around) -> ir.Expr:
        """Content whose end is not for free text in it to look at."""
        if isinstance(node, (nodes.Text, nodes.Marker, nodes.Token)):
            return self._spell((node,))
        if isinstance(node, nodes.LastToken):
            return self._last(node)
        if isinstance(node, nodes.Regex):
            return ir.Terminal(node.name, node.regex)
        if isinstance(node, (nodes.Schema, nodes.Inner)):
            return self._embed(node)
        if isinstance(node, nodes.OtherTokens):
            return self._others(node, around.ends)
        if isinstance(node, nodes.Repeat):
            return ir.Repeat(self.content(node.body, None, around), node.minimum, node.maximum)
        if isinstance(node, nodes.Tag):
            return self._tag(node, self._spell(node.begin), around)
        if isinstance(node, nodes.Dispatch):
            return self._dispatch(node, around)
        if isinstance(node, nodes.Each):
            return self._each(node, around)
        if isinstance(node, nodes.Slot):
            return ir.Slot("text" if node.of == "text" else "part")
        assert isinstance(node, nodes.Separated)
        return self._separated(node, around)

    # ---- Spellings ----

    def _spell(self, spelling: nodes.Spelling) -> ir.Expr:
        known = self._spelled.get(spelling)
        if known is None:
            ways = [_sequence([_written(way.run), *map(_written, way.rest)]) for way in self._ways(spelling)]
            known = self._spelled[spelling] = _choice(ways)
        return known

    def _begin(self, spelling: nodes.Spelling, n_tags: int, mark: str) -> ir.Expr:
        """The begin of one of some tags, or its rest. To find the lexer, any content may follow any of many begins."""
        expr = self._spell(spelling)
        if n_tags <= _MANY_TAGS or not isinstance(expr, ir.Terminal) or not isinstance(expr.regex, Bytes):
            return expr
        name = self.rule("begin", expr)
        self.shadows.text(name, mark, expr.regex.data.decode())
        return ir.RuleRef(name)

    def _ends(self, ends: tuple[nodes.Spelling, ...] | None) -> ir.Expr:
        return _choice([self._spell(end) for end in ends]) if ends else _NOTHING

    def _last(self, node: nodes.LastToken) -> ir.Expr:
        found, others = (
            sorted({i for text in texts for i in self._ids.last(text)}) for texts in (node.texts, node.others)
        )
        if not found or found == others:
            return _NOTHING
        shown = ",".join(map(str, found))
        return ir.TokenSet(f"<[{shown}]>", ranges=tuple((i, i) for i in found), is_last=True)

    def _ways(self, spelling: nodes.Spelling) -> list[Spelled]:
        return spelled(spelling, self._ids)

    # ---- Free text ----

    def _free(
        self,
        node: nodes.FreeText | nodes.OtherTokens,
        ends: tuple[nodes.Spelling, ...] | None,
        around: _Around,
        mark: str | None,
        triggers: tuple[nodes.Spelling, ...] = (),
    ) -> ir.Expr:
        """Free text without triggers, up to one of the ends; without ends, any, but for those of the tag around."""
        stops = (*(ends or ()), *around.ends, *triggers)
        found = [self._until(node, end, stops, around, mark) for end in ends or () if end]
        if not ends or () in ends:
            found.append(self._open(node, stops, around, mark))
        return _choice(found)

    def _until(
        self,
        node: nodes.FreeText | nodes.OtherTokens,
        end: nodes.Spelling,
        stops: tuple[nodes.Spelling, ...],
        around: _Around,
        mark: str | None,
    ) -> ir.Expr:
        """Free text, perhaps none, and then the end, which comes at the first place where one of the stops does."""
        if isinstance(node, nodes.OtherTokens) or (node.max_tokens is not None and not self._is_by_id(end)):
            # The limit is on the free text alone.
            return _sequence([self._open(node, stops, around, mark), self._spell(end)])
        own = self._body(node)
        every = [way for stop in dict.fromkeys(stops) for way in self._ways(stop) if not way.is_empty]
        ways: list[ir.Expr] = []
        for way in self._ways(end):
            regex = free_text.until(own, way, every, around.after)
            suffix = ir.Suffix(own, way.run.regex) if mark is not None and way.run.regex != EMPTY_TEXT else None
            terminal = _terminal(regex, _shown(end), node.max_tokens, suffix)
            rest = [*map(_written, way.rest)]
            ways.append(_sequence([self._marked(terminal, mark), *rest]))
        return _choice(ways)

    def _open(
        self,
        node: nodes.FreeText | nodes.OtherTokens,
        stops: tuple[nodes.Spelling, ...],
        around: _Around,
        mark: str | None,
    ) -> ir.Expr:
        """Free text that nothing ends, perhaps none."""
        if isinstance(node, nodes.OtherTokens):
            return self._marked(self._others(node, stops), mark)
        every = [way for stop in dict.fromkeys(stops) for way in self._ways(stop) if not way.is_empty]
        regex = free_text.without(self._body(node), every, around.after)
        return self._marked(_terminal(regex, "text", node.max_tokens, None), mark)

    def _body(self, node: nodes.FreeText) -> RegexTree:
        """Texts of a node by itself. The core reads what is one tree once."""
        key = (node.excludes, id(node.matching), node.max_tokens, node.max_chars)
        known = self._bodies.get(key)
        if known is None:
            known = self._bodies[key] = free_text.body(node)
        return known

    def _marked(self, expr: ir.Expr, mark: str | None) -> ir.Expr:
        return expr if mark is None else ir.RuleRef(self.rule(mark, expr, mark))

    def _is_by_id(self, spelling: nodes.Spelling) -> bool:
        """Whether a token comes before any text of the spelling, however it is written."""
        return all(way.is_by_token and way.run.core == EMPTY_TEXT for way in self._ways(spelling))

    def _others(self, node: nodes.OtherTokens, stops: tuple[nodes.Spelling, ...]) -> ir.Expr:
        """Tokens that are neither excluded nor begin one of the stops."""
        named = [token_set(token, self._ids) for token in node.excludes]
        for stop in stops:
            first = stop[0] if stop else None
            if isinstance(first, nodes.Token) or (isinstance(first, nodes.Marker) and self._ids.of(first.text)):
                token = first.token if isinstance(first, nodes.Token) else first.text
                named.append(token_set(token, self._ids))
        names = tuple(dict.fromkeys(name for tokens in named for name in tokens.names))
        ranges = tuple(dict.fromkeys(pair for tokens in named for pair in tokens.ranges))
        shown = ",".join(tokens.text for tokens in named)
        tokens = ir.TokenSet(f"<[^{shown}]>" if shown else "<[*]>", names, ranges, negated=True)
        if (node.minimum, node.maximum) == (1, 1):
            return tokens
        return ir.Repeat(tokens, node.minimum, node.maximum)

    # ---- Composition ----

    def _mark(self, node: nodes.Mark, ends: tuple[nodes.Spelling, ...] | None, around: _Around) -> ir.Expr:
        if isinstance(node.body, nodes.FreeText):
            return self._free(node.body, ends, around, node.name)
        inner = self.content(node.body, None, around)
        marked = self._marked(inner, node.name)
        if isinstance(node.body, nodes.Text) and isinstance(inner, ir.Terminal) and isinstance(marked, ir.RuleRef):
            self.shadows.text(marked.name, node.name, node.body.value)
        return _sequence([marked, self._ends(ends)])

    def _sequence(self, node: nodes.Sequence, ends: tuple[nodes.Spelling, ...] | None, around: _Around) -> ir.Expr:
        if not node.parts:
            return self._ends(ends)
        parts: list[ir.Expr] = []
        for i, part in enumerate(node.parts):
            parts.append(self.content(part, ends if i == len(node.parts) - 1 else None, around))
            after = _space_after(part)
            if after != around.after:
                around = around._replace(after=after)
        return _sequence(parts)

    def _tag(self, node: nodes.Tag, begin: ir.Expr, around: _Around) -> ir.Expr:
        """A tag whose `begin` is given; `node.begin` may be a part of it."""
        inside = _Around(tuple(end for end in node.ends if end), trailing_space(node.begin), around.depth)
        return _sequence([begin, self.content(node.content, node.ends or ((),), inside)])

    def _separated(self, node: nodes.Separated, around: _Around) -> ir.Expr:
        n, mark = len(node.tags), f"begin {len(self.rules)}"
        tag = _choice([self._tag(tag, self._begin(tag.begin, n, mark), around) for tag in node.tags])
        maximum = 1 if node.stop_after_first else node.maximum
        if maximum == 0:
            return _NOTHING
        one = ir.RuleRef(self.rule("tag", tag))
        more = ir.Repeat(_sequence([self._spell(node.separator), one]), 0, None if maximum is None else maximum - 1)
        found = one if maximum == 1 else _sequence([one, more])
        return found if node.at_least_one else ir.Repeat(found, 0, 1)

    def _dispatch(self, node: nodes.Dispatch, around: _Around) -> ir.Expr:
        triggers = tuple(dict.fromkeys(pattern for pattern, _ in node.rules))
        tags = tuple(nodes.Tag(pattern, content) for pattern, content in node.rules)
        same = nodes.Triggered(triggers, tags, stop_after_first=not node.loop, text=node.text, at=node.at)
        by_pattern: dict[nodes.Spelling, list[ir.Expr]] = {}
        for tag in tags:
            by_pattern.setdefault(tag.begin, []).append(self._tag(tag, _NOTHING, around))
        found = {pattern: ir.RuleRef(self.rule("tag", _choice(rests))) for pattern, rests in by_pattern.items()}
        return self._text_with_tags(same, found, None, around._replace(ends=()))

    def _triggered(self, node: nodes.Triggered, ends: tuple[nodes.Spelling, ...] | None, around: _Around) -> ir.Expr:
        return self._text_with_tags(node, self._by_trigger(node, around), ends, around)

    def _text_with_tags(
        self,
        node: nodes.Triggered,
        by_trigger: dict[nodes.Spelling, ir.RuleRef],
        ends: tuple[nodes.Spelling, ...] | None,
        around: _Around,
    ) -> ir.Expr:
        """Free text, and after each trigger what follows it."""
        maximum = 1 if node.stop_after_first else node.maximum
        last_without, last_with = map(self._last, node.last) if node.last is not None else (_NOTHING, _NOTHING)
        if maximum == 0:
            return _sequence([self._free(node.text, ends, around, node.mark, node.triggers), last_without])
        # White space that a tag ends with is not that of the text after it.
        spaces = {trailing_space(end) for tag in node.tags for end in tag.ends}
        later = around._replace(after=spaces.pop() if len(spaces) == 1 else "")
        first = (
            [_sequence([self._spell(trigger), tags]) for trigger, tags in by_trigger.items()]
            if node.at_least_one
            else self._text_and_tags(node, by_trigger, ends, around)
        )
        finished = (
            self._ends(ends) if node.stop_after_first else self._free(node.text, ends, later, node.mark, node.triggers)
        )
        if maximum == 1:
            more: ir.Expr = _NOTHING
        else:
            again = _choice(self._text_and_tags(node, by_trigger, ends, later))
            more = ir.Repeat(ir.RuleRef(self.rule("call", again)), 0, None if maximum is None else maximum - 1)
        some = _sequence([_choice(first), more, finished, last_with])
        if node.at_least_one:
            return some
        return _choice([some, _sequence([self._free(node.text, ends, around, node.mark, node.triggers), last_without])])

    def _text_and_tags(
        self,
        node: nodes.Triggered,
        by_trigger: dict[nodes.Spelling, ir.RuleRef],
        ends: tuple[nodes.Spelling, ...] | None,
        around: _Around,
    ) -> list[ir.Expr]:
        stops = (*node.triggers, *(ends or ()), *around.ends)
        return [
            _sequence([self._until(node.text, trigger, stops, around, node.mark), tags])
            for trigger, tags in by_trigger.items()
        ]

    def _by_trigger(self, node: nodes.Triggered, around: _Around) -> dict[nodes.Spelling, ir.RuleRef]:
        """What follows each trigger: the rests of the tags that begin with it."""
        found: dict[nodes.Spelling, list[ir.Expr]] = {}
        mark = f"begin {len(self.rules)}"
        for tag in node.tags:
            rests = {t: rest for t in dict.fromkeys(node.triggers) if (rest := _after(t, tag.begin)) is not None}
            if len(rests) != 1:
                how_many = "none of the triggers" if not rests else "several triggers"
                message = f"the tag begins with {how_many}; it must begin with exactly one of them"
                self.problems.error("tag-trigger", message, None if tag.at is None else f"{tag.at}/begin")
                self._tag(tag, _NOTHING, around)
                continue
            ((trigger, rest),) = rests.items()
            # The white space at the end of `begin` may be the trigger's.
            found.setdefault(trigger, []).append(self._tag(tag, self._begin(rest, len(node.tags), mark), around))
        return {trigger: ir.RuleRef(self.rule("tag", _choice(tags))) for trigger, tags in found.items()}

    def _each(self, node: nodes.Each, around: _Around) -> ir.Expr:
        rows, others = self._rows(node)
        found = [self.content(node.spread(others), None, around)] if others or rows is None else []
        if rows is not None:
            body = self.content(node.body, None, around)
            found.append(ir.Variants(body.parts if isinstance(body, ir.Sequence) else (body,), rows))
        return _choice(found)

    def _rows(self, node: nodes.Each) -> tuple[ir.Rows | None, _TextsAndValues]:
        """The rows whose values are parts, and the others."""
        known = self._known_rows.get(id(node.rows))
        if known is not None:
            return known
        number = str(len(self._known_rows) + 1)
        others: _TextsAndValues = ()
        found = self._known_values(node, number)
        if found is None:
            found, others = self._rows_of_nodes(node, number)
        if found is not None:
            self.shadows.rows(found, node)
        self._known_rows[id(node.rows)] = found, others
        return found, others

    def _known_values(self, node: nodes.Each, name: str) -> ir.Rows | None:
        """The rows, where it is known that the values of all are parts."""
        values = self._row_values
        if values is None or values.listed is not node.rows or not values.are_plain(self._ids):
            return None
        return None if self._held_for(node.rows.node(0)) is not None else values.rows(self._ids, name)

    def _rows_of_nodes(self, node: nodes.Each, name: str) -> tuple[ir.Rows | None, _TextsAndValues]:
        parts = self._parts_of(node) if are_plain(node.rows, self._ids) else {}
        pairs = [*zip(node.rows.texts, node.rows.nodes(), strict=True)]
        rows = [(one, parts[id(value)]) for one, value in pairs if id(value) in parts]
        others = tuple((one, value) for one, value in pairs if id(value) not in parts)
        texts, made = [one for one, _ in rows], tuple(part for _, part in rows)
        return _rows_of_parts(name, texts, made, node.marks) if rows else None, others

    def _parts_of(self, node: nodes.Each) -> dict[int, ir.Part]:
        """The values of rows that are parts, by the identity of their nodes."""
        values = node.rows.nodes()
        if self._held_for(values[0]) is not None:
            return {}
        if all(id(value) in self._known for value in values):
            made = with_ids([self._known[id(value)] for value in values], values, self._limits, self._ids)
            return {id(value): part for value, part in zip(values, made, strict=True)}
        named = ((value, f"%schema#{len(self._embedded) + 1}.{i}:") for i, value in enumerate(values, 1))
        found = ((value, self._part_of(value, name)) for value, name in named)
        return {id(value): part for value, part in found if part is not None}

    # ---- Other grammars ----

    def _embed(self, node: nodes.Schema | nodes.Inner) -> ir.Expr:
        key = id(node.schema) if isinstance(node, nodes.Schema) else id(node.grammar)
        known = self._embedded.get(key)
        if known is not None and known[0] == node:
            return ir.RuleRef(known[1])
        start = self._schema(node) if isinstance(node, nodes.Schema) else self._inner(node)
        if start is None:
            return _NOTHING
        self._embedded[key] = (node, start)
        return ir.RuleRef(start)

    def _schema(self, node: nodes.Schema) -> str | None:
        if node.form not in FORMS:
            known = ", ".join(f'"{name}"' for name in FORMS)
            self.problems.error("tag-unknown-style", f'there is no style "{node.form}"', node.at, f"known are {known}")
            return None
        prefix = f"%schema#{len(self._embedded) + 1}:"
        try:
            held = self._held_for(node)
            part = self._part_of(node, prefix) if held is None else None
            if part is not None:
                start = self.rule(f"%part#{len(self._embedded) + 1}", part)
                if node.form == "json":
                    self.shadows.json(start, [start], node.type)
                else:
                    self.shadows.opaque(start, [start])
                return start
            grammar = schema_rules(node, prefix, self._limits, self._ids, held)
        except GrammarError as error:
            self.problems.take(error.diagnostics, node.at)
            return None
        self.problems.take(grammar.notes, node.at)
        start = include(grammar, self.rules, self.scopes)
        if node.form == "json":
            self.shadows.json(start, [rule.name for rule in grammar.rules], node.type)
        else:
            self.shadows.opaque(start, [rule.name for rule in grammar.rules])
        return start

    def _part_of(self, node: nodes.Schema, name: str) -> ir.Part | None:
        """The part that a schema is; None if it is none, or has problems."""
        known = self._known.get(id(node))
        if known is not None:
            return with_ids([known], [node], self._limits, self._ids)[0]
        return schema_part(node, name, self._limits, self._ids) if self._parts else None

    def _inner(self, node: nodes.Inner) -> str | None:
        grammar = node.grammar
        if grammar.indenter is not None:
            message = "lines of a grammar inside a structural tag cannot be indented"
            self.problems.error("tag-indenter", message, node.at)
            return None
        self.problems.take(grammar.notes, node.at)
        prefix = f"@{len(self._embedded) + 1}:"
        start = prefix + grammar.start
        include(with_prefix(grammar, prefix), self.rules, self.scopes)
        self.shadows.grammar(start, grammar, node.at)
        return start


def _rows_of_parts(name: str, texts: SequenceOf[str], parts: tuple[ir.Part, ...], captures: tuple[str, str]) -> ir.Rows:
    return ir.Rows(
        name,
        tuple(texts),
        [part.schema for part in parts],
        [part.may_be_empty for part in parts],
        lambda: parts,
        captures,
        parts[0].form,
        parts[0].tokens,
    )


def _written(part: Run | ir.TokenSet) -> ir.Expr:
    if isinstance(part, ir.TokenSet):
        return part
    return _NOTHING if part == Run() else ir.Terminal(shown_text(part.written), part.regex)


def _terminal(regex: RegexTree, name: str, max_tokens: int | None, suffix: ir.Suffix | None) -> ir.Expr:
    return ir.Terminal(name, regex, max_tokens=max_tokens or None, suffix=suffix)


def _shown(end: nodes.Spelling) -> str:
    texts = [p.value if isinstance(p, nodes.Text) else p.text for p in end if isinstance(p, (nodes.Text, nodes.Marker))]
    return "text until " + shown_text("".join(texts))


def _space_after(part: nodes.Content) -> str:
    """The characters of white space that content may end with, which free text after it does not begin with."""
    if isinstance(part, nodes.Tag):
        spaces = {trailing_space(end) for end in part.ends}
        return spaces.pop() if len(spaces) == 1 else ""
    return ""


def _after(trigger: nodes.Spelling, begin: nodes.Spelling) -> nodes.Spelling | None:
    """What follows the trigger in `begin`; None if that does not begin with the trigger."""
    if not trigger:
        return begin
    if len(begin) < len(trigger) or begin[: len(trigger) - 1] != trigger[:-1]:
        return None
    last, same = trigger[-1], begin[len(trigger) - 1]
    rest = begin[len(trigger) :]
    if last == same:
        return rest
    if isinstance(last, nodes.Text) and isinstance(same, nodes.Text) and same.value.startswith(last.value):
        return (nodes.Text(same.value[len(last.value) :], same.at), *rest)
    return None


def _sequence(parts: SequenceOf[ir.Expr]) -> ir.Expr:
    flat: list[ir.Expr] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, ir.Sequence) else (part,))
    return flat[0] if len(flat) == 1 else ir.Sequence(tuple(flat))


def _choice(parts: SequenceOf[ir.Expr]) -> ir.Expr:
    return parts[0] if len(parts) == 1 else ir.Choice(tuple(parts))
