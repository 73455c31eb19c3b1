"""`Compiler`: compiled grammars of one vocabulary, kept for the next one who asks."""

from __future__ import annotations

import marshal
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

from cfgmask._core import CompiledGrammar
from cfgmask.compiler.build import compile
from cfgmask.compiler.grammar import Grammar
from cfgmask.limits import Limits
from cfgmask.vocabulary import Vocabulary

if TYPE_CHECKING:
    from concurrent.futures import Future

_P = ParamSpec("_P")
_Key = tuple[str, bytes, bytes]

# The last format in which equal values have equal bytes, whether they share parts or not.
_MARSHAL_VERSION = 2


@dataclass
class _Entry:
    compiled: CompiledGrammar
    size: int


class Compiler:
    """Compiles grammars for one vocabulary, and keeps the most recently used ones.

    vocabulary   the vocabulary of all grammars
    cache_bytes  bound on the memory of the kept grammars, remembered masks included; tables that all grammars of the
                 vocabulary share don't count. The grammar used last is kept whatever its size
    limits       limits for grammars that come without their own; None: the defaults of `Limits`
    Errors: TypeError for another vocabulary; ValueError for a negative number of bytes.

    Threads: any number may use it. If several ask for the same grammar at once, one compiles it and the others wait.
    A grammar that can't be read or compiled is not kept; everybody who asks for it gets the error.

    Example:
        compiler = cfgmask.Compiler(vocabulary)
        matcher = compiler.read(cfgmask.Grammar.from_json_schema, schema, whitespace="compact").matcher()
    """

    def __init__(self, vocabulary: Vocabulary, cache_bytes: int = 256 << 20, limits: Limits | None = None) -> None:
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"vocabulary must be cfgmask.Vocabulary, not {type(vocabulary).__name__}")
        if not isinstance(cache_bytes, int) or cache_bytes < 0:
            raise ValueError(f"cache_bytes must be a number of bytes, not {cache_bytes!r}")
        self.vocabulary = vocabulary
        self.cache_bytes = cache_bytes
        # It imports `logging`, which takes a tenth as long as `import cfgmask`.
        from concurrent.futures import Future

        self._future: type[Future[CompiledGrammar]] = Future
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()  # the one asked for last is the last
        self._running: dict[_Key, Future[CompiledGrammar]] = {}
        self._bytes = 0
        self._counts = dict.fromkeys(("hits", "misses", "waits", "uncached", "evictions"), 0)

    def read(self, read: Callable[_P, Grammar], /, *args: _P.args, **options: _P.kwargs) -> CompiledGrammar:
        """The compiled grammar that `read(*args, **options)` gives. Reads and compiles nothing if it is kept.

        read  `Grammar.from_json_schema`, `Grammar.from_lark`, or another function whose result depends on its arguments
              alone. With arguments that can't be pickled, such as a lambda for `retrieve`, it is called each time
        Errors: whatever `read` and `cfgmask.compile` raise.
        Cost: for a kept grammar, linear in the arguments; a few microseconds for most schemas.
        """
        arguments = _frozen((args, sorted(options.items())))
        name = f"{getattr(read, '__module__', '')}.{getattr(read, '__qualname__', '')}"
        if arguments is None or "<" in name:
            return self.compile(read(*args, **options))
        key = (name, arguments, _frozen(vars(self._limits)) or b"")
        return self._get(key, lambda: compile(read(*args, **options), self.vocabulary, self._limits))

    def compile(self, grammar: Grammar, limits: Limits | None = None) -> CompiledGrammar:
        """Like `cfgmask.compile`, but a kept grammar is not compiled again.

        Grammars are the same if the same method made them from equal arguments.
        Errors: whatever `cfgmask.compile` raises; TypeError for anything but a Grammar.
        """
        if not isinstance(grammar, Grammar):
            raise TypeError(f"grammar must be cfgmask.Grammar, not {type(grammar).__name__}")
        limits = limits or self._limits
        recipe = grammar._recipe
        made_of = None if recipe is None else _frozen(recipe.arguments())
        if recipe is None or made_of is None:
            with self._lock:
                self._counts["uncached"] += 1
            return compile(grammar, self.vocabulary, limits)
        key = (recipe.reader, made_of, _frozen(vars(limits)) or b"")
        return self._get(key, lambda: compile(grammar, self.vocabulary, limits))

    def stats(self) -> dict[str, float]:
        """Counts since the compiler was made, and the size of the cache.

        hits, misses  calls for a grammar that was kept, and for one that was not
        waits         hits that waited for another call to compile the grammar
        uncached      calls for a grammar that can't be kept
        hit_rate      share of hits among hits and misses; 0 before the first call
        evictions     grammars that were dropped
        entries       grammars that are kept
        bytes         their size, each as of the last call for it
        """
        with self._lock:
            hits, misses = self._counts["hits"], self._counts["misses"]
            kept = {"entries": len(self._entries), "bytes": self._bytes}
            return {**self._counts, **kept, "hit_rate": hits / (hits + misses) if hits + misses else 0.0}

    def clear(self) -> None:
        """Drop all kept grammars. Compiled grammars that somebody still uses stay valid."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def _get(self, key: _Key, make: Callable[[], CompiledGrammar]) -> CompiledGrammar:
        with self._lock:
            entry = self._entries.get(key)
            running = self._running.get(key)
            if entry is not None or running is not None:
                self._counts["hits"] += 1
            if entry is not None:
                self._entries.move_to_end(key)
            elif running is not None:
                self._counts["waits"] += 1
            else:
                self._counts["misses"] += 1
                own = self._running[key] = self._future()
        if entry is not None:
            self._measure(key, entry)
            return entry.compiled
        if running is not None:
            return running.result()
        try:
            compiled = make()
        except BaseException as error:
            with self._lock:
                del self._running[key]
            own.set_exception(error)
            raise
        entry = _Entry(compiled, 0)
        with self._lock:
            del self._running[key]
            self._entries[key] = entry
        own.set_result(compiled)
        self._measure(key, entry)
        return compiled

    def _measure(self, key: _Key, entry: _Entry) -> None:
        """Count what a grammar has come to hold, and let others go for it."""
        size = entry.compiled.stats()["bytes"]
        with self._lock:
            if self._entries.get(key) is not entry:
                return
            self._bytes += size - entry.size
            entry.size = size
            while self._bytes > self.cache_bytes and len(self._entries) > 1:
                _, gone = self._entries.popitem(last=False)
                self._bytes -= gone.size
                self._counts["evictions"] += 1


def _frozen(value: Any) -> bytes | None:
    """Bytes that are equal for equal values in equal order; None where there are none."""
    try:
        return b"m" + marshal.dumps(value, _MARSHAL_VERSION)
    except ValueError:
        pass
    try:
        return b"p" + pickle.dumps(value)
    except Exception:  # whatever an object's own method raises
        return None
