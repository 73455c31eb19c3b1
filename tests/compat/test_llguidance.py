"""llguidance's names: the same calls on both modules, and the same answers where both mean the same."""

from __future__ import annotations

import importlib
import importlib.util
import json
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import cfgmask
import cfgmask.compat.llguidance as ours
from cfgmask.compat.llguidance import numpy as ours_numpy

theirs: Any = pytest.importorskip("llguidance", reason="make bench installs it")
theirs_numpy: Any = importlib.import_module("llguidance.numpy")

DEMO = Path(cfgmask.__file__).parent / "demo" / "model.gguf"
MODULES = [pytest.param(theirs, id="theirs"), pytest.param(ours, id="ours")]


class Words:
    """The tokenizer of the demo's model, by its longest tokens."""

    def __init__(self) -> None:
        vocabulary = cfgmask.Vocabulary.from_gguf(DEMO)
        self.eos_token_id = vocabulary.eos_token_ids[0]
        self.bos_token_id = None
        self.tokens = [token or f"<|special_{i}|>".encode() for i, token in enumerate(vocabulary.tokens)]
        self.special_token_ids = [i for i, token in enumerate(vocabulary.tokens) if not token]
        self._ids = {token: i for i, token in enumerate(vocabulary.tokens) if token}

    def __call__(self, text: str | bytes) -> list[int]:
        data = text.encode() if isinstance(text, str) else text
        ids = []
        while data:
            size = next(size for size in range(len(data), 0, -1) if data[:size] in self._ids)
            ids.append(self._ids[data[:size]])
            data = data[size:]
        return ids


@pytest.fixture(scope="module")
def words() -> Words:
    return Words()


@pytest.fixture(scope="module")
def tokenizers(words: Words) -> dict[ModuleType, Any]:
    return {module: module.LLTokenizer(module.TokenizerWrapper(words)) for module in (theirs, ours)}


def bits(matcher: Any, n_vocab: int) -> list[int]:
    mask = np.frombuffer(matcher.compute_bitmask(), np.uint8)
    return np.flatnonzero(np.unpackbits(mask, bitorder="little", count=n_vocab)).tolist()


