"""The example notebook shows what its cells give, and what notebooks show of objects is well-formed HTML."""

from __future__ import annotations

import json
import threading
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cfgmask
from cfgmask import notebook as html
from cfgmask.integrations.choices import Choice
from cfgmask.integrations.generated import TextStream
from cfgmask.values import Capture, Captures, Message, ToolCall
from tests import notebook

NOTEBOOK = Path(__file__).parents[1] / "examples" / "tour.ipynb"
VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)


def test_the_notebook_shows_what_its_cells_give() -> None:
    pytest.importorskip("llama_cpp", reason="the notebook generates with llama-cpp-python")
    written = json.loads(NOTEBOOK.read_text("utf-8"))
    assert notebook.run(written) == written
    assert sum(bool(cell.get("outputs")) for cell in written["cells"]) > 5


class _Text(HTMLParser):
    """The text of HTML whose tags match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def text_of(shown: Any) -> str:
    parser = _Text()
    parser.feed(shown._repr_html_())
    parser.close()
    assert parser.open == []
    return parser.text


def matcher(text: str, **options: Any) -> cfgmask.Matcher:
    return cfgmask.compile(cfgmask.Grammar.from_lark(text), VOCABULARY).matcher(**options)


@pytest.mark.parametrize(
    ("grammar", "parts"),
    [
        (
            cfgmask.Grammar.from_lark('start: "<b>&"\nx: "y"', name="a<b"),
            ["Grammar a<b", 'start: "<b>&"', "lark-unused-rule"],
        ),
        (cfgmask.Grammar.from_regex("<i>+"), ["<i>+"]),
        (cfgmask.Grammar.from_json_schema({"const": "</pre>"}), ['"const": "</pre>"']),
        (cfgmask.Grammar.from_json_schema('{"type": "null"}'), ['{"type": "null"}']),
        (cfgmask.Grammar.from_choices(["</div>"]), ["<choices>"]),
    ],
    ids=["lark", "regex", "values", "text", "choices"],
)
def test_grammars(grammar: cfgmask.Grammar, parts: list[str]) -> None:
    assert [part for part in parts if part not in text_of(grammar)] == []


def test_long_grammars_are_cut() -> None:
    text = text_of(cfgmask.Grammar.from_lark('start: "a"' + "\n" * 100 + "// the end"))
    assert "the end" not in text
    assert text.endswith("…")


def test_matchers() -> None:
    shown = matcher('start: "<a>" "b"?', max_tokens=9)
    assert "may not end yet, after 0 steps" in text_of(shown)
    assert 'forced"<a>"' in text_of(shown)
    assert 'allowed1 token: "<"' in text_of(shown)
    assert "9 tokens left" in text_of(shown)
    shown.advance_bytes(b"<a>")
    assert "may end here, after 1 step" in text_of(shown)
    assert 'allowed2 tokens: "b"' in text_of(shown)
    assert "…" not in text_of(shown)
    shown.advance(256)
    assert "finished" in text_of(shown)
    assert "allowed1 token" in text_of(shown)


def test_many_tokens_and_terminals_are_cut() -> None:
    many = " | ".join(f'"{chr(97 + i)}x"' for i in range(26))
    text = text_of(matcher(f"start: {many}"))
    assert "allowed26 tokens" in text
    assert text.count("…") == 2


def test_a_matcher_is_not_moved_by_being_shown() -> None:
    shown = matcher('start: "ab"')
    text_of(shown)
    assert shown.n_steps == 0


def test_choices_are_shown_with_their_probabilities() -> None:
    shown = text_of(Choice("<b>", {"a": 0.25, "<b>": 0.75}, {"a": -1.4, "<b>": -0.3}))
    assert shown.index("<b>") < shown.index("75.0%") < shown.index("25.0%")
    many = Choice("0", {str(n): 0.001 for n in range(1000)}, {})
    assert "960 more choices" in text_of(many)


def test_messages_are_shown_in_parts() -> None:
    calls = [ToolCall("get<x>", {"city": "</td>"}, '{"city": "</td>"}')]
    shown = text_of(Message("because & so", None, calls, [1]))
    assert [part for part in ("because & so", "get<x>", "{'city': '</td>'}", "[1]") if part not in shown] == []
    assert "content" not in shown
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert text_of(Message(value=nested)).endswith("…")
    assert "88 more calls" in text_of(Message(tool_calls=calls * 100))


def test_captures_are_shown_with_those_inside_of_them() -> None:
    inner = Capture("street<", "Main", 4, 8)
    shown = text_of(Captures([Capture("city", "<Lima>", 0, 3), Capture("home", "x", 3, 9, (inner,), {"a": "</td>"})]))
    assert shown == "Capturescity'<Lima>'home{'a': '</td>'}street<'Main'"
    deep = inner
    for _ in range(100_000):
        deep = Capture("home", "x", 0, 9, (deep,))
    assert text_of(Captures([deep])).endswith("more captures")
    assert text_of(Captures()) == "Captures"


def test_streams_are_shown_as_far_as_they_are_written() -> None:
    script = iter([ord("<"), ord("b"), 256])
    decoder = SimpleNamespace(sample=lambda: next(script), write=lambda ids: None)
    started = matcher('start: "<" "b"?')
    stream = TextStream(lambda: decoder, started, 9, lambda _: (0, []), threading.RLock(), logprobs=False)
    assert text_of(stream) == "incomplete, not ended, 0 tokens"
    assert next(stream) == "<"
    assert text_of(stream) == "<complete, not ended, 1 token"
    assert list(stream) == ["b"]
    assert text_of(stream) == "<bcomplete, finish reason stop, 2 tokens"


def test_explanations_have_the_colour_of_their_verdict() -> None:
    shown = matcher('start: "<"')
    allowed, rejected = shown.explain(ord("<")), shown.explain(ord(">"))
    assert text_of(rejected) == str(rejected)
    assert html._GREEN in allowed._repr_html_()
    assert html._RED in rejected._repr_html_()


def test_results() -> None:
    shown = html.text("<a>", True, "stop", 1)
    assert "&lt;a&gt;" in shown
    assert "complete, finish reason stop, 1 token<" in shown
