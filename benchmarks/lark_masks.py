"""Masks and first masks over Lark grammars: those of grammars/ with their own texts, or a folder laid out like it.

Example: python benchmarks/lark_masks.py --vocab tokenizer.model --engine cfgmask --engine llguidance
"""

from __future__ import annotations

from pathlib import Path

import click

import cases
import runner

HERE = Path(__file__).resolve().parent


@click.command(help=__doc__)
@click.option(
    "--grammars",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=HERE.parent / "grammars",
    help="A folder of NAME.lark files with texts in NAME/accept/ and NAME/refuse/.",
)
@runner.options
def main(grammars: Path, **options: object) -> None:
    runner.run_cases(cases.read_grammars(grammars), **options)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
