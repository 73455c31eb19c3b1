"""URIs (RFC 3986, appendix A), IRIs (RFC 3987, section 2.2) and URI templates (RFC 6570, section 2)."""

from __future__ import annotations

from cfgmask.json_schema.formats.addresses import IPV6
from cfgmask.json_schema.formats.pattern import one_of

# RFC 3987 allows them but for the characters that switch the direction of text (section 4.1).
_UCS = (
    r"\u00A0-\u200D\u2010-\u2029\u202F-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF"
    r"\U00010000-\U0001FFFD\U00020000-\U0002FFFD\U00030000-\U0003FFFD\U00040000-\U0004FFFD\U00050000-\U0005FFFD"
    r"\U00060000-\U0006FFFD\U00070000-\U0007FFFD\U00080000-\U0008FFFD\U00090000-\U0009FFFD\U000A0000-\U000AFFFD"
    r"\U000B0000-\U000BFFFD\U000C0000-\U000CFFFD\U000D0000-\U000DFFFD\U000E1000-\U000EFFFD"
)
_MARKS = r"\u200E\u200F\u202A-\u202E"
_PRIVATE = r"\uE000-\uF8FF\U000F0000-\U000FFFFD\U00100000-\U0010FFFD"
_PERCENT = "%[0-9A-Fa-f]{2}"


def _absolute_and_reference(extra: str, private: str) -> tuple[str, str]:
    """An absolute URI, and a reference.

    extra    the characters that are allowed besides those of RFC 3986
    private  those that are allowed in queries only
    """

    def some(characters: str) -> str:
        return rf"(?:[A-Za-z0-9._~!$&'()*+,;={extra}{characters}-]|{_PERCENT})"

    pchar = some(":@")
    authority = (
        rf"(?:{some(':')}*@)?"
        rf"(?:\[(?:{IPV6}|[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]|{some('')}*)"
        r"(?::[0-9]*)?"
    )
    segments = f"(?:/{pchar}*)*"
    rest = rf"(?:\?(?:{some(':@/?' + private)})*)?(?:#(?:{some(':@/?')})*)?"

    def hierarchy(first: str) -> str:
        return f"(?://{authority}{segments}|/(?:{pchar}+{segments})?|{first}+{segments}|)"

    absolute = rf"[A-Za-z][A-Za-z0-9+.-]*:{hierarchy(pchar)}{rest}"
    return absolute, one_of(absolute, f"{hierarchy(some('@'))}{rest}")


URI, URI_REFERENCE = _absolute_and_reference("", "")
IRI, IRI_REFERENCE = _absolute_and_reference(_UCS, _PRIVATE)
POSSIBLE_IRI, POSSIBLE_IRI_REFERENCE = _absolute_and_reference(_UCS + _MARKS, _PRIVATE)

_VARIABLE = rf"(?:[A-Za-z0-9_]|{_PERCENT})(?:\.?(?:[A-Za-z0-9_]|{_PERCENT}))*(?::[1-9][0-9]{{0,3}}|\*)?"
_EXPRESSION = rf"\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}}"
# The apostrophe is that of the erratum to RFC 6570.
URI_TEMPLATE = rf"(?:[!#$&-;=?-\[\]_a-z~{_UCS}{_MARKS}{_PRIVATE}]|{_PERCENT}|{_EXPRESSION})*"
