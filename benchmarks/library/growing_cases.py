"""Cases of any size: grammars that grow, and texts that grow."""

from __future__ import annotations

from library.cases import Case, compact, lark_case, schema_case


def properties(n: int) -> Case:
    """A schema of `n` properties, all in its one text."""
    names = [f"property_{i}" for i in range(n)]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, "required": names}
    return schema_case(f"{n:,} properties", schema, dict.fromkeys(names, 1))


def optional(n: int) -> Case:
    """A schema of `n` properties that need not be there, every tenth of them in its text."""
    names = [f"property_{i}" for i in range(n)]
    properties = {name: {"type": "integer", "description": "how many there are"} for name in names}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema_case(f"{n:,} optional", schema, dict.fromkeys(names[::10], 1))


def objects(n: int) -> Case:
    """A schema of `n` alternatives, each an object with properties of its own, with a text of the last one."""
    names = [[f"property_{i}_{letter}" for letter in "abc"] for i in range(n)]
    alternatives = [
        {"type": "object", "properties": {name: {"type": "null"} for name in own}, "additionalProperties": False}
        for own in names
    ]
    return schema_case(f"{n:,} objects", {"anyOf": alternatives}, dict.fromkeys(names[-1]))


def rules(n: int) -> Case:
    """A Lark grammar of `n` kinds of statement, with a text of one each."""
    kinds = "\n".join(f'rule_{i}: "command{i}" NAME ";"' for i in range(n))
    choice = " | ".join(f"rule_{i}" for i in range(n))
    source = f'start: ({choice})+\n{kinds}\nNAME: /[a-z]{{1,20}}/\n%ignore " "\n'
    return lark_case(f"{n:,} rules", source, "".join(f"command{i} name;" for i in range(n)))


def records(n_bytes: int) -> Case:
    """A JSON array of objects, of about `n_bytes`."""
    properties = {"id": {"type": "integer"}, "name": {"type": "string"}, "price": {"type": "number"}}
    item = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    record = {"id": 12, "name": "a lamp that is blue", "price": 12.5}
    records = [record] * max(1, n_bytes // (len(compact(record)) + 1))
    return schema_case(f"JSON, {n_bytes:,} bytes", {"type": "array", "items": item}, records)


ARITHMETIC = """
start: sum
sum: product (("+" | "-") product)*
product: value (("*" | "/") value)*
value: NUMBER | "(" sum ")" | "-" value
NUMBER: /[0-9]{1,12}(\\.[0-9]{1,12})?/
%ignore " "
"""


def sums(n_bytes: int) -> Case:
    """An arithmetic expression of about `n_bytes`."""
    part = "(1 + 2.5) * -3"
    text = " + ".join([part] * max(1, n_bytes // (len(part) + 3)))
    return lark_case(f"arithmetic, {n_bytes:,} bytes", ARITHMETIC, text)
