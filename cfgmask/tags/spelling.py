"""Spellings as lexemes: runs of text, and tokens by id."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cfgmask.grammar import ir
from cfgmask.grammar.regex_tree import (
    EMPTY_TEXT,
    CharClass,
    Concatenation,
    Literal,
    RegexTree,
    Repetition,
    char_class,
    text,
)
from cfgmask.tags.nodes import Marker, Piece, Space, Spelling, Text, Token
from cfgmask.tags.token_ids import TokenIds


@dataclass(frozen=True)
class Run:
    """Consecutive text of a spelling.

    before  the white space that it begins with
    inner   what follows
    """

    before: Space | None = None
    inner: tuple[Text | Space, ...] = ()

    @property
    def regex(self) -> RegexTree:
        """All of the run."""
        parts = [] if self.before is None else [space_regex(self.before)]
        parts += [space_regex(part) if isinstance(part, Space) else text(part.value) for part in self.inner]
        return _joined(parts)

    @property
    def written(self) -> str:
        """The text of the run with as little white space as there may be."""
        spaces = [part for part in (self.before, *self.inner) if part is not None]
        return "".join(p.characters[:1] * p.minimum if isinstance(p, Space) else p.value for p in spaces)

    def begins_with(self, characters: str) -> bool:
        """Whether the text after the white space begins with one of the characters."""
        first = self.inner[0] if self.inner else None
        return isinstance(first, Text) and first.value[:1] in characters

    @property
    def core(self) -> RegexTree:
        """The run without white space at its beginning that may be missing; `EMPTY_TEXT` if nothing else is in it."""
        return Run(None, self.inner).regex if self.before is None or not self.before.minimum else self.regex


@dataclass(frozen=True)
class Spelled:
    """One way to write a spelling.

    run       the text that it begins with, perhaps none, without white space at its end
    rest      that white space, tokens by id, and the texts between and after them
    forbidden  the text that free text before it does not hold, if it begins with a token: that of the token
    """

    run: Run
    rest: tuple[Run | ir.TokenSet, ...] = ()
    forbidden: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it is the empty text, and that alone."""
        return not self.rest and self.run == Run()

    @property
    def is_by_token(self) -> bool:
        """Whether a token by its id tells where it ends free text."""
        return bool(self.rest) and isinstance(self.rest[0], ir.TokenSet)


def spelled(spelling: Spelling, ids: TokenIds) -> list[Spelled]:
    """The ways in which a vocabulary writes a spelling: one; or two, if its texts hold names of special tokens."""
    ways = [_spelled([_by_id(piece, ids) for piece in spelling])]
    cut = [_cut(piece, ids) for piece in spelling]
    if any(isinstance(piece, Text) and parts != [piece] for piece, parts in zip(spelling, cut, strict=True)):
        ways.append(_spelled([part for parts in cut for part in parts]))
    return ways


def token_set(token: int | str, ids: TokenIds) -> ir.TokenSet:
    """The tokens with this id or text. A text that the vocabulary has no token for is left to `compile` to report."""
    if isinstance(token, int):
        return ir.TokenSet(f"<[{token}]>", ranges=((token, token),))
    found = ids.of(token)
    if not found:
        return ir.TokenSet(token, names=(token,))
    return ir.TokenSet(token, ranges=tuple((i, i) for i in found))


def trailing_space(spelling: Spelling) -> str:
    """The characters of the white space that a spelling ends with."""
    return spelling[-1].characters if spelling and isinstance(spelling[-1], Space) else ""


def space_regex(space: Space) -> RegexTree:
    """Any number of the characters, at least the minimum."""
    return Repetition(characters_class(space.characters), space.minimum, None)


def characters_class(characters: str) -> CharClass:
    """One of the characters."""
    return char_class([(ord(c), ord(c)) for c in characters])


def _by_id(piece: Piece, ids: TokenIds) -> Text | Space | tuple[str, ir.TokenSet]:
    if isinstance(piece, Token):
        return piece.token if isinstance(piece.token, str) else "", token_set(piece.token, ids)
    if isinstance(piece, Marker):
        return (piece.text, token_set(piece.text, ids)) if ids.of(piece.text) else Text(piece.text)
    return piece


def _cut(piece: Piece, ids: TokenIds) -> list[Text | Space | tuple[str, ir.TokenSet]]:
    if not isinstance(piece, Text):
        return [_by_id(piece, ids)]
    parts = ids.split(piece.value)
    if len(parts) == 1 and isinstance(parts[0], str):
        return [piece]
    return [Text(p) if isinstance(p, str) else (p[0], ir.TokenSet(p[0], ranges=((p[1], p[1]),))) for p in parts]


def _spelled(parts: list[Text | Space | tuple[str, ir.TokenSet]]) -> Spelled:
    runs: list[Run | ir.TokenSet] = []
    texts: list[Text | Space] = []
    forbidden = ""
    for part in parts:
        if isinstance(part, tuple):
            if not any(isinstance(run, ir.TokenSet) for run in runs):
                forbidden = part[0]
            runs += [_run(texts), part[1]]
            texts = []
        elif not isinstance(part, Text) or part.value:
            texts.append(part)
    if texts or not runs:
        runs.append(_run(texts))
    first = runs[0]
    assert isinstance(first, Run), "a text, perhaps empty, comes before the first token"
    if not forbidden and first.inner and isinstance(first.inner[-1], Space):
        # Free text ends where the text is complete, whatever white space follows.
        runs[:1] = [replace(first, inner=first.inner[:-1]), Run(first.inner[-1])]
        first = replace(first, inner=first.inner[:-1])
    return Spelled(first, tuple(run for run in runs[1:] if run != Run()), forbidden)


def _run(texts: list[Text | Space]) -> Run:
    if texts and isinstance(texts[0], Space):
        return Run(texts[0], tuple(texts[1:]))
    return Run(None, tuple(texts))


def _joined(parts: list[RegexTree]) -> RegexTree:
    """The parts in order, neighbouring texts as one."""
    joined: list[RegexTree] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Literal) and isinstance(last, Literal):
            joined[-1] = Literal(last.data + part.data)
        else:
            joined.append(part)
    return joined[0] if len(joined) == 1 else Concatenation(tuple(joined)) if joined else EMPTY_TEXT
