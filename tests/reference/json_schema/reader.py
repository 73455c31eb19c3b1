"""What the readers of keywords need from the normaliser that drives them."""

from __future__ import annotations

from typing import Protocol

from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.resolve import Schemas
from cfgmask.limits import Limits
from tests.reference.json_schema.normal_form import Conjunction, Normal


class Reader(Protocol):
    """Access to the rest of the schema. `normal` may only be asked for schemas that apply to the same value or key."""

    @property
    def schemas(self) -> Schemas:
        """The places of the document."""

    @property
    def options(self) -> JsonSchemaOptions:
        """What the caller chose."""

    @property
    def limits(self) -> Limits:
        """The bounds on hostile schemas."""

    def conjunction(self, node: Node) -> Conjunction:
        """A schema as a conjunction."""

    def normal(self, conjunction: Conjunction) -> Normal:
        """The normal form of a conjunction."""
