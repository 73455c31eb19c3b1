"""What is spent on one schema is counted together, whichever way it is read."""

from __future__ import annotations

import pytest

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import Complement, Intersection
from cfgmask.json_schema import decide
from cfgmask.json_schema.session import session
from cfgmask.limits import Limits
from cfgmask.regex import parse_regex
from tests.json_schema.general import rules_of
from tests.json_schema.judge import accepts, compiled
from tests.reference.json_schema.value_counts import Uncounted, n_texts

LIMITS = Limits(max_search_steps=2_000)


def ask(i: int) -> None:
    """A question that takes some hundred steps, another one for each number."""
    narrow, wide = (parse_regex(f"(a|b)*{c}(a|b){{4}}{i}") for c in ("a", "[a-c]"))
    assert decide.is_empty(Intersection((narrow, Complement(wide))))


def ask_many() -> None:
    for i in range(100):
        with session(LIMITS):
            ask(i)


def test_one_question_is_within_the_limit() -> None:
    ask_many()


def test_searches_for_one_schema_are_counted_together() -> None:
    with session(LIMITS), pytest.raises(LimitExceeded, match=f"max_search_steps = {LIMITS.max_search_steps}"):
        ask_many()


def test_what_was_counted_once_is_known_when_nothing_may_be_spent() -> None:
    counted, later = (parse_regex(f"[ab]{{0,{n}}}") for n in (3, 4))
    with session(LIMITS):
        assert n_texts(counted) == 15
        with pytest.raises(LimitExceeded):
            ask_many()
        assert n_texts(counted) == 15
        for _ in range(2):
            with pytest.raises(Uncounted):
                n_texts(later)


def test_other_limits_are_another_session() -> None:
    with session(LIMITS):
        for i in range(100):
            with session(Limits(max_search_steps=LIMITS.max_search_steps + i)):
                ask(i)


def test_hundreds_of_alternatives_told_apart_by_a_constant() -> None:
    branches = [{"properties": {"kind": {"const": i}, "x": {"maximum": i}}, "required": ["kind"]} for i in range(900)]
    grammar = compiled({"type": "object", "oneOf": branches})
    assert accepts(grammar, '{"kind":899,"x":899}')
    assert not accepts(grammar, '{"kind":898,"x":899}')
    assert not accepts(grammar, '{"kind":900}')


def test_a_limit_that_is_met_where_sets_are_combined_names_the_place() -> None:
    numbers = [{"type": "number", "minimum": i, "maximum": i + 1_000} for i in range(60)]
    with pytest.raises(LimitExceeded, match="at /properties/a"):
        rules_of({"properties": {"a": {"oneOf": numbers}, "b": True}}, limits=Limits(max_rules=1_000))
