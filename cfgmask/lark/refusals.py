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


REFUSALS: dict[str, Refusal] = {
    "rule_parameter": _unsupported("parameter", "parametric rules (`::`)"),
    "parametric_use": _unsupported("parameter", "parametric rules (`::`)"),
    "condition": _unsupported("condition", "conditions on alternatives (`%if`)"),
    "lark_block": _unsupported("nested-lark", "nested grammars (`%lark`)", "write its rules into this grammar"),
    "subgrammar": _unsupported("subgrammar", "references to other grammars (`@name`)"),
}
"""By the name that the construct has in `syntax.lark`."""
