"""The texts that lead through a labelled graph (Kleene 1956)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from cfgmask.grammar.regex_tree import EMPTY_TEXT, RegexTree
from cfgmask.regex.trees import TreeBuilder

Edges: TypeAlias = Mapping[tuple[int, int], RegexTree]


def paths(trees: TreeBuilder, size: int, edges: Edges) -> dict[tuple[int, int], RegexTree]:
    """For every two nodes from 0 to `size - 1`, the texts along the ways from one to the other, if there are any.

    edges  a tree for a step from one node to another
    Cost: cubic in the nodes; sparse graphs cost less.
    """
    ways = dict(edges)
    for middle in reversed(range(size)):
        around = trees.repetition(ways[middle, middle], 0, None) if (middle, middle) in ways else EMPTY_TEXT
        into = [(start, way) for (start, end), way in ways.items() if end == middle]
        out = [(end, way) for (start, end), way in ways.items() if start == middle]
        for start, before in into:
            for end, behind in out:
                # What goes in or out of the middle itself is one of the rounds.
                through = [before] * (start != middle) + [around] + [behind] * (end != middle)
                if start == middle == end:
                    continue
                known = ways.get((start, end))
                detour = trees.concatenation(through)
                if middle in (start, end):
                    ways[start, end] = detour
                else:
                    ways[start, end] = detour if known is None else trees.alternation([known, detour])
        if (middle, middle) in ways:
            ways[middle, middle] = around
    for node in range(size):
        ways[node, node] = trees.alternation([EMPTY_TEXT, ways[node, node]]) if (node, node) in ways else EMPTY_TEXT
    return ways
