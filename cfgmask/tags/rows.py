"""Rows whose schemas the core has read: one value for all of them, in place of a part for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from cfgmask.grammar.ir import Part, Rows
from cfgmask.limits import Limits
from cfgmask.tags.forms import ReadSchemas, form_in
from cfgmask.tags.nodes import RowList
from cfgmask.tags.token_ids import TokenIds


@dataclass(frozen=True, eq=False)
class RowValues:
    """Rows whose schemas are parts.

    read   the schemas; none of them is None
    marks  the names under which the text and the value of a row are captured
    """

    listed: RowList
    read: ReadSchemas
    marks: tuple[str, str]
    limits: Limits

    def are_plain(self, ids: TokenIds) -> bool:
        """Whether no text holds the name of a special token."""
        return are_plain(self.listed, ids)

    def rows(self, ids: TokenIds, name: str) -> Rows:
        """The rows as a vocabulary writes them. `name` as in `Rows`."""
        form, tokens = form_in(self.read.form, ids)
        schemas = [schema for schema in self.read.schemas if schema is not None]
        make_parts = partial(self._parts, ids, name)
        texts, may_be_empty = self.listed.texts, self.read.may_be_empty
        return Rows(name, texts, schemas, may_be_empty, make_parts, self.marks, form, tokens)

    def _parts(self, ids: TokenIds, name: str) -> tuple[Part, ...]:
        parts = (
            self.read.part(number, node, f"%row#{name}.{number}:", self.limits, ids)
            for number, node in enumerate(self.listed.nodes())
        )
        return tuple(part for part in parts if part is not None)


def are_plain(rows: RowList, ids: TokenIds) -> bool:
    """Whether no text of some rows holds the name of a special token. Most do not: all are looked at together."""
    text = "\n".join(rows.texts)
    return ids.split(text) == [text]
