"""Parametric rules by substitution: a grammar with a rule for each value that a parameter takes, and no conditions."""

from __future__ import annotations

import operator
from dataclasses import replace

from cfgmask.grammar import ir as grammar
from cfgmask.grammar.parameters import All, Any, Argument, Bits, Compare, Condition, Counted, Masked, Not
from cfgmask.grammar.walk import fold, walk


class TooManyValues(Exception):
    """The parameters take more values than there is patience for; a property test should drop its example."""


def expanded(ir: grammar.GrammarIR, most: int = 500) -> grammar.GrammarIR:
    """The same language without parameters. Raises TooManyValues for more than `most` rules."""
    rules = {rule.name: rule for rule in ir.rules}
    found: dict[tuple[str, int], grammar.Rule] = {}
    pending = [(ir.start, 0)]
    while pending:
        name, value = pending.pop()
        if (name, value) in found:
            continue
        if len(found) >= most:
            raise TooManyValues
        rule = rules[name]
        found[name, value] = replace(rule, name=_instance(name, value), body=_substituted(rule.body, value, rules))
        pending += [
            (part.name, 0 if part.argument is None else apply(part.argument, value))
            for part in walk(rule.body)
            if isinstance(part, grammar.RuleRef)
        ]
    return replace(ir, rules=tuple(found.values()), start=_instance(ir.start, 0))


def _instance(name: str, value: int) -> str:
    return f"{name}({value})"


def _substituted(body: grammar.Expr, value: int, rules: dict[str, grammar.Rule]) -> grammar.Expr:
    def combine(expr: grammar.Expr, parts: list[grammar.Expr]) -> grammar.Expr:
        match expr:
            case grammar.RuleRef(name, argument=argument):
                given = 0 if argument is None else apply(argument, value)
                return _only_terminal(rules[name], given) or grammar.RuleRef(_instance(name, given))
            case grammar.Guarded(_, condition):
                return parts[0] if holds(condition, value) else grammar.Choice(())
            case grammar.Sequence() | grammar.Choice():
                return replace(expr, parts=tuple(parts))
            case grammar.Repeat():
                return replace(expr, body=parts[0])
        return expr

    return fold(body, combine)


def _only_terminal(rule: grammar.Rule, value: int) -> grammar.Terminal | None:
    """The terminal that a rule is, where its parameter chooses one of several: it then stands in place of the rule."""
    if not rule.parametric or rule.opens_set or rule.capture or rule.temperature or rule.max_tokens is not None:
        return None
    live: list[grammar.Terminal] = []
    for part in rule.body.parts if isinstance(rule.body, grammar.Choice) else (rule.body,):
        match part:
            case grammar.Terminal():
                live.append(part)
            case grammar.Guarded(grammar.Terminal() as terminal, condition):
                live += [terminal] if holds(condition, value) else []
            case _:
                return None
    return live[0] if len(live) == 1 else None


def apply(argument: Argument, value: int) -> int:
    match argument:
        case Masked(keep, set_):
            return value & keep | set_
        case Counted(bits, up):
            field = _field(bits, value)
            stays = field == _field(bits, 2**64 - 1) if up else field == 0
            return value if stays else value + (1 if up else -1) * 2**bits.low
    raise TypeError(argument)


def holds(condition: Condition, value: int) -> bool:
    match condition:
        case Compare(bits, relation, than, ones):
            field = _field(bits, value)
            compared: bool = getattr(operator, relation)(field.bit_count() if ones else field, than)
            return compared
        case Not(body):
            return not holds(body, value)
        case All(parts):
            return all(holds(part, value) for part in parts)
        case Any(parts):
            return any(holds(part, value) for part in parts)
    raise TypeError(condition)


def _field(bits: Bits, value: int) -> int:
    return (value >> bits.low) % 2 ** (bits.high - bits.low)
