"""The command `cfgmask`: one file a subcommand."""

from cfgmask.cli.application import main

__all__ = ["main"]
