"""What `syntax.lark` can read and cfgmask does not support: each construct with its code, its words and its help."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """The diagnostic of a construct, but for its place."""

    code: str
    message: str
    help: str | None = None


def _unsupported(what: str, construct: str, help: str | None = None) -> Refusal:
    return Refusal(f"lark-unsupported-{what}", f"{construct} are not supported", help)


REFUSALS: dict[str, Refusal] = {}
"""By the name that the construct has in `syntax.lark`."""
