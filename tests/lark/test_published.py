"""Grammars and patterns that articles about constrained decoding print, as they stand there."""

from __future__ import annotations

import pytest

import cfgmask

# "LLGuidance: Making Structured Outputs Go Brrr".
THINKING = r"""
start: <think> "\n" /(.|\n)*/ </think> ( address | refusal )
refusal: "Sorry, I can't help you" /(.|\n)*/
address: %json {
    "type": "object",
    "properties": {
        "street": { "type": "string" },
        "city": { "type": "string" },
        "zip": { "type": "number" }
   },
   "additionalProperties": false,
   "required": ["street", "city", "zip"]
}
"""

ADDRESS = r"""
%ignore /[ \t\r\n]+/  // ignore whitespace
address: "{" "\"street\"" ":" STRING "," "\"city\"" ":" STRING
          "," "\"zip\"" ":" NUMBER "}"
STRING: "\"" (PLAIN | QUOTED)* "\""  // still just a regex
PLAIN: /[^\"\\\x00-\x1F\x7F]/
QUOTED: /\\([\"\\\/bfnrt]|u[a-fA-F0-9]{4})/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
"""

# "Automata-based constraints for language model decoding", section 2.5.1.
SUMMARY = r"Summary:(\n\* (?P<PARAGRAPH_TOKEN>)+){3,5}"

N_BYTES = 256
END, THINK, END_THINK = 256, 257, 258
WORDS = [b"Once", b" upon", b" a", b"\n", b"\n*", b"* a", b"a\n", "é".encode(), b"\xc3"]
VOCABULARY = cfgmask.Vocabulary.from_bytes(
    [*(bytes([b]) for b in range(N_BYTES)), b"", b"", b"", *WORDS],
    eos_token_id=END,
    special_tokens={"<think>": THINK, "</think>": END_THINK},
)


def ids(*pieces: bytes | int) -> list[int]:
    """Tokens: an id as it is, a text byte by byte."""
    return [token for piece in pieces for token in ([piece] if isinstance(piece, int) else piece)]


def taken(grammar: cfgmask.Grammar, tokens: list[int]) -> tuple[int, bool]:
    """How many of the tokens fit, and whether the text may end after them."""
    matcher = cfgmask.compile(grammar, VOCABULARY).matcher()
    n = 0
    for token in tokens:
        if matcher.try_advance([token]) != 1:
            break
        n += 1
    return n, matcher.is_accepting


def fits(grammar: cfgmask.Grammar, tokens: list[int]) -> bool:
    return taken(grammar, tokens) == (len(tokens), True)


def test_thinking_before_an_address() -> None:
    grammar = cfgmask.Grammar.from_lark(THINKING)
    address = b'{"street": "S", "city": "\\u00e9", "zip": 1.5}'
    assert fits(grammar, ids(THINK, b"\nHm.\n\n{x} ", END_THINK, address))
    assert fits(grammar, ids(THINK, b"\n", END_THINK, b"Sorry, I can't help you\nat all"))
    assert not fits(grammar, ids(THINK, b"\n", END_THINK, b'{"street": "S"}'))
    assert not fits(grammar, ids(b"<think>\n</think>", address))


def test_an_address_by_rules() -> None:
    # It is printed as what a schema comes to: a definition that goes on in the next line is read by no engine.
    grammar = cfgmask.Grammar.from_lark(ADDRESS.replace('":" STRING\n', '":" STRING \\\n') + "start: address")
    assert fits(grammar, ids(b' {"street":"\\"", "city" :\n"", "zip":-0.1e5} '))
    assert not fits(grammar, ids(b'{"street":"", "zip":1, "city":""}'))


def token(word: bytes) -> int:
    return N_BYTES + 3 + WORDS.index(word)


SUMMARIES = {
    "a regex": cfgmask.Grammar.from_regex(SUMMARY),
    "a regex in a rule": cfgmask.Grammar.from_lark(f'%cfgmask {{"lexer": "complete"}}\nstart: /{SUMMARY}/'),
    "by name": cfgmask.Grammar.from_lark(
        '%cfgmask {"lexer": "complete"}\nstart: "Summary:" ("\\n* " PARAGRAPH_TOKEN+){3,5}'
    ),
}


@pytest.mark.parametrize("grammar", SUMMARIES.values(), ids=SUMMARIES)
def test_a_summary_of_paragraphs(grammar: cfgmask.Grammar) -> None:
    bullet = ids(b"\n* ", token(b"Once"), token(b" upon"), token(b" a"))
    spelled = ids(b"\n* ab")
    assert fits(grammar, ids(b"Summary:") + bullet * 3)
    assert fits(grammar, ids(b"Summary:") + spelled * 5)
    assert not fits(grammar, ids(b"Summary:") + bullet * 2)
    assert not fits(grammar, ids(b"Summary:") + bullet * 6)
    assert fits(grammar, ids(b"Summary:") + [token(b"\n*"), *b" a"] + spelled * 2)


def test_a_paragraph_token_has_whole_characters_and_no_line_break() -> None:
    matcher = cfgmask.compile(cfgmask.Grammar.from_regex("x(?P<PARAGRAPH_TOKEN>)y"), VOCABULARY).matcher()
    matcher.advance(ord("x"))
    fitting = {word for word in WORDS if matcher.try_advance([token(word)], consume=False) == 1}
    assert fitting == {b"Once", b" upon", b" a", b"* a", "é".encode()}
