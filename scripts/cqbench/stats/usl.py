"""The Universal Scalability Law (N. J. Gunther): X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)).

lambda: throughput of one in flight, per second. sigma: contention, the part that waits for its turn. kappa: coherency,
what each pair costs. Fitted by least squares with sigma, kappa >= 0. The law describes a curve; what is behind a
coefficient (a connection, a CPU, a lock) it does not know.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeWarning, curve_fit
from scipy.stats import t as student

from cqbench.stats.ratios import LEVEL

Floats = npt.NDArray[np.float64]
# The law describes a series with at least five counts (it has three coefficients) and this much of its variance.
MIN_COUNTS = 5
MIN_R2 = 0.90
# It has no place for throughput above n times that at 1; a tenth may be chance.
SUPERLINEAR = 1.10
NO_KAPPA = 1e-7  # below it the peak is beyond 3,000 in flight, and the coefficient is rounding
START = (1.0, 0.1, 0.001)
BOUNDS = ([0.0, 0.0, 0.0], [np.inf, np.inf, np.inf])


@dataclass(frozen=True)
class Coefficient:
    """A fitted value with its 95 % interval, None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Fit:
    """One series. peak: N*, the in-flight count of the highest throughput; None when the curve has no peak."""

    rate: Coefficient  # lambda, per second
    sigma: Coefficient
    kappa: Coefficient
    peak: float | None
    r2: float
    counts: int
    highest: int  # in-flight count measured
    complaints: tuple[str, ...]  # why not to lean on it; empty when it may be
    caution: str  # what the law cannot describe in a fit that is good otherwise; '' when there is nothing

    @property
    def poor(self) -> bool:
        return bool(self.complaints)


def throughput(n: Floats | float, rate: float, sigma: float, kappa: float) -> Floats | float:
    """X(N), per second."""
    return rate * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def _slopes(n: Floats, rate: float, sigma: float, kappa: float) -> Floats:
    """Derivatives of X(N) by the three coefficients; without them a fit takes several times as long."""
    below = 1 + sigma * (n - 1) + kappa * n * (n - 1)
    by_sigma = -rate * n * (n - 1) / below**2
    return np.column_stack([n / below, by_sigma, by_sigma * n])


def peak_of(sigma: float, kappa: float) -> float | None:
    """N* = sqrt((1 - sigma) / kappa), at least 1; None when throughput never falls."""
    if kappa < NO_KAPPA:
        return None
    return max(1.0, math.sqrt(max(0.0, 1 - sigma) / kappa))


def fit(series: Mapping[int, Sequence[float]]) -> Fit | None:
    """series: in-flight count -> throughput of each repetition, per second. None with fewer than three counts."""
    counts = sorted(n for n, values in series.items() if values)
    if len(counts) < 3:
        return None
    n = np.array(counts, dtype=float)
    x = np.array([np.median(series[c]) for c in counts])
    solved = _solve(n, x)
    if solved is None:
        return None
    best, covariance = solved
    r2 = r_squared(x, np.asarray(throughput(n, *best)))
    intervals = _intervals(best, covariance, len(counts))
    rate, sigma, kappa = (Coefficient(float(v), *i) for v, i in zip(best, intervals, strict=True))
    peak = peak_of(sigma.value, kappa.value)
    return Fit(rate, sigma, kappa, peak, r2, len(counts), counts[-1], _complaints(len(n), r2), _caution(n, x))


def r_squared(seen: Floats, fitted: Floats) -> float:
    """Part of the variance that is described; 0 when there is no variance to describe."""
    total = float(np.sum((seen - seen.mean()) ** 2))
    return 1 - float(np.sum((seen - fitted) ** 2)) / total if total > 0 else 0.0


def _solve(n: Floats, x: Floats) -> tuple[Floats, Floats] | None:
    """Coefficients and covariance; None when nothing was found. Scaled, so that the three are of similar size."""
    unit = x[0] / n[0]
    if unit <= 0:
        return None
    try:
        with warnings.catch_warnings():
            # As many coefficients as counts leave no covariance; _intervals() sees that it is not finite.
            warnings.simplefilter("ignore", OptimizeWarning)
            found, covariance = curve_fit(throughput, n, x / unit, START, bounds=BOUNDS, jac=_slopes, max_nfev=2000)
    except RuntimeError:
        return None
    scale = np.array([unit, 1.0, 1.0])
    return found * scale, covariance * np.outer(scale, scale)


def _intervals(best: Floats, covariance: Floats, counts: int) -> list[tuple[float | None, float | None]]:
    """Returns intervals of lambda, sigma, kappa, from the covariance of the fit; None with three counts, which allow
    none.
    """
    free = counts - len(best)
    if free < 1 or not np.all(np.isfinite(covariance)):
        return [(None, None)] * len(best)
    reach = student.ppf((1 + LEVEL) / 2, free) * np.sqrt(np.diag(covariance))
    return [(max(0.0, float(v - r)), float(v + r)) for v, r in zip(best, reach, strict=True)]


def _complaints(counts: int, r2: float) -> tuple[str, ...]:
    said = []
    if counts < MIN_COUNTS:
        said.append(f"only {counts} in-flight counts, it needs {MIN_COUNTS}")
    if r2 < MIN_R2:
        said.append(f"poor fit, R2 {r2:.2f}")
    return tuple(said)


def _caution(n: Floats, x: Floats) -> str:
    share = (x / n) / (x[0] / n[0])
    worst = int(np.argmax(share))
    return f"{share[worst]:.2f} x linear at {n[worst]:.0f}" if share[worst] > SUPERLINEAR else ""
