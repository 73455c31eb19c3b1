"""Python types: the JSON that stands for their values, and the values of such JSON.

Pydantic reads the types (`pydantic_reader`). Where it is not installed, `plain_reader` reads enums, Literal and
dataclasses of JSON's own types, and says of everything else what to install.
"""

from cfgmask.types.read import ReadType, read_type

__all__ = ["ReadType", "read_type", "schema_of"]


def schema_of(kind: object) -> dict[str, object]:
    """The JSON Schema of a type. Errors: those of `read_type`."""
    return read_type(kind).schema
