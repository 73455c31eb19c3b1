"""The bounds that hold for input from strangers."""

from __future__ import annotations

from dataclasses import dataclass, fields

_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Limits:
    """Bounds on the cost of one grammar. Crossing one raises `LimitExceeded`, which names it.

    Each is an int from 0 to 2**63 - 1; anything else raises TypeError or ValueError.
    The grammars of a vocabulary share regex nodes and lexer states, so a grammar pays nothing for those that another
    grammar made before.

    max_source_bytes   size of the text of a grammar, schema or pattern
    max_nesting        depth of nested groups, schema values and regexes. For regexes, 400 is the most, so that any
                       thread's stack is deep enough
    max_regex_nodes    different regex nodes that one grammar may create, residuals included. Large nodes and nodes with
                       many parts count more; each step of a search counts one, and each part of a pattern four
    max_lexer_states   different lexer states that one grammar may create; states of many terminals count more
    max_search_steps   derivatives for one question of emptiness; twice as many for all questions about a JSON Schema.
                       Regexes with many parts count more
    max_rules          rules of one grammar, and the work of reading and combining its JSON Schemas and of patterns with
                       assertions, lazy quantifiers or flags
    max_items          items in one Earley item set; also a sixteenth of the number of ways to derive them
    max_item_sets      different item sets that one grammar may create; states that only `Matcher.state` tells apart
                       count too
    max_capture_bytes  bytes of all captures of a text; nested captures count each time
    mask_cache_bytes   size of the masks that one grammar remembers; beyond it they are dropped, and nothing is raised.
                       Also the size of everything else it has learnt; beyond it, new texts begin without that
    shared_cache_bytes  size of everything that the grammars of one vocabulary learn together: regexes, lexer states,
                       tables. Beyond it, tables are dropped, and later grammars and texts share nothing with earlier
                       ones, whose part is freed with the last of them; nothing is raised

    When the texts of a grammar have used half of a limit, or filled one of its caches, its next text begins as if the
    grammar were just compiled. So no number of texts crosses a limit that a single text doesn't.
    """

    max_source_bytes: int = 32 * 1024 * 1024
    max_nesting: int = 200
    max_regex_nodes: int = 2_000_000
    max_lexer_states: int = 1_000_000
    max_search_steps: int = 200_000
    max_rules: int = 2_000_000
    max_items: int = 100_000
    max_item_sets: int = 2_000_000
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
