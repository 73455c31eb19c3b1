"""Runs of digits that end.

A number of endless digits is where a model spins. So a run of digits that nothing else bounds is given an end, far
beyond what programs write. (Masks cost nothing more at the median then. In a first text of nothing but numbers they
took 6 microseconds instead of 4.5 on average, since the lexer meets a state for each number of digits.)
"""

from __future__ import annotations

from dataclasses import replace
from operator import is_not

from cfgmask.grammar.regex_tree import Alternation, Concatenation, Intersection, Multiples, RegexTree, Repetition
from cfgmask.json_schema import session
from cfgmask.regex.trees import fold_tree
from tests.reference.json_schema.decimals import DIGIT, ZERO


def with_ends(number: RegexTree, most: int) -> RegexTree:
    """The spellings of a number whose runs of digits end after `most` digits, counted from those that must come.

    What is taken out of a set stays taken out: complements are left as they are. An intersection of which nothing would
    be left is left as it is.
    """

    def end(tree: RegexTree, parts: list[RegexTree]) -> RegexTree:
        if isinstance(tree, Repetition):
            is_run = tree.maximum is None and tree.body in (DIGIT, ZERO)
            if parts[0] is tree.body and not is_run:
                return tree
            return Repetition(parts[0], tree.minimum, tree.minimum + most - 1 if is_run else tree.maximum)
        if isinstance(tree, Multiples):
            return replace(tree, most_digits=most)
        if isinstance(tree, Intersection):
            ended = Intersection((parts[0], *tree.parts[1:]))
            # Asked without `decide`, which remembers trees: the bounds of numbers may be too deep to hash.
            return tree if session.current().algebra.is_empty(ended) else ended
        if isinstance(tree, (Alternation, Concatenation)) and any(map(is_not, parts, tree.parts)):
            return type(tree)(tuple(parts))
        return tree

    return fold_tree(number, {}, end)
