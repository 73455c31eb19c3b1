"""The dynamic scope of a schema: what `$dynamicRef` and `$recursiveRef` go by.

A dynamic reference leads to the outermost of the schema resources on the way to it that has the anchor. All that
matters of the way is which resource was the first with each anchor, so a scope is no longer than there are anchors.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cfgmask.errors import LimitExceeded
from cfgmask.limits import Limits

# Under this name, which no anchor can have, stands what a `$recursiveRef` leads to.
RECURSIVE = "$recursiveAnchor"

# What an anchor in a scope counts of the rules: it takes some 200 bytes, and a chain of resources has one scope for
# each of them, with all anchors before it.
_RULES_PER_ANCHOR = 4


@dataclass(frozen=True, eq=False)
class Scope:
    """A dynamic scope. `DynamicAnchors` makes each only once, so scopes are equal only if both are the same.

    targets  the names of dynamic anchors and the JSON Pointers of the schemas that they stand for
    """

    targets: dict[str, str] = field(default_factory=dict)


NO_SCOPE = Scope()


class DynamicAnchors:
    """The dynamic anchors of all schema resources."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._anchors: dict[str, dict[str, str]] = {}
        self._scopes: dict[tuple[tuple[str, str], ...], Scope] = {(): NO_SCOPE}
        self._entered: dict[tuple[Scope, str], Scope] = {}
        self._n_targets = 0

    def add(self, base: str, name: str, pointer: str) -> None:
        """Register an anchor of the resource with the URI `base`."""
        self._anchors.setdefault(base, {}).setdefault(name, pointer)
        self._entered.clear()

    def entered(self, scope: Scope, base: str, pointer: str) -> Scope:
        """The scope inside of a resource that is entered from a scope at a place. Raises LimitExceeded(max_rules)."""
        anchors = self._anchors.get(base)
        if anchors is None:
            return scope
        found = self._entered.get((scope, base))
        if found is None:
            found = self._entered[scope, base] = self._scope({**anchors, **scope.targets}, pointer)
        return found

    def _scope(self, targets: dict[str, str], pointer: str) -> Scope:
        key = tuple(sorted(targets.items()))
        found = self._scopes.get(key)
        if found is None:
            self._n_targets += len(targets)
            if _RULES_PER_ANCHOR * self._n_targets > self._limits.max_rules:
                raise LimitExceeded("max_rules", self._limits.max_rules, f"dynamic scopes, at {pointer}")
            found = self._scopes[key] = Scope(targets)
        return found
