"""Runs inputs that may do harm, each in a child process with bounds on its memory and its CPU time.

A child runs several cases, one after the other. One that ends its child, or that comes to something else than its table
says, is run once more in a child of its own: that is its outcome, and the others of its batch go on in a new child.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import selectors
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cfgmask

ACCEPTED = "accepted"
# Outcomes that no table allows.
CPU, MEMORY, HANG = "CPU time", "memory", "hang"


@dataclass(frozen=True)
class Case:
    """One input.

    name      unique; begins with its area: "schema/…"
    run       what is done with it
    expected  outcomes that are right, as `matches` reads them
    stack     bytes of the stack of the thread that it runs in; 0: in the main thread
    """

    name: str
    run: Callable[[], object] = field(repr=False)
    expected: frozenset[str]
    stack: int = 0


@dataclass(frozen=True)
class Bounds:
    """What one case may take: seconds of CPU time, bytes beyond what the process has without it, seconds until it is
    taken to wait for ever.
    """

    cpu: float = 2.0
    memory: int = 1 << 30
    wall: float = 120.0


@dataclass(frozen=True)
class Result:
    case: Case
    outcome: str
    cpu: float = 0.0
    memory: int = 0
    detail: str = ""

    @property
    def is_right(self) -> bool:
        return any(matches(self.outcome, expected) for expected in self.case.expected)


def matches(outcome: str, expected: str) -> bool:
    """Whether an outcome is one that is expected: its kind alone, or its kind with some of its codes."""
    kind, *codes = expected.split()
    found, *its_codes = outcome.split()
    return kind == found and set(codes) <= set(its_codes)


def outcome_of(run: Callable[[], object]) -> tuple[str, str]:
    """What becomes of a case, and what an error says."""
    try:
        run()
    except cfgmask.GrammarError as error:
        codes = dict.fromkeys(problem.code for problem in error.diagnostics if problem.severity == "error")
        return " ".join(["GrammarError", *codes]), _shown(error)
    except cfgmask.LimitExceeded as error:
        return f"LimitExceeded {error.limit}", _shown(error)
    except MemoryError as error:
        return MEMORY, _shown(error)
    except BaseException as error:  # whatever it is, it is the outcome
        return type(error).__name__, _shown(error)
    return ACCEPTED, ""


def _shown(error: BaseException) -> str:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    place = "" if traceback is None else f"{Path(traceback.tb_frame.f_code.co_filename).name}:{traceback.tb_lineno}: "
    return (place + str(error).replace("\n", " "))[:300]


def run_cases(
    cases: Sequence[Case], bounds: Bounds, jobs: int, batch: int = 20, until: float | None = None
) -> Iterator[Result]:
    """Results in the order in which they come.

    until  time.monotonic() after which no case is begun
    """
    waiting = deque(tuple(cases[i : i + batch]) for i in range(0, len(cases), batch))
    watch = selectors.DefaultSelector()
    children: set[_Child] = set()
    while waiting or children:
        if until is not None and time.monotonic() > until:
            waiting.clear()
        while waiting and len(children) < jobs:
            child = _Child(waiting.popleft(), bounds)
            children.add(child)
            watch.register(child.pipe, selectors.EVENT_READ, child)
        for key, _ in watch.select(timeout=1.0):
            key.data.read()
        for child in [child for child in children if child.is_over()]:
            watch.unregister(child.pipe)
            children.discard(child)
            child.close()
            rest = child.rest()
            for result in child.results:
                if result.is_right or len(child.cases) == 1:
                    yield result
                else:
                    waiting.appendleft((result.case,))
            if rest:
                waiting.appendleft(rest)


class _Child:
    """A process that runs cases."""

    def __init__(self, cases: tuple[Case, ...], bounds: Bounds) -> None:
        self.cases = cases
        self.results: list[Result] = []
        self._bounds = bounds
        self._begun = False  # whether the next case is being run
        self._unread = b""
        self._ended = False
        self._last = time.monotonic()
        self.pipe, write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            _run_in_child(cases, bounds, write)
        os.close(write)

    def read(self) -> None:
        data = os.read(self.pipe, 1 << 16)
        self._last = time.monotonic()
        self._ended = not data
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            self._begun = message is None
            if message is not None:
                self.results.append(Result(self.cases[len(self.results)], **message))

    def is_over(self) -> bool:
        if not self._ended and time.monotonic() - self._last > self._bounds.wall:
            os.kill(self.pid, signal.SIGKILL)
            self._ended = True
            self._add(HANG)
        return self._ended

    def close(self) -> None:
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        n_results = len(self.results)
        if n_results == len(self.cases) or (n_results and self.results[-1].outcome == HANG):
            return
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            self._add(CPU if number == signal.SIGPROF else f"killed {signal.Signals(number).name}")
        else:
            self._add(f"exit {os.WEXITSTATUS(status)}")

    def _add(self, outcome: str) -> None:
        self.results.append(Result(self.cases[len(self.results)], outcome))

    def rest(self) -> tuple[Case, ...]:
        return self.cases[len(self.results) :]


def _run_in_child(cases: Sequence[Case], bounds: Bounds, pipe: int) -> None:
    """Runs all cases and ends the process."""
    faulthandler.disable()  # a case that crashes is an outcome, not a fault of the tests
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not _is_sanitized():
        size = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + bounds.memory, size + bounds.memory))
    most_before = _most_memory()
    for case in cases:
        _tell(pipe, None)
        before = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, bounds.cpu)
        outcome, detail = _outcome(case)
        signal.setitimer(signal.ITIMER_PROF, 0)
        memory = _most_memory() - most_before
        if memory > bounds.memory:
            outcome = MEMORY
        taken = time.process_time() - before
        _tell(pipe, {"outcome": outcome, "cpu": taken, "memory": memory, "detail": detail})
    # What a case has left behind goes in the usual way only if a case asks for it.
    os._exit(0)


def _outcome(case: Case) -> tuple[str, str]:
    if not case.stack:
        return outcome_of(case.run)
    found: list[tuple[str, str]] = []
    threading.stack_size(case.stack)
    thread = threading.Thread(target=lambda: found.append(outcome_of(case.run)))
    thread.start()
    thread.join()
    threading.stack_size(0)
    return found[0]


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _is_sanitized() -> bool:
    """Whether an address sanitizer has taken the address space, which then has no bound."""
    return "libasan" in os.environ.get("LD_PRELOAD", "")


def _tell(pipe: int, message: dict[str, Any] | None) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


class Times:
    """A text many times, which is made when the case runs: those of all cases would be too much for one process."""

    def __init__(self, text: str, n: int, before: str = "", after: str = "") -> None:
        self._parts = (before, text, n, after)

    def __str__(self) -> str:
        before, text, n, after = self._parts
        return before + text * n + after


def with_stack(cases: Sequence[Case], stack: int) -> list[Case]:
    return [replace(case, stack=stack) for case in cases]
