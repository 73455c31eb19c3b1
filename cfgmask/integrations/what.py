"""What may stand in place of a grammar."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Mapping
from typing import Any

from cfgmask import CompiledGrammar, Grammar, Matcher


def grammar_of(what: Any) -> Any:
    """The grammar that a type, function, schema, pattern or list of texts makes; anything else as it is.

    Raises what `Grammar`'s readers raise.
    """
    if isinstance(what, dict):
        return Grammar.from_json_schema(what)
    if isinstance(what, re.Pattern):
        flags = "".join(letter for letter in "aimsx" if what.flags & getattr(re, letter.upper()))
        return Grammar.from_regex(what.pattern, flags=flags)
    if isinstance(what, (list, tuple)):
        return Grammar.from_choices(what)
    if isinstance(what, type) or typing.get_origin(what) is not None or inspect.isfunction(what):
        return Grammar.from_type(what)
    return what


def check_grammar(grammar: Any) -> None:
    """Raises TypeError for what is neither a Grammar nor a CompiledGrammar, with the call that makes one of it."""
    if not isinstance(grammar, (Grammar, CompiledGrammar)):
        raise TypeError(
            f"grammar must be a Grammar or a CompiledGrammar, not {type(grammar).__name__}; {_reader_of(grammar)}"
        )


def _reader_of(grammar: Any) -> str:
    if isinstance(grammar, Mapping):
        return "Grammar.from_json_schema reads a schema"
    if isinstance(grammar, Matcher):
        return "its `compiled` is one"
    return "Grammar.from_lark reads the text of one, Grammar.from_json_schema that of a schema"
