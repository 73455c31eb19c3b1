"""A text with two parse trees, found by writing out derivations, those of the shortest texts first.

Derivations are leftmost ones of a rule, in which a nonterminal may be left as it stands; two that come to the same
symbols are two trees of one text, whatever is put for the nonterminals, if only it is not empty: then both trees have
them at the same place. Leaving nonterminals as they stand finds `if a if b c else d` after two steps, though
the text is long. Whether a grammar is ambiguous is undecidable: nothing found within the bound proves nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.lexing import overlapping
from cfgmask.analysis.reach import union
from cfgmask.analysis.sets import END, Sets
from cfgmask.analysis.shortest import Piece, Shortest
from cfgmask.diagnostics import Diagnostic, quoted
from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import Intersection, Literal, RegexTree

_MAX_STATES = 500
_MAX_TOGETHER = 64
"""Of more regexes that begin alike the automaton has nearly always more states than that."""
_MAX_SHOWN = 100

Symbols = tuple[int, ...]


@dataclass(frozen=True)
class Ambiguity:
    """A text of a rule and two derivations of it, as the choices of leftmost derivations (-1: left as it stands)."""

    rule: int
    pieces: tuple[Piece, ...]
    derivations: tuple[Symbols, Symbols]


def ambiguities(flat: Flat, sets: Sets, shortest: Shortest, max_steps: int) -> Iterator[Diagnostic]:
    """A note with the shortest ambiguous text that was found in so many derivations, if one was."""
    found = find_ambiguity(flat, sets, shortest, max_steps)
    if found is None:
        return
    rule = flat.nonterminals[found.rule].rule
    between = b" " if _ignores_blanks(flat, rule.scope) else b""
    text = between.join(piece if isinstance(piece, bytes) else piece.text.encode() for piece in found.pieces)
    first, second = (_tree(flat, shortest, found, choices) for choices in found.derivations)
    trees = f": {first} and {second}" if len(first) + len(second) <= _MAX_SHOWN else ""
    yield Diagnostic(
        "grammar-ambiguous",
        f"{quoted(text)} is a `{rule.name}` in two ways{trees}",
        rule.span,
        severity="note",
        help="masks are right all the same; to be faster, or for one parse tree, give the reading that is meant a rule",
    )


def _ignores_blanks(flat: Flat, scope: int) -> bool:
    return any(flat.algebra.is_prefix(terminal.regex, b" ") for terminal in flat.ir.scopes[scope].ignore)


def find_ambiguity(flat: Flat, sets: Sets, shortest: Shortest, max_steps: int) -> Ambiguity | None:
    """The ambiguity of the shortest text that is found in the steps, shared among the rules that may have one."""
    alike = _Alike(flat)
    roots = _suspects(flat, sets, alike)
    if not roots:
        return None
    found = [_search(flat, shortest, alike, root, max_steps // len(roots)) for root in roots]
    return min((a for a in found if a is not None), key=lambda a: sum(map(_size, a.pieces)), default=None)


def _size(piece: Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else 1


def _search(flat: Flat, shortest: Shortest, alike: _Alike, root: int, steps: int) -> Ambiguity | None:
    """Best first by the size of a shortest text, then by how much is written out."""
    seen: dict[Symbols, list[tuple[Symbols, Symbols]]] = {}
    queue: list[tuple[int, int, int, Symbols, Symbols, Symbols]] = []
    number = 0

    def push(size: int, done: Symbols, pending: Symbols, choices: Symbols) -> None:
        nonlocal number
        n_leaves = 0
        for symbol in pending:
            if symbol < 0:
                break
            n_leaves += 1
        if n_leaves:
            done, pending = done + pending[:n_leaves], pending[n_leaves:]
        number += 1
        heapq.heappush(queue, (size, len(choices), number, done, pending, choices))

    # Sizes are kept up to date: derivations of one recursion are as long as there are steps.
    for a, alternative in enumerate(flat.nonterminals[root].alternatives):
        size = shortest.total_size(alternative)
        if size is not None:
            push(size, (), alternative, (a,))
    while queue and steps:
        steps -= 1
        size, _, _, done, pending, choices = heapq.heappop(queue)
        if not pending:
            key = alike.key(done)
            for other, other_choices in seen.setdefault(key, []):
                pieces = _common_pieces(shortest, alike, done, other)
                if pieces is not None:
                    return Ambiguity(root, pieces, (other_choices, choices))
            seen[key].append((done, choices))
            continue
        others = size - (shortest.size(pending[0]) or 0)
        visible = shortest.visible_size(pending[0])
        if visible is not None:
            push(others + visible, (*done, pending[0]), pending[1:], (*choices, -1))
        nonterminal = flat[pending[0]]
        for a, alternative in enumerate(nonterminal.alternatives if nonterminal.is_exact else ()):
            added = shortest.total_size(alternative)
            if added is not None:
                push(others + added, done, (*alternative, *pending[1:]), (*choices, a))
    return None


def _common_pieces(shortest: Shortest, alike: _Alike, left: Symbols, right: Symbols) -> tuple[Piece, ...] | None:
    """A text of two lists of symbols that may be alike; None if they are not."""
    pieces: list[Piece] = []
    for a, b in zip(left, right, strict=True):
        if a != b:
            common = alike.common(a, b)
            if common is None:
                return None
            pieces.append(common)
        else:
            pieces += shortest.derive_visible(a) or []
    return tuple(pieces)


class _Alike:
    """Which leaves may match the same text, so that both come to the parser."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._common: dict[tuple[int, int], bytes | None] = {}
        parents = list(range(len(flat.leaves)))
        for together in self._may_match_together():
            first = _representative(parents, together[0])
            for other in together[1:]:
                parents[_representative(parents, other)] = first
        self._group = [_representative(parents, leaf) for leaf in parents]

    def _may_match_together(self) -> Iterator[list[int]]:
        """Sets of leaves that match one text, or perhaps do."""
        literals: dict[bytes, list[int]] = {}
        others: list[tuple[int, RegexTree, int]] = []
        for n, leaf in enumerate(self._flat.leaves):
            if isinstance(leaf.symbol, Terminal) and isinstance(leaf.symbol.regex, Literal):
                literals.setdefault(leaf.symbol.regex.data, []).append(n)
            elif isinstance(leaf.symbol, Terminal):
                others.append((n, leaf.symbol.regex, self._flat.first_bytes(n)))
        for data, same in literals.items():
            begin = 1 << data[0] if data else 1
            matching = [n for n, tree, first in others if first & begin and self._flat.algebra.matches(tree, data)]
            if len(same) + len(matching) > 1:
                yield from self._of_one_rank(same + matching)
        for same in self._of_one_rank([n for n, _, _ in others]):
            yield from self._regexes_together(same)

    def _regexes_together(self, leaves: list[int]) -> Iterator[list[int]]:
        """Of the leaves that share first bytes those that match one text, or all if that takes long."""
        trees = [symbol.regex for n in leaves if isinstance(symbol := self._flat.leaves[n].symbol, Terminal)]
        for members in overlapping(list(map(self._flat.first_bytes, leaves))):
            if len(members) > 1:
                few = [trees[m] for m in members] if len(members) <= _MAX_TOGETHER else []
                lexemes = self._flat.algebra.lexeme_ends(few, _MAX_STATES) if few else None
                together = [list(range(len(members)))] if lexemes is None else lexemes.matched_sets
                yield from ([leaves[members[e]] for e in elements] for elements in together)

    def _of_one_rank(self, leaves: list[int]) -> Iterator[list[int]]:
        """The leaves in groups that come to the parser where they are complete together."""
        ranks: dict[tuple[int, bool], list[int]] = {}
        for leaf in leaves:
            ranks.setdefault(self._rank(leaf), []).append(leaf)
        yield from ranks.values()

    def _rank(self, leaf: int) -> tuple[int, bool]:
        """Of the leaves that are complete together, those of one rank come to the parser."""
        symbol = self._flat.leaves[leaf].symbol
        assert isinstance(symbol, Terminal)
        return (symbol.priority, symbol.lazy) if self._flat.ir.lexer == "longest" else (0, False)

    def key(self, symbols: Symbols) -> Symbols:
        """Equal for symbols that may be alike."""
        return tuple(self._group[symbol] if symbol >= 0 else symbol for symbol in symbols)

    def common(self, a: int, b: int) -> bytes | None:
        """A shortest text of both leaves; None if there is none, or one of them is always preferred."""
        pair = (a, b) if a < b else (b, a)
        if pair not in self._common:
            self._common[pair] = self._find(*pair)
        return self._common[pair]

    def _find(self, a: int, b: int) -> bytes | None:
        if min(a, b) < 0:
            return None
        left, right = self._flat.leaves[a].symbol, self._flat.leaves[b].symbol
        if not isinstance(left, Terminal) or not isinstance(right, Terminal) or {a, b} & self._flat.empty_leaves:
            return None
        if self._rank(a) != self._rank(b):
            return None
        algebra = self._flat.algebra
        try:
            for literal, other in ((left, right), (right, left)):
                if isinstance(literal.regex, Literal):
                    return literal.regex.data if algebra.matches(other.regex, literal.regex.data) else None
            return algebra.shortest_visible(Intersection((left.regex, right.regex)))
        except LimitExceeded:
            return None


