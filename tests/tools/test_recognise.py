"""Styles found in chat templates. The texts are invented; each has the signs of a family's template."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import cfgmask
from cfgmask.tools.recognise import recognise, template_of

TEMPLATES = {
    "hermes": 'Return a JSON object within <tool_call></tool_call>: {"name": x, "arguments": y}',
    "qwen_3": 'Return {"name": x, "arguments": y} within <tool_call></tool_call>. {{ "<think>" }}',
    "qwen_3_coder": "<tool_call><function=example_function_name><parameter=example_parameter_1>",
    "qwen_3_5": "<tool_call><function=example_function_name><parameter=example_parameter_1>{{ '<think>' }}",
    "llama": '{{ "<|start_header_id|>" }} Respond with {"name": x, "parameters": dictionary of names}',
    "harmony": "{{ '<|start|>assistant<|channel|>final<|message|>' }}",
    "deepseek_r1": "{{ '<｜tool▁calls▁begin｜>' }}```json",
    "deepseek_v3_1": "{{ '<｜tool▁calls▁begin｜><｜tool▁sep｜>' }}",
    "deepseek_v3_2": "dsml_token = '｜DSML｜' function_calls",
    "deepseek_v4": "dsml_token = '｜DSML｜' tool_calls",
    "kimi": "<|tool_calls_section_begin|><|tool_call_argument_begin|>",
    "kimi_k3": '<|open|>message role="assistant"<|sep|><|close|>message<|sep|>',
    "mistral_list": "{{ '[TOOL_CALLS] [' }}",
    "mistral_v11": "[TOOL_CALLS][CALL_ID][ARGS]",
    "mistral": "[TOOL_CALLS][ARGS]",
    "cohere": "<|START_ACTION|>",
    "glm_4_5": "[gMASK]<sop><arg_key>{arg-key-1}</arg_key>\n/nothink",
    "glm_4_7": "[gMASK]<sop><arg_key>{arg-key-1}</arg_key>",
    "minimax": "]~b]ai<minimax:tool_call>",
    "minimax_m3": "]<]minimax[>[<tool_call>",
    "gemma_4": "<|tool_call>call:",
    "function_gemma": "<start_function_call>call:",
    "seed_oss": "<seed:tool_call><function=",
    "nemotron": "<TOOLCALL>[",
    "lfm2": "<|tool_list_start|>",
    "functionary_3_2": ">>>all >>>${recipient}",
    "exaone": '[|assistant|]<tool_call>{"name"',
    "apertus": "<|tools_prefix|>",
    "internlm": "<|action_start|><|plugin|>",
    "hunyuan": "<tool_calls><answer>",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates(name: str) -> None:
    found = recognise(TEMPLATES[name])
    assert found is not None
    assert found.style.name == name


def test_nothing_is_found() -> None:
    assert recognise("{{ messages }}") is None
    with pytest.raises(cfgmask.GrammarError, match="no style fits"):
        cfgmask.Grammar.from_tools([], template="{{ messages }}")


def test_where_templates_are() -> None:
    text = TEMPLATES["kimi"]
    key = "tokenizer.chat_template"
    for source in (
        text,
        {key: text},
        SimpleNamespace(metadata={key: text}),
        SimpleNamespace(chat_template=text),
        SimpleNamespace(chat_template={"default": "", "tool_use": text}),
        SimpleNamespace(chat_template=[{"name": "default", "template": text}]),
    ):
        assert template_of(source) == text
    with pytest.raises(ValueError, match="no chat template"):
        template_of(SimpleNamespace(chat_template=None))


def test_how_sure_it_is() -> None:
    (note,) = cfgmask.Grammar.from_tools([], template=TEMPLATES["kimi"]).notes
    assert note.message == "the style kimi was found in the chat template: sure"
    (note,) = cfgmask.Grammar.from_tools([], template=TEMPLATES["kimi"] + TEMPLATES["cohere"]).notes
    assert "likely, since cohere would fit as well" in note.message
