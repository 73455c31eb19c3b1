"""What llama-cpp-python's calls are refused for, in each kind of call, before their first token."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import regex

import cfgmask

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import (  # noqa: E402
    IntegrationError,
    LogitsProcessor,
    LogitsProcessorList,
    generate,
    model_checks,
)
from tests.integrations.llama_calls import (  # noqa: E402
    CALLS,
    CHATS,
    COMPLETIONS,
    ONE_TOOL,
    PASSED,
    TOOL,
    Call,
    chat,
    chat_stream,
    completion,
    loop,
    within,
)

PATTERN = "[a-f]{2}[0-9]{3,6}[a-f]?"


@pytest.fixture
def llm(load: Callable[..., Any]) -> Any:
    return load(chat_format="chatml")


def compiled(vocabulary: cfgmask.Vocabulary, pattern: str = PATTERN) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_regex(pattern), vocabulary)


def processor_of(llm: Any) -> LogitsProcessor:
    return LogitsProcessor(compiled(cfgmask.Vocabulary.from_llama(llm)))


class Counted:
    """How many tokens are sampled meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.n = 0
        sample = llama_cpp._internals.LlamaSampler.sample

        def counted(*arguments: Any) -> int:
            self.n += 1
            return sample(*arguments)

        monkeypatch.setattr(llama_cpp._internals.LlamaSampler, "sample", counted)


# Vocabularies of other models.


def others(own: cfgmask.Vocabulary, rng: random.Random) -> Iterator[cfgmask.Vocabulary]:
    """Vocabularies that are not a model's: permuted, of another size, or with another token."""
    tokens, ends = list(own.tokens), own.eos_token_ids
    texts = [i for i, token in enumerate(tokens) if token]

    def made(changed: list[bytes]) -> cfgmask.Vocabulary:
        return cfgmask.Vocabulary.from_bytes(changed, ends)

    for _ in range(4):
        left, right = rng.sample(texts, 2)
        swapped = tokens[:]
        swapped[left], swapped[right] = swapped[right], swapped[left]
        yield made(swapped)
    shuffled = texts[:]
    rng.shuffle(shuffled)
    permuted = tokens[:]
    for i, j in zip(texts, shuffled, strict=True):
        permuted[i] = tokens[j]
    yield made(permuted)
    for n in (1, 2, 64):
        yield made([*tokens, *[b""] * n])
    yield made(tokens[: max(ends) + 1])
    for change in (lambda token: token + b"x", lambda token: token[:-1], lambda _: b""):
        changed = tokens[:]
        place = rng.choice(texts)
        changed[place] = change(changed[place])
        yield made(changed)
    yield made([token or b"x" for token in tokens])


@pytest.mark.parametrize("call", CALLS)
def test_grammars_of_another_vocabulary(
    llm: Any, load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    own = cfgmask.Vocabulary.from_llama(llm)
    sampled = Counted(monkeypatch)
    n_calls = 0
    for model in (llm, load(chat_format="chatml")):  # the second one has not been read before
        for other in others(own, random.Random(1)):
            processor = LogitsProcessor(compiled(other))
            with pytest.raises(cfgmask.VocabularyError, match=r"compile it with Vocabulary\.from_llama of this model"):
                call(model, [processor])
            with pytest.raises(cfgmask.VocabularyError):
                generate(model, "Hello", compiled(other))
            n_calls += 1
            # The hook itself is called once, and its token goes nowhere.
            assert sampled.n == n_calls
    assert regex.fullmatch(PATTERN, call(llm, [processor_of(llm)]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tokens: tokens[:-1], "compiled for 263 tokens, the model has 264"),
        (lambda tokens: [*tokens, b"x"], "compiled for 265 tokens, the model has 264"),
        (
            lambda tokens: [*tokens[:7], tokens[8], tokens[7], *tokens[9:]],
            r"token 7 is b'\\x08' in the vocabulary that the grammar was compiled for, and b'\\x07' in the model's",
        ),
    ],
)
def test_messages_say_what_differs(llm: Any, change: Callable[[list[bytes]], list[bytes]], message: str) -> None:
    own = cfgmask.Vocabulary.from_llama(llm)
    other = cfgmask.Vocabulary.from_bytes(change(list(own.tokens)), own.eos_token_ids)
    with pytest.raises(cfgmask.VocabularyError, match=message):
        generate(llm, "Hello", compiled(other))


