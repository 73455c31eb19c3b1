"""Writes `cfgmask/core/lark/syntax_tables.h`: the LALR tables of `cfgmask/lark/syntax.lark`, as `lark` makes them.

    python scripts/make_syntax_tables.py

States are numbered in the order in which a walk from the start finds them, so the file depends on the grammar alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Any

from lark import Lark
from lark.lexer import BasicLexer

PACKAGE = Path(__file__).parents[1] / "cfgmask"
SYNTAX = PACKAGE / "lark" / "syntax.lark"
TARGET = PACKAGE / "core" / "lark" / "syntax_tables.h"

KEYWORDS = "UNKNOWN_DIRECTIVE"
"""The terminal that all words behind a `%` are which are no other terminal."""

_FILE = """\
// Written by scripts/make_syntax_tables.py: the LALR tables of cfgmask/lark/syntax.lark, as `lark` makes them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// clang-format off
namespace cfgmask {{

enum class LarkTerminal : uint8_t {{
{terminals}
}};

enum class LarkRule : uint8_t {{
{rules}
}};

inline constexpr std::array kLarkTerminalNames = std::to_array<const char*>({{
{terminal_names}
}});

inline constexpr std::array kLarkRuleNames = std::to_array<const char*>({{
{rule_names}
}});

struct LarkKeyword {{
  std::u32string_view text;
  LarkTerminal terminal;
}};
inline constexpr std::array kLarkKeywords = std::to_array<LarkKeyword>({{
{keywords}
}});

// A rule to take for the symbols on top, of which `taken` says by a letter each: '1' one part, '*' its parts are taken
// one by one, '.' dropped.
struct LarkReduction {{
  LarkRule rule;
  std::string_view taken;
  bool is_inline;   // its parts are its parent's
  bool may_vanish;  // a single part stands for it
}};
inline constexpr std::array kLarkReductions = std::to_array<LarkReduction>({{
{reductions}
}});

// Terminals are numbered first, rules behind them. A number from 0 is the next state, ~n the reduction n.
struct LarkAction {{
  uint8_t symbol;
  int16_t action;
}};
inline constexpr int16_t kLarkEndState = {end};
inline constexpr std::array kLarkActions = std::to_array<LarkAction>({{
{actions}
}});
// Where the actions of each state begin, in the order of symbols.
inline constexpr std::array kLarkFirstActions = std::to_array<uint16_t>({{
{first_actions}
}});

}}  // namespace cfgmask
"""


class TrustingLexer(BasicLexer):
    """Lark's lexer without its search for terminals that match the same text.

    Where the package `interegular` is installed, that search runs each time a parser is made; on this grammar it does
    not end.
    """

    def __init__(self, conf: Any, comparator: Any = None) -> None:
        conf.skip_validation = True
        super().__init__(conf, comparator)


def tables() -> str:
    """What the file holds."""
    grammar = SYNTAX.read_text(encoding="utf-8")
    made = Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False, _plugins={"BasicLexer": TrustingLexer})
    lexer: Any = made.parser.lexer
    table: Any = made.parser.parser._parse_table
    order = _states(table.states, table.start_states["start"])
    symbols = {symbol for state in order for symbol in table.states[state]}
    terminals = [*sorted({*filter(str.isupper, symbols), *(t.name for t in lexer.terminals)}), "UNREADABLE"]
    rules = sorted(symbols.difference(terminals))
    keywords = [t for t in lexer.terminals if t.pattern.value.startswith("%") and t.name != KEYWORDS]
    numbers = {state: number for number, state in enumerate(order)}
    symbol_numbers = {symbol: number for number, symbol in enumerate([*terminals, *rules])}
    reductions: dict[Any, int] = {}
    rows = [
        [
            (symbol_numbers[symbol], _action(table.states[state][symbol][1], numbers, reductions))
            for symbol in sorted(table.states[state], key=symbol_numbers.__getitem__)
        ]
        for state in order
    ]
    return _FILE.format(
        terminals=_lines(f"{_constant(name)}," for name in terminals),
        rules=_lines(f"{_constant(name)}," for name in rules),
        terminal_names=_lines(f'"{name}",' for name in terminals),
        rule_names=_lines(f'"{name}",' for name in rules),
        keywords=_lines(f'{{U"{t.pattern.value}", LarkTerminal::{_constant(t.name)}}},' for t in keywords),
        reductions=_lines(map(_reduction, reductions)),
        end=numbers[table.end_states["start"]],
        actions=_lines(" ".join(f"{{{symbol}, {action}}}," for symbol, action in row) for row in rows),
        first_actions=_lines(f"{first}," for first in accumulate(map(len, rows), initial=0)),
    )


def _states(states: dict[int, dict[str, Any]], start: int) -> list[int]:
    order = [start]
    for state in order:
        for symbol in sorted(states[state]):
            target = states[state][symbol][1]
            if isinstance(target, int) and target not in order:
                order.append(target)
    return order


def _action(argument: Any, numbers: dict[int, int], reductions: dict[Any, int]) -> int:
    if isinstance(argument, int):
        return numbers[argument]
    return ~reductions.setdefault(argument, len(reductions))


def _reduction(rule: Any) -> str:
    origin = str(rule.origin.name)
    taken = "".join(
        ("." if symbol.filter_out else "1") if symbol.is_term else "1*"[symbol.name.startswith("_")]
        for symbol in rule.expansion
    )
    flags = (origin.startswith("_"), bool(rule.options.expand1))
    return f'{{LarkRule::{_constant(origin)}, "{taken}", {", ".join(str(flag).lower() for flag in flags)}}},'


def _constant(name: str) -> str:
    """`DOUBLE_COLON` and `double_colon` as `kDoubleColon`."""
    return "k" + "".join(part.capitalize() for part in name.strip("$").split("_"))


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def main() -> None:
    TARGET.write_text(tables(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
