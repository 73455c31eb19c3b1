"""Internationalised host names: RFC 5890 to 5893, as far as that is regular, otherwise narrower.

A label is written in one script, with letters, digits and hyphens of ASCII among its characters, of which at most eight
stand before the first letter of a script that is not Latin. So a label is a counted repetition and a name needs no
intersection, which would make the masks of these names a hundred times slower.

- Its characters are those of RFC 5892; those that need a certain neighbour (appendix A: joiners, the middle dot,
  keraia, geresh, the Katakana middle dot) have kinds of labels of their own.
- It is in NFC: marks in canonical order, and none that could compose with what stands before it.
- It is short enough for its punycode, which no regex computes: 23 characters of one block, 12 letters with marks, 12
  characters of other scripts, 9 if some of them are in other planes. A name has at most four such labels.
- The Bidi rule of RFC 5893: labels from right to left have Hebrew or Arabic letters at their ends (or digits at the
  last), one kind of digits, and no neighbours but labels of their kind and of ASCII that begin with a letter.

Left out are labels in punycode, other scripts from right to left, and marks that could compose with a letter, but those
of the scripts of South Asia.
"""

from __future__ import annotations

from bisect import bisect_left
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
# Labels of so many characters have at most 62 octets in punycode if those outside of ASCII are within 256 code points,
# or within 128 but for joiners: found by following the worst case of its algorithm through all ways to choose them.
_IN_256, _IN_128 = 23, 24
# So have labels of so many octets in UTF-8, which are three for each character of the Basic Multilingual Plane.
_OCTETS = 37
# So many characters of ASCII may stand before those of another script; before those of Latin any number.
_BEFORE = 8

# Letters that are written among those of ASCII, in ranges of 256 code points.
_LATIN = ((0x80, 0x17F), (0x1E00, 0x1EFF))
# Other scripts whose letters are composed.
_COMPOSED = ((0x370, 0x3FF), (0x430, 0x52F), (0x530, 0x58F), (0x3040, 0x30FF))
# Those that are written with marks, in ranges of 128.
_MARKED = (*[(low, low + 0x7F) for low in range(0x900, 0x1100, 0x80)], (0x1780, 0x17FF))
# Scripts that lie within one of those ranges, so that their labels need no letters from elsewhere.
_ALONE = ((0x430, 0x58F), (0x900, 0xEFF), (0x1780, 0x17FF))
# What is written among ideographs of other planes.
_IDEOGRAPHS = (0x3000, 0x9FFF)
_HEBREW_BLOCK, _ARABIC_BLOCK = (0x590, 0x5FF), (0x600, 0x6FF)

_HYPHEN = text("-")
_ASCII = char_class([(0x30, 0x39), (0x61, 0x7A)])
_ASCII_LETTERS = char_class([(0x61, 0x7A)])
# ASCII, and the other letters of the language whose names have middle dots.
_CATALAN = char_class([(0x30, 0x39), (0x61, 0x7A), *((c, c) for c in b"\xe0\xe7\xe8\xe9\xed\xef\xf2\xf3\xfa\xfc")])
_JOINERS = char_class([(0x200C, 0x200D)])


def idn_hostname() -> RegexTree:
    """Host names of which any label may be internationalised."""
    ascii_name = Intersection((ascii_labels(ANY_DOT), read(".{1,253}")))
    return Alternation((ascii_name, internationalised_name(ANY_DOT, _MAX_LABELS)))


def ascii_labels(dot: CharClass) -> RegexTree:
    """Host names in ASCII of any length; `dot` is what stands between labels."""
    label = read(_ascii_label("[A-Za-z0-9]", 58))
    return Concatenation((label, Repetition(Concatenation((dot, label)), 0, None)))


def internationalised_name(dot: CharClass, most: int) -> RegexTree:
    """Names of at most so many labels, each of which may be internationalised. A label has at most 72 octets in UTF-8.

    dot  what stands between labels
    """
    plain = read(_ascii_label("[A-Za-z0-9]", 57))
    left_to_right = Alternation((plain, *_latin(), *_other_scripts(0), _begun_in_ascii(), *_in_context()))
    right_to_left = Alternation((read(_ascii_label("[a-z]", 57)), _hebrew(), _arabic()))
    return Alternation(
        tuple(
            Concatenation((label, Repetition(Concatenation((dot, label)), 0, most - 1)))
            for label in (left_to_right, right_to_left)
        )
    )


