"""What to report about a text that longest match rejects: the terminal that takes too much, and what to write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cfgmask.analysis.blocked import Blocked, find_blocked, shown_text
from cfgmask.analysis.corrections import ending_with, without_end
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import Sets
from cfgmask.analysis.shortest import Shortest
from cfgmask.diagnostics import Diagnostic, Related, quoted
from cfgmask.grammar.ir import Terminal

_OR_COMPLETE = '; or choose `%cfgmask {"lexer": "complete"}`'


@dataclass(frozen=True)
class _Cause:
    """A lexeme that goes on where the rules have another one.

    taker    the terminal that it is one of
    leaf     of that terminal; None for ignored text
    ended    the leaf that was to end there; None for ignored text
    begins   the leaf that was to begin; None for ignored text
    before   the text before the lexeme
    taken    the bytes that the terminal takes, at most
    takes_all  whether they are all of what was to begin
    is_quoted  whether the lexeme was to end with a sign that the terminal ends with
    """

    taker: Terminal
    leaf: int | None
    ended: int | None
    begins: int | None
    before: bytes
    taken: bytes
    takes_all: bool
    is_quoted: bool


def blocked_texts(flat: Flat, sets: Sets, shortest: Shortest, max_tries: int) -> Iterator[Diagnostic]:
    """A warning with a text that `lexer: complete` takes and longest match rejects, if the search finds one."""
    blocked = find_blocked(flat, sets, shortest, max_tries)
    if blocked is None:
        return
    cause = _cause(flat, blocked)
    message = f"longest match rejects {_shown(blocked.text)}, which `lexer: complete` accepts"
    span = flat[flat.start].rule.span
    help = f"let terminals end where others begin{_OR_COMPLETE}"
    related: tuple[Related, ...] = ()
    fix = None
    if cause is not None:
        after = f" after {_shown(cause.before)}" if cause.before else ""
        message += f":{after} `{cause.taker.name}` goes on to take {_shown(cause.taken)}"
        span, help = cause.taker.span or span, f"{_help(flat, cause)}{_OR_COMPLETE}"
        begins = None if cause.begins is None else flat.leaves[cause.begins]
        if begins is not None and begins.symbol.span not in (None, span):
            assert begins.symbol.span is not None
            related = (Related(begins.symbol.span, f"{begins.shown} should begin there"),)
        if cause.leaf is not None and cause.begins is not None:
            fix = ending_with(flat, cause.leaf, cause.begins) or without_end(flat, cause.leaf, cause.begins)
    yield Diagnostic("grammar-blocked-text", message, span, severity="warning", related=related, help=help, fix=fix)


def _cause(flat: Flat, blocked: Blocked) -> _Cause | None:
    """The first lexeme that some terminal can take with a part of what follows it."""
    for number, piece in enumerate(blocked.pieces[:-1]):
        if not isinstance(piece.data, bytes):
            continue
        rest = b""
        for following in blocked.pieces[number:]:
            if not isinstance(following.data, bytes):
                break
            rest += following.data
        if len(rest) == len(piece.data):
            continue
        before = shown_text(blocked.pieces[:number])
        if len(before) + len(piece.data) > blocked.n_taken:
            return None
        takers = [(leaf, t) for leaf, t in _live(flat, blocked, number) if _extent(flat, t, rest) > len(piece.data)]
        if takers:
            leaf, taker = max(takers, key=lambda found: _extent(flat, found[1], rest))
            taken = rest[: _extent(flat, taker, rest)]
            behind = blocked.pieces[number + 1 :]
            next_one = next((n for n, p in enumerate(behind) if p.leaf is not None), None)
            begins = None if next_one is None else behind[next_one].leaf
            n_all = len(piece.data) + len(shown_text(behind if next_one is None else behind[: next_one + 1]))
            is_quoted = leaf == piece.leaf and not piece.data[-1:].isalnum() and len(piece.data) > 1
            return _Cause(taker, leaf, piece.leaf, begins, before, taken, len(taken) >= n_all, is_quoted)
    return None


def _live(flat: Flat, blocked: Blocked, number: int) -> list[tuple[int | None, Terminal]]:
    """Terminals that may be what takes a piece and goes on: those that are live behind it, and ignored text.

    The piece's own leaf comes first.
    """
    piece, names = blocked.pieces[number], blocked.live[number]
    own = () if piece.leaf is None else (piece.leaf,)
    leaves = dict.fromkeys((*own, *range(len(flat.leaves))))
    found: list[tuple[int | None, Terminal]] = [
        (leaf, symbol)
        for leaf in leaves
        if isinstance(symbol := flat.leaves[leaf].symbol, Terminal) and symbol.name in names
    ]
    return found + [(None, terminal) for terminal in flat.ir.scopes[piece.scope].ignore]


def _extent(flat: Flat, terminal: Terminal, text: bytes) -> int:
    """How much of a text a terminal can take."""
    low, high = 0, min(len(text), 200)
    while low < high:
        middle = (low + high + 1) // 2
        if flat.algebra.is_prefix(terminal.regex, text[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _help(flat: Flat, cause: _Cause) -> str:
    if cause.leaf is None:
        return _help_for_ignored(cause.taker)
    taker = flat.leaves[cause.leaf].shown
    if cause.begins is None:
        return f"let {taker} end where the next terminal may begin"
    begins = flat.leaves[cause.begins]
    if cause.takes_all and cause.is_quoted:
        example = r'`/"[^"\n]*"/` for `/".*"/`'
        return f"take the character that {taker} ends with out of what may stand before it, as in {example}"
    ended = taker if cause.ended is None else flat.leaves[cause.ended].shown
    if cause.takes_all and cause.leaf == cause.begins:
        return f"let something stand between {ended} and {begins.shown}"
    if cause.takes_all:
        return (
            f"take what {begins.shown} begins with out of {taker}, as in `/[^;]+/` for `/.+/`, "
            "or let something stand between the two"
        )
    both = f"{ended} {begins.shown}".replace("`", "")
    return f"write the two as one terminal, which is matched as a whole: `BOTH: {both}`"


def _help_for_ignored(taker: Terminal) -> str:
    parts = None if taker.span is None else _SPACE_FIRST.fullmatch(taker.span.text)
    if parts is None:
        return "ignore white space and comments by two statements, neither of which begins with the other"
    space, rest, flags = parts["space"], parts["rest"], parts["flags"]
    inner = _OPTIONAL.fullmatch(rest)
    if inner is None:
        return f"leave the white space before it to a statement of its own: `%ignore /{rest}/{flags}`"
    return f"write two statements: `%ignore /{space}/` and `%ignore /{inner[1]}/{flags}`"


_SPACE_FIRST = re.compile(r"/(?P<space>(?:\\s|\\t| |\[(?:\\.|[^\]\\])*\])[*+?]?)(?P<rest>.+)/(?P<flags>[a-z]*)")
_OPTIONAL = re.compile(r"\((?:\?:)?((?:\\.|\[(?:\\.|[^\]\\])*\]|[^()\\\[])*)\)[?*]")


def _shown(text: bytes) -> str:
    """Between backticks if that is clear, or else as a string."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        return quoted(text)
    is_clear = decoded.isprintable() and decoded.strip() == decoded and "`" not in decoded
    return f"`{decoded}`" if is_clear else quoted(text)