NO_FORCING = '%llguidance {"no_forcing": true}\n'
LARK = [
    'start: "ab" "c"?',
    'start: /[a-z]+( [a-z]+)*/ "."',
    'start: ("x" | "yy")* "z"\n',
    'start: expr\nexpr: term (("+" | "-") term)*\nterm: NUMBER | "(" expr ")"\nNUMBER: /[0-9]+/',
    # White space may stand before the first lexeme there only if it is asked for.
    '%llguidance {"allow_initial_skip": true}\nstart: word ("," word)* \nword: /[a-z]+/\n%ignore " "',
    "start: thing+\nthing[lazy]: /[a-z]*;/",
    'start: head "!"\nhead[suffix="]"]: /[a-z ]*/',
    'start: %json {"type": "array", "items": {"const": 1}, "x-guidance": {"whitespace_flexible": false}} "!"',
    'start: %regex {"substring_words": "the cat sat"}',
    'start: "" | "a" start "b"',
]
COMPACT = {"whitespace_flexible": False}
SCHEMAS: list[dict[str, Any]] = [
    {"type": "integer"},
    {"type": "boolean"},
    {"enum": ["red", "green", 3, None]},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
    {
        "type": "object",
        "properties": {"name": {"enum": ["a", "b"]}, "n": {"type": "integer"}},
        "required": ["name", "n"],
        "additionalProperties": False,
    },
    {"anyOf": [{"const": "yes"}, {"type": "null"}]},
    {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"},
]
REGEXES = ["[a-z]{2,5}", "a/b|[0-9]+", "(foo|bar)*baz", "x[^\\n]*y"]


@pytest.mark.parametrize("lark", LARK)
def test_masks_of_lark_are_equal(lark: str, words: Words, tokenizers: dict[ModuleType, Any]) -> None:
    # Tokens that llguidance forces are the tokenizer's choice, not the grammar's.
    lark = lark if lark.startswith("%llguidance") else NO_FORCING + lark
    lark = lark.replace('{"allow', '{"no_forcing": true, "allow')
    walk(words, tokenizers, lark, lark)


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_masks_of_schemas_are_equal(schema: dict[str, Any], words: Words, tokenizers: dict[ModuleType, Any]) -> None:
    grammars = [module.LLMatcher.grammar_from_json_schema(schema, COMPACT) for module in (theirs, ours)]
    assert json.loads(grammars[0]) == json.loads(grammars[1])
    walk(words, tokenizers, *grammars)


@pytest.mark.parametrize("regex", REGEXES)
def test_masks_of_regexes_are_equal(regex: str, words: Words, tokenizers: dict[ModuleType, Any]) -> None:
    grammars = [module.grammar_from("regex", regex) for module in (theirs, ours)]
    assert json.loads(grammars[0]) == json.loads(grammars[1])
    walk(words, tokenizers, *grammars)


def walk(words: Words, tokenizers: dict[ModuleType, Any], their_grammar: str, our_grammar: str) -> None:
    """Some random texts, with everything that can be asked on the way."""
    n_vocab = len(words.tokens)
    rng = random.Random(our_grammar)
    theirs_at = theirs.LLMatcher(tokenizers[theirs], their_grammar, log_level=0)
    ours_at = ours.LLMatcher(tokenizers[ours], our_grammar, log_level=0)
    assert (theirs_at.get_error(), ours_at.get_error()) == ("", "")
    n_masks = 0
    for _ in range(6):
        assert theirs_at.reset()
        assert ours_at.reset()
        taken = 0
        for _ in range(20):
            expected = bits(theirs_at, n_vocab)
            found = bits(ours_at, n_vocab)
            forced = theirs_at.compute_ff_tokens() if len(expected) == 1 else []
            # llguidance allows nothing but the first of the tokens that it forces.
            if forced and forced[0] == expected[0]:
                assert expected[0] in found
            else:
                assert found == expected
                n_masks += 1
            answers = [
                (
                    m.is_accepting(),
                    m.is_stopped(),
                    m.stop_reason(),
                    m.is_error(),
                    m.compute_ff_bytes().split(b"\xff")[0],
                )
                for m in (theirs_at, ours_at)
            ]
            assert answers[0] == answers[1]
            sample = [rng.choice(expected), *rng.sample(range(n_vocab), 2)]
            assert theirs_at.validate_tokens(sample) == ours_at.validate_tokens(sample)
            if theirs_at.is_stopped():
                break
            if taken and rng.random() < 0.2:
                back = rng.randrange(1, taken + 1)
                assert theirs_at.rollback(back) == ours_at.rollback(back) is True
                taken -= back
                continue
            if rng.random() < 0.2:
                n = theirs_at.try_consume_tokens(sample)
                assert n == ours_at.try_consume_tokens(sample)
                taken += n
                continue
            token = rng.choice(expected)
            assert theirs_at.consume_token(token) == ours_at.consume_token(token) is True
            taken += 1
    assert n_masks > 5


def test_struct_tags_are_equal(words: Words, tokenizers: dict[ModuleType, Any]) -> None:
    texts = {}
    for module in (theirs, ours):
        tags = [
            module.StructTag(trigger="<f", begin="<f=a>", grammar={"type": "integer"}, end="</f>"),
            module.StructTag(trigger="[", begin="[", grammar="start: /[0-9]+/", end="]"),
        ]
        texts[module] = module.StructTag.to_grammar(tags)
    theirs_at, ours_at = (module.LLMatcher(tokenizers[module], texts[module], log_level=0) for module in (theirs, ours))
    assert (theirs_at.get_error(), ours_at.get_error()) == ("", "")
    for text in ("so <f=a>12</f> and [7] yes", "plain", "[12"):
        for module, matcher in ((theirs, theirs_at), (ours, ours_at)):
            matcher.reset()
            assert matcher.consume_tokens(words(text)), module
        assert theirs_at.is_accepting() == ours_at.is_accepting() == (text != "[12")


# ---- one call after the other, as llguidance 1.9.1 answers


def byte_matcher(module: Any, grammar: str) -> Any:
    return module.LLMatcher(module.LLTokenizer("byte"), grammar, log_level=0)


@pytest.mark.parametrize("module", MODULES)
def test_end_tokens(module: Any) -> None:
    eos = module.LLTokenizer("byte").eos_token
    m = byte_matcher(module, 'start: "ab" "c"?')
    assert m.validate_tokens([97, 98, eos]) == 3
    assert m.validate_tokens([97, 98, eos, 99]) == 3
    assert m.consume_tokens([97, 98, eos])
    assert (m.is_stopped(), m.stop_reason()) == (True, "EndOfSentence")
    assert m.consume_token(eos)
    assert m.rollback(1)
    assert (m.is_stopped(), m.is_accepting()) == (False, True)
    assert m.rollback(2)
    assert not m.is_accepting()
    # Where nothing can follow, the end token is no step.
    m = byte_matcher(module, 'start: "ab"')
    assert m.consume_tokens([97, 98])
    assert m.stop_reason() == "NoExtension"
    assert m.consume_token(eos)
    assert m.try_consume_tokens([eos]) == m.validate_tokens([eos]) == 0
    assert m.rollback(1)
    assert m.compute_ff_bytes() == b"b"
    assert not byte_matcher(module, 'start: "a"').consume_token(eos)


@pytest.mark.parametrize("module", MODULES)
def test_errors_stay(module: Any) -> None:
    m = byte_matcher(module, 'start: "ab"')
    assert m.try_consume_tokens([97, 99]) == 1
    assert not m.is_error()
    assert not m.consume_token(99)
    assert m.is_error()
    assert m.get_error()
    assert m.stop_reason() == "InternalError"
    eos = module.LLTokenizer("byte").eos_token
    assert bits(m, eos + 1) == [eos]
    assert (m.reset(), m.rollback(1), m.consume_token(97), m.is_accepting()) == (False,) * 4
    assert (m.try_consume_tokens([97]), m.validate_tokens([97]), m.compute_ff_bytes()) == (0, 0, b"")
    assert m.is_stopped()
    assert m.deep_copy().is_error()
    for grammar in ("", "start: a", "{", '{"grammars": []}', "start: /[/", "start: <|zork|>"):
        m = byte_matcher(module, grammar)
        assert m.is_error(), grammar
        assert module.LLMatcher.validate_grammar(grammar, module.LLTokenizer("byte"))
    m = byte_matcher(module, 'start: "ab"')
    assert not m.rollback(1)
    assert m.is_error()
    for wrong in (-1, 2**40):
        with pytest.raises(OverflowError):
            m.consume_token(wrong)
    assert not byte_matcher(module, 'start: "ab"').consume_token(5000)


@pytest.mark.parametrize("module", MODULES)
def test_copies_go_their_own_way(module: Any) -> None:
    m = byte_matcher(module, "start: /[ab]c/")
    assert m.compute_ff_bytes() == b""
    other = m.deep_copy()
    assert m.consume_token(ord("b"))
    assert m.compute_ff_bytes() == b"c"
    assert m.compute_ff_tokens() == [ord("c")]
    assert other.compute_ff_bytes() == b""
    assert other.consume_token(ord("a"))
    assert set(other.compute_logit_bias()) == {0, 200}
    assert other.compute_logit_bias()[ord("c")] == 200


@pytest.mark.parametrize(("module", "functions"), [(theirs, theirs_numpy), (ours, ours_numpy)], ids=["theirs", "ours"])
def test_masks_in_arrays(module: Any, functions: Any) -> None:
    tokenizer = module.LLTokenizer("byte")
    executor = module.LLExecutor(num_threads=1)
    m, other, failed = (module.LLMatcher(tokenizer, 'start: "ab"', log_level=0) for _ in range(3))
    failed.consume_token(0)
    other.consume_token(97)
    masks = functions.allocate_token_bitmask(5, tokenizer.vocab_size)
    functions.fill_next_token_bitmask_par(executor, [(other, 3), (m, 0), (failed, 1)], masks)
    eos = tokenizer.eos_token
    assert [np.flatnonzero(unpacked(row)).tolist() for row in masks[[0, 1, 3]]] == [[97], [eos], [98]]
    assert (masks[[2, 4]] == -1).all()
    functions.fill_next_token_bitmask(other, masks, 2)
    assert np.flatnonzero(unpacked(masks[2])).tolist() == [98]
    masks[:] = -1
    functions.fill_next_token_bitmask_par_with_draft_tokens(executor, [(m, 0, [97, 98, 98])], masks)
    assert [np.flatnonzero(unpacked(row)).tolist() for row in masks[:3]] == [[97], [98], [eos]]
    assert (masks[3:] == -1).all()
    assert m.validate_tokens([97, 98]) == 2  # it was not moved
    assert functions.consume_token_par(executor, [(m, 97), (other, 97)]) == [True, False]
    logits = np.zeros((1, tokenizer.vocab_size + 40), np.float32)
    functions.apply_token_bitmask_inplace(logits, masks[1:2])
    assert np.flatnonzero(np.isfinite(logits)).tolist() == [98]
    for wrong, error in (
        ([], ValueError),
        ([(m, 5)], ValueError),
        ([(m, 0), (m, 1)], RuntimeError),
        ([("m", 0)], TypeError),
        ([(m, -1)], OverflowError),
    ):
        with pytest.raises(error):
            functions.fill_next_token_bitmask_par(executor, wrong, masks)
    with pytest.raises(ValueError, match="Invalid buffer size"):
        functions.fill_next_token_bitmask(m, np.zeros((1, 8), np.int32))
    with pytest.raises(AssertionError):
        functions.fill_next_token_bitmask(m, np.zeros((1, 9), np.int64))


def unpacked(row: Any) -> Any:
    return np.unpackbits(row.view(np.uint8), bitorder="little")[:262]


@pytest.mark.parametrize("module", MODULES)
def test_tokenizers(module: Any, words: Words) -> None:
    t = module.LLTokenizer(module.TokenizerWrapper(words))
    assert t.is_canonical
    assert t.vocab_size == len(words.tokens)
    assert (t.eos_token, t.eos_tokens) == (words.eos_token_id, [words.eos_token_id])
    text = "Hello wörld"
    assert t.tokenize_str(text) == words(text) == t.tokenize_bytes(text.encode())
    assert t.decode_bytes(words(text)) == text.encode()
    assert t.decode_str(words(text)) == text
    assert b"".join(words.tokens[i] for i in t.greedy_tokenize(text)) == text.encode()
    tokens, rest = t.tokenize_partial(text.encode())
    assert t.decode_bytes(tokens) + rest == text.encode()
    assert tokens == words(text)[: len(tokens)]
    assert module.LLTokenizer(module.TokenizerWrapper(words), eos_token=[3, 4]).eos_tokens == [3, 4]
    assert t.dbg_tokens([]) == "⟦⟧"
    assert len(module.LLTokenizer.general_slices()) == len(module.LLTokenizer.json_slices()) == 4
    assert t.with_slices([]).vocab_size == t.vocab_size
    with pytest.raises(ValueError, match="must not be empty"):
        module.LLTokenizer("byte", eos_token=[])
    with pytest.raises(ValueError, match="error loading tokenizer"):
        module.LLTokenizer("no/such/file")


def test_names_and_signatures_are_theirs() -> None:
    assert set(theirs.__all__) <= set(ours.__all__)
    for name in ("LLTokenizer", "LLMatcher", "LLExecutor", "LLParserLimits", "TokenizerWrapper", "StructTag"):
        lacking = {n for n in vars(getattr(theirs, name)) if not n.startswith("_")} - set(dir(getattr(ours, name)))
        assert not lacking - {"from_llamacpp"}, name
    for module in ("numpy", "torch", "hf", "tiktoken", "gbnf_to_lark"):
        if module == "torch":
            continue  # tests/compat/test_llguidance_torch.py
        if module == "hf" and importlib.util.find_spec("transformers") is None:
            continue  # their module imports it
        theirs_module, ours_module = (
            importlib.import_module(f"{package}.{module}") for package in ("llguidance", "cfgmask.compat.llguidance")
        )
        public = {
            name
            for name, value in vars(theirs_module).items()
            if getattr(value, "__module__", None) == theirs_module.__name__ and not name.startswith("_")
        }
        assert (
            public <= {*dir(ours_module), "GrammarParser", "Rule", "Element", "ElementType"} or module == "gbnf_to_lark"
        )


def test_limits_are_read() -> None:
    limits = ours.LLParserLimits(max_grammar_size=3)
    assert limits.max_grammar_size == 3
    assert limits.step_max_items == theirs.LLParserLimits().step_max_items
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    grammar = ours.LLMatcher.grammar_from_json_schema(schema)
    matcher = ours.LLMatcher(ours.LLTokenizer("byte"), grammar, limits=limits)
    assert "max_rules" in matcher.get_error()


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ('{"grammars": [{"lark_grammar": "start: /a*/"}], "max_tokens": 2}', "cut its text off"),
        ('{"grammars": [{"json_schema": {"x-guidance": {"json_allowed_escapes": "/"}}}]}', "a string of letters"),
        ('{"grammars": [{"json_schema": {"x-guidance": {"zork": 1}}}]}', "has no option"),
        ('%llguidance {"allow_invalid_utf8": true}\nstart: "a"', "not UTF-8"),
    ],
)
def test_what_differs_is_refused(grammar: str, message: str) -> None:
    assert message in byte_matcher(ours, grammar).get_error()


