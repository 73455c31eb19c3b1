"""What a request asks of the form of its answer, for serving engines: the `response_format` of OpenAI's protocol.

from cfgmask.integrations.requests import CompiledFormats, ResponseFormat

formats = CompiledFormats(vocabulary)
wanted = ResponseFormat.from_json(body.get("response_format"))  # None where nothing is asked for
state = None if wanted is None else formats.start(wanted, body.get("max_tokens"))
while True:
    if state is not None:
        state.mask(logits)  # before penalties, temperature, top-k and top-p
    token_id = sample(logits)
    if state is not None:
        state.advance(token_id)
        if state.must_stop:
            break
"""

from __future__ import annotations

import difflib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import cfgmask
from cfgmask import CompiledGrammar, Grammar, Limits, Matcher, Vocabulary
from cfgmask.errors import CfgmaskError
from cfgmask.integrations.start import STALL_AFTER
from cfgmask.integrations.words import words_of

__all__ = ["CompiledFormats", "RequestError", "RequestState", "ResponseFormat"]

FormatType = Literal["json_schema", "json_object", "regex", "lark", "choice"]

_KEYS: dict[str, tuple[str, ...]] = {
    "text": (),
    "json_object": (),
    "json_schema": ("json_schema", "schema"),
    "regex": ("pattern",),
    "lark": ("grammar",),
    "choice": ("choices",),
}
_NESTED_KEYS = ("name", "schema", "strict", "description")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RequestError(CfgmaskError, ValueError):
    """A request with a missing, unknown or wrong key. `param` is the path of the key."""

    def __init__(self, param: str, message: str) -> None:
        self.param = param
        self.message = message
        super().__init__(f"{param}: {message}")

    def __reduce__(self) -> tuple[type[RequestError], tuple[str, str]]:
        return type(self), (self.param, self.message)


@dataclass(frozen=True)
class ResponseFormat:
    """The format that a request asks for. Equal formats have equal grammars, so it may be the key of a cache.

    type    kind of format: "json_object", "json_schema", "regex", "lark" or "choice"
    source  the schema as JSON text, the pattern, the grammar's text, or the choices; "" for "json_object"
    """

    type: FormatType
    source: str | tuple[str, ...] = ""

    @classmethod
    def from_json(cls, value: Any, param: str = "response_format") -> ResponseFormat | None:
        """Read the `response_format` of a request. None if it asks for free text: null, or the type "text".

        The value is one of:

            {"type": "text"}
            {"type": "json_object"}
            {"type": "json_schema", "json_schema": {"name": …, "schema": …, "strict": …, "description": …}}
            {"type": "json_schema", "schema": …}
            {"type": "regex", "pattern": …}
            {"type": "lark", "grammar": …}
            {"type": "choice", "choices": […]}

        param  path of the value in errors

        Schemas are always enforced, even if "strict" is false. Nothing is compiled here.
        Errors: RequestError for a missing, unknown or wrong key.
        """
        if value is None:
            return None
        fields = _object(value, param)
        kind = fields.get("type")
        if kind not in list(_KEYS):  # lists and objects cannot be looked up in a dictionary
            known = ", ".join(_KEYS)
            raise RequestError(f"{param}.type", f"must be one of {known}, not {_shown(kind)}")
        _check_keys(fields, ("type", *_KEYS[kind]), param)
        if kind == "text":
            return None
        if kind == "json_object":
            return cls("json_object")
        if kind == "json_schema":
            return cls("json_schema", _schema_text(*_schema(fields, param)))
        if kind == "choice":
            return cls("choice", _choices(fields, param))
        (key,) = _KEYS[kind]
        return cls(kind, _text(_required(fields, key, param), f"{param}.{key}"))

    def grammar(self, limits: Limits | None = None) -> Grammar:
        """The grammar of this format.

        Errors: GrammarError with every problem of the schema, pattern or grammar; LimitExceeded.
        """
        limits = limits or Limits()
        if self.type == "choice":
            return Grammar.from_choices(self.source)
        text = str(self.source)
        if self.type == "json_object":
            return Grammar.from_json_schema({"type": "object"}, limits=limits)
        if self.type == "json_schema":
            return Grammar.from_json_schema(text, limits=limits)
        if self.type == "lark":
            return Grammar.from_lark(text, limits=limits)
        return Grammar.from_regex(text, digits="ascii", limits=limits)


