"""Masks are those of llama.cpp's own sampler, token by token, where it is right about them.

Where it is not, or knows less, `REFUSED` and `DIFFERENT` say why; docs/gbnf.md tells people.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.engine.harness import mask_of
from tests.gbnf.llama_cpp_sampler import Library, Sampler
from tests.gbnf.random_gbnf import grammars
from tests.gbnf.test_meaning import CASES

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

STEPS = 8

# Cases of test_meaning.py that llama.cpp refuses, and why.
REFUSED = {
    "an empty literal": "it repeats nothing that is empty",
    "names": "it has no `_` in names",
    "a byte order mark": "it reads none",
    "left recursion": "it has none",
    "lines that begin with `|`": "a rule is over at the end of its line",
    "lines farther in": "a rule is over at the end of its line",
    "escapes of C": "it has few of them",
    "lines that begin with what no rule begins with": "a rule is over at the end of its line",
    "escaped punctuation in classes": "it escapes little of it",
    "a lookahead of xgrammar": "it has none",
    "a lookahead of a rule": "it has none",
    "names with dots": "it has no dots in names",
    **dict.fromkeys(
        [
            *("tags in free text", "tags once", "what free text must not hold", "free text alone"),
            *("two rules for a tag", "two thousand tags", "the longest of tags that end together"),
            *("tags that begin with each other", "excluded texts that hold each other, and tags"),
            *("the first of tags that overlap", "a pattern", "a pattern over lines", "a pattern in a string of JSON"),
            "a substring",
        ],
        "it has no calls",
    ),
    **dict.fromkeys(
        ["captures and temperatures", "a lazy rule", "a lazy rule of rules", "at most so many characters"],
        "its rules have no options",
    ),
}
# Others on which it differs.
DIFFERENT = {
    "hidden left recursion": "it does not see it, and never answers",
    "rules that never end": "it allows what leads nowhere",
    "any character": "it reads the empty text",
}


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    loaded = Library(llama_cpp)
    yield loaded
    loaded.llm.close()


def comparable(library: Library) -> set[int]:
    """The tokens of whole characters, and the end tokens.

    llama.cpp decodes what begins or ends inside of a character without checking it, and matches control tokens by
    their names.
    """
    ends = set(library.vocabulary.eos_token_ids)
    return ends | {i for i, token in enumerate(library.vocabulary.tokens) if token and is_whole(token)}


def is_whole(token: bytes) -> bool:
    try:
        return "\0" not in token.decode()
    except UnicodeDecodeError:
        return False


def compare(library: Library, grammar: str, rng: random.Random) -> None:
    """Walk along random tokens of the mask."""
    compiled = cfgmask.compile(cfgmask.Grammar.from_gbnf(grammar), library.vocabulary)
    matcher, sampler, whole = compiled.matcher(), Sampler(library, grammar), comparable(library)
    try:
        for _ in range(STEPS):
            ours = mask_of(matcher, library.vocabulary.n_vocab) & whole
            assert ours == sampler.mask() & whole
            going_on = sorted(ours.difference(library.vocabulary.eos_token_ids))
            if not going_on:
                return
            token = rng.choice(going_on)
            matcher.advance(token)
            sampler.accept(token)
    finally:
        sampler.close()


@pytest.mark.parametrize("name", [name for name in CASES if name not in {*REFUSED, *DIFFERENT}])
def test_masks_of_the_cases(library: Library, name: str) -> None:
    for seed in range(3):
        compare(library, CASES[name][0], random.Random(seed))


@pytest.mark.parametrize("name", REFUSED)
def test_what_we_read_beyond_llama_cpp(library: Library, name: str) -> None:
    with pytest.raises(ValueError, match="refuses"):
        Sampler(library, CASES[name][0])


# Grammar, a token, whether llama.cpp allows it at the start, whether cfgmask does: the table in docs/gbnf.md.
DIFFERENCES: dict[str, tuple[str, bytes | str, bool, bool]] = {
    "a rule that never ends": (CASES["rules that never end"][0], b"b", True, False),
    "a part of a character that is not excluded": ("root ::= [^é]", b"\xc3", False, True),
    "a control token's text": ('root ::= "<think>"', "<think>", True, False),
    "a token set inside of a token": ('root ::= "a" !<[5]>', b"ac", True, False),
    "an end token by name": ('root ::= <|end_of_text|> "a"', "<|end_of_text|>", False, True),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences(library: Library, name: str) -> None:
    grammar, token, theirs, ours = DIFFERENCES[name]
    known = library.vocabulary.special_tokens
    token_id = known[token] if isinstance(token, str) else library.vocabulary.tokens.index(token)
    sampler = Sampler(library, grammar)
    assert (token_id in sampler.mask()) is theirs
    sampler.close()
    matcher = cfgmask.compile(cfgmask.Grammar.from_gbnf(grammar), library.vocabulary).matcher()
    assert (token_id in mask_of(matcher, library.vocabulary.n_vocab)) is ours


TOKENS = {
    "by id": 'root ::= <[{a}]> "b"',
    "any but one": 'root ::= !<[{a}]> "b"',
    "beside text": 'root ::= <[{a}]> "b" | "a" "c"',
    "repeated": "root ::= !<[{a}]>* <[{a}]>",
    "after text": 'root ::= "b" <[{a}]>',
}


@pytest.mark.parametrize("name", TOKENS)
def test_masks_of_tokens(library: Library, name: str) -> None:
    grammar = TOKENS[name].format(a=library.vocabulary.tokens.index(b"a"))
    for seed in range(3):
        compare(library, grammar, random.Random(seed))


@given(grammars, st.integers(0, 1000))
def test_masks_of_random_grammars(library: Library, grammar: str, seed: int) -> None:
    compare(library, grammar, random.Random(seed))


@pytest.mark.parametrize(
    "grammar",
    [
        'root ::= "a',
        "root ::= [a",
        'root ::= ("a"',
        'root = "a"',
        'root ::= "\\d"',
        "root ::= x",
        'start ::= "a"',
        'root ::= * "a"',
        'root ::= "a"{,2}',
        'root ::= "a" |\nx ::= "b"',
        'root ::= "a" )',
        "root ::= <[a]>",
        "root ::= <not a token>",
        'root ::= x x ::= "a"',
        "# nothing",
    ],
)
def test_what_llama_cpp_refuses_is_refused(library: Library, grammar: str) -> None:
    with pytest.raises(ValueError, match="refuses"):
        Sampler(library, grammar)
    with pytest.raises(cfgmask.GrammarError):
        cfgmask.compile(cfgmask.Grammar.from_gbnf(grammar), library.vocabulary)
