"""Texts under longest match that nothing can complete: proved to be none, proved to be some, or undecided.

The proof that there are none: wherever the lexer is inside a terminal, that terminal can be finished such that what
comes next on a shortest way to the end begins with a byte that no live terminal takes. The proof that there are some: a
text that the grammar takes, behind which even the contexts of `Lexing`, which hold too much, do not lead to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cfgmask.analysis.canonical import Canonical
from cfgmask.analysis.corrections import ending_with, with_line_break, without_end
from cfgmask.analysis.dead_text import dead_text
from cfgmask.analysis.flat import ALL_BYTES, Flat
from cfgmask.analysis.lexing import Context, Group, Lexing, TooLarge
from cfgmask.analysis.reach import union
from cfgmask.analysis.sets import Sets
from cfgmask.analysis.shortest import Shortest
from cfgmask.diagnostics import Diagnostic, Related, Severity, quoted
from cfgmask.grammar.ir import Terminal

_ADVICE = (
    'let the terminal end where the next one may begin (`/[^E]*/ "END"` for `/.*/ "END"`), or choose lexer: complete'
)
_EDGES_ADVICE = "mend the lookarounds, anchors and `\\b` in regexes: they hold of the whole text, not of one terminal"
_NOTE: Severity = "note"
_WARNING: Severity = "warning"


@dataclass(frozen=True)
class _Stuck:
    """A terminal, or ignored text, that cannot always be left for what must come next."""

    leaf: int | None
    following: int


def dead_ends(
    flat: Flat,
    sets: Sets,
    shortest: Shortest,
    is_prefix: Callable[[bytes], bool],
    has_text: Callable[[], bool | None],
    max_states: int,
) -> Iterator[Diagnostic]:
    """A warning of a dead end, or a note of what was not proved; nothing where there are none.

    is_prefix   whether the grammar takes a text as a beginning
    has_text    whether it has any text at all; None if that was not found out
    max_states  how much is looked at, in states of the lexer
    """
    if flat.ir.lexer == "complete" and not flat.has_edges:
        return
    start = flat[flat.start].rule
    if flat.has_edges and has_text() is False:
        message = "no text can be completed: what terminals ask of the text around them never holds"
        yield Diagnostic("grammar-dead-end", message, start.span, severity=_WARNING, help=_EDGES_ADVICE)
        return
    why = "there are conditions on parameters" if flat.has_conditions else ""
    why = why or ("there are rules with `max_tokens`" if flat.has_limits else "")
    why = why or ("lines are indented" if flat.ir.indenter is not None else "")
    why = why or ("terminals ask something of the text around them" if flat.has_edges else "")
    if why:
        message = f"whether every text can be completed was not decided: {why}"
        help = "`cfgmask check --sample 20` shows whether random texts come to an end"
        yield Diagnostic("grammar-dead-end-undecided", message, start.span, severity="note", help=help)
        return
    try:
        lexing = Lexing(flat, sets, max_states)
        stuck = list(_stuck(lexing, Canonical(flat, sets, shortest)))
        dead = dead_text(lexing) if stuck else None
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
    fix = None
    code, severity = "grammar-dead-end-undecided", _NOTE
    message = (
        f"it is not proved that each text can be completed: {taker} may not end where {following.shown} must begin"
    )
    if dead is not None and is_proved:
        code, severity = "grammar-dead-end", _WARNING
        after = f" after {quoted(dead.text)}" if dead.text else ""
        message = f"no text can be completed{after}: {taker} takes what {following.shown} begins with"
        if blamed.leaf is None:
            fix = with_line_break(flat)
        else:
            fix = ending_with(flat, blamed.leaf, blamed.following)
            fix = fix or without_end(flat, blamed.leaf, blamed.following)
    yield Diagnostic(
        code,
        message,
        span or start.span,
        severity=severity,
        related=()
        if following.symbol.span is None
        else (Related(following.symbol.span, f"{following.shown} comes next"),),
        help=_ADVICE,
        fix=fix,
    )


def _stuck(lexing: Lexing, canonical: Canonical) -> Iterator[_Stuck]:
    """Terminals that may have come to a residual from which what must follow cannot be reached."""
    first = _first_bytes(lexing)
    asked: set[tuple[Group, int, int]] = set()
    exits: dict[tuple[Group, int], _Exits] = {}
    followed = _Followed(lexing, canonical)
    for context in lexing.contexts:
        for group, after in zip(context.groups, context.after, strict=True):
            for element, places in followed.by(context, group):
                for following in lexing.sets.leaves(places):
                    # What is live decides, not which of its places.
                    if (group, element, following) in asked:
                        continue
                    asked.add((group, element, following))
                    known = exits.get((group, element))
                    if known is None:
                        known = exits[group, element] = _Exits(lexing, group, after, element)
                    if not known.can_leave_for(following, first):
                        yield _Stuck(group.leaves[element] if element < len(group.leaves) else None, following)


class _Followed:
    """What comes next on the way of `canonical`."""

    def __init__(self, lexing: Lexing, canonical: Canonical) -> None:
        self._lexing = lexing
        self._canonical = canonical
        self._after: dict[int, int] = {}
        self._scopes = [lexing.sets.places_in(scope) for scope in range(len(lexing.flat.ir.scopes))]

    def by(self, context: Context, group: Group) -> Iterator[tuple[int, int]]:
        """The elements of a group, each with what comes next; after ignored text, all of its scope that is live."""
        for element, leaf in enumerate(group.leaves):
            yield element, self._behind(self._lexing.places(context, leaf))
        for number, scope in enumerate(group.scopes):
            yield len(group.leaves) + number, context.live & self._scopes[scope]

    def _behind(self, members: int) -> int:
        if members not in self._after:
            places = self._lexing.sets.places(members)
            self._after[members] = union(map(self._canonical.following.__getitem__, places))
        return self._after[members]


def _first_bytes(lexing: Lexing) -> dict[int, int]:
    """The bytes that each terminal begins with; scopes, whose ignored text counts, are `~scope`."""
    first: dict[int, int] = {}
    for group in dict.fromkeys(group for context in lexing.contexts for group in context.groups):
        keys = [*group.leaves, *(~scope for scope in group.scopes)]
        for bits, live in group.lexemes.first:
            for element in live:
                first[keys[element]] = first.get(keys[element], 0) | bits
    return first


class _Exits:
    """How the lexemes of one element of a group end; `after` has the contexts behind, for each matched set."""

    def __init__(self, lexing: Lexing, group: Group, after: list[int], element: int) -> None:
        self._lexing = lexing
        self._group = group
        self._after = after
        self._element = element
        self._ends = group.lexemes.ends(element)
        chosen = lexing.chosen(group, element)
        self._chosen = [chosen[matched] for matched, _ in self._ends]
        self._ends_at_once = lexing.is_lazy(group, element)
        # The bytes that are taken at no end: such a byte can always come.
        self._never_taken = ALL_BYTES if all(self._chosen) else 0
        for _, taken in self._ends:
            self._never_taken &= ~taken
        self._separations: dict[tuple[Group, int, int, int], bool] = {}

    def can_leave_for(self, following: int, first: dict[int, int]) -> bool:
        """Whether every text inside of the element can go on to its end such that `following` can begin behind it.

        first  the bytes that terminals, and ignored text, may begin with
        """
        symbol = self._lexing.flat.leaves[following]
        wanted = first.get(following, 0) if isinstance(symbol.symbol, Terminal) else ALL_BYTES
        if wanted & self._never_taken:
            return True
        scope = self._lexing.flat.ir.scopes[symbol.scope]
        may_ignore = scope.ignore and (self._element < len(self._group.leaves) or not scope.ignore_once)
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
        return len(good) == len(self._ends) or self._group.lexemes.always_reaches(self._element, good)

    def _ignored_separates(self, matched: int, bits: int, scope: int, wanted: int) -> bool:
        """Whether ignored text that begins with one of these bytes can be left for a byte that is wanted."""
        groups = self._lexing.contexts[self._after[matched]].groups if bits else []
        behind = next((group for group in groups if scope in group.scopes), None)
        if behind is None:
            return False
        key = behind, bits, scope, wanted
        if key not in self._separations:
            element = len(behind.leaves) + behind.scopes.index(scope)
            chosen = self._lexing.chosen(behind, element)
            self._separations[key] = behind.lexemes.can_be_left(element, bits, wanted, chosen)
        return self._separations[key]
