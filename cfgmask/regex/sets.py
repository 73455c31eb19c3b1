"""Dots, shorthands, properties and classes to sets of characters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator

from cfgmask.grammar.regex_tree import ANY_CHAR, CharClass, char_class, negated
from cfgmask.regex.case_folding import Folding, closure
from cfgmask.regex.dialects import Dialect
from cfgmask.regex.problems import Problems
from cfgmask.regex.properties import UnknownProperty, resolve_property
from cfgmask.regex.syntax import (
    CharacterSet,
    ClassRange,
    Dot,
    Flags,
    PosixClass,
    Property,
    SetMember,
    Shorthand,
    fold,
)
from cfgmask.regex.unicode_data import (
    ASCII_SHORTHANDS,
    ECMA_SPACE,
    POSIX_CLASSES,
    python_shorthand,
    rust_shorthand,
)

_NOTHING = CharClass(())


class SetResolver:
    """Resolves the sets of one pattern. What has no meaning is reported and resolves to nothing."""

    def __init__(self, dialect: Dialect, problems: Problems) -> None:
        self._dialect = dialect
        self._problems = problems

    def members(self, node: Dot | Shorthand | Property | CharacterSet) -> CharClass:
        """What a node matches that is a set of characters."""
        if isinstance(node, Dot):
            return self.dot(node)
        if isinstance(node, Shorthand):
            return self.shorthand(node)
        if isinstance(node, Property):
            return self.property(node)
        return self.character_set(node)

    def character(self, code: int, flags: Flags) -> CharClass:
        """What one character that stands for itself matches."""
        single = char_class([(code, code)])  # a lone surrogate is no character, as was reported
        return closure(single, self._folding(flags)) if flags.ignore_case else single

    def dot(self, node: Dot) -> CharClass:
        """`.`: every character, line ends excepted without the flag s."""
        if self._only_bytes(node, node.flags):
            return _NOTHING
        if node.flags.dot_all:
            return ANY_CHAR
        return negated(char_class([(ord(c), ord(c)) for c in self._dialect.line_ends]))

    def shorthand(self, node: Shorthand) -> CharClass:
        r"""`\d`, `\w`, `\s` and their negations."""
        if node.negated and self._only_bytes(node, node.flags):
            return _NOTHING
        members = self._shorthand_members(node)
        if node.flags.ignore_case and self._dialect.folding != "python":
            members = closure(members, self._folding(node.flags))
        return negated(members) if node.negated else members

    def property(self, node: Property) -> CharClass:
        r"""`\p{...}` and `\P{...}`."""
        if self._only_bytes(node, node.flags):
            return _NOTHING
        dialect = self._dialect
        try:
            members = resolve_property(node.name, node.value, dialect.name, node.flags.ignore_case)
        except UnknownProperty as unknown:
            self._problems.report("unknown-property", node.start, node.end, str(unknown), unknown.help)
            return _NOTHING
        if not node.flags.ignore_case or dialect.folding == "python":
            return negated(members) if node.negated else members
        if dialect.name == "ecma" and not dialect.nested_sets:
            # Without the flag v ECMA negates first, so that `\P{Lu}` matches every letter that has case.
            return closure(negated(members) if node.negated else members, self._folding(node.flags))
        folded = closure(members, self._folding(node.flags))
        return negated(folded) if node.negated else folded

    def character_set(self, root: CharacterSet) -> CharClass:
        """A whole class.

        The flag i applies to each member. That is enough: unions, intersections, differences and complements of sets
        that are closed under it are closed as well.
        """
        if root.negated and self._only_bytes(root, root.flags):
            return _NOTHING
        result = fold(root, _nested, self._combine)
        if not result.ranges and _has_surrogates(root):
            self._problems.report(
                "surrogate",
                root.start,
                root.end,
                "a class of surrogates matches no character",
                "write characters beyond U+FFFF as such, `\\u{1F600}` for instance",
            )
        return result

    def _combine(self, node: CharacterSet, nested: list[CharClass]) -> CharClass:
        values = iter(nested)
        result = _NOTHING
        for term in node.terms:
            found: list[tuple[int, int]] = []
            for member in term.members:
                found.extend(self._member(member, node.flags, values).ranges)
            result = _join(result, term.operator, char_class(found))
        return negated(result) if node.negated else result

    def _member(self, member: SetMember, flags: Flags, nested: Iterator[CharClass]) -> CharClass:
        if isinstance(member, CharacterSet):
            return next(nested)
        if isinstance(member, Shorthand):
            return self.shorthand(member)
        if isinstance(member, Property):
            return self.property(member)
        if isinstance(member, PosixClass):
            known = POSIX_CLASSES[member.name]
            members = closure(known, self._folding(flags)) if flags.ignore_case else known
            return negated(members) if member.negated else members
        members = char_class([(member.low, member.high)])
        if flags.ascii and self._dialect.name == "rust" and member.high > 0x7F:
            self._only_bytes(member, flags)
        return closure(members, self._folding(flags)) if flags.ignore_case else members

    def _shorthand_members(self, node: Shorthand) -> CharClass:
        name = self._dialect.name
        if name == "ecma":
            return ECMA_SPACE if node.letter == "s" else ASCII_SHORTHANDS[node.letter]
        if node.flags.ascii or (node.letter == "d" and self._dialect.digits == "ascii"):
            return ASCII_SHORTHANDS[node.letter]
        return python_shorthand(node.letter) if name == "python" else rust_shorthand(node.letter)

    def _folding(self, flags: Flags) -> Folding:
        return "ascii" if flags.ascii else self._dialect.folding

    def _only_bytes(self, node: Dot | Shorthand | Property | CharacterSet | ClassRange, flags: Flags) -> bool:
        """Report what would match single bytes of a character: Rust without the flag u."""
        if not flags.ascii or self._dialect.name != "rust":
            return False
        self._problems.report(
            "non-utf8",
            node.start,
            node.end,
            "without the flag u this may match bytes that are no characters",
            "drop `-u` here",
        )
        return True


def said_by(node: Dot | Shorthand | Property | CharacterSet | PosixClass | ClassRange) -> Hashable:
    """What two nodes share only if they say the same. Linear."""
    if isinstance(node, ClassRange):
        return node.low, node.high
    if isinstance(node, Dot):
        return node.flags
    if isinstance(node, Shorthand):
        return node.flags, node.letter, node.negated
    if isinstance(node, Property):
        return node.flags, node.name, node.value, node.negated
    if isinstance(node, PosixClass):
        return node.name, node.negated
    # Classes in classes are told apart by what they are, since they may be deep.
    terms = (
        (term.operator, *(m if isinstance(m, CharacterSet) else said_by(m) for m in term.members))
        for term in node.terms
    )
    return node.flags, node.negated, *terms


def is_within(one: CharClass, other: CharClass) -> bool:
    """Whether all characters of a class are in another."""
    lows = [low for low, _ in other.ranges]
    places = ((bisect_right(lows, low) - 1, high) for low, high in one.ranges)
    return all(place >= 0 and high <= other.ranges[place][1] for place, high in places)


def _nested(node: CharacterSet) -> list[CharacterSet]:
    return [member for term in node.terms for member in term.members if isinstance(member, CharacterSet)]


def _has_surrogates(node: CharacterSet) -> bool:
    return any(
        isinstance(member, ClassRange) and member.low <= 0xDFFF and member.high >= 0xD800
        for term in node.terms
        for member in term.members
    )


def _join(left: CharClass, operator: str, right: CharClass) -> CharClass:
    if operator == "|":
        return char_class([*left.ranges, *right.ranges]) if left.ranges else right
    if operator == "&&":
        return _intersection(left, right)
    if operator == "--":
        return _intersection(left, negated(right))
    both = _intersection(left, right)
    return _intersection(char_class([*left.ranges, *right.ranges]), negated(both))


def _intersection(left: CharClass, right: CharClass) -> CharClass:
    return negated(char_class([*negated(left).ranges, *negated(right).ranges]))
