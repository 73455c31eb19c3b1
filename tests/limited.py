"""Runs what may do harm in a child process, with bounds on its CPU time and its memory."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import cfgmask
from tests.cpu_time import IS_HELD

WORKS = "works"


# Seconds. Limits come within 4 on a quiet machine; others may take some times as long, and a hang takes them all.
CPU = 4 if IS_HELD else 30


def outcome(run: Callable[[], object], *, cpu: int = CPU, memory: int = 1 << 30) -> str:
    """`WORKS`, the limit that was exceeded, the codes of errors in a grammar, or what ended the child.

    cpu     seconds
    memory  bytes beyond what this process has
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _bound(cpu, memory)
        os.write(writing, _said(run).encode()[:4096])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        text = said.read().decode()
    _, status = os.waitpid(child, 0)
    return text if os.WIFEXITED(status) else f"killed: {signal.Signals(os.WTERMSIG(status)).name}"


def _bound(cpu: int, memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + cpu
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    # A sanitizer takes the address space for itself.
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _said(run: Callable[[], object]) -> str:
    try:
        run()
    except cfgmask.LimitExceeded as error:
        return error.limit
    except cfgmask.GrammarError as error:
        return " ".join(sorted({problem.code for problem in error.diagnostics}))
    except BaseException as error:  # whatever it is, the parent says so
        return f"{type(error).__name__}: {error}"
    return WORKS