@pytest.mark.parametrize(
    ("option", "value", "yes", "no"),
    [
        ("item_separator", " ?, ?", '{"a":1 , "b":2}', '{"a":1  ,"b":2}'),
        ("key_separator", ": ", '{"a": 1,"b": 2}', '{"a":1,"b":2}'),
        ("whitespace_pattern", " {0,2}", '{  "a": 1 ,"b" :2}', '{   "a":1,"b":2}'),
        ("whitespace_flexible", False, '{"a":1,"b":2}', '{"a": 1,"b":2}'),
        ("coerce_one_of", True, '{"a":1,"b":2}', "[]"),
        ("lenient", True, '{"a":1,"b":2}', "[]"),
        ("json_allow_general_unicode_escapes", True, '{"a":1,"b":2}', "[]"),
    ],
)
@pytest.mark.parametrize("module", MODULES)
def test_options_of_schemas(module: Any, option: str, value: Any, yes: str, no: str) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    for grammar in (
        module.LLMatcher.grammar_from_json_schema(schema, {"whitespace_flexible": False}, {option: value}),
        module.LLMatcher.grammar_from_json_schema(
            {**schema, "x-guidance": {"whitespace_flexible": False, option: value}}
        ),
        module.LLMatcher.grammar_from_json_schema(
            schema, {"whitespace_pattern": None, "whitespace_flexible": False, option: value}
        ),
    ):
        for text, fits in ((yes, True), (no, False)):
            m = byte_matcher(module, grammar)
            assert not m.get_error()
            assert (m.consume_tokens(list(text.encode())) and m.is_accepting()) == fits, (text, grammar)


# ---- in place of the real one


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_install() -> None:
    code = """
import sys, cfgmask.compat.llguidance as ours
ours.install()
ours.install()
import llguidance, llguidance.numpy
from llguidance.gbnf_to_lark import any_to_lark
import cfgmask.compat.llguidance.numpy as ours_numpy
assert llguidance is ours and llguidance.numpy is ours_numpy
assert ours_numpy.__spec__.name == "cfgmask.compat.llguidance.numpy"
assert "torch" not in sys.modules
try:
    import llguidance.zork
except ModuleNotFoundError:
    print(llguidance.get_version())
"""
    assert run(code).strip() == "cfgmask (llguidance@1.9.1)"


def test_install_refuses_beside_the_real_one() -> None:
    code = """
import llguidance, cfgmask.compat.llguidance as ours
try:
    ours.install()
except RuntimeError as error:
    print(error)
"""
    assert "llguidance is loaded" in run(code)
