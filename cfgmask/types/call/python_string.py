r"""String literals of Python whose value a regex describes.

Each character has a set of spellings, none of which begins another, and no two characters share one. So the literals of
a set of texts are found part by part, for complements and intersections as well.

The spellings: the character itself, unless it is a quote of the literal, a backslash or a control character; the short
escapes such as `\n`; `\xHH` for what is not printed below U+0100. Where a character may be any, every `\xHH`, `\uHHHH`
and `\UHHHHHHHH` counts too, so that all that `repr` writes is among them. There are no prefixes, no names (`\N{…}`), no
octal escapes and no line breaks.
"""

from __future__ import annotations

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    NOTHING,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
    char_class,
    text,
)

_SHORT = {"\\": "\\", "'": "'", '"': '"', "\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f", "\a": "a", "\v": "v"}
_CONTROLS = [(0, 0x1F), (0x7F, 0x7F)]
# Those that `repr` writes as \xHH.
_UNPRINTED = [(0, 0x1F), (0x7F, 0xA0), (0xAD, 0xAD)]
_HEX = char_class([(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)])
_ZEROS = text("00")


def _hex(digits: str) -> CharClass:
    return char_class([(ord(digit), ord(digit)) for digit in digits + digits.upper()])


_FOUR = Alternation(
    (
        # Surrogates are no characters.
        Concatenation((_hex("0123456789abcef"), Repetition(_HEX, 3, 3))),
        Concatenation((_hex("d"), _hex("01234567"), Repetition(_HEX, 2, 2))),
    )
)
_EIGHT = Concatenation(
    (
        _ZEROS,
        Alternation(
            (
                Concatenation((_ZEROS, _FOUR)),
                Concatenation((text("0"), _hex("123456789abcdef"), Repetition(_HEX, 4, 4))),
                Concatenation((text("10"), Repetition(_HEX, 4, 4))),
            )
        ),
    )
)
_ANY_ESCAPE = Concatenation(
    (
        text("\\"),
        Alternation(
            (
                *(text(letter) for letter in _SHORT.values()),
                Concatenation((text("x"), Repetition(_HEX, 2, 2))),
                Concatenation((text("u"), _FOUR)),
                Concatenation((text("U"), _EIGHT)),
            )
        ),
    )
)


class NoLiteralError(Exception):
    """A regex whose texts cannot be written character by character."""


def python_string(body: RegexTree) -> RegexTree:
    """The literals, in single and in double quotes, of the texts that `body` matches. Linear in the regex.

    Raises NoLiteralError for regexes of bytes that are no characters.
    """
    return Alternation(tuple(_Literals(quote).literal(body) for quote in "'\""))


class _Literals:
    def __init__(self, quote: str) -> None:
        self._quote = quote
        self._known: dict[tuple[int, bool], RegexTree] = {}
        self._any_raw = self._raw(ANY_CHAR)
        self._any_char = Alternation((self._any_raw, _ANY_ESCAPE))
        self._exact_text = Repetition(self._class(ANY_CHAR), 0, None)

    def literal(self, body: RegexTree) -> RegexTree:
        """The literals of a body."""
        quote = text(self._quote)
        return Concatenation((quote, self._of(body, exact=False), quote))

    def _of(self, tree: RegexTree, *, exact: bool) -> RegexTree:
        """The inside of the literals.

        exact  inside of a complement: all spellings of each character but those for any, and no others
        """
        key = id(tree), exact
        if key not in self._known:
            self._known[key] = self._made(tree, exact)
        return self._known[key]

    def _made(self, tree: RegexTree, exact: bool) -> RegexTree:
        if isinstance(tree, CharClass):
            return self._any_char if tree.ranges == ANY_CHAR.ranges and not exact else self._class(tree)
        if isinstance(tree, Literal):
            return self._fixed(tree.data, exact)
        if isinstance(tree, KeySet):
            plain = () if exact else tuple(key for key in tree.keys if self._is_plain(key))
            others = [self._fixed(key, exact) for key in tree.keys if key not in frozenset(plain)]
            return Alternation((*([KeySet(plain)] if plain else []), *others))
        if isinstance(tree, Repetition):
            return Repetition(self._of(tree.body, exact=exact), tree.minimum, tree.maximum)
        if isinstance(tree, Complement):
            return Intersection((self._exact_text, Complement(self._of(tree.body, exact=True))))
        if isinstance(tree, (Concatenation, Alternation, Intersection)):
            if isinstance(tree, Intersection) and not tree.parts:
                return self._of(ANY_TEXT, exact=exact)
            return type(tree)(tuple(self._of(part, exact=exact) for part in tree.parts))
        raise NoLiteralError(type(tree).__name__)

    def _is_plain(self, data: bytes) -> bool:
        """Whether a fixed text is written as it is, which it is then always."""
        return all(byte >= 0x20 and byte not in (0x5C, 0x7F, ord(self._quote)) for byte in data)

    def _fixed(self, data: bytes, exact: bool) -> RegexTree:
        if not exact and self._is_plain(data):
            return Literal(data)
        try:
            characters = data.decode()
        except UnicodeDecodeError as error:
            raise NoLiteralError("bytes") from error
        return Concatenation(tuple(self._class(char_class([(ord(one), ord(one))])) for one in characters))

    def _class(self, tree: CharClass) -> RegexTree:
        short = [letter for character, letter in _SHORT.items() if _holds(tree, ord(character))]
        unprinted = [code for low, high in _UNPRINTED for code in range(low, high + 1) if _holds(tree, code)]
        escapes = [*map(text, short), *(_two_digits(code) for code in unprinted)]
        raw = self._raw(tree)
        return Alternation((raw, Concatenation((text("\\"), Alternation(tuple(escapes)))))) if escapes else raw

    def _raw(self, tree: CharClass) -> RegexTree:
        taken = char_class([*_CONTROLS, (0x5C, 0x5C), (ord(self._quote), ord(self._quote))]).ranges
        left: list[tuple[int, int]] = []
        for low, high in tree.ranges:
            for first, last in taken:
                if first <= high and last >= low:
                    left.append((low, min(high, first - 1)))
                    low = last + 1
            left.append((low, high))
        found = char_class(left)
        return found if found.ranges else NOTHING


def _holds(tree: CharClass, code: int) -> bool:
    return any(low <= code <= high for low, high in tree.ranges)


def _two_digits(code: int) -> RegexTree:
    high, low = (_hex(digit) for digit in f"{code:02x}")
    return Concatenation((text("x"), high, low))
