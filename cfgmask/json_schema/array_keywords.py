"""What the keywords for arrays say, in normal form."""

from __future__ import annotations

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema import array_algebra
from cfgmask.json_schema.drafts import Draft
from cfgmask.json_schema.normal_form import ALL_ARRAYS, ANYTHING, ArrayShape, Conjunction, ItemWitness
from cfgmask.json_schema.object_keywords import looks_elsewhere, unevaluated_refusal
from cfgmask.json_schema.reader import Reader
from cfgmask.json_schema.resolve import Node


def array_shape(node: Node, reader: Reader) -> ArrayShape | None:
    """The arrays that the keywords of one schema object allow, schemas beside them left aside; None for none."""
    prefix, rest, refusals = _items(node, reader)
    least, most = node.get("minItems"), node.get("maxItems")
    shape = ArrayShape(
        prefix,
        rest,
        least if isinstance(least, int) else 0,
        most if isinstance(most, int) else None,
        refusals=refusals,
        unique_at=node.at("uniqueItems") if node.get("uniqueItems") is True else None,
    )
    if array_algebra.is_plainly_empty(shape):
        return None
    return array_algebra.intersect(array_algebra.trimmed(shape), _contained(node, reader))


def _items(node: Node, reader: Reader) -> tuple[tuple[Conjunction, ...], Conjunction, frozenset[Diagnostic]]:
    """What the first items and the further ones must be."""
    # A list in `items` is how drafts before 2020-12 write prefixItems; additionalItems is then what items is now.
    is_tuple = isinstance(node.get("items"), list)
    prefix = reader.schemas.children(node, "items" if is_tuple else "prefixItems")
    conjunctions = tuple(reader.conjunction(child) for child in prefix)
    keyword = "additionalItems" if is_tuple else "items"
    if node.has(keyword):
        return conjunctions, reader.conjunction(reader.schemas.child(node, keyword)), frozenset()
    if not node.has("unevaluatedItems"):
        return conjunctions, ANYTHING, frozenset()
    rest = reader.conjunction(reader.schemas.child(node, "unevaluatedItems"))
    if rest == ANYTHING or not looks_elsewhere(node):
        return conjunctions, rest, frozenset()
    return conjunctions, ANYTHING, frozenset([unevaluated_refusal(node, "unevaluatedItems")])


def _contained(node: Node, reader: Reader) -> ArrayShape:
    """The arrays that meet `contains`."""
    if not node.has("contains"):
        return ALL_ARRAYS
    counts = node.dialect.draft >= Draft.DRAFT_2019_09
    least, most = (node.get("minContains"), node.get("maxContains")) if counts else (None, None)
    if least == 0 and most is None:
        return ALL_ARRAYS
    if least in (None, 1) and most is None:
        witness = ItemWitness(0, reader.conjunction(reader.schemas.child(node, "contains")))
        return ArrayShape(witnesses=(witness,))
    refusal = Diagnostic(
        "schema-contains-count",
        "contains can be enforced for one item, not for a count of them",
        pointer=node.at("maxContains" if most is not None else "minContains"),
        help="drop minContains and maxContains, or describe the items by position",
    )
    return ArrayShape(refusals=frozenset([refusal]))
