"""Forms of arguments: how the outermost object of a schema is written where that is not JSON.

A form is data, which the core makes rules of (`core_forms`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cfgmask.diagnostics import Diagnostic

_BAR = "\N{FULLWIDTH VERTICAL LINE}DSML\N{FULLWIDTH VERTICAL LINE}"
_M3 = "]<]minimax[>["


@dataclass(frozen=True)
class Form:
    """How an object, its keys and their values are written.

    key        what stands before a value. `$key` is the key, `$string` true or false by whether the value is a string,
               `$type` its type, `$gap` white space that may be missing
    end        what stands after a value; `$key` as above
    open, close, separator  around the members and between them
    has_gaps   whether white space may stand before each member and after the last one
    strings    "raw": all text up to `end`, no escapes; "delimited": raw text between two of `delimiter`; "python": a
               literal of Python, of the kinds that models write
    pad        what may stand before and after a raw string and is no part of it
    nested     how arrays and objects in values are written: "json", "same" for this form, or the name of another one
    quotes     quotes around a key; a key with a name may have other ones
    item       what stands before and after an item of an array of such a form
    words      how null, true and false are written: as JSON does, as Python does, or either
    types      how `$type` names the types, where that is not by JSON's names
    markers    texts that many vocabularies have as one token
    key_chars  characters of a key, as a regex; others cannot be written
    """

    key: str
    end: str = ""
    open: str = ""
    close: str = ""
    separator: str = ""
    has_gaps: bool = False
    strings: Literal["raw", "delimited", "python"] = "raw"
    delimiter: str = ""
    pad: str = ""
    nested: str = "json"
    quotes: str = ""
    item: tuple[str, str] = ("", "")
    words: Literal["json", "python", "either"] = "json"
    types: tuple[tuple[str, str], ...] = ()
    markers: tuple[str, ...] = ()
    key_chars: str = r"""[^\s<>"'&=\x00-\x1f]"""

    @property
    def has_kinds(self) -> bool:
        """Whether keys tell the type of their values."""
        return "$string" in self.key or "$type" in self.key

    def type_name(self, kind: str) -> str:
        """How a key names a type of JSON."""
        return dict(self.types).get(kind, kind)

    @property
    def ends_with_key(self) -> bool:
        """Whether the mark after a value repeats its key. Only keys with names can be written then."""
        return "$key" in self.end

    def stop(self, end: str) -> str:
        """What strings that end so do not hold: the end, or the first marker of it."""
        return min((marker for marker in self.markers if marker in end), key=end.index, default=end)

    def all_markers(self) -> tuple[str, ...]:
        """Its markers, and those of the form that values are nested in."""
        inner = FORMS.get(self.nested)
        return self.markers if inner is None else (*self.markers, *inner.markers)


FORMS: dict[str, Form] = {
    "qwen_xml": Form("<parameter=$key>", "</parameter>", has_gaps=True, pad="\n", words="either"),
    "seed_xml": Form("<parameter=$key>", "</parameter>", has_gaps=True, nested="python", words="either"),
    "minimax_xml": Form('<parameter name="$key">', "</parameter>", has_gaps=True),
    "minimax_m3_xml": Form(
        f"{_M3}<$key>", f"{_M3}</$key>", nested="same", item=(f"{_M3}<item>", f"{_M3}</item>"), markers=(_M3,)
    ),
    "deepseek_xml": Form(
        f'<{_BAR}parameter name="$key" string="$string">', f"</{_BAR}parameter>", has_gaps=True, markers=(_BAR,)
    ),
    "deepseek_v4_1_xml": Form(
        f'<{_BAR} parameter name="$key" string="$string">', f"</{_BAR} parameter>", has_gaps=True, markers=(_BAR,)
    ),
    "glm_xml": Form(
        "<arg_key>$key</arg_key>$gap<arg_value>",
        "</arg_value>",
        has_gaps=True,
        markers=("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    ),
    "kimi_k3_xml": Form(
        '<|open|>argument key="$key" type="$type"<|sep|>',
        "<|close|>argument<|sep|>",
        markers=("<|open|>", "<|close|>", "<|sep|>"),
    ),
    "cohere_xml": Form(
        '<cofl:value name="$key" type="$type">',
        "</cofl:value>",
        has_gaps=True,
        types=(("string", "raw"), *((kind, "json") for kind in ("number", "boolean", "null", "array", "object"))),
    ),
    "step3_xml": Form('<steptml:parameter name="$key">', "</steptml:parameter>", has_gaps=True),
    "hunyuan_xml": Form(
        "<arg_key:opensource>$key</arg_key:opensource>$gap<arg_value:opensource>",
        "</arg_value:opensource>",
        has_gaps=True,
        markers=(
            "<arg_key:opensource>",
            "</arg_key:opensource>",
            "<arg_value:opensource>",
            "</arg_value:opensource>",
        ),
    ),
    "gemma": Form(
        "$key:",
        open="{",
        close="}",
        separator=",",
        strings="delimited",
        delimiter='<|"|>',
        nested="same",
        markers=('<|"|>',),
        key_chars=r"""[^\s{}\[\]:,<>|"'\x00-\x1f]""",
    ),
    "function_gemma": Form(
        "$key:",
        open="{",
        close="}",
        separator=",",
        strings="delimited",
        delimiter="<escape>",
        nested="same",
        markers=("<escape>",),
        key_chars=r"""[^\s{}\[\]:,<>|"'\x00-\x1f]""",
    ),
    "python_call": Form(
        "$key=", separator=", ", strings="python", nested="python", words="either", key_chars="[A-Za-z0-9_]"
    ),
    "python": Form(
        "$key: ",
        open="{",
        close="}",
        separator=", ",
        strings="python",
        nested="same",
        quotes="'",
        words="either",
        key_chars=r"""[^'"\\\x00-\x1f\x7f-\x9f]""",
    ),
}
"""By their names, which are those that xgrammar has for the `style` of a schema where it has the form."""


def keys_without_names() -> Diagnostic:
    """The note that such keys are left out."""
    message = "only keys with a name can be written in this form, which ends a value with its key"
    return Diagnostic("schema-form-key", message, pointer="", severity="note")
