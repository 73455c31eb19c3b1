"""SGLang's real grammar backend registry, and the objects that its scheduler holds."""

from __future__ import annotations

import json
import random
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

import cfgmask
from tests.integrations.engines import requests

pytestmark = pytest.mark.engines
pytest.importorskip("sglang", reason="make test-engines installs it")


def backend(monkeypatch: pytest.MonkeyPatch, **serving: Any) -> Any:
    """What SGLang makes for `--grammar-backend cfgmask`."""
    from sglang.srt import runtime_context
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES
    from sglang.srt.constrained.base_grammar_backend import create_grammar_backend

    from cfgmask.integrations.sglang import register

    register()
    register()
    assert GRAMMAR_BACKEND_CHOICES.count("cfgmask") == 1
    defaults = {
        "constrained_json_disable_any_whitespace": False,
        "reasoning_parser": None,
        "enable_strict_thinking": False,
    }
    bags = {
        "exec": SimpleNamespace(kernel=SimpleNamespace(grammar_backend="cfgmask")),
        "serving": SimpleNamespace(**{**defaults, **serving}),
    }
    monkeypatch.setattr(type(runtime_context.get_context()), "config_bag", lambda self, name: bags[name])
    tokenizer = requests.tokenizer()
    return create_grammar_backend(SimpleNamespace(), tokenizer, len(tokenizer), {tokenizer.eos_token_id})


def grammar_of(made: Any, kind: str, text: str) -> Any:
    name = {"grammar": "ebnf"}.get(kind, kind)
    value, is_hit = made.get_cached_or_future_value((name, text), False)
    if not is_hit:
        assert isinstance(value, Future)
        value = value.result()
        made.set_cache((name, text), value.copy())
    return value


def test_requests_with_drafts_and_rollbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 texts in batches: the masks are a plain matcher's, and every text is one of its grammar."""
    import torch

    made = backend(monkeypatch)
    eos = requests.tokenizer().eos_token_id
    rng = random.Random(1)
    kinds = [request for request in requests.REQUESTS if request[0] != "choice"]
    n_done = 0
    while n_done < 500:
        batch = [rng.choice(kinds) for _ in range(25)]
        grammars = [grammar_of(made, *request) for request in batch]
        plain = [requests.plain_matcher(*request) for request in batch]
        masks = grammars[0].allocate_vocab_mask(len(requests.tokenizer()), len(batch), "cpu")
        for step in range(40):
            running = [i for i, grammar in enumerate(grammars) if not grammar.is_terminated()]
            if not running:
                break
            entries = [SimpleNamespace(row=i, grammar=grammars[i]) for i in running]
            rng.shuffle(entries)
            grammars[0].reset_vocab_mask(masks)
            type(grammars[0]).fill_vocab_mask_batched(entries, masks)
            for i in running:
                expected = requests.mask(plain[i])
                assert requests.allowed(masks[i].numpy()) == expected, batch[i]
                # A draft of a few tokens, of which some are taken back.
                before, n = plain[i].n_steps, 0
                for _ in range(rng.randrange(3)):
                    tokens = requests.mask(plain[i])
                    token = rng.choice(tokens)
                    grammars[i].accept_token(token)
                    plain[i].advance(token)
                    n += 1
                    if token == eos:
                        break
                grammars[i].rollback(n)
                plain[i].rollback(n)
                assert plain[i].n_steps == before
                grammars[i].fill_vocab_mask(masks, i)
                assert requests.allowed(masks[i].numpy()) == expected
                token = requests.choose(rng, expected, plain[i], step)
                if plain[i].is_accepting and step > 14:
                    token = eos
                grammars[i].accept_token(token)
                plain[i].advance(token)
                grammars[i].finished = token == eos
        for request, grammar, matcher in zip(batch, grammars, plain, strict=True):
            assert grammar.is_terminated()
            assert matcher.is_accepting
            text = requests.tokenizer().decode([t for t in matcher.steps() if t != eos])
            if request[0] == "json":
                json.loads(text)
            n_done += 1
        logits = torch.zeros(len(batch), len(requests.tokenizer()) + 7)
        grammars[0].apply_vocab_mask(logits, masks)
        assert not torch.isfinite(logits[:, len(requests.tokenizer()) + 20 :]).any()


def test_what_is_wrong_is_the_requests_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject

    made = backend(monkeypatch)
    for kind, text in (
        ("json", '{"type": "zork"}'),
        ("json", "{"),
        ("regex", "["),
        ("grammar", "%"),
        ("structural_tag", "{"),
    ):
        found = grammar_of_invalid(made, kind, text)
        assert isinstance(found, InvalidGrammarObject)
        assert found.error_message
    grammar = grammar_of(made, "regex", "ab")
    with pytest.raises(ValueError, match="refuses"):
        grammar.accept_token(requests.tokenizer().encode("x")[0])


