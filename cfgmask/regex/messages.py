r"""What is wrong with a pattern, in words.

The parser in the core (`cfgmask/core/pattern`) reports a code, a place and arguments. A code may have several texts,
told apart by what stands after its dot.
"""

from __future__ import annotations

TEXTS = {
    "bad-class-range.ends": ("a range must begin and end with a character", r"write `\-` for a hyphen"),
    "bad-class-range.open": ("a range must end with a character", r"write `\-` for a hyphen"),
    "bad-code-point": ("there is no character beyond U+10FFFF", "write fewer digits"),
    "bad-counts": ("the lower count is above the upper one", "exchange them"),
    "bad-escape.anchor": (r"`\{0}` has no meaning in {1} patterns", "anchors are `^` and `$`"),
    "bad-escape.braced-hex": (
        r"`\{0}` needs {1} hexadecimal digits",
        r"write {1} digits or `\{0}{{...}}`",
    ),
    "bad-escape.control": (r"`\c` needs an ASCII letter", r"write `\xHH` for a control character"),
    "bad-escape.digit": (r"`\{0}` has no meaning here in {1} patterns", r"write `\xHH`"),
    "bad-escape.hex": (r"`\{0}` needs {1} hexadecimal digits", "write {1} digits"),
    "bad-escape.letter": (r"`\{0}` has no meaning in {1} patterns", "write `{0}` for the character itself"),
    "bad-escape.name": (r"`\N` needs the name of a character in braces", r"write `\N{{BULLET}}`, say"),
    "bad-escape.none": ("`{0}` takes no backslash in {1} patterns", "write `{0}`"),
    "bad-escape.octal": (r"an octal escape ends at `\377`", r"write `\uHHHH`"),
    "bad-escape.property": (
        r"`\p` needs the name of a property in braces",
        r"write `\p{{L}}` or `\p{{Script=Greek}}`",
    ),
    "bad-flag": ("`{0}` is not a supported flag of {1} patterns here", "supported are {2}"),
    "bad-flag.contradiction": ("these flags contradict each other", "keep one of them"),
    "bad-flag.exclusive": ("the flags `{0}` and `{1}` exclude each other", "keep one of them"),
    "bad-flag.none": ("a flag must stand here", "write `(?:...)` to group"),
    "bad-group": (
        "`{0}` begins no group of {1} patterns",
        r"write `(?:...)` to group, or `\(` for a parenthesis",
    ),
    "bad-group-name": ("a group's name must be an identifier and end with `>`", "write `(?:...)` to group"),
    "conditional": ("conditional groups are not supported", "write the two cases as alternatives"),
    "count-too-large": ("a count is at most {0}", "leave the upper count out"),
    "duplicate-group-name": ("there are two groups named `{0}`", "rename one"),
    "misplaced-flags.nowhere": (
        "{1} patterns have no flags without a group",
        "write `(?{0}:...)` around what they are for",
    ),
    "misplaced-flags.start": (
        "flags without a group switch on, and stand at the start of the pattern",
        "write `(?{0}:...)` around what they are for",
    ),
    "multiple-repeat": ("a repetition cannot be repeated", "write `(?:...)` around it"),
    "non-utf8.byte": ("without the flag u this escape is a byte, not a character", "drop `-u`"),
    "nothing-to-repeat": ("there is nothing to repeat here", r"write `\` before the quantifier"),
    "posix-class": (
        "`{0}` is read in different ways by different engines",
        r"list the ranges, `a-z` for instance, or write `\[` for a bracket",
    ),
    "recursion": ("recursion into a group is not supported", "use a rule of a grammar"),
    "reversed-range": ("this range ends before it begins", "exchange its ends"),
    "set-syntax.mixed": ("`&&` and `--` may not stand in one class", "nest one of them in `[...]`"),
    "set-syntax.operand": (
        "an operand of `&&` or `--` must be one character, class or escape",
        "put it in `[...]`",
    ),
    "set-syntax.reserved": ("`{0}` is reserved inside classes", "write a backslash before each character"),
    "set-syntax.strings": (
        r"strings in classes (`\q{{...}}`) are not supported",
        "write them as alternatives",
    ),
    "stray-brace.close": ("this brace closes nothing", r"write `\}}` for a brace"),
    "stray-brace.open": ("this brace begins no repetition", r"write `\{{`, or `{{n,m}}` with numbers"),
    "stray-bracket": ("this bracket closes no class", r"write `\]` for a bracket"),
    "surrogate": ("a lone surrogate is no character", "leave it out"),
    "surrogate.escape": (
        "a lone surrogate is no character",
        "write the character that the pair stands for",
    ),
    "trailing-backslash": ("the pattern ends with a backslash", r"write `\\` for a backslash"),
    "unclosed-class": ("this class is never closed", "add `]`"),
    "unclosed-group": ("this group is never closed", "add `)`"),
    "unclosed-group.comment": ("this comment is never closed", "add `)`"),
    "unknown-character": ("no character has this name", "names are those of the Unicode standard"),
    "unopened-group": ("this parenthesis closes no group", r"write `\)` for a parenthesis"),
}
"""A sentence and help for each code, with places for the arguments."""

_UNSUPPORTED_ESCAPES = {
    "X": "a grapheme cluster",
    "R": "a line break sequence",
    "K": "a reset of the match's start",
    "G": "the place where the search began",
}


def worded(code: str, arguments: tuple[str, ...]) -> tuple[str, str, str]:
    """The stable code of a problem, a sentence that says it, and help."""
    if code == "unsupported-escape":
        letter = arguments[0]
        what = _UNSUPPORTED_ESCAPES[letter]
        return code, rf"`\{letter}` ({what}) is not supported", "write a pattern for it"
    message, help = TEXTS[code]
    return code.partition(".")[0], message.format(*arguments), help.format(*arguments)