def _representative(parents: list[int], leaf: int) -> int:
    """Of the set that holds a leaf, in a forest of disjoint sets; paths are halved (Tarjan and van Leeuwen 1984)."""
    while parents[leaf] != leaf:
        parents[leaf] = leaf = parents[parents[leaf]]
    return leaf


def _suspects(flat: Flat, sets: Sets, alike: _Alike) -> list[int]:
    """The rules that lead to a nonterminal of which one symbol of lookahead does not tell the alternatives apart.

    Where there is none the grammar is LL(1) and has one tree a text.
    """
    of_group: dict[Symbols, int] = {}
    keys = [alike.key((leaf,)) for leaf in range(len(flat.leaves))]
    for leaf, key in enumerate(keys):
        of_group[key] = of_group.get(key, 0) | sets.places_of(leaf)
    places_alike = [of_group[key] for key in keys]
    conflicts = _Conflicts(flat, sets, places_alike).found
    callers: list[set[int]] = [set() for _ in flat.nonterminals]
    for n, nonterminal in enumerate(flat.nonterminals):
        for alternative in nonterminal.alternatives:
            for symbol in alternative:
                if symbol < 0:
                    callers[~symbol].add(n)
    # The rule itself, or the one that a group stands in, and those that call it: the two may meet only there.
    found = dict.fromkeys(conflicts)
    for n in conflicts:
        pending = [n]
        while pending:
            at = pending.pop()
            found[at] = None
            if not flat.nonterminals[at].is_rule:
                pending += [caller for caller in callers[at] if caller not in found]
            elif at == n:
                found.update(dict.fromkeys(callers[at]))
    return sorted(n for n in found if flat.nonterminals[n].is_rule)


