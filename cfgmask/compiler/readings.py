"""How the texts of compiled grammars are read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from cfgmask._core import CompiledGrammar, Segments
from cfgmask.compiler.named_ends import last_tokens

if TYPE_CHECKING:
    from cfgmask.values import Parser
    from cfgmask.values.reading import Reading
    from cfgmask.vocabulary import Vocabulary

_names: WeakKeyDictionary[CompiledGrammar, dict[int, bytes]] = WeakKeyDictionary()
_names_in: WeakKeyDictionary[Vocabulary, dict[int, bytes]] = WeakKeyDictionary()
_readings: WeakKeyDictionary[CompiledGrammar, Callable[[], Reading]] = WeakKeyDictionary()


def remember_reading(compiled: CompiledGrammar, reading: Callable[[], Reading] | None) -> None:
    """Keep how values are made of a grammar's texts, for as long as it lives: the core knows nothing of that."""
    if reading is not None:
        _readings[compiled] = reading


def remember_names(compiled: CompiledGrammar, vocabulary: Vocabulary) -> None:
    """Keep what is read for special tokens without text, which markers in the arguments of tools may be."""
    found = _names_in.get(vocabulary)
    if found is None:
        text, special_tokens = vocabulary.core.text, vocabulary.special_tokens
        found = {i: name.encode(errors="replace") for name, i in special_tokens.items() if not text(i)}
        _names_in[vocabulary] = found
    _names[compiled] = found


def names_of(compiled: CompiledGrammar) -> dict[int, bytes]:
    """What is read for tokens without text."""
    return _names.get(compiled, {})


def parser_of(compiled: CompiledGrammar) -> Parser:
    """A parser of the texts of a compiled grammar, as `Grammar.parser` gives it."""
    from cfgmask.values.parser import Parser
    from cfgmask.values.reading import Reading

    reading = _readings.get(compiled, Reading)
    return Parser(compiled, reading(), {}, last=last_tokens(compiled), names=names_of(compiled))


def captures_of(compiled: CompiledGrammar) -> list[str]:
    """The names of the captures of a grammar, sorted."""
    return Segments(compiled).names


def fields_of(compiled: CompiledGrammar, token_ids: Sequence[int]) -> list[tuple[str, str, int, int]]:
    """The parts of a text that have names, in the order in which they end: name, text, first byte, end.

    These are captures, or the values of JSON that a schema or a type describes, named by their paths. Of a text that is
    not complete, those that have ended.
    """
    from cfgmask.values.events import CaptureDone
    from cfgmask.values.json_fields import json_fields
    from cfgmask.values.parser import Parser
    from cfgmask.values.reading import Reading

    if _readings.get(compiled, Reading)().kind == "json":
        data = b"".join(map(compiled.vocabulary.text, token_ids))
        return [(path, data[start:end].decode(), start, end) for path, start, end in json_fields(data)]
    parser = Parser(compiled, Reading("captures"), {}, last=last_tokens(compiled))
    events = parser.feed(token_ids)
    if parser.may_end:
        events += parser.finish()
    captures = [event.capture for event in events if isinstance(event, CaptureDone)]
    return [(capture.name, capture.text, capture.start, capture.end) for capture in captures]
