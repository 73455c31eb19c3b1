"""How a command ends when something is wrong: diagnostics and an exit code, never a traceback."""

from __future__ import annotations

import sys
from typing import Any

import click

from cfgmask.cli.output import print_diagnostics, print_json
from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import BudgetTooSmall, CfgmaskError, GrammarError, LimitExceeded, VocabularyError

PROBLEM = 1
MISUSE = 2


class ReportingCommand(click.Command):
    """A command that turns what cfgmask raises into diagnostics and exit code 1; files that cannot be read are misuse.

    With `--json` (the parameter `as_json`) the diagnostics are one document on stdout, else text on stderr.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Broken pipes are left to click, which ends quietly."""
        try:
            return super().invoke(ctx)
        except CfgmaskError as error:
            if ctx.params.get("as_json"):
                print_json({"ok": False, "diagnostics": [d.to_json() for d in diagnostics_of(error)]})
            else:
                print_diagnostics(diagnostics_of(error), sys.stderr)
            ctx.exit(MISUSE if isinstance(error, VocabularyError) else PROBLEM)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise click.UsageError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def diagnostics_of(error: CfgmaskError) -> tuple[Diagnostic, ...]:
    """What there is to say about an error of cfgmask; one diagnostic for those that carry none."""
    if isinstance(error, GrammarError):
        return error.diagnostics
    code, help = "error", None
    if isinstance(error, LimitExceeded):
        code = "limit-exceeded"
    elif isinstance(error, BudgetTooSmall):
        code, help = "budget-too-small", "allow more with --max-tokens, or a longer --context"
    elif isinstance(error, VocabularyError):
        code = "vocabulary-unusable"
    return (Diagnostic(code, str(error), help=help),)
