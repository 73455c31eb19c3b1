"""Requests through vLLM's StructuredOutputManager: the real one, or the double that CI has."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cfgmask
from tests.integrations.engines import requests

KINDS = [*requests.REQUESTS, ("json_object", "")]


def manager(monkeypatch: pytest.MonkeyPatch, n_drafts: int = 0, max_num_seqs: int = 32, **options: Any) -> Any:
    """vLLM's manager, with what it reads of a configuration."""
    structured_output = import_module("vllm.v1.structured_output")
    backend_guidance = import_module("vllm.v1.structured_output.backend_guidance")
    for module, name in (
        (structured_output, "GuidanceBackend"),
        (backend_guidance, "GuidanceBackend"),
        (backend_guidance, "validate_guidance_grammar"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))  # to be put back
    monkeypatch.delitem(sys.modules, "cfgmask.integrations.vllm.backend", raising=False)
    import_module("cfgmask.integrations.vllm").install()
    tokenizer = requests.tokenizer()
    monkeypatch.setattr(structured_output, "cached_tokenizer_from_config", lambda model_config: tokenizer)
    defaults = {
        "reasoning_parser_plugin": None,
        "reasoning_parser": None,
        "enable_in_reasoning": False,
        "disable_any_whitespace": False,
        "disable_additional_properties": False,
    }
    config = SimpleNamespace(
        parallel_config=SimpleNamespace(distributed_executor_backend=None),
        scheduler_config=SimpleNamespace(max_num_seqs=max_num_seqs),
        model_config=SimpleNamespace(
            skip_tokenizer_init=False, get_vocab_size=lambda: len(tokenizer) + 24, is_diffusion=False
        ),
        structured_outputs_config=SimpleNamespace(**defaults | options),
        num_speculative_tokens=n_drafts,
    )
    return structured_output.StructuredOutputManager(config)


def params_of(kind: str, text: str) -> Any:
    make = import_module("vllm.sampling_params").StructuredOutputsParams
    if kind == "json_object":
        return make(json_object=True)
    return make(**{kind: json.loads(text) if kind == "choice" else text})


def request_of(made: Any, kind: str, text: str, stops: set[int]) -> Any:
    """A request as the scheduler holds it, with its grammar made."""
    params = params_of(kind, text)
    params._backend = "guidance"
    request = SimpleNamespace(
        request_id="r",
        structured_output_request=import_module("vllm.v1.structured_output.request").StructuredOutputRequest(params),
        sampling_params=SimpleNamespace(structured_outputs=params, all_stop_token_ids=stops),
        use_structured_output=True,
        all_token_ids=[],
        prompt_token_ids=[],
    )
    made.grammar_init(request)
    grammar = request.structured_output_request._grammar
    if hasattr(grammar, "result"):
        grammar.result()
    return request


def walk(monkeypatch: pytest.MonkeyPatch, n_texts: int, seed: int = 2) -> Iterator[Any]:
    """Texts in batches, with drafts that are right and wrong: each step's masks, once they were a plain matcher's."""
    n_drafts = 3
    made = manager(monkeypatch, n_drafts)
    tokenizer = requests.tokenizer()
    eos, eot = tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|eot|>")
    rng = random.Random(seed)
    n_done = 0
    while n_done < n_texts:
        batch = [rng.choice(KINDS) for _ in range(25)]
        running: dict[str, Any] = {}
        plain: dict[str, Any] = {}
        for i, (kind, text) in enumerate(batch):
            stops = {eos, eot} if rng.random() < 0.5 else {eos}
            running[str(i)] = request_of(made, kind, text, stops)
            plain[str(i)] = requests.plain_matcher(kind, text, sorted(stops - {eos}))
        for step in range(60):
            if not running:
                break
            drafts = {name: _drafts(made, request, plain[name], rng, n_drafts) for name, request in running.items()}
            names = list(running)
            masks = made.grammar_bitmask(running, names, drafts)
            _compare(masks, names, drafts, plain, n_drafts)
            yield np.array(masks)
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
                assert request.structured_output_request.grammar.is_terminated() == matcher.is_finished
                if matcher.is_finished:
                    del running[name]
                    n_done += 1
    made.clear_backend()


