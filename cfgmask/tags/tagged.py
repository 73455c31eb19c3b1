"""Content as a grammar: read once, and lowered for each way in which vocabularies write its markers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal

from cfgmask.grammar.ir import GrammarIR
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.tags.lower import lower
from cfgmask.tags.nodes import Content
from cfgmask.tags.token_ids import NO_TOKENS, Answers, ids_of

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
        lexer: Literal["longest", "complete"] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        parts: bool = False,
    ) -> None:
        """Lower the content with its markers as text. Arguments and errors: those of `lower`."""
        self._parts = parts
        self._root = root
        self._lexer = lexer
        self._limits = limits
        self._lock = threading.Lock()
        self.ir = lower(root, ids=NO_TOKENS, lexer=lexer, limits=limits, parts=parts)
        self._kept: list[tuple[Answers, GrammarIR]] = []

    def for_vocabulary(self, vocabulary: Vocabulary) -> GrammarIR:
        """The rules with the markers written as this vocabulary does."""
        ids = ids_of(vocabulary)
        with self._lock:
            for answers, made in self._kept:
                if answers.are_those_of(ids):
                    return made
            answers = Answers(ids)
            made = lower(self._root, ids=answers, lexer=self._lexer, limits=self._limits, parts=self._parts)
            self._kept = [*self._kept[1 - _MOST_KEPT :], (answers, made)]
            return made
