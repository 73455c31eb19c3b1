"""Bounds of CPU time, which `make test-times` holds calls to: machines are too noisy for them anywhere else.

The calls are made in any case.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

IS_HELD = bool(os.environ.get("CFGMASK_TEST_TIMES"))


def cpu_seconds(act: Callable[[], object], runs: int = 1) -> float:
    """The least CPU time that `act` takes in so many runs."""

    def once() -> float:
        before = time.process_time()
        act()
        return time.process_time() - before

    return min(once() for _ in range(runs if IS_HELD else 1))


def hold(seconds: float, most: float, about: object = "") -> None:
    assert not IS_HELD or seconds <= most, (seconds, most, about)
