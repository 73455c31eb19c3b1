"""A step of vLLM's and SGLang's own managers, with cfgmask beside the backends that they bring, in one run.

    .venv-engines/bin/python benchmarks/engines.py --tokenizer tokenizer.model --data maskbench.jsonl.gz

`make test-engines` makes that venv. Each backend lives in a process of its own, and they take turns, round by round.
A step is what the manager does for a batch of requests: all their masks, then a token of each; a row's share is shown.
Requests whose schema a backend refuses, or whose text it does not allow, are left out for all; to find them, each is
walked through once before, so backends that keep grammars or tables have them. Compilations are timed there. Times are
the process's CPU time, so that a busy machine does not count; each is the best round.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import statistics
import time
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from library.cases import SCHEMAS, read_schemas, sample
from library.vocabularies import LLAMA3_PATTERN

BACKENDS = {
    "vllm": ("cfgmask", "xgrammar", "guidance"),
    "sglang": ("cfgmask", "xgrammar", "llguidance"),
}
# (schema, tokens of the text, an end token last)
Request = tuple[str, list[int]]


def tokenizer_of(path: Path) -> Any:
    """A tokenizer of transformers: of a folder of its own files, or of the ranks of tiktoken that Llama 3 has."""
    import transformers

    if path.is_dir():
        return transformers.AutoTokenizer.from_pretrained(path)
    from transformers.convert_slow_tokenizer import TikTokenConverter

    special = ["<|begin_of_text|>", "<|end_of_text|>", *(f"<|reserved_{i}|>" for i in range(254))]
    made = TikTokenConverter(vocab_file=str(path), pattern=LLAMA3_PATTERN, extra_special_tokens=special).converted()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end_of_text|>")


class Vllm:
    """vLLM's StructuredOutputManager."""

    def __init__(self, backend: str, tokenizer: Any, n_rows: int) -> None:
        from vllm.v1 import structured_output

        if backend == "cfgmask":
            from cfgmask.integrations.vllm import install

            install()
            backend = "guidance"
        self.backend = backend
        structured_output.cached_tokenizer_from_config = lambda model_config: tokenizer
        self.eos = tokenizer.eos_token_id
        options = {"disable_any_whitespace": False, "disable_additional_properties": False}
        reasoning = {"reasoning_parser_plugin": None, "reasoning_parser": None, "enable_in_reasoning": False}
        config = SimpleNamespace(
            parallel_config=SimpleNamespace(distributed_executor_backend="external_launcher"),
            scheduler_config=SimpleNamespace(max_num_seqs=n_rows),
            model_config=SimpleNamespace(
                skip_tokenizer_init=False,
                get_vocab_size=lambda: len(tokenizer),
                is_diffusion=False,
                hf_config=SimpleNamespace(model_type="llama"),
            ),
            structured_outputs_config=SimpleNamespace(**options, **reasoning),
            speculative_config=None,
            num_speculative_tokens=0,
        )
        self.manager = structured_output.StructuredOutputManager(config)

    def begin(self, schema: str) -> Any:
        from vllm.sampling_params import StructuredOutputsParams
        from vllm.v1.structured_output.request import StructuredOutputRequest

        params = StructuredOutputsParams(json=schema)
        params._backend = self.backend
        request = SimpleNamespace(
            request_id="r",
            structured_output_request=StructuredOutputRequest(params=params),
            sampling_params=SimpleNamespace(structured_outputs=params, all_stop_token_ids={self.eos}),
            use_structured_output=True,
            all_token_ids=[],
            prompt_token_ids=[],
        )
        self.manager.grammar_init(request)
        if isinstance(grammar := request.structured_output_request.grammar, Exception):
            raise grammar
        return request

    def masks(self, requests: list[Any]) -> Any:
        names = [str(i) for i in range(len(requests))]
        return self.manager.grammar_bitmask(dict(zip(names, requests, strict=True)), names, {})

    def accept(self, request: Any, token: int) -> bool:
        return self.manager.accept_tokens(request, [token])


class Sglang:
    """SGLang's grammar backend, and the objects that its scheduler holds."""

    def __init__(self, backend: str, tokenizer: Any, n_rows: int) -> None:
        from sglang.srt import runtime_context
        from sglang.srt.constrained.base_grammar_backend import create_grammar_backend

        if backend == "cfgmask":
            from cfgmask.integrations.sglang import register

            register()
        white_space = {"disable_any_whitespace": False, "whitespace_pattern": None, "max_whitespace_cnt": None}
        serving = {f"constrained_json_{name}": value for name, value in white_space.items()}
        bags = {
            "exec": SimpleNamespace(kernel=SimpleNamespace(grammar_backend=backend)),
            "serving": SimpleNamespace(**serving, reasoning_parser=None, enable_strict_thinking=False),
        }
        type(runtime_context.get_context()).config_bag = lambda self, name: bags[name]
        ends = {tokenizer.eos_token_id}
        self.width = len(tokenizer)
        self.backend = create_grammar_backend(SimpleNamespace(), tokenizer, self.width, ends)
        self.buffer: Any = None
        self.n_rows = n_rows

    def begin(self, schema: str) -> Any:
        value, _ = self.backend.get_cached_or_future_value(("json", schema), False)
        grammar = value.result() if hasattr(value, "result") else value
        if hasattr(grammar, "error_message"):
            raise ValueError(grammar.error_message)
        return grammar

    def masks(self, requests: list[Any]) -> Any:
        entries = [
            SimpleNamespace(row=row, grammar=grammar)
            for row, grammar in enumerate(requests)
            if not grammar.is_terminated()
        ]
        # SGLang allocates masks that allow everything for each step: beside a GPU, pinned memory that PyTorch keeps
        # and gives again. On a CPU that would be new pages each time, which cost more than the masks.
        if self.buffer is None:
            self.buffer = requests[0].allocate_vocab_mask(self.width, self.n_rows, "cpu")
        self.buffer.fill_(-1)
        requests[0].fill_vocab_mask_batched(entries, self.buffer)
        return self.buffer.numpy()

    def accept(self, request: Any, token: int) -> bool:
        try:
            request.accept_token(token)
        except ValueError:
            return False
        return True


