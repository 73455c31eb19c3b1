"""A small server of OpenAI's protocol over llama-cpp-python, with `response_format`.

    python examples/server.py --model model.gguf --slots 2

    client = openai.OpenAI(base_url="http://127.0.0.1:8000/v1", api_key="none")
    client.chat.completions.create(
        model="any",
        messages=[{"role": "user", "content": "A person, please."}],
        response_format={"type": "json_schema", "json_schema": {"name": "person", "schema": {...}}},
    )

Each slot is a context of its own over one file of weights, which the system shares among them. A request that finds all
slots taken waits; one that finds the queue full gets 503. A client that goes away frees its slot within one token.
Needs cfgmask[server].
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import llama_cpp
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from starlette.requests import ClientDisconnect

import cfgmask
from cfgmask.demo import model_path
from cfgmask.integrations.llama_cpp import generate
from cfgmask.integrations.requests import CompiledFormats, RequestError, ResponseFormat

# Schemas come from strangers.
LIMITS = cfgmask.Limits(
    max_source_bytes=256 * 1024, max_regex_nodes=400_000, max_lexer_states=100_000, max_items=20_000,
    max_item_sets=200_000, max_rules=100_000,
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """queue  how many requests may wait for a slot"""

    model: Path = field(default_factory=model_path)
    slots: int = 2
    queue: int = 32
    context: int = 512
    max_body_bytes: int = 1024 * 1024
    body_seconds: float = 30


class Refusal(Exception):
    """An answer that is an error, in OpenAI's form."""

    def __init__(self, status: int, message: str, *, code: str, param: str | None = None) -> None:
        super().__init__(message)
        kind = "invalid_request_error" if status < 500 else "server_error"
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


def refusal_of(error: cfgmask.CfgmaskError) -> Refusal:
    if isinstance(error, RequestError):
        return Refusal(400, error.message, code="invalid_request", param=error.param)
    if isinstance(error, cfgmask.GrammarError):
        return Refusal(400, str(error), code="invalid_format", param="response_format")
    if isinstance(error, cfgmask.BudgetTooSmall) and error.bound == "max_tokens":
        return Refusal(400, str(error), code="max_tokens_too_small", param="max_tokens")
    if isinstance(error, cfgmask.BudgetTooSmall):
        return Refusal(400, str(error), code="context_length_exceeded", param="prompt")
    if isinstance(error, cfgmask.LimitExceeded):
        return Refusal(400, str(error), code="format_too_large", param="response_format")
    return Refusal(500, str(error), code="generation_failed")


# What a request may say. Anything else is refused: an option that is ignored is an answer that was not asked for.


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    role: str = Field(pattern="^(system|developer|user|assistant)$")
    content: str
    name: str | None = None


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    include_usage: bool = False


