"""vLLM's real StructuredOutputManager with this engine in the place of its guidance backend."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import inspect
import sys
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.engines
pytest.importorskip("vllm", reason="make test-engines installs it")

from tests.integrations.vllm_double import MODULES, use_double  # noqa: E402
from tests.integrations.vllm_texts import (  # noqa: E402
    assert_a_limit_ends_the_request,
    assert_grammars_are_kept,
    assert_options_are_read,
    manager,
    walk,
)


def test_requests_with_drafts_and_rollbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 texts in batches: the masks are a plain matcher's, and every text is one of its grammar."""
    assert sum(1 for _ in walk(monkeypatch, 500)) > 100


def test_the_double_of_ci_is_this_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name of `tests/integrations/vllm_double.py` is the wheel's, with its signature."""
    for module, members in MODULES.items():
        real_module = importlib.import_module(module)
        for name, double in members.items():
            real = getattr(real_module, name)
            if double is None:
                continue
            if not inspect.isclass(double):
                assert signature(double) == signature(real), name
                continue
            if hasattr(double, "__abstractmethods__"):
                assert double.__abstractmethods__ == real.__abstractmethods__, name
            if issubclass(double, enum.Enum):
                assert [one.name for one in double] == [one.name for one in real]
                continue
            if dataclasses.is_dataclass(double):
                theirs = [field.name for field in dataclasses.fields(real)]
                assert {field.name for field in dataclasses.fields(double)} <= set(theirs), name
            for key, value in vars(double).items():
                if inspect.isfunction(value) and not key.startswith("_"):
                    assert signature(value) == signature(getattr(real, key)), (name, key)
                elif isinstance(value, property):
                    assert isinstance(inspect.getattr_static(real, key), (property, functools.cached_property)), key
    for module, name in (
        ("vllm.v1.structured_output", "StructuredOutputManager"),
        ("vllm.v1.structured_output.backend_types", "StructuredOutputBackend"),
    ):
        assert signature(MODULES[module][name]) == signature(getattr(importlib.import_module(module), name))


def signature(function: Any) -> list[tuple[str, Any, Any]]:
    """Without annotations, which name other modules."""
    return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]


def test_the_double_of_ci_makes_the_same_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step by step: both managers, with the same requests, drafts and tokens."""
    real = list(walk(monkeypatch, 60, seed=7))
    with monkeypatch.context() as over_double:
        use_double(over_double)
        double = list(walk(over_double, 60, seed=7))
    monkeypatch.delitem(sys.modules, "cfgmask.integrations.vllm.backend", raising=False)
    assert len(real) == len(double) > 10
    for step, (one, other) in enumerate(zip(real, double, strict=True)):
        np.testing.assert_array_equal(one, other, err_msg=str(step))


def test_a_limit_ends_the_request_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_a_limit_ends_the_request(monkeypatch)


def test_grammars_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_grammars_are_kept(monkeypatch)


def test_options(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_options_are_read(monkeypatch)


def test_an_invalid_request_is_refused_before_it_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams
    from vllm.v1.structured_output import backend_guidance

    manager(monkeypatch).clear_backend()
    for wrong in ({"regex": "["}, {"json": '{"type": "zork"}'}, {"grammar": "root ::= x"}):
        params = SamplingParams(structured_outputs=StructuredOutputsParams(**wrong))
        with pytest.raises(VLLMValidationError):
            backend_guidance.validate_guidance_grammar(params)
    backend_guidance.validate_guidance_grammar(SamplingParams(structured_outputs=StructuredOutputsParams(regex="a")))


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import vllm

    from cfgmask.integrations.vllm import install, plugin

    monkeypatch.setattr(vllm, "__version__", "0.34.1")
    with pytest.raises(RuntimeError, match="supports vLLM"):
        install()
    monkeypatch.delenv("VLLM_PLUGINS", raising=False)
    plugin()  # nobody asked for it
    monkeypatch.setenv("VLLM_PLUGINS", "cfgmask")
    with pytest.raises(RuntimeError, match="supports vLLM"):
        plugin()


def test_the_interface_is_the_one_that_was_written_for() -> None:
    from vllm.v1.structured_output.backend_types import StructuredOutputBackend, StructuredOutputGrammar

    from cfgmask.integrations.vllm.backend import CfgmaskBackend, CfgmaskGrammar

    for theirs, ours in ((StructuredOutputBackend, CfgmaskBackend), (StructuredOutputGrammar, CfgmaskGrammar)):
        for name in theirs.__abstractmethods__:
            expected = list(inspect.signature(getattr(theirs, name)).parameters)
            assert list(inspect.signature(getattr(ours, name)).parameters) == expected, name
    assert not CfgmaskBackend.__abstractmethods__
    assert not CfgmaskGrammar.__abstractmethods__


def test_guidance_backend_over_the_names_of_llguidance() -> None:
    """vLLM's own backend for llguidance runs on them as it is."""
    import subprocess
    import sys

    code = """
import cfgmask.compat.llguidance as ours
ours.install()
from types import SimpleNamespace
from tests.integrations.engines import requests
from vllm.v1.structured_output.backend_guidance import GuidanceBackend
from vllm.v1.structured_output.backend_types import StructuredOutputOptions as Options
options = SimpleNamespace(disable_any_whitespace=True, disable_additional_properties=False)
tokenizer = requests.tokenizer()
backend = GuidanceBackend(SimpleNamespace(structured_outputs_config=options), tokenizer, len(tokenizer))
for kind, text, example in (
    (Options.JSON, '{"enum": ["yes", "no"]}', '"yes"'), (Options.REGEX, "a|b+", "bb"), (Options.CHOICE, '["x"]', "x"),
    (Options.GRAMMAR, 'root ::= "a" | "bc"', "bc"), (Options.JSON_OBJECT, "", "{}"),
):
    grammar = backend.compile_grammar(kind, text)
    masks = backend.allocate_token_bitmask(1)
    for token in tokenizer.encode(example):
        grammar.fill_bitmask(masks, 0)
        assert token in requests.allowed(masks[0].numpy()), (kind, token)
        assert grammar.accept_tokens("r", [token])
    assert grammar.validate_tokens([tokenizer.eos_token_id]) == ([] if grammar.ll_matcher.is_stopped() else [0])
    assert grammar.accept_tokens("r", [tokenizer.eos_token_id])
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
assert isinstance(grammar.ll_matcher, ours.LLMatcher)
print("fits")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split()[-1:] == ["fits"], done.stderr
