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
    "declare": _unsupported("declare", "declared terminals (`%declare`)", "define the terminal with a regex"),
    "override": _unsupported("override", "overriding definitions (`%override`)"),
    "extend": _unsupported("extend", "extending definitions (`%extend`)", "write all alternatives in one definition"),
    "foreign_options": _unsupported(
        "llguidance", "options of llguidance (`%llguidance`)", "remove it, or choose an option of `%cfgmask {...}`"
    ),
    "rule_parameter": _unsupported("parameter", "parametric rules (`::`)"),
    "parametric_use": _unsupported("parameter", "parametric rules (`::`)"),
    "condition": _unsupported("condition", "conditions on alternatives (`%if`)"),
    "lark_block": _unsupported("nested-lark", "nested grammars (`%lark`)", "write its rules into this grammar"),
    "subgrammar": _unsupported("subgrammar", "references to other grammars (`@name`)"),
}
"""By the name that the construct has in `syntax.lark`."""

RELATIVE_IMPORT = _unsupported("import", "imports from files (`%import .name`)", "copy the definitions")
OTHER_IMPORT = _unsupported("import", "imports from modules other than `common`", "copy the definitions")