def grammar_of_invalid(made: Any, kind: str, text: str) -> Any:
    value, _ = made.get_cached_or_future_value(({"grammar": "ebnf"}.get(kind, kind), text), False)
    return value.result() if isinstance(value, Future) else value


def test_any_json_and_white_space(monkeypatch: pytest.MonkeyPatch) -> None:
    encode = requests.tokenizer().encode
    spaced, compact = backend(monkeypatch), backend(monkeypatch, constrained_json_disable_any_whitespace=True)
    for made, fits in ((spaced, True), (compact, False)):
        grammar = grammar_of(made, "json", "$$ANY$$")
        assert (grammar.text.n_valid(encode("[1, 2]")) == len(encode("[1, 2]"))) == fits
        assert grammar.text.n_valid(encode("[1]")) == len(encode("[1]"))


def test_jump_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = requests.tokenizer()
    grammar = grammar_of(backend(monkeypatch), "regex", "(ab|c)the cat sat")
    old = tokenizer.encode("ab")
    for token in old:
        grammar.accept_token(token)
    helper = grammar.try_jump_forward(tokenizer)
    text, state = grammar.jump_forward_str_state(helper)
    assert text == "the cat sat"
    new = tokenizer.encode("abthe cat sat")
    grammar.jump_and_retokenize(old, new, state)
    assert grammar.text.matcher.steps() == new
    assert grammar.text.matcher.is_accepting
    assert grammar.try_jump_forward(tokenizer) is None


def test_the_end_and_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = requests.tokenizer()
    grammar = grammar_of(backend(monkeypatch), "regex", "ab?")
    eos = tokenizer.eos_token_id
    for token in (tokenizer.encode("a")[0], eos, eos, 5):
        grammar.accept_token(token)
    assert grammar.is_terminated()
    grammar.rollback(3)
    assert not grammar.is_terminated()
    assert grammar.text.matcher.n_steps == 1
    other = grammar.copy()
    other.accept_token(eos)
    assert not grammar.is_terminated()


def test_a_limit_ends_the_request() -> None:
    from sglang.srt.constrained.base_grammar_backend import GrammarStats

    from cfgmask.integrations.engine_text import EngineText
    from cfgmask.integrations.sglang.backend import GrammarObject

    vocabulary = cfgmask.Vocabulary.from_transformers(requests.tokenizer())
    source = cfgmask.Grammar.from_lark('start: /[athe ]/ start "b" | "c"')  # masks look at `the`, ahead of the text
    compiled = cfgmask.compile(source, vocabulary, cfgmask.Limits(max_item_sets=12))
    grammar = GrammarObject(compiled, EngineText(compiled.matcher()))
    grammar.grammar_stats = GrammarStats()
    a = requests.tokenizer().encode("a")[0]
    masks = grammar.allocate_vocab_mask(0, 1, "cpu")
    for _ in range(100):
        grammar.fill_vocab_mask(masks, 0)
        if grammar.text.error is not None:
            break
        grammar.accept_token(a)
    assert isinstance(grammar.text.error, cfgmask.LimitExceeded)
    eos = requests.tokenizer().eos_token_id
    grammar.fill_vocab_mask(masks, 0)
    assert requests.allowed(masks[0].numpy()) == [eos]
    # SGLang leaves out the rows of texts that have ended, and so allows every token there.
    assert not grammar.is_terminated()
    assert grammar.grammar_stats.is_grammar_aborted
    # A draft raises nothing, and is taken back.
    grammar.accept_token(eos)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
    grammar.rollback(1)
    assert grammar.text.error is None
    grammar.fill_vocab_mask(masks, 0)
    assert a in requests.allowed(masks[0].numpy())


def test_a_limit_in_a_batch_is_its_rows_own() -> None:
    from sglang.srt.constrained.base_grammar_backend import GrammarStats

    from cfgmask.integrations.engine_text import EngineText
    from cfgmask.integrations.sglang.backend import GrammarObject

    vocabulary = cfgmask.Vocabulary.from_transformers(requests.tokenizer())
    source = cfgmask.Grammar.from_lark('start: /[athe ]/ start "b" | "c"')  # masks look at `the`, ahead of the text
    bad, good = (cfgmask.compile(source, vocabulary, cfgmask.Limits(max_item_sets=most)) for most in (12, 4_000_000))
    grammars = [GrammarObject(compiled, EngineText(compiled.matcher())) for compiled in (good, bad, good)]
    grammars[1].grammar_stats = GrammarStats()
    a, eos = requests.tokenizer().encode("a")[0], requests.tokenizer().eos_token_id
    entries = [SimpleNamespace(row=i, grammar=grammar) for i, grammar in enumerate(grammars)]
    masks = grammars[0].allocate_vocab_mask(0, 3, "cpu")
    for _ in range(100):
        GrammarObject.fill_vocab_mask_batched(entries, masks)
        if grammars[1].text.error is not None:
            break
        for grammar in grammars:
            grammar.accept_token(a)
    assert requests.allowed(masks[1].numpy()) == [eos]
    for row in (0, 2):
        assert requests.allowed(masks[row].numpy()) == requests.mask(grammars[row].text.matcher)
    assert grammars[1].grammar_stats.is_grammar_aborted