def test_the_same_tokens_with_fewer_ends_are_the_models(llm: Any) -> None:
    own = cfgmask.Vocabulary.from_llama(llm)
    one_end = cfgmask.Vocabulary.from_bytes(own.tokens, own.eos_token_ids[0])
    assert regex.fullmatch(PATTERN, completion(llm, [LogitsProcessor(compiled(one_end))]))


def test_a_model_is_read_once(load: Callable[..., Any], model_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(model_checks, "read_texts", lambda llm: read.append(llm) or read_texts(llm))
    from_file = cfgmask.Vocabulary.from_gguf(model_path)
    first, second = load(), load()
    grammar = compiled(from_file)
    for _ in range(3):
        for model in (first, second):
            assert regex.fullmatch(PATTERN, completion(model, [LogitsProcessor(grammar)]))
    assert read == [first, second]
    third = load()
    own = compiled(cfgmask.Vocabulary.from_llama(third))
    for _ in range(2):
        generate(third, "Hello", own)
    assert read == [first, second]


read_texts = model_checks.read_texts


# Grammars of llama.cpp's own.


def own_grammar() -> Any:
    return llama_cpp.LlamaGrammar.from_string('root ::= "yes" | "no"', verbose=False)


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
BRINGS_GRAMMAR: list[tuple[Call, Callable[[], dict[str, Any]]]] = [
    *((call, lambda: {"grammar": own_grammar()}) for call in (*CALLS, loop)),
    *((call, lambda: {"response_format": {"type": "json_object", "schema": SCHEMA}}) for call in CHATS),
    *((call, lambda: {"response_format": {"type": "json_object"}}) for call in CHATS),
    *((call, lambda: ONE_TOOL) for call in CHATS),
]


@pytest.mark.parametrize("place", range(len(BRINGS_GRAMMAR)))
def test_a_grammar_of_llama_cpp_beside_the_masks(llm: Any, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    call, options = BRINGS_GRAMMAR[place]
    processor = processor_of(llm)
    sampled = Counted(monkeypatch)
    for passed in PASSED.values():
        with pytest.raises(IntegrationError, match="has a grammar of llama-cpp-python's own beside the masks of"):
            call(llm, passed(processor), **options())
    assert sampled.n == 0
    # The calls did not begin, so the processor is as it was.
    assert regex.fullmatch(PATTERN, completion(llm, [processor]))


@pytest.mark.parametrize("tool_choice", [ONE_TOOL["tool_choice"], "auto"])
@pytest.mark.parametrize("stream", [False, True])
def test_function_calling_formats_bring_a_grammar(load: Callable[..., Any], tool_choice: Any, stream: bool) -> None:
    llm = load(chat_format="chatml-function-calling", n_ctx=1024)
    processor = processor_of(llm)
    call = chat_stream if stream else chat
    with pytest.raises(IntegrationError, match="has a grammar of llama-cpp-python's own"):
        call(llm, [processor], tools=[TOOL], tool_choice=tool_choice)
    assert processor.error is None


@pytest.mark.filterwarnings("ignore:masking failed:RuntimeWarning")
@pytest.mark.parametrize("place", range(len(BRINGS_GRAMMAR)))
def test_a_grammar_beside_masks_within_a_function(llm: Any, place: int) -> None:
    """Nobody sees the hook before it is called; but the process lives, and the second token is refused."""
    call, options = BRINGS_GRAMMAR[place]
    processor = processor_of(llm)
    for _ in range(2):
        with pytest.raises(IntegrationError, match="a grammar of llama-cpp-python's own"):
            call(llm, [within(processor)], **options())
        with pytest.raises(IntegrationError):
            processor.raise_error()
        processor.reset()


def test_calls_without_masks_are_as_before(llm: Any) -> None:
    """Even with processors, and a grammar of their own."""
    seen = []

    def look(input_ids: Any, scores: Any) -> Any:
        seen.append(len(input_ids))
        return scores

    for processors in (None, [], [look], llama_cpp.LogitsProcessorList([look]), iter([look])):
        assert completion(llm, processors, grammar=own_grammar()) in ("yes", "no")
    assert "sample" not in vars(llm)
    assert len(seen) >= 6


# Other processors.


class Broken(Exception):
    """What a processor of the test raises."""


class Other:
    """A processor beside the masks: it looks, or changes the scores in one of the ways that are in use."""

    def __init__(self, kind: str, breaks_at: int | None) -> None:
        self._kind = kind
        self._breaks_at = breaks_at
        self.n = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.n += 1
        if self.n == self._breaks_at:
            raise Broken(f"at {self.n}")
        if self._kind == "noise in place":
            scores += np.sin(np.arange(len(scores)) + self.n).astype(np.single)
        if self._kind == "warmer copy":
            return scores / 2
        return scores


@pytest.mark.parametrize("call", [*CALLS, loop])
def test_processors_in_any_order(llm: Any, call: Call) -> None:
    """One of them may raise, at any step: so does the call then. Else the text is in the language."""
    rng = random.Random(call.__name__)
    for breaks_at in [1, None, 2, *rng.choices([None, 1, 2, 5], k=9)]:
        assert_raised_or_in_the_language(llm, call, breaks_at, rng)


def assert_raised_or_in_the_language(llm: Any, call: Call, breaks_at: int | None, rng: random.Random) -> None:
    around = [
        Other(rng.choice(["looks", "noise in place", "warmer copy"]), None if i else breaks_at)
        for i in range(rng.randint(1, 3))
    ]
    processor = processor_of(llm)
    processors: list[Any] = [*around, processor]
    rng.shuffle(processors)
    make_list = rng.choice([list, llama_cpp.LogitsProcessorList, LogitsProcessorList])
    temperature = rng.choice([0.0, 1.0])
    if breaks_at is None:
        assert regex.fullmatch(PATTERN, call(llm, make_list(processors), temperature=temperature))
        return
    if call is loop and "sample" not in vars(llm):
        # The first token of such a loop is sampled before anything of ours is around `sample`.
        assert breaks_at == 1
        with pytest.warns(RuntimeWarning, match="masking failed"):
            assert call(llm, make_list(processors), max_tokens=1) == ""
    else:
        with pytest.raises(Broken, match=f"at {breaks_at}"):
            call(llm, make_list(processors), temperature=temperature)
    assert around[0].n == breaks_at
    with pytest.raises(Broken):
        processor.raise_error()
    processor.reset()
    assert regex.fullmatch(PATTERN, call(llm, [processor]))


@pytest.mark.parametrize("breaks_at", [1, 2, 4])
def test_generate_raises_what_a_processor_raises(llm: Any, breaks_at: int) -> None:
    grammar = cfgmask.Grammar.from_regex(PATTERN)
    with pytest.raises(Broken, match=f"at {breaks_at}"):
        generate(llm, "Hello", grammar, logits_processor=[Other("looks", breaks_at)])


@pytest.mark.parametrize("call", [*CALLS, loop])
def test_ways_to_pass_a_processor(llm: Any, call: Call) -> None:
    processor = processor_of(llm)
    for name, passed in PASSED.items():
        if call is loop and name == "iterator":
            continue  # each `sample` is given it anew, and it is empty from the second one on
        for seed in range(2):
            llm.set_seed(seed)
            assert regex.fullmatch(PATTERN, call(llm, passed(processor), temperature=1.0)), name


@pytest.mark.parametrize("call", [*COMPLETIONS, *CHATS])
def test_a_bare_processor_and_a_bias(llm: Any, call: Call) -> None:
    text = call(llm, processor_of(llm), logit_bias={ord("c"): 100.0})
    assert regex.fullmatch(PATTERN, text)
    assert text.startswith("cc")


def test_tokens_sent_where_there_are_no_logits(llm: Any) -> None:
    generation = llm.generate(llm.tokenize(b"Hello"), logits_processor=[processor_of(llm)])
    next(generation)
    with pytest.raises(IntegrationError, match=r"tokens were sent into a generation, .* load it with logits_all=True"):
        generation.send(list(b"a12"))
