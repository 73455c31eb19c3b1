r"""What is wrong with a pattern, in words.

The reader in the core (`cfgmask/core/pattern`) reports a code, a place and arguments. A code may have several texts,
told apart by what stands after its dot.
"""

from __future__ import annotations

_OTHER_DIALECT = 'read the pattern as one of another dialect, `dialect="python"` for instance'

TEXTS = {
    "assertions-too-complex": (
        "the assertions here depend on each other in too many ways",
        "write what may stand there as part of the pattern",
    ),
    "assertions-too-complex.lazy": (
        "a lazy repetition and an assertion meet at an edge here, which is not supported",
        "write what the repetition may hold as a class",
    ),
    "atomic-group": ("an atomic group is not supported", "write `(?:...)`, which may allow more texts"),
    "backreference": (
        "a backreference is supported only to a group before it that has few texts",
        "write the possible texts as alternatives",
    ),
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
    "lazy-in-count": (
        "a lazy repetition inside of a counted one is not supported",
        "write the rounds one by one, or use `*` or `+`",
    ),
    "lazy-too-many": ("the lazy repetitions here are too many", "write what a repetition may hold as a class"),
    "lazy-with-tokens": (
        "a lazy repetition beside groups that are tokens is not supported",
        "write what it may hold as a class",
    ),
    "lookahead": ("rust patterns have no lookahead", _OTHER_DIALECT),
    "lookbehind": ("rust patterns have no lookbehind", _OTHER_DIALECT),
    "misplaced-flags.nowhere": (
        "{1} patterns have no flags without a group",
        "write `(?{0}:...)` around what they are for",
    ),
    "misplaced-flags.start": (
        "flags without a group switch on, and stand at the start of the pattern",
        "write `(?{0}:...)` around what they are for",
    ),
    "multiple-repeat": ("a repetition cannot be repeated", "write `(?:...)` around it"),
    "named-group.body": ("the group `{0}` has no body", "write `(?P<{0}>)`"),
    "named-group.list": (
        "`{0}` takes a delimiter and items as alternatives",
        "write `(?P<{0}>, |item)`, the delimiter first",
    ),
    "named-group.text": (
        "`SUBSTRING_OF` takes characters that stand for themselves",
        "write a backslash before those that do not, and no flag `i`",
    ),
    "non-utf8": ("without the flag u this may match bytes that are no characters", "drop `-u` here"),
    "non-utf8.byte": ("without the flag u this escape is a byte, not a character", "drop `-u`"),
    "nothing-to-repeat": ("there is nothing to repeat here", r"write `\` before the quantifier"),
    "possessive": ("possessive repetition is not supported", "drop the `+`, which may allow more texts"),
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
    "surrogate.class": (
        "a class of surrogates matches no character",
        r"write characters beyond U+FFFF as such, `\u{{1F600}}` for instance",
    ),
    "surrogate.escape": (
        "a lone surrogate is no character",
        "write the character that the pair stands for",
    ),
    "token-group": (
        "`{0}` is a token, which has no text and cannot be part of a terminal",
        "use it outside of terminals",
    ),
    "token-group.anchor": ("a pattern with tokens has no anchors", "leave it out: the whole text is matched"),
    "token-group.body": ("the group `{0}` has no body", "write `(?P<{0}>)`"),
    "token-group.empty": (
        "what stands beside a token may be empty here, depending on the text around it",
        "let it match one character at least",
    ),
    "token-group.look": ("tokens cannot stand in a group that looks at its text", "take the token out of it"),
    "trailing-backslash": ("the pattern ends with a backslash", r"write `\\` for a backslash"),
    "unclosed-class": ("this class is never closed", "add `]`"),
    "unclosed-group": ("this group is never closed", "add `)`"),
    "unclosed-group.comment": ("this comment is never closed", "add `)`"),
    "unknown-character": ("no character has this name", "names are those of the Unicode standard"),
    "unknown-property": ("{0}", "{1}"),
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
