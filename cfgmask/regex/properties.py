r"""Which set of characters `\p{...}` names in each dialect.

Python patterns take whatever the `regex` package takes. Rust and ECMA name general categories, scripts and binary
properties, Rust without regard to case, spaces, hyphens and underscores, and scripts without `Script=`;
everything else that `regex` knows is refused there, since those dialects give it no meaning or another one.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from itertools import chain
from typing import NoReturn

from cfgmask.grammar.regex_tree import CharClass, char_class
from cfgmask.regex.dialects import DialectName
from cfgmask.regex.unicode_data import unicode_property

_CATEGORIES = {
    "C": "Other", "Cc": "Control", "Cf": "Format", "Cn": "Unassigned", "Co": "Private_Use", "Cs": "Surrogate",
    "L": "Letter", "LC": "Cased_Letter", "Ll": "Lowercase_Letter", "Lm": "Modifier_Letter", "Lo": "Other_Letter",
    "Lt": "Titlecase_Letter", "Lu": "Uppercase_Letter",
    "M": "Mark", "Mc": "Spacing_Mark", "Me": "Enclosing_Mark", "Mn": "Nonspacing_Mark",
    "N": "Number", "Nd": "Decimal_Number", "Nl": "Letter_Number", "No": "Other_Number",
    "P": "Punctuation", "Pc": "Connector_Punctuation", "Pd": "Dash_Punctuation", "Pe": "Close_Punctuation",
    "Pf": "Final_Punctuation", "Pi": "Initial_Punctuation", "Po": "Other_Punctuation", "Ps": "Open_Punctuation",
    "S": "Symbol", "Sc": "Currency_Symbol", "Sk": "Modifier_Symbol", "Sm": "Math_Symbol", "So": "Other_Symbol",
    "Z": "Separator", "Zl": "Line_Separator", "Zp": "Paragraph_Separator", "Zs": "Space_Separator",
}  # fmt: skip

_EXTRA_CATEGORY_NAMES = {"cntrl": "Cc", "digit": "Nd", "punct": "P", "Combining_Mark": "M"}

# Binary properties that ECMA-262 lists, with their short names; Rust has them, too.
_BINARY = {
    "Alphabetic": "Alpha", "ASCII_Hex_Digit": "AHex", "Bidi_Control": "Bidi_C", "Bidi_Mirrored": "Bidi_M",
    "Case_Ignorable": "CI", "Cased": "", "Changes_When_Casefolded": "CWCF", "Changes_When_Casemapped": "CWCM",
    "Changes_When_Lowercased": "CWL", "Changes_When_NFKC_Casefolded": "CWKCF", "Changes_When_Titlecased": "CWT",
    "Changes_When_Uppercased": "CWU", "Dash": "", "Default_Ignorable_Code_Point": "DI", "Deprecated": "Dep",
    "Diacritic": "Dia", "Emoji": "", "Emoji_Component": "EComp", "Emoji_Modifier": "EMod",
    "Emoji_Modifier_Base": "EBase", "Emoji_Presentation": "EPres", "Extended_Pictographic": "ExtPict",
    "Extender": "Ext", "Grapheme_Base": "Gr_Base", "Grapheme_Extend": "Gr_Ext", "Hex_Digit": "Hex",
    "IDS_Binary_Operator": "IDSB", "IDS_Trinary_Operator": "IDST", "ID_Continue": "IDC", "ID_Start": "IDS",
    "Ideographic": "Ideo", "Join_Control": "Join_C", "Logical_Order_Exception": "LOE", "Lowercase": "Lower",
    "Math": "", "Noncharacter_Code_Point": "NChar", "Pattern_Syntax": "Pat_Syn", "Pattern_White_Space": "Pat_WS",
    "Quotation_Mark": "QMark", "Radical": "", "Regional_Indicator": "RI", "Sentence_Terminal": "STerm",
    "Soft_Dotted": "SD", "Terminal_Punctuation": "Term", "Unified_Ideograph": "UIdeo", "Uppercase": "Upper",
    "Variation_Selector": "VS", "White_Space": "space", "XID_Continue": "XIDC", "XID_Start": "XIDS",
}  # fmt: skip

_WRITTEN = re.compile(r"([A-Za-z0-9_ \-]+)(?:=([A-Za-z0-9_ \-.]+))?")
_CATEGORY_KEYS = ("General_Category", "gc")
_SCRIPT_KEYS = {"Script": "sc", "sc": "sc", "Script_Extensions": "scx", "scx": "scx"}


class UnknownProperty(Exception):
    """A property that a dialect does not have. `help` says what to write."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


