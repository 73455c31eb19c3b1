"""Masks and first masks over JSON Schemas, each installed engine beside cfgmask in one process.

Engines alternate schema by schema over one vocabulary, and their answers are counted in the same run.

Example: python benchmarks/masks.py --data maskbench.jsonl.gz --vocab tokenizer.model --limit 500 --json out.json
"""

from __future__ import annotations

from pathlib import Path

import click

from library import cases, runner

HERE = Path(__file__).resolve().parent


@click.command(help=__doc__)
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    default=HERE / "data" / "schemas.jsonl",
    help="A .jsonl or .jsonl.gz file of cases, or a MaskBench folder; by default a few schemas of everyday use.",
)
@runner.options
def main(data: Path, **options: object) -> None:
    runner.run_cases(cases.read_schemas(data), **options)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
