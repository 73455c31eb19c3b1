"""Arguments in forms that are not JSON, and the values that they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cfgmask.json_schema.forms import FORMS
from cfgmask.values.forms import read_form

TYPES: dict[str, tuple[type, ...]] = {
    "s": (str,),
    "n": (int,),
    "b": (bool,),
    "e": (str, int),
    "l": (list,),
    "o": (dict,),
    "z": (type(None), str),
}


def allows(key: str, text: str) -> bool:
    value = json.loads(text)
    return isinstance(value, TYPES[key]) and not (isinstance(value, bool) and bool not in TYPES[key])


BAR = "\N{FULLWIDTH VERTICAL LINE}DSML\N{FULLWIDTH VERTICAL LINE}"
M3 = "]<]minimax[>["

CASES: list[tuple[str, str, Any]] = [
    ("qwen_xml", "", {}),
    ("qwen_xml", "<parameter=s>\nBrest\n</parameter>\n<parameter=n>\n2\n</parameter>\n", {"s": "Brest", "n": 2}),
    ("qwen_xml", "<parameter=s>5</parameter><parameter=e>5</parameter>", {"s": "5", "e": 5}),
    ("qwen_xml", "<parameter=b>True</parameter><parameter=z>None</parameter>", {"b": True, "z": None}),
    ("qwen_xml", '<parameter=o>{"a": [1, "<x>"]}</parameter>', {"o": {"a": [1, "<x>"]}}),
    ("qwen_xml", "<parameter=s>\n\n a < b\n</parameter>", {"s": "\n a < b"}),
    ("seed_xml", "<parameter=l>['a', None]</parameter>", {"l": ["a", None]}),
    ("seed_xml", "<parameter=s>['a']</parameter>", {"s": "['a']"}),
    ("minimax_xml", '<parameter name="e">x</parameter>\n<parameter name="n">-1</parameter>', {"e": "x", "n": -1}),
    ("deepseek_xml", f'<{BAR}parameter name="s" string="true">5</{BAR}parameter>', {"s": "5"}),
    ("deepseek_v4_1_xml", f'<{BAR} parameter name="n" string="false">5</{BAR} parameter>', {"n": 5}),
    ("glm_xml", "<arg_key>s</arg_key>\n<arg_value>a b</arg_value>\n<arg_key>n</arg_key><arg_value>1</arg_value>",
     {"s": "a b", "n": 1}),
    ("kimi_k3_xml", '<|open|>argument key="s" type="string"<|sep|>5<|close|>argument<|sep|>', {"s": "5"}),
    ("kimi_k3_xml", '<|open|>argument key="l" type="array"<|sep|>[1]<|close|>argument<|sep|>', {"l": [1]}),
    ("cohere_xml", '<cofl:value name="s" type="raw">5</cofl:value>', {"s": "5"}),
    ("cohere_xml", '<cofl:value name="n" type="json">5</cofl:value>', {"n": 5}),
    ("step3_xml", '<steptml:parameter name="b">true</steptml:parameter>', {"b": True}),
    ("minimax_m3_xml", f"{M3}<s>a{M3}</s>{M3}<l>{M3}<item>1{M3}</item>{M3}<item>x{M3}</item>{M3}</l>",
     {"s": "a", "l": [1, "x"]}),
    ("minimax_m3_xml", f"{M3}<o>{M3}<o>1{M3}</o>{M3}</o>", {"o": {"o": 1}}),
    ("gemma", '{s:<|"|>a}b<|"|>,o:{n:1,l:[true,<|"|>x<|"|>]}}', {"s": "a}b", "o": {"n": 1, "l": [True, "x"]}}),
    ("gemma", "{}", {}),
    ("function_gemma", "{s:<escape>5<escape>}", {"s": "5"}),
    ("python_call", "s='it\\'s', n=-2, l=[None, true], o={'a': 1.5}",
     {"s": "it's", "n": -2, "l": [None, True], "o": {"a": 1.5}}),
    ("python_call", "", {}),
    ("python", "{'s': \"x\", 'b': False}", {"s": "x", "b": False}),
    ("unknown", "x", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "text", "value"), CASES)
def test_forms(form: str, text: str, value: Any) -> None:
    assert read_form(form, text, allows if form in ("qwen_xml", "seed_xml", "minimax_xml") else None) == value


def test_nothing_but_literals_is_read() -> None:
    for text in ("s=__import__('os')", "s=x", "s=[y for y in z]", "s=f(1)", "**x", "s=dict(1)"):
        with pytest.raises((ValueError, SyntaxError)):
            read_form("python_call", text)


def test_every_form_has_cases() -> None:
    assert set(FORMS) - {form for form, _, _ in CASES} <= {"hunyuan_xml"}
