"""Known answers of the tests, and what they promise: how often chance is called a difference, how often one is seen."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from cqbench import compare_statistics
from cqbench.compare_statistics import can_tell, holm, judge, needed_repetitions, p_value, ratios, tendency

def all_ways(before: list[float], after: list[float]) -> float:
    """The p-value by its definition: the share of ways to share out the values that are as far off or farther."""
    ranks = stats.rankdata([*before, *after])
    expected = len(before) * (len(ranks) + 1) / 2
    seen = abs(ranks[: len(before)].sum() - expected)
    off = [abs(sum(some) - expected) >= seen - 1e-9 for some in itertools.combinations(ranks, len(before))]
    return sum(off) / len(off)


def test_the_u_tests_known_answers() -> None:
    assert p_value([1, 2, 3], [4, 5, 6]) == pytest.approx(2 / 20)
    assert p_value([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 70)
    # Hollander and Wolfe's heights of water loss, as R's wilcox.test documents them: W = 35, one-sided p = 0.1272.
    at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    earlier = [1.15, 0.88, 0.90, 0.74, 1.21]
    assert p_value(at_term, earlier) == pytest.approx(2 * 0.1272, abs=1e-4)
    assert p_value(earlier, at_term) == p_value(at_term, earlier)


@pytest.mark.parametrize("seed", range(20))
def test_ties_are_exact_too(seed: int) -> None:
    random = np.random.default_rng(seed)
    before, after = ([float(v) for v in random.integers(0, 6, n)] for n in random.integers(1, 7, 2))
    assert p_value(before, after) == pytest.approx(all_ways(before, after))


def test_values_that_are_all_the_same() -> None:
    assert p_value([7] * 10, [7] * 10) == 1
    assert p_value([7] * 100, [7] * 100) == 1


def test_many_repetitions_take_the_approximation() -> None:
    random = np.random.default_rng(5)
    before, after = random.normal(100, 1, 80), random.normal(100.4, 1, 80)
    exact = stats.mannwhitneyu(before, after, method="exact").pvalue
    assert exact != p_value(list(before), list(after)) == pytest.approx(exact, rel=0.2)


def test_holms_known_answers() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])  # as R's p.adjust
    assert holm([0.5, 0.9]) == [1, 1]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("points", "alpha", "needed"), [(1, 0.05, 4), (1, 0.1, 3), (2, 0.05, 5), (8, 0.05, 6), (20, 0.05, 6), (24, 0.05, 7),
                                    (1, 0.01, 5), (100, 0.05, 8), (1000, 0.05, 9), (20, 1e-6, 14)]
)  # fmt: skip
def test_needed_repetitions(points: int, alpha: float, needed: int) -> None:
    assert needed_repetitions(points, alpha) == needed
    assert 2 / math.comb(2 * needed, needed) <= alpha / points < 2 / math.comb(2 * needed - 2, needed - 1)


@pytest.mark.parametrize(("points", "alpha"), [(1, 0.05), (1, 0.1), (8, 0.05), (20, 0.05), (21, 0.01)])
def test_as_many_as_needed_are_enough_and_one_less_is_not(points: int, alpha: float) -> None:
    def directions(n: int) -> list[int | None]:
        before, after = list(range(n)), list(range(n, 2 * n))
        return [t.direction for t in judge([(before, after)] * points, alpha)]

    needed = needed_repetitions(points, alpha)
    assert directions(needed) == [1] * points
    assert directions(needed - 1) == [None] * points


def test_sides_of_different_length_and_great_numbers() -> None:
    assert can_tell(2, 30, 1, 0.05) and not can_tell(1, 30, 1, 0.05)
    assert can_tell(5000, 5000, 10, 1e-6)


def test_the_direction() -> None:
    assert (tendency([1, 2], [3, 4]), tendency([3, 4], [1, 2]), tendency([1, 2], [1, 2])) == (1, -1, 0)
    low, high = [1.0, 2, 3, 4, 5], [6.0, 7, 8, 9, 10]
    assert [t.direction for t in judge([(low, high), (high, low)], 0.05)] == [1, -1]
    assert [t.direction for t in judge([(low, low)], 0.05)] == [0]


def test_the_interval_of_a_ratio() -> None:
    before, after = [100.0, 101, 99, 102, 98] * 2, [90.0, 91, 89, 92, 88] * 2
    (one, same), mean = ratios([(before, after), (before, before)])
    assert one.value == pytest.approx(0.9)
    assert one.interval is not None and one.interval == pytest.approx((0.88, 0.92), abs=0.012)
    assert same.value == 1 and same.interval is not None and same.interval[0] < 1 < same.interval[1]
    assert mean is not None and mean.value == pytest.approx(math.sqrt(0.9))
    assert mean.interval is not None and mean.interval[0] < mean.value < mean.interval[1]


def test_the_intervals_are_the_same_every_time() -> None:
    random = np.random.default_rng(3)
    pairs = [(list(random.normal(100, 3, 10)), list(random.normal(95, 3, 10))) for _ in range(10)]
    assert ratios(pairs) == ratios(pairs)


def test_the_interval_covers_what_it_says() -> None:
    random = np.random.default_rng(11)
    pairs = [(list(random.normal(100, 3, 10)), list(random.normal(95, 3, 10))) for _ in range(300)]
    each, _ = ratios(pairs)
    covered = [r.interval[0] <= 0.95 <= r.interval[1] for r in each if r.interval]
    assert len(covered) == 300 and 0.92 <= np.mean(covered) <= 0.995


def test_the_geometric_means_interval_covers_too_and_is_narrower() -> None:
    random = np.random.default_rng(12)
    covered, widths = [], []
    for _ in range(100):
        each, mean = ratios([(list(random.normal(100, 3, 10)), list(random.normal(95, 3, 10))) for _ in range(4)])
        assert mean is not None and mean.interval is not None and each[0].interval is not None
        covered.append(mean.interval[0] <= 0.95 <= mean.interval[1])
        widths.append((mean.interval[1] - mean.interval[0]) / (each[0].interval[1] - each[0].interval[0]))
    assert np.mean(covered) >= 0.9
    assert np.mean(widths) == pytest.approx(0.5, abs=0.1)  # of four independent points


def test_no_interval_of_too_few() -> None:
    enough, few = [1.0, 2, 3, 4], [1.0, 2, 3]
    each, mean = ratios([(enough, enough), (few, enough)])
    assert each[0].interval is not None and each[1].interval is None
    assert mean is not None and mean.interval is None
    assert ratios([]) == ([], None)
    assert compare_statistics.MIN_FOR_INTERVAL == 4


def noisy(random: np.random.Generator, mean: float) -> list[float]:
    """Ten repetitions: 3 % of normal noise, and one in twenty disturbed by 10 to 40 %."""
    values = random.normal(mean, 0.03 * mean, 10)
    disturbed = random.random(10) < 0.05
    return [float(v) for v in np.where(disturbed, values * random.uniform(0.6, 0.9, 10), values)]


def test_chance_is_seldom_called_a_difference() -> None:
    """A/A: 200 comparisons of 20 points."""
    random = np.random.default_rng(2024)
    called = [
        [t.direction for t in judge([(noisy(random, m), noisy(random, m)) for m in range(1000, 21000, 1000)], 0.05)]
        for _ in range(200)
    ]
    assert all(direction is not None for comparison in called for direction in comparison)
    any_called = np.mean([any(comparison) for comparison in called])
    assert any_called <= 0.05 + 0.03  # two standard deviations of 200 throws
    assert np.mean([direction != 0 for comparison in called for direction in comparison]) <= 0.01


def test_a_difference_is_seen() -> None:
    """A/B: 3 % slower with 1 % of noise, 10 repetitions, 8 points."""
    random = np.random.default_rng(2025)
    seen = [
        [
            t.direction == -1
            for t in judge([(list(random.normal(m, m / 100, 10)), list(random.normal(0.97 * m, m / 100, 10)))
                                  for m in range(1000, 9000, 1000)], 0.05)
        ]
        for _ in range(200)
    ]  # fmt: skip
    assert np.mean([all(comparison) for comparison in seen]) >= 0.95
