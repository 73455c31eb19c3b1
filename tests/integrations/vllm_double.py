"""As much of vLLM 0.33 as the backend touches, without vLLM: the same names, signatures and order of calls.

CI has no vLLM. `engines/test_vllm.py` holds every name here against the real wheel, and walks both managers through the
same requests; so what passes over this one passes over that one.
"""

from __future__ import annotations

import copy
import enum
import json
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
import torch


class VLLMValidationError(Exception):
    def __init__(self, message: str, *, parameter: str | None = None, value: Any = None) -> None:
        super().__init__(message)


class StructuredOutputOptions(enum.Enum):
    JSON = enum.auto()
    JSON_OBJECT = enum.auto()
    REGEX = enum.auto()
    GRAMMAR = enum.auto()
    CHOICE = enum.auto()
    STRUCTURAL_TAG = enum.auto()


class StructuredOutputGrammar(ABC):
    @abstractmethod
    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool: ...
    @abstractmethod
    def validate_tokens(self, tokens: list[int]) -> list[int]: ...
    @abstractmethod
    def rollback(self, num_tokens: int) -> None: ...
    @abstractmethod
    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None: ...
    @abstractmethod
    def is_terminated(self) -> bool: ...
    @abstractmethod
    def reset(self): ...


@dataclass
class StructuredOutputBackend(ABC):
    vllm_config: Any
    tokenizer: Any
    vocab_size: int

    @abstractmethod
    def compile_grammar(
        self,
        request_type: StructuredOutputOptions,
        grammar_spec: str,
        stop_token_ids: set[int] | None = None,
    ) -> StructuredOutputGrammar: ...
    @abstractmethod
    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor: ...
    @abstractmethod
    def destroy(self): ...


@dataclass
class StructuredOutputsParams:
    json: str | dict | None = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    disable_any_whitespace: bool = False
    disable_additional_properties: bool = False
    whitespace_pattern: str | None = None
    structural_tag: str | None = None
    _backend: str | None = field(default=None, init=False)


class SamplingParams:
    def __init__(self, structured_outputs: StructuredOutputsParams | None = None) -> None:
        self.structured_outputs = structured_outputs


@dataclass
class StructuredOutputRequest:
    params: StructuredOutputsParams
    _grammar: Any = None

    @property
    def grammar(self) -> Any:
        return self._grammar

    @grammar.setter
    def grammar(self, grammar: Any) -> None:
        self._grammar = grammar

    @property
    def structured_output_key(self) -> tuple[StructuredOutputOptions, str]:
        return get_structured_output_key(self.params)


