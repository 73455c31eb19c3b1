"""The model that ships inside: its file, its vocabulary, and that llama.cpp computes what torch does."""

from __future__ import annotations

from typing import Any

import pytest

from cfgmask import Vocabulary
from cfgmask.demo import CONTEXT_LENGTH, PROMPTS, model_path

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def llm() -> Any:
    llama_cpp = pytest.importorskip("llama_cpp")
    return llama_cpp.Llama(str(model_path()), n_ctx=CONTEXT_LENGTH, n_threads=1, n_threads_batch=1, verbose=False)


def test_the_file_is_small() -> None:
    assert model_path().stat().st_size <= 3 * MEGABYTE


def test_the_vocabulary_read_from_the_file_is_the_loaded_models(llm: Any) -> None:
    from_file, loaded = Vocabulary.from_gguf(model_path()), Vocabulary.from_llama(llm)
    assert from_file.tokens == loaded.tokens
    assert from_file.eos_token_ids == loaded.eos_token_ids
    assert from_file.special_tokens == loaded.special_tokens


def test_every_byte_is_a_token() -> None:
    assert {bytes([byte]) for byte in range(256)} <= set(Vocabulary.from_gguf(model_path()).tokens)


def test_no_token_holds_two_digits() -> None:
    tokens = Vocabulary.from_gguf(model_path()).tokens
    assert [token for token in tokens if sum(48 <= byte <= 57 for byte in token) > 1] == []


def test_the_script_learns_the_files_tokens() -> None:
    pytest.importorskip("tokenizers", reason="the vocabulary is learnt with tokenizers")
    gguf = pytest.importorskip("gguf", reason="the file is read with gguf")
    from scripts.demo_model.corpus import CORPUS_SIZE, SEED, documents
    from scripts.demo_model.tokenizer import train_tokenizer

    stored = gguf.GGUFReader(str(model_path())).fields["tokenizer.ggml.tokens"].contents()
    tokenizer = train_tokenizer((document.text for document in documents(SEED, CORPUS_SIZE)), len(stored))
    assert [tokenizer.id_to_token(token) for token in range(len(stored))] == stored


@pytest.mark.parametrize("prompt", PROMPTS)
def test_free_text_is_a_sloppy_answer_that_ends(llm: Any, prompt: str) -> None:
    choice = llm.create_completion(prompt, max_tokens=80, temperature=0)["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["text"].startswith(("Sure", "Here is the query: SELECT"))


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (PROMPTS[0] + '{"', 'name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}'),
        (PROMPTS[1] + '{"', 'name": "convert_currency", "arguments": {"amount": 50, "from": "EUR", "to": "USD"}}'),
        (PROMPTS[2] + '{"', 'name": "send_message", "arguments": {"to": "Anna", "text": "dinner is ready"}}'),
        (PROMPTS[3] + '{"', 'name": "add_event", "arguments": {"title": "yoga class", "date": "2025-05-14"}}'),
        (PROMPTS[6] + "SELECT", " name FROM users WHERE age > 40"),
    ],
)
def test_it_knows_the_tools(llm: Any, prompt: str, text: str) -> None:
    assert llm.create_completion(prompt, max_tokens=80, temperature=0)["choices"][0]["text"] == text


def test_the_chat_template_ends_where_a_call_begins(llm: Any) -> None:
    messages = [{"role": "user", "content": "what is the weather in Paris?"}]
    chat = llm.create_chat_completion(messages, max_tokens=80, temperature=0)["choices"][0]["message"]["content"]
    assert chat == llm.create_completion(PROMPTS[0], max_tokens=80, temperature=0)["choices"][0]["text"]


@pytest.fixture(scope="module")
def network() -> Any:
    torch = pytest.importorskip("torch", reason="the network is written in torch")
    pytest.importorskip("tokenizers", reason="the export needs the tokenizer's module")
    pytest.importorskip("gguf", reason="the network is read with gguf")
    torch.set_num_threads(1)
    from scripts.demo_model.export import read_gguf

    return read_gguf(model_path())


@pytest.mark.torch
@pytest.mark.parametrize("prompt", [PROMPTS[0], PROMPTS[6], "", "CSV:\n"])
def test_llama_cpp_computes_what_torch_does(llm: Any, network: Any, prompt: str) -> None:
    from scripts.demo_model.network import greedy

    ids = llm.tokenize(prompt.encode(), special=True)
    expected = llm.detokenize(greedy(network, ids, count=30, end=llm.token_eos()))
    assert llm.create_completion(ids, max_tokens=30, temperature=0)["choices"][0]["text"] == expected.decode()
