"""A grammar as an automaton over tokens, and what a decoder does on it step by step.

The terms are those of guided generation as Willard and Louf describe it (2023): states, the tokens that a state allows,
the states from which a text can still be completed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgmask import CompiledGrammar, Matcher
from cfgmask.integrations.sampling import probabilities

ACCEPTED = 0
"""The state after an end token."""

Logits = NDArray[Any] | Sequence[float]


class TokenView:
    """The states that texts of a grammar go through, token by token. Used by one thread at a time.

    compiled    the grammar; one that is not regular has states without end
    max_states  how many states are looked at, at most; more raise ValueError

    States are numbers without a meaning but `ACCEPTED`. The mask of a state is asked for once: `n_masks` of them, each
    a check of every token, serve any number of steps.
    """

    def __init__(self, compiled: CompiledGrammar, max_states: int = 10_000) -> None:
        self.n_vocab = compiled.vocabulary.n_vocab
        self._max_states = max_states
        self._matchers: dict[int, Matcher] = {}
        self._allowed: dict[int, tuple[int, ...]] = {}
        self.start = self._known(compiled.matcher())

    @property
    def n_masks(self) -> int:
        """How many states were asked for their tokens."""
        return len(self._allowed)

    def allowed(self, state: int) -> tuple[int, ...]:
        """The tokens that may come, ascending: all those after which a text can still be completed."""
        if state not in self._allowed:
            bits = np.zeros(-(-self.n_vocab // 32), dtype="<u4")
            self._matchers[state].fill_mask(bits)
            ids = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
            self._allowed[state] = tuple(ids.tolist())
        return self._allowed[state]

    def step(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if it is not allowed."""
        matcher = self._matchers[state].fork()
        return self._known(matcher) if matcher.try_advance([token_id]) else None

    def reaching(self) -> frozenset[int]:
        """All states that lead to `ACCEPTED` and that a text can come to, in the sense of a search from the end.

        Cost: each state and each allowed token of it once. Raises ValueError beyond `max_states`.
        """
        before: dict[int, set[int]] = {}
        pending, seen = [self.start], {self.start}
        while pending:
            state = pending.pop()
            for token_id in self.allowed(state):
                after = self.step(state, token_id)
                assert after is not None
                before.setdefault(after, set()).add(state)
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        good, pending = {ACCEPTED}, [ACCEPTED]
        while pending:
            fresh = before.get(pending.pop(), set()) - good
            good |= fresh
            pending += fresh
        return frozenset(good & (seen | {ACCEPTED}))

    def _known(self, matcher: Matcher) -> int:
        if matcher.state not in self._matchers:
            if len(self._matchers) >= self._max_states:
                raise ValueError(f"the grammar has more than {self._max_states} states; give a larger max_states")
            self._matchers[matcher.state] = matcher
        return matcher.state


@dataclass(frozen=True)
class Look:
    """What a mask does to one distribution.

    rejection_mass  the probability of all tokens outside the mask, before it
    raw_top         the likeliest token before the mask
    top             the likeliest token after it; the same where the raw one survives
    n_allowed       tokens inside the mask
    """

    rejection_mass: float
    raw_top: int
    top: int
    n_allowed: int

    @property
    def survives(self) -> bool:
        """Whether the likeliest token is allowed."""
        return self.raw_top == self.top


def look(logits: Logits, allowed: Sequence[int]) -> Look:
    """Compare a distribution before and after a mask. Of equally likely tokens the one with the lowest id counts.

    logits   one for each token
    allowed  the ids inside the mask, at least one
    """
    scores = np.asarray(logits, dtype=np.float64)
    ids = np.asarray(allowed, dtype=np.intp)
    kept = ids[ids < len(scores)]
    mass = 1.0 - float(probabilities(scores)[kept].sum())
    return Look(max(mass, 0.0), int(scores.argmax()), int(kept[scores[kept].argmax()]), len(ids))


@dataclass(frozen=True)
class TraceStep:
    """One token: the state that it came in, and the state after it, None where the grammar refuses it.

    look  None for a token that was not sampled, a forced one
    """

    state: int
    token_id: int
    next_state: int | None
    look: Look | None


@dataclass
class Trace:
    """The tokens of a decoder and the states that they lead through."""

    view: TokenView
    steps: list[TraceStep] = field(default_factory=list)

    @property
    def state(self) -> int | None:
        """Where the text stands; None once a token was refused."""
        return self.steps[-1].next_state if self.steps else self.view.start

    @property
    def token_ids(self) -> list[int]:
        """The tokens in turn, a refused last one included."""
        return [step.token_id for step in self.steps]

    @property
    def states(self) -> list[int]:
        """The states in turn, the first included; without what follows a refused token."""
        return [self.view.start, *(step.next_state for step in self.steps if step.next_state is not None)]

    @property
    def is_accepted(self) -> bool:
        """Whether an end token was taken."""
        return self.state == ACCEPTED

    @property
    def naive_checks(self) -> int:
        """Tokens to check where every step checks the vocabulary anew."""
        return len(self.steps) * self.view.n_vocab

    @property
    def cached_checks(self) -> int:
        """Tokens to check where a state is checked once."""
        return len({step.state for step in self.steps}) * self.view.n_vocab

    def add(self, token_id: int, seen: Look | None) -> None:
        """Note a token. After a refused one nothing is noted any more."""
        if self.state is not None:
            self.steps.append(TraceStep(self.state, token_id, self.view.step(self.state, token_id), seen))


def decode(view: TokenView, logits: Callable[[int], Logits], *, constrained: bool = True, max_steps: int = 32) -> Trace:
    """Take the likeliest token until the text is accepted, refused, or has `max_steps` tokens.

    logits       the model: one for each token, in a state
    constrained  whether only allowed tokens are chosen from
    """
    trace = Trace(view)
    for _ in range(max_steps):
        if trace.state is None or trace.is_accepted:
            break
        seen = look(logits(trace.state), view.allowed(trace.state))
        trace.add(seen.top if constrained else seen.raw_top, seen)
    return trace


class TraceRecorder:
    """A logits processor of llama-cpp-python that changes nothing and notes what the mask will do.

    Put before the masks; `finish` is told of what came after the last call.
    """

    def __init__(self, compiled: CompiledGrammar) -> None:
        self.trace = Trace(TokenView(compiled, max_states=1_000_000))
        self._seen: Look | None = None
        self._length: int | None = None

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        """Note what came since the last call, and look at these logits; they stay as they are."""
        self._take(input_ids[len(input_ids) if self._length is None else self._length :].tolist())
        self._length = len(input_ids)
        state = self.trace.state
        if state is not None:
            self._seen = look(scores, self.trace.view.allowed(state))
        return scores

    def finish(self, token_ids: Iterable[int]) -> Trace:
        """The whole trace, given the tokens of the text from its start."""
        self._take(list(token_ids)[len(self.trace.steps) :])
        return self.trace

    def _take(self, token_ids: list[int]) -> None:
        for token_id in token_ids:
            self.trace.add(token_id, self._seen)
            self._seen = None