def _ascii_label(first: str, rest: int) -> str:
    """A label without hyphens at its third and fourth place, of at most `rest` + 5 characters."""
    return (
        f"{first}(?:[A-Za-z0-9-]{{0,2}}[A-Za-z0-9]"
        f"|[A-Za-z0-9-](?:[A-Za-z0-9][A-Za-z0-9-]|-[A-Za-z0-9])[A-Za-z0-9-]{{0,{rest}}}[A-Za-z0-9])?"
    )


def _label(first: CharClass, last: CharClass, size: int, place: int = 1) -> RegexTree:
    """A label of at most so many characters, those between its ends being of `last` or hyphens.

    place  where in the label `first` is: 1, or 2 of a label that was begun
    """
    inner = _union(last, char_class([(0x2D, 0x2D)]))
    rests: list[RegexTree] = []
    if size > 1:
        rests.append(Concatenation((Repetition(inner, 0, min(3 - place, size - 2)), last)))
    if size > 5 - place:
        third_and_fourth = Alternation((Concatenation((last, inner)), Concatenation((_HYPHEN, last))))
        until_third = Repetition(inner, 2 - place, 2 - place)
        rests.append(Concatenation((until_third, third_and_fourth, Repetition(inner, 0, size + place - 6), last)))
    return Concatenation((first, _maybe(Alternation(tuple(rests))))) if rests else first


# From left to right


def _letters() -> CharClass:
    """The letters and digits that a label of any script may begin with."""
    rtl = _union(_class(idna_table.BIDI_R), _class(idna_table.BIDI_AN))
    return _both(_class(idna_table.FIRST), negated(_union(rtl, char_class([(0x2D, 0x2D)]))))


def _latin() -> list[RegexTree]:
    labels = []
    for block in _LATIN:
        members = _union(_ASCII, _both(_letters(), char_class([block])))
        labels.append(_label(members, members, _IN_256))
    return labels


def _begun_in_ascii() -> RegexTree:
    """Labels of other scripts behind characters of ASCII.

    These are written once for all scripts: where each had its own, there were seventy ways to go on with every letter.
    """
    start = read(f"[a-z0-9](?:[a-z0-9-]{{0,2}}|[a-z0-9-](?:[a-z0-9][a-z0-9-]|-[a-z0-9])[a-z0-9-]{{0,{_BEFORE - 4}}})")
    return Concatenation((start, Alternation(tuple(_other_scripts(_BEFORE)))))


