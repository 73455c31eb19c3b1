"""Schemas as people write them for tools, manifests and documents, in the form of the official suite.

They were written for this test, after the habits of OpenAI's structured outputs, Kubernetes, GeoJSON, FHIR, npm, GitHub
and others.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.library.any_order import accepts_in_some_order
from tests.json_schema.judge import compiled, is_valid

GROUPS = json.loads(Path(__file__).with_name("in_use.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group["description"])
def test_instances(group: dict[str, Any], order: str) -> None:
    grammar = compiled(json.dumps(group["schema"]), property_order=order)
    for case in group["tests"]:
        assert is_valid(group["schema"], json.dumps(case["data"])) == case["valid"], case
        assert accepts_in_some_order(grammar, case["data"]) == case["valid"], case
