"""E-mail addresses: RFC 5321, section 4.1.2 (Mailbox), and RFC 6531, section 3.3, for internationalised ones.

The limits are those of RFC 5321, section 4.5.3.1: 64 octets for the local part, and for the whole what a path of 256
octets leaves. Comments and folding white space belong to message headers, not to addresses.
"""

from __future__ import annotations

from cfgmask.grammar.regex_tree import Alternation, Concatenation, RegexTree, text
from cfgmask.json_schema.formats.addresses import IPV4, MAIL_IPV6
from cfgmask.json_schema.formats.hosts import ANY_LABEL
from cfgmask.json_schema.formats.idn import FULL_STOP, ascii_labels, internationalised_name
from cfgmask.json_schema.formats.pattern import Part, bounded, one_of, read

_NAME = rf"{ANY_LABEL}(?:\.{ANY_LABEL})*"
_LITERAL = rf"\[(?:{IPV4}|IPv6:{MAIL_IPV6})\]"


def _local(extra: str) -> str:
    atom = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~{extra}-]+"
    return one_of(rf"{atom}(?:\.{atom})*", rf'"(?:[ !#-\[\]-~{extra}]|\\[ -~])*"')


# Addresses in ASCII.
EMAIL = (Part(_local(""), 64), Part("@"), Part(one_of(_NAME, _LITERAL), 189))


def idn_email() -> RegexTree:
    """Addresses with any characters in the local part and host names of which any label may be internationalised.

    Such a name has at most three labels, and a local part of 32 octets before it. Its octets are not counted, since the
    masks of an intersection with it would be slow.
    """
    local = read(_local(r"\x80-\U0010FFFF"))
    plain = Alternation((bounded(ascii_labels(FULL_STOP), 189), read(_LITERAL)))
    name = internationalised_name(FULL_STOP, 3)
    return Alternation(
        (
            Concatenation((bounded(local, 64), text("@"), plain)),
            Concatenation((bounded(local, 32), text("@"), name)),
        )
    )


POSSIBLE_EMAIL = rf"{_local('')}@(?:{_NAME}|\[[!-Z^-~]+\])"