class Sampling(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    model: str = ""
    stream: bool = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    temperature: float = Field(0.8, ge=0, le=100)
    top_p: float = Field(1.0, gt=0, le=1)
    frequency_penalty: float = Field(0.0, ge=-2, le=2)
    presence_penalty: float = Field(0.0, ge=-2, le=2)
    seed: int | None = Field(None, ge=0, le=2**32 - 2)
    response_format: Any = None

    @property
    def include_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    @field_validator("stream_options")
    @classmethod
    def _options_have_a_stream(cls, given: StreamOptions | None, others: ValidationInfo) -> StreamOptions | None:
        if given is not None and others.data.get("stream") is False:
            raise ValueError("these are for answers that are streamed")
        return given


class ChatRequest(Sampling):
    messages: list[Message] = Field(min_length=1)


class CompletionRequest(Sampling):
    prompt: str


@dataclass(frozen=True)
class Prompt:
    """has_start  whether the text brings the token that begins it"""

    text: str
    has_start: bool = False


# Slots.


class Slots:
    """The models, and who may use one."""

    def __init__(self, settings: Settings) -> None:
        self._queue = settings.queue
        self._waiting = 0
        self._free: asyncio.Queue[llama_cpp.Llama] = asyncio.Queue()
        self.models = [
            llama_cpp.Llama(str(settings.model), n_ctx=settings.context, n_threads=1, verbose=False)
            for _ in range(settings.slots)
        ]
        for llm in self.models:
            self._free.put_nowait(llm)

    @property
    def n_free(self) -> int:
        return self._free.qsize()

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """A place among those who wait. Raises Refusal where there is none."""
        if self._waiting >= self._queue + self.n_free:
            raise Refusal(503, "all slots are taken and the queue is full; try again later", code="overloaded")
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def take(self, request: Request) -> llama_cpp.Llama:
        """Wait for a model. Raises Refusal where the client goes away meanwhile."""
        waiting = asyncio.ensure_future(self._free.get())
        try:
            while not (await asyncio.wait({waiting}, timeout=0.2))[0]:
                if await request.is_disconnected():
                    raise Refusal(499, "the client went away", code="disconnected")
        except BaseException:
            if waiting.done():
                self.give_back(waiting.result())
            waiting.cancel()
            raise
        return waiting.result()

    def give_back(self, llm: llama_cpp.Llama) -> None:
        self._free.put_nowait(llm)


@dataclass
class Answer:
    """A text that is asked for piece by piece; each piece takes as long as its tokens do."""

    pieces: Iterator[str]
    finish_reason: Callable[[], str | None]
    n_tokens: Callable[[], int]  # of the whole text, without the end token
    close: Callable[[], None]


def constrained(llm: Any, prompt: list[int], compiled: cfgmask.CompiledGrammar, asked: Sampling) -> Answer:
    """Complete when `max_tokens` or the context end."""
    chosen = options(asked)
    stream = generate(
        llm, prompt, compiled, stream=True, **chosen | {"max_tokens": chosen["max_tokens"] or llm.n_ctx()}
    )
    return Answer(stream, lambda: stream.finish_reason, lambda: len(stream.token_ids), stream.close)


def free(llm: Any, prompt: list[int], asked: Sampling) -> Answer:
    """No grammar, no masks: llama-cpp-python alone."""
    reason: list[str | None] = [None]

    def n_tokens() -> int:
        # The last one that was sampled is not read any more; if it ended the text, it is none of it.
        return int(llm.n_tokens) - len(prompt) + (reason[0] == "length")

    def pieces() -> Iterator[str]:
        chosen = options(asked)
        chunks = llm.create_completion(prompt, stream=True, **chosen | {"max_tokens": chosen["max_tokens"] or -1})
        for chunk in chunks:
            (choice,) = chunk["choices"]
            reason[0] = choice["finish_reason"]
            yield choice["text"]

    running = pieces()
    return Answer(running, lambda: reason[0], n_tokens, running.close)


def options(asked: Sampling) -> dict[str, Any]:
    return {
        "max_tokens": asked.max_completion_tokens or asked.max_tokens,
        "temperature": asked.temperature,
        "top_p": asked.top_p,
        "frequency_penalty": asked.frequency_penalty,
        "presence_penalty": asked.presence_penalty,
        "seed": asked.seed,
    }


class Writing:
    """An answer that a model is writing. `end` gives the model back, from wherever it is called and however often."""

    def __init__(self, slots: Slots, writers: ThreadPoolExecutor, llm: Any, answer: Answer) -> None:
        self._slots = slots
        self._writers = writers
        self._llm = llm
        self._answer = answer
        self._lock = threading.Lock()
        self._has_ended = False

    @property
    def finish_reason(self) -> str | None:
        return self._answer.finish_reason()

    @property
    def n_tokens(self) -> int:
        return self._answer.n_tokens()

    async def next_piece(self) -> str | None:
        """The next piece; None after the last. Raises Refusal for what goes wrong."""
        try:
            piece: str | None = await asyncio.get_running_loop().run_in_executor(self._writers, self._next)
        except cfgmask.CfgmaskError as error:
            raise refusal_of(error) from error
        return piece

    def end(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            # Not waited for: where a client went away, its task can wait for nothing any more.
            self._writers.submit(self._close, asyncio.get_running_loop())

    def _next(self) -> str | None:
        with self._lock:
            return next(self._answer.pieces, None)

    def _close(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            with self._lock:  # the piece that is being written is finished first
                self._answer.close()
        finally:
            loop.call_soon_threadsafe(self._slots.give_back, self._llm)


class PlainJson(JSONResponse):
    """In ASCII: what a client said is said again, and lone surrogates have no UTF-8."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content).encode()


class EventStream(StreamingResponse):
    """Ends what it shows whether it was read to the end, broken off, or never begun."""

    def __init__(self, events: AsyncIterator[str], end: Callable[[], None]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._end = end

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._end()


class Server:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.slots = Slots(settings)
        vocabulary = cfgmask.Vocabulary.from_llama(self.slots.models[0])
        self._formats = CompiledFormats(vocabulary, limits=LIMITS)
        self._longest_token = max(map(len, vocabulary.tokens))
        self._writers = ThreadPoolExecutor(2 * settings.slots, "writer")
        self._compilers = ThreadPoolExecutor(2, "compiler")

    async def answer(self, request: Request, kind: type[Sampling], prompt_of: Callable[[Any], Prompt]) -> Any:
        # First of all: who sends slowly keeps nobody from a slot.
        asked = await self._read(request, kind)
        with self.slots.admitted():
            compiled = await self._compiled(asked.response_format)
            prompt = await self._in(self._compilers, self._ids, prompt_of(asked))
            llm = await self.slots.take(request)
        writing = await self._begin(llm, prompt, compiled, asked)
        form = Form(isinstance(asked, ChatRequest), asked.model, len(prompt), asked.include_usage)
        if asked.stream:
            return EventStream(form.events(writing), writing.end)
        try:
            text = ""
            while (piece := await writing.next_piece()) is not None:
                text += piece
                if await request.is_disconnected():
                    raise Refusal(499, "the client went away", code="disconnected")
            return PlainJson(form.whole(text, writing))
        finally:
            writing.end()

    async def _compiled(self, response_format: Any) -> cfgmask.CompiledGrammar | None:
        try:
            wanted = ResponseFormat.from_json(response_format)
            return None if wanted is None else await self._in(self._compilers, self._formats.compile, wanted)
        except cfgmask.CfgmaskError as error:
            raise refusal_of(error) from None

    async def _begin(self, llm: Any, prompt: list[int], compiled: Any, asked: Sampling) -> Writing:
        try:
            if compiled is None:
                answer = free(llm, prompt, asked)
            else:
                answer = await self._in(self._writers, constrained, llm, prompt, compiled, asked)
        except BaseException as error:
            self.slots.give_back(llm)
            if isinstance(error, cfgmask.CfgmaskError):
                raise refusal_of(error) from None
            raise
        return Writing(self.slots, self._writers, llm, answer)

    async def _in(self, pool: ThreadPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)

    async def _body(self, request: Request) -> bytearray:
        body = bytearray()  # bytes would be copied at each chunk, of which a client may make as many as bytes
        async for chunk in request.stream():
            body += chunk
            if len(body) > self.settings.max_body_bytes:
                raise Refusal(413, f"a request has at most {self.settings.max_body_bytes} bytes", code="too_large")
        return body

    async def _read(self, request: Request, kind: type[Sampling]) -> Sampling:
        try:
            body = await asyncio.wait_for(self._body(request), self.settings.body_seconds)
        except asyncio.TimeoutError:
            raise Refusal(408, "the body took too long to come", code="timeout") from None
        except ClientDisconnect:
            raise Refusal(499, "the client went away", code="disconnected") from None
        try:
            return kind.model_validate(json.loads(body))
        except ValidationError as error:
            first = error.errors()[0]
            param = ".".join(map(str, first["loc"]))
            raise Refusal(400, f"{param}: {first['msg']}", code="invalid_request", param=param) from None
        except (ValueError, RecursionError) as error:
            raise Refusal(400, f"the body is not JSON: {error}", code="invalid_json") from None

    def _ids(self, prompt: Prompt) -> list[int]:
        """The prompt's tokens. Raises Refusal where they do not fit the context, before any slot is taken."""
        too_long = Refusal(400, "the prompt does not fit the context", code="context_length_exceeded", param="prompt")
        try:
            data = prompt.text.encode()
        except UnicodeEncodeError:
            message = "the prompt holds a lone surrogate, which is no character"
            raise Refusal(400, message, code="invalid_request", param="prompt") from None
        if len(data) > self.settings.context * self._longest_token:
            raise too_long
        llm = self.slots.models[0]
        ids = llm.tokenize(data, add_bos=not prompt.has_start, special=True) or [llm.token_bos()]
        if len(ids) >= self.settings.context:
            raise too_long
        return ids

    def chat_prompt(self, asked: ChatRequest) -> Prompt:
        """The messages as the model's own template has them; a line each where it has none."""
        llm = self.slots.models[0]
        template = llm.metadata.get("tokenizer.chat_template")
        messages: Any = [message.model_dump(exclude_none=True) for message in asked.messages]
        if template is None:
            return Prompt("".join(f"{message['role']}: {message['content']}\n" for message in messages) + "assistant: ")
        tokens = [llm.detokenize([token], special=True).decode() for token in (llm.token_eos(), llm.token_bos())]
        try:
            formatted = Jinja2ChatFormatter(template, *tokens)(messages=messages)
            return Prompt(formatted.prompt, formatted.added_special)
        except (jinja2.TemplateError, ValueError) as error:  # templates refuse roles that they have no place for
            message = f"the model's chat template refuses the messages: {error}"
            raise Refusal(400, message, code="invalid_request", param="messages") from None


@dataclass
class Form:
    """The JSON of an answer."""

    chat: bool
    model: str
    n_prompt: int
    include_usage: bool
    id: str = field(default_factory=lambda: f"cfgmask-{uuid.uuid4().hex}")

    def whole(self, text: str, writing: Writing) -> dict[str, Any]:
        said = {"message": {"role": "assistant", "content": text}} if self.chat else {"text": text}
        kind = "chat.completion" if self.chat else "text_completion"
        return self._frame(kind, [self._choice(said, writing.finish_reason)]) | self._usage(writing)

    async def events(self, writing: Writing) -> AsyncIterator[str]:
        try:
            while (piece := await writing.next_piece()) is not None:
                yield self._event(self._piece(piece, None))
            yield self._event(self._piece("", writing.finish_reason))
            if self.include_usage:
                yield self._event(self._chunk([]) | self._usage(writing))
        except Refusal as refusal:  # the status has been sent long ago
            yield self._event(refusal.body)
        yield "data: [DONE]\n\n"

    def _piece(self, text: str, reason: str | None) -> dict[str, Any]:
        said = {"delta": {"role": "assistant", "content": text}} if self.chat else {"text": text}
        return self._chunk([self._choice(said, reason)])

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        frame = self._frame("chat.completion.chunk" if self.chat else "text_completion", choices)
        return frame | {"usage": None} if self.include_usage else frame

    def _choice(self, said: dict[str, Any], reason: str | None) -> dict[str, Any]:
        return {"index": 0, **said, "finish_reason": reason, "logprobs": None}

    def _frame(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": int(time.time()), "model": self.model, "choices": choices}

    def _usage(self, writing: Writing) -> dict[str, Any]:
        n_prompt, n_written = self.n_prompt, writing.n_tokens
        counts = {"prompt_tokens": n_prompt, "completion_tokens": n_written, "total_tokens": n_prompt + n_written}
        return {"usage": counts}

    def _event(self, value: Any) -> str:
        return f"data: {json.dumps(value)}\n\n"


def create_app(settings: Settings) -> FastAPI:
    app, server = FastAPI(title="cfgmask"), Server(settings)

    @app.exception_handler(Refusal)
    async def refuse(_: Request, refusal: Refusal) -> JSONResponse:
        headers = {"Retry-After": "1"} if refusal.status == 503 else None
        return PlainJson(refusal.body, refusal.status, headers)

    @app.post("/v1/chat/completions", response_model=None)
    async def chat(request: Request) -> Any:
        return await server.answer(request, ChatRequest, server.chat_prompt)

    @app.post("/v1/completions", response_model=None)
    async def complete(request: Request) -> Any:
        return await server.answer(request, CompletionRequest, lambda asked: Prompt(asked.prompt))

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": settings.model.stem, "object": "model", "owned_by": "local"}]}

    @app.get("/health")
    async def health() -> dict[str, int]:
        return {"slots": len(server.slots.models), "free": server.slots.n_free}

    return app


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--model", type=Path, default=model_path(), help="a GGUF file; by default the demo model")
    parser.add_argument("--slots", type=int, default=2, help="how many answers are written at once")
    parser.add_argument("--queue", type=int, default=32, help="how many requests may wait for a slot")
    parser.add_argument("--context", type=int, default=512, help="context length of each slot, in tokens")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    settings = Settings(given.model, given.slots, given.queue, given.context)
    uvicorn.run(create_app(settings), host=given.host, port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
