"""vLLM's real StructuredOutputManager with this engine in the place of its guidance backend."""

from __future__ import annotations

import inspect
import random
from types import SimpleNamespace
from typing import Any

import pytest

from tests.integrations.engines import requests

pytestmark = pytest.mark.engines
pytest.importorskip("vllm", reason="make test-engines installs it")


def manager(monkeypatch: pytest.MonkeyPatch, n_drafts: int = 0, max_num_seqs: int = 32) -> Any:
    """vLLM's manager, with what it reads of a configuration."""
    from vllm.v1 import structured_output
    from vllm.v1.structured_output import backend_guidance

    from cfgmask.integrations import vllm

    for module, name in (
        (structured_output, "GuidanceBackend"),
        (backend_guidance, "GuidanceBackend"),
        (backend_guidance, "validate_guidance_grammar"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))  # to be put back
    vllm.install()
    tokenizer = requests.tokenizer()
    monkeypatch.setattr(structured_output, "cached_tokenizer_from_config", lambda model_config: tokenizer)
    config = SimpleNamespace(
        parallel_config=SimpleNamespace(distributed_executor_backend=None),
        scheduler_config=SimpleNamespace(max_num_seqs=max_num_seqs),
        model_config=SimpleNamespace(
            skip_tokenizer_init=False, get_vocab_size=lambda: len(tokenizer) + 24, is_diffusion=False
        ),
        structured_outputs_config=SimpleNamespace(
            reasoning_parser_plugin=None, reasoning_parser=None, enable_in_reasoning=False, disable_any_whitespace=False
        ),
        num_speculative_tokens=n_drafts,
    )
    return structured_output.StructuredOutputManager(config)


def request_of(made: Any, kind: str, text: str, stops: set[int]) -> Any:
    """A request as the scheduler holds it, with its grammar made."""
    from vllm.sampling_params import StructuredOutputsParams
    from vllm.v1.structured_output.request import StructuredOutputRequest

    if kind == "json_object":
        params = StructuredOutputsParams(json_object=True)
    elif kind == "choice":
        params = StructuredOutputsParams(choice=__import__("json").loads(text))
    else:
        params = StructuredOutputsParams(**{kind: text})
    params._backend = "guidance"
    request = SimpleNamespace(
        request_id="r",
        structured_output_request=StructuredOutputRequest(params=params),
        sampling_params=SimpleNamespace(structured_outputs=params, all_stop_token_ids=stops),
        use_structured_output=True,
        all_token_ids=[],
        prompt_token_ids=[],
    )
    made.grammar_init(request)
    request.structured_output_request._grammar.result()
    return request


def test_requests_with_drafts_and_rollbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 texts in batches: the masks are a plain matcher's, and every text is one of its grammar."""
    n_drafts = 3
    made = manager(monkeypatch, n_drafts)
    tokenizer = requests.tokenizer()
    eos, eot = tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|eot|>")
    rng = random.Random(2)
    kinds = [*requests.REQUESTS, ("json_object", "")]
    n_done = 0
    while n_done < 500:
        batch = [rng.choice(kinds) for _ in range(25)]
        running: dict[str, Any] = {}
        plain: dict[str, Any] = {}
        for i, (kind, text) in enumerate(batch):
            stops = {eos, eot} if rng.random() < 0.5 else {eos}
            running[str(i)] = request_of(made, kind, text, stops)
            plain[str(i)] = requests.plain_matcher(kind, text, sorted(stops - {eos}))
        for step in range(60):
            if not running:
                break
            drafts: dict[str, list[int]] = {}
            for name, request in running.items():
                proposed = []
                ahead = plain[name].fork()
                for _ in range(rng.randrange(n_drafts + 1)):
                    token = rng.choice(requests.mask(ahead) if rng.random() < 0.8 else range(len(tokenizer)))
                    proposed.append(token)
                    if not ahead.try_advance([token]) or ahead.is_finished:
                        break
                valid = made.validate_tokens(request, [*proposed])
                n = plain[name].try_advance(proposed, consume=False)
                assert valid == proposed[:n]
                drafts[name] = valid
            names = list(running)
            masks = made.grammar_bitmask(running, names, drafts)
            for index, name in enumerate(names):
                matcher = plain[name]
                row = index * (n_drafts + 1)
                ahead = matcher.fork()
                for offset, token in enumerate([*drafts[name], None]):
                    if ahead.is_finished:
                        break  # vLLM allows everything behind the end
                    assert requests.allowed(masks[row + offset]) == requests.mask(ahead), batch[int(name)]
                    if token is not None:
                        ahead.advance(token)
            for name, request in list(running.items()):
                matcher = plain[name]
                accepted = drafts[name][: rng.randrange(len(drafts[name]) + 1)]
                ahead = matcher.fork()
                ahead.try_advance(accepted)
                if not ahead.is_finished:
                    token = requests.choose(rng, requests.mask(ahead), ahead, step)
                    accepted = [*accepted, eos if ahead.is_accepting and step > 14 else token]
                assert made.accept_tokens(request, accepted)
                for token in accepted:
                    matcher.advance(token)
                grammar = request.structured_output_request.grammar
                assert grammar.is_terminated() == matcher.is_finished
                if matcher.is_finished:
                    del running[name]
                    n_done += 1
    made.clear_backend()


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
