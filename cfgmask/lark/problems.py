"""Collects the diagnostics of one Lark grammar."""

from __future__ import annotations

from cfgmask import problems


class Problems(problems.Problems):
    """`cfgmask.problems.Problems` with the code of this front end."""

    def __init__(self) -> None:
        super().__init__("lark-too-many-errors")
