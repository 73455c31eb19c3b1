"""The option `--option NAME=VALUE` of the commands that read grammars: how a JSON Schema is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from cfgmask.suggest import did_you_mean

Command = TypeVar("Command", bound=Callable[..., object])

_NUMBERS = ("indent", "max_digits")
_NO_NUMBER = "none"


def _read(context: click.Context, parameter: click.Parameter, written: tuple[str, ...]) -> dict[str, Any]:
    """The fields of `JsonSchemaOptions` that the command line sets. Raises click.BadParameter."""
    if not written:
        return {}
    # Grammars in Lark need not wait for what reads schemas.
    from cfgmask.json_schema import JsonSchemaOptions

    known = [field.name for field in fields(JsonSchemaOptions)]
    options: dict[str, Any] = {}
    for one in written:
        name, equals, value = one.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise click.BadParameter(f"{one!r} is not NAME=VALUE", context, parameter)
        if name not in known:
            help = did_you_mean(name, known) or f"the options are {', '.join(known)}"
            raise click.BadParameter(f"there is no option {name!r}: {help}", context, parameter)
        if name in options:
            raise click.BadParameter(f"{name} is given twice", context, parameter)
        options[name] = _number(value) if name in _NUMBERS else value
    try:
        JsonSchemaOptions(**options)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None
    return options


def _number(value: str) -> int | str | None:
    """None for `none`; what is no number is left for the options to refuse."""
    if value.lower() == _NO_NUMBER:
        return None
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else value


def schema_option(command: Command) -> Command:
    """Adds the option, passed to the command as `options`, a dict of the fields of `JsonSchemaOptions`."""
    return click.option(
        "--option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_read,
        help="How a JSON Schema is read, as property_order=any or syntax=yaml; may be repeated.",
    )(command)


def check_schema_options(file: Path, options: dict[str, Any]) -> None:
    """Raises click.UsageError where the options are for something else than a schema."""
    if options and file.suffix != ".json":
        raise click.UsageError("--option is for JSON Schemas, whose names end in .json")
