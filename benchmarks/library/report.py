"""From results to figures: percentiles, ratios, a Markdown table and a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from library.measure import Result
from library.memory import Memory

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9}


def summarise(results: list[dict[str, Result]], memory: dict[str, Memory]) -> dict[str, Any]:
    """Figures by engine, in microseconds.

    Times are taken over the cases whose valid instances every engine accepts, so that all are measured at the same
    positions; counts of right and wrong answers are over all cases. `memory` is that of one grammar by engine.
    """
    names = list(results[0]) if results else []
    shared = common(results)
    return {
        "cases": len(results),
        "common_cases": len(shared),
        "engines": {
            name: {
                "tbm_us": figures(mask_nanoseconds(shared, name)),
                "all_tbm_us": figures(mask_nanoseconds(shared, name, invalid=True)),
                "first_mask_us": figures(first_nanoseconds(shared, name)),
                "answers": _answers(results, name),
                "kilobytes_per_grammar": asdict(memory[name]) if name in memory else None,
            }
            for name in names
        },
    }


def markdown(summary: dict[str, Any], of: str = "cfgmask") -> str:
    """The summary as a table; the ratio columns say how many times as long another engine takes as `of`."""
    engines = summary["engines"]
    others = [name for name in engines if name != of] if of in engines else []
    titles = ["", *engines, *(f"{other} / {of}" for other in others)]
    rows = []
    groups = {"tbm_us": "mask + commit", "all_tbm_us": "the same, invalid texts too,", "first_mask_us": "first mask"}
    for group, title in groups.items():
        for figure in ("avg", *PERCENTILES, "max"):
            values = {name: engine[group].get(figure) for name, engine in engines.items()}
            cells = [number(value) for value in values.values()]
            rows.append([f"{title} {figure} (µs)", *cells, *(_ratio(values[other], values[of]) for other in others)])
    for title, cell in _COUNTS:
        rows.append([title, *(cell(engine["answers"]) for engine in engines.values()), *[""] * len(others)])
    sizes = {name: engine["kilobytes_per_grammar"] or {} for name, engine in engines.items()}
    for figure in next(iter(sizes.values()), ()):
        values = {name: size.get(figure) for name, size in sizes.items()}
        ratios = (_ratio(values[other], values[of]) for other in others)
        rows.append([f"memory of a grammar, {figure} (KB)", *map(number, values.values()), *ratios])
    total = next((engine["tbm_us"].get("count", 0) for engine in engines.values()), 0)
    note = (
        f"Times are over {total:,} positions of the {summary['common_cases']:,} of {summary['cases']:,} cases "
        "whose valid texts every engine accepts."
    )
    return f"{numbers_table(titles, rows)}\n\n{note}"


def table(rows: list[list[str]]) -> str:
    """Rows of cells as Markdown; the second row says how the columns are aligned."""
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def numbers_table(titles: list[str], rows: list[list[str]]) -> str:
    """A table whose first column is text and whose others are figures."""
    return table([titles, ["---", *["---:"] * (len(titles) - 1)], *rows])


_COUNTS: list[tuple[str, Callable[[dict[str, int]], str]]] = [
    ("grammars compiled", lambda a: f"{a['compiled']:,} of {a['cases']:,}"),
    ("valid texts refused", lambda a: f"{a['valid_refused']:,} of {a['valid']:,}"),
    ("invalid texts accepted", lambda a: f"{a['invalid_accepted']:,} of {a['invalid']:,}"),
    ("errors while masking", lambda a: f"{a['errors']:,}"),
]


def common(results: list[dict[str, Result]]) -> list[dict[str, Result]]:
    """The cases whose valid texts every engine accepts."""
    return [row for row in results if all(result.accepts_all_valid for result in row.values())]


def mask_nanoseconds(rows: list[dict[str, Result]], name: str, *, invalid: bool = False) -> list[int]:
    """The times of all positions of valid texts, and if asked for those of invalid ones as far as they are accepted."""
    walks = [walk for row in rows for walk in row[name].walks if walk.valid or invalid]
    return [t for walk in walks for t in walk.nanoseconds]


def first_nanoseconds(rows: list[dict[str, Result]], name: str) -> list[int]:
    return [row[name].first_mask_nanoseconds for row in rows]


def figures(nanoseconds: list[int]) -> dict[str, float]:
    """Average, percentiles and maximum in microseconds, and how many there are; empty for no times."""
    if not nanoseconds:
        return {}
    times = np.array(nanoseconds, dtype=np.float64) / 1e3
    points = np.percentile(times, list(PERCENTILES.values()))
    return {
        "count": len(times),
        "avg": float(times.mean()),
        **dict(zip(PERCENTILES, map(float, points), strict=True)),
        "max": float(times.max()),
    }


def _answers(results: list[dict[str, Result]], name: str) -> dict[str, int]:
    rows = [row[name] for row in results]
    walks = [walk for row in rows for walk in row.walks]
    return {
        "cases": len(rows),
        "compiled": sum(row.refusal is None for row in rows),
        "errors": sum(row.error is not None for row in rows),
        "valid": sum(walk.valid for walk in walks),
        "valid_refused": sum(walk.valid and not walk.accepted for walk in walks),
        "invalid": sum(not walk.valid for walk in walks),
        "invalid_accepted": sum(not walk.valid and walk.accepted for walk in walks),
    }


def number(value: float | None) -> str:
    """Three digits or all before the point; a dash for None."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _ratio(other: float | None, own: float | None) -> str:
    return f"{other / own:.1f}x" if other and own else "–"


_PANELS = (("mask + commit", mask_nanoseconds), ("first mask", first_nanoseconds))


def save_plot(results: list[dict[str, Result]], path: Path) -> None:
    """Draw how many positions, and how many first masks, take longer than a time, by engine.

    The ending of `path` names the format. Both axes are logarithmic.
    """
    from matplotlib.figure import Figure

    rows = common(results)
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    for axes, (title, nanoseconds) in zip(figure.subplots(1, len(_PANELS)), _PANELS, strict=True):
        for name in results[0] if results else ():
            times = np.sort(np.array(nanoseconds(rows, name), dtype=np.float64))[::-1] / 1e3
            axes.plot(times, np.arange(1, len(times) + 1) / max(1, len(times)), label=name, drawstyle="steps-pre")
        axes.set(title=title, xscale="log", yscale="log", xlabel="µs", ylabel="part that takes at least so long")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend()
    figure.savefig(path)
