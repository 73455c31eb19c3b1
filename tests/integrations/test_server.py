"""The example server, asked by the official client.

    python -m pytest tests/integrations/test_server.py --slow

runs 200 clients at once, too: different schemas, clients that go away, bad schemas, long prompts.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import json
import random
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

for library in ("llama_cpp", "fastapi", "uvicorn", "jsonschema"):
    pytest.importorskip(library, reason=f"{library} is not installed")
openai = pytest.importorskip("openai", reason="the client is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")
import jsonschema  # noqa: E402
import llama_cpp  # noqa: E402
import uvicorn  # noqa: E402

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "server.py"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("example_server", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks its types up there
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def running(example: Any, **settings: Any) -> Iterator[str]:
    """The address of a server of these settings."""
    server = uvicorn.Server(uvicorn.Config(example.create_app(example.Settings(**settings)), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address(example: Any) -> Iterator[str]:
    with running(example, slots=2, queue=4) as address:
        yield address


def client_of(address: str) -> Any:
    return openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=120)


@pytest.fixture
def client(address: str) -> Any:
    return client_of(address)


def schema_format(schema: Any, name: str = "thing") -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 10}, "age": {"type": "integer", "maximum": 150}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
ASK: dict[str, Any] = {
    "model": "demo",
    "messages": [{"role": "user", "content": "Anna is 34 years old and lives in Oslo."}],
    "max_tokens": 100,
}


def wait_until_free(address: str, slots: int) -> None:
    deadline = time.monotonic() + 60
    while httpx.get(f"{address}/health").json()["free"] < slots:
        assert time.monotonic() < deadline, "a slot was never given back"
        time.sleep(0.02)


def test_a_schema(client: Any) -> None:
    answer = client.chat.completions.create(**ASK, response_format=schema_format(PERSON))
    (choice,) = answer.choices
    jsonschema.validate(json.loads(choice.message.content), PERSON)
    assert choice.finish_reason == "stop"


def test_streaming(client: Any) -> None:
    options = ASK | {"temperature": 0, "seed": 1, "response_format": schema_format(PERSON)}
    chunks = [chunk.choices[0] for chunk in client.chat.completions.create(**options, stream=True)]
    text = "".join(chunk.delta.content for chunk in chunks)
    assert len(chunks) > 3
    assert chunks[-1].finish_reason == "stop"
    assert text == client.chat.completions.create(**options).choices[0].message.content


@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        ({"type": "choice", "choices": ["yes", "no"]}, {"yes", "no"}),
        ({"type": "regex", "pattern": "[12]"}, {"1", "2"}),
        ({"type": "lark", "grammar": 'start: "a" | "b"'}, {"a", "b"}),
    ],
    ids=lambda value: value.get("type") if isinstance(value, dict) else "",
)
def test_other_formats(client: Any, wanted: Any, texts: set[str]) -> None:
    answer = client.completions.create(
        model="demo", prompt="Answer: ", max_tokens=8, extra_body={"response_format": wanted}
    )
    assert answer.choices[0].text in texts


@pytest.mark.parametrize("wanted", [None, {"type": "text"}])
def test_no_format(client: Any, wanted: Any) -> None:
    body = {} if wanted is None else {"extra_body": {"response_format": wanted}}
    answer = client.completions.create(model="demo", prompt="Anna is", max_tokens=5, temperature=0, **body)
    assert answer.choices[0].text
    streamed = client.completions.create(
        model="demo", prompt="Anna is", max_tokens=5, temperature=0, stream=True, **body
    )
    assert "".join(chunk.choices[0].text for chunk in streamed) == answer.choices[0].text


@pytest.mark.parametrize("max_tokens", [14, 20, None])
def test_answers_are_complete_within_max_tokens(client: Any, max_tokens: int | None) -> None:
    """A list of names that the model would go on with for ever."""
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 3}
    for seed in range(4):
        answer = client.chat.completions.create(
            **ASK | {"max_tokens": max_tokens, "temperature": 1.9, "seed": seed}, response_format=schema_format(schema)
        )
        jsonschema.validate(json.loads(answer.choices[0].message.content), schema)
        assert answer.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("wanted", [None, {"type": "regex", "pattern": "[a-z ]{3,40}"}])
@pytest.mark.parametrize("max_tokens", [6, 60])
def test_usage(example: Any, client: Any, wanted: Any, max_tokens: int) -> None:
    """Of the text that is free and ends by itself, too."""
    ask = {"model": "demo", "prompt": "Anna is", "max_tokens": max_tokens, "temperature": 0}
    body = {"extra_body": {"response_format": wanted}}
    llm = llama_cpp.Llama(str(example.model_path()), n_ctx=256, verbose=False)
    whole = client.completions.create(**ask, **body)
    usage = whole.usage
    assert usage.prompt_tokens == len(llm.tokenize(b"Anna is"))
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    if wanted is None:
        told = llm.create_completion(**ask | {"model": None})
        assert (told["choices"][0]["text"], told["usage"]) == (
            whole.choices[0].text,
            usage.model_dump(exclude_none=True),
        )
    elif whole.choices[0].finish_reason == "length":
        assert usage.completion_tokens == max_tokens
    llm.close()
    for include in (True, False):
        *chunks, last = client.completions.create(**ask, **body, stream=True, stream_options={"include_usage": include})
        assert all(chunk.usage is None for chunk in chunks)
        assert (last.choices, last.usage) == ([], usage) if include else last.usage is None


def test_text_that_is_free_may_be_cut_off(client: Any) -> None:
    answer = client.completions.create(model="demo", prompt="Anna is", max_tokens=2)
    assert answer.choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"response_format": {"type": "xml"}}, "response_format.type", "invalid_request"),
        ({"response_format": {"type": ["regex"]}}, "response_format.type", "invalid_request"),
        ({"response_format": {"type": "regex", "pattern": "a", "flags": "i"}}, "response_format.flags", None),
        ({"response_format": {"type": "regex", "pattern": "("}}, "response_format", "invalid_format"),
        ({"response_format": schema_format({"type": "strin"})}, "response_format", "invalid_format"),
        ({"response_format": {"type": "regex", "pattern": "a" * 300_000}}, "response_format", "format_too_large"),
        ({"max_tokens": 2}, "max_tokens", "max_tokens_too_small"),
        ({"n": 3}, "n", "invalid_request"),
        ({"stream": False, "stream_options": {}}, "stream_options", "invalid_request"),
        ({"stream_options": {"usage": True}}, "stream_options.usage", "invalid_request"),
        ({"temperature": "hot"}, "temperature", "invalid_request"),
        ({"max_tokens": True}, "max_tokens", "invalid_request"),
        ({"seed": "1"}, "seed", "invalid_request"),
        ({"messages": []}, "messages", "invalid_request"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role", "invalid_request"),
        ({"messages": [{"role": "user", "content": "word " * 600}]}, "prompt", "context_length_exceeded"),
        ({"response_format": {"type": "regex", "pattern": "a{5000}b"}}, "max_tokens", "max_tokens_too_small"),
        (
            {"response_format": {"type": "regex", "pattern": "a{5000}b"}, "max_tokens": 10_000},
            "prompt",
            "context_length_exceeded",
        ),
        ({"messages": [{"role": "user", "content": "word " * 100_000}]}, "prompt", "context_length_exceeded"),
        (
            {"messages": [{"role": "user", "content": "word " * 600}], "response_format": None},
            "prompt",
            "context_length_exceeded",
        ),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_are_named(address: str, client: Any, body: Any, param: str, code: str | None, stream: bool) -> None:
    body = {"response_format": schema_format(PERSON), "stream": stream} | body
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**ASK, extra_body=body)
    assert caught.value.param == param
    assert code in (None, caught.value.code)
    wait_until_free(address, 2)


@pytest.mark.parametrize(
    ("body", "status"), [(b"{", 400), (b"[" * 200_000, 400), (b"[1]", 400), (b" " * 2_000_000, 413), (b"\xff", 400)]
)
def test_bodies_that_are_no_requests(address: str, body: bytes, status: int) -> None:
    answer = httpx.post(f"{address}/v1/chat/completions", content=body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("more", [b"", b',"response_format":{"type":"regex","pattern":"a"}', b',"stream":true'])
def test_a_prompt_that_is_no_text(address: str, more: bytes) -> None:
    answer = httpx.post(f"{address}/v1/completions", content=rb'{"prompt":"\ud800"' + more + b"}")
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "prompt"


@pytest.mark.parametrize("response_format", [None, {"type": "regex", "pattern": "[a-z]{3}"}])
def test_a_template_that_begins_the_text_itself(
    example: Any, monkeypatch: pytest.MonkeyPatch, address: str, response_format: Any
) -> None:
    formatter, prompts = example.Jinja2ChatFormatter, []
    template = "{{ bos_token }}{{ messages[0].content }}"
    monkeypatch.setattr(example, "Jinja2ChatFormatter", lambda _, *tokens: formatter(template, *tokens))
    write = example.constrained if response_format else example.free

    def noted(llm: Any, prompt: list[int], *arguments: Any) -> Any:
        prompts.append((llm, prompt))
        return write(llm, prompt, *arguments)

    monkeypatch.setattr(example, write.__name__, noted)
    answer = httpx.post(f"{address}/v1/chat/completions", json=ASK | {"response_format": response_format})
    assert answer.status_code == 200
    ((llm, prompt),) = prompts
    assert [place for place, token in enumerate(prompt) if token == llm.token_bos()] == [0]


def test_what_a_client_said_is_said_again(address: str) -> None:
    body = rb'{"prompt":"x","model":"\ud800","max_tokens":1}'
    answer = httpx.post(f"{address}/v1/completions", content=body)
    assert (answer.status_code, answer.json()["model"]) == (200, "\ud800")


def open_request(address: str, head: bytes, body: bytes) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n" + body)
    return connection


def test_who_sends_slowly_keeps_nobody_waiting(example: Any) -> None:
    with running(example, slots=1, queue=0, body_seconds=2) as address:
        slow = [open_request(address, b"Content-Length: 1000", b"{") for _ in range(5)]
        answer = httpx.post(f"{address}/v1/completions", json={"prompt": "x", "max_tokens": 1}, timeout=120)
        assert answer.status_code == 200
        for connection in slow[:4]:
            assert b" 408 " in connection.recv(100)
            connection.close()
        slow[4].close()
        wait_until_free(address, 1)


def test_a_body_in_a_chunk_for_each_byte(address: str) -> None:
    connection = open_request(address, b"Transfer-Encoding: chunked", b"1\r\n \r\n" * 100_000 + b"2\r\n{}\r\n0\r\n\r\n")
    assert b" 400 " in connection.recv(100)
    connection.close()


def test_a_template_that_refuses_the_messages(example: Any, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    formatter = example.Jinja2ChatFormatter
    template = "{{ raise_exception('no system') }}"
    monkeypatch.setattr(example, "Jinja2ChatFormatter", lambda _, *tokens: formatter(template, *tokens))
    answer = httpx.post(f"{address}/v1/chat/completions", json=ASK)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "messages"
    assert "no system" in answer.json()["error"]["message"]


LONG = {"type": "regex", "pattern": "[a-z]{450}"}


def test_who_goes_away_frees_a_slot(address: str) -> None:
    body = {"model": "demo", "prompt": "x", "response_format": LONG, "stream": True}
    with httpx.Client(timeout=60) as client:
        for _ in range(6):
            with client.stream("POST", f"{address}/v1/completions", json=body) as answer:
                next(answer.iter_lines())
        wait_until_free(address, 2)


def test_beyond_the_queue(example: Any) -> None:
    with running(example, slots=1, queue=1) as address:
        body = {"model": "demo", "prompt": "x", "response_format": LONG, "max_tokens": 450}
        with ThreadPoolExecutor(12) as pool:
            answers = list(
                pool.map(lambda _: httpx.post(f"{address}/v1/completions", json=body, timeout=120), range(12))
            )
        assert {answer.status_code for answer in answers} == {200, 503}
        refused = next(answer for answer in answers if answer.status_code == 503)
        assert refused.json()["error"]["code"] == "overloaded"
        assert refused.headers["retry-after"] == "1"
        wait_until_free(address, 1)


@pytest.mark.parametrize("stream", [True, False])
def test_an_error_is_that_of_one_answer(example: Any, monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    monkeypatch.setattr(example, "LIMITS", example.cfgmask.Limits(max_lexer_states=60))
    failing = {"prompt": "x", "response_format": {"type": "regex", "pattern": "[a-z]{400}"}, "stream": stream}
    fine = {"prompt": "x", "response_format": {"type": "regex", "pattern": "(ab|cd){4}"}}
    with running(example, slots=2, queue=8) as address:
        post = lambda body: httpx.post(f"{address}/v1/completions", json=body, timeout=120)  # noqa: E731
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(post, [failing, fine, failing, fine]))
        assert [answer.status_code for answer in answers] == [400, 200] * 2
        for broken, whole in zip(answers[::2], answers[1::2], strict=True):
            assert broken.json()["error"]["code"] == "format_too_large"
            assert len(whole.json()["choices"][0]["text"]) == 8
        wait_until_free(address, 2)


# Many at once.


def random_request(rng: random.Random) -> tuple[str, dict[str, Any], Any]:
    """A kind, the body of a request, and the schema or texts of its answer."""
    kind = rng.choice(["schema", "schema", "schema", "choice", "bad", "long", "goes away"])
    names = [rng.choice(["a", "b", "c", "d", "e"]) * rng.randint(1, 3) for _ in range(rng.randint(1, 4))]
    kinds = [{"type": "integer", "maximum": 99, "minimum": 0}, {"enum": ["x", "y"]}, {"type": "boolean"}]
    properties = {name: rng.choice(kinds) for name in names}
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    body: dict[str, Any] = {"model": "demo", "prompt": f"JSON {rng.random()}: ", "max_tokens": 150, "seed": 1}
    body["stream"] = rng.random() < 0.5
    body["response_format"] = schema_format(schema)
    if kind == "choice":
        schema = [f"{rng.random()}", "no"]
        body["response_format"] = {"type": "choice", "choices": schema}
    elif kind == "bad":
        body["response_format"] = rng.choice([schema_format({"type": 3}), {"type": "regex", "pattern": "a("}, {}])
    elif kind == "long":
        body["prompt"] = "many words " * rng.choice([300, 5_000, 50_000])
    elif kind == "goes away":
        body |= {"response_format": LONG, "stream": True, "max_tokens": 450}
    return kind, body, schema


def run_client(address: str, seed: int) -> str:
    """One client until it has an answer that is no 503; what came of it."""
    kind, body, wanted = random_request(random.Random(seed))
    path = f"{address}/v1/completions"
    with httpx.Client(timeout=300) as client:
        for _ in range(10_000):
            with client.stream("POST", path, json=body) as answer:
                if answer.status_code == 503:
                    assert json.loads(answer.read())["error"]["code"] == "overloaded"
                elif kind == "goes away":
                    assert answer.status_code == 200
                    next(answer.iter_lines())
                    return "went away"
                else:
                    check(kind, answer.status_code, answer.read(), body["stream"], wanted)
                    return f"{kind} {answer.status_code}"
            time.sleep(float(answer.headers["retry-after"]) * (1 + random.random()))
    raise AssertionError("never answered")


def check(kind: str, status: int, body: bytes, streamed: bool, wanted: Any) -> None:
    if kind in ("bad", "long"):
        assert status == 400
        assert json.loads(body)["error"]["message"]
        return
    assert status == 200
    if streamed:
        events = [line[6:] for line in body.decode().splitlines() if line.startswith("data: ")]
        assert events.pop() == "[DONE]"
        choices = [json.loads(event)["choices"][0] for event in events]
    else:
        choices = json.loads(body)["choices"]
    text = "".join(choice["text"] for choice in choices)
    assert choices[-1]["finish_reason"] == "stop"
    if kind == "choice":
        assert text in wanted
    else:
        jsonschema.validate(json.loads(text), wanted)


def memory() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_200_clients(example: Any) -> None:
    with running(example, slots=2, queue=16) as address:
        grown = []
        for round_number in range(3):
            with ThreadPoolExecutor(200) as pool:
                outcomes = Counter(
                    pool.map(run_client, [address] * 200, range(round_number * 200, round_number * 200 + 200))
                )
            wait_until_free(address, 2)
            gc.collect()
            grown.append(memory())
            print(outcomes, f"{grown[-1] / 1e6:.0f} MB")
        assert sum(outcomes.values()) == 200
        # The caches of grammars that are kept have a bound of their own; 200 more of them may take this much.
        assert grown[2] - grown[1] < 100e6
