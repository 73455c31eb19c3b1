"""What stands beside a type in `Annotated`, as keywords of JSON Schema."""

from __future__ import annotations

from typing import Any

# Attributes that constraints of `annotated_types` and pydantic have: what each means for which types.
_NUMBERS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}


class NotAConstraint(Exception):
    """What a schema cannot say; the message goes on after its name."""


def keywords_of(constraint: Any, kind: str | None) -> dict[str, Any]:
    """The keywords of a constraint on a schema of this type; none of a text, which is a comment, and of None.

    Raises NotAConstraint.
    """
    # pydantic's `conint` has a None for each constraint that it was not given.
    if constraint is None or isinstance(constraint, str):
        return {}
    # pydantic's Field keeps its constraints in a list.
    if isinstance(getattr(constraint, "metadata", None), list):
        keywords: dict[str, Any] = {}
        for part in constraint.metadata:
            keywords |= keywords_of(part, kind)
        return keywords
    known = dict(_NUMBERS) if kind in ("integer", "number") else dict(_LENGTHS.get(kind or "", {}))
    if kind == "string":
        known["pattern"] = "pattern"
    names = [name for name in (*_NUMBERS, "min_length", "max_length", "pattern") if _has(constraint, name)]
    if not names:
        raise NotAConstraint("is not a constraint that a schema can hold")
    wrong = [name for name in names if name not in known]
    if wrong:
        raise NotAConstraint(f"does not apply here: there is no `{wrong[0]}` of such values")
    return {known[name]: getattr(constraint, name) for name in names}


def _has(constraint: Any, name: str) -> bool:
    value = getattr(constraint, name, None)
    return isinstance(value, str) if name == "pattern" else isinstance(value, (int, float))
