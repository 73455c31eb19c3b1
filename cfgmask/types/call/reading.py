"""From a constructor call to the instance, without `eval`: a walk over the syntax tree, guided by the shape.

Nothing is looked up by a name of the text: a call, an attribute or a name counts only where it is spelled as the shape
has it, and what is called then is what the shape holds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cfgmask.types.call.tree import Call, Field, Fixed, Items, Leaf, Names, OneOf, Pairs, Record, Shape, too_deep


def read_call(shape: Shape, written: str) -> Any:
    """The value that a text means.

    Errors: ValueError for a text that is not of the shape, and what constructors raise; LimitExceeded for values too
    deep in each other for Python's parser.
    """
    try:
        tree = ast.parse(written, mode="eval").body
    except (RecursionError, MemoryError):
        raise too_deep() from None
    except SyntaxError as error:
        if "nested" in str(error):
            raise too_deep() from None
        raise ValueError(f"the text is no expression of Python: {error.msg}") from None
    return _read(shape, tree)


def _read(shape: Shape, node: ast.expr) -> Any:
    return _READERS[type(shape)](shape, node)


def _leaf(shape: Leaf, node: ast.expr) -> Any:
    return shape.instance(literal_of(node))


def literal_of(node: ast.expr) -> Any:
    """The value of JSON that a literal stands for. Raises ValueError for anything else."""
    if isinstance(node, ast.Constant) and (node.value is None or type(node.value) in (bool, int, float, str)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return -number
    elif isinstance(node, ast.List):
        return [literal_of(item) for item in node.elts]
    elif isinstance(node, ast.Dict):
        return {literal_of(key): literal_of(value) for key, value in _pairs(node)}
    raise _not_expected(node)


def _names(shape: Names, node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        written = f"{node.value.id}.{node.attr}"
        if written in shape.members:
            return shape.members[written]
    raise _not_expected(node)


def _items(shape: Items, node: ast.expr) -> Any:
    items: list[ast.expr] | None = None
    if (
        (shape.written == "list" and isinstance(node, ast.List))
        or (shape.written == "tuple" and isinstance(node, ast.Tuple))
        or (shape.written == "set" and isinstance(node, ast.Set))
    ):
        items = node.elts
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == shape.written:
        if not node.keywords and not node.args:
            items = []
        elif not node.keywords and len(node.args) == 1 and isinstance(node.args[0], ast.Set):
            items = node.args[0].elts
    if items is None:
        raise _not_expected(node)
    return shape.make([_read(shape.item, item) for item in items])


def _fixed(shape: Fixed, node: ast.expr) -> Any:
    if not isinstance(node, ast.Tuple) or len(node.elts) != len(shape.items):
        raise _not_expected(node)
    return tuple(_read(part, item) for part, item in zip(shape.items, node.elts, strict=True))


def _pairs(node: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if not isinstance(node, ast.Dict):
        raise _not_expected(node)
    found = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise _not_expected(node)
        found.append((key, value))
    return found


def _dict(shape: Pairs, node: ast.expr) -> Any:
    return shape.make({_read(shape.key, key): _read(shape.value, value) for key, value in _pairs(node)})


def _record(shape: Record, node: ast.expr) -> Any:
    fields = {field.name: field for field in shape.fields}
    found = {}
    for key, value in _pairs(node):
        name = literal_of(key)
        if name not in fields:
            raise _not_expected(key)
        found[name] = _read(fields[name].shape, value)
    if any(field.required and field.name not in found for field in shape.fields):
        raise _not_expected(node)
    return found


def _call(shape: Call, node: ast.expr) -> Any:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != shape.name:
        raise _not_expected(node)
    places: list[Field] = [field for field in shape.fields if field.positional]
    fields = {field.name: field for field in shape.fields}
    if len(node.args) > len(places):
        raise _not_expected(node)
    arguments = [_read(field.shape, argument) for field, argument in zip(places, node.args, strict=False)]
    keywords = {}
    for each in node.keywords:
        if each.arg is None or each.arg not in fields or each.arg in keywords:
            raise _not_expected(node)
        keywords[each.arg] = _read(fields[each.arg].shape, each.value)
    return shape.make(*arguments, **keywords)


def _one_of(shape: OneOf, node: ast.expr) -> Any:
    for part in shape.parts:
        try:
            return _read(part, node)
        except (ValueError, TypeError):
            continue
    raise _not_expected(node)


def _not_expected(node: ast.expr) -> ValueError:
    return ValueError(f"`{ast.unparse(node)[:60]}` does not belong there, at character {node.col_offset}")


_READERS: dict[type, Callable[[Any, ast.expr], Any]] = {
    Leaf: _leaf,
    Names: _names,
    Items: _items,
    Fixed: _fixed,
    Pairs: _dict,
    Record: _record,
    Call: _call,
    OneOf: _one_of,
}
