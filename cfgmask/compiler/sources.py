"""What a compiled grammar was made of: for pickles, which compile it anew, and for fingerprints of positions."""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from cfgmask import _core
from cfgmask.compiler.grammar import Grammar, recipe_of
from cfgmask.compiler.recipe import KeptSchema
from cfgmask.diagnostics import Source, Span
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask.grammar.ir import GrammarIR
    from cfgmask.vocabulary import Vocabulary

_DIGEST_SIZE = 16
# What a grammar means does not depend on these.
_WITHOUT_MEANING = ("name", "limits", "folder")


@dataclass(frozen=True)
class CompiledFrom:
    """The arguments of `cfgmask.compile`."""

    grammar: Grammar | GrammarIR
    vocabulary: Vocabulary
    limits: Limits
    shard: int


_sources: WeakKeyDictionary[_core.CompiledGrammar, CompiledFrom] = WeakKeyDictionary()
_fingerprints: WeakKeyDictionary[_core.CompiledGrammar, bytes] = WeakKeyDictionary()


def remember_source(
    compiled: _core.CompiledGrammar,
    grammar: Grammar | GrammarIR,
    vocabulary: Vocabulary,
    limits: Limits,
    shard: int,
) -> None:
    """Keep the arguments for as long as the compiled grammar lives."""
    # The vocabulary may have the compiled grammar as an attribute, which would keep both.
    _sources[compiled] = CompiledFrom(grammar, vocabulary._bare(), limits, shard)


def source_of(compiled: _core.CompiledGrammar) -> CompiledFrom:
    """What it was compiled from. Raises ValueError for one that `cfgmask.compile` has not made."""
    found = _sources.get(compiled)
    if found is None:
        raise ValueError("this grammar was not made by cfgmask.compile")
    return found


def grammar_fingerprint(compiled: _core.CompiledGrammar) -> bytes:
    """A hash of the grammar's text and options, the same in every process. Linear the first time."""
    found = _fingerprints.get(compiled)
    if found is None:
        found = _fingerprints[compiled] = _hash_of(source_of(compiled).grammar)
    return found


def register_pickling(compile: Callable[..., _core.CompiledGrammar]) -> None:
    """Have compiled grammars and matchers be pickled: by what they were made of, and where they stand."""

    def reduce_compiled(compiled: _core.CompiledGrammar) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        made = source_of(compiled)
        return _compiled_again, (made.grammar, made.vocabulary, made.limits, made.shard)

    def reduce_matcher(matcher: _core.Matcher) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _matcher_again, (matcher.compiled, matcher.to_bytes())

    global _compile
    _compile = compile
    copyreg.pickle(_core.CompiledGrammar, reduce_compiled)
    copyreg.pickle(_core.Matcher, reduce_matcher)


_compile: Callable[..., _core.CompiledGrammar]


def _compiled_again(
    grammar: Grammar | GrammarIR, vocabulary: Vocabulary, limits: Limits, shard: int
) -> _core.CompiledGrammar:
    return _compile(grammar, vocabulary, limits, shard=shard)


def _matcher_again(compiled: _core.CompiledGrammar, position: bytes) -> _core.Matcher:
    return _core.Matcher.from_bytes(compiled, position)


def _hash_of(value: Any) -> bytes:
    """A hash of texts, numbers, containers and dataclasses by their content, places in sources left out.

    With a stack of its own: trees may be deep.
    """
    from hashlib import blake2b

    digest = blake2b(digest_size=_DIGEST_SIZE)
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, _Text):
            digest.update(part.text)
            continue
        kind, content, parts = _parts_of(part)
        digest.update(b"%s %d %d " % (kind.encode(), len(content), len(parts)))
        digest.update(content)
        stack.extend(reversed(parts))
    return digest.digest()


@dataclass(frozen=True)
class _Text:
    text: bytes


def _parts_of(value: Any) -> tuple[str, bytes, list[Any]]:
    """Its kind, its own content, and what it is made of."""
    if isinstance(value, (Span, Source)) or value is None:
        return "none", b"", []
    if isinstance(value, str):
        return "str", value.encode("utf-8", "surrogatepass"), []
    if isinstance(value, (bytes, bytearray)):
        return "bytes", bytes(value), []
    if isinstance(value, (bool, int, float)):
        return type(value).__name__, repr(value).encode(), []
    if isinstance(value, Grammar):
        recipe = recipe_of(value)
        if recipe is None:
            return "Grammar", b"ir", [value.ir]
        arguments = recipe.arguments()
        parts = {key: part for key, part in arguments.items() if key not in _WITHOUT_MEANING}
        return "Grammar", recipe.reader.encode(), [parts]
    if isinstance(value, KeptSchema):
        return "schema", b"", [value.value]
    if isinstance(value, dict):
        return "dict", b"", [part for pair in value.items() for part in pair]
    if isinstance(value, (list, tuple)):
        return "list", b"", list(value)
    if isinstance(value, (set, frozenset)):
        return "set", b"", [_Text(one) for one in sorted(map(_hash_of, value))]
    if is_dataclass(value):
        return type(value).__name__, b"", [getattr(value, field.name) for field in fields(value)]
    return type(value).__name__, pickle.dumps(value, protocol=4), []
