"""What any grammar text must be before it is read: text, and not too long."""

from __future__ import annotations

import re

from cfgmask.diagnostics import Source, Span
from cfgmask.errors import LimitExceeded
from cfgmask.limits import Limits
from cfgmask.problems import Problems

_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def check_text(source: Source, limits: Limits, problems: Problems, code: str) -> None:
    """Refuse a text that is too long (LimitExceeded) or that looks like a binary file (GrammarError, at once).

    code  that of the diagnostic
    """
    size = len(source.text)
    if size <= limits.max_source_bytes:
        size = len(source.text.encode("utf-8", "surrogatepass"))
    if size > limits.max_source_bytes:
        raise LimitExceeded("max_source_bytes", limits.max_source_bytes, f"{source.name} has {size} bytes or more")
    match = _NOT_TEXT.search(source.text)
    if match is not None:
        message = f"the character U+{ord(match[0]):04X} is not text"
        span = Span(source, match.start(), match.end())
        problems.error(code, message, span, help="is this a grammar file? it looks like a binary one")
        problems.raise_errors()