def get_structured_output_key(params: StructuredOutputsParams) -> tuple[StructuredOutputOptions, str]:
    def text(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    if params.json is not None:
        return StructuredOutputOptions.JSON, text(params.json)
    if params.json_object:
        return StructuredOutputOptions.JSON_OBJECT, ""
    if params.regex is not None:
        return StructuredOutputOptions.REGEX, params.regex
    if params.choice is not None:
        return StructuredOutputOptions.CHOICE, text(params.choice)
    if params.grammar is not None:
        return StructuredOutputOptions.GRAMMAR, params.grammar
    if params.structural_tag is not None:
        return StructuredOutputOptions.STRUCTURAL_TAG, params.structural_tag
    raise ValueError("No valid structured output parameter found")


def strip_speculative_padding(token_ids: list[int]) -> list[int]:
    return token_ids[: next((i for i, token in enumerate(token_ids) if token < 0), len(token_ids))]


class GuidanceBackend:
    """Whose place the engine takes."""


def validate_guidance_grammar(sampling_params: SamplingParams, tokenizer: Any = None) -> None:
    raise AssertionError("nothing took its place")


def process_for_additional_properties(guide_json: str | dict[str, Any]) -> dict[str, Any]:
    made = json.loads(guide_json) if isinstance(guide_json, str) else copy.deepcopy(guide_json)
    _close(made)
    return made


def _close(schema: Any) -> None:
    maps = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
    others = (
        *("additionalProperties", "unevaluatedProperties", "propertyNames", "contains", "additionalItems"),
        *("unevaluatedItems", "not", "if", "then", "else", "contentSchema", "items", "prefixItems"),
        *("allOf", "anyOf", "oneOf"),
    )
    if isinstance(schema, list):
        for item in schema:
            _close(item)
    elif isinstance(schema, dict):
        for key in maps:
            for each in schema[key].values() if isinstance(schema.get(key), dict) else ():
                _close(each)
        for key in others:
            _close(schema.get(key))
        if "additionalProperties" not in schema and ("properties" in schema or "patternProperties" in schema):
            schema["additionalProperties"] = False


class StructuredOutputManager:
    """The steps of vLLM's manager for requests without reasoning, one after the other in one thread."""

    def __init__(self, vllm_config: Any) -> None:
        self.vllm_config = vllm_config
        self.tokenizer = _module().cached_tokenizer_from_config(model_config=vllm_config.model_config)
        self.backend: Any = None
        self._bitmask: Any = None

    def grammar_init(self, request: Any) -> None:
        assert request.sampling_params.structured_outputs._backend == "guidance"
        if self.backend is None:
            vocab_size = self.vllm_config.model_config.get_vocab_size()
            self.backend = _module().GuidanceBackend(self.vllm_config, tokenizer=self.tokenizer, vocab_size=vocab_size)
        kind, text = request.structured_output_request.structured_output_key
        stops = request.sampling_params.all_stop_token_ids
        request.structured_output_request.grammar = self.backend.compile_grammar(kind, text, stop_token_ids=stops)

    def validate_tokens(self, request: Any, spec_tokens: list[int]) -> list[int]:
        spec_tokens = strip_speculative_padding(spec_tokens)
        if not spec_tokens:
            return spec_tokens
        return request.structured_output_request.grammar.validate_tokens(spec_tokens)

    def grammar_bitmask(
        self,
        requests: dict[str, Any],
        structured_output_request_ids: list[str],
        scheduled_spec_decode_tokens: dict[str, list[int]],
    ) -> Any:
        if not structured_output_request_ids:
            return None
        stride = self.vllm_config.num_speculative_tokens + 1
        if self._bitmask is None:
            self._bitmask = self.backend.allocate_token_bitmask(self.vllm_config.scheduler_config.max_num_seqs * stride)
        for index, name in enumerate(structured_output_request_ids):
            grammar = requests[name].structured_output_request.grammar
            self._fill(grammar, index * stride, name, scheduled_spec_decode_tokens.get(name, []))
        return self._bitmask[: len(structured_output_request_ids) * stride].numpy()

    def _fill(self, grammar: Any, row: int, name: str, drafts: list[int]) -> None:
        """A row for each draft, and one after them; those after a draft that was refused are as the row before it."""
        n_taken = 0
        is_padding = False
        refused: int | None = None
        for token in [*drafts, None]:
            if refused is not None:
                self._bitmask[row].copy_(self._bitmask[refused])
            elif is_padding or grammar.is_terminated():
                self._bitmask[row].fill_(-1)
            else:
                grammar.fill_bitmask(self._bitmask, row)
            if token == -1:
                is_padding = True
            elif token is not None and refused is None and not is_padding:
                if not grammar.is_terminated() and grammar.accept_tokens(name, [token]):
                    n_taken += 1
                else:
                    refused = row
            row += 1
        if n_taken:
            grammar.rollback(n_taken)

    def accept_tokens(self, request: Any, new_token_ids: list[int]) -> bool:
        if not new_token_ids:
            return True
        return request.structured_output_request.grammar.accept_tokens(request.request_id, new_token_ids)

    def clear_backend(self) -> None:
        if self.backend is not None:
            self.backend.destroy()


def _module() -> Any:
    return sys.modules["vllm.v1.structured_output"]


MODULES: dict[str, dict[str, Any]] = {
    "vllm": {},
    "vllm.envs": {},
    "vllm.exceptions": {"VLLMValidationError": VLLMValidationError},
    "vllm.sampling_params": {"SamplingParams": SamplingParams, "StructuredOutputsParams": StructuredOutputsParams},
    "vllm.v1": {},
    "vllm.v1.structured_output": {
        "StructuredOutputManager": StructuredOutputManager,
        "GuidanceBackend": GuidanceBackend,
        "cached_tokenizer_from_config": None,
    },
    "vllm.v1.structured_output.backend_guidance": {
        "GuidanceBackend": GuidanceBackend,
        "validate_guidance_grammar": validate_guidance_grammar,
        "process_for_additional_properties": process_for_additional_properties,
    },
    "vllm.v1.structured_output.backend_types": {
        "StructuredOutputBackend": StructuredOutputBackend,
        "StructuredOutputGrammar": StructuredOutputGrammar,
        "StructuredOutputOptions": StructuredOutputOptions,
    },
    "vllm.v1.structured_output.request": {
        "StructuredOutputRequest": StructuredOutputRequest,
        "get_structured_output_key": get_structured_output_key,
    },
    "vllm.v1.structured_output.utils": {"strip_speculative_padding": strip_speculative_padding},
}


def use_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `import vllm` give this, until the test ends."""
    for name in [name for name in sys.modules if name == "vllm" or name.startswith("vllm.")]:
        monkeypatch.delitem(sys.modules, name)
    for name, members in MODULES.items():
        module = ModuleType(name)
        module.__path__ = []
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)
    sys.modules["vllm"].__version__ = "0.33.0"  # type: ignore[attr-defined]
    sys.modules["vllm.envs"].VLLM_PLUGINS = None  # type: ignore[attr-defined]
    monkeypatch.delitem(sys.modules, "cfgmask.integrations.vllm.backend", raising=False)
