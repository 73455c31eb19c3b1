"""A picture of a run: how many positions, and how many first masks, take longer than a time, by engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from library import report
from library.measure import Result

PANELS = (("mask + commit", report.mask_nanoseconds), ("first mask", report.first_nanoseconds))


def save(results: list[dict[str, Result]], path: Path) -> None:
    """Write the picture in the format that the ending of `path` names, both axes logarithmic."""
    from matplotlib.figure import Figure

    common = report.common(results)
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    for axes, (title, nanoseconds) in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        for name in results[0] if results else ():
            times = np.sort(np.array(nanoseconds(common, name), dtype=np.float64))[::-1] / 1e3
            axes.plot(times, np.arange(1, len(times) + 1) / max(1, len(times)), label=name, drawstyle="steps-pre")
        axes.set(title=title, xscale="log", yscale="log", xlabel="µs", ylabel="part that takes at least so long")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend()
    figure.savefig(path)
