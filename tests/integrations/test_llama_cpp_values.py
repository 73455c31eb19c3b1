"""Values of what a model wrote, and what may stand in place of a grammar."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask.values import Capture
from cfgmask.values.json_fields import json_fields

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import generate  # noqa: E402


@dataclasses.dataclass
class Point:
    x: int
    kind: str


POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "kind": {"enum": ["a", "b"]}},
    "required": ["x", "kind"],
    "additionalProperties": False,
}


def test_types(llm: Any) -> None:
    text = generate(llm, "Hello", Point, max_tokens=80, seed=1)
    assert isinstance(text.value, Point)
    assert dataclasses.asdict(text.value) == json.loads(text)
    assert text.is_complete


def test_schemas(llm: Any) -> None:
    text = generate(llm, "Hello", POINT, max_tokens=80, seed=1)
    assert text.value == json.loads(text)
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(POINT), cfgmask.Vocabulary.from_llama(llm))
    assert generate(llm, "Hello", compiled, max_tokens=80, seed=1).value == text.value


def test_texts(llm: Any) -> None:
    assert generate(llm, "Hello", ["red", "green"]).value in ("red", "green")
    text = generate(llm, "Hello", re.compile("[A-C]{3}", re.IGNORECASE))
    assert text.value == str(text)
    assert re.fullmatch("[a-cA-C]{3}", text)


def test_captures(llm: Any) -> None:
    grammar = cfgmask.Grammar.from_lark('start: "x=" n\nn[capture]: /[0-9]{2}/')
    text = generate(llm, "Hello", grammar)
    assert text.captures == [("n", text[2:].encode())]
    assert text.value == (Capture("n", text[2:], 2, 4),)


def test_a_text_that_is_cut_off_has_no_value(llm: Any) -> None:
    grammar = cfgmask.Grammar.from_regex("[0-9]{300}b")
    text = generate(llm, "Hello", grammar)
    assert not text.is_complete
    with pytest.raises(cfgmask.ParseError, match="incomplete"):
        text.value  # noqa: B018


TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_messages_are_written_by_the_chat_template(llm: Any) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    grammar = cfgmask.Grammar.from_regex("[a-z]{8}")
    with pytest.raises(ValueError, match="chat template"):
        generate(llm, messages, grammar)
    llm.metadata["tokenizer.chat_template"] = TEMPLATE
    answer = generate(llm, messages, grammar, temperature=0)
    bos = llm._model.token_get_text(llm.token_bos())
    ids = llm.tokenize(f"{bos}<user>Hi</s><assistant>".encode(), add_bos=False, special=True)
    assert answer == generate(llm, ids, grammar, temperature=0)


TYPED = """
import dataclasses, re
from typing import Annotated, Any, Literal
from cfgmask import CompiledGrammar, Grammar
from cfgmask.integrations import transformers
from cfgmask.integrations.llama_cpp import choose, generate

@dataclasses.dataclass
class Model:
    x: int

def call(x: int) -> None: ...

def ask(llm: Any, tok: Any, grammar: Grammar, compiled: CompiledGrammar) -> None:
    reveal_type(generate(llm, "p", Model).value)
    reveal_type(generate(llm, "p", ["a", "b"]).value)
    reveal_type(generate(llm, "p", re.compile("a")).value)
    reveal_type(generate(llm, [{"role": "user", "content": "x"}], grammar).value)
    reveal_type(generate(llm, "p", Model, stream=True))
    reveal_type(generate(llm, "p", list[Model]).value)
    reveal_type(generate(llm, "p", int | None).value)
    reveal_type(generate(llm, "p", Literal["a", "b"]).value)
    reveal_type(generate(llm, "p", Annotated[int, 5]).value)
    reveal_type(generate(llm, "p", {"type": "object"}).value)
    reveal_type(generate(llm, "p", compiled).value)
    reveal_type(generate(llm, "p", call).value)
    reveal_type(generate(llm, "p", Grammar.from_type(Model)).value)
    reveal_type(generate(llm, "p", Grammar.from_choices(["a"])).value)
    reveal_type(transformers.generate(llm, tok, "p", Model).value)
    reveal_type(transformers.generate(llm, tok, "p", Grammar.from_type(Model)).value)
    reveal_type(transformers.generate(llm, tok, "p", ["a"]).value)
    reveal_type(transformers.generate(llm, tok, "p", Model, stream=True))
    reveal_type(choose(llm, "p", ["a"]).probability)
    reveal_type(transformers.choose(llm, tok, "p", ["a"]).probabilities)
    reveal_type(Grammar.from_type(Model, syntax="call").parse("x"))
    reveal_type(Grammar.from_type(list[int]).parse("x"))
    reveal_type(Grammar.from_type(Literal["a"]).parse("x"))
    reveal_type(Grammar.from_type(int | None).parse("x"))
    reveal_type(Grammar.from_regex("a").parse("x"))
    reveal_type(Grammar.from_json_schema({}).parse("x"))
    reveal_type(Grammar.from_type(Model, strict=True, pattern_dialect=None).parse("x"))