class _Conflicts:
    """Which nonterminals have alternatives that may begin alike.

    places_alike  for each leaf the places of all leaves like it
    """

    def __init__(self, flat: Flat, sets: Sets, places_alike: list[int]) -> None:
        self._sets = sets
        self._places_alike = places_alike
        self._alike: dict[int, int] = {}
        self.found = [
            n
            for n, nonterminal in enumerate(flat.nonterminals)
            if len(nonterminal.alternatives) > 1 and self._has_conflict(n, len(nonterminal.alternatives))
        ]

    def _has_conflict(self, n: int, n_alternatives: int) -> bool:
        follow, n_empty, firsts = self._sets.follow[n] & ~END, 0, []
        for a in range(n_alternatives):
            first, empty = self._sets.first_of(n, a, 0)
            n_empty += empty
            firsts.append(first | follow if empty else first)
        if n_empty > 1:
            return True
        # What is like the largest set is not asked for.
        before = 0
        for first in sorted(firsts, key=int.bit_count, reverse=True):
            if before and self._like(first) & before:
                return True
            before |= first
        return False

    def _like(self, members: int) -> int:
        """The places of all leaves that are like those of some places."""
        if members not in self._alike:
            self._alike[members] = union(map(self._places_alike.__getitem__, self._sets.leaves(members)))
        return self._alike[members]


def _tree(flat: Flat, shortest: Shortest, found: Ambiguity, choices: Symbols) -> str:
    """A derivation with brackets: `sum[sum[1 + 1] + 1]`."""
    pieces = iter(found.pieces)
    chosen = iter(choices)
    out: list[str] = []
    pending: list[int | str] = [~found.rule]
    while pending:
        symbol = pending.pop()
        if isinstance(symbol, str):
            out.append(symbol)
        elif symbol >= 0:
            out.append(_shown(next(pieces)))
        else:
            a = next(chosen)
            nonterminal = flat[symbol]
            if a < 0:
                out += [_shown(next(pieces)) for _ in shortest.derive_visible(symbol) or []]
            elif nonterminal.is_rule:
                out.append(f"{nonterminal.rule.name}[")
                pending += ["]", *reversed(nonterminal.alternatives[a])]
            else:
                pending += reversed(nonterminal.alternatives[a])
    return " ".join(out).replace("[ ", "[").replace(" ]", "]")


def _shown(piece: Piece) -> str:
    return quoted(piece)[1:-1] if isinstance(piece, bytes) else piece.text
