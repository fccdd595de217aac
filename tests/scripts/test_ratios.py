"""Ratios and their intervals: known answers. What they promise is in test_error_rates.py."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from cqbench.stats.ratios import (
    MAX_REPETITIONS,
    MIXTURE,
    Ratio,
    between_sessions,
    critical,
    holm,
    paired,
    paired_with_several,
    repetitions_needed,
    unpaired,
)
from scipy import integrate, stats


def noisy(n: int, seed: int) -> list[float]:
    return [float(v) for v in np.exp(np.random.default_rng(seed).normal(0, 0.2, n))]


def test_below_ten_repetitions_it_is_students_t_of_the_logarithms() -> None:
    top, bottom = noisy(7, 1), noisy(9, 2)
    both = paired(zip(top, bottom, strict=False))
    expected = stats.ttest_1samp(np.log(top) - np.log(bottom[:7]), 0.0)
    assert both is not None and both.paired and both.n == 7 and both.p == pytest.approx(expected.pvalue)
    assert both.interval == pytest.approx(tuple(np.exp(expected.confidence_interval(0.95))))
    apart = unpaired(top, bottom)
    welch = stats.ttest_ind(np.log(top), np.log(bottom), equal_var=False)
    assert apart is not None and not apart.paired and apart.p == pytest.approx(welch.pvalue)
    assert apart.interval == pytest.approx(tuple(np.exp(welch.confidence_interval(0.95))))


def test_from_ten_on_it_is_yuens() -> None:
    top, bottom = noisy(20, 3), noisy(30, 4)
    found = unpaired(top, bottom)
    yuen = stats.ttest_ind(np.log(top), np.log(bottom), equal_var=False, trim=0.1)
    assert found is not None and found.p == pytest.approx(yuen.pvalue)
    slow = paired(zip([*top[:19], top[19] / 2], bottom, strict=False))  # a run at half speed costs no power
    usual = paired(zip(top, bottom, strict=False))
    assert slow is not None and usual is not None and slow.spread < 1.2 * usual.spread


def test_the_inverse_is_the_ratio_of_swapped_sides() -> None:
    top, bottom = noisy(12, 5), noisy(15, 6)
    ratio, swapped = unpaired(top, bottom), unpaired(bottom, top)
    assert ratio is not None and ratio.interval is not None and swapped is not None
    assert ratio.inverse().value == pytest.approx(swapped.value)
    assert ratio.inverse().interval == pytest.approx(swapped.interval)


def test_few_or_nothing_to_divide() -> None:
    assert paired([(2.0, 1.0)] * 5) == Ratio(2.0, n=5, paired=True) and unpaired([2.0] * 5, [1.0] * 9) == Ratio(
        2.0, n=5
    )
    assert paired([]) is None and unpaired([], [1.0]) is None and unpaired([1.0], [0.0]) is None
    alike = paired([(1.0, 1.0)] * 6)
    assert alike is not None and alike.p == 1 and alike.interval == (1.0, 1.0)
    apart = unpaired([2.0] * 6, [1.0] * 6)
    assert apart is not None and apart.p == 0 and apart.inverse().value == 0.5


def test_the_interval_of_any_time_is_that_of_a_mixture_of_effects() -> None:
    """The t at its end is 1 / rate times as probable with effects drawn from a normal distribution as with none:
    noncentral t, integrated over the effects.
    """
    for n, rate in ((6, 0.05), (9, 0.0025), (30, 0.01)):
        t = critical(n - 1, rate, any_time=True)
        with_effects, _ = integrate.quad(
            lambda effect, n=n, t=t: (
                stats.nct.pdf(t, n - 1, effect * math.sqrt(n)) * stats.norm.pdf(effect, scale=math.sqrt(MIXTURE))
            ),
            -30,
            30,
            limit=500,
        )
        assert with_effects / stats.t.pdf(t, n - 1) == pytest.approx(1 / rate, rel=1e-3)
        assert t > critical(n - 1, rate)
    assert critical(5, 1e-9, any_time=True) == math.inf, "six repetitions never show that much"


def test_the_interval_of_any_time_holds_at_every_look() -> None:
    """In at most 5 % of series any of 200 looks is wrong; an interval for one look is wrong in many."""
    random = np.random.default_rng(8)
    wrong = {True: 0, False: 0}
    for _ in range(500):
        logs = random.normal(0, 1, 200)
        n = range(6, 201)
        t = np.asarray([stats_t(logs[:k]) for k in n])
        for any_time in wrong:
            wrong[any_time] += any(abs(t) > [critical(k - 1, 0.05, any_time) for k in n])
    assert wrong[True] <= 0.05 * 500 + 3.1 * math.sqrt(0.05 * 0.95 * 500) < 100 < wrong[False]


def test_the_p_value_of_any_time_is_below_a_rate_where_the_interval_of_that_rate_excludes_1() -> None:
    ratio = paired(zip(noisy(12, 9), noisy(12, 10), strict=True))
    assert ratio is not None
    looked = ratio.at_any_time()
    assert looked.p is not None and ratio.p is not None and looked.p > ratio.p
    t = abs(math.log(ratio.value)) * math.sqrt(ratio.n) / ratio.spread
    shown = [(rate, critical(ratio.freedom, rate, any_time=True)) for rate in (0.9, 0.5, 0.2, 0.05, 0.01)]
    assert all((looked.p <= rate) == (t >= bound) for rate, bound in shown)
    large = paired([(2.0 * 1.01**i, 1.0) for i in range(-4, 5)])
    assert large is not None
    found = large.at_any_time()
    assert found.low is not None and found.p is not None and found.low > 1.9 and found.p < 0.001


def stats_t(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean() / values.std(ddof=1) * math.sqrt(len(values)))


def test_holms_correction() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([None, 0.02, None]) == [None, 0.02, None] and holm([0.9, 0.8]) == [1.0, 1.0]


def test_repetitions_that_tell_a_ratio_from_one() -> None:
    """A known spread (n = 0) takes what textbooks state: (1.96 + 0.84)^2 x variance / effect^2, and a little more."""
    plain = 7.85 * (0.1 / math.log(1.03)) ** 2
    assert repetitions_needed(Ratio(1.03, spread=0.1, paired=True)) == pytest.approx(plain, abs=3)
    assert repetitions_needed(Ratio(1.03, spread=0.1, paired=True), limit=1.03) is None
    assert repetitions_needed(Ratio(1.001, spread=0.4)) is None and MAX_REPETITIONS == 1000
    few = repetitions_needed(Ratio(1.1, spread=0.1, paired=True, n=6)) or 0
    assert few > (repetitions_needed(Ratio(1.1, spread=0.1, paired=True, n=60)) or 0)
    assert few < (repetitions_needed(Ratio(1.1, spread=0.1, paired=True, n=6), comparisons=20) or 0)


@pytest.mark.parametrize("least", [3, 4, 5, 6])
def test_a_great_effect_takes_the_least_number(least: int) -> None:
    """SciPy's noncentral t is NaN at about 38 standard errors, which is no reason for more repetitions."""
    assert repetitions_needed(Ratio(0.97, spread=0.00546, n=10), comparisons=2, least=least) == least


