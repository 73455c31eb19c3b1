"""`LLMatcher` over `Matcher`."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cfgmask._core import CompiledGrammar, Matcher
from cfgmask.compat.llguidance import _grammars
from cfgmask.compat.llguidance._grammars import read_grammar
from cfgmask.compat.llguidance._limits import LLParserLimits
from cfgmask.compat.llguidance._tokenizer import LLTokenizer, check_id, warnings_of
from cfgmask.errors import CfgmaskError
from cfgmask.limits import Limits

StopReason: TypeAlias = Literal[
    "NotStopped",
    "MaxTokensTotal",
    "MaxTokensParser",
    "ParserTooComplex",
    "LexerTooComplex",
    "NoExtension",
    "NoExtensionBias",
    "EndOfSentence",
    "InternalError",
]

# What reading a grammar raises for what is wrong with it.
_GRAMMAR_ERRORS = (CfgmaskError, ValueError)
_ALLOWED_BIAS = 200


class LLMatcher:
    """One text while it is written, by the names that llguidance has.

    tokenizer  whose vocabulary the masks are over
    grammar    Lark text, or what one of `grammar_from…` gave
    log_level  kept for callers; nothing is written
    limits     see `LLParserLimits`
    matcher    what it is in this package; None in an error from the start

    A wrong grammar, a token that does not fit and a limit that is met put it into an error state, which it never
    leaves: `is_error` and `get_error` tell of it, masks then allow end tokens alone, and what is asked says no. What is
    misused (an id that is none, memory of a wrong size) raises OverflowError or ValueError.
    """

    def __init__(
        self,
        tokenizer: LLTokenizer,
        grammar: str,
        *,
        log_level: int = 1,
        limits: LLParserLimits | None = None,
    ) -> None:
        if not isinstance(tokenizer, LLTokenizer):
            raise TypeError(f"tokenizer must be an LLTokenizer, not {type(tokenizer).__name__}")
        if not isinstance(grammar, str):
            raise TypeError(f"grammar must be a text, not {type(grammar).__name__}")
        self._tokenizer = tokenizer
        self._error = ""
        self.matcher: Matcher | None = None
        # The compiled grammar is kept with its warnings.
        self._compiled: CompiledGrammar | None = None
        try:
            self._compiled = tokenizer.compile(grammar, _ours(limits))
            self.matcher = self._compiled.matcher()
        except _GRAMMAR_ERRORS as error:
            self._fail(str(error))

    @staticmethod
    def validate_grammar(
        grammar: str, tokenizer: LLTokenizer | None = None, *, limits: LLParserLimits | None = None
    ) -> str:
        """What is wrong with a grammar, "" for nothing; warnings are left out."""
        is_error, messages = LLMatcher.validate_grammar_with_warnings(grammar, tokenizer, limits=limits)
        return "\n".join(messages) if is_error else ""

    @staticmethod
    def validate_grammar_with_warnings(
        grammar: str, tokenizer: LLTokenizer | None = None, *, limits: LLParserLimits | None = None
    ) -> tuple[bool, list[str]]:
        """Whether something is wrong with a grammar, and that; else what is to be warned of.

        tokenizer  without one, special tokens that the grammar names are not looked up
        """
        try:
            if tokenizer is None:
                return False, _grammars.warnings_in(read_grammar(grammar, _ours(limits)))
            return False, warnings_of(tokenizer.compile(grammar, _ours(limits)))
        except _GRAMMAR_ERRORS as error:
            return True, [str(error)]

    @staticmethod
    def grammar_from_json_schema(
        schema: str | dict[str, Any],
        defaults: Mapping[str, Any] | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> str:
        """See `grammar_from`; options go before and after what `x-guidance` of the schema says."""
        return _grammars.from_json_schema(schema, defaults, overrides)

    @staticmethod
    def grammar_from_lark(lark: str) -> str:
        """The text itself."""
        return lark

    @staticmethod
    def grammar_from_regex(regex: str) -> str:
        """See `grammar_from`."""
        return _grammars.from_regex(regex)

    def is_error(self) -> bool:
        """Whether it is in an error state."""
        return bool(self._error)

    def get_error(self) -> str:
        """What put it into the error state; "" outside of it."""
        return self._error

    def get_grammar_warnings(self) -> list[str]:
        """What is to be warned of in the grammar."""
        return [] if self._compiled is None else warnings_of(self._compiled)

    def deep_copy(self) -> LLMatcher:
        """A second one in the same state. Cost: constant."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.matcher = None if self.matcher is None else self.matcher.fork()
        return made

    def is_accepting(self) -> bool:
        """Whether the text may end here."""
        return not self._error and bool(self._ask(lambda matcher: matcher.is_accepting))

    def is_stopped(self) -> bool:
        """Whether nothing but an end token may come, after at least one token; so it is in an error state.

        Cost: a mask where the text may end.
        """
        return self.stop_reason() != "NotStopped"

    def stop_reason(self) -> StopReason:
        """Why it is stopped: an end token ("EndOfSentence"), a text that nothing continues ("NoExtension"), or an error
        ("InternalError"). The others of llguidance do not occur.
        """
        if self._error or self.matcher is None:
            return "InternalError"
        if self.matcher.is_finished:
            return "EndOfSentence"
        if self.matcher.n_steps == 0 or not self.is_accepting():
            return "InternalError" if self._error else "NotStopped"
        mask = self._mask()
        return "NoExtension" if np.array_equal(mask, self._only_ends()) else "NotStopped"

    def rollback(self, num_tokens: int) -> bool:
        """Take back the last tokens. More than there are is an error.

        An end token where the text was stopped already is none of them.
        """
        if num_tokens < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if self._error or self.matcher is None:
            return False
        if num_tokens > self.matcher.n_steps:
            return self._fail(f"rollback: {num_tokens} > {self.matcher.n_steps}")
        self.matcher.rollback(num_tokens)
        return True

    def reset(self) -> bool:
        """Back to the start of the text; not out of an error."""
        if self._error or self.matcher is None:
            return False
        self.matcher.reset()
        return True

    def compute_ff_tokens(self) -> list[int]:
        """The tokens that come next whatever is written, as the tokenizer itself chooses them."""
        if self.is_error() or self.matcher is None or self.matcher.is_finished:
            return []
        return self._ask(lambda matcher: matcher.forced_tokens()) or []

    def compute_ff_bytes(self) -> bytes:
        """The bytes that come next whatever is written."""
        if self.is_error() or self.matcher is None or self.matcher.is_finished:
            return b""
        return self._ask(lambda matcher: matcher.forced_bytes()) or b""

    def try_consume_tokens(self, tokens: Sequence[int]) -> int:
        """Consume tokens up to the first that does not fit, none after a stop; returns how many. No error is set."""
        n = 0
        for token in tokens:
            check_id(token)
            if self.is_stopped() or not self._advance(token):
                break
            n += 1
        return n

    def consume_token(self, sampled_token: int) -> bool:
        """Consume a token; one that does not fit is an error. After a stop, end tokens fit and change nothing."""
        check_id(sampled_token)
        if self.is_error() or self.matcher is None:
            return False
        if sampled_token in self._tokenizer.eos_tokens and self.is_stopped():
            return not self.is_error()
        if self._advance(sampled_token):
            return True
        if not self.is_error():
            self._fail(self._rejection(sampled_token))
        return False

    def consume_tokens(self, sampled_tokens: Sequence[int]) -> bool:
        """Consume tokens; the first that does not fit is an error."""
        for token in sampled_tokens:
            check_id(token)
        return not self.is_error() and all(map(self.consume_token, sampled_tokens))

    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """How many of the tokens fit, up to an end token; it is not moved."""
        ends = self._tokenizer.eos_tokens
        upto = next((i + 1 for i, token in enumerate(tokens) if token in ends), len(tokens))
        for token in tokens:
            check_id(token)
        if not tokens or self.is_stopped():
            return 0
        return self._ask(lambda matcher: matcher.try_advance(tokens[:upto], consume=False)) or 0

    def compute_bitmask(self) -> bytes:
        """The mask of the next token in whole words of 32 bits, the first token in the lowest bit of the first byte."""
        return self._mask().tobytes()

    def compute_logit_bias(self) -> bytes:
        """The mask of the next token with a byte for each, 200 where it is allowed, else 0."""
        bits = np.unpackbits(self._mask().view(np.uint8), bitorder="little", count=self._tokenizer.vocab_size)
        return (bits * _ALLOWED_BIAS).tobytes()

    def unsafe_compute_mask_ptr(self, trg_pointer: int, trg_byte_size: int) -> None:
        """Write the mask of the next token to memory, of exactly the size of a mask."""
        self.fill(rows_at(trg_pointer, trg_byte_size, 1, self.n_words)[0])

    def unsafe_compute_mask_ptr_with_draft_token(
        self, trg_pointer: int, trg_byte_size: int, draft_tokens: Sequence[int]
    ) -> None:
        """Write the mask of the next token, and behind it those after each draft token that fits."""
        rows = rows_at(trg_pointer, trg_byte_size, len(draft_tokens) + 1, self.n_words)
        self.fill_with_drafts(rows, draft_tokens)

    def get_capture(self, name: str) -> bytes | None:
        """The last capture of this name."""
        return dict(self.get_captures()).get(name)

    def get_captures(self) -> list[tuple[str, bytes]]:
        """All captures so far, in the order in which they end."""
        if self.is_error():
            return []
        return self._ask(lambda matcher: matcher.captures()) or []

    # ---- beyond llguidance's names, for the executor

    @property
    def n_words(self) -> int:
        """The words of 32 bits that a mask has."""
        return -(-self._tokenizer.vocab_size // 32)

    def fill(self, row: NDArray[np.int32]) -> None:
        """Write the mask of the next token; end tokens alone after an error."""
        if self._error or self.matcher is None:
            row[:] = self._only_ends()
            return
        try:
            self.matcher.fill_mask(row)
        except CfgmaskError as error:
            self._fail(str(error))
            row[:] = self._only_ends()

    def fill_with_drafts(self, rows: NDArray[np.int32], tokens: Sequence[int]) -> None:
        """Write the mask of the next token, and those after each draft that fits, up to a stop; it is not moved."""
        self.fill(rows[0])
        taken = 0
        for token in tokens:
            check_id(token)
            if self.is_stopped():
                break
            if token >= self._tokenizer.vocab_size:
                self._fail(self._rejection(token))
                return
            if not self._advance(token):
                break
            taken += 1
            self.fill(rows[taken])
        if self.matcher is not None:
            self.matcher.rollback(taken)

    def met(self, error: Exception) -> None:
        """Go into the error state for what a batch met."""
        self._fail(str(error))

    def _mask(self) -> NDArray[np.int32]:
        row = np.zeros(self.n_words, np.int32)
        self.fill(row)
        return row

    def _only_ends(self) -> NDArray[np.int32]:
        return self._tokenizer.end_mask

    def _advance(self, token: int) -> bool:
        return self._ask(lambda matcher: matcher.try_advance([token]) == 1) is True

    def _ask(self, question: Any) -> Any:
        """An answer of the matcher; None, and an error, where it meets a limit."""
        if self.matcher is None:
            return None
        try:
            return question(self.matcher)
        except CfgmaskError as error:
            self._fail(str(error))
            return None

    def _rejection(self, token: int) -> str:
        if token >= self._tokenizer.vocab_size:
            return f"token id {token} out of range"
        if self.is_stopped():
            return f"parser stopped in consume_token: the text is complete, and {self._shown(token)} would follow it"
        reason = self._ask(lambda matcher: str(matcher.explain(token)))
        return f"token {self._shown(token)} doesn't satisfy the grammar: {reason}"

    def _shown(self, token: int) -> str:
        return repr(self._tokenizer.test_trace_tokens([token]))

    def _fail(self, message: str) -> bool:
        self._error = self._error or message or "unknown error"
        return False


def rows_at(pointer: int, row_bytes: int, n_rows: int, n_words: int) -> NDArray[np.int32]:
    """Rows of words in somebody's memory. Errors: ValueError for a pointer or a size that masks have not."""
    if pointer == 0:
        raise ValueError("Null pointer")
    if pointer % 4:
        raise ValueError("Pointer not aligned")
    if row_bytes != n_words * 4:
        raise ValueError(f"Invalid buffer size: a mask has {n_words * 4} bytes, not {row_bytes}")
    memory = (ctypes.c_int32 * (n_rows * n_words)).from_address(pointer)
    return np.ctypeslib.as_array(memory).reshape(n_rows, n_words)


def _ours(limits: LLParserLimits | None) -> Limits:
    return Limits() if limits is None else limits.limits
