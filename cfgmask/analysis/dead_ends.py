"""Texts under longest match that nothing can complete: proved to be none, proved to be some, or undecided.

The proof that there are none: wherever the lexer is inside a terminal, that terminal can be finished such that what
comes next on a shortest way to the end begins with a byte that no live terminal takes. The proof that there are some: a
text that the grammar takes, behind which even the contexts of `Lexing`, which hold too much, do not lead to an end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cfgmask.analysis.canonical import Canonical
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.lexing import ALL_BYTES, Context, Lexing, TooLarge
from cfgmask.analysis.sets import END, Sets, union
from cfgmask.diagnostics import Diagnostic, Related, Severity, quoted
from cfgmask.grammar.ir import Terminal

_ADVICE = (
    'let the terminal end where the next one may begin (`/[^E]*/ "END"` for `/.*/ "END"`), or choose lexer: complete'
)
_NOTE: Severity = "note"
_WARNING: Severity = "warning"
_MAX_NODES = 200_000


@dataclass(frozen=True)
class _Stuck:
    """A terminal, or ignored text, that cannot always be left for what must come next."""

    leaf: int | None
    following: int


@dataclass(frozen=True)
class _Dead:
    """A text that leads to no end, and the leaves that are live behind it."""

    text: bytes
    live: frozenset[int]


def dead_ends(flat: Flat, sets: Sets, canonical: Canonical, is_prefix: Callable[[bytes], bool]) -> Iterator[Diagnostic]:
    """A warning of a dead end, or a note of what was not proved; nothing where there are none.

    is_prefix  whether the grammar takes a text as a beginning
    """
    if flat.ir.lexer == "complete":
        return
    start = flat[flat.start].rule
    if flat.has_conditions or flat.has_limits:
        why = "conditions on parameters" if flat.has_conditions else "rules with `max_tokens`"
        message = f"whether every text can be completed was not decided: there are {why}"
        yield Diagnostic("grammar-dead-end-undecided", message, start.span, severity="note", help=_ADVICE)
        return
    try:
        lexing = Lexing(flat, sets)
        stuck = list(_stuck(lexing, canonical))
        dead = _dead_text(lexing) if stuck else None
    except TooLarge:
        message = "whether every text can be completed was not decided: there are too many contexts"
        yield Diagnostic("grammar-dead-end-undecided", message, start.span, severity="note", help=_ADVICE)
        return
    if not stuck:
        return
    is_proved = dead is not None and is_prefix(dead.text)
    blamed = next((s for s in stuck if dead is not None and is_proved and s.leaf in dead.live), stuck[0])
    following = flat.leaves[blamed.following]
    taker, span = "ignored text", None
    if blamed.leaf is not None:
        taker, span = flat.leaves[blamed.leaf].shown, flat.leaves[blamed.leaf].symbol.span
    code, severity = "grammar-dead-end-undecided", _NOTE
    message = (
        f"it is not proved that each text can be completed: {taker} may not end where {following.shown} must begin"
    )
    if dead is not None and is_proved:
        code, severity = "grammar-dead-end", _WARNING
        after = f" after {quoted(dead.text)}" if dead.text else ""
        message = f"no text can be completed{after}: {taker} takes what {following.shown} begins with"
    yield Diagnostic(
        code,
        message,
        span or start.span,
        severity=severity,
        related=()
        if following.symbol.span is None
        else (Related(following.symbol.span, f"{following.shown} comes next"),),
        help=_ADVICE,
    )


def _stuck(lexing: Lexing, canonical: Canonical) -> Iterator[_Stuck]:
    """Terminals that may have come to a residual from which what must follow cannot be reached."""
    first = _first_bytes(lexing)
    asked: set[tuple[int, int, int]] = set()
    exits: dict[tuple[int, int], _Exits] = {}
    for context in lexing.contexts:
        for element, places in _followed(lexing, canonical, context):
            own = id(context.lexemes), element
            for place in lexing.sets.places(places):
                following = lexing.sets.leaf[place]
                # What is live decides, not which of its places.
                if (*own, following) in asked:
                    continue
                asked.add((*own, following))
                known = exits.get(own) or exits.setdefault(own, _Exits(lexing, context, element))
                if not known.can_leave_for(following, first):
                    leaf = context.leaves[element] if element < len(context.leaves) else None
                    yield _Stuck(leaf, following)


def _followed(lexing: Lexing, canonical: Canonical, context: Context) -> Iterator[tuple[int, int]]:
    """The elements of a context, each with what comes next; after ignored text, all of its scope that is live."""
    sets = lexing.sets
    for element, leaf in enumerate(context.leaves):
        places = sets.places(lexing.places(context, leaf))
        yield element, union(canonical.following[place] for place in places)
    for number, scope in enumerate(context.scopes):
        places = sets.places(context.live)
        yield (
            len(context.leaves) + number,
            union(2 << place for place in places if lexing.flat.leaves[sets.leaf[place]].scope == scope),
        )


def _first_bytes(lexing: Lexing) -> dict[int, int]:
    """The bytes that each terminal begins with; scopes, whose ignored text counts, are `~scope`."""
    first: dict[int, int] = {}
    for lexemes, context in {id(c.lexemes): (c.lexemes, c) for c in lexing.contexts}.values():
        keys = [*context.leaves, *(~scope for scope in context.scopes)]
        for bits, live in lexemes.first:
            for element in live:
                first[keys[element]] = first.get(keys[element], 0) | bits
    return first


class _Exits:
    """How the lexemes of one element of a context end."""

    def __init__(self, lexing: Lexing, context: Context, element: int) -> None:
        self._lexing = lexing
        self._context = context
        self._element = element
        self._ends = context.lexemes.ends(element)
        chosen = lexing.chosen(context, element)
        self._chosen = [chosen[matched] for matched, _ in self._ends]
        self._ends_at_once = lexing.is_lazy(context, element)
        # The bytes that are taken at no end: such a byte can always come.
        self._never_taken = ALL_BYTES if all(self._chosen) else 0
        for _, taken in self._ends:
            self._never_taken &= ~taken
        self._separations: dict[tuple[int, int, int, int], bool] = {}

    def can_leave_for(self, following: int, first: dict[int, int]) -> bool:
        """Whether every text inside of the element can go on to its end such that `following` can begin behind it.

        first  the bytes that terminals, and ignored text, may begin with
        """
        symbol = self._lexing.flat.leaves[following]
        wanted = first.get(following, 0) if isinstance(symbol.symbol, Terminal) else ALL_BYTES
        if wanted & self._never_taken:
            return True
        scope = self._lexing.flat.ir.scopes[symbol.scope]
        may_ignore = scope.ignore and (self._element < len(self._context.leaves) or not scope.ignore_once)
        ignored = first.get(~symbol.scope, 0) if may_ignore else 0
        good = [
            number
            for number, (matched, taken) in enumerate(self._ends)
            if self._chosen[number]
            and (
                self._ends_at_once
                or wanted & ~taken
                or self._ignored_separates(matched, ignored & ~taken, symbol.scope, wanted)
            )
        ]
        return len(good) == len(self._ends) or self._context.lexemes.always_reaches(self._element, good)

    def _ignored_separates(self, matched: int, bits: int, scope: int, wanted: int) -> bool:
        """Whether ignored text that begins with one of these bytes can be left for a byte that is wanted."""
        behind = self._lexing.contexts[self._context.after[matched]]
        if not bits or scope not in behind.scopes:
            return False
        key = id(behind.lexemes), bits, scope, wanted
        if key not in self._separations:
            element = len(behind.leaves) + behind.scopes.index(scope)
            chosen = self._lexing.chosen(behind, element)
            self._separations[key] = behind.lexemes.can_be_left(element, bits, wanted, chosen)
        return self._separations[key]


def _backwards(moves: dict[int, list[int]], good: set[int]) -> set[int]:
    """The nodes from which one of `good` can be reached."""
    before: dict[int, list[int]] = {}
    for node, targets in moves.items():
        for target in targets:
            before.setdefault(target, []).append(node)
    reached = set(good)
    pending = list(good)
    while pending:
        for node in before.get(pending.pop(), ()):
            if node not in reached:
                reached.add(node)
                pending.append(node)
    return reached


def _dead_text(lexing: Lexing) -> _Dead | None:
    """A shortest text that leads to where no end is reached, as far as contexts tell; None if there is none."""
    offsets, total = [], 0
    for context in lexing.contexts:
        offsets.append(total)
        total += context.lexemes.n_states
    if total > _MAX_NODES:
        raise TooLarge
    automata = {id(context.lexemes): context.lexemes.automaton() for context in lexing.contexts}
    steps: dict[int, list[tuple[int, int]]] = {}
    accepting: set[int] = set()
    for number, context in enumerate(lexing.contexts):
        behind = dict(zip(map(tuple, context.lexemes.matched_sets), context.after, strict=True))
        for q, (_, matched, moves) in enumerate(automata[id(context.lexemes)]):
            node = offsets[number] + q
            steps[node] = [(bits, offsets[number] + target) for bits, target in moves]
            if q == 0:
                steps[node] += [(0, offsets[after]) for after in context.by_token]
                if context.live & END:
                    accepting.add(node)
            elif matched:
                after = behind[tuple(matched)]
                next_one, offset = lexing.contexts[after], offsets[after]
                free = ~union(bits for bits, _ in moves)
                began = automata[id(next_one.lexemes)][0][2]
                steps[node] += [(bits & free, offset + to) for bits, to in began if bits & free]
                steps[node] += [(0, offsets[token]) for token in next_one.by_token]
                if next_one.live & END:
                    accepting.add(node)
    alive = _backwards({node: [target for _, target in moves] for node, moves in steps.items()}, accepting)
    found = _path_to_dead(steps, alive)
    if found is None:
        return None
    node, text = found
    number = bisect_right(offsets, node) - 1
    context = lexing.contexts[number]
    live = automata[id(context.lexemes)][node - offsets[number]][0]
    return _Dead(text, frozenset(context.leaves[element] for element in live if element < len(context.leaves)))


def _path_to_dead(steps: dict[int, list[tuple[int, int]]], alive: set[int]) -> tuple[int, bytes] | None:
    """A dead node and a text that leads there: breadth first, by bytes alone, since a text must be spelled."""
    texts = {0: b""}
    pending = [0]
    for node in pending:
        if node not in alive:
            return node, texts[node]
        for bits, target in steps[node]:
            if bits and target not in texts:
                texts[target] = texts[node] + bytes([_nice(bits)])
                pending.append(target)
    return None


def _nice(bits: int) -> int:
    """A byte of the set, a letter or a digit if there is one."""
    for preferred in (_LETTERS, _DIGITS, _PRINTABLE, ALL_BYTES):
        if bits & preferred:
            chosen = bits & preferred
            return (chosen & -chosen).bit_length() - 1
    raise ValueError("no byte")


_LETTERS = sum(1 << b for b in b"abcdefghijklmnopqrstuvwxyz")
_DIGITS = sum(1 << b for b in b"0123456789")
_PRINTABLE = sum(1 << b for b in range(32, 127))
