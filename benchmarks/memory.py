"""How much memory a compiled grammar takes, caches included: each engine in a process of its own, nothing let go."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import resource
import sys
from pathlib import Path

import measure
import peers
import vocabularies
from cases import Case

WARM_UP = 5


def kilobytes_per_grammar(engine: str, vocab: Path, cases: list[Case]) -> float:
    """The growth of the resident size over `cases`, all kept alive after walking their texts, by their number.

    The first few are a warm-up and not counted. 0 where too few compile.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_growth, (engine, vocab, cases))


def _growth(engine_name: str, vocab: Path, cases: list[Case]) -> float:
    vocabulary = vocabularies.load(vocab)
    engine = peers.ENGINES[engine_name](vocabulary)
    kept = [_keep(engine, case, vocabulary) for case in cases[:WARM_UP]]
    before = resident_kilobytes()
    counted = [_keep(engine, case, vocabulary) for case in cases[WARM_UP:]]
    alive = sum(session is not None for session in counted)
    kept += counted
    return (resident_kilobytes() - before) / alive if alive else 0.0


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
