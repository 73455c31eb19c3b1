"""Runs all hostile inputs, each bounded in a child process, and tells of those with an unexpected outcome.

python -m tests.hostile                    all of them
python -m tests.hostile --seconds 180      as many as that allows, in another order for each seed
python -m tests.hostile schema/ regex/     those whose names begin so
python -m tests.hostile --table            also a line for each input: outcome, CPU time, memory
python -m tests.hostile --mixes 100        also mixes of schemas, some of which take seconds: a `oneOf` of long lists
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter

from tests.hostile.all_cases import cases
from tests.hostile.runner import Bounds, Result, run_cases, with_stack


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="what the names of inputs begin with; none: all")
    parser.add_argument("--count", type=int, help="so many of them, chosen by the seed")
    parser.add_argument("--seconds", type=float, help="begin none after so many seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cpu", type=float, default=2.0, help="seconds of CPU time for each")
    parser.add_argument("--memory", type=int, default=1024, help="MiB for each")
    parser.add_argument("--stack", type=int, default=0, help="KiB of the stack of the thread that each runs in")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--mixes", type=int, help="also mixes of schemas, so many random ones among them")
    arguments = parser.parse_args()
    chosen = [
        case for case in cases(arguments.mixes) if not arguments.names or case.name.startswith(tuple(arguments.names))
    ]
    if arguments.count is not None or arguments.seconds is not None:
        random.Random(arguments.seed).shuffle(chosen)
        chosen = chosen[: arguments.count]
    if arguments.stack:
        chosen = with_stack(chosen, arguments.stack * 1024)
    until = None if arguments.seconds is None else time.monotonic() + arguments.seconds
    bounds = Bounds(cpu=arguments.cpu, memory=arguments.memory << 20)
    wrong: list[Result] = []
    outcomes: Counter[str] = Counter()
    for result in run_cases(chosen, bounds, arguments.jobs, until=until):
        outcomes[result.outcome.split()[0]] += 1
        if not result.is_right:
            wrong.append(result)
        if arguments.table or not result.is_right:
            print(line(result), flush=True)
    print(
        f"{outcomes.total()} of {len(chosen)} inputs: {', '.join(f'{n} {name}' for name, n in outcomes.most_common())}"
    )
    print(f"{len(wrong)} with an unexpected outcome")
    return 1 if wrong else 0


def line(result: Result) -> str:
    mark = " " if result.is_right else "!"
    expected = "" if result.is_right else f" (expected {' or '.join(sorted(result.case.expected))})"
    return (
        f"{mark} {result.case.name!r:60.70} {result.outcome:.80}{expected}, "
        f"{result.cpu:.2f} s, {result.memory >> 20} MiB {result.detail:.160}"
    )


if __name__ == "__main__":
    sys.exit(main())
