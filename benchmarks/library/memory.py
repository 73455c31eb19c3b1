"""How much memory a compiled grammar takes, caches included: each engine in a process of its own, nothing let go."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import resource
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from library import measure, peers, vocabularies
from library.cases import Case

WARM_UP = 5


@dataclass(frozen=True)
class Memory:
    """Kilobytes of one grammar; 0 where too few compile."""

    average: float = 0.0
    median: float = 0.0


def memory_of_grammars(engine: str, vocab: Path, cases: list[Case]) -> Memory:
    """The growth of the resident size with each of `cases`, all kept alive after walking their texts.

    Not counted are the first few cases, a warm-up, and the row that a caller keeps for masks, 16 KB for 128k tokens.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_growth, (engine, vocab, cases))


def _growth(engine_name: str, vocab: Path, cases: list[Case]) -> Memory:
    vocabulary = vocabularies.load(vocab)
    engine = peers.ENGINES[engine_name](vocabulary)
    kept = [_keep(engine, case, vocabulary) for case in cases[:WARM_UP]]
    growth = []
    before = resident_kilobytes()
    for case in cases[WARM_UP:]:
        session = _keep(engine, case, vocabulary)
        if session is not None:
            kept.append(session)
            after = resident_kilobytes()
            growth.append(after - before - session.mask.nbytes / 1024)
            before = after
    return Memory(mean(growth), median(growth)) if growth else Memory()


def _keep(engine: peers.Engine, case: Case, vocabulary: vocabularies.BenchVocabulary) -> peers.Session | None:
    try:
        session = engine.start(case)
    except peers.Refused:
        return None
    for instance in case.instances:
        measure.walk(session, vocabulary.encode(instance.text), vocabulary.vocabulary.eos_token_ids[0], instance.valid)
    return session


def resident_kilobytes() -> float:
    """What this process holds now on Linux, without what it could give back; elsewhere the most it ever held."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize() / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
