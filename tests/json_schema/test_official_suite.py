"""The required tests of the official suite, draft 2020-12: what is refused is counted, all else must be right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema_specifications import REGISTRY

import cfgmask
from benchmarks.library.any_order import accepts_in_some_order
from tests.json_schema.judge import compiled

ROOT = Path(__file__).parents[2] / ".." / "shared" / "data" / "json-schema-test-suite"
SUITE = ROOT / "draft2020-12"

SERVED = "http://localhost:1234/"


def retrieve(uri: str) -> Any:
    """The documents that the suite serves at its address, and the metaschemas."""
    if uri.startswith(SERVED):
        return json.loads((ROOT / "remotes" / uri.removeprefix(SERVED)).read_text(encoding="utf-8"))
    return REGISTRY.contents(uri)


def suite_files() -> list[Any]:
    return [pytest.param(file, id=file.stem) for file in sorted(SUITE.glob("*.json"))] or [
        pytest.param(None, marks=pytest.mark.skip(reason="the official test suite is not beside the repository"))
    ]


@pytest.mark.parametrize("file", suite_files())
def test_required(file: Path) -> None:
    for group in json.loads(file.read_text(encoding="utf-8")):
        try:
            grammar = compiled(group["schema"], numbers="any", formats="annotate", retrieve=retrieve)
        except cfgmask.GrammarError as error:
            # No schema of the suite is refused, except for one that nothing satisfies.
            if {d.code for d in error.diagnostics} != {"schema-unsatisfiable"}:
                raise
            assert not any(case["valid"] for case in group["tests"]), group["description"]
            continue
        for case in group["tests"]:
            assert accepts_in_some_order(grammar, case["data"]) == case["valid"], (group["description"], case)
