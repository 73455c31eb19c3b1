"""Where the instructions of masks go, counted by callgrind: where times scatter, these repeat.

Needs valgrind and a core with symbols, which `cmake -DCMAKE_BUILD_TYPE=RelWithDebInfo` builds.

Example: python benchmarks/instructions.py --data maskbench.jsonl.gz --vocab tokenizer.model --limit 20
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

import cfgmask
from library import cases, report, runner, vocabularies

SCHEMAS = Path(__file__).resolve().parent / "data" / "schemas.jsonl"

# What is counted: what a call of Python does in the core. None of them calls another.
ENTRIES = (
    "cfgmask::Matcher::fill_known_mask",
    "cfgmask::Matcher::next_mask",
    "cfgmask::NextMask::write",
    "cfgmask::Matcher::advance",
)
# Parts of it, by the functions where they begin; a part may be inside of another.
PARTS = {
    "`fill_mask`: find a mask that is not known": "cfgmask::Matcher::next_mask",
    "`fill_mask`: write it": "cfgmask::Mask::write",
    "`advance`": "cfgmask::Matcher::advance",
    "new tables of lexer states": "cfgmask::LexerTables::make",
    "walks of what follows a lexeme": "cfgmask::CompiledGrammar::add_longest",
    "item sets": "cfgmask::Parser::scan",
    "new lexer states": "cfgmask::Lexer::compute_next",
    "derivatives": "cfgmask::RegexStore::derivative",
    "questions of emptiness": "cfgmask::RegexStore::is_empty",
    "allocations": "malloc",
}
_LINE = re.compile(r"\s*(?P<count>[\d,]+)\s+\([^)]*\)\s+\S*?:(?P<name>.*)")


@click.command(help=__doc__)
@click.option("--data", type=click.Path(exists=True, path_type=Path), default=SCHEMAS, help="Schemas and their texts.")
@runner.vocab_option
@runner.limit_option
def main(data: Path, vocab: Path, limit: int | None) -> None:
    if shutil.which("valgrind") is None:
        raise click.ClickException("valgrind is not installed; it is a package of most systems")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        positions = _prepare(work, data, vocab, limit)
        found = work / "callgrind.out"
        toggles = [f"--toggle-collect={entry}*" for entry in ENTRIES]
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={found}", *toggles]
        _output([*command, sys.executable, "-c", _COUNTED, folder])
        counts = inclusive_counts(_output(["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(found)]))
    if not any(name.startswith("cfgmask::") for name in counts):
        raise click.ClickException("the core has no symbols; build it with -DCMAKE_BUILD_TYPE=RelWithDebInfo")
    click.echo(f"{positions:,} positions.\n")
    click.echo(table(counts, positions))


# What valgrind runs, fifty times slower than it would run alone: everything that needs no counting is done before.
_COUNTED = """
import json, pathlib, sys
import numpy, cfgmask
folder = pathlib.Path(sys.argv[1])
vocabulary = cfgmask.Vocabulary.load(folder / "vocabulary")
row = numpy.zeros((vocabulary.n_vocab + 31) // 32, dtype=numpy.int32)
for source, texts in json.loads((folder / "texts.json").read_text()):
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(source), vocabulary)
    for tokens in texts:
        matcher = compiled.matcher()
        for token in tokens:
            matcher.fill_mask(row)
            matcher.advance(token)
"""


def _prepare(folder: Path, data: Path, vocab: Path, limit: int | None) -> int:
    """Write what is run: a vocabulary, schemas, and the tokens of their valid texts. How many tokens there are."""
    known = vocabularies.load(vocab)
    known.vocabulary.save(folder / "vocabulary")
    prepared = []
    for case in cases.sample(cases.read_schemas(data), limit):
        try:
            compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(case.source), known.vocabulary)
        except (cfgmask.GrammarError, cfgmask.LimitExceeded):
            continue
        texts = [known.encode(instance.text) for instance in case.instances if instance.valid]
        texts = [tokens for tokens in texts if compiled.matcher().try_advance(tokens) == len(tokens)]
        prepared.append((case.source, texts))
    (folder / "texts.json").write_text(json.dumps(prepared))
    return sum(len(tokens) for _, texts in prepared for tokens in texts)


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise click.ClickException(done.stderr)
    return done.stdout


def inclusive_counts(annotated: str) -> dict[str, int]:
    """Instructions by function, those of its callees included, from callgrind_annotate's lines.

    A function that calls itself has several lines; the largest holds all of them.
    """
    counts: dict[str, int] = {}
    for line in annotated.splitlines():
        found = _LINE.fullmatch(line)
        if found:
            name = re.split(r"[('\[]", found["name"], maxsplit=1)[0].strip()
            counts[name] = max(counts.get(name, 0), int(found["count"].replace(",", "")))
    return counts


def table(counts: dict[str, int], positions: int) -> str:
    """Parts by their instructions a position, and of all that is counted."""
    whole = sum(counts.get(entry, 0) for entry in ENTRIES)
    rows = []
    for part, name in PARTS.items():
        count = counts.get(name, 0)
        rows.append([part, f"{count / positions:,.0f}", f"{count / whole:.1%}"])
    rows.append(["all", f"{whole / positions:,.0f}", "100%"])
    return report.numbers_table(["", "instructions a position", "of all"], rows)


if __name__ == "__main__":
    main()
