"""Numbers between bounds as regexes, against arithmetic and against the regexes of the reference."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask.grammar.regex_tree import Complement, Intersection
from cfgmask.regex.algebra import RegexAlgebra, matches
from cfgmask.regex.numbers import NoNumbers, TooManyDigits, number_regex
from tests.reference.json_schema import number_regex as reference
from tests.reference.json_schema.numbers import ALL_NUMBERS, PLAIN_INTEGERS, NumberShape, intersect

BOUNDS = {
    "minimum": lambda n: NumberShape(low=n),
    "above": lambda n: NumberShape(low=n, low_open=True),
    "maximum": lambda n: NumberShape(high=n),
    "below": lambda n: NumberShape(high=n, high_open=True),
    "step": lambda n: NumberShape(step=n),
}

decimals = st.builds(lambda n, places: Decimal(n).scaleb(-places), st.integers(-3000, 3000), st.integers(-1, 3))
bounds = dict.fromkeys(("minimum", "above", "maximum", "below"), decimals)
conditions = st.fixed_dictionaries({}, optional={**bounds, "step": decimals.filter(lambda n: n > 0)})


def exact(number: Decimal) -> int | Fraction:
    fraction = Fraction(number)
    return fraction.numerator if fraction.denominator == 1 else fraction


@given(conditions, st.booleans())
def test_the_texts_are_those_of_the_reference(said: dict[str, Decimal], integers: bool) -> None:
    shape: NumberShape | None = PLAIN_INTEGERS if integers else ALL_NUMBERS
    for name, number in said.items():
        shape = shape and intersect(shape, BOUNDS[name](exact(number)))
    algebra = RegexAlgebra()
    if shape is None:
        with pytest.raises(NoNumbers):
            number_regex(integers=integers, **said)
        return
    found, expected = number_regex(integers=integers, **said), reference.number_regex(shape, exponents=False)
    for one, other in ((found, expected), (expected, found)):
        assert algebra.is_empty(Intersection((one, Complement(other))))


@given(conditions, st.booleans(), st.lists(decimals, min_size=1, max_size=20))
def test_numbers_are_taken_that_meet_the_conditions(
    said: dict[str, Decimal], integers: bool, tried: list[Decimal]
) -> None:
    try:
        tree = number_regex(integers=integers, **said)
    except NoNumbers:
        tree = None
    for number in [*tried, *said.values()]:
        is_meant = (
            (not integers or number == number.to_integral())
            and number >= said.get("minimum", number)
            and number > said.get("above", number - 1)
            and number <= said.get("maximum", number)
            and number < said.get("below", number + 1)
            and Fraction(number) % Fraction(said.get("step", number) or 1) == 0
        )
        text = f"{number.to_integral():f}" if number == number.to_integral() else f"{number.normalize():f}"
        if text != "-0":
            assert (tree is not None and matches(tree, text.encode())) == is_meant, (number, said)


@pytest.mark.parametrize(
    "said",
    [{"step": Decimal(10**18)}, {"minimum": Decimal("1e400")}, {"below": Decimal("1e-401")}, {"above": Decimal("inf")}],
    ids=repr,
)
def test_too_many_digits_are_an_error(said: dict[str, Decimal]) -> None:
    with pytest.raises(TooManyDigits):
        number_regex(integers=False, **said)