def _drafts(made: Any, request: Any, matcher: Any, rng: random.Random, n_drafts: int) -> list[int]:
    """Some drafts, as far as they are valid."""
    proposed = []
    ahead = matcher.fork()
    for _ in range(rng.randrange(n_drafts + 1)):
        token = rng.choice(requests.mask(ahead) if rng.random() < 0.8 else range(len(requests.tokenizer())))
        proposed.append(token)
        if not ahead.try_advance([token]) or ahead.is_finished:
            break
    valid = made.validate_tokens(request, [*proposed])
    assert valid == proposed[: matcher.try_advance(proposed, consume=False)]
    return valid


def _compare(masks: Any, names: list[str], drafts: dict[str, list[int]], plain: dict[str, Any], n_drafts: int) -> None:
    for index, name in enumerate(names):
        ahead = plain[name].fork()
        row = index * (n_drafts + 1)
        for offset, token in enumerate([*drafts[name], None]):
            if ahead.is_finished:
                break  # after the end, vLLM itself allows every token
            assert requests.allowed(masks[row + offset]) == requests.mask(ahead)
            if token is not None:
                ahead.advance(token)


def assert_a_limit_ends_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a mask meets it, in the text and in a draft, only end tokens are allowed, and the manager takes none."""
    made = manager(monkeypatch, n_drafts=2)
    eos, a = requests.tokenizer().eos_token_id, requests.tokenizer().encode("a")[0]
    request_of(made, "regex", "a", {eos})  # the first makes the backend
    limits = cfgmask.Limits(max_item_sets=12)
    made.backend._compiler = cfgmask.Compiler(made.backend.vocabulary, limits=limits)
    request = request_of(made, "grammar", 'start: "a" start "b" | "c"', {eos})
    grammar = request.structured_output_request.grammar
    n = 0
    while True:
        masks = made.grammar_bitmask({"r": request}, ["r"], {"r": [a, a]})
        rows = [requests.allowed(masks[row]) for row in range(3)]
        # No row is free: each is a mask of the grammar, or end tokens alone.
        assert all(a in row or row == [eos] for row in rows), rows
        assert not grammar.is_terminated()
        if rows[0] == [eos]:
            break
        if not made.accept_tokens(request, [a]):
            return
        n += 1
        assert n < 1000
    assert not made.accept_tokens(request, [eos])
    assert made.validate_tokens(request, [eos]) == []


def assert_grammars_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request with the grammar of another shares what that learnt, and none of its position."""
    made = manager(monkeypatch)
    first, second, other = (
        request_of(made, "regex", pattern, set()).structured_output_request.grammar for pattern in ("ab", "ab", "ac")
    )
    assert first.text.matcher.compiled is second.text.matcher.compiled is not other.text.matcher.compiled
    token = requests.tokenizer().encode("a")[0]
    assert first.accept_tokens("r", [token])
    assert (first.text.matcher.n_steps, second.text.matcher.n_steps) == (1, 0)


def assert_options_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    encode = requests.tokenizer().encode
    schema = json.dumps({"type": "object", "properties": {"a": {"enum": ["x"]}}})
    for options, texts in (
        ({}, {'{"a": "x"}': True, '{"a":"x"}': True, '{"b": 1}': True}),
        ({"disable_any_whitespace": True}, {'{"a": "x"}': False, '{"a":"x"}': True, '{"b":1}': True}),
        ({"disable_additional_properties": True}, {'{"a": "x"}': True, '{"b": 1}': False, "{}": True}),
    ):
        made = manager(monkeypatch, **options)
        for text, fits in texts.items():
            grammar = request_of(made, "json", schema, set()).structured_output_request.grammar
            assert (grammar.validate_tokens(encode(text)) == encode(text)) == fits, (options, text)
        made.clear_backend()
    closed = manager(monkeypatch, disable_additional_properties=True)
    with pytest.raises(ValueError, match="structural tag"):
        request_of(closed, "structural_tag", json.dumps(requests.TAG), set())
    validate = import_module("vllm.v1.structured_output.backend_guidance").validate_guidance_grammar
    error = import_module("vllm.exceptions").VLLMValidationError
    for option, value in (
        ("disable_any_whitespace", True),
        ("disable_additional_properties", True),
        ("whitespace_pattern", " "),
    ):
        params = params_of("json", schema)
        validate(SimpleNamespace(structured_outputs=params))
        setattr(params, option, value)
        with pytest.raises(error, match=option):
            validate(SimpleNamespace(structured_outputs=params))
