"""Free text up to the first of some tags.

Each tag is a terminal of its own, and the free text before it another: so what is live in free text are the tags as
they are written, and not, for each of them, all of the text that may stand before it. (With one terminal for both, two
thousand tags took ten seconds for a mask.) That a tag is the first one then takes that nothing that is looked for ends
in it earlier: the free text must not end with what would begin it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cfgmask.diagnostics import Span, shortened
from cfgmask.errors import LimitExceeded
from cfgmask.gbnf.tokens import BYTES_PER_TOKEN
from cfgmask.grammar import ir
from cfgmask.grammar import regex_tree as regex
from cfgmask.limits import Limits

_SOMETHING = regex.Repetition(regex.ANY_CHAR, 1, None)


@dataclass(frozen=True)
class Tag:
    """A text, its place, and the rule that follows it."""

    text: str
    span: Span
    rule: ir.RuleRef


class HiddenTextError(ValueError):
    """`hidden` is never found, since `inside` is found in it first."""

    def __init__(self, hidden: str, inside: str) -> None:
        super().__init__(hidden)
        self.hidden = hidden
        self.inside = inside


def free_text(tags: Sequence[Tag], excludes: Sequence[str], span: Span, limits: Limits) -> tuple[ir.Choice, ir.Expr]:
    """Free text up to a tag, with that and a text of its rule, for each tag; and free text alone, which may be empty.

    excludes  what stands nowhere in free text
    Of tags that end at one place the longest counts, and with it each that begins with that one. Linear in the texts.
    Raises HiddenTextError, and LimitExceeded (max_source_bytes) for texts that are long or overlap in many ways.
    """
    sought = _Sought([tag.text for tag in tags], excludes, limits)
    free = _free(sought.texts, (), span)
    tagged: dict[tuple[str, ...], list[ir.Expr]] = {}
    for tag in tags:
        terminal = ir.Terminal(shortened(tag.span.text), regex.text(tag.text), span=tag.span)
        tagged.setdefault(sought.forbidden_before(tag.text), []).append(ir.Sequence((terminal, tag.rule)))
    groups = (
        ir.Sequence((_free(sought.texts, forbidden, span) if forbidden else free, ir.Choice(tuple(ends))))
        for forbidden, ends in tagged.items()
    )
    return ir.Choice(tuple(groups)), free


def _free(sought: Sequence[str], last: Sequence[str], span: Span) -> ir.Expr:
    """Text in which nothing of `sought` stands, and that does not end with any of `last`; or none."""
    parts: list[regex.RegexTree] = [_SOMETHING]
    if sought:
        parts.append(regex.Complement(regex.Concatenation((regex.ANY_TEXT, _one_of(sought), regex.ANY_TEXT))))
    if last:
        parts.append(regex.Complement(regex.Concatenation((regex.ANY_TEXT, _one_of(last)))))
    tree = regex.Intersection(tuple(parts)) if len(parts) > 1 else parts[0]
    return ir.Repeat(ir.Terminal(shortened(span.text), tree, span=span), 0, 1)


def _one_of(texts: Sequence[str]) -> regex.KeySet:
    return regex.KeySet(tuple(sorted(text.encode() for text in texts)))


class _Sought:
    """The texts that are looked for, in the automaton of Aho and Corasick (1975).

    A node is a beginning of some text. `_fallback` is the longest proper end of it that is a node, too.
    """

    def __init__(self, tags: Sequence[str], excludes: Sequence[str], limits: Limits) -> None:
        self.texts = list(dict.fromkeys((*tags, *excludes)))
        self._limit = limits.max_source_bytes
        self._n_characters = 0
        self._count(sum(map(len, self.texts)))
        self._next: list[dict[str, int]] = [{}]
        self._fallback = [0]
        self._depth = [0]
        # The longest text that ends at a node.
        self._ending: dict[int, str] = {}
        for text in self.texts:
            self._ending[self._enter(text)] = text
        self._link()
        # What free text must not end with before any tag that begins with a node.
        self._forbidden: dict[int, list[str]] = {}
        only_excluded = set(excludes)
        for tag in tags:
            if tag in only_excluded:
                raise HiddenTextError(tag, tag)
        for text in self.texts:
            self._look_inside(text, only_excluded)

    def forbidden_before(self, tag: str) -> tuple[str, ...]:
        """What free text before a tag must not end with: something else would end in the tag, and count instead.

        Behind a tag that it begins with nothing is looked for any more.
        """
        found: dict[str, None] = {}
        for node in self._path(tag):
            found.update(dict.fromkeys(self._forbidden.get(node, ())))
            if node in self._ending:
                break
        return tuple(found)

    def _enter(self, text: str) -> int:
        node = 0
        for character in text:
            following = self._next[node].setdefault(character, len(self._next))
            if following == len(self._next):
                self._next.append({})
                self._fallback.append(0)
                self._depth.append(self._depth[node] + 1)
            node = following
        return node

    def _link(self) -> None:
        pending = list(self._next[0].values())
        for node in pending:
            for character, following in self._next[node].items():
                end = self._fallback[node]
                while end and character not in self._next[end]:
                    end = self._fallback[end]
                end = self._fallback[following] = self._next[end].get(character, 0)
                if end in self._ending:
                    self._ending.setdefault(following, self._ending[end])
                pending.append(following)

    def _path(self, text: str) -> Iterator[int]:
        node = 0
        for character in text:
            node = self._next[node][character]
            yield node

    def _look_inside(self, text: str, excludes: set[str]) -> None:
        """Note where the text ends as others begin; refuse what is never found since another one ends in it."""
        *path, last = self._path(text)
        inside = [self._ending[node] for node in path if node in self._ending]
        hiding = self._hiding(text, inside, self._ending.get(self._fallback[last]), excludes)
        if hiding is not None:
            raise HiddenTextError(text, hiding)
        end = 0 if inside else self._fallback[last]
        while end:
            before = text[: -self._depth[end]]
            self._count(len(before))
            self._forbidden.setdefault(end, []).append(before)
            end = self._fallback[end]

    def _hiding(self, text: str, inside: list[str], at_end: str | None, excludes: set[str]) -> str | None:
        """What is found before the text, or instead of it.

        inside, at_end  what ends in it, and with it
        A tag that it begins with does not hide it: both are found where that one ends. What is excluded may hold
        anything.
        """
        if text in excludes:
            return None if inside or at_end in excludes else at_end
        first_excluded = next((found for found in (*inside, at_end) if found in excludes), None)
        if first_excluded is None and inside and not text.startswith(inside[0]):
            return inside[0]
        return first_excluded

    def _count(self, n_characters: int) -> None:
        self._n_characters += n_characters
        if self._n_characters > self._limit // BYTES_PER_TOKEN:
            detail = f"tags of more than {self._limit // BYTES_PER_TOKEN} characters, with those that overlap"
            raise LimitExceeded("max_source_bytes", self._limit, detail)
