"""Content with a row for each of many tools, which is the same for all lists of tools but for the rows.

What is lowered once for the content, an *outline*, serves every list of tools of a style: the rows are put in place of
the one row that it was lowered with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from cfgmask.grammar.ir import GrammarIR
from cfgmask.grammar.variants import with_rows
from cfgmask.tags.rows import RowValues
from cfgmask.tags.tagged import Tagged
from cfgmask.tags.token_ids import NO_TOKENS, Answers, TokenIds, ids_of

if TYPE_CHECKING:
    from cfgmask.vocabulary import Vocabulary

ROWS = "1"
"""The name of the only rows of a grammar."""


class Outline(Tagged):
    """Content with one row, lowered for whoever asks. It may live as long as the process, and keeps no vocabulary."""

    def _lower(self, ids: TokenIds, held: bytes | None = None, *, writes_json: bool = True) -> GrammarIR:
        made = super()._lower(ids, held, writes_json=writes_json)
        if isinstance(ids, Answers):
            ids.forget()
        return made


class Filled:
    """The content of an outline with rows of its own. For any thread, as `Tagged`."""

    def __init__(self, outline: Outline, values: RowValues, whole: Callable[[], Tagged]) -> None:
        """Put rows in place of that of an outline.

        outline  has a row whose text is no name of a special token, with a schema of the same form
        whole    the same content, lowered with its rows
        """
        self._outline = outline
        self._values = values
        self._make_whole = whole

    @cached_property
    def _whole(self) -> Tagged:
        return self._make_whole()

    @cached_property
    def ir(self) -> GrammarIR:
        """The rules with all markers as text."""
        return with_rows(self._outline.ir, self._values.rows(NO_TOKENS, ROWS))

    def for_vocabulary(self, vocabulary: Vocabulary) -> GrammarIR:
        """The rules with the markers written as this vocabulary does; as of `Tagged`."""
        ids = ids_of(vocabulary)
        if not vocabulary.core.holds_every_byte or not self._values.are_plain(ids):
            return self._whole.for_vocabulary(vocabulary)
        return with_rows(self._outline.for_vocabulary(vocabulary), self._values.rows(ids, ROWS))
