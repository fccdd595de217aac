"""The Universal Scalability Law: it finds what made the figures, and says when it does not describe them."""

from __future__ import annotations

import numpy as np
import pytest
from cqbench.stats import usl
from cqbench.stats.usl import MIN_COUNTS, MIN_R2

COUNTS = (1, 2, 4, 8, 16, 32, 48)
TRUE = (12_000.0, 0.08, 0.0015)


def series(
    counts: tuple[int, ...] = COUNTS, repetitions: int = 6, noise: float = 0.02, true: tuple[float, ...] = TRUE
) -> dict[int, list[float]]:
    """Repetitions around the law's throughput, with normal relative noise; the same every time."""
    random = np.random.default_rng(7)
    return {n: list(usl.throughput(n, *true) * random.normal(1, noise, repetitions)) for n in counts}


def test_known_coefficients_come_back_with_intervals_around_them() -> None:
    fit = usl.fit(series())
    assert fit is not None and not fit.poor
    for found, true in zip((fit.rate, fit.sigma, fit.kappa), TRUE, strict=True):
        assert found.value == pytest.approx(true, rel=0.2)
        assert found.low is not None and found.high is not None and found.low <= true <= found.high
    assert fit.r2 > 0.99 and fit.counts == 7 and fit.highest == 48


def test_without_noise_they_are_exact() -> None:
    fit = usl.fit(series(noise=0.0))
    assert fit is not None
    assert [c.value for c in (fit.rate, fit.sigma, fit.kappa)] == pytest.approx(TRUE, rel=1e-3)
    assert fit.r2 == pytest.approx(1.0)


def test_the_peak_is_where_throughput_is_highest() -> None:
    fit = usl.fit(series(noise=0.0))
    assert fit is not None and fit.peak is not None
    n = np.arange(1, 200, dtype=float)
    assert fit.peak == pytest.approx(n[np.argmax(usl.throughput(n, *TRUE))], abs=1)
    assert fit.peak == pytest.approx(((1 - 0.08) / 0.0015) ** 0.5, rel=1e-3)


def test_without_coherency_cost_there_is_no_peak() -> None:
    fit = usl.fit(series(noise=0.0, true=(10_000.0, 0.1, 0.0)))
    assert fit is not None and fit.peak is None
    assert usl.peak_of(0.1, 1e-5) is not None  # just outside
    assert usl.peak_of(1.5, 0.01) == 1.0  # never below one in flight


def test_coefficients_are_never_negative() -> None:
    fit = usl.fit({n: [1000.0 * n**1.1] * 3 for n in COUNTS})
    assert fit is not None and fit.sigma.value >= 0 and fit.kappa.value >= 0


def test_throughput_above_linear_is_remarked() -> None:
    steps = {1: [1000.0], 2: [2250.0], 4: [4000.0], 8: [7000.0], 16: [9000.0]}
    fit = usl.fit(steps)
    assert fit is not None and fit.caution == "1.12 x linear at 2"
    near = usl.fit({**steps, 2: [2150.0]})
    assert near is not None and near.caution == ""


def test_a_poor_fit_says_so() -> None:
    poor = usl.fit({1: [100.0], 2: [900.0], 4: [150.0], 8: [800.0], 16: [200.0], 32: [700.0]})
    assert poor is not None and poor.poor and poor.r2 < MIN_R2
    assert "poor fit" in poor.complaints[0]


def test_the_threshold_of_a_poor_fit() -> None:
    assert usl._complaints(7, MIN_R2) == ()
    assert usl._complaints(7, MIN_R2 - 0.01) == ("poor fit, R2 0.89",)


def test_few_counts_are_complained_about() -> None:
    few, enough = usl.fit(series((1, 4, 8, 16))), usl.fit(series((1, 4, 8, 16, 32)))
    assert few is not None and few.complaints == (f"only 4 in-flight counts, it needs {MIN_COUNTS}",)
    assert enough is not None and not enough.poor
    assert usl.fit(series((1, 4))) is None


def test_three_counts_leave_no_interval() -> None:
    fit = usl.fit(series((1, 4, 8), repetitions=6))
    assert fit is not None and fit.rate.low is None
    more = usl.fit(series((1, 4, 8, 16), repetitions=1))
    assert more is not None and more.sigma.low is not None and more.sigma.high is not None
    assert more.sigma.low <= more.sigma.value <= more.sigma.high


def test_the_same_figures_give_the_same_fit() -> None:
    assert usl.fit(series()) == usl.fit(series())


def test_nothing_to_fit() -> None:
    assert usl.fit({}) is None
    assert usl.fit({1: [0.0], 2: [0.0], 4: [0.0]}) is None
