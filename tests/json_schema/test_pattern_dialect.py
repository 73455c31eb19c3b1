"""Patterns of schemas that were written for other engines than those of ECMAScript."""

from __future__ import annotations

import re

import pytest

import cfgmask

TEXTS = ["2024", "abc", "ABC", "xabc", "abcx", "abc\n", "é", "A", "aa", "aab", "b", "", "12", "Σ"]
PYTHON = [r"(?P<year>\d{4})", r"(?i)abc", r"\Aabc\Z", r"^(?P<a>a+)b$", r"(?x) a b c", "^[0-9]{2}$"]
RUST = {
    r"^\pL+$": lambda text: text.isalpha(),
    r"^[[:alpha:]]+$": lambda text: text.isascii() and text.isalpha(),
    r"\x{41}": lambda text: "A" in text,
    r"\Aabc\z": lambda text: text == "abc",
}


VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([i]) for i in range(256)), b""], eos_token_id=256)


def accepts(grammar: cfgmask.Grammar, text: str) -> bool:
    matcher, data = cfgmask.compile(grammar, VOCABULARY).matcher(), text.encode()
    return matcher.advance_bytes(data) == len(data) and matcher.is_accepting


def written(text: str) -> str:
    return '"' + text.replace("\n", "\\n") + '"'


def texts_of(schema: dict[str, object], dialect: str) -> list[str]:
    grammar = cfgmask.Grammar.from_json_schema(schema, pattern_dialect=dialect)  # type: ignore[arg-type]
    return [text for text in TEXTS if accepts(grammar, written(text))]


@pytest.mark.parametrize("pattern", PYTHON)
def test_python(pattern: str) -> None:
    expected = [text for text in TEXTS if re.search(pattern, text)]
    assert texts_of({"type": "string", "pattern": pattern}, "python") == expected


@pytest.mark.parametrize("pattern", RUST)
def test_rust(pattern: str) -> None:
    expected = [text for text in TEXTS if RUST[pattern](text)]
    assert texts_of({"type": "string", "pattern": pattern}, "rust") == expected


def test_keys() -> None:
    schema = {
        "type": "object",
        "patternProperties": {r"\A(?P<n>x+)\Z": {"type": "integer"}},
        "additionalProperties": False,
    }
    grammar = cfgmask.Grammar.from_json_schema(schema, pattern_dialect="python")
    assert accepts(grammar, '{"xx": 1}')
    assert not accepts(grammar, '{"xy": 1}')


@pytest.mark.parametrize(
    ("pattern", "dialect"), [(r"(?P<year>\d{4})", "python"), (r"\x{41}", "rust"), (r"(?i)abc", "python")]
)
def test_errors_name_the_dialect(pattern: str, dialect: str) -> None:
    with pytest.raises(cfgmask.GrammarError) as caught:
        cfgmask.Grammar.from_json_schema({"type": "string", "pattern": pattern})
    assert f'pattern_dialect="{dialect}"' in (caught.value.diagnostics[0].help or "")


def test_a_dialect_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="pattern_dialect='perl' is not supported"):
        cfgmask.Grammar.from_json_schema({}, pattern_dialect="perl")  # type: ignore[arg-type]