class CompiledFormats:
    """Compiles formats for a vocabulary, and keeps the most recently used ones. Any number of threads may use it.

    vocabulary  vocabulary of the model
    n_kept      number of compiled grammars to keep
    limits      bounds on the cost of one format; None: the defaults of `Limits`
    """

    def __init__(self, vocabulary: Vocabulary, *, n_kept: int = 256, limits: Limits | None = None) -> None:
        self._vocabulary = vocabulary
        self._n_kept = n_kept
        self._limits = limits or Limits()
        self._compiled: OrderedDict[ResponseFormat, CompiledGrammar] = OrderedDict()
        self._lock = threading.Lock()

    def compile(self, wanted: ResponseFormat) -> CompiledGrammar:
        """The compiled grammar of a format, the same one for equal formats.

        Errors: those of `ResponseFormat.grammar` and of `cfgmask.compile`.
        """
        with self._lock:
            known = self._compiled.get(wanted)
            if known is not None:
                self._compiled.move_to_end(wanted)
                return known
        made = cfgmask.compile(wanted.grammar(self._limits), self._vocabulary, self._limits)
        with self._lock:
            # Another thread may have been first; then all of what its matchers have learnt is in that one.
            made = self._compiled.setdefault(wanted, made)
            self._compiled.move_to_end(wanted)
            while len(self._compiled) > self._n_kept:
                self._compiled.popitem(last=False)
        return made

    def start(
        self, wanted: ResponseFormat, max_tokens: int | None = None, stall_after: int | None = STALL_AFTER
    ) -> RequestState:
        """The state of a new answer.

        max_tokens   the answer is complete within this many tokens, end tokens not counted. None: it may be cut off
        stall_after  guard against repetition, in tokens, as for `CompiledGrammar.matcher`. None: no guard
        Errors: those of `compile`; BudgetTooSmall, which says how many tokens an answer takes.
        """
        return RequestState(self.compile(wanted).matcher(max_tokens=max_tokens, stall_after=stall_after))


class RequestState:
    """The state of one answer. Belongs to one thread at a time."""

    def __init__(self, matcher: Matcher) -> None:
        vocabulary = matcher.compiled.vocabulary
        self.matcher = matcher
        self._bits = np.zeros(-(-vocabulary.n_vocab // 32), dtype=np.uint32)
        self._not_ends = ~words_of(vocabulary.end_tokens, len(self._bits))

    def mask(self, logits: Any) -> None:
        """Set the logits of all tokens that may not come next to -inf, in place. Call it before any filter.

        logits  as for `Matcher.apply`, which also lists the errors
        """
        self.matcher.apply(logits)

    def advance(self, token_id: int) -> None:
        """Consume the sampled token. Raises TokenRejected for a token that the mask did not allow."""
        self.matcher.advance(token_id)

    def allowed_tokens(self) -> NDArray[np.intp]:
        """The ids that may come next, ascending."""
        self.matcher.fill_mask(self._bits)
        little = self._bits.astype("<u4", copy=False).view(np.uint8)
        return np.flatnonzero(np.unpackbits(little, bitorder="little"))

    @property
    def is_complete(self) -> bool:
        """Whether the answer may end here."""
        return self.matcher.is_finished or self.matcher.is_accepting

    @property
    def must_stop(self) -> bool:
        """Whether the answer is complete and nothing but an end token could follow. Cost: that of a mask."""
        if self.matcher.is_finished:
            return True
        if not self.matcher.is_accepting:
            return False
        self.matcher.fill_mask(self._bits)
        return not (self._bits & self._not_ends).any()


def _object(value: Any, param: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RequestError(param, f"must be an object, not {_shown(value)}")
    return value


def _text(value: Any, param: str) -> str:
    if not isinstance(value, str):
        raise RequestError(param, f"must be a text, not {_shown(value)}")
    return value


def _required(fields: Mapping[str, Any], key: str, param: str) -> Any:
    if key not in fields:
        raise RequestError(param, f"the key {key!r} is missing")
    return fields[key]


def _check_keys(fields: Mapping[str, Any], known: tuple[str, ...], param: str) -> None:
    for key in fields:
        if key not in known:
            close = difflib.get_close_matches(str(key), known, n=1)
            advice = f"did you mean {close[0]!r}?" if close else f"there may be {', '.join(known)}"
            raise RequestError(f"{param}.{key}", f"unknown key; {advice}")


def _schema(fields: Mapping[str, Any], param: str) -> tuple[Any, str]:
    """The schema, and where it stands."""
    if ("json_schema" in fields) == ("schema" in fields):
        raise RequestError(param, "the schema is expected in either 'json_schema' or 'schema'")
    if "schema" in fields:
        return fields["schema"], f"{param}.schema"
    param = f"{param}.json_schema"
    nested = _object(fields["json_schema"], param)
    _check_keys(nested, _NESTED_KEYS, param)
    name = _text(_required(nested, "name", param), f"{param}.name")
    if not _NAME.fullmatch(name):
        raise RequestError(f"{param}.name", "must be 1 to 64 letters, digits, underscores and dashes")
    if not isinstance(nested.get("strict"), (bool, type(None))):
        raise RequestError(f"{param}.strict", f"must be true or false, not {_shown(nested['strict'])}")
    if nested.get("description") is not None:
        _text(nested["description"], f"{param}.description")
    return _required(nested, "schema", param), f"{param}.schema"


def _schema_text(schema: Any, param: str) -> str:
    if not isinstance(schema, (Mapping, bool)):
        raise RequestError(param, f"must be an object, true or false, not {_shown(schema)}")
    try:
        return json.dumps(schema, allow_nan=False, ensure_ascii=False)
    except RecursionError:
        raise RequestError(param, "is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise RequestError(param, f"is not JSON: {error}") from None


def _choices(fields: Mapping[str, Any], param: str) -> tuple[str, ...]:
    choices = _required(fields, "choices", param)
    param = f"{param}.choices"
    if not isinstance(choices, (list, tuple)) or not choices:
        raise RequestError(param, f"must be a list of at least one text, not {_shown(choices)}")
    return tuple(_text(choice, f"{param}[{index}]") for index, choice in enumerate(choices))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
