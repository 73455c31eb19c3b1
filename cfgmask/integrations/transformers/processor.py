"""The hook of transformers' `generate`."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from cfgmask import CompiledGrammar, LimitExceeded, Matcher, TokenRejected, fill_masks
from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.start import STALL_AFTER, starting_matcher
from cfgmask.integrations.torch import apply_token_bitmask_inplace, rejected_mass
from cfgmask.integrations.tracking import TrackedText
from cfgmask.integrations.transformers.calls import Call, calling_generate, calling_tokenizer
from cfgmask.integrations.transformers.row import Row
from cfgmask.integrations.transformers.vocabulary_checks import check_vocabulary

Start = CompiledGrammar | Matcher | None


class LogitsProcessor(transformers.LogitsProcessor):  # type: ignore[misc]  # transformers may be missing when checked
    """Masks the scores of one sequence or a batch, greedy, sampled or in beams, on any device.

    compiled        a CompiledGrammar, or a Matcher from whose position every text starts; or a list of these, one for
                    each prompt of the batch, with None for prompts without a grammar
    max_new_tokens  the `max_new_tokens` of the call, or less for some rows: a number, or a list with one for each
                    prompt. A text is complete within this many tokens; end tokens don't count. If the call gets fewer,
                    those count. None: texts may be cut off
    stall_after     guard against repetition, in tokens, as for `CompiledGrammar.matcher`. None: no guard. A Matcher has
                    its own guard
    on_error        "raise": an error of a row, such as LimitExceeded, ends the call. "end": it ends this row, with end
                    tokens, and appears in `errors`; the other rows go on

    Use one processor for any number of `generate` calls, one after the other; each call is a text of its own.
    Beams and several return sequences belong to their prompt, in any order: a row's state is found by its ids. Prompts
    are not read, so padding on the left has no effect. Assisted generation and prompt lookup are followed draft by
    draft; an assistant is masked like the model, unless it has another tokenizer.

    A row that has stopped gets padding and keeps only its end tokens. So does a beam with a token that its mask did not
    allow: if a grammar leaves fewer tokens than beams, the others go on at a score of -inf. (If there are fewer texts
    than `num_return_sequences`, such beams are returned, with `sequences_scores` of -inf or -1e9.)

    Errors: the constructor raises BudgetTooSmall if no text can be completed within `max_new_tokens`. A call raises
    TokenRejected for a token that the mask did not allow, outside of beams: a later processor has undone the mask;
    IntegrationError for a list that does not fit the batch, if other processors leave no allowed token, and for a text
    that goes on after an end token; VocabularyError, before the first token, for a grammar of another vocabulary, as
    far as the number of scores, the end tokens or the `tokenizer` of the call show it; LimitExceeded.
    `generate` must stop at the grammar's end tokens, or it goes on with end tokens alone.

    Threads: a processor belongs to one thread at a time.

    In a loop of your own, a batch is recognised by its ids: one id more in each row than last time goes on with it,
    anything else begins a new one. Call `reset` before a batch whose prompts are earlier texts plus one token.
    """

    def __init__(
        self,
        compiled: Start | Sequence[Start],
        max_new_tokens: int | Sequence[int | None] | None = None,
        stall_after: int | None = STALL_AFTER,
        on_error: Literal["raise", "end"] = "raise",
    ) -> None:
        if on_error not in ("raise", "end"):
            raise ValueError(f'on_error={on_error!r} is not supported; it may be "raise" or "end"')
        self._ends_rows = on_error == "end"
        self._is_list = isinstance(compiled, (list, tuple)) or isinstance(max_new_tokens, (list, tuple))
        self._stall_after = stall_after
        self._starts = [
            None if self._is_list and start is None else starting_matcher(start, budget, stall_after)
            for start, budget in _for_each_prompt(compiled, max_new_tokens)
        ]
        self._budgets = [budget for _, budget in _for_each_prompt(compiled, max_new_tokens)]
        self._n_words = max((-(-m.compiled.vocabulary.n_vocab // 32) for m in self._starts if m is not None), default=0)
        self._rows: list[Row | None] = []
        self._is_checked = False
        self._call: weakref.ref[Any] | None = None
        self._earlier_calls: list[weakref.ref[Any]] = []

    def __iter__(self) -> Iterator[LogitsProcessor]:
        """Itself alone: `generate` takes a list of processors."""
        yield self

    def __len__(self) -> int:
        return 1

    @property
    def errors(self) -> list[Exception | None]:
        """With `on_error="end"`: for each row of the last step its error, or None."""
        return [None if row is None else row.error for row in self._rows]

    def reset(self) -> None:
        """Forget all texts. The next call begins new ones."""
        self._rows = []

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """The scores with -inf outside the masks, in a new tensor where somebody may still look at the raw ones: in any
        loop but that of `generate` over single tokens, without raw logits in its output and processors of others.

        input_ids  prompt and output so far, of shape (rows, length)
        scores     of shape (rows, at least the vocabulary); what is beyond the vocabulary becomes -inf too
        """
        call, ids = calling_generate(), input_ids.cpu().numpy()
        if call is not None and call.accepted is not None:
            if not self._follow_drafts(call, ids):
                return scores
        else:
            self._follow(call, ids)
        if not self._is_checked and (call is None or not call.is_assistant):
            self._check_vocabularies(call, scores.shape[1])
        constrained = [index for index, row in enumerate(self._rows) if row is not None]
        if not constrained:
            return scores
        # In a batch of 32 rows of 128k, the copy takes most of a step.
        masked: torch.FloatTensor = scores if call is not None and call.may_overwrite else scores.clone()
        bits = torch.from_numpy(self._masks(scores.shape[1]))
        self._measure(masked, bits, constrained)
        apply_token_bitmask_inplace(masked, bits, constrained if len(constrained) < len(self._rows) else None)
        self._check_what_is_left(masked, call)
        return masked

    def _measure(self, scores: torch.Tensor, bits: torch.Tensor, constrained: list[int]) -> None:
        """Count the rejected mass of rows whose grammars are observed for it."""
        compiled = {index: row.text.matcher.compiled for index in constrained if (row := self._rows[index]) is not None}
        rows = [index for index, one in compiled.items() if one.asks_for_rejected_mass]
        if not rows:
            return
        for index, mass in zip(rows, rejected_mass(scores[rows], bits[rows]), strict=True):
            if mass is not None:
                compiled[index].add_rejected_mass(mass)

    def _check_vocabularies(self, call: Call | None, width: int) -> None:
        """Raises VocabularyError before the first token, where the rows' grammars are those of another model."""
        vocabularies = {row.text.matcher.compiled.vocabulary for row in self._rows if row is not None}
        tokenizer = calling_tokenizer() if vocabularies else None
        for vocabulary in vocabularies:
            check_vocabulary(vocabulary, width, call, tokenizer)
        self._is_checked = True

    def _masks(self, width: int) -> NDArray[np.int32]:
        """A mask for each row. Raises where one fails, or has none of the first `width` tokens."""
        bits = np.empty((len(self._rows), self._n_words), dtype=np.int32)
        errors = fill_masks([None if row is None else row.matcher for row in self._rows], bits)
        for index, row in enumerate(self._rows):
            if row is None:
                continue
            error = errors[index]
            if error is not None:
                if not self._ends_rows:
                    raise error
                row.end_with(error)
            row.narrow(bits[index])
            if not bits[index, : width // 32].any() and not _has_any(bits[index], width):
                raise IntegrationError(
                    f"the {width} scores have no token that the grammar allows here; is the model another one, or does "
                    "the grammar go on after an end token, at which `generate` stops?"
                )
        return bits

    def _check_what_is_left(self, masked: torch.Tensor, call: Call | None) -> None:
        """Raises where all of a row is -inf: `generate` would go on with any token at all."""
        for index in torch.isneginf(masked.amax(dim=1)).nonzero().flatten().tolist():
            row = self._rows[index]
            if row is None or row.is_over:
                continue
            error = IntegrationError(_why_nothing_is_left(call))
            if not self._ends_rows:
                raise error
            row.end_with(error)
            masked[index, row.text.matcher.compiled.vocabulary.end_tokens] = 0

    def _follow(self, call: Call | None, input_ids: NDArray[np.int64]) -> None:
        """Bring the rows up to `input_ids`, which are those of the last step and one more."""
        same_call = self._goes_on_in(call)
        parents = self._parents(input_ids) if same_call or call is None else None
        if same_call and parents is None:
            raise IntegrationError("the ids are not those of the last step and one more")
        self._rows = self._new_rows(input_ids, call) if parents is None else _children(self._rows, parents)
        for index, (row, ids) in enumerate(zip(self._rows, input_ids, strict=True)):
            if row is None:
                continue
            try:
                row.advance_to(ids, partial(_may_leave, row, index, call))
            except (LimitExceeded, TokenRejected) as error:
                if not self._ends_rows:
                    self._rows = []
                    raise
                row.end_with(error)
                row.text.remember(ids)

    def _follow_drafts(self, call: Call, input_ids: NDArray[np.int64]) -> bool:
        """Bring the rows to `input_ids`: the accepted ids, and as many drafts as the scores are after.

        False if these are an assistant's of another tokenizer. It drafts freely then.
        """
        if not self._goes_on_in(call):
            self._rows = self._new_rows(call.accepted.cpu().numpy(), call)
        for row, ids in zip(self._rows, input_ids, strict=True):
            if row is None:
                continue
            if call.is_assistant and not row.text.has_prompt_of(ids):
                return False
            try:
                row.follow(ids, call.accepted.shape[1])
            except (LimitExceeded, TokenRejected) as error:
                if not self._ends_rows:
                    self._rows = []
                    raise
                row.end_with(error)
        return True

    def _new_rows(self, input_ids: NDArray[np.int64], call: Call | None) -> list[Row | None]:
        each, rest = divmod(len(input_ids), len(self._starts))
        if rest or not each:
            raise IntegrationError(
                f"there are {len(self._starts)} grammars in the list and {len(input_ids)} sequences; "
                "give one grammar, or as many as there are prompts in each batch"
            )
        room = None if call is None or call.max_length is None else call.max_length - input_ids.shape[1]
        starts = [self._start_within(index, room) for index in range(len(self._starts))]
        self._is_checked = False
        return [
            None if (start := starts[index // each]) is None else Row(TrackedText(start.fork(), ids))
            for index, ids in enumerate(input_ids)
        ]

    def _start_within(self, index: int, room: int | None) -> Matcher | None:
        """The start of a prompt's texts, whose budget ends where the call does. Raises BudgetTooSmall."""
        start, budget = self._starts[index], self._budgets[index]
        if start is None or budget is None or room is None or budget <= room:
            return start
        return starting_matcher(start.compiled, room, self._stall_after)

    def _parents(self, input_ids: NDArray[np.int64]) -> list[int] | None:
        """For each row the row of the last step that it goes on from; None if one goes on from none.

        A row nearly always goes on from itself; a beam, from a beam of the same prompt.
        """
        if not self._rows or len(self._rows) != len(input_ids):
            return None
        each = len(self._rows) // len(self._starts) if self._is_list else len(self._rows)
        parents = []
        for index, ids in enumerate(input_ids):
            first = index - index % each
            beams = (index, *range(first, first + each))
            parent = next((beam for beam in beams if self._rows[beam] is None or self._goes_on(beam, ids)), None)
            if parent is None:
                return None
            parents.append(parent)
        return parents

    def _goes_on(self, beam: int, ids: NDArray[np.int64]) -> bool:
        row = self._rows[beam]
        return row is not None and len(ids) == len(row.text) + 1 and row.text.is_start_of(ids)

    def _goes_on_in(self, call: Call | None) -> bool:
        """Whether the last step was of this call. Raises IntegrationError if it is one that another came after."""
        if call is not None and self._call is not None and self._call() is call.processors:
            return True
        self._earlier_calls = [earlier for earlier in self._earlier_calls if earlier() is not None]
        if call is not None and any(earlier() is call.processors for earlier in self._earlier_calls):
            raise IntegrationError("two `generate` calls use one processor in turns; give each its own")
        if self._call is not None:
            self._earlier_calls.append(self._call)
        self._call = None if call is None else weakref.ref(call.processors)
        return False


def _may_leave(row: Row, index: int, call: Call | None) -> bool:
    """Whether a row may show a token that its mask did not allow: padding, or that of a beam without hope."""
    if call is not None and (call.has_beams or call.has_stopped(index)):
        return True
    return row.text.matcher.is_finished


def _why_nothing_is_left(call: Call | None) -> str:
    others = [] if call is None else [other for other in call.processors if not isinstance(other, LogitsProcessor)]
    before = ", ".join(type(other).__name__ for other in others)
    message = (
        "no token is left to sample: those that the grammar allows here have a score of -inf from another processor"
    )
    if "ForcedEOSTokenLogitsProcessor" in before:
        return (
            f"{message}: forced_eos_token_id, which ends each text with its last token, and this one is not complete; "
            "have it complete by then, with a max_new_tokens of LogitsProcessor that is one less than that of the call"
        )
    among = f"; the call has {before}" if before else ""
    return f"{message}: min_new_tokens, bad_words_ids or the like{among}"


def _for_each_prompt(compiled: Any, max_new_tokens: Any) -> list[tuple[Any, int | None]]:
    """Start and budget of each prompt; one pair if neither is a list."""
    count = max((len(value) for value in (compiled, max_new_tokens) if isinstance(value, (list, tuple))), default=1)
    starts, budgets = (
        value if isinstance(value, (list, tuple)) else [value] * count for value in (compiled, max_new_tokens)
    )
    if not starts:
        raise ValueError("the list of grammars is empty")
    if len(starts) != len(budgets):
        raise ValueError(f"there are {len(starts)} grammars in the list and {len(budgets)} numbers in max_new_tokens")
    return list(zip(starts, budgets, strict=True))


def _children(rows: list[Row | None], parents: list[int]) -> list[Row | None]:
    """The rows that go on from these; each row by itself, though several may go on from one."""
    taken: set[int] = set()
    children: list[Row | None] = []
    for parent in parents:
        row = rows[parent]
        children.append(row.fork() if row is not None and parent in taken else row)
        taken.add(parent)
    return children


def _has_any(bits: NDArray[np.int32], width: int) -> bool:
    """Whether a mask has one of the first `width` tokens."""
    # The first byte of a word must hold its lowest bits, whatever the machine's order.
    little = bits.astype("<i4", copy=False).view(np.uint8)
    return bool(np.unpackbits(little, bitorder="little", count=width).any())
