"""Types as Pydantic reads them. Imported only where Pydantic is installed."""

from __future__ import annotations

import functools
import inspect
import json
import types
from typing import Any, Literal

from pydantic import VERSION, TypeAdapter
from pydantic.errors import PydanticUserError

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.types.json_schema import TypeSchema
from cfgmask.types.read import ReadType

# Before 2.10 the generator of JSON Schema lacks methods that `TypeSchema` calls; before 2.12 annotations of functions
# are not looked up in their own module.
_OLDEST = (2, 12)
if tuple(int(part) for part in VERSION.split(".")[:2]) < _OLDEST:
    raise ImportError(f"from_type needs Pydantic 2.12 or later, and this is {VERSION}: pip install 'cfgmask[types]'")

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)


def read_by_pydantic(kind: Any, name: str, dialect: Literal["ecma", "python", "rust"] | None) -> ReadType:
    """Read a type, or the arguments of a function. Errors: GrammarError."""
    made: list[TypeSchema] = []

    def generator(**options: Any) -> TypeSchema:
        made.append(TypeSchema(name, **options))
        return made[-1]

    try:
        adapter = TypeAdapter(_binding(kind) if isinstance(kind, _FUNCTIONS) else kind)
        schema = adapter.json_schema(schema_generator=generator)
    except Exception as error:  # Pydantic has no one base of what reading a type can raise
        raise GrammarError([_unsupported(name, error)]) from error
    if made[-1].problems:
        raise GrammarError(made[-1].problems)
    schema, found = made[-1].finished(schema, dialect)

    def instance(value: Any, text: bytes | None) -> Any:
        return adapter.validate_json(json.dumps(value) if text is None else text)

    return ReadType(schema, tuple(made[-1].notes), found, instance)


def _binding(function: Any) -> Any:
    """A function with the same arguments that binds them instead: Pydantic calls what it validates."""
    signature = inspect.signature(function)
    target = function.func if isinstance(function, functools.partial) else function

    @functools.wraps(target)
    def bind(*arguments: Any, **keywords: Any) -> inspect.BoundArguments:
        return signature.bind(*arguments, **keywords)

    bind.__signature__ = signature  # type: ignore[attr-defined]  # as `inspect` documents it
    return bind


def _unsupported(name: str, error: Exception) -> Diagnostic:
    text = error.message if isinstance(error, PydanticUserError) else str(error)
    first = text.strip().partition("\n")[0].removesuffix(".")
    # After its first sentence Pydantic speaks of what a model could do to accept any object.
    first = first.partition(". Set `arbitrary_types_allowed")[0]
    why = "" if first == f"Unable to generate pydantic-core schema for {name}" else f": {first:.300}"
    return Diagnostic("type-unsupported", f"{name:.60}: Pydantic cannot read it{why}")
