"""The place where a text in quotes ends and only the bare quote is allowed.

Tokenizers write a closing quote together with what stands behind it: `",` and `"}` are tokens. Where nothing of the
kind can follow, a model that wants one of them finds it masked, and goes on writing inside of the quotes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import END, Sets
from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import (
    EMPTY_TEXT,
    Alternation,
    Concatenation,
    Intersection,
    Literal,
    RegexTree,
    Repetition,
)

COMMON_TOKENS = tuple(b'"' + rest for rest in (b",", b"}", b"]", b":", b")", b";", b"\n", b" ", b".", b"?", b">", b"/"))
"""What common vocabularies hold that begins with a quote."""

_QUOTE = Literal(b'"')
_MAX_PARTS = 1_000
_SHOWN_TOKENS = 4


def closing_quotes(flat: Flat, sets: Sets, tokens: Iterable[bytes]) -> Iterator[Diagnostic]:
    """A note for each terminal that closes quotes and after which no token that begins with a quote can go on.

    tokens  those of the vocabulary, or `COMMON_TOKENS`
    """
    longer = [token for token in tokens if len(token) > 1 and token.startswith(b'"')]
    if not longer:
        return
    for leaf, places in _closing_places(flat, sets):
        following = sets.after(places)
        if not _goes_on(flat, sets, leaf, following, longer):
            shown = ", ".join(
                f"`{token.decode(errors='replace')}`" for token in sorted(longer, key=len)[:_SHOWN_TOKENS]
            )
            only = "the text ends" if following == END else "nothing that tokenizers join to a quote may follow"
            yield Diagnostic(
                "grammar-closing-quote",
                f"after the quote that {flat.leaves[leaf].shown} ends with, {only}: it can only be a token of its own",
                flat.leaves[leaf].symbol.span,
                severity="note",
                help=f"a model that wants a token such as {shown} keeps writing inside of the quotes; "
                "let what it may write there follow",
            )


def _closing_places(flat: Flat, sets: Sets) -> Iterator[tuple[int, int]]:
    """Leaves that close quotes, and where: terminals of texts in quotes, and lone quotes after what could go on."""
    unquoted = 0
    for number, leaf in enumerate(flat.leaves):
        tree = leaf.symbol.regex if isinstance(leaf.symbol, Terminal) and leaf.symbol.span else EMPTY_TEXT
        if _is_unbounded(tree):
            if _ends_in_quote(tree):
                yield number, sets.places_of(number)
            else:
                unquoted |= sets.places_of(number)
    behind = sets.after(unquoted)
    for number, leaf in enumerate(flat.leaves):
        if isinstance(leaf.symbol, Terminal) and leaf.symbol.regex == _QUOTE and sets.places_of(number) & behind:
            yield number, sets.places_of(number) & behind


def _ends_in_quote(tree: RegexTree) -> bool:
    """Whether it is plain to see that each text ends in a quote."""
    while isinstance(tree, Concatenation) and tree.parts:
        tree = tree.parts[-1]
    return isinstance(tree, Literal) and tree.data.endswith(b'"')


def _is_unbounded(tree: RegexTree) -> bool:
    """Whether it is plain to see that texts may be of any length."""
    pending = [tree]
    for part in pending:
        if isinstance(part, Repetition) and part.maximum is None:
            return True
        if isinstance(part, (Concatenation, Alternation, Intersection)):
            pending += part.parts
        elif isinstance(part, Repetition):
            pending.append(part.body)
        if len(pending) > _MAX_PARTS:
            return False
    return False


def _goes_on(flat: Flat, sets: Sets, leaf: int, following: int, longer: list[bytes]) -> bool:
    """Whether some of the tokens fits, as far as the byte behind the quote tells."""
    symbols = [flat.leaves[sets.leaf[place]].symbol for place in sets.places(following)]
    symbols += flat.ir.scopes[flat.leaves[leaf].scope].ignore
    behind = {token[1:2] for token in longer}
    return any(
        not isinstance(symbol, Terminal) or any(flat.algebra.is_prefix(symbol.regex, byte) for byte in behind)
        for symbol in symbols
    )
