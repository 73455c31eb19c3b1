"""What the keywords for objects say, in normal form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.session import current
from cfgmask.json_schema.values import JsonValue
from tests.reference.json_schema import object_algebra
from tests.reference.json_schema.algebra import TooManyAlternatives
from tests.reference.json_schema.annotations import EVERY_KEY, NO_KEYS, EvaluatedKeys
from tests.reference.json_schema.keys import ALL_KEYS, KeyPattern, Keys, key_pattern
from tests.reference.json_schema.normal_form import (
    ALL_OBJECTS,
    ANYTHING,
    NEVER,
    Conjunction,
    KeyClass,
    Member,
    ObjectShape,
    conjoin,
)
from tests.reference.json_schema.reader import Reader
from tests.reference.json_schema.scalar_keywords import read_pattern

# Patterns that overlap each other sort the keys into so many classes at most, as in the core (`kMaxOverlaps`).
_MAX_CLASSES = 128


@dataclass(frozen=True)
class _PatternRule:
    """One entry of `patternProperties`."""

    keys: KeyPattern
    value: Conjunction


def object_shape(node: Node, reader: Reader) -> ObjectShape | None:
    """The objects that the keywords of one schema object allow, schemas beside or inside them left aside.

    None where there are none. Cost: the classes of keys may double with each pattern of `patternProperties` that
    overlaps the others.
    """
    shape = _keys_and_values(node, reader)
    least, most = node.get("minProperties"), node.get("maxProperties")
    counted = ObjectShape(
        minimum=least if isinstance(least, int) else 0, maximum=most if isinstance(most, int) else None
    )
    both = object_algebra.intersect(shape, counted)
    if both is None or object_algebra.is_plainly_empty(both):
        return None
    if node.has("propertyNames"):
        return object_algebra.intersect(both, _allowed_names(node, reader))
    return both


def _keys_and_values(node: Node, reader: Reader) -> ObjectShape:
    rules, refusals = _pattern_rules(node, reader)
    additional = _additional(node, reader)
    if refusals:
        # Which keys the unread pattern takes is unknown, so nothing can be said about the others either.
        additional = ANYTHING
    properties = node.get("properties")
    listed = properties if isinstance(properties, dict) else {}
    required = _texts(node.get("required"))
    needed = frozenset(required)
    members = []
    for name in listed:
        own = reader.conjunction(reader.schemas.child(node, "properties", name))
        members.append(Member(name, _with_patterns(own, name, rules), name in needed))
    for name in dict.fromkeys(required):
        if name not in listed:
            matched = any(rule.keys.matches(name) for rule in rules)
            value = _with_patterns(ANYTHING if matched else additional, name, rules)
            members.append(Member(name, value, required=True, listed=False))
    evaluated = _evaluated(node, listed, rules) if reader.schemas.annotates else NO_KEYS
    return ObjectShape(tuple(members), _classes(rules, additional), refusals=refusals, evaluated=evaluated)


def _with_patterns(value: Conjunction, name: str, rules: list[_PatternRule]) -> Conjunction:
    for rule in rules:
        if rule.keys.matches(name):
            value = conjoin(value, rule.value)
    return value


def _pattern_rules(node: Node, reader: Reader) -> tuple[list[_PatternRule], frozenset[Diagnostic]]:
    patterns = node.get("patternProperties")
    rules: list[_PatternRule] = []
    refusals: frozenset[Diagnostic] = frozenset()
    for pattern in patterns if isinstance(patterns, dict) else {}:
        child = reader.schemas.child(node, "patternProperties", pattern)
        found = read_pattern(pattern, child.pointer, reader.limits, reader.options.pattern_dialect)
        if found.refusals:
            refusals |= found.refusals
        else:
            rules.append(_PatternRule(key_pattern(found.pattern), reader.conjunction(child)))
    return rules, refusals


def _classes(rules: list[_PatternRule], additional: Conjunction) -> tuple[KeyClass, ...]:
    """All keys, sorted by the patterns that they match."""
    # Each class with whether some pattern matches it, which is when additionalProperties does not apply.
    found: list[tuple[Keys, Conjunction, bool]] = [(ALL_KEYS, ANYTHING, False)]
    for rule in rules:
        matching, rest = Keys(include=(rule.keys,)), Keys(exclude=(rule.keys,))
        split = [(keys & matching, conjoin(value, rule.value), True) for keys, value, _ in found]
        split += [(keys & rest, value, matched) for keys, value, matched in found]
        current().spend(len(split))
        found = [entry for entry in split if not entry[0].is_empty]
        if len(found) > _MAX_CLASSES:
            raise TooManyAlternatives(
                f"the patterns of patternProperties overlap, and sort the keys into more than {_MAX_CLASSES} classes",
                help="write fewer patterns, or patterns that match no key together",
            )
    classes = [KeyClass(keys, value if matched else additional) for keys, value, matched in found]
    return tuple(entry for entry in classes if entry.value != NEVER)


def _additional(node: Node, reader: Reader) -> Conjunction:
    """What values of keys that nothing else describes must be."""
    if not node.has("additionalProperties"):
        return ANYTHING
    return reader.conjunction(reader.schemas.child(node, "additionalProperties"))


def _evaluated(node: Node, listed: Iterable[str], rules: list[_PatternRule]) -> EvaluatedKeys:
    if node.has("additionalProperties"):
        return EVERY_KEY
    return EvaluatedKeys(frozenset(listed), tuple(dict.fromkeys(rule.keys for rule in rules)))


def _allowed_names(node: Node, reader: Reader) -> ObjectShape:
    """The objects whose keys meet `propertyNames`."""
    names = reader.normal(reader.conjunction(reader.schemas.child(node, "propertyNames"))).strings
    if names.is_everything:
        return ALL_OBJECTS
    others = () if names.is_plainly_empty else (KeyClass(Keys((key_pattern(names.as_regex()),)), ANYTHING),)
    return ObjectShape(others=others, refusals=names.refusals)


# Keywords that depend on the presence of a key


def dependent_required(node: Node) -> list[tuple[ObjectShape, ...]]:
    """For each key that requires others: the objects without it, and those with it and with them."""
    found: list[tuple[ObjectShape, ...]] = []
    for keyword in ("dependentRequired", "dependencies"):
        held = node.get(keyword)
        for name, needed in held.items() if isinstance(held, dict) else ():
            if isinstance(needed, list) and needed:
                found.append((lacking(name), _having([name, *_texts(needed)])))
    return found


def dependent_schemas(node: Node, reader: Reader) -> list[tuple[str, Conjunction]]:
    """For each key whose presence makes a schema apply: the key and the schema."""
    found = []
    for keyword in ("dependentSchemas", "dependencies"):
        held = node.get(keyword)
        for name, child in held.items() if isinstance(held, dict) else ():
            if isinstance(child, (dict, bool)):
                found.append((name, reader.conjunction(reader.schemas.child(node, keyword, name))))
    return found


def lacking(name: str) -> ObjectShape:
    """The objects without a key."""
    return ObjectShape((Member(name, NEVER, listed=False),))


def having(name: str) -> ObjectShape:
    """The objects with a key."""
    return _having([name])


def _having(names: Iterable[str]) -> ObjectShape:
    return ObjectShape(tuple(Member(name, ANYTHING, True, listed=False) for name in dict.fromkeys(names)))


def _texts(value: JsonValue) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
