"""The dynamic scope of a schema: what `$dynamicRef` and `$recursiveRef` go by.

A dynamic reference leads to the outermost of the schema resources on the way to it that has the anchor. All that
matters of the way is which resource was the first with each anchor, so a scope is no longer than there are anchors.
"""

from __future__ import annotations

from typing import TypeAlias

# The names of dynamic anchors and the JSON Pointers of the schemas that they stand for, sorted by name.
Scope: TypeAlias = tuple[tuple[str, str], ...]

NO_SCOPE: Scope = ()

# Under this name, which no anchor can have, stands what a `$recursiveRef` leads to.
RECURSIVE = "$recursiveAnchor"


class DynamicAnchors:
    """The dynamic anchors of all schema resources."""

    def __init__(self) -> None:
        self._anchors: dict[str, dict[str, str]] = {}

    def add(self, base: str, name: str, pointer: str) -> None:
        """Register an anchor of the resource with the URI `base`."""
        self._anchors.setdefault(base, {}).setdefault(name, pointer)

    def entered(self, scope: Scope, base: str) -> Scope:
        """The scope inside of a resource that is entered from a scope."""
        anchors = self._anchors.get(base)
        return tuple(sorted({**anchors, **dict(scope)}.items())) if anchors else scope
