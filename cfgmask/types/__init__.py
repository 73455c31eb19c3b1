"""Python types to JSON Schema. `schema_of` is the whole interface; what it reads is told in `schema`."""

from cfgmask.types.schema import schema_of

__all__ = ["schema_of"]
