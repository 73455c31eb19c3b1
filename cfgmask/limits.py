"""The bounds that hold for input from strangers."""

from __future__ import annotations

from dataclasses import dataclass, fields

_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Limits:
    """Bounds on what one grammar may cost. Crossing one raises `LimitExceeded`, which names it.

    Each is an int from 0 to 2**63 - 1; anything else raises TypeError or ValueError.
    Regex nodes and lexer states are shared by the grammars of a vocabulary: what another grammar made before is free.

    max_source_bytes   size of a grammar, schema or pattern text
    max_nesting        nesting depth of groups, of schema values and of regexes. More than 400 is 400 for regexes,
                       which are to fit the stack of any thread
    max_regex_nodes    different regex nodes (residuals included) that one grammar may create; large ones, and
                       looks at many parts, count more, and each step of a search counts as one; the parts of a
                       pattern, which are counted by themselves, as four each
    max_lexer_states   different lexer states that one grammar may create; those of many terminals count more
    max_search_steps   derivatives that one question of emptiness may take; all about a JSON Schema take twice as many;
                       those of regexes with many parts count more
    max_rules          rules and rule expansions of one grammar, and what it takes to read and combine the parts of its
                       JSON Schemas, and patterns with assertions, lazy quantifiers or flags in Lark text
    max_items          items in one Earley item set, and a sixteenth of the ways in which they come about
    max_item_sets      different item sets that one grammar may create; what `Matcher.state` tells apart counts too
    max_capture_bytes  bytes of all captures of a text; those inside of others count again
    mask_cache_bytes   size of the remembered masks of one grammar; over it they are dropped, nothing is raised. And of
                       all else that it has learnt from texts; over it, new texts begin without it, see below
    shared_cache_bytes size of what the grammars of one vocabulary learn together (regexes, lexer states, tables); over
                       it tables are dropped, and grammars that are compiled later and new texts share nothing with
                       those before, whose part goes with the last of them; nothing is raised

    Where texts have used up half of a limit on what a grammar creates, or filled one of its caches, its next text
    begins as if it were just compiled, so that no number of texts crosses a limit which one of them does not.
    """

    max_source_bytes: int = 32 * 1024 * 1024
    max_nesting: int = 200
    max_regex_nodes: int = 4_000_000
    max_lexer_states: int = 1_000_000
    max_search_steps: int = 200_000
    max_rules: int = 2_000_000
    max_items: int = 100_000
    max_item_sets: int = 4_000_000
    max_capture_bytes: int = 256 * 1024 * 1024
    mask_cache_bytes: int = 256 * 1024 * 1024
    shared_cache_bytes: int = 256 * 1024 * 1024

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{field.name} must be an int, not {type(value).__name__}")
            if not 0 <= value <= _LARGEST:
                raise ValueError(f"{field.name} must be from 0 to 2**63 - 1, not {value}")


DEFAULT_LIMITS = Limits()
