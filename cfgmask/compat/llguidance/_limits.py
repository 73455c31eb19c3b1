"""The limits that llguidance has, and which of ours they are."""

from __future__ import annotations

from cfgmask.limits import Limits

_DEFAULTS: dict[str, int | bool] = {
    "max_items_in_row": 2000,
    "initial_lexer_fuel": 1_000_000,
    "step_lexer_fuel": 200_000,
    "step_max_items": 50_000,
    "max_lexer_states": 250_000,
    "max_grammar_size": 500_000,
    "precompute_large_lexemes": True,
    "verbose_errors": True,
}
# Those that bound the same thing here.
_OURS = {"max_items_in_row": "max_items", "max_lexer_states": "max_lexer_states", "max_grammar_size": "max_rules"}


class LLParserLimits:
    """Bounds on what a grammar may cost, by the names that llguidance has; immutable.

    `max_items_in_row`, `max_lexer_states` and `max_grammar_size` are `max_items`, `max_lexer_states` and `max_rules` of
    `cfgmask.Limits` where they are given; the others are kept to be read, and bound nothing: the limits of this
    package hold, which docs/python.md lists.
    """

    def __init__(
        self,
        *,
        max_items_in_row: int | None = None,
        initial_lexer_fuel: int | None = None,
        step_lexer_fuel: int | None = None,
        step_max_items: int | None = None,
        max_lexer_states: int | None = None,
        max_grammar_size: int | None = None,
        precompute_large_lexemes: bool | None = None,
        verbose_errors: bool | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _DEFAULTS and value is not None}
        for name, value in given.items():
            if not isinstance(value, int):
                raise TypeError(f"{name} must be an int, not {type(value).__name__}")
            if value < 0:
                raise OverflowError(f"{name} must not be negative")
        self._values = {**_DEFAULTS, **given}
        self._given = given

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self._values.items())
        return f"LLParserLimits({values})"

    max_items_in_row = property(lambda self: self._values["max_items_in_row"])
    initial_lexer_fuel = property(lambda self: self._values["initial_lexer_fuel"])
    step_lexer_fuel = property(lambda self: self._values["step_lexer_fuel"])
    step_max_items = property(lambda self: self._values["step_max_items"])
    max_lexer_states = property(lambda self: self._values["max_lexer_states"])
    max_grammar_size = property(lambda self: self._values["max_grammar_size"])
    precompute_large_lexemes = property(lambda self: self._values["precompute_large_lexemes"])
    verbose_errors = property(lambda self: self._values["verbose_errors"])

    @property
    def limits(self) -> Limits:
        """The same as limits of this package."""
        return Limits(**{_OURS[name]: value for name, value in self._given.items() if name in _OURS})
