"""How long `cfgmask check` takes for grammars of some 500 lines, beyond its start.

All in one warm process; each part is the least thread time of the runs, in milliseconds.

Example: python benchmarks/checking.py --runs 30
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

import cfgmask
from cfgmask.analysis import find
from cfgmask.cli.stand_in import stand_in_vocabulary
from library import report

T = TypeVar("T")

GRAMMARS = Path(__file__).resolve().parent.parent / "grammars"
# These are mostly JSON Schema, have parameters or options that the others have not, or are long regexes alone.
LEFT_OUT = ("formats", "markdown_table", "python", "thinking", "tool_call", "yaml")

LANGUAGE = r"""
statement_#: "let" NAME_# "=" sum_# ";" -> let
    | "if" "(" sum_# ")" "{" statement_#* "}" ["else" "{" statement_#* "}"]
    | call_# ";"
call_#: NAME_# "(" [sum_# ("," sum_#)*] ")"
sum_#: product_# (("+" | "-") product_#)*
product_#: value_# (("*" | "/") value_#)*
value_#: NUMBER_# | STRING_# | NAME_# | call_# | "(" sum_# ")" | "-" value_#
NAME_#: /[a-z_][a-z0-9_]{0,30}/
NUMBER_#: /[0-9]+(\.[0-9]+)?/
STRING_#: "\"" /[^"\\\n]*/ "\""
"""

_TOKEN = re.compile(r'(?P<quoted>"(?:\\.|[^"\\])*"|/(?!/)(?:\\.|[^/\\\n])+/)|//.*|(?P<name>[A-Za-z_]\w*)')
_IMPORT = re.compile(r"^%import \.(\w+) \((.*)\)\n?", re.MULTILINE)
_COMMON = re.compile(r"^%import common\.(\w+)(?: -> (\w+))?\n?", re.MULTILINE)
_OPTIONS = re.compile(r"^%cfgmask .*\n?", re.MULTILINE)


def languages(n: int) -> str:
    """A choice of `n` small languages, all alike."""
    return f"start: {_choice(n)}\n{_languages(n)}" + '%ignore " "\n'


def repository() -> str:
    """The grammars of this repository in one, each with names of its own and without comments, and some languages."""
    paths = [path for path in sorted(GRAMMARS.glob("*.lark")) if not path.stem.startswith(LEFT_OUT)]
    choice = "\n    | ".join([*(f'"{path.stem}:" start__{path.stem}' for path in paths), _choice(6)])
    imports = "%import common (CNAME, WS_INLINE)\n"
    return f"start: {choice}\n{imports}{_languages(6)}" + "".join(map(_with_own_names, paths))


def _choice(n: int) -> str:
    return "\n    | ".join(f'"language{i}" statement_{i}+' for i in range(n))


def _languages(n: int) -> str:
    return "".join(LANGUAGE.replace("#", str(i)) for i in range(n))


def _with_own_names(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    names = {name: _of(module, name) for module, listed in _IMPORT.findall(text) for name in listed.split(", ")}
    names |= {alias or name: name for name, alias in _COMMON.findall(text)}

    def renamed(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None:
            return found["quoted"] or ""
        is_plain = text[found.start() - 1] in '%"/'  # a keyword, or flags
        return name if is_plain else names.get(name, _of(path.stem, name))

    for statement in (_IMPORT, _COMMON, _OPTIONS):
        text = statement.sub("", text)
    return "".join(f"{line}\n" for line in _TOKEN.sub(renamed, text).splitlines() if line.strip())


def _of(module: str, name: str) -> str:
    return f"{name}__{module.upper() if name.isupper() else module}"


def parts(text: str) -> dict[str, float]:
    """Milliseconds of thread time, by what they went to."""
    taken: dict[str, float] = {}

    def timed(part: str, function: Callable[[], T]) -> T:
        begin = time.thread_time_ns()
        result = function()
        taken[part] = (time.thread_time_ns() - begin) / 1e6
        return result

    grammar = timed("reading", lambda: cfgmask.Grammar.from_lark(text))
    vocabulary = timed("vocabulary", lambda: stand_in_vocabulary(grammar))
    compiled = timed("compiling", lambda: cfgmask.compile(grammar, vocabulary))
    timed("analyses", lambda: find(grammar.ir, compiled))
    return taken


@click.command(help=__doc__)
@click.option("--runs", type=click.IntRange(min=1), default=20, show_default=True)
def main(runs: int) -> None:
    gc.disable()
    rows = []
    for name, text in (("small languages", languages(43)), ("grammars/", repository())):
        of_runs = [parts(text) for _ in range(runs)]
        least = [min(taken[part] for taken in of_runs) for part in of_runs[0]]
        all_of_it = min(sum(taken.values()) for taken in of_runs)
        rows.append([name, f"{len(text.splitlines())}", *(f"{t:.1f}" for t in (*least, all_of_it))])
    click.echo(report.numbers_table(["", "lines", *of_runs[0], "all"], rows))


if __name__ == "__main__":
    main()
