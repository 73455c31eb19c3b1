"""Sets of values in a form of arguments, for a vocabulary without some bytes.

Which values can be written in JSON is known before any are counted (writable.py). The other forms write the same values
in other bytes, after that. So there a set that must have certain values, or enough different ones, is an error if the
vocabulary cannot write some of its values: nothing might be left that it still asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfgmask.diagnostics import Diagnostic, shortened
from cfgmask.grammar.ir import NO_STEP, GrammarIR, RuleRef, Terminal
from cfgmask.grammar.regex_tree import ByteClass, Complement, Intersection, JsonString, RegexTree, Repetition
from cfgmask.grammar.walk import walk
from cfgmask.json_schema import decide
from cfgmask.json_schema.options import JsonSchemaOptions, is_written_as_usual
from cfgmask.json_schema.session import current

_BEYOND_ASCII = frozenset((*range(0x80, 0xC0), *range(0xC2, 0xF5)))
_PRINTABLE = frozenset(range(0x20, 0x7F))
_UTF_8 = _BEYOND_ASCII.union(range(0x80))


def writes_all(held: bytes) -> bool:
    """Whether all text can be written in these bytes."""
    return _UTF_8.issubset(held)


def unwritten(grammar: GrammarIR, held: bytes, options: JsonSchemaOptions) -> list[Diagnostic]:
    """An error for a value that cannot be written in these bytes, in a set that may need it.

    Cost: linear in the rules, and two searches for each terminal in a set. Raises LimitExceeded.
    """
    if writes_all(held):
        return []
    written = Repetition(ByteClass(tuple((byte, byte) for byte in held)), 0, None)
    longer = _BEYOND_ASCII.intersection(held)
    # Strings of JSON have escapes for all that is no printable ASCII.
    has_escapes = is_written_as_usual(options) and _PRINTABLE.issubset(held) and longer in (frozenset(), _BEYOND_ASCII)
    sets = [rule.opens_set for rule in grammar.rules if rule.opens_set is not None]
    has_names = all(frozenset(held).issuperset(name.encode()) for bounds in sets for name in bounds.required)
    for terminal in dict.fromkeys(_in_sets(grammar)):
        if has_escapes and isinstance(terminal.regex, JsonString):
            continue
        lost = Intersection((terminal.regex, Complement(written)))
        if decide.is_empty(lost):
            continue
        if _suffices(terminal, Intersection((terminal.regex, written)), has_names):
            continue
        shown = shortened(repr((current().algebra.shortest(lost) or b"").decode(errors="replace")))
        message = f"this vocabulary cannot write {shown}, a value in a counted array or object"
        help = "use a vocabulary whose tokens contain all bytes, or leave out `uniqueItems` and the like"
        return [Diagnostic("schema-form-bytes", message, pointer="", help=help)]
    return []


def _suffices(terminal: Terminal, left: RegexTree, has_names: bool) -> bool:
    """Whether a set comes to its end with what is left of a terminal.

    has_names  whether all names that sets require can be written
    """
    if terminal.endless:
        return decide.is_endless(left)
    if terminal.distinct or terminal.step != NO_STEP:
        return has_names and decide.is_infinite(left)
    # No value of the set, but perhaps that of a key which it requires.
    return not decide.is_empty(left)


def _in_sets(grammar: GrammarIR) -> Iterator[Terminal]:
    """The terminals in rules that open a set, and in all that these call."""
    rules = {rule.name: rule for rule in grammar.rules}
    inside = {rule.name for rule in grammar.rules if rule.opens_set is not None and not rule.opens_set.endless}
    todo = list(inside)
    while todo:
        for expr in walk(rules[todo.pop()].body):
            if isinstance(expr, RuleRef) and expr.name not in inside:
                inside.add(expr.name)
                todo.append(expr.name)
    for rule in grammar.rules:
        for expr in walk(rule.body):
            if isinstance(expr, Terminal) and (expr.endless or rule.name in inside):
                yield expr
