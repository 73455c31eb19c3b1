"""Regex trees to nodes of the compiled core's `RegexBuilder`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import MAX_COUNT, RegexTree
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask._core import RegexBuilder


class RegexLowering:
    """Lowers trees into one builder. A tree object is lowered once, however often it occurs, in however many trees.

    builder  the core's `RegexBuilder`, or a `GrammarBuilder`
    limits   `max_nesting` bounds how high a tree may be, for the sake of what recurses over nodes later
    """

    def __init__(self, builder: RegexBuilder, limits: Limits = Limits()) -> None:  # noqa: B008  # immutable
        self._trees = builder.trees(limits.max_nesting)

    def node(self, tree: RegexTree) -> int:
        """The builder's node for `tree`.

        Raises LimitExceeded: max_nesting, and max_regex_nodes from the builder; GrammarError for counts beyond 31 bits.
        Linear in the objects not seen before; no recursion.
        """
        try:
            return self._trees.node(tree)
        except OverflowError:
            message = f"a repetition counts beyond {MAX_COUNT}"
            problem = Diagnostic("count-too-large", message, help="leave the bound out, or lower it")
            raise GrammarError([problem]) from None
