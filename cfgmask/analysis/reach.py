"""Sets that flow along the edges of a graph. Sets are the bits of integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def union(sets: Iterable[int]) -> int:
    """All members of some sets."""
    found = 0
    for members in sets:
        found |= members
    return found


def components(edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """The nodes in groups of those that lead to each other, each group behind all that it leads to.

    The path that finds them is Gabow's (2000). Linear.
    """
    found: list[list[int]] = []
    # The order in which nodes were met, from 1; of those that are done, more than any other.
    met = [0] * len(edges)
    n_met, is_done = 0, len(edges) + 1
    open_nodes: list[int] = []
    path: list[int] = []
    pending = list(range(len(edges)))
    while pending:
        node = pending.pop()
        if node < 0:
            if path[-1] == ~node:
                path.pop()
                component = [open_nodes.pop()]
                while component[-1] != ~node:
                    component.append(open_nodes.pop())
                for member in component:
                    met[member] = is_done
                found.append(component)
        elif met[node]:
            while path and met[path[-1]] > met[node]:
                path.pop()
        else:
            n_met += 1
            met[node] = n_met
            open_nodes.append(node)
            path.append(node)
            pending.append(~node)
            pending += edges[node]
    return found


def reached(own: Sequence[int], edges: Sequence[Sequence[int]]) -> list[int]:
    """For each node the union of its own set and of those of all nodes that its edges lead to, however far. Linear."""
    found = list(own)
    for component in components(edges):
        whole = 0
        for member in component:
            whole |= found[member]
            for to in edges[member]:
                whole |= found[to]
        for member in component:
            found[member] = whole
    return found
