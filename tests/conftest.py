"""Hypothesis profiles: `pytest --hypothesis-profile=ci` or `=thorough`; without the option, `dev`."""

from hypothesis import HealthCheck, settings

_SLOW_DATA = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

# The default is repeatable, so that a change that breaks nothing fails nothing; the others look for new examples.
settings.register_profile("dev", max_examples=40, deadline=None, derandomize=True, suppress_health_check=_SLOW_DATA)
settings.register_profile("ci", max_examples=300, deadline=None, print_blob=True, suppress_health_check=_SLOW_DATA)
settings.register_profile("thorough", parent=settings.get_profile("ci"), max_examples=5_000)
settings.load_profile("dev")