"""
STREAM = "cfgmask.integrations.generated.TextStream"
REVEALED = ["typed.Model", "str", "str", "Any", STREAM, "list[typed.Model]", *["Any"] * 6]
REVEALED += ["typed.Model", "str", "typed.Model", "typed.Model", "str", STREAM, "float", "dict[str, float]"]
REVEALED += ["typed.Model", "list[int]", "Any", "Any", "str", "Any", "typed.Model"]


def test_values_have_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "typed.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "typed.py"]
    environment = {"MYPYPATH": str(Path(cfgmask.__file__).parents[1]), "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    revealed = re.findall(r'Revealed type is "([^"]+)"', done.stdout)
    shown = [each.replace("builtins.", "") for each in revealed]
    assert shown == REVEALED, done.stdout + done.stderr
    assert "typed.py" not in re.sub(r".*Revealed type.*", "", done.stdout)  # no errors, either


def test_logprobs_are_those_of_the_model_and_of_what_is_left(load: Any) -> None:
    """By reading the logits of the finished text again, and trying every token at every place."""
    vocabulary = cfgmask.Vocabulary.from_llama(load())
    grammar = cfgmask.Grammar.from_lark(
        'start: "a=" a "; " b\na[capture]: /[a-z]{1,5}/\nb[capture="bs"]: /[0-9é]{2,9}/'
    )
    compiled = cfgmask.compile(grammar, vocabulary)
    for seed in range(4):
        scorer = load(logits_all=True)
        prompt = scorer.tokenize(b"Hello", special=True)
        text = generate(load(), "Hello", compiled, max_tokens=30, seed=seed, top_k=0, repeat_penalty=1.3)
        # Sums in llama.cpp depend on how many tokens are evaluated together.
        scorer.eval(prompt)
        for token_id in text.token_ids:
            scorer.eval([token_id])
        logits = scorer.scores[len(prompt) - 1 : len(prompt) + len(text.token_ids) - 1].astype(float)
        matcher = compiled.matcher(max_tokens=30, stall_after=512)
        for row, token_id, found in zip(logits, text.token_ids, text.token_logprobs, strict=True):
            allowed = [each for each in range(vocabulary.n_vocab) if matcher.fork().try_advance([each])]
            assert found.raw == pytest.approx(row[token_id] - np.logaddexp.reduce(row), abs=1e-5)
            assert found.masked == pytest.approx(row[token_id] - np.logaddexp.reduce(row[allowed]), abs=1e-5)
            matcher.advance(token_id)
        assert [(each.name, each.text.encode()) for each in text.logprobs] == text.captures
    texts = generate(load(), "Hello", Point, max_tokens=80, logprobs=True).logprobs
    assert [each.name for each in texts] == ["x", "kind"]
    assert generate(load(), "Hello", Point, max_tokens=80).logprobs == ()


NESTED = '{"a": [1, {"b c": "x,\\"}"}], "d": {}, "e": [[]], "é": null}'
FIELDS = [("a[0]", "1"), ('a[1]["b c"]', '"x,\\"}"'), ("a[1]", '{"b c": "x,\\"}"}'), ("a", '[1, {"b c": "x,\\"}"}]')]
FIELDS += [("d", "{}"), ("e[0]", "[]"), ("e", "[[]]"), ("é", "null")]


def test_json_fields() -> None:
    data = NESTED.encode()
    assert [(path, data[start:end].decode()) for path, start, end in json_fields(data)] == FIELDS
    # Of a beginning, those that have ended.
    for cut in range(len(data)):
        found = [(path, data[start:end].decode()) for path, start, end in json_fields(data[:cut])]
        assert found == FIELDS[: len(found)]
    assert list(json_fields(b"12")) == [("", 0, 2)]
