"""SGLang's grammar backend over this engine."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarRow,
    GrammarStats,
    InvalidGrammarObject,
    register_vocab_mask_buffer,
)
from sglang.srt.constrained.torch_ops.token_filter_torch_ops import set_token_filter_torch
from sglang.srt.runtime_context import get_serving

from cfgmask import CompiledGrammar, TokenRejected, Vocabulary, compile, fill_masks
from cfgmask.errors import CfgmaskError, LimitExceeded
from cfgmask.integrations.engine_requests import RequestKind, request_grammar
from cfgmask.integrations.engine_text import EngineText
from cfgmask.integrations.torch import apply_token_bitmask_inplace

logger = logging.getLogger(__name__)

_ANY_JSON = "$$ANY$$"


def create_backend(tokenizer: Any, eos_token_ids: Iterable[int] | None) -> BaseGrammarBackend:
    """The backend; with a reasoning parser, in SGLang's wrapper for it."""
    backend = GrammarBackend(tokenizer, eos_token_ids, compact=get_serving().constrained_json_disable_any_whitespace)
    if not get_serving().reasoning_parser:
        return backend
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    parser = ReasoningParser(model_type=get_serving().reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    strict = get_serving().enable_strict_thinking
    return ReasonerGrammarBackend(backend, parser, tokenizer, enable_strict_thinking=strict)


class GrammarBackend(BaseGrammarBackend):  # type: ignore[misc]  # sglang may be missing when checked
    """Makes the grammars of requests, in SGLang's threads.

    tokenizer      of transformers
    eos_token_ids  at which SGLang stops; None: the tokenizer's own
    compact        whether JSON has no white space
    """

    def __init__(self, tokenizer: Any, eos_token_ids: Iterable[int] | None = None, *, compact: bool = False) -> None:
        super().__init__()
        ends = None if not eos_token_ids else sorted(eos_token_ids)
        self.vocabulary = Vocabulary.from_transformers(tokenizer, eos_token_id=ends)
        self._compact = compact

    def initialize_vocab_mask_buffer(self, name: str, vocab_size: int, max_rows: int, device: Any) -> torch.Tensor:
        """Masks that SGLang uses again and again."""
        return register_vocab_mask_buffer(name, _masks(self.vocabulary.n_vocab, max_rows), max_rows)

    # SGLang's wrapper for reasoning masks requests without a grammar, too, and then asks the backend.

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """Masks that allow everything."""
        return _masks(self.vocabulary.n_vocab, batch_size)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """Begin to copy the masks to the device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Set the logits outside the masks to -inf, in place."""
        apply_token_bitmask_inplace(logits, vocab_mask)

    @property
    def is_support_token_filter(self) -> bool:
        """True: `--enable-strict-thinking` works, and so does a bound on thinking."""
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask: torch.Tensor,
        token_ids: list[int],
        batch_idx: int,
        is_allowed: bool = True,
        reset_vocab_mask: bool = True,
    ) -> None:
        """Allow these tokens in a row, or forbid them; all others are as they were or, after a reset, the opposite."""
        set_token_filter_torch(vocab_mask, token_ids, batch_idx, is_allowed, reset_vocab_mask)

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """The grammar of a JSON Schema."""
        return self._made("json", "true" if key_string == _ANY_JSON else key_string)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """The grammar of a regex."""
        return self._made("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """The grammar of a text in GBNF, or in Lark."""
        return self._made("grammar", key_string, "ebnf")

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """The grammar of a structural tag."""
        return self._made("structural_tag", key_string)

    def _made(self, kind: RequestKind, text: str, name: str | None = None) -> BaseGrammarObject:
        try:
            compiled = compile(request_grammar(kind, text, compact=self._compact), self.vocabulary)
        except (CfgmaskError, ValueError, RecursionError) as error:
            logger.error("Invalid %s grammar: %s", kind, error)
            return InvalidGrammarObject(str(error))
        made = GrammarObject(compiled, EngineText(compiled.matcher()))
        made.grammar_stats = GrammarStats(dispatch_type=name or kind)
        return made


class GrammarObject(BaseGrammarObject):  # type: ignore[misc]
    """The text of one request."""

    def __init__(self, compiled: CompiledGrammar, text: EngineText) -> None:
        super().__init__()
        self.compiled = compiled
        self.text = text

    def accept_token(self, token: int) -> None:
        """Take a token. Raises ValueError for one that does not fit.

        One that meets a limit ends the text, and is logged. (SGLang takes drafts by this method as well, and an error
        there would end the scheduler.)
        """
        self.current_token = token
        try:
            fits = self.text.accept(token)
        except LimitExceeded as error:
            self._tell(error)
            self.text.skip()
            return
        if not fits:
            raise TokenRejected(f"the grammar refuses token {token}: {self.text.matcher.explain(token)}", token)

    def rollback(self, k: int) -> None:
        """Take the last k tokens back."""
        if k > 0:
            self.text.rollback(k)
            self.finished = False

    def is_terminated(self) -> bool:
        """Whether the text has ended."""
        return self.text.is_over

    def copy(self) -> GrammarObject:
        """A text of its own for another request."""
        made = GrammarObject(self.compiled, self.text.fork())
        made.grammar_stats = replace(self.grammar_stats) if self.grammar_stats is not None else None
        return made

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """Masks that allow everything."""
        return _masks(self.compiled.vocabulary.n_vocab, batch_size)

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write the mask of the next token. After a limit, which is logged, it allows end tokens alone."""
        error = self.text.fill(vocab_mask[idx].numpy())
        if error is not None:
            self._tell(error)

    @staticmethod
    def fill_vocab_mask_batched(entries: list[GrammarRow], vocab_mask: torch.Tensor) -> None:
        """Write the masks of a batch, in one call if their rows are consecutive."""
        entries = sorted(entries, key=lambda entry: entry.row)
        rows = [entry.row for entry in entries]
        ours = all(isinstance(entry.grammar, GrammarObject) and not entry.grammar.text.error for entry in entries)
        if not entries or not ours or rows != list(range(rows[0], rows[0] + len(rows))):
            BaseGrammarObject.fill_vocab_mask_batched(entries, vocab_mask)
            return
        matchers = [entry.grammar.text.matcher for entry in entries]
        errors = fill_masks(matchers, vocab_mask[rows[0] : rows[0] + len(rows)].numpy())
        for entry, error in zip(entries, errors, strict=True):
            if isinstance(error, LimitExceeded):
                entry.grammar.text.fail(error, vocab_mask[entry.row].numpy())
                entry.grammar._tell(error)
            elif error is not None:
                raise error

    def _tell(self, error: LimitExceeded) -> None:
        logger.error("A request ends early: %s", error)
        if self.grammar_stats is not None:
            self.grammar_stats.is_grammar_aborted = True

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Allow everything."""
        vocab_mask.fill_(-1)

    move_vocab_mask = staticmethod(GrammarBackend.move_vocab_mask)
    apply_vocab_mask = staticmethod(GrammarBackend.apply_vocab_mask)

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """The forced text, if any: every valid output goes on with it."""
        text = _whole_characters(self.text.matcher.forced_bytes())
        return ([], text) if text else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """The text of what `try_jump_forward` gave."""
        return helper[1], -1

    def jump_and_retokenize(
        self, old_output_ids: Sequence[int], new_output_ids: Sequence[int], next_state: int
    ) -> None:
        """Take other tokens for the text so far, which spell it and the forced text after it. Raises ValueError."""
        kept = 0
        while kept < min(len(old_output_ids), len(new_output_ids)) and old_output_ids[kept] == new_output_ids[kept]:
            kept += 1
        self.text.rollback(len(old_output_ids) - kept)
        for token in new_output_ids[kept:]:
            self.accept_token(token)


def _masks(n_vocab: int, n_rows: int) -> torch.Tensor:
    return torch.full((n_rows, -(-n_vocab // 32)), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())


def _whole_characters(data: bytes) -> str:
    return data.decode(errors="ignore")
