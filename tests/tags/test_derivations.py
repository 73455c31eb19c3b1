"""Random content against a slow reading of its text, and the derivations of each text counted."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cfgmask
from cfgmask import Grammar, Vocabulary
from cfgmask.grammar import ir
from cfgmask.grammar import regex_tree as tree
from cfgmask.tags.joints import Joints
from cfgmask.tags.lower import lower
from cfgmask.tags.nodes import (
    Content,
    FreeText,
    Mark,
    Or,
    Repeat,
    Separated,
    Sequence,
    Space,
    Spelling,
    Tag,
    Text,
    Triggered,
)
from cfgmask.tags.tagged import Tagged

ALPHABET = "ab<>"
LONGEST = 5
TEXTS = ["".join(letters) for n in range(LONGEST + 1) for letters in product(ALPHABET, repeat=n)]
VOCABULARY = Vocabulary.from_bytes([*(c.encode() for c in ALPHABET), b"", b"<a", b"ab", b">b"], eos_token_id=4)

# ---- The slow reading: where free text ends is found by going through the text ----


class Reading:
    """The places where content can end in one text. Spellings are texts here."""

    def __init__(self, text: str) -> None:
        self.text = text

    def after(self, node: Content, i: int, ends: tuple[Spelling, ...] | None, around: tuple[Spelling, ...]) -> set[int]:
        """Behind the content from `i` on and one of the ends; `ends` None: behind the content."""
        if isinstance(node, Mark):
            return self.after(node.body, i, ends, around)
        if isinstance(node, FreeText):
            return self._free(node, i, ends, around, {})
        if isinstance(node, Or):
            return {j for part in node.parts for j in self.after(part, i, ends, around)}
        if isinstance(node, Sequence):
            places = {i}
            for n, part in enumerate(node.parts):
                last = ends if n == len(node.parts) - 1 else None
                places = {j for k in places for j in self.after(part, k, last, around)}
            return places
        if isinstance(node, Triggered):
            return self._triggered(node, i, ends, around)
        if isinstance(node, Repeat):
            if (node.minimum, node.maximum) == (0, 1):
                return self._ends({i}, ends) | self.after(node.body, i, ends, around)
            return self._ends(self._repeated(node, i, around), ends)
        if isinstance(node, Text):
            return self._ends(self._written(node.value, i), ends)
        if isinstance(node, Separated):
            return self._ends(self._separated(node, i), ends)
        assert isinstance(node, Tag)
        return self._ends(self._tag(node, i, _text(node.begin)), ends)

    def _written(self, text: str, i: int) -> set[int]:
        return {i + len(text)} if self.text.startswith(text, i) else set()

    def _ends(self, places: set[int], ends: tuple[Spelling, ...] | None) -> set[int]:
        if not ends:
            return places
        return {j for i in places for end in ends for j in self._written(_text(end), i)}

    def _tag(self, tag: Tag, i: int, begin: str) -> set[int]:
        inner = tuple(end for end in tag.ends if end)
        return {j for k in self._written(begin, i) for j in self.after(tag.content, k, tag.ends, inner)}

    def _repeated(self, node: Repeat, i: int, around: tuple[Spelling, ...]) -> set[int]:
        places, found, n = {i}, set(), 0
        while places and n <= LONGEST + node.minimum and (node.maximum is None or n <= node.maximum):
            if n >= node.minimum:
                found |= places
            places = {j for k in places for j in self.after(node.body, k, None, around)}
            n += 1
        return found

    def _separated(self, node: Separated, i: int) -> set[int]:
        most = 1 if node.stop_after_first else LONGEST + 1
        found = set() if node.at_least_one else {i}
        places = {i}
        for n in range(most):
            if n:
                places = self._ends(places, (node.separator,))
            places = {j for k in places for tag in node.tags for j in self._tag(tag, k, _text(tag.begin))}
            found |= places
        return found

    def _free(
        self,
        node: FreeText,
        i: int,
        ends: tuple[Spelling, ...] | None,
        around: tuple[Spelling, ...],
        triggers: dict[str, set[int] | None],
    ) -> set[int]:
        """Free text up to the first end or trigger; `triggers` are given their places."""
        wanted = {_text(end) for end in ends or () if end}
        stops = wanted | {_text(end) for end in around} | set(triggers)
        found: set[int] = set()
        is_open = not ends or () in ends
        for j in range(i, len(self.text) + 1):
            stop = max((s for s in stops if s and self.text.endswith(s, i, j)), key=len, default=None)
            if stop is not None:
                begin = j - len(stop)
                for longer in stops if self._is_allowed(node, self.text[i:begin]) else ():
                    if longer.startswith(stop) and self._is_first(longer, begin, i, stops):
                        if longer in triggers:
                            triggers[longer] = {begin + len(longer)}
                        if longer in wanted:
                            found.add(begin + len(longer))
                return found
            if is_open and self._is_allowed(node, self.text[i:j]):
                found.add(j)
        return found

    def _is_first(self, stop: str, begin: int, start: int, stops: set[str]) -> bool:
        """Whether the stop is written at `begin`, and no other one is complete before it but those it begins with."""
        end = begin + len(stop)
        others = {s for s in stops if s and not stop.startswith(s)}
        return self.text.startswith(stop, begin) and not any(
            self.text.endswith(s, start, j) for s in others for j in range(start, end + (len(s) > len(stop)))
        )

    def _is_allowed(self, node: FreeText, text: str) -> bool:
        return not any(excluded in text for excluded in node.excludes) and (
            node.max_chars is None or len(text) <= node.max_chars
        )

    def _triggered(
        self, node: Triggered, i: int, ends: tuple[Spelling, ...] | None, around: tuple[Spelling, ...]
    ) -> set[int]:
        assert isinstance(node.text, FreeText)
        found: set[int] = set()
        pending = [(i, 0)]
        seen = set(pending)
        while pending:
            k, n = pending.pop()
            triggers: dict[str, set[int] | None] = {_text(trigger): None for trigger in node.triggers}
            if n and node.stop_after_first:
                found |= self._ends({k}, ends)
                continue
            if n or not node.at_least_one:
                found |= self._free(node.text, k, ends, around, triggers)
            else:
                triggers = {trigger: self._written(trigger, k) for trigger in triggers}
            for trigger, places in triggers.items():
                for begun in places or ():
                    for tag in node.tags:
                        begin = _text(tag.begin)
                        if not begin.startswith(trigger):
                            continue
                        for j in self._tag(tag, begun, begin[len(trigger) :]):
                            if (j, 1) not in seen:
                                seen.add((j, 1))
                                pending.append((j, 1))
        return found


def _text(spelling: Spelling) -> str:
    return "".join(piece.value for piece in spelling if isinstance(piece, Text))


# ---- Random content ----


def _spelling(texts: list[str]) -> st.SearchStrategy[Spelling]:
    return st.sampled_from([(Text(text),) for text in texts])


BEGINS = _spelling(["<", "<a", "b"])
ENDS = st.lists(_spelling([">", ">>", "b>", "a"]), min_size=1, max_size=2, unique=True).map(tuple)
FREE = st.builds(
    FreeText,
    excludes=st.lists(st.sampled_from(["b", "aa", "<b"]), max_size=1).map(tuple),
    max_chars=st.sampled_from([None, None, 1, 2]),
)
LEAVES = st.one_of(FREE, st.sampled_from([Text("a"), Text("ab"), Text("")]))


def _tags(content: st.SearchStrategy[Content]) -> st.SearchStrategy[Tag]:
    return st.builds(Tag, BEGINS, content, ENDS)


def _triggered(content: st.SearchStrategy[Content]) -> st.SearchStrategy[Triggered]:
    tags = st.builds(Tag, _spelling(["<", "<a", "<<"]), content, ENDS)
    return st.builds(
        Triggered,
        triggers=st.just(((Text("<"),),)),
        tags=st.lists(tags, min_size=1, max_size=2).map(tuple),
        at_least_one=st.booleans(),
        stop_after_first=st.booleans(),
        text=FREE,
    )


def _more(content: st.SearchStrategy[Content]) -> st.SearchStrategy[Content]:
    return st.one_of(
        _tags(content),
        _triggered(content),
        st.builds(
            Separated,
            st.lists(_tags(content), min_size=1, max_size=2).map(tuple),
            _spelling(["", "b"]).map(lambda s: s if s[0].value else ()),
        ),  # type: ignore[union-attr]  # texts
        st.lists(content, min_size=1, max_size=2).map(lambda parts: Sequence(tuple(parts))),
        st.lists(content, min_size=1, max_size=2).map(lambda parts: Or(tuple(parts))),
        st.builds(Repeat, content, st.integers(0, 1), st.sampled_from([1, 2, None])),
        st.builds(Mark, st.just("m"), content),
    )


CONTENT = st.recursive(LEAVES, _more, max_leaves=4)


def _accepted(matcher: cfgmask.Matcher) -> set[str]:
    """The texts that a matcher accepts, over the first tokens, a character each."""
    found, pending = set(), [("", matcher)]
    while pending:
        text, here = pending.pop()
        if here.is_accepting:
            found.add(text)
        if len(text) < LONGEST:
            for token, letter in enumerate(ALPHABET):
                there = here.fork()
                if there.try_advance([token]):
                    pending.append((text + letter, there))
    return found


@given(CONTENT)
@example(Tag((Text("<"),), FreeText(), ((Text(">"),), (Text(">>"),))))
@example(Tag((), Triggered(((Text("<"),),), (Tag((Text("<a"),), FreeText(), ((Text(">"),),)),)), ((Text("b>"),),)))
def test_random_content_is_what_the_slow_reading_says(node: Content) -> None:
    grammar = Grammar._from_tagged(Tagged(node), "<random>")
    expected = {text for text in TEXTS if len(text) in Reading(text).after(node, 0, None, ())}
    try:
        compiled = cfgmask.compile(grammar, VOCABULARY)
    except cfgmask.GrammarError:
        assert not expected
        return
    assert _accepted(compiled.matcher()) == expected


@given(CONTENT)
def test_masks_of_random_content_are_those_of_trying_every_token(node: Content) -> None:
    try:
        matcher = cfgmask.compile(Grammar._from_tagged(Tagged(node), "<random>"), VOCABULARY).matcher()
    except cfgmask.GrammarError:
        return
    data = bytearray(4)
    bits = memoryview(data).cast("i")
    for _ in range(4):
        matcher.fill_mask(bits)
        allowed = [token for token in range(VOCABULARY.n_vocab) if data[token // 8] >> token % 8 & 1]
        assert allowed == [t for t in range(VOCABULARY.n_vocab) if matcher.fork().try_advance([t]) == 1]
        following = [token for token in allowed if token != 4]
        if not following:
            return
        matcher.advance(following[-1])


# ---- Derivations ----


@cache
def _matches(regex: tree.RegexTree, text: str) -> bool:
    """Whether a regex matches a text, by trying everything."""
    if isinstance(regex, tree.Literal):
        return regex.data.decode() == text
    if isinstance(regex, tree.CharClass):
        return len(text) == 1 and any(low <= ord(text) <= high for low, high in regex.ranges)
    if isinstance(regex, tree.Alternation):
        return any(_matches(part, text) for part in regex.parts)
    if isinstance(regex, tree.Intersection):
        return all(_matches(part, text) for part in regex.parts)
    if isinstance(regex, tree.Complement):
        return not _matches(regex.body, text)
    if isinstance(regex, tree.Concatenation):
        if not regex.parts:
            return not text
        rest = tree.Concatenation(regex.parts[1:])
        return any(_matches(regex.parts[0], text[:i]) and _matches(rest, text[i:]) for i in range(len(text) + 1))
    assert isinstance(regex, tree.Repetition)
    if not text:
        return not regex.minimum or _matches(regex.body, "")
    if regex.maximum == 0:
        return False
    fewer = tree.Repetition(regex.body, max(0, regex.minimum - 1), None if regex.maximum is None else regex.maximum - 1)
    return any(_matches(regex.body, text[:i]) and _matches(fewer, text[i:]) for i in range(1, len(text) + 1))


class Derivations:
    """How many derivations the rules of a grammar have for texts."""

    def __init__(self, grammar: ir.GrammarIR) -> None:
        self._bodies = {rule.name: rule.body for rule in grammar.rules}
        self._start = grammar.start
        self._known: dict[tuple[int, str], int] = {}

    def count(self, text: str) -> int:
        return self._of(self._bodies[self._start], text)

    def _of(self, expr: ir.Expr, text: str) -> int:
        key = (id(expr), text)
        if key not in self._known:
            self._known[key] = self._computed(expr, text)
        return self._known[key]

    def _computed(self, expr: ir.Expr, text: str) -> int:
        if isinstance(expr, ir.Terminal):
            return int(_matches(expr.regex, text))
        if isinstance(expr, ir.RuleRef):
            return self._of(self._bodies[expr.name], text)
        if isinstance(expr, ir.Choice):
            return sum(self._of(part, text) for part in expr.parts)
        if isinstance(expr, ir.Sequence):
            return self._sequence(expr.parts, text)
        assert isinstance(expr, ir.Repeat)
        return self._repeat(expr, text, 0)

    def _sequence(self, parts: tuple[ir.Expr, ...], text: str) -> int:
        if not parts:
            return int(not text)
        return sum(
            first * self._sequence(parts[1:], text[i:])
            for i in range(len(text) + 1)
            if (first := self._of(parts[0], text[:i]))
        )

    def _repeat(self, expr: ir.Repeat, text: str, n: int) -> int:
        found = int(not text and n >= expr.minimum)
        if expr.maximum is not None and n == expr.maximum:
            return found
        return found + sum(
            first * self._repeat(expr, text[i:], n + 1)
            for i in range(1, len(text) + 1)
            if (first := self._of(expr.body, text[:i]))
        )


_END = ((Text(">"),), (Text("b>"),))
_CALL = Tag(
    (Space("a"), Text("<"), Space("a")), Mark("m", FreeText(max_chars=2)), ((Space("a"), Text(">"), Space("a")),)
)
UNIQUE: dict[str, Content] = {
    "ends": Tag((Text("<"),), FreeText(), _END),
    "an end in another": Sequence((Tag((), FreeText(), _END), Text("a"))),
    "an end that overlaps itself": Sequence((Tag((), FreeText(), ((Text("aba"),),)), FreeText())),
    "triggered": Triggered(((Text("<"),),), (Tag((Text("<a"),), FreeText(), _END), Tag((Text("<b"),), Text("")))),
    "triggers of which one ends in another": Triggered(
        ((Text("a<"),), (Text("<"),)), (Tag((Text("a<"),), Text("b")), Tag((Text("<"),), Text("a")))
    ),
    "in a tag": Tag((Text("<"),), Triggered(((Text("<"),),), (Tag((Text("<"),), FreeText(), _END),)), _END),
    "at least one": Triggered(((Text("<"),),), (Tag((Text("<"),), FreeText(), _END),), at_least_one=True),
    "thinking and calls": Sequence(
        (
            Tag((), Mark("r", FreeText()), ((Space("a"), Text("bb"), Space("a")),)),
            Triggered(((Space("a"), Text("<"), Space("a")),), (_CALL,), mark="content"),
        )
    ),
    "at most two": Triggered(((Text("<"),),), (Tag((Text("<"),), FreeText(), _END),), maximum=2),
}


@pytest.mark.parametrize("name", UNIQUE)
def test_every_text_has_one_derivation(name: str) -> None:
    node = UNIQUE[name]
    derivations = Derivations(lower(node, joints=Joints("complete")))
    counts = {text: derivations.count(text) for text in TEXTS}
    assert set(counts.values()) == {0, 1}, {text: n for text, n in counts.items() if n > 1}
    compiled = cfgmask.compile(Grammar._from_tagged(Tagged(node), "<tag>"), VOCABULARY)
    assert _accepted(compiled.matcher()) == {text for text, n in counts.items() if n}


def test_the_count_sees_ambiguity() -> None:
    derivations = Derivations(lower(Sequence((FreeText(), FreeText()))))
    assert derivations.count("ab") == 3
