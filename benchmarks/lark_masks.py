"""Masks and first masks over Lark grammars: those of grammars/ with their tests' texts, or others laid out like them.

Example: python benchmarks/lark_masks.py --vocab tokenizer.model --engine cfgmask --engine llguidance
"""

from __future__ import annotations

from pathlib import Path

import click

from library import cases, growing_cases, runner

ROOT = Path(__file__).resolve().parent.parent


@click.command(help=__doc__)
@click.option(
    "--grammars",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=ROOT / "grammars",
    help="The folder of the .lark files that the tables name.",
)
@click.option(
    "--tables",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=ROOT / "tests" / "grammars",
    help='A folder of .json files: {"grammar": "NAME.lark", "accept": [texts], "refuse": [texts]}.',
)
@click.option(
    "--long",
    "n_bytes",
    type=click.IntRange(min=0),
    default=100_000,
    show_default=True,
    help="Size of an arithmetic text that is measured too; 0 for none.",
)
@runner.options
def main(grammars: Path, tables: Path, n_bytes: int, **options: object) -> None:
    long = [growing_cases.sums(n_bytes)] if n_bytes else []
    runner.run_cases([*cases.read_grammars(grammars, tables), *long], **options)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
