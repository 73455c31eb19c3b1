"""Writes `cfgmask/lark/syntax_tables.json`: the LALR tables of `cfgmask/lark/syntax.lark`, as `lark` makes them.

    python scripts/make_syntax_tables.py

States are numbered in the order in which a walk from the start finds them, so the file depends on the grammar alone.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from lark import Lark
from lark.lexer import BasicLexer

FOLDER = Path(__file__).parents[1] / "cfgmask" / "lark"
TARGET = FOLDER / "syntax_tables.json"


class TrustingLexer(BasicLexer):
    """Lark's lexer without its search for terminals that match the same text.

    Where the package `interegular` is installed, that search runs each time a parser is made; on this grammar it does
    not end.
    """

    def __init__(self, conf: Any, comparator: Any = None) -> None:
        conf.skip_validation = True
        super().__init__(conf, comparator)


def tables() -> dict[str, Any]:
    """What the file holds; `cfgmask.lark.syntax` says what it means."""
    grammar = (FOLDER / "syntax.lark").read_text(encoding="utf-8")
    made = Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False, _plugins={"BasicLexer": TrustingLexer})
    lexer: Any = made.parser.lexer
    words = [
        [regex.name, word.pattern.value, word.name]
        for word in lexer.terminals
        for regex in lexer.terminals
        if word.pattern.type == "str" and regex.pattern.type == "re" and word.priority == regex.priority
        if re.fullmatch(regex.pattern.to_regexp(), word.pattern.value)
    ]
    table: Any = made.parser.parser._parse_table
    start, end = table.start_states["start"], table.end_states["start"]
    order = _states(table.states, start)
    numbers = {state: number for number, state in enumerate(order)}
    reductions: dict[Any, int] = {}
    states = []
    for state in order:
        actions = {}
        for symbol in sorted(table.states[state]):
            argument = table.states[state][symbol][1]
            if isinstance(argument, int):
                actions[symbol] = numbers[argument]
            else:
                actions[symbol] = ~reductions.setdefault(argument, len(reductions))
        states.append(actions)
    return {
        # In Lark's order, by priority and then by length.
        "terminals": [[terminal.name, terminal.pattern.to_regexp()] for terminal in lexer.terminals],
        "words": sorted(words),
        "ignored": sorted(made.ignore_tokens),
        "end": numbers[end],
        "states": states,
        "reductions": [_reduction(rule) for rule in reductions],
    }


def _states(states: dict[int, dict[str, Any]], start: int) -> list[int]:
    order = [start]
    for state in order:
        for symbol in sorted(states[state]):
            target = states[state][symbol][1]
            if isinstance(target, int) and target not in order:
                order.append(target)
    return order


def _reduction(rule: Any) -> dict[str, Any]:
    origin = str(rule.origin.name)
    return {
        "origin": origin,
        "taken": [(None if s.filter_out else False) if s.is_term else s.name.startswith("_") for s in rule.expansion],
        "name": str(rule.alias or origin),
        "is_inline": origin.startswith("_") and not rule.alias,
        "may_vanish": bool(rule.options.expand1) and not rule.alias,
    }


def main() -> None:
    members = [f"{json.dumps(key)}: {_shown(value)}" for key, value in tables().items()]
    TARGET.write_text("{\n" + ",\n".join(members) + "\n}\n", encoding="utf-8")


def _shown(value: Any) -> str:
    """JSON with a line for each element of a list, so that differences show."""
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"


if __name__ == "__main__":
    sys.exit(main())
