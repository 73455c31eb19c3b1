"""How long to test.

Hypothesis profiles: `pytest --hypothesis-profile=longer`, `=ci` or `=thorough`; without the option, `dev`.
Tests marked `long` or `slow` run only with `--slow` or where `-m` asks for them: `make test-long`, `make test-slow`.
With `--every-mask`, each mask that any test asks for is held against its tokens, one by one.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from tests import every_mask

_SLOW_DATA = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

# The default is repeatable, so that a change that breaks nothing fails nothing; the others look for new examples.
settings.register_profile("dev", max_examples=12, deadline=None, derandomize=True, suppress_health_check=_SLOW_DATA)
settings.register_profile("longer", parent=settings.get_profile("dev"), max_examples=40)
settings.register_profile("ci", max_examples=300, deadline=None, print_blob=True, suppress_health_check=_SLOW_DATA)
settings.register_profile("thorough", parent=settings.get_profile("ci"), max_examples=5_000)
settings.load_profile("dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked long and slow, too")
    parser.addoption("--every-mask", action="store_true", help="check each mask token by token")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.every_mask:
        every_mask.check_from_now_on()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.slow or config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("slow") or item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        dropped = set(left_out)
        items[:] = [item for item in items if item not in dropped]
