"""Content with a row for each of many tools, which is the same for all lists of tools but for the rows.

What is lowered once for the content, an *outline*, serves every list of tools of a style: the rows are put in place of
the one row that it was lowered with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from cfgmask.grammar.ir import GrammarIR, Part, Rows
from cfgmask.grammar.variants import with_rows
from cfgmask.limits import Limits
from cfgmask.tags.forms import ReadSchemas, form_in
from cfgmask.tags.nodes import Schema
from cfgmask.tags.tagged import Tagged
from cfgmask.tags.token_ids import NO_TOKENS, Answers, TokenIds, ids_of

if TYPE_CHECKING:
    from cfgmask.vocabulary import Vocabulary


class Outline(Tagged):
    """Content with one row, lowered for whoever asks. It may live as long as the process, and keeps no vocabulary."""

    def _lower(self, ids: TokenIds, held: bytes | None = None, *, writes_json: bool = True) -> GrammarIR:
        made = super()._lower(ids, held, writes_json=writes_json)
        if isinstance(ids, Answers):
            ids.forget()
        return made


@dataclass(frozen=True, eq=False)
class RowValues:
    """Texts, and a schema for each that is a part.

    marks  the names under which the text and the value of a row are captured
    node   makes the node of a schema by its number
    """

    texts: tuple[str, ...]
    read: ReadSchemas
    marks: tuple[str, str]
    node: Callable[[int], Schema]
    limits: Limits

    def are_plain(self, ids: TokenIds) -> bool:
        """Whether no text holds the name of a special token."""
        text = "\n".join(self.texts)
        return ids.split(text) == [text]

    def rows(self, ids: TokenIds) -> Rows:
        """The rows as a vocabulary writes them."""
        form, tokens = form_in(self.read.form, ids)
        schemas = [schema for schema in self.read.schemas if schema is not None]
        make_parts = partial(self._parts, ids)
        return Rows("1", self.texts, schemas, self.read.may_be_empty, make_parts, self.marks, form, tokens)

    def _parts(self, ids: TokenIds) -> tuple[Part, ...]:
        parts = (
            self.read.part(number, self.node(number), f"%row#{number}:", self.limits, ids)
            for number in range(len(self.texts))
        )
        return tuple(part for part in parts if part is not None)


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
        return with_rows(self._outline.ir, self._values.rows(NO_TOKENS))

    def for_vocabulary(self, vocabulary: Vocabulary) -> GrammarIR:
        """The rules with the markers written as this vocabulary does; as of `Tagged`."""
        ids = ids_of(vocabulary)
        if not vocabulary.core.holds_every_byte or not self._values.are_plain(ids):
            return self._whole.for_vocabulary(vocabulary)
        return with_rows(self._outline.for_vocabulary(vocabulary), self._values.rows(ids))
