"""The grammars in `grammars/`: what each must accept and refuse is in the table of its name beside this file."""

from __future__ import annotations

from typing import Any

import pytest

import cfgmask
from cfgmask.analysis.findings import find
from tests.grammars.reading import GRAMMARS, NAMES, Reader, reader, spelled_reader, tables


def texts(kind: str) -> list[object]:
    """(grammar, text) of every table, with short ids."""
    return [
        pytest.param(table["grammar"], text, id=f"{table['grammar']}-{number}")
        for table in tables()
        for number, text in enumerate(table[kind])
    ]


@pytest.mark.parametrize(("grammar", "text"), texts("accept"))
def test_accepts(grammar: str, text: str) -> None:
    assert reader(grammar).accepts(text)


@pytest.mark.parametrize(("grammar", "text"), texts("refuse"))
def test_refuses(grammar: str, text: str) -> None:
    assert not reader(grammar).accepts(text)


def test_every_grammar_has_a_table() -> None:
    assert sorted(table["grammar"] for table in tables()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_a_grammar_needs_a_warning(name: str) -> None:
    assert [note.render() for note in cfgmask.Grammar.from_file(GRAMMARS / name).notes] == []


@pytest.mark.parametrize("table", tables(), ids=lambda table: str(table["grammar"]))
def test_check_finds_what_the_table_says(table: dict[str, Any]) -> None:
    """Nothing, but for `findings`: codes of what stays, for which the grammar's file has the reason."""
    grammar = cfgmask.Grammar.from_file(GRAMMARS / table["grammar"])
    found = find(grammar.ir, reader(table["grammar"]).compiled)
    assert [finding.code for finding in found] == table.get("findings", []), [finding.render() for finding in found]


@pytest.mark.parametrize("table", tables(), ids=lambda table: str(table["grammar"]))
def test_special_tokens_can_be_spelled_as_text(table: dict[str, Any]) -> None:
    special, spelled = reader(table["grammar"]).vocabulary.special_tokens, spelled_reader(table["grammar"])
    assert bool(special) == (spelled is not None), (
        "the comment of a grammar with special tokens shows how to spell them"
    )
    if spelled is not None:
        assert not spelled.vocabulary.special_tokens
        assert [text for text in table["accept"] if not spelled.accepts(text)] == []
        assert [text for text in table["refuse"] if spelled.accepts(text)] == []


@pytest.mark.parametrize(
    ("statements", "call"),
    [
        (
            """
            %import .tool_call_hermes (start, tool)
            %override tool: %json {"const": {"name": "get_time", "arguments": {}}}
            """,
            '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>',
        ),
        (
            """
            %import .tool_call_mistral_args (start, tool, call, TOOL_CALLS, ARGS)
            %cfgmask {"declared": {"TOOL_CALLS": "[TOOL_CALLS]", "ARGS": "[ARGS]"}}
            %override tool: call{"get_time", nothing}
            nothing: %json {"const": {}}
            """,
            "[TOOL_CALLS]get_time[ARGS]{}",
        ),
        (
            """
            %import .tool_call_gpt_oss (start, tool, call)
            %override tool: call{"get_time", nothing}
            nothing: %json {"const": {}}
            """,
            "<|channel|>commentary to=functions.get_time <|constrain|>json<|message|>{}",
        ),
    ],
    ids=["hermes", "mistral_args", "gpt_oss"],
)
def test_tools_can_be_replaced(statements: str, call: str) -> None:
    replaced = Reader.of(cfgmask.Grammar.from_lark(statements, folder=GRAMMARS))
    assert replaced.accepts(call)
    assert not replaced.accepts(call.replace("get_time", "set_timer"))
