"""The backend for vLLM over a double of vLLM, which `make test-engines` holds against the real wheel."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

from tests.integrations.vllm_double import use_double
from tests.integrations.vllm_texts import (
    assert_a_limit_ends_the_request,
    assert_grammars_are_kept,
    assert_options_are_read,
    manager,
    params_of,
    walk,
)

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def double(monkeypatch: pytest.MonkeyPatch) -> None:
    use_double(monkeypatch)


def test_requests_with_drafts_and_rollbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(1 for _ in walk(monkeypatch, 100)) > 20


def test_a_limit_ends_the_request_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_a_limit_ends_the_request(monkeypatch)


def test_grammars_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_grammars_are_kept(monkeypatch)


def test_options(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_options_are_read(monkeypatch)


def test_wrong_requests_are_refused_before_they_are_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    manager(monkeypatch)
    validate = sys.modules["vllm.v1.structured_output.backend_guidance"].validate_guidance_grammar
    error = sys.modules["vllm.exceptions"].VLLMValidationError
    for kind, text in (("regex", "["), ("json", '{"type": "zork"}'), ("json", "{"), ("grammar", "root ::= x")):
        with pytest.raises(error):
            validate(SimpleNamespace(structured_outputs=params_of(kind, text)))
    validate(SimpleNamespace(structured_outputs=None))


@pytest.mark.parametrize("version", ["0.34.0", "0.3", "0.330.0", "1.0"])
def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    from cfgmask.integrations.vllm import install, plugin

    before = dict(vars(sys.modules["vllm.v1.structured_output"]))
    monkeypatch.setattr(sys.modules["vllm"], "__version__", version)
    with pytest.raises(RuntimeError, match="supports vLLM"):
        install()
    plugin()  # nobody asked for it
    monkeypatch.setattr(sys.modules["vllm.envs"], "VLLM_PLUGINS", ["other", "cfgmask"])
    with pytest.raises(RuntimeError, match="supports vLLM"):
        plugin()
    assert vars(sys.modules["vllm.v1.structured_output"]) == before


def test_a_vllm_without_the_names_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from cfgmask.integrations.vllm import install

    monkeypatch.delattr(sys.modules["vllm.v1.structured_output.backend_guidance"], "validate_guidance_grammar")
    with pytest.raises(RuntimeError, match="has no validate_guidance_grammar"):
        install()
