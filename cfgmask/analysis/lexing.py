"""What the lexer does in a grammar: the terminals that are live together.

Which terminals those are is known from above: the places that may follow others, whoever called the rule (`Sets`).
So no text of the grammar is missing here, but some that are here are not in the grammar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import END, Sets
from cfgmask.grammar.ir import Terminal, TokenSet
from cfgmask.grammar.regex_tree import Alternation, Literal, RegexTree
from cfgmask.regex.algebra import LexemeEnds

_CONTEXT_COST = 20
"""What a context counts, in states of automata."""
_LARGE = 256
"""More states of an automaton are not counted where they are estimated."""

Elements: TypeAlias = tuple[int, ...]
"""Leaves, and `~scope` for the ignored text of a scope."""


def overlapping(sets: Sequence[int]) -> list[list[int]]:
    """The numbers of sets (of bits) in groups: of two groups, no set of one has a member of a set of the other."""
    groups: list[tuple[int, list[int]]] = []
    all_bits = 0
    for number, bits in enumerate(sets):
        members = [number]
        if not bits & all_bits:
            all_bits |= bits
            groups.append((bits, members))
            continue
        all_bits |= bits
        apart = []
        for group in groups:
            if group[0] & bits:
                bits, members = bits | group[0], group[1] + members
            else:
                apart.append(group)
        groups = [*apart, (bits, members)]
    return [members for _, members in groups]


class TooLarge(Exception):
    """There are more contexts or states than are looked at."""


@dataclass(frozen=True, eq=False)
class Group:
    """Terminals that are live together and begin with the same bytes, so that a lexeme may be several of them.

    leaves   the first elements of `lexemes`
    scopes   whose ignored text is among them: the other elements
    """

    leaves: tuple[int, ...]
    scopes: tuple[int, ...]
    lexemes: LexemeEnds


@dataclass(frozen=True, eq=False)
class Context:
    """What is live at some boundary between lexemes.

    live      places, and END where the text may end
    groups    of the terminals among them and of the ignored text that may stand here; the same lists where the same are
    after     for each group and each of its `matched_sets`, the number of the context behind it
    by_token  the numbers of the contexts behind tokens that are matched by their ids
    """

    live: int
    groups: list[Group]
    after: list[list[int]]
    by_token: list[int]


class Lexing:
    """The contexts of a grammar, the first being that of the start.

    n_states  what was looked at, in states of automata
    """

    def __init__(self, flat: Flat, sets: Sets, max_states: int) -> None:
        """Raises TooLarge where there are more states than that in all, or seem to be."""
        self._states_left = max_states
        self.flat = flat
        self.sets = sets
        self._groups: dict[Elements, Group] = {}
        self._grouped: dict[Elements, list[Group]] = {}
        self._apart: dict[Elements, list[Elements]] = {}
        self._elements: dict[tuple[tuple[int, ...], bool], Elements] = {}
        self._first: dict[int, int] = {}
        terminals = [leaf.symbol for leaf in flat.leaves if isinstance(leaf.symbol, Terminal)]
        self._is_plain = not any(terminal.priority or terminal.lazy for terminal in terminals)
        self._numbers: dict[int, int] = {}
        self._lives: list[int] = []
        self.contexts: list[Context] = []
        if self._seems_too_large(max_states):
            raise TooLarge
        start = sets.first[~flat.start]
        self._number(start | END if ~flat.start in sets.nullable else start)
        for live in self._lives:
            if self._states_left < 0:
                raise TooLarge
            self.contexts.append(self._context(live))
        self.n_states = max_states - self._states_left

    def _seems_too_large(self, max_states: int) -> bool:
        """Whether there are more states than that, as good as for certain, so that none needs to be looked at.

        Counted are the contexts behind each terminal wherever a place comes next, as if no other terminal matched with
        it, and for each group the states of its largest element. Of 167 grammars one with some 200 states in all had a
        tenth less than that, as some terminals never match alone, and no other one had less.
        """
        lives = dict.fromkeys(self.sets.following)
        if 2 * _CONTEXT_COST * len(lives) <= max_states:
            return False
        most = max_states + max_states // 8
        # Most terminals have one place each wherever they are live.
        single, several = 0, set[int]()
        for live in lives:
            leaves = self.sets.leaves(live)
            if len(leaves) == (live & ~END).bit_count():
                single |= live
            else:
                several.update([live & self.sets.places_of(leaf) for leaf in leaves])
        contexts = {self.sets.following[place] for place in self.sets.places(single)}
        contexts.update(map(self.sets.after, several))
        n_states = _CONTEXT_COST * len(contexts)
        together = dict.fromkeys(map(self._elements_of, lives))
        groups = {group for elements in together for group in self._apart_in(elements)}
        # A state for each group, at the least, so that large ones are not always looked at.
        n_states += len(groups)
        sizes: dict[int, int] = {}
        for group in groups:
            n_states += max(sizes.get(e) or sizes.setdefault(e, self._size(e)) for e in group) - 1
            if n_states > most:
                return True
        return False

    def _size(self, element: int) -> int:
        """The states of an element alone, large ones alike."""
        tree = self._tree(element)
        if isinstance(tree, Literal):
            return len(tree.data) + 1
        lexemes = self.flat.algebra.lexeme_ends([tree], _LARGE)
        return _LARGE if lexemes is None else lexemes.n_states

    def chosen(self, group: Group, element: int) -> list[bool]:
        """For each of the group's matched sets, whether the parser is given the element, if that is among them."""
        matched_sets = group.lexemes.matched_sets
        if self._is_plain:
            return [True] * len(matched_sets)
        own = self._rank(group, element)
        return [all(self._rank(group, other) <= own for other in matched) for matched in matched_sets]

    def is_lazy(self, group: Group, element: int) -> bool:
        """Whether a lexeme ends where the element matches."""
        return element < len(group.leaves) and self._terminal(group.leaves[element]).lazy

    def _rank(self, group: Group, element: int) -> tuple[bool, int]:
        """Lazy terminals come first, then priorities; ignored text has none."""
        if element >= len(group.leaves):
            return False, 0
        terminal = self._terminal(group.leaves[element])
        return terminal.lazy, terminal.priority

    def places(self, context: Context, leaf: int) -> int:
        """Where a leaf is live."""
        return context.live & self.sets.places_of(leaf)

    def _number(self, live: int) -> int:
        number = self._numbers.setdefault(live, len(self._lives))
        if number == len(self._lives):
            self._states_left -= _CONTEXT_COST
            self._lives.append(live)
        return number

    def _context(self, live: int) -> Context:
        groups = self._groups_of(self._elements_of(live))
        after = [
            [self._number(self._behind(live, group.leaves, matched)) for matched in group.lexemes.matched_sets]
            for group in groups
        ]
        tokens = [leaf for leaf in self.sets.leaves(live) if isinstance(self.flat.leaves[leaf].symbol, TokenSet)]
        by_token = [self._number(self.sets.after(live & self.sets.places_of(leaf))) for leaf in tokens]
        return Context(live, groups, after, by_token)

    def _elements_of(self, live: int) -> Elements:
        """What the lexer looks for: terminals, in order, and then the ignored text of their scopes."""
        found, may_end = self.sets.leaves(live), bool(live & END)
        if (found, may_end) not in self._elements:
            symbols = [self.flat.leaves[leaf] for leaf in found]
            leaves = sorted(n for n, leaf in zip(found, symbols, strict=True) if isinstance(leaf.symbol, Terminal))
            scopes = {leaf.scope for leaf in symbols}
            if may_end:
                scopes.add(self.flat[self.flat.start].rule.scope)
            ignoring = sorted(scope for scope in scopes if self.flat.ir.scopes[scope].ignore)
            self._elements[found, may_end] = (*leaves, *(~scope for scope in ignoring))
        return self._elements[found, may_end]

    def _behind(self, live: int, leaves: tuple[int, ...], matched: list[int]) -> int:
        places = 0
        skipped = 0
        for element in matched:
            if element < len(leaves):
                places |= live & self.sets.places_of(leaves[element])
            else:
                skipped = live
        return self.sets.after(places) | skipped

    def _groups_of(self, elements: Elements) -> list[Group]:
        if elements not in self._grouped:
            self._grouped[elements] = [self._group(members) for members in self._apart_in(elements)]
        return self._grouped[elements]

    def _apart_in(self, elements: Elements) -> list[Elements]:
        """Those that share no first byte need not be looked at together."""
        if elements not in self._apart:
            parts = overlapping(list(map(self._first_of, elements)))
            self._apart[elements] = [tuple([elements[member] for member in sorted(members)]) for members in parts]
        return self._apart[elements]

    def _group(self, members: Elements) -> Group:
        known = self._groups.get(members)
        if known is None:
            lexemes = self.flat.algebra.lexeme_ends(list(map(self._tree, members)), max(self._states_left, 0))
            if lexemes is None:
                raise TooLarge
            self._states_left -= lexemes.n_states
            leaves = tuple(member for member in members if member >= 0)
            scopes = tuple(~member for member in members if member < 0)
            known = self._groups[members] = Group(leaves, scopes, lexemes)
        return known

    def _first_of(self, member: int) -> int:
        if member >= 0:
            return self.flat.first_bytes(member)
        if member not in self._first:
            self._first[member] = self.flat.algebra.first(self._tree(member))
        return self._first[member]

    def _tree(self, member: int) -> RegexTree:
        """Of a leaf, or of a scope's ignored text as `~scope`."""
        if member >= 0:
            return self._terminal(member).regex
        return Alternation(tuple(terminal.regex for terminal in self.flat.ir.scopes[~member].ignore))

    def _terminal(self, leaf: int) -> Terminal:
        symbol = self.flat.leaves[leaf].symbol
        assert isinstance(symbol, Terminal)
        return symbol
