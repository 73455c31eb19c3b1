r"""The format `regex`: patterns of ECMA-262, section 22.2.1.

That language is not regular, since groups nest and names, counts and ranges have to agree. So the patterns here are
narrower than the standard allows:

- groups are nested at most `MAX_DEPTH` deep, and in lookaround one deep;
- only what means the same with and without the flag `u`: no stray brackets or braces, no needless escapes;
- no names, and no references to groups;
- ranges in a class and bounds in `{m,n}` only as far as a few classes of their ends tell that they are in order: for
  every end to be remembered, a mask beside a bound on the length would cost a search for each of them.
"""

from __future__ import annotations

from cfgmask.json_schema.formats.pattern import one_of

MAX_DEPTH = 5
_DEPTH_IN_LOOKAROUND = 1

_CODE = "x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}"
_ESCAPE = rf"\\(?:[dDsSwWfnrtv^$\\.*+?()\[\]{{}}|/]|c[A-Za-z]|{_CODE})"
# Within a class a hyphen may be escaped, too, and \b is a backspace.
_ESCAPE_IN_CLASS = rf"\\(?:[dDsSwWbfnrtv^$\\.*+?()\[\]{{}}|/-]|c[A-Za-z]|{_CODE})"

# In `{m,n}` `n` has more digits than `m`, or both have one, or both have two and `n` has more tens.
_COUNTS = one_of(
    "[0-9]{1,9},?",
    *(f"{low},[{low}-9]" for low in range(10)),
    *(f"{low}[0-9],[{low + 1}-9][0-9]" for low in range(1, 9)),
    "0,[1-9][0-9]{1,8}",
    *(f"[1-9][0-9]{{{size - 1}}},[1-9][0-9]{{{size},8}}" for size in range(1, 8)),
)
_QUANTIFIER = rf"(?:[*+?]|\{{{_COUNTS}\}})\??"

# A hyphen that stands for itself is the first or the last character of a class.
_RANGES = [
    *["0-[0-9]", "1-[1-9]", "[2-4]-[5-9]", "[5-8]-9"],
    *["a-[a-z]", "[b-m]-[n-z]", "[n-y]-z"],
    *["A-[A-Z]", "[B-M]-[N-Z]", "[N-Y]-Z"],
]
_CHARACTER = one_of(r"[^\\\]-]", _ESCAPE_IN_CLASS, *_RANGES)
_CLASS = rf"\[\^?-?{_CHARACTER}*-?\]"


def _patterns() -> str:
    simple = one_of(r"[^\^$\\.*+?()\[\]{}|]", r"\.", _ESCAPE, _CLASS)
    quantified = f"{simple}(?:{_QUANTIFIER})?"
    # What stands between two bars may be empty, so a bar is one term more.
    terms = [r"[\^$|]", r"\\[bB]", quantified]
    patterns: list[str] = []
    for depth in range(MAX_DEPTH + 1):
        groups: list[str] = []
        if depth:
            # Masks cost what the pattern has parts, shared ones counted each time: once for each depth must do.
            inside = patterns[min(depth - 1, _DEPTH_IN_LOOKAROUND)]
            groups.append(rf"\((?:\?:)?{patterns[depth - 1]}\)(?:{_QUANTIFIER})?")
            groups.append(rf"\(\?<?[=!]{inside}\)")
        patterns.append(f"{one_of(*terms, *groups)}*")
    return patterns[MAX_DEPTH]


# Patterns with groups of bounded depth.
REGEX = _patterns()
