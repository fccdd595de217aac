"""Growth of a series whose values depend on those before: the ratio of its second half to its first, with an interval.

Values that depend on each other are worth fewer than as many independent ones, and a test that does not know it calls
noise growth. Four steps, on logarithms:

- Isolated outliers become the median of their neighbours (Hampel's identifier; Davies and Gather, JASA 88, 1993).
- A long series becomes at most sixty batch means: more would be more dependent and gain little (Schmeiser, Operations
  Research 30, 1982).
- Least squares with a level for each half and one slope for both. The slope keeps a steady leak out of the residuals,
  where it would be taken for dependence; the two levels do the same for a step.
- Student's t with the variance and the degrees of freedom of least squares where errors are autoregressive of order
  one (Worsley and Friston, NeuroImage 2, 1995). Short series show less autocorrelation than there is. The bias is
  removed, and the upper 98.5 % bound of the coefficient is used instead of its estimate. Simulation chose that bound,
  and sixty: the rates hold up to a coefficient of 0.9, and the interval is narrowest.

A series that rises through all of it and would fall later cannot be distinguished from one that grows: a period has to
fit twice. Error rates and power are in tests/scripts/test_soak_rates.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from scipy import special

from cqbench.stats.ratios import LEVEL, NOTHING, Ratio

Floats = npt.NDArray[np.float64]
MAX_BATCHES = 60  # of both halves
BOUND = 2.17  # standard errors above the estimate: the upper 98.5 % bound of the autocorrelation
WINDOW = 5  # values that an outlier is compared with, itself included
OUTLIER = 5.0  # standard deviations
OF_NORMAL = 1.4826  # standard deviation of normal noise in median absolute deviations
AUTOCORRELATIONS = np.concatenate([np.arange(0, 0.9, 0.02), np.arange(0.9, 0.996, 0.005)])


@dataclass(frozen=True)
class Design:
    """Least squares of m values: the two levels and the slope. By autocorrelation, of AUTOCORRELATIONS: trace, freedom:
    the expected sum of squared residuals and its degrees of freedom, in units of the variance; variance: that of the
    difference of the halves; seen: the autocorrelation that residuals are expected to have.
    """

    contrast: Floats
    residuals: Floats
    trace: Floats
    freedom: Floats
    variance: Floats
    seen: Floats


def growth(values: Sequence[float]) -> Ratio:
    """Returns the geometric mean of the second half to that of the first.

    values: above 0, an even number, at least 12.
    """
    batches = _batches(_without_outliers(np.log(np.asarray(values, float))))
    m = len(batches)
    design = _design(m)
    difference = float(design.contrast @ batches)
    residuals = design.residuals @ batches
    squares = float(residuals @ residuals)
    value = math.exp(difference)
    if squares <= NOTHING**2 * m:
        return Ratio(value, value, value, float(abs(difference) <= NOTHING), len(values), freedom=m - 3)
    seen = float(residuals[1:] @ residuals[:-1]) / squares + BOUND / math.sqrt(m)
    at = min(int(np.searchsorted(design.seen, seen)), len(AUTOCORRELATIONS) - 1)
    error = math.sqrt(squares / design.trace[at] * design.variance[at])
    freedom = float(design.freedom[at])
    p = 2 * float(special.stdtr(freedom, -abs(difference) / error))
    reach = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    low, high = _exp(difference - reach), _exp(difference + reach)
    return Ratio(value, low, high, p, len(values), spread=error * math.sqrt(len(values)), freedom=freedom)


def _exp(logarithm: float) -> float:
    return math.exp(max(-700.0, min(700.0, logarithm)))


def _without_outliers(logs: Floats) -> Floats:
    """A step and a slope stay as they are, as most of the neighbours have it, too."""
    around = sliding_window_view(np.pad(logs, WINDOW // 2, mode="reflect"), WINDOW)
    medians = np.median(around, axis=1)
    off = np.abs(logs - medians)
    return np.where(off > OUTLIER * OF_NORMAL * float(np.median(off)), medians, logs)


def _batches(logs: Floats) -> Floats:
    """Means of as many neighbours each, as many of either half; a remainder is left out at the half's beginning."""
    half = len(logs) // 2
    size = math.ceil(len(logs) / MAX_BATCHES)
    kept = half // size * size
    halves = [part[half - kept :].reshape(-1, size).mean(axis=1) for part in (logs[:half], logs[half:])]
    return np.concatenate(halves)


@lru_cache(maxsize=MAX_BATCHES)
def _design(m: int) -> Design:
    half = m // 2
    first = (np.arange(m) < half).astype(float)
    known, _ = np.linalg.qr(np.column_stack([first, 1 - first, np.arange(m) - (m - 1) / 2]))
    residuals = np.eye(m) - known @ known.T
    contrast = (1 - 2 * first) / half
    distances = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    rows = []
    for coefficient in AUTOCORRELATIONS:
        correlations = float(coefficient) ** distances
        left = residuals @ correlations
        trace, seen = float(np.trace(left)), left @ residuals
        freedom = trace**2 / float((left * left.T).sum())
        apart = float(np.trace(seen, offset=1) / np.trace(seen))
        rows.append((trace, freedom, float(contrast @ correlations @ contrast), apart))
    trace_, freedom_, variance, seen_ = np.asarray(rows).T
    return Design(contrast, residuals, trace_, freedom_, variance, np.maximum.accumulate(seen_))
