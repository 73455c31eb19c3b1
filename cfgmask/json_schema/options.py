"""What the caller may choose about how a JSON Schema is read and how its instances are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cfgmask.json_schema import spacing

NAMED_WHITESPACE = ("natural", "bounded", "compact", "unbounded")
# Some thousands are still compiled at once.
MAX_DIGITS = 10_000
# json.dumps goes further; nobody indents by more.
MAX_INDENT = 16
_MARKS = {"item_separator": ",", "key_separator": ":"}


@dataclass(frozen=True)
class JsonSchemaOptions:
    r"""Choices of the JSON Schema front end. Unknown values raise ValueError, naming what is allowed.

    whitespace      "natural"    as people and `json.dumps` write, with or without `indent`: none before a colon or a
                                 comma, and at most one space after it; after a comma and an opening mark, and before a
                                 closing one, a line break with up to 64 spaces and tabs may come instead. An empty
                                 object or array has one line break in it at most
                    "bounded"    between two lexemes at most one line break: up to 8 blanks, or up to 8 blanks, a line
                                 break and up to 64 blanks. `json.dumps` with any separators of its own and `indent=4`
                                 fits down to depth 16, and a model cannot spin in it
                    "compact"    none at all
                    "unbounded"  any run of JSON whitespace
                    any other    a regex (as Python's `re` reads it) of what may stand between two lexemes; nothing may
                                 stand there, too
    item_separator  a regex of what separates items and members: a comma with white space around it. "," stands for what
                    `whitespace` says; any other is written like that, and "natural" adds nothing to it
    key_separator   the same of what separates a key and its value: a colon with white space around it
    indent          None, or by how many blanks: exactly as `json.dumps(value, indent=n)` writes; the three above then
                    keep their defaults. In YAML, by how many blanks blocks below a key are indented; None: 2
    numbers         "plain"      as most programs write and read them: integers, and integral values of `const` and
                                 `enum`, without a point or an exponent; others with an exponent only after one digit,
                                 such as 1.5e-07, and within the doubles. What a double rounds onto an exclusive bound
                                 is not written; a number in the schema that no double holds is an error
                    "any"        as JSON Schema reads them, exactly: 1.0 is an integer, and 8e728 a number
    max_digits      how many digits a run has at most that the schema does not bound: before the point, behind it, and
                    in the exponent; every float and every integer of 256 bits fits 100. Where the schema demands
                    digits (`minimum`), so many more than those. None: any number
    syntax          "json"       texts are JSON
                    "yaml"       they are YAML in block style; `whitespace`, the separators, `escapes` and
                                 `property_order` then keep their defaults
    escapes         "any"        strings in every spelling that JSON has
                    "canonical"  the one spelling of RFC 8785: escapes only where JSON demands them, the shortest ones
    property_order  "schema"     properties in the order in which the schema names them, other keys after them
                    "any"        properties in any order, other keys among them; no key comes twice
    formats         "assert"     `format` restricts the string
                    "annotate"   `format` restricts nothing and is reported as a note
    unknown_keywords  "warn"     a keyword that no draft has restricts nothing: a warning where it is nearly one that a
                                 draft has, a note elsewhere
                    "error"      it is an error, but for those that begin with `x-` and well-known extensions
    pattern_dialect "ecma"       `pattern` and `patternProperties` are read as JSON Schema says, by ECMA-262
                    "python"     as Python's `re` reads them: `(?P<year>…)`, `(?i)`, `\A`, `\Z`
                    "rust"       as Rust's `regex` does: `\pL`, `[[:alpha:]]`, `\x{41}`, `\z`
    on_unsupported  "error"      whatever cannot be enforced exactly is an error
                    "relax"      it is a warning, and more is allowed there than the schema says, never less
    """

    whitespace: str = "natural"
    item_separator: str = ","
    key_separator: str = ":"
    indent: int | None = None
    numbers: Literal["plain", "any"] = "plain"
    max_digits: int | None = 100
    syntax: Literal["json", "yaml"] = "json"
    escapes: Literal["any", "canonical"] = "any"
    property_order: Literal["schema", "any"] = "schema"
    formats: Literal["assert", "annotate"] = "assert"
    on_unsupported: Literal["error", "relax"] = "error"
    unknown_keywords: Literal["warn", "error"] = "warn"
    pattern_dialect: Literal["ecma", "python", "rust"] = "ecma"

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value not in allowed:
                shown = ", ".join(f'"{choice}"' for choice in allowed)
                raise ValueError(f"{name}={value!r} is not supported; it may be {shown}")
        self._check_spacing()
        self._check_indent()
        self._check_max_digits()
        self._check_yaml()

    def _check_spacing(self) -> None:
        for name in ("whitespace", *_MARKS):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise ValueError(f"{name}={value!r} is not supported; it may be a str")
            try:
                if name in _MARKS:
                    spacing.separator(value, _MARKS[name])
                elif value not in NAMED_WHITESPACE:
                    spacing.whitespace(value)
            except ValueError as error:
                raise ValueError(f"{name}={value!r} {error}") from None

    def _check_max_digits(self) -> None:
        digits = self.max_digits
        if digits is None:
            return
        if not isinstance(digits, int) or isinstance(digits, bool) or not 1 <= digits <= MAX_DIGITS:
            raise ValueError(f"max_digits={digits!r} is not supported; it may be None or from 1 to {MAX_DIGITS}")

    def _check_indent(self) -> None:
        if self.indent is None:
            return
        if not isinstance(self.indent, int) or isinstance(self.indent, bool) or not 0 <= self.indent <= MAX_INDENT:
            raise ValueError(f"indent={self.indent!r} is not supported; it may be None or from 0 to {MAX_INDENT}")
        if self.property_order == "any":
            raise ValueError('indent is not supported with property_order="any"')
        for name, default in (("whitespace", NAMED_WHITESPACE[0]), *_MARKS.items()):
            if getattr(self, name) != default:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} contradicts indent={self.indent}: leave one of them out"
                )

    def _check_yaml(self) -> None:
        if self.syntax != "yaml":
            return
        if self.indent == 0:
            raise ValueError("indent=0 is not supported in YAML: blocks below a key are indented by at least 1")
        for name, default in _JSON_ONLY.items():
            if getattr(self, name) != default:
                raise ValueError(f'{name}={getattr(self, name)!r} is not supported with syntax="yaml"')


_JSON_ONLY = {"whitespace": NAMED_WHITESPACE[0], **_MARKS, "escapes": "any", "property_order": "schema"}
"""What YAML leaves no choice of, with the defaults."""

_ALLOWED: dict[str, tuple[str, ...]] = {
    "numbers": ("plain", "any"),
    "syntax": ("json", "yaml"),
    "escapes": ("any", "canonical"),
    "property_order": ("schema", "any"),
    "formats": ("assert", "annotate"),
    "on_unsupported": ("error", "relax"),
    "unknown_keywords": ("warn", "error"),
    "pattern_dialect": ("ecma", "python", "rust"),
}


@dataclass(frozen=True)
class GuidedOptions(JsonSchemaOptions):
    r"""Options of a schema that says itself, by `x-guidance`, which escapes strings may have.

    allowed_escapes  letters that may follow a backslash where `escapes` is "any"; "u" stands for `\uXXXX` of control
                     characters alone, and "U" for that of every character. Strings that need others are not written
    """

    allowed_escapes: str = ""


def allowed_escapes(options: JsonSchemaOptions) -> str | None:
    """As `GuidedOptions.allowed_escapes`; None where strings may have all escapes that JSON has."""
    return options.allowed_escapes if isinstance(options, GuidedOptions) else None


DEFAULTS = JsonSchemaOptions()

# What says with which bytes values are written.
_OF_SPELLING = ("item_separator", "key_separator", "indent", "syntax", "escapes")


def is_written_as_usual(options: JsonSchemaOptions) -> bool:
    """Whether printable characters of ASCII are all that it takes to write values."""
    if isinstance(options, GuidedOptions):
        return False
    return options is DEFAULTS or all(getattr(options, name) == getattr(DEFAULTS, name) for name in _OF_SPELLING)