def test_guidance_backend_over_the_names_of_llguidance() -> None:
    """SGLang's own backend for llguidance runs on them as it is."""
    import subprocess
    import sys

    code = """
import cfgmask.compat.llguidance as ours
ours.install()
import torch
from tests.integrations.engines import requests
from sglang.srt.constrained.llguidance_backend import GuidanceBackend
backend = GuidanceBackend(requests.tokenizer(), n_vocab=len(requests.tokenizer()))
grammar = backend.dispatch_json('{"enum": ["yes", "no"]}')
assert isinstance(grammar.ll_matcher, ours.LLMatcher), grammar
masks = grammar.allocate_vocab_mask(0, 1, "cpu")
for token in requests.tokenizer().encode('"yes"'):
    grammar.fill_vocab_mask(masks, 0)
    assert token in requests.allowed(masks[0].numpy())
    grammar.accept_token(token)
grammar.rollback(1)
grammar.accept_token(requests.tokenizer().encode('"')[0])
grammar.accept_token(requests.tokenizer().eos_token_id)
print(grammar.is_terminated(), backend.dispatch_regex("[").error_message[:5])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "error"], done.stderr


@pytest.mark.parametrize("strict", [False, True])
def test_reasoning_before_the_grammar(monkeypatch: pytest.MonkeyPatch, strict: bool) -> None:
    """SGLang's wrapper lets the model think; its grammar begins after the end of thinking, also after rollbacks."""
    from sglang.srt.environ import envs

    tokenizer = requests.tokenizer()
    if strict:
        monkeypatch.setattr(type(envs.SGLANG_MAX_THINK_TOKENS), "get", lambda self: 5)
    made = backend(monkeypatch, reasoning_parser="deepseek-r1", enable_strict_thinking=strict)
    end = tokenizer.encode("</think>", add_special_tokens=False)
    assert list(made.think_end_ids) == end

    def grammar() -> Any:
        value, is_hit = made.get_cached_or_future_value(("regex", "ab"), True)
        if is_hit:
            return value
        value = value.result()
        made.set_cache(("regex", "ab"), value.copy())
        return value

    for _ in range(2):
        text = grammar()
        masks = text.allocate_vocab_mask(len(tokenizer), 1, "cpu")
        everything = requests.allowed(masks[0].numpy())
        excluded = set(made.think_excluded_token_ids or ())
        for token in tokenizer.encode("yes"):
            text.fill_vocab_mask(masks, 0)
            assert requests.allowed(masks[0].numpy()) == [t for t in everything if t not in excluded]
            text.accept_token(token)
        if strict:
            for _ in range(5 - len(tokenizer.encode("yes"))):
                text.accept_token(tokenizer.encode("t")[0])
            text.fill_vocab_mask(masks, 0)
            assert requests.allowed(masks[0].numpy()) == [end[0]]
        for token in end:
            text.accept_token(token)
        plain = requests.plain_matcher("regex", "ab")
        for token in tokenizer.encode("a"):
            text.fill_vocab_mask(masks, 0)
            assert requests.allowed(masks[0].numpy()) == requests.mask(plain)
            text.accept_token(token)
            plain.advance(token)
        text.rollback(2)
        text.accept_token(end[-1])
        text.fill_vocab_mask(masks, 0)
        assert requests.allowed(masks[0].numpy()) == requests.mask(requests.plain_matcher("regex", "ab"))
        for token in tokenizer.encode("ab"):
            text.accept_token(token)
        text.accept_token(tokenizer.eos_token_id)
        assert text.is_terminated()
        logits = torch_logits(made, len(tokenizer), masks)
        assert len(logits) == len(requests.mask(requests.plain_matcher("regex", "ab")))
    only_thinking = made.init_strict_reasoning_grammar(True)
    assert (only_thinking is not None) == strict
    if only_thinking is not None:
        masks = only_thinking.allocate_vocab_mask(len(tokenizer), 1, "cpu")
        only_thinking.fill_vocab_mask(only_thinking.move_vocab_mask(masks, "cpu"), 0)
        assert end[0] in requests.allowed(masks[0].numpy())


def torch_logits(made: Any, n_vocab: int, masks: Any) -> list[int]:
    """The tokens that are left after the wrapper's masks were applied."""
    import torch

    logits = torch.zeros(1, n_vocab)
    made.grammar_backend.apply_vocab_mask(logits, masks)
    return [int(i) for i in torch.isfinite(logits[0]).nonzero()[:, 0]]
