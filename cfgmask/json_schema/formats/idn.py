"""Internationalised host names: RFC 5890 to 5893, as far as that is regular, otherwise narrower.

A label is written in one script, with letters, digits and hyphens of ASCII between its characters. So a label is a
counted repetition and a name needs no intersection, which would make the masks of these names a hundred times slower.

- Its characters are those of RFC 5892; those that need a certain neighbour (appendix A: joiners, the middle dot,
  keraia, geresh, the Katakana middle dot) have kinds of labels of their own.
- It is in NFC: marks in canonical order, and none that could compose with what stands before it.
- It is short enough for its punycode, which no regex computes: 20 characters of one script, 11 of any in the Basic
  Multilingual Plane, 9 of any. A name has at most four such labels.
- The Bidi rule of RFC 5893: labels from right to left have Hebrew or Arabic letters at their ends (or digits at the
  last), one kind of digits, and no neighbours but labels of their kind and of ASCII that begin with a letter.

Left out are labels in punycode, other scripts from right to left, and marks that could compose with a letter, but those
of the scripts of South Asia.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

from cfgmask.grammar.regex_tree import (
    Alternation,
    CharClass,
    Concatenation,
    Intersection,
    RegexTree,
    Repetition,
    char_class,
    negated,
    text,
)
from cfgmask.json_schema.formats import idna_table
from cfgmask.json_schema.formats.pattern import read

# What UTS #46 and the validators of JSON Schema take for a dot.
ANY_DOT = char_class([(0x2E, 0x2E), (0x3002, 0x3002), (0xFF0E, 0xFF0E), (0xFF61, 0xFF61)])
FULL_STOP = char_class([(0x2E, 0x2E)])

POSSIBLE_IDN_HOSTNAME = r"[A-Za-z0-9.\x80-\U0010FFFF-]+"

# With more labels of the lengths below a name could be longer than 253 octets in punycode.
_MAX_LABELS = 4
# Labels of so many characters have at most 62 octets in punycode if those outside of ASCII are within 256, or within
# 128 code points: found by following the worst case of its algorithm through all ways to choose them.
_IN_256, _IN_128 = 20, 24
# So many letters with marks, and a joiner after each, whose code points are far from all letters.
_JOINED = 6
# Any other character has at most 4 digits of punycode in the Basic Multilingual Plane, and 6 elsewhere.
_BASIC_PLANE, _ANY_PLANE = 11, 9

# Scripts whose letters are composed, in ranges of 256 code points.
_COMPOSED = ((0x80, 0x17F), (0x370, 0x3FF), (0x400, 0x4FF), (0x530, 0x58F), (0x1E00, 0x1EFF), (0x3040, 0x30FF))
# Those that are written with marks, in ranges of 128.
_MARKED = (*[(low, low + 0x7F) for low in range(0x900, 0x1100, 0x80)], (0x1780, 0x17FF))
_HEBREW_BLOCK, _ARABIC_BLOCK = (0x590, 0x5FF), (0x600, 0x6FF)

_NOTHING: RegexTree = Alternation(())
_HYPHEN, _HYPHENS = text("-"), char_class([(0x2D, 0x2D)])
_ASCII = char_class([(0x30, 0x39), (0x61, 0x7A)])
_ASCII_LETTERS = char_class([(0x61, 0x7A)])
_BEYOND_ASCII = char_class([(0x80, 0x10FFFF)])
_JOINERS = char_class([(0x200C, 0x200D)])


def idn_hostname() -> RegexTree:
    """Host names of which any label may be internationalised."""
    return Alternation((ascii_name(ANY_DOT, 253), internationalised_name(ANY_DOT, _MAX_LABELS)))


def ascii_name(dot: CharClass, most: int) -> RegexTree:
    """Host names in ASCII, of at most so many characters; `dot` is what stands between labels."""
    label = read(_ascii_label("[A-Za-z0-9]", 58))
    return Intersection((_labels(label, dot, label, None), read(f".{{1,{most}}}")))


def internationalised_name(dot: CharClass, most: int) -> RegexTree:
    """Names of at most so many labels, one of which at least is not in ASCII. A label has at most 72 octets in UTF-8.

    dot  what stands between labels
    """
    left_to_right = Alternation((_composed(), _marked(), *_in_context()))
    right_to_left = Alternation((_hebrew(), _arabic()))
    # Labels in ASCII, those first that may stand beside ones from right to left.
    lower, other = (read(_ascii_label(first, 57)) for first in ("[a-z]", "[A-Z0-9]"))
    # What labels in ASCII lead to is written once for both directions, and one label further on each time.
    either: RegexTree = _NOTHING
    from_left: RegexTree = _NOTHING
    for n in range(most):
        left = _labels(left_to_right, dot, Alternation((lower, other, left_to_right)), n)
        right = _labels(right_to_left, dot, Alternation((lower, right_to_left)), n)
        digit = Concatenation((other, dot, from_left))
        either = Alternation((left, right, digit, Concatenation((lower, dot, either))))
        from_left = Alternation((left, digit, Concatenation((lower, dot, from_left))))
    return either


def _labels(first: RegexTree, dot: CharClass, label: RegexTree, most: int | None) -> RegexTree:
    """One label, and at most so many more."""
    return Concatenation((first, Repetition(Concatenation((dot, label)), 0, most)))


def _ascii_label(first: str, rest: int) -> str:
    """A label without hyphens at its third and fourth place, of at most `rest` + 5 characters."""
    return (
        f"{first}(?:[A-Za-z0-9-]{{0,2}}[A-Za-z0-9]"
        f"|[A-Za-z0-9-](?:[A-Za-z0-9][A-Za-z0-9-]|-[A-Za-z0-9])[A-Za-z0-9-]{{0,{rest}}}[A-Za-z0-9])?"
    )


def _label(first: CharClass, last: CharClass, size: int) -> RegexTree:
    """A label of at most so many characters, those between its ends being of `last` or hyphens."""
    return Concatenation((first, _rests(last, size)[1]))


def _rests(last: CharClass, size: int) -> list[RegexTree]:
    """What may follow none, one, and so on of such characters, of which neither the third nor the last is a hyphen."""
    inner = _union(last, _HYPHENS)

    def up_to(n: int) -> RegexTree:
        return Concatenation((Repetition(inner, 0, n), last))

    third_and_fourth = Alternation((Concatenation((last, inner)), Concatenation((_HYPHEN, last))))
    long = Concatenation((third_and_fourth, up_to(size - 5)))
    begun = [Alternation((up_to(2), Concatenation((inner, long)))), Alternation((up_to(1), long))]
    return [_NOTHING, *map(_maybe, begun), *(_maybe(up_to(size - n - 1)) for n in range(3, size)), text("")]


# From left to right
#
# Labels of some seventy kinds may begin in ASCII. As alternatives, each would be looked at for each character of it; so
# what may follow so many of them is written once, for labels that go on beyond ASCII somewhere. Others are plain.


def _composed() -> RegexTree:
    """Labels without marks, not all in ASCII."""
    rtl = _union(_class(idna_table.BIDI_R), _class(idna_table.BIDI_AN))
    letters = _both(_class(idna_table.FIRST), negated(_union(rtl, _HYPHENS)))
    kinds = [(letters, _ANY_PLANE), (_both(letters, char_class([(0, 0xFFFF)])), _BASIC_PLANE)]
    kinds += [(_union(_ASCII, _both(letters, char_class([script]))), _IN_256) for script in _COMPOSED]
    beyond = [(_both(letters, _BEYOND_ASCII), _rests(letters, size)) for letters, size in kinds]
    following = after_hyphen = _NOTHING
    for n in reversed(range(_IN_256)):
        leave = [Concatenation((first, rests[n + 1])) for first, rests in beyond if n + 1 < len(rests)]
        letter = Concatenation((_ASCII, following))
        hyphen = [Concatenation((_HYPHEN, after_hyphen if n == 2 else following))] if n > 0 else []
        if n == 3:  # where the third is a hyphen the fourth is none
            after_hyphen = Alternation((letter, *leave))
        following = Alternation((letter, *hyphen, *leave))
    return following


@dataclass(frozen=True)
class _Words:
    """Letters, of ASCII among them, each with its marks.

    first   letters beyond ASCII that they may begin with
    beyond  all letters beyond ASCII
    marks   what may stand behind a letter, not empty
    rests   what may follow no letters, one, two and so on, as many as there may be
    """

    first: RegexTree
    beyond: RegexTree
    marks: RegexTree
    rests: tuple[RegexTree, ...]


@dataclass(frozen=True)
class _Hyphenated:
    """Words, each of which may have one hyphen: behind at most `half` letters, where `second` follow."""

    words: _Words
    half: int
    second: _Words


def _marked() -> RegexTree:
    """Labels with marks, of the scripts of South Asia, not all in ASCII."""
    labels: list[_Hyphenated] = []
    for block in _MARKED:
        members = char_class([block])
        letters = _union(_ASCII, _both(_class(idna_table.STARTERS), members))
        groups = [mark for group in idna_table.MARKS if (mark := _both(_class(group), members)).ranges]
        viramas = _both(_class(idna_table.VIRAMAS), members)
        any_mark = [_union(*groups)] if groups else []
        labels.append(_hyphenated(letters, any_mark, {}, _IN_128 // 2))
        if len(groups) > 1 or _composing_in(block):
            labels.append(_hyphenated(letters, groups, _composing_in(block), _IN_128 // (2 + len(groups))))
        if viramas.ranges:
            labels.append(_hyphenated(letters, [Concatenation((viramas, _maybe(_JOINERS)))], {}, _JOINED))
    hyphens: dict[int, RegexTree] = {}
    for half in sorted({label.half for label in labels}):
        second = _from_ascii([label.second for label in labels if label.half >= half], {})
        hyphens |= dict.fromkeys(range(len(hyphens) + 1, half + 1), Concatenation((_HYPHEN, second)))
    return _from_ascii([label.words for label in labels], hyphens)


def _composing_in(block: tuple[int, int]) -> dict[str, str]:
    return {mark: before for mark, before in idna_table.COMPOSING.items() if block[0] <= int(mark, 16) <= block[1]}


def _hyphenated(letters: CharClass, marks: Sequence[RegexTree], composing: dict[str, str], most: int) -> _Hyphenated:
    """At most so many letters, each with its marks, with one hyphen between them at most.

    marks      each may be there, in this order
    composing  marks that would compose with most letters, and the letters with which they do not
    """

    def composed(letters: CharClass) -> list[RegexTree]:
        return [Concatenation((_both(_class(before), letters), _class(mark))) for mark, before in composing.items()]

    def unit(letters: CharClass, pairs: list[RegexTree]) -> RegexTree:
        return Concatenation((Alternation((letters, *pairs)), *map(_maybe, marks)))

    first = _both(letters, _class(idna_table.FIRST))
    first_pairs, pairs = composed(first), composed(letters)
    first_beyond, beyond = unit(_both(first, _BEYOND_ASCII), first_pairs), unit(_both(letters, _BEYOND_ASCII), pairs)
    some_marks = Alternation(tuple(Concatenation((mark, *map(_maybe, marks[i + 1 :]))) for i, mark in enumerate(marks)))

    def words(rests: Sequence[RegexTree]) -> _Words:
        return _Words(first_beyond, beyond, some_marks, tuple(rests))

    half, second = most // 2, (most - 1) // 2
    letter = unit(letters, pairs)
    word = [Repetition(letter, 0, most - n) for n in range(most + 1)]
    second_word = word[most - second :]
    hyphen = Concatenation((_HYPHEN, unit(first, first_pairs), second_word[1]))
    rests: list[RegexTree] = [*word]
    for n, rest in enumerate(word[most - half :]):
        rests[n] = Alternation((word[n], Concatenation((rest, hyphen))))
    return _Hyphenated(words(rests), half, words(second_word))


def _from_ascii(kinds: list[_Words], hyphens: dict[int, RegexTree]) -> RegexTree:
    """Words that begin in ASCII, or at once beyond it, and go there at some place.

    hyphens  what may follow as well behind so many letters of ASCII
    """
    following = _NOTHING
    for n in reversed(range(max(len(words.rests) for words in kinds))):
        leave: list[RegexTree] = []
        for words in kinds:
            if 0 < n < len(words.rests):
                leave.append(Concatenation((words.marks, words.rests[n])))
            if n + 1 < len(words.rests):
                leave.append(Concatenation((words.beyond if n > 0 else words.first, words.rests[n + 1])))
        # So far it is a plain label, so that it may be none of these: what is optional is not one list with what it is
        # an alternative of, of which each is looked at for each character.
        others = Alternation(tuple(leave)) if n == 0 else _maybe(Alternation(tuple(leave)))
        hyphen = [hyphens[n]] if n in hyphens else []
        following = Alternation((Concatenation((_ASCII, following)), *hyphen, others))
    return following


def _in_context() -> list[RegexTree]:
    """Labels with a character that needs a certain neighbour."""
    latin = _union(_ASCII, _both(_class(idna_table.FIRST), char_class([(0x80, 0x17F)])))
    greek = _both(_class(idna_table.GREEK), char_class([(0x370, 0x3FF)]))
    japanese, dot = _class(idna_table.JAPANESE), char_class([(0x30FB, 0x30FB)])
    others = _union(japanese, _both(_class(idna_table.FIRST), char_class([(0x3040, 0x30FF)])), _ASCII, dot)
    middle_dot: RegexTree = _NOTHING
    for n in reversed(range(9)):
        after = Concatenation((text("l\u00b7l"), Repetition(latin, 0, 9)))
        beyond = [Concatenation((_both(latin, _BEYOND_ASCII), Repetition(latin, 0, 7 - n), after))] if n < 8 else []
        middle_dot = Alternation((after, Concatenation((_ASCII, middle_dot)), *beyond))
    return [
        middle_dot,
        Repetition(Concatenation((_maybe(text("\u0375")), greek)), 1, _IN_256 // 2),
        Concatenation((_maybe(dot), japanese, Repetition(others, 0, _BASIC_PLANE - 2))),
    ]


# From right to left


def _right_to_left(block: tuple[int, int]) -> tuple[CharClass, RegexTree]:
    """The letters of a block, and its labels without characters that need a certain neighbour."""
    members = char_class([block])
    letters = _both(_both(_class(idna_table.FIRST), _class(idna_table.BIDI_R)), members)
    groups = [mark for group in idna_table.MARKS if (mark := _both(_class(group), members)).ranges]
    marked = Repetition(Concatenation((letters, _maybe(_union(*groups)))), 1, _IN_256 // 2)
    labels = [_label(letters, _union(letters, digits), _IN_256) for digits in _digits()]
    return letters, Alternation((*labels, marked))


def _digits() -> tuple[CharClass, CharClass]:
    """European and Arabic digits, which no label from right to left has both of."""
    return char_class([(0x30, 0x39), (0x6F0, 0x6F9)]), char_class([(0x660, 0x669)])


def _hebrew() -> RegexTree:
    letters, plain = _right_to_left(_HEBREW_BLOCK)
    geresh = char_class([(0x5F3, 0x5F4)])
    return Alternation((plain, Concatenation((Repetition(letters, 1, 9), geresh, Repetition(letters, 0, 9)))))


def _arabic() -> RegexTree:
    letters, plain = _right_to_left(_ARABIC_BLOCK)
    before, after = (_both(letters, _class(t)) for t in (idna_table.JOINING_BEFORE, idna_table.JOINING_AFTER))
    joined = Concatenation((Repetition(after, 0, 4), _both(before, after), text("\u200c")))
    return Alternation((plain, Concatenation((Repetition(joined, 1, 2), Repetition(after, 1, 5)))))


# Classes


def _maybe(tree: RegexTree) -> RegexTree:
    return Repetition(tree, 0, 1)


def _union(*classes: CharClass) -> CharClass:
    return char_class([span for part in classes for span in part.ranges])


def _both(a: CharClass, b: CharClass) -> CharClass:
    # One of them often has a few ranges, the other one those of all letters. What is found is in order, with gaps.
    few, many = sorted((a.ranges, b.ranges), key=len)
    found = []
    for low, high in few:
        for i in range(bisect_left(many, low, key=itemgetter(1)), len(many)):
            if many[i][0] > high:
                break
            found.append((max(low, many[i][0]), min(high, many[i][1])))
    return CharClass(tuple(found))


@cache
def _class(ranges: str) -> CharClass:
    """The class of ranges as the table has them: hexadecimal, `41-5A 61`."""
    found = []
    for span in ranges.split():
        low, _, high = span.partition("-")
        found.append((int(low, 16), int(high or low, 16)))
    return char_class(found)
