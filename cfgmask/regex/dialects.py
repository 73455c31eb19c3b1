r"""How the dialects differ, as data. The few differences that are code are told by `Dialect.name` where they matter.

The references are the documentation of Python's `re` (with the `regex` package for what `re` lacks),
the syntax page of Rust's `regex` crate, and ECMA-262 with its Annex B.

Two decisions about ECMA: a character is a code point whether or not the flag u is given (JSON texts are made of code
points), and `\p{...}` and `\u{...}` mean without the flag what they mean with it. The flag makes the syntax strict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cfgmask.regex.problems import Problems
from cfgmask.regex.syntax import Flags

DialectName: TypeAlias = Literal["python", "rust", "ecma"]


@dataclass(frozen=True)
class Dialect:
    r"""What a dialect reads and means.

    flags              letters that the argument `flags` may hold; those of `ignored_flags` change no language
    inline_flags       letters that may stand in `(?i:...)`
    negatable_flags    those of them that may stand after the minus sign
    bare_flags         where `(?i)` may stand
    count              what follows `{` in a counted repetition
    literal_brace      whether a brace that begins no repetition stands for itself
    stacked_repeats    whether `a**` repeats a repetition
    possessive         whether `a*+` is possessive
    repeatable_anchors whether `^*` is allowed
    group_prefixes     how named groups begin, after the parenthesis
    group_name         what a group's name looks like
    unique_names       whether two groups of one name are an error
    comments           whether `(?#...)` is a comment
    verbose_space      what the flag x skips; "" without that flag
    spaced_classes     whether it skips inside classes and after an opening parenthesis, too
    escapes            letters after a backslash that are one character
    backspace          whether `[\b]` is a backspace
    digits             how a backslash and digits are read
    hex_digits         digits after `\x` and the like
    braced_hex         which of these take `{...}` instead
    control            whether `\cA` is a control character
    named_characters   whether `\N{...}` is a character
    short_properties   whether `\pL` is short for `\p{L}`
    identity           which characters stand for themselves after a backslash outside of the above
    class_identity     those that do so inside classes
    anchors            letters after a backslash that are anchors
    dollar             what `$` means without the flag m
    line_ends          what the dot does not match without the flag s
    leading_bracket    whether `]` stands for itself where a class begins
    sets               whether classes nest, and the operators between sets
    single_operands    whether these operators join single members only and do not mix
    shorthand_ranges   whether `[\w-a]` is allowed, the minus sign standing for itself
    folding            which characters the flag i makes equal; see `case_folding`
    named_groups       names of groups that mean more than grouping; see `named_groups`
    """

    name: DialectName
    flags: str
    ignored_flags: str
    inline_flags: str
    negatable_flags: str
    bare_flags: Literal["start", "anywhere", "nowhere"]
    count: re.Pattern[str]
    literal_brace: bool
    stacked_repeats: bool
    possessive: bool
    repeatable_anchors: bool
    group_prefixes: tuple[str, ...]
    group_name: re.Pattern[str]
    unique_names: bool
    comments: bool
    verbose_space: str
    spaced_classes: bool
    escapes: dict[str, int]
    backspace: bool
    digits: Literal["octal", "zero"]
    hex_digits: dict[str, int]
    braced_hex: str
    control: bool
    named_characters: bool
    short_properties: bool
    identity: re.Pattern[str]
    class_identity: re.Pattern[str]
    anchors: dict[str, Literal["start", "end"]]
    dollar: Literal["end", "end-or-newline"]
    line_ends: str
    leading_bracket: bool
    sets: tuple[str, ...]
    single_operands: bool
    shorthand_ranges: bool
    folding: Literal["python", "simple", "ecma"]
    named_groups: frozenset[str] = frozenset()


_NO_ASCII_WORD = re.compile(r"[^A-Za-z0-9]", re.DOTALL)
_CONTROLS = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}

_PYTHON = Dialect(
    name="python",
    flags="imsxau",
    ignored_flags="",
    inline_flags="imsxau",
    negatable_flags="imsx",
    bare_flags="start",
    count=re.compile(r"(?!\})([0-9]*)(?:(,)([0-9]*))?\}"),
    literal_brace=True,
    stacked_repeats=False,
    possessive=True,
    repeatable_anchors=False,
    group_prefixes=("?P<", "?<"),
    group_name=re.compile(r"[^\W\d]\w*"),
    unique_names=True,
    comments=True,
    verbose_space=" \t\n\r\v\f",
    spaced_classes=False,
    escapes={"a": 7, **_CONTROLS},
    backspace=True,
    digits="octal",
    hex_digits={"x": 2, "u": 4, "U": 8},
    braced_hex="",
    control=False,
    named_characters=True,
    short_properties=True,
    identity=_NO_ASCII_WORD,
    class_identity=_NO_ASCII_WORD,
    anchors={"A": "start", "Z": "end", "z": "end"},
    dollar="end-or-newline",
    line_ends="\n",
    leading_bracket=True,
    sets=(),
    single_operands=False,
    shorthand_ranges=False,
    folding="python",
)

_RUST_ESCAPABLE = re.compile(r"[^0-9A-Za-z<>\x80-\U0010FFFF]")

_RUST = Dialect(
    name="rust",
    flags="imsxuU",
    ignored_flags="U",
    inline_flags="imsxuU",
    negatable_flags="imsxuU",
    bare_flags="anywhere",
    count=re.compile(r"\s*([0-9]+)\s*(?:(,)\s*([0-9]*)\s*)?\}"),
    literal_brace=False,
    stacked_repeats=True,
    possessive=False,
    repeatable_anchors=True,
    group_prefixes=("?P<", "?<"),
    group_name=re.compile(r"[^\W\d][\w.\[\]]*"),
    unique_names=True,
    comments=False,
    verbose_space="\t\n\v\f\r \x85\u200e\u200f\u2028\u2029",
    spaced_classes=True,
    escapes={"a": 7, **_CONTROLS},
    backspace=False,
    digits="zero",
    hex_digits={"x": 2, "u": 4, "U": 8},
    braced_hex="xuU",
    control=False,
    named_characters=False,
    short_properties=True,
    identity=_RUST_ESCAPABLE,
    class_identity=_RUST_ESCAPABLE,
    anchors={"A": "start", "z": "end"},
    dollar="end",
    line_ends="\n",
    leading_bracket=True,
    sets=("&&", "--", "~~"),
    single_operands=False,
    shorthand_ranges=False,
    folding="simple",
)

_ECMA = Dialect(
    name="ecma",
    flags="imsuvdgy",
    ignored_flags="dgy",
    inline_flags="ims",
    negatable_flags="ims",
    bare_flags="nowhere",
    count=re.compile(r"([0-9]+)(?:(,)([0-9]*))?\}"),
    literal_brace=True,
    stacked_repeats=False,
    possessive=False,
    repeatable_anchors=False,
    group_prefixes=("?<",),
    group_name=re.compile(r"(?:[^\W\d]|\$)[\w$]*"),
    unique_names=False,
    comments=False,
    verbose_space="",
    spaced_classes=False,
    escapes=_CONTROLS,
    backspace=True,
    digits="zero",
    hex_digits={"x": 2, "u": 4},
    braced_hex="u",
    control=True,
    named_characters=False,
    short_properties=False,
    identity=_NO_ASCII_WORD,
    class_identity=_NO_ASCII_WORD,
    anchors={},
    dollar="end",
    line_ends="\n\r\u2028\u2029",
    leading_bracket=False,
    sets=(),
    single_operands=False,
    shorthand_ranges=True,
    folding="ecma",
)

_ECMA_UNICODE = replace(
    _ECMA,
    literal_brace=False,
    identity=re.compile(r"[\^$\\.*+?()\[\]{}|/]"),
    class_identity=re.compile(r"[\^$\\.*+?()\[\]{}|/\-]"),
    shorthand_ranges=False,
    folding="simple",
)

_ECMA_SETS = replace(
    _ECMA_UNICODE,
    class_identity=re.compile(r"[\^$\\.*+?()\[\]{}|/\-&!#%,:;<=>@`~]"),
    sets=("&&", "--"),
    single_operands=True,
)


def select(name: DialectName, flags: str, end: int, problems: Problems) -> tuple[Dialect, Flags]:
    """The dialect and the flags that a pattern begins with.

    A letter that the dialect does not know is reported at the end of the pattern (offset `end`), where flags stand.
    Raises ValueError for an unknown dialect.
    """
    if name not in ("python", "rust", "ecma"):
        raise ValueError(f"unknown dialect {name!r}: it is 'python', 'rust' or 'ecma'")
    dialect = {"python": _PYTHON, "rust": _RUST, "ecma": _ECMA}[name]
    for letter in flags:
        if letter not in dialect.flags:
            report_flag(dialect, letter, dialect.flags, end, end, problems)
    if "u" in flags and "v" in flags and name == "ecma":
        problems.report("bad-flag", end, end, "the flags `u` and `v` exclude each other", "keep one of them")
    if "u" in flags and "a" in flags and name == "python":
        problems.report("bad-flag", end, end, "the flags `a` and `u` exclude each other", "keep one of them")
    if name == "ecma" and "v" in flags:
        dialect = _ECMA_SETS
    elif name == "ecma" and "u" in flags:
        dialect = _ECMA_UNICODE
    return dialect, with_flags(Flags(), flags, "")


def report_flag(dialect: Dialect, letter: str, known: str, start: int, end: int, problems: Problems) -> None:
    """Say that `letter` is none of the flags that are known at this place."""
    problems.report(
        "bad-flag",
        start,
        end,
        f"`{letter}` is not a supported flag of {dialect.name} patterns here",
        "supported are " + ", ".join(sorted(known, key=str.lower)),
    )


def with_flags(flags: Flags, added: str, removed: str) -> Flags:
    """`flags` after letters are switched on and off. Letters that change nothing here are passed over."""
    changes: dict[str, bool] = {}
    for letters, value in ((added, True), (removed, False)):
        for letter in letters:
            if letter == "i":
                changes["ignore_case"] = value
            elif letter == "m":
                changes["multi_line"] = value
            elif letter == "s":
                changes["dot_all"] = value
            elif letter == "x":
                changes["verbose"] = value
            elif letter == "a":
                changes["ascii"] = value
            elif letter == "u":
                changes["ascii"] = not value
    return replace(flags, **changes)