def test_what_sessions_differ_by_is_added() -> None:
    """Variances add up; Satterthwaite's degrees of freedom lie between those of the parts and their sum."""
    plain = unpaired(noisy(8, 1), noisy(8, 2))
    assert plain is not None and between_sessions(plain, [], 1).interval == pytest.approx(plain.interval)
    both = between_sessions(plain, [(0.04, 7.0)], 2)
    error = math.sqrt(plain.spread**2 / 8 + 0.04)
    assert (both.n, both.value) == (2, plain.value) and both.spread / math.sqrt(2) == pytest.approx(error)
    assert 7 < both.freedom < 7 + plain.freedom
    reach = stats.t.ppf(0.975, both.freedom) * error
    assert both.interval == pytest.approx((plain.value * math.exp(-reach), plain.value * math.exp(reach)))
    assert both.p == pytest.approx(2 * stats.t.sf(abs(math.log(plain.value)) / error, both.freedom))
    exact = Ratio(1.1, 1.1, 1.1, 0.0, 6, freedom=10)
    assert between_sessions(exact, [(0.0, 5.0)], 1).interval == pytest.approx((1.1, 1.1))


def test_sessions_are_fewer_than_repetitions_have_to_be() -> None:
    few = unpaired(noisy(3, 1), noisy(4, 2))
    assert few is not None and few.interval is None and few.p is None
    three = unpaired(noisy(3, 1), noisy(4, 2), 3)
    expected = stats.ttest_ind(np.log(noisy(3, 1)), np.log(noisy(4, 2)), equal_var=False)
    assert three is not None and three.p == pytest.approx(expected.pvalue)


def test_several_of_the_same_beside_it_are_one_baseline() -> None:
    tops, ones, others = np.exp(np.random.default_rng(3).normal(0, 0.1, (3, 30)))
    for n in (3, 9, 30):
        alone = paired(zip(tops[:n], ones[:n], strict=True))
        assert paired_with_several((t, (b,)) for t, b in zip(tops[:n], ones[:n], strict=True)) == alone
    pairs = [*zip(tops, ones, others, strict=True)]
    both = paired_with_several((t, (a, b)) for t, a, b in pairs)
    each = [paired((p[0], p[i]) for p in pairs) for i in (1, 2)]
    assert both is not None and None not in each and both.n == 30
    assert both.value == pytest.approx(math.sqrt(math.prod(r.value for r in each if r)))
    assert both.spread < min(r.spread for r in each if r)
    assert paired_with_several([(1.0, (1.0, 0.0))]) is None
