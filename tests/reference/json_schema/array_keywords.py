"""What the keywords for arrays say, in normal form."""

from __future__ import annotations

from cfgmask.json_schema.drafts import Draft
from cfgmask.json_schema.nodes import Node
from tests.reference.json_schema import array_algebra
from tests.reference.json_schema.normal_form import (
    ALL_ARRAYS,
    ANYTHING,
    EVERY_ITEM,
    NO_ITEMS,
    ArrayShape,
    Conjunction,
    EvaluatedItems,
)
from tests.reference.json_schema.reader import Reader


def array_shape(node: Node, reader: Reader) -> ArrayShape | None:
    """The arrays that the keywords of one schema object allow, schemas beside them left aside; None for none."""
    prefix, rest = _items(node, reader)
    least, most = node.get("minItems"), node.get("maxItems")
    shape = ArrayShape(
        prefix,
        rest,
        least if isinstance(least, int) else 0,
        most if isinstance(most, int) else None,
        unique_at=node.at("uniqueItems") if node.get("uniqueItems") is True else None,
        evaluated=_evaluated(node, reader) if reader.schemas.annotates else NO_ITEMS,
    )
    if array_algebra.is_plainly_empty(shape):
        return None
    return array_algebra.intersect(array_algebra.trimmed(shape), _contained(node, reader))


def _items(node: Node, reader: Reader) -> tuple[tuple[Conjunction, ...], Conjunction]:
    """What the first items and the further ones must be."""
    first, further = _keywords(node)
    prefix = tuple(map(reader.conjunction, reader.schemas.children(node, first)))
    return prefix, reader.conjunction(reader.schemas.child(node, further)) if node.has(further) else ANYTHING


def _keywords(node: Node) -> tuple[str, str]:
    """The keywords for the first items and for the further ones.

    A list in `items` is how drafts before 2020-12 write prefixItems; additionalItems is then what items is now.
    """
    return ("items", "additionalItems") if isinstance(node.get("items"), list) else ("prefixItems", "items")


def _evaluated(node: Node, reader: Reader) -> EvaluatedItems:
    first, further = _keywords(node)
    if node.has(further):
        return EVERY_ITEM
    containing = frozenset[Conjunction]()
    if node.has("contains") and node.dialect.draft >= Draft.DRAFT_2020_12:
        containing = frozenset([reader.conjunction(reader.schemas.child(node, "contains"))])
    return EvaluatedItems(len(reader.schemas.children(node, first)), containing)


def _contained(node: Node, reader: Reader) -> ArrayShape:
    """The arrays that meet `contains`."""
    if not node.has("contains"):
        return ALL_ARRAYS
    counts = node.dialect.draft >= Draft.DRAFT_2019_09
    least, most = (node.get("minContains"), node.get("maxContains")) if counts else (None, None)
    value = reader.conjunction(reader.schemas.child(node, "contains"))
    return array_algebra.containing(
        0, value, least if isinstance(least, int) else 1, most if isinstance(most, int) else None
    )
