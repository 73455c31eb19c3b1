"""Repetitions of what has assertions.

The conditions of one round fall on the rounds before and behind it. Between two rounds stands a *node*: what the rounds
so far demand of all that follows, and what the rounds to come demand of all that came before. A round leads from node
to node, and the ways through that graph are the repetition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import product
from typing import TypeAlias

from cfgmask.grammar.regex_tree import ANY_TEXT, NOTHING, RegexTree
from cfgmask.regex.cases import Case, Meaning
from cfgmask.regex.derivatives import TooEntangled
from cfgmask.regex.paths import paths
from cfgmask.regex.splits import Splitter
from cfgmask.regex.syntax import Node as SyntaxNode
from cfgmask.regex.trees import TreeBuilder

# What is demanded of what follows and of what came before. Both are trees of one builder, known by their identity.
_Node: TypeAlias = tuple[int, int]
_Steps: TypeAlias = dict[tuple[_Node, _Node], list[RegexTree]]

_MAX_CONDITIONS = 40
_MAX_NODES = 32
# Leaves of what comes out; or as many times those of the body as there may be nodes, where that is more.
_MAX_WEIGHT = 20_000


def rounds(body: Meaning, trees: TreeBuilder, splitter: Splitter) -> list[Case]:
    """The body any number of times. Raises TooEntangled where that takes too many nodes, or too large trees."""
    ahead = _pending([(case.tree, case.after) for case in body], splitter, back=False)
    behind = _pending([(case.tree, case.before) for case in body], splitter, back=True)
    if len(ahead) * len(behind) > 4 * _MAX_CONDITIONS:
        raise TooEntangled
    steps = _steps(body, ahead.values(), behind.values(), splitter)
    starts = [(id(ANY_TEXT), before) for before in behind]
    ends = [(after, id(ANY_TEXT)) for after in ahead]
    on_the_way = _reached(starts, steps) & _reached(ends, [(end, start) for start, end in steps])
    nodes = [node for node in product(ahead, behind) if node in on_the_way]
    if len(nodes) > _MAX_NODES:
        raise TooEntangled
    number = {node: place for place, node in enumerate(nodes)}
    edges = {
        (number[start], number[end]): trees.alternation(texts)
        for (start, end), texts in steps.items()
        if start in number and end in number
    }
    ways = paths(trees, len(nodes), edges)
    origins = frozenset[SyntaxNode]().union(*(case.origins for case in body))
    found = [
        Case(behind[start[1]], ways[number[start], number[end]], ahead[end[0]], origins)
        for start, end in product(starts, ends)
        if start in number and end in number and (number[start], number[end]) in ways
    ]
    if _weight(found, trees) > max(_MAX_WEIGHT, _MAX_NODES * _weight(body, trees)):
        raise TooEntangled
    return found


def _pending(pieces: list[tuple[RegexTree, RegexTree]], splitter: Splitter, back: bool) -> dict[int, RegexTree]:
    """Every condition that rounds may leave on one side of them, none included.

    pieces  the texts of a round with the condition that it has on that side
    """
    split = splitter.split_back if back else splitter.split
    found: dict[int, RegexTree] = {id(ANY_TEXT): ANY_TEXT}
    pending: list[RegexTree] = [ANY_TEXT]
    while pending:
        condition = pending.pop()
        for tree, own in pieces:
            for _, rest in split(tree, condition):
                joint = splitter.both(rest, own)
                if joint is not NOTHING and id(joint) not in found:
                    found[id(joint)] = joint
                    pending.append(joint)
        if len(found) > _MAX_CONDITIONS:
            raise TooEntangled
    return found


def _steps(body: Meaning, ahead: Collection[RegexTree], behind: Collection[RegexTree], splitter: Splitter) -> _Steps:
    """The texts by which one round leads from node to node."""
    steps: _Steps = {}
    for case, after, before in product(body, ahead, behind):
        for front, left in splitter.split(case.tree, after):
            for text, needed in splitter.split_back(front, before):
                left_over, demanded = splitter.both(left, case.after), splitter.both(needed, case.before)
                if not any(tree is NOTHING for tree in (text, left_over, demanded)):
                    start, end = (id(after), id(demanded)), (id(left_over), id(before))
                    steps.setdefault((start, end), []).append(text)
    return steps


def _reached(starts: Iterable[_Node], steps: Iterable[tuple[_Node, _Node]]) -> set[_Node]:
    """The nodes that some steps lead to, the starts included."""
    following: dict[_Node, list[_Node]] = {}
    for start, end in steps:
        following.setdefault(start, []).append(end)
    pending = list(starts)
    found = set(pending)
    while pending:
        fresh = [node for node in following.get(pending.pop(), []) if node not in found]
        found.update(fresh)
        pending.extend(fresh)
    return found


def _weight(cases: Iterable[Case], trees: TreeBuilder) -> int:
    return sum(trees.weight(case.tree) for case in cases)
