"""Ratios of medians and their intervals: known answers, and what the intervals promise."""

from __future__ import annotations

import numpy as np
import pytest

from cqbench.medians import RESAMPLES, Ratio, divide, interval, median, ratio_of_medians, resampled_ratios


def test_medians_of_what_is_there() -> None:
    assert median([3, None, 1, 2]) == 2 and median([1, 2]) == 1.5
    assert median([None]) is None and median([]) is None
    assert divide(3, 2) == 1.5
    assert divide(3, 0) is None and divide(None, 2) is None and divide(3, None) is None


def test_an_interval_needs_so_many_repetitions_on_each_side() -> None:
    two, three = [2.0, 2.0], [2.0, 2.1, 2.2]
    assert ratio_of_medians(two, [1.0] * 3, 3) == Ratio(2.0) == ratio_of_medians([2.0] * 3, [1.0] * 2, 3)
    found = ratio_of_medians([*three, None], [1.0] * 3, 3)
    assert found is not None and found.value == 2.1 and found.interval == (2.0, 2.2)
    assert ratio_of_medians(three, [1.0] * 3, 4) == Ratio(2.1) and Ratio(2.1).interval is None


def test_nothing_to_divide() -> None:
    assert ratio_of_medians([], [1.0], 3) is None and ratio_of_medians([1.0], [], 3) is None
    assert ratio_of_medians([1.0, None], [0.0], 3) is None
    assert ratio_of_medians([1.0] * 3, [0.0, 1.0, 1.0], 3) == Ratio(1.0)  # a resample might divide by zero


def test_the_middle_95_percent() -> None:
    assert interval(np.arange(0.0, 1001.0)) == pytest.approx((25, 975))


def test_the_median_of_a_resample_is_one() -> None:
    """Of three values the middle one comes in 13 of 27 resamples, each of the others in 7."""
    draws = resampled_ratios([1.0, 2.0, 3.0], [1.0])
    seen = [float(np.mean(draws == v)) for v in (1, 2, 3)]
    assert len(draws) == RESAMPLES and seen == pytest.approx([7 / 27, 13 / 27, 7 / 27], abs=0.02)
    even = resampled_ratios([1.0, 2.0], [1.0])
    assert [float(np.mean(even == v)) for v in (1, 1.5, 2)] == pytest.approx([0.25, 0.5, 0.25], abs=0.02)


def test_streams_are_independent_and_always_the_same() -> None:
    random = np.random.default_rng(1)
    top, bottom = random.normal(150, 6, 9), random.normal(100, 4, 9)
    first, second = resampled_ratios(top, bottom, 0), resampled_ratios(top, bottom, 1)
    assert np.array_equal(first, resampled_ratios(top, bottom, 0))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05


def test_the_interval_holds_what_made_the_figures() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(100):
        ratio = ratio_of_medians(list(random.normal(150, 6, 6)), list(random.normal(100, 4, 6)), 3)
        assert ratio is not None and ratio.interval is not None
        low, high = ratio.interval
        held += low <= 1.5 <= high
    assert 88 <= held < 100  # of 95 promised: resampling few values is a little too sure