def resolve_property(name: str, value: str, dialect: DialectName, ignore_case: bool) -> CharClass:
    r"""The members of `\p{name}` or `\p{name=value}`.

    ignore_case  makes a difference for Python only, where upper, lower and title case then mean any of them
    Raises UnknownProperty.
    """
    if dialect != "python":
        return _lookup(*_spelled(name, value, dialect), name)
    members = _lookup(name, value, name)
    if ignore_case:
        for family in (("Lu", "Ll", "Lt"), ("Uppercase", "Lowercase")):
            sets = [unicode_property(member) for member in family]
            if members in sets:
                return char_class([found for other in sets for found in other.ranges])
    return members


@lru_cache(maxsize=512)
def ecma_property(written: str) -> bytes | None:
    r"""The members of `\p{written}` in ECMA-262, as `_core.SchemaReader.read` asks for them; None if it has no such."""
    found = _WRITTEN.fullmatch(written)
    if found is None:
        return None
    try:
        members = resolve_property(found[1], found[2] or "", "ecma", ignore_case=False)
    except UnknownProperty:
        return None
    return array("I", chain.from_iterable(members.ranges)).tobytes()


def _lookup(name: str, value: str, written: str) -> CharClass:
    try:
        return unicode_property(name, value)
    except KeyError:
        help = "names are those of the Unicode standard, `\\p{L}` or `\\p{Script=Greek}` for instance"
        raise UnknownProperty(f"`{written}` names no known property of characters", help) from None


def _spelled(name: str, value: str, dialect: DialectName) -> tuple[str, str]:
    """The name and value for `regex` of what a Rust or ECMA pattern says."""
    same = _exact if dialect == "ecma" else _loose
    if value:
        return _spelled_with_value(name, value, dialect)
    category = _category(name, dialect)
    if category:
        return "gc", category
    for long, short in _BINARY.items():
        if same(name) == same(long) or (short and same(name) == same(short)):
            return long, ""
    if any(same(name) == same(known) for known in ("Any", "ASCII", "Assigned")):
        return name, ""
    if dialect == "rust":
        return "sc", name
    _reject(name, dialect)


def _spelled_with_value(name: str, value: str, dialect: DialectName) -> tuple[str, str]:
    same = _exact if dialect == "ecma" else _loose
    for key, short in _SCRIPT_KEYS.items():
        if same(key) == same(name):
            return short, value
    category = _category(value, dialect)
    if category and any(same(key) == same(name) for key in _CATEGORY_KEYS):
        return "gc", category
    _reject(f"{name}={value}", dialect)


def _category(name: str, dialect: DialectName) -> str | None:
    same = _exact if dialect == "ecma" else _loose
    for short, long in _CATEGORIES.items():
        if same(name) in (same(short), same(long)):
            return short
    for long, short in _EXTRA_CATEGORY_NAMES.items():
        if same(name) == same(long):
            return short
    return None


def _reject(spelling: str, dialect: DialectName) -> NoReturn:
    raise UnknownProperty(
        f"`{spelling}` is no property of {dialect} patterns",
        "write a general category (`Lu`), a binary property (`Alphabetic`) or `Script=Greek`",
    )


def _exact(name: str) -> str:
    return name


def _loose(name: str) -> str:
    """Without what UAX #44 lets matching disregard."""
    plain = re.sub(r"[ _\-]", "", name).lower()
    return plain[2:] if plain.startswith("is") and len(plain) > 2 else plain
