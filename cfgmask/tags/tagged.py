"""Content as a grammar: read once, and lowered for each way in which vocabularies write its markers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from cfgmask.grammar.ir import GrammarIR, Part
from cfgmask.json_schema.form_bytes import writes_all
from cfgmask.json_schema.guidance import writes_as_usual
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.tags.joints import Joints
from cfgmask.tags.lower import lower
from cfgmask.tags.nodes import Content, Schema
from cfgmask.tags.rows import RowValues
from cfgmask.tags.token_ids import NO_TOKENS, Answers, TokenIds, ids_of

if TYPE_CHECKING:
    from cfgmask.vocabulary import Vocabulary

_MOST_KEPT = 8


class Tagged:
    """The rules of some content, without a vocabulary and for each one. For any thread.

    Vocabularies that have the same tokens for its markers share the rules.
    """

    def __init__(
        self,
        root: Content,
        *,
        joints: Joints | None = None,
        limits: Limits = DEFAULT_LIMITS,
        parts: bool = False,
        known: Mapping[int, Part] = MappingProxyType({}),
        rows: RowValues | None = None,
        is_checked: bool = False,
    ) -> None:
        """Lower the content with its markers as text. Arguments and errors: those of `lower`.

        is_checked  whether there are no errors, so that it is lowered when its rules are first asked for
        """
        self._parts = parts
        self._known = known
        self._rows = rows
        self._root = root
        self._joints = joints
        self._limits = limits
        self._lock = threading.Lock()
        self._ir: GrammarIR | None = None
        self._kept: list[tuple[Answers, bytes | None, GrammarIR]] = []
        if not is_checked:
            # A vocabulary without tokens for any of its texts has the same rules.
            answers = Answers(NO_TOKENS)
            self._ir = self._lower(answers)
            self._kept.append((answers, None, self._ir))

    @property
    def ir(self) -> GrammarIR:
        """The rules with all markers as text."""
        if self._ir is None:
            self._ir = self._lower(NO_TOKENS)
        return self._ir

    def _lower(self, ids: TokenIds, held: bytes | None = None, *, writes_json: bool = True) -> GrammarIR:
        def held_for(schema: Schema) -> bytes | None:
            # In other forms the same values are written in other bytes: strings without quotes, or without escapes.
            if held is None or schema.form != "json":
                return None if held is None or writes_all(held) else held
            return None if writes_json and writes_as_usual(schema.schema, schema.options) else held

        return lower(
            self._root,
            ids=ids,
            joints=self._joints,
            limits=self._limits,
            parts=self._parts,
            known=self._known,
            rows=self._rows,
            held_for=held_for,
        )

    def for_vocabulary(self, vocabulary: Vocabulary) -> GrammarIR:
        """The rules with the markers written as this vocabulary does.

        Values that a vocabulary without some bytes cannot write are left out; see `Grammar.written_with`.
        """
        ids, core = ids_of(vocabulary), vocabulary.core
        held = None if core.holds_every_byte else core.held_bytes
        with self._lock:
            for answers, kept_held, made in self._kept:
                if kept_held == held and answers.are_those_of(ids):
                    return made
            answers = Answers(ids)
            made = self._lower(answers, held, writes_json=core.writes_json)
            self._kept = [*self._kept[1 - _MOST_KEPT :], (answers, held, made)]
            return made
