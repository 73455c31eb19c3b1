"""Writes `cfgmask/json_schema/formats/idna_table.py`: the sets of characters that internationalised labels are made of.

    python scripts/make_idna_table.py

Derived as RFC 5892, section 2, says, from the `unicodedata` of the running Python, and from `regex` for what that does
not know (scripts, joining types). Characters that are younger than that Unicode version are left out of the table.
"""

from __future__ import annotations

import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Set
from pathlib import Path

import regex

TARGET = Path(__file__).parents[1] / "cfgmask" / "json_schema" / "formats" / "idna_table.py"
LAST = 0x10FFFF

# RFC 5892, section 2.6, and the characters of section 2.8 and of the appendix that have rules of their own.
PVALID = {0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007}
DISALLOWED = {0x640, 0x7FA, 0x302E, 0x302F, 0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x303B}
CONTEXTUAL = {0xB7, 0x375, 0x5F3, 0x5F4, 0x30FB, 0x200C, 0x200D}

DOTS = {0x2E, 0x3002, 0xFF0E, 0xFF61}
VIRAMA = 9

# Where in a run of marks those of a canonical combining class stand; one mark of each group may.
MARK_GROUPS = [
    *[range(1, 9), range(9, 10), range(10, 21), range(21, 22), range(22, 27), range(27, 33), range(33, 34)],
    *[range(34, 103), range(103, 107), range(107, 118), range(118, 122), range(122, 129), range(129, 202)],
    *[range(202, 221), range(221, 241)],
]


def property_set(name: str) -> set[int]:
    everything = "".join(map(chr, range(LAST + 1)))
    return {m.start() for m in regex.finditer(rf"\p{{{name}}}", everything)}


def is_stable(character: str) -> bool:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return folded == character


def valid_characters() -> set[int]:
    """The code points that are PVALID, with the digits of Arabic, which the Bidi rule keeps apart."""
    ignorable = property_set("Default_Ignorable_Code_Point") | property_set("White_Space")
    ignorable |= property_set("Noncharacter_Code_Point")
    ignorable |= {*range(0x20D0, 0x2100), *range(0x1D100, 0x1D250)}  # RFC 5892, section 2.4
    ignorable |= property_set("hst=L") | property_set("hst=V") | property_set("hst=T")
    letters = {"Ll", "Lo", "Lm", "Mn", "Mc", "Nd"}
    found = {
        code
        for code in range(LAST + 1)
        if unicodedata.category(chr(code)) in letters and code not in ignorable and is_stable(chr(code))
    }
    return (found | PVALID | {ord("-")}) - DISALLOWED - CONTEXTUAL


def ranges(members: Iterable[int], gaps: Set[int] = frozenset()) -> list[tuple[int, int]]:
    """Inclusive ranges; code points of `gaps` may be in them, too."""
    found: list[tuple[int, int]] = []
    for code in sorted(members):
        if found and all(between in gaps for between in range(found[-1][1] + 1, code)):
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def shown(spans: list[tuple[int, int]]) -> str:
    return " ".join(f"{low:X}" if low == high else f"{low:X}-{high:X}" for low, high in spans)


def main() -> None:
    valid = valid_characters()
    chars = {code: chr(code) for code in valid}
    combining = {code: unicodedata.combining(c) for code, c in chars.items()}
    # Those that may compose with what stands before them: NFC_Quick_Check is not "Yes".
    composing = property_set("NFC_QC=M") & valid
    marks = {code for code, c in chars.items() if unicodedata.category(c)[0] == "M"}
    starters = {code for code in valid - composing if not combining[code]}
    written = valid | CONTEXTUAL | DOTS
    unwritten = set(range(LAST + 1)) - written

    def bidi(*classes: str) -> list[tuple[int, int]]:
        return ranges((code for code in written if unicodedata.bidirectional(chr(code)) in classes), unwritten)

    def scripts(*names: str) -> list[tuple[int, int]]:
        members = set[int]().union(*(property_set(f"sc={name}") for name in names))
        return ranges(members & starters - marks)

    def joining(*kinds: str) -> list[tuple[int, int]]:
        return ranges(set[int]().union(*(property_set(f"jt={kind}") for kind in kinds)) & (starters - marks))

    tables = {
        "STARTERS": ("no marks, or marks that neither move nor compose", ranges(starters)),
        "FIRST": ("those of them that a label may begin with", ranges(starters - marks)),
        "GREEK": ("letters", scripts("Greek")),
        "JAPANESE": ("Hiragana, Katakana and Han", scripts("Hiragana", "Katakana", "Han")),
        "JOINING_BEFORE": ("letters that may stand before a non-joiner: joining types D and L", joining("D", "L")),
        "JOINING_AFTER": ("letters that may stand after one: joining types D and R", joining("D", "R")),
        "BIDI_R": ("Bidi classes R and AL; these ranges hold characters as well that are in no label", bidi("R", "AL")),
        "BIDI_AN": ("Bidi class AN", bidi("AN")),
    }
    lines = [
        f'"""The characters of internationalised labels: RFC 5892 for Unicode {unicodedata.unidata_version}.',
        "",
        "Made by `scripts/make_idna_table.py`.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
    ]
    for name, (meaning, spans) in tables.items():
        lines += [f"# {meaning}", f"{name} = (", *quoted(shown(spans)), ")", ""]
    viramas = [code for code in valid - composing if combining[code] == VIRAMA]
    lines += ["# Viramas, which a joiner may follow", "VIRAMAS = (", *quoted(shown(ranges(viramas))), ")", ""]
    lines += ["# Marks by canonical combining class, in the order in which they follow a letter", "MARKS = ("]
    for group in MARK_GROUPS:
        members = [code for code in valid - composing if combining[code] in group]
        if members:
            lines += ["    (", *("    " + line for line in quoted(shown(ranges(members)))), "    ),"]
    lines += [")", ""]
    lines += [
        "# Vowel signs and nuktas that compose, each with the letters of its block after which it does not",
        "COMPOSING = {",
    ]
    for code in sorted(composing):
        block = range(code & ~0x7F, (code | 0x7F) + 1)
        if combining[code] in (0, 7) and code < 0x3000:
            apart = {p for p in block if p in starters and len(unicodedata.normalize("NFC", chr(p) + chr(code))) == 2}
            lines += [f'    "{code:X}": (', *("    " + line for line in quoted(shown(ranges(apart)))), "    ),"]
    lines += ["}", ""]
    TARGET.write_text("\n".join(lines), encoding="utf-8")


def quoted(value: str) -> list[str]:
    lines = textwrap.wrap(value, 108)
    return [f'    "{line} "' if line is not lines[-1] else f'    "{line}"' for line in lines]


if __name__ == "__main__":
    sys.exit(main())
