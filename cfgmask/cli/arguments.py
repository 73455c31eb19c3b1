"""Arguments that several commands share, and what becomes of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import cfgmask
from cfgmask import grammars
from cfgmask.demo import model_path
from cfgmask.diagnostics import quoted

Command = TypeVar("Command", bound=Callable[..., object])


class _GrammarFile(click.Path):
    """A grammar's file, or the name of one that comes with cfgmask.

    The suffix of a file says what it holds, so stdin, which has none, is rejected with a reason.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            message = "a grammar is read from a file, whose name ends in .lark, .gbnf or .json, not from stdin"
            self.fail(message, param, ctx)
        if value in grammars.names() and not Path(value).exists():
            return grammars.path(value)
        return super().convert(value, param, ctx)


GRAMMAR_FILE = _GrammarFile(exists=True, dir_okay=False, readable=True, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
FILE_OR_STDIN = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)


# The option `--start`, passed to the command as `start`.
start_option = click.option(
    "--start", metavar="RULE", help="The rule that every text is.  [default: start, in GBNF root]"
)


def json_option(what: str) -> Callable[[Command], Command]:
    """The option `--json`, passed to the command as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as JSON.")


def read_vocabulary(path: Path | None) -> cfgmask.Vocabulary:
    """The vocabulary of a GGUF file, or one that `Vocabulary.save` wrote; the demo model's if there is none."""
    path = path or model_path()
    with path.open("rb") as file:
        is_saved = file.read(1) == b"{"
    return cfgmask.Vocabulary.load(path) if is_saved else cfgmask.Vocabulary.from_gguf(path)


def token_named(value: str, vocabulary: cfgmask.Vocabulary) -> int:
    """The token that the command line means: digits are an id, which may lie beyond the vocabulary, all else a text.

    Raises click.BadParameter for a text that is no token.
    """
    if value.isascii() and value.isdecimal():
        return int(value)
    if value in vocabulary.special_tokens:
        return vocabulary.special_tokens[value]
    data = text_bytes(value)
    if not data or data not in vocabulary.tokens:
        raise click.BadParameter(f"no token of the vocabulary is {quoted(data)}", param_hint="--why")
    return vocabulary.tokens.index(data)


def read_bytes(path: str) -> bytes:
    """The whole file; `-` is stdin."""
    return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()


def text_bytes(text: str) -> bytes:
    """The bytes that stood on the command line, also where they are not valid in the locale's encoding."""
    return os.fsencode(text)