def _other_scripts(n_before: int) -> list[RegexTree]:
    """Labels that begin outside of ASCII, or what is left of them behind at most so many characters of ASCII."""
    letters, n_octets = _letters(), _OCTETS - n_before
    basic = _both(letters, negated(char_class([*_ALONE, (0x10000, 0x10FFFF)])))
    other = _both(letters, char_class([(0, 0x7F), _IDEOGRAPHS, (0x10000, 0x10FFFF)]))
    classes = [(basic, n_octets // 3), (other, n_octets // 4)]
    classes += [(_union(_ASCII, _both(letters, char_class([script]))), _IN_256 - n_before) for script in _COMPOSED]
    place = 2 if n_before else 1
    labels = [_label(_beyond_ascii(members), members, size, place) for members, size in classes]
    for block in _MARKED:
        labels += _marked(block, n_before)
    return labels


def _marked(block: tuple[int, int], n_before: int) -> list[RegexTree]:
    """Labels with marks, of a script of South Asia. Behind ASCII, their letters have one mark each, and no hyphen."""
    members = char_class([block])
    letters = _union(_ASCII, _both(_class(idna_table.STARTERS), members))
    groups = [mark for group in idna_table.MARKS if (mark := _both(_class(group), members)).ranges]
    any_mark = _maybe(_union(*groups)) if groups else text("")
    if n_before:
        first = _beyond_ascii(_both(letters, _class(idna_table.FIRST)))
        return [_word(first, letters, any_mark, {}, (_IN_128 - n_before) // 2)]
    labels = [_words(letters, any_mark, {}, _IN_128 // 2)]
    viramas, composing = _both(_class(idna_table.VIRAMAS), members), _composing_in(block)
    if composing or viramas.ranges or len(groups) > 1:
        marks: RegexTree = Concatenation(tuple(_maybe(group) for group in groups))
        if viramas.ranges:
            marks = Alternation((marks, Concatenation((viramas, _JOINERS))))
        n_marks = max(len(groups), 2 if viramas.ranges else 0) + bool(composing)
        labels.append(_words(letters, marks, composing, _IN_128 // (1 + n_marks)))
    return labels


def _composing_in(block: tuple[int, int]) -> dict[str, str]:
    return {mark: before for mark, before in idna_table.COMPOSING.items() if block[0] <= int(mark, 16) <= block[1]}


def _words(letters: CharClass, marks: RegexTree, composing: dict[str, str], most: int) -> RegexTree:
    """At most so many letters, each with its marks, with one hyphen between them at most. The first is none of ASCII.

    composing  marks that would compose with most letters, and the letters with which they do not
    """
    first = _both(letters, _class(idna_table.FIRST))
    before_hyphen = _word(_beyond_ascii(first), letters, marks, composing, most // 2)
    behind_hyphen = _word(first, letters, marks, composing, (most - 1) // 2)
    whole = _word(_beyond_ascii(first), letters, marks, composing, most)
    return Alternation((whole, Concatenation((before_hyphen, _HYPHEN, behind_hyphen))))


def _word(first: CharClass, letters: CharClass, marks: RegexTree, composing: dict[str, str], most: int) -> RegexTree:
    """At most so many letters, each with its marks, the first of them one of `first`; `composing` as in `_words`."""

    def unit(allowed: CharClass) -> RegexTree:
        pairs = [Concatenation((_both(_class(before), allowed), _class(mark))) for mark, before in composing.items()]
        return Concatenation((Alternation((allowed, *pairs)), marks))

    return Concatenation((unit(first), Repetition(unit(letters), 0, most - 1)))


def _in_context() -> list[RegexTree]:
    """Labels with a character that needs a certain neighbour."""
    greek = _both(_class(idna_table.GREEK), char_class([(0x370, 0x3FF)]))
    japanese, dot = _class(idna_table.JAPANESE), char_class([(0x30FB, 0x30FB)])
    others = _union(japanese, _both(_class(idna_table.FIRST), char_class([(0x3040, 0x30FF)])), _ASCII, dot)
    return [
        Concatenation((Repetition(_CATALAN, 0, 8), text("l\u00b7l"), Repetition(_CATALAN, 0, 9))),
        Repetition(Concatenation((_maybe(text("\u0375")), greek)), 1, _IN_256 // 2),
        Concatenation((_maybe(dot), japanese, Repetition(others, 0, _OCTETS // 3 - 2))),
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


def _beyond_ascii(letters: CharClass) -> CharClass:
    return _both(letters, char_class([(0x80, 0x10FFFF)]))


def _maybe(tree: RegexTree) -> RegexTree:
    return Repetition(tree, 0, 1)


def _union(*classes: CharClass) -> CharClass:
    return char_class([span for part in classes for span in part.ranges])


def _both(a: CharClass, b: CharClass) -> CharClass:
    # One of them often has a few ranges, the other one those of all letters.
    few, many = sorted((a.ranges, b.ranges), key=len)
    found = []
    for low, high in few:
        for i in range(bisect_left(many, low, key=itemgetter(1)), len(many)):
            if many[i][0] > high:
                break
            found.append((max(low, many[i][0]), min(high, many[i][1])))
    return char_class(found)


@cache
def _class(ranges: str) -> CharClass:
    """The class of ranges as the table has them: hexadecimal, `41-5A 61`."""
    found = []
    for span in ranges.split():
        low, _, high = span.partition("-")
        found.append((int(low, 16), int(high or low, 16)))
    return char_class(found)
