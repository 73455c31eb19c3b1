r"""The format `regex`: patterns of ECMA-262, section 22.2.1.

That language is not regular, since groups nest and names, counts and ranges have to agree. So the patterns here are
narrower than the standard allows:

- groups are nested at most `MAX_DEPTH` deep;
- only what means the same with and without the flag `u`: no stray brackets or braces, no needless escapes;
- no names, and no references to groups;
- the ends of a range in a class are two digits or two letters of one case, in order;
- in `{m,n}`, `n` has more digits than `m`, or both have one or two and `m` is not greater.
"""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase, digits

from cfgmask.grammar.regex_tree import Alternation, Concatenation, RegexTree, Repetition
from cfgmask.json_schema.formats.pattern import one_of, read

MAX_DEPTH = 6

_CODE = "x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}"
_ESCAPE = rf"\\(?:[dDsSwWfnrtv^$\\.*+?()\[\]{{}}|/]|c[A-Za-z]|{_CODE})"
# Within a class a hyphen may be escaped, too, and \b is a backspace.
_ESCAPE_IN_CLASS = rf"\\(?:[dDsSwWbfnrtv^$\\.*+?()\[\]{{}}|/-]|c[A-Za-z]|{_CODE})"


def ecma_regex() -> RegexTree:
    """Patterns with groups of bounded depth. Linear in that depth."""
    quantifier = Repetition(read(_quantifier()), 0, 1)
    simple = read(one_of(r"[^\^$\\.*+?()\[\]{}|]", r"\.", _ESCAPE, _class()))
    assertion: RegexTree = read(r"[\^$]|\\[bB]")
    pattern: RegexTree = read("")
    for depth in range(MAX_DEPTH + 1):
        terms = [assertion, Concatenation((simple, quantifier))]
        if depth:
            terms.append(Concatenation((read(r"\((?:\?:)?"), pattern, read(r"\)"), quantifier)))
            terms.append(Concatenation((read(r"\(\?<?[=!]"), pattern, read(r"\)"))))
        alternative = Repetition(Alternation(tuple(terms)), 0, None)
        pattern = Concatenation((alternative, Repetition(Concatenation((read(r"\|"), alternative)), 0, None)))
    return pattern


def _quantifier() -> str:
    ordered = [rf"{m},{_at_least(m)}" for m in range(100)]
    longer = [rf"[1-9][0-9]{{{size - 1}}},[1-9][0-9]{{{size},8}}" for size in range(1, 8)]
    counts = one_of("[0-9]{1,9},?", "0,[1-9][0-9]{1,8}", *ordered, *longer)
    return rf"(?:[*+?]|\{{{counts}\}})\??"


def _at_least(count: int) -> str:
    """Numbers of as many digits that are not less."""
    tens, ones = divmod(count, 10)
    if not tens:
        return f"[{ones}-9]"
    return one_of(f"{tens}[{ones}-9]", f"[{tens + 1}-9][0-9]") if tens < 9 else f"{tens}[{ones}-9]"


def _class() -> str:
    """A class in brackets; a hyphen that stands for itself is its first or last character."""
    ranges = [f"{low}-[{low}-{order[-1]}]" for order in (digits, ascii_lowercase, ascii_uppercase) for low in order]
    character = one_of(r"[^\\\]-]", _ESCAPE_IN_CLASS, *ranges)
    return rf"\[\^?-?{character}*-?\]"
