"""Masks in a context over a vocabulary so large that parts of them are tables: each against trying every token."""

from __future__ import annotations

import random
from itertools import product

import pytest

import cfgmask
from tests.engine.harness import compile_ir, mask_of

WORDS = ["".join(letters) for n in (1, 2, 3, 4) for letters in product("abcd", repeat=n)]
FRONTS = ["", " ", "(", " (", "\n", "\n  ", '"', ".", "1", "# "]
TOKENS = [bytes([b]) for b in range(128)] + sorted({(f + w).encode() for f in FRONTS for w in WORDS} - {b"a", b"b"})
END = len(TOKENS)
LETTERS = b"abcdefghijklmnopqrstuvwxyz"
VOCABULARY = cfgmask.Vocabulary.from_bytes([*TOKENS, b""], eos_token_id=END)

GRAMMARS = {
    "conditions behind": 'start: (NAME | "(" | ONES | "\\"")*\nNAME: /[a-d]+(?!\\()/\nONES: /1+\\b/\n%ignore /[ \\n]/',
    "conditions before": 'start: (NAME | "(" | COMMENT)*\nNAME: /(?<![1.])[a-d]+/\nCOMMENT: /^#.*$/m\n%ignore /[ \\n]/',
    "indented": """\
%cfgmask {"indenter": {"NL_type": "_NL", "OPEN_PAREN_types": ["OPEN"], "CLOSE_PAREN_types": ["CLOSE"]}}
start: (_NL | line)*
line: NAME (NAME | OPEN NAME* CLOSE | "." NAME)* _NL [_INDENT line+ _DEDENT]
OPEN: "("
CLOSE: ")"
NAME: /[a-d]+1*/
_NL: /(\\r?\\n[ ]*|#[^\\n]*)+/
%ignore " "
%declare _INDENT _DEDENT""",
    "a limited rule": 'start: (x "\\n")*\nx[max_tokens=6]: NAME ("." NAME | "(" x ")")*\nNAME: /[a-d]+1?/\n%ignore " "',
    "a limited terminal": 'start: (x NAME)*\nx[max_tokens=3]: /"[^"]*"/\nNAME: /[a-d]+/\n%ignore /[ \\n]/',
    "both": 'start: x+\nx[max_tokens=5]: (NAME | "(" | "1")+ "\\n"\nNAME: /[a-d]+(?!\\()/\n%ignore " "',
}


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("seed", range(3))
def test_masks_are_those_of_trying_every_token(name: str, seed: int) -> None:
    rng = random.Random(seed)
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(GRAMMARS[name]), VOCABULARY).matcher()
    for _ in range(12):
        allowed = mask_of(matcher, END + 1)
        assert allowed == {token for token in range(END + 1) if _fits(matcher, token)}
        tokens = sorted(allowed - {END})
        if not tokens:
            return
        matcher.advance(rng.choice(tokens))


def _fits(matcher: cfgmask.Matcher, token: int) -> bool:
    if matcher.try_advance([token]) == 0:
        return False
    matcher.rollback(1)
    return True


@pytest.mark.parametrize(
    ("terminals", "allowed"),
    [
        (r"X: /[a-z]{1,3}/" + "\n" + r"Y: /(?<=a)!/", b"a"),
        (r"X: /[a-z]{1,3}\b/" + "\n" + r'Y: "c"', b""),
        (r"X: /[a-z]{1,4}\b/" + "\n" + r'Y: "c"', LETTERS),
        (r"X: /[a-z]{1,3}\b/" + "\n" + r'Y: "!"', LETTERS + b"!"),
    ],
)
def test_where_a_class_comes_to_its_bound_what_follows_must_fit(terminals: str, allowed: bytes) -> None:
    """Of a segment whose tokens are no longer than what is left, all stay inside, but not all may be the last."""
    matcher = compile_ir(cfgmask.Grammar.from_lark(f'start: "<" X Y\n{terminals}').ir).matcher()
    matcher.advance_bytes(b"<bc")
    mask = mask_of(matcher, 257)
    assert mask == {token for token in range(257) if matcher.try_advance([token], consume=False)}
    assert mask == set(allowed)
