"""What declared terminals are: `%declare` gives a name, and an option binds it."""

from __future__ import annotations

from collections.abc import Mapping

from cfgmask.diagnostics import Span
from cfgmask.grammar import ir
from cfgmask.lark import nodes
from cfgmask.lark.literals import LiteralError, parse_special_tokens
from cfgmask.lark.problems import Problems
from cfgmask.suggest import did_you_mean


def bind(
    declared: Mapping[str, nodes.Declaration], bound: Mapping[str, tuple[str, Span]], problems: Problems
) -> dict[str, ir.Expr]:
    """What stands for each declared terminal in a rule.

    bound  special tokens, spelled as in a grammar or by their whole text, with the places of the options
    Reports options for names that are not declared. A terminal that is bound to nothing is left out.
    """
    found: dict[str, ir.Expr] = {}
    for name, (token, place) in bound.items():
        if name not in declared:
            help = did_you_mean(name, declared) or f"write `%declare {name}`"
            problems.error("lark-bad-option", f"there is no declared terminal `{name}`", place, help=help)
            continue
        try:
            read = parse_special_tokens(token)
        except LiteralError as error:
            problems.error(error.code, error.message, place, help=error.help)
            found[name] = ir.Sequence(())
            continue
        found[name] = ir.TokenSet(token, read.names, read.ranges, read.negated, span=declared[name].span)
    return found