def serve(connection: Connection, engine: str, backend: str, path: Path, n_rows: int) -> None:
    """Answer in a process of its own: which requests are accepted, then the times of those that are given."""
    logging.disable(logging.CRITICAL)
    # The threads that PyTorch fills masks with wait for each other, and on a busy machine that counts as CPU time.
    torch.set_num_threads(1)
    tokenizer = tokenizer_of(path)
    made = (Vllm if engine == "vllm" else Sglang)(backend, tokenizer, n_rows)
    while (order := connection.recv()) is not None:
        kind, requests = order
        connection.send(accepted(made, requests) if kind == "accept" else timed(made, requests, n_rows))


def allows(masks: Any, row: int, token: int) -> bool:
    return bool(masks[row, token // 32] >> (token % 32) & 1)


def accepted(engine: Any, requests: list[Request]) -> dict[int, float]:
    """The requests that are accepted, and the time of the first compilation: some backends keep what they made."""
    found = {}
    for index, (schema, tokens) in enumerate(requests):
        begin = time.process_time_ns()
        try:
            request = engine.begin(schema)
        except Exception:  # whatever a backend raises
            continue
        took = (time.process_time_ns() - begin) / 1000
        if all(allows(engine.masks([request]), 0, token) and engine.accept(request, token) for token in tokens):
            found[index] = took
    return found


def timed(engine: Any, requests: list[Request], n_rows: int) -> dict[str, list[float]]:
    """Microseconds of each step a row: its masks and its tokens."""
    times: dict[str, list[float]] = {"masks": [], "accept": []}
    clock = time.process_time_ns
    for first in range(0, len(requests), n_rows):
        running = [(engine.begin(schema), tokens) for schema, tokens in requests[first : first + n_rows]]
        for step in range(max(len(tokens) for _, tokens in running)):
            running = [(request, tokens) for request, tokens in running if step < len(tokens)]
            begin = clock()
            engine.masks([request for request, _ in running])
            between = clock()
            for request, tokens in running:
                engine.accept(request, tokens[step])
            end = clock()
            times["masks"].append((between - begin) / 1000 / len(running))
            times["accept"].append((end - between) / 1000 / len(running))
    return times


def read_requests(data: Path, tokenizer: Any, limit: int) -> list[Request]:
    """The first valid text of each schema, written as `json.dumps` does."""
    import json

    found = []
    for case in sample(read_schemas(data), limit):
        text = next((instance.text for instance in case.instances if instance.valid), None)
        if text is not None:
            tokens = tokenizer.encode(json.dumps(json.loads(text)), add_special_tokens=False)
            found.append((case.source, [*tokens[:500], *([tokenizer.eos_token_id] if len(tokens) <= 500 else [])]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True, help="Llama 3's tokenizer.model, or a folder")
    parser.add_argument("--data", type=Path, default=SCHEMAS, help="MaskBench, as of masks.py")
    parser.add_argument("--limit", type=int, default=150, help="how many schemas")
    parser.add_argument("--rows", type=int, default=32, help="requests in a batch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine", choices=list(BACKENDS), action="append", help="all, if none is named")
    options = parser.parse_args()
    requests = read_requests(options.data, tokenizer_of(options.tokenizer), options.limit)
    for engine in options.engine or BACKENDS:
        compare(engine, requests, options)


def compare(engine: str, requests: list[Request], options: argparse.Namespace) -> None:
    context = multiprocessing.get_context("spawn")
    connections = {}
    for backend in BACKENDS[engine]:
        ours, theirs = context.Pipe()
        arguments = (theirs, engine, backend, options.tokenizer, options.rows)
        context.Process(target=serve, args=arguments, daemon=True).start()
        connections[backend] = ours

    def ask(backend: str, kind: str, of: list[Request]) -> Any:
        connections[backend].send((kind, of))
        return connections[backend].recv()

    fits = {backend: ask(backend, "accept", requests) for backend in connections}
    by_all = [index for index in range(len(requests)) if all(index in one for one in fits.values())]
    common = [requests[index] for index in by_all]
    rounds = [{b: ask(b, "time", common) for b in connections} for _ in range(options.rounds)]
    for connection in connections.values():
        connection.send(None)
    n_tokens = sum(len(tokens) for _, tokens in common)
    print(f"\n{engine}: {len(common)} requests that all accept, {n_tokens} tokens, {options.rows} rows; microseconds")
    print(
        f"{'backend':12}{'accepts':>8}{'compile':>10}{'mask':>9}{'p50':>8}{'p99':>9}{'token':>8}{'step':>9}{'ratio':>7}"
    )
    ours = 0.0
    for backend in connections:
        best = min((one[backend] for one in rounds), key=lambda times: sum(times["masks"]))
        masks = sorted(best["masks"])
        mask, token = statistics.mean(masks), statistics.mean(best["accept"])
        compiling = statistics.mean(fits[backend][index] for index in by_all)
        ours = ours or mask + token
        print(
            f"{backend:12}{len(fits[backend]):8}{compiling:10.0f}{mask:9.2f}"
            f"{masks[len(masks) // 2]:8.2f}{masks[len(masks) * 99 // 100]:9.2f}{token:8.2f}{mask + token:9.2f}"
            f"{(mask + token) / ours:7.2f}"
        )


if __name__ == "__main__":
    main()
