"""The kinds of calls in which llama-cpp-python takes logits processors, and the ways in which they are passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import llama_cpp

from cfgmask.integrations.llama_cpp import LogitsProcessorList

PROMPT = "Hello"
MESSAGES = [{"role": "user", "content": "Hello"}]
TOOL = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}},
}
ONE_TOOL = {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}}

Call = Callable[..., str]


def completion(llm: Any, processors: Any, **options: Any) -> str:
    return llm.create_completion(PROMPT, logits_processor=processors, **options)["choices"][0]["text"]


def completion_stream(llm: Any, processors: Any, **options: Any) -> str:
    chunks = llm.create_completion(PROMPT, logits_processor=processors, stream=True, **options)
    return "".join(chunk["choices"][0]["text"] for chunk in chunks)


def chat(llm: Any, processors: Any, **options: Any) -> str:
    answer = llm.create_chat_completion(MESSAGES, logits_processor=processors, **options)
    return answer["choices"][0]["message"]["content"]


def chat_stream(llm: Any, processors: Any, **options: Any) -> str:
    chunks = llm.create_chat_completion(MESSAGES, logits_processor=processors, stream=True, **options)
    return "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)


def ids(llm: Any, processors: Any, max_tokens: int = 16, temperature: float = 0.8, **options: Any) -> str:
    prompt = llm.tokenize(PROMPT.encode())
    generation = llm.generate(prompt, temp=temperature, logits_processor=processors, **options)
    return _text(llm, islice(generation, max_tokens))


def loop(llm: Any, processors: Any, max_tokens: int = 16, temperature: float = 0.8, **options: Any) -> str:
    """Around `Llama.sample`, on a model that has not generated before, or with its sampler forgotten."""
    llm.reset()
    llm._sampler = None
    llm.eval(llm.tokenize(PROMPT.encode()))

    def tokens() -> Iterable[int]:
        while True:
            token_id = llm.sample(temp=temperature, logits_processor=processors, **options)
            yield token_id
            llm.eval([token_id])

    return _text(llm, islice(tokens(), max_tokens))


COMPLETIONS: list[Call] = [completion, completion_stream]
CHATS: list[Call] = [chat, chat_stream]
CALLS: list[Call] = [*COMPLETIONS, *CHATS, ids]


def _text(llm: Any, tokens: Iterable[int]) -> str:
    written = []
    for token_id in tokens:
        if llama_cpp.llama_vocab_is_eog(llm._model.vocab, token_id):
            break
        written.append(token_id)
    return bytes(written).decode()


def within(processor: Any) -> Any:
    """A function of a user's around a processor, which nobody can look into."""
    return lambda input_ids, scores: processor(input_ids, scores)


PASSED: dict[str, Callable[[Any], Any]] = {
    "list of ours": lambda processor: LogitsProcessorList([processor]),
    "list of theirs": lambda processor: llama_cpp.LogitsProcessorList([processor]),
    "list": lambda processor: [processor],
    "tuple": lambda processor: (processor,),
    "iterator": lambda processor: iter([processor]),
    "list in a list": lambda processor: [llama_cpp.LogitsProcessorList([processor])],
    "bare": lambda processor: processor,
}
