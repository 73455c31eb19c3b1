"""How a grammar was made: what its pickle holds, from which it is made again without reading anything else."""

from __future__ import annotations

import copy
import marshal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

FORMAT = 1
"""That of the pickles. One more whenever what they hold changes its meaning."""

Arguments: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """The reader of a grammar, and what it was given.

    arguments  gives them when they are asked for: what was read on the way is known then
    """

    reader: str
    arguments: Callable[[], Arguments]


@dataclass(frozen=True)
class KeptSchema:
    """A schema as it was when it was read, whatever becomes of the caller's values.

    data  JSON text; or Python values, as bytes where they are those of JSON
    """

    data: Any

    @staticmethod
    def of(schema: Any) -> KeptSchema:
        """A copy of a schema."""
        if isinstance(schema, str):
            return KeptSchema(schema)
        return KeptSchema.of_json(schema) or KeptSchema(_copied(schema))

    @staticmethod
    def of_json(values: Any) -> KeptSchema | None:
        """A copy of values of JSON; None for others."""
        try:
            # Six times as fast as a copy of the values.
            return KeptSchema(marshal.dumps(values, _MARSHAL_VERSION))
        except ValueError:
            return None

    @property
    def value(self) -> Any:
        """The schema, which may be changed."""
        if isinstance(self.data, bytes):
            return marshal.loads(self.data)
        return self.data if isinstance(self.data, str) else _copied(self.data)


def _copied(value: Any) -> Any:
    """A copy of dicts and lists, however deep: whoever reads it says that it is too deep. Shared parts stay shared."""
    # By identity, with what was copied, so that it lives as long.
    known: dict[int, tuple[Any, Any]] = {}
    pending: list[tuple[Any, Any]] = []

    def copy_of(part: Any) -> Any:
        if not isinstance(part, (dict, list)):
            return copy.deepcopy(part)
        if id(part) not in known:
            made: dict[Any, Any] | list[Any] = {} if isinstance(part, dict) else []
            known[id(part)] = (part, made)
            pending.append((part, made))
        return known[id(part)][1]

    whole = copy_of(value)
    while pending:
        part, made = pending.pop()
        if isinstance(part, dict):
            made.update((key, copy_of(below)) for key, below in part.items())
        else:
            made.extend(map(copy_of, part))
    return whole


# That of Python 3.4 and of all later ones.
_MARSHAL_VERSION = 4


class Documents:
    """What `retrieve` gave, by URI: it is asked once for each, though a schema is read again to tell what is wrong.

    A pickle asks for no document.
    """

    def __init__(self, retrieve: Callable[[str], Any] | None, kept: dict[str, KeptSchema] | None = None) -> None:
        self._retrieve = retrieve
        self.kept: dict[str, KeptSchema] = kept or {}
        self._failed: dict[str, Exception] = {}

    def __call__(self, uri: str) -> Any:
        """The document with a URI. Raises what `retrieve` does."""
        if uri in self._failed:
            raise self._failed[uri]
        if self._retrieve is None or uri in self.kept:
            return self.kept[uri].value
        try:
            document = self._retrieve(uri)
        except Exception as error:  # whatever a caller's function raises
            self._failed[uri] = error
            raise
        self.kept[uri] = KeptSchema.of(document)
        return document
