"""A grammar as an automaton over tokens: an ordered call of a retrieval tool, and a model that would say other things.

The vocabulary, the profiles of the model and what must hold are those of a page on token masks; see
tests/references/README.md.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import numpy as np
import pytest

import cfgmask
from cfgmask.integrations.sampling import probabilities
from cfgmask.integrations.token_view import ACCEPTED, TokenView, decode, look

V = ["{", "}", ":", ",", '"tool"', '"source"', '"k"', '"retrieve"', '"lookup"', '"docs"', '"tickets"', "1", "2"]
V += ['"DROP"', '"extra"', "true", "<eos>"]
END = V.index("<eos>")
PATTERN = r'\{"tool":("retrieve"|"lookup"),"source":("docs"|"tickets"),"k":[12]\}'
VOCABULARY = cfgmask.Vocabulary.from_bytes([text.encode() for text in V], eos_token_id=END)
GOOD = ["{", '"tool"', ":", '"retrieve"', ",", '"source"', ":", '"docs"', ",", '"k"', ":", "2", "}", "<eos>"]


def ids(*texts: str) -> list[int]:
    return [V.index(text) for text in texts]


@pytest.fixture
def view() -> TokenView:
    return TokenView(cfgmask.compile(cfgmask.Grammar.from_regex(PATTERN), VOCABULARY))


def after(view: TokenView, n: int) -> int:
    """The state after the first n tokens of the good text: the states of the automaton in their order."""
    state: int | None = view.start
    for token_id in ids(*GOOD[:n]):
        assert state is not None
        state = view.step(state, token_id)
    assert state is not None
    return state


def model(view: TokenView, profile: str) -> Callable[[int], list[float]]:
    """Logits by state: what fits is likely, of several the preferred one; and each profile's own wish."""

    def logits(state: int) -> list[float]:
        scores = dict.fromkeys(V, -2.0)
        scores |= {V[token_id]: 1.0 for token_id in view.allowed(state)}
        for n, preferred in ((3, '"retrieve"'), (7, '"docs"'), (11, "2")):
            if state == after(view, n):
                scores[preferred] = 2.0
        if profile == "format-confused":
            scores |= {'"DROP"': 5.0, '"extra"': 4.0}
        if profile == "semantic-mismatch" and state == after(view, 7):
            scores |= {'"tickets"': 5.0, '"docs"': 1.0}
        return [scores[text] for text in V]

    return logits


def test_allowed(view: TokenView) -> None:
    assert view.allowed(view.start) == tuple(ids("{"))
    assert set(view.allowed(after(view, 3))) == set(ids('"retrieve"', '"lookup"'))
    assert view.allowed(after(view, 13)) == (END,)


def test_step(view: TokenView) -> None:
    assert view.step(view.start, V.index("}")) is None
    assert after(view, 4) == view.step(after(view, 3), V.index('"lookup"'))
    assert after(view, 14) == ACCEPTED


def test_every_state_reaches_acceptance(view: TokenView) -> None:
    assert view.reaching() == {after(view, n) for n in range(15)}
    assert len(view.reaching()) == 15


def test_a_grammar_with_states_without_end() -> None:
    grammar = cfgmask.Grammar.from_lark('start: "{" start "}" | ":"')
    view = TokenView(cfgmask.compile(grammar, VOCABULARY), max_states=20)
    with pytest.raises(ValueError, match="more than 20 states"):
        view.reaching()


def test_without_the_mask_the_confused_model_fails_at_once(view: TokenView) -> None:
    trace = decode(view, model(view, "format-confused"), constrained=False)
    assert not trace.is_accepted
    assert [V[token_id] for token_id in trace.token_ids] == ['"DROP"']
    assert trace.states == [view.start]


def test_with_the_mask_it_writes_a_call(view: TokenView) -> None:
    trace = decode(view, model(view, "format-confused"))
    assert trace.is_accepted
    assert [V[token_id] for token_id in trace.token_ids] == GOOD
    assert trace.states == [after(view, n) for n in range(15)]


def test_rejection_mass(view: TokenView) -> None:
    logits = model(view, "format-confused")(after(view, 3))
    allowed = view.allowed(after(view, 3))
    seen = look(logits, allowed)
    weights = [exp(logit) for logit in logits]
    assert seen.rejection_mass == pytest.approx(1 - sum(weights[i] for i in allowed) / sum(weights))
    assert seen.rejection_mass > 0.90


def test_what_is_not_allowed_has_no_probability_and_the_rest_all_of_it(view: TokenView) -> None:
    matcher = cfgmask.compile(cfgmask.Grammar.from_regex(PATTERN), VOCABULARY).matcher()
    matcher.try_advance(ids(*GOOD[:3]))
    scores = np.array(model(view, "format-confused")(after(view, 3)))
    raw = probabilities(scores)
    matcher.apply(scores)
    masked = probabilities(scores)
    allowed = ids('"retrieve"', '"lookup"')
    assert masked[V.index('"DROP"')] == 0.0
    assert set(np.flatnonzero(masked)) == set(allowed)
    np.testing.assert_allclose(masked[allowed], raw[allowed] / raw[allowed].sum())


@pytest.mark.parametrize(
    ("profile", "raw", "left"),
    [("schema-friendly", '"retrieve"', '"retrieve"'), ("format-confused", '"DROP"', '"retrieve"')],
)
def test_whether_the_likeliest_token_survives(view: TokenView, profile: str, raw: str, left: str) -> None:
    state = after(view, 3)
    seen = look(model(view, profile)(state), view.allowed(state))
    assert (V[seen.raw_top], V[seen.top], seen.survives, seen.n_allowed) == (raw, left, raw == left, 2)


def test_well_formed_is_not_right(view: TokenView) -> None:
    trace = decode(view, model(view, "semantic-mismatch"))
    said = [V[token_id] for token_id in trace.token_ids]
    assert trace.is_accepted
    assert said[said.index('"source"') + 2] == '"tickets"'


def test_a_state_is_checked_once() -> None:
    """A loop of two states, ten times."""
    wishes = iter([*ids("1", "2") * 10, END])
    view = TokenView(cfgmask.compile(cfgmask.Grammar.from_regex("(12)*"), VOCABULARY))
    trace = decode(view, lambda _: [float(token == wish) for wish in [next(wishes)] for token in range(len(V))])
    assert trace.is_accepted
    assert trace.naive_checks == 21 * len(V)
    # The start is left by a text that may be empty; afterwards two states take turns.
    assert trace.cached_checks <= 3 * len(V)
    assert view.n_masks * len(V) == trace.cached_checks


def test_a_text_that_is_not_finished_in_time(view: TokenView) -> None:
    trace = decode(view, model(view, "schema-friendly"), max_steps=5)
    assert len(trace.steps) == 5
    assert not trace.is_accepted
    assert trace.state == after(view, 5)
