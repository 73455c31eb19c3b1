"""Typical mistakes, made at random in good grammars and schemas: each is answered with a diagnostic, never a crash.

Run it for more: `python -m tests.mistakes --count 5000 --seed 7`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cfgmask
from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.json_schema.drafts import ASSERTIONS

GRAMMARS = Path(__file__).parent.parent / "grammars"
_LEXEME = re.compile(r'"(?:[^"\\\n]|\\.)*"i?|/(?:[^/\\\n]|\\.)+/[a-z]*|[A-Za-z_][\w-]*|::=|->|[^\s\w]')
_KEYWORDS = re.compile(r'"([A-Za-z$]{4,})"(?=\s*:)')

GBNF = (
    'root ::= "{" ws pair ("," ws pair)* "}"\npair ::= string ":" ws value ws\nvalue ::= string | number | root\n'
    'string ::= "\\"" [^"\\\\]* "\\""\nnumber ::= "-"? [0-9]+ ("." [0-9]{1,5})?\nws ::= [ \\t\\n]{0,20}\n'
)
SCHEMAS: list[dict[str, Any]] = [
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 40, "pattern": "^A"},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "minItems": 1, "maxItems": 9},
            "kind": {"enum": ["a", "b", None, 1]},
        },
        "required": ["name", "age"],
        "additionalProperties": False,
        "$defs": {"tag": {"anyOf": [{"type": "string", "format": "date"}, {"const": True}]}},
    },
    {"oneOf": [{"type": "number", "exclusiveMinimum": 1, "multipleOf": 0.5}, {"type": "null"}], "title": "a number"},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": False, "uniqueItems": True},
]


def delete_lexeme(text: str, rng: random.Random) -> str:
    found = rng.choice(list(_LEXEME.finditer(text)))
    return text[: found.start()] + text[found.end() :]


def swap_lexemes(text: str, rng: random.Random) -> str:
    found = list(_LEXEME.finditer(text))
    n = rng.randrange(len(found) - 1)
    left, right = found[n], found[n + 1]
    between = text[left.end() : right.start()]
    return text[: left.start()] + right[0] + between + left[0] + text[right.end() :]


def double_lexeme(text: str, rng: random.Random) -> str:
    found = rng.choice(list(_LEXEME.finditer(text)))
    return text[: found.end()] + " " + found[0] + text[found.end() :]


def misspell_name(text: str, rng: random.Random) -> str:
    found = rng.choice(list(re.finditer(r"[A-Za-z]\w{2,}", text)))
    return text[: found.start()] + misspelt(found[0], rng) + text[found.end() :]


def misspelt(name: str, rng: random.Random) -> str:
    n = rng.randrange(1, len(name))
    letter = rng.choice("aeionrst")
    return rng.choice(
        [name[:n] + name[n + 1 :], name[:n] + letter + name[n:], name[: n - 1] + name[n] + name[n - 1] + name[n + 1 :]]
    )


def delete_character(text: str, rng: random.Random) -> str:
    n = rng.randrange(len(text))
    return text[:n] + text[n + 1 :]


def other_sign(text: str, rng: random.Random) -> str:
    """A sign of another notation in place of one."""
    pairs = [
        ('"', "'"),
        (":", "="),
        (":", " ::="),
        ("|", ","),
        ("\n", ";\n"),
        ("(", "{"),
        (")", "]"),
        ("//", "/*"),
        ("/", ""),
    ]
    old, new = rng.choice([pair for pair in pairs if pair[0] in text])
    places = [found.start() for found in re.finditer(re.escape(old), text)]
    at = rng.choice(places)
    return text[:at] + new + text[at + len(old) :]


Mistake = Callable[[str, random.Random], str]
IN_TEXT: list[Mistake] = [
    *(delete_lexeme, swap_lexemes, double_lexeme, misspell_name, misspell_name, delete_character, other_sign),
]


def misspell_keyword(text: str, rng: random.Random) -> str:
    """Of those that restrict something; of a short one the first letter is kept."""
    found = rng.choice([found for found in _KEYWORDS.finditer(text) if found[1] in ASSERTIONS or found[1] == "$defs"])
    return text[: found.start(1)] + misspelt(found[1], rng) + text[found.end(1) :]


def trailing_comma(text: str, rng: random.Random) -> str:
    at = rng.choice([found.start() for found in re.finditer(r"[}\]]", text)])
    return text[:at] + "," + text[at:]


def comment(text: str, rng: random.Random) -> str:
    at = rng.choice([found.end() for found in re.finditer(r"[,{\[]", text)])
    return text[:at] + rng.choice([" // c\n", " /* c */ ", " # c\n"]) + text[at:]


def python_literal(text: str, rng: random.Random) -> str:
    old, new = rng.choice(
        [p for p in (("true", "True"), ("false", "False"), ("null", "None"), ('"', "'")) if p[0] in text]
    )
    at = rng.choice([found.start() for found in re.finditer(old, text)])
    return text[:at] + new + text[at + len(old) :]


IN_SCHEMAS: list[Mistake] = [
    *(misspell_keyword, misspell_keyword, trailing_comma, comment, python_literal, delete_lexeme, swap_lexemes),
    delete_character,
]


def answer(read: Callable[[str], cfgmask.Grammar], text: str) -> tuple[Diagnostic, ...]:
    """What is reported about a text. Raises what is no answer."""
    try:
        return read(text).notes
    except GrammarError as error:
        return tuple(error.diagnostics)
    except LimitExceeded:
        return ()


def check(diagnostics: tuple[Diagnostic, ...], text: str) -> None:
    """Each has a code, a place in the text, and can be rendered; a correction lies in its text."""
    for found in diagnostics:
        assert found.code, found
        assert found.span is not None or found.pointer is not None, found.render()
        assert found.render(), found
        assert found.to_json(), found
        if found.fix is not None:
            assert 0 <= found.fix.span.start <= found.fix.span.end <= len(found.fix.span.source.text), found
            assert "\n" not in found.fix.replacement, found


def lark_sources() -> list[str]:
    """The grammars of this project that are texts of their own."""
    return [path.read_text("utf-8") for path in sorted(GRAMMARS.glob("*.lark"))]


def read_lark(text: str) -> cfgmask.Grammar:
    return cfgmask.Grammar.from_lark(text, folder=GRAMMARS)


def keeps_silent(seed: int) -> str | None:
    """One mistake; the text if nothing is said of one that must be answered."""
    rng = random.Random(seed)
    kind = rng.choice(["lark", "lark", "gbnf", "schema", "schema"])
    if kind == "lark":
        text = rng.choice(IN_TEXT)(rng.choice(_SOURCES), rng)
        check(answer(read_lark, text), text)
    elif kind == "gbnf":
        text = rng.choice(IN_TEXT[:-1])(GBNF, rng)
        check(answer(cfgmask.Grammar.from_gbnf, text), text)
    else:
        mistake = rng.choice(IN_SCHEMAS)
        text = mistake(json.dumps(rng.choice(SCHEMAS)), rng)
        found = answer(cfgmask.Grammar.from_json_schema, text)
        check(found, text)
        must = mistake in (misspell_keyword, trailing_comma, comment, python_literal)
        if must and not any(d.severity in ("error", "warning") for d in found):
            return text
    return None


_SOURCES = lark_sources()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    n_silent = 0
    for seed in range(options.seed, options.seed + options.count):
        try:
            silent = keeps_silent(seed)
        except Exception as error:
            sys.stdout.write(f"seed {seed}: {type(error).__name__}: {error}\n")
            raise
        if silent is not None:
            n_silent += 1
            sys.stdout.write(f"seed {seed}: nothing is said of {silent}\n")
    sys.stdout.write(f"{options.count} mistakes, {n_silent} without an answer\n")


if __name__ == "__main__":
    main()
