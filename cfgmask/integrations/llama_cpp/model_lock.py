"""One thread at a time for each model: llama.cpp aborts the process where two decode in one context."""

from __future__ import annotations

import threading
import weakref
from typing import Any

_locks: weakref.WeakKeyDictionary[Any, threading.RLock] = weakref.WeakKeyDictionary()
_guard = threading.Lock()


def model_lock(llm: Any) -> threading.RLock:
    """The lock that every `generate` of this model takes, always the same."""
    with _guard:
        return _locks.setdefault(llm, threading.RLock())
