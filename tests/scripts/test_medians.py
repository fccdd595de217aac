"""Medians and the interval between order statistics."""

from __future__ import annotations

import numpy as np
import pytest
from cqbench.stats.medians import Median, describe, median


def test_medians_of_what_is_there() -> None:
    assert median([3, None, 1, 2]) == 2 and median([1, 2]) == 1.5
    assert median([None]) is None and median([]) is None


@pytest.mark.parametrize(("count", "outside"), [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5)])
def test_the_interval_is_between_order_statistics(count: int, outside: int) -> None:
    values = [float(v) for v in range(count)]
    assert describe(values[::-1]) == Median((count - 1) / 2, float(outside), float(count - 1 - outside))


def test_five_values_have_no_interval() -> None:
    assert describe([1.0, 2.0, 3.0, 4.0, 5.0]) == Median(3.0)


@pytest.mark.parametrize("count", [6, 7, 12])
def test_it_holds_the_median_of_a_skewed_distribution(count: int) -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        found = describe(list(np.exp(random.normal(0, 0.5, count))))
        assert found.low is not None and found.high is not None
        held += found.low <= 1 <= found.high
    assert held >= 0.95 * 400 - 3 * (0.95 * 0.05 * 400) ** 0.5
