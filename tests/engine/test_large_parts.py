"""Masks over vocabularies so large that parts of them are tables, in a context and elsewhere: each against trying
every token.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

import cfgmask
from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import Choice, GrammarIR, Rule, RuleRef, Sequence, SetBounds, Terminal
from tests.engine.harness import compile_ir, mask_of
from tests.engine.test_distinct import list_of

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


# Behind white space and signs thousands of names begin, which need no context.
MORE_WORDS = ["".join(letters) for n in range(1, 7) for letters in product("abcd", repeat=n)]
MORE_FRONTS = ["", " ", "  ", ".", "1", "*", " *"]
MORE_TOKENS = TOKENS[:128] + sorted({(f + w).encode() for f in MORE_FRONTS for w in MORE_WORDS if len(f + w) > 1})
MORE_END = len(MORE_TOKENS)
MORE = cfgmask.Vocabulary.from_bytes([*MORE_TOKENS, b""], eos_token_id=MORE_END)

NAMES = tree.Repetition(tree.CharClass(((0x61, 0x64),)), 1, None)
PLAIN = {
    "ignored white space": 'start: (NAME | ONES | "*" | ".")*\nNAME: /[a-d]+1?/\nONES: /1+/\n%ignore " "',
    "words": 'start: ("a" _S NAME | "cd"i _S (ONES | "b") _S | _S? "*")*\nNAME: /[a-d]{2,}/\nONES: /1+/\n_S: / +/',
    "signs": 'start: x (("*" | "**") x | " " x)*\nx: NAME | "." NAME | ONES\nNAME: /[a-d]{1,9}/\nONES: /1+[a-c]?/',
    "a longer sign": 'start: (NAME " "? ("*" | "*1") (NAME | " " ONES | "."))*\nNAME: /[b-d]\\w*/\nONES: /1+/',
    "different names": list_of(Terminal("NAME", NAMES, distinct=True), comma=" "),
    "different names apart": list_of(
        Choice((Terminal("NAME", NAMES, distinct=True), Sequence((Terminal(".", tree.text(".")), RuleRef("start"))))),
        comma=" ",
    ),
}


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("seed", range(3))
def test_masks_are_those_of_trying_every_token(name: str, seed: int) -> None:
    _check(cfgmask.compile(cfgmask.Grammar.from_lark(GRAMMARS[name]), VOCABULARY), END, 12, random.Random(seed))


@pytest.mark.parametrize("name", PLAIN)
def test_masks_without_context_are_those_of_trying_every_token(name: str) -> None:
    grammar = PLAIN[name]
    if isinstance(grammar, str):
        made = cfgmask.Grammar.from_lark(grammar)
    else:
        made = cfgmask.Grammar(GrammarIR((Rule("start", grammar, opens_set=SetBounds()),), "start"))
    compiled = cfgmask.compile(made, MORE)
    for seed in range(3):
        _check(compiled, MORE_END, 6, random.Random(seed))


def _check(compiled: cfgmask.CompiledGrammar, end: int, n_steps: int, rng: random.Random) -> None:
    matcher = compiled.matcher()
    for _ in range(n_steps):
        allowed = mask_of(matcher, end + 1)
        assert allowed == {token for token in range(end + 1) if _fits(matcher, token)}
        tokens = sorted(allowed - {end})
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
