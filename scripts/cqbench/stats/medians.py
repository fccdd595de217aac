"""Medians and their 95 % intervals between order statistics, as src/result/statistics.h has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from statistics import median as plain_median

from cqbench.stats.ratios import MIN_REPETITIONS


@dataclass(frozen=True)
class Median:
    """low, high: None where there are too few values: the range of five holds the median in 93.75 % of cases only."""

    value: float
    low: float | None = None
    high: float | None = None


def median(values: Iterable[float | None]) -> float | None:
    """Returns the median of the present values; None if there are none."""
    there = [v for v in values if v is not None]
    return float(plain_median(there)) if there else None


def geometric_mean(values: Sequence[float]) -> float:
    """Returns the arithmetic mean if there is a 0. values: not empty, none below 0."""
    return math.exp(fmean(map(math.log, values))) if min(values) > 0 else fmean(values)


def describe(values: Sequence[float]) -> Median:
    """values: not empty. The interval is that between order statistics: from the k-th least to the k-th greatest value.

    k is the greatest for which that holds the median of whatever distribution in at least 95 % of cases.
    """
    ordered = sorted(values)
    middle = float(plain_median(ordered))
    if len(ordered) < MIN_REPETITIONS:
        return Median(middle)
    outside = _outside(len(ordered))
    return Median(middle, ordered[outside], ordered[-1 - outside])


def _outside(n: int) -> int:
    """How many values lie outside on either side: the chance of at most as many heads in n tosses is at most 2.5 %."""
    k, exactly, at_most = 0, 1, 1
    while 40 * at_most <= 2**n:
        k += 1
        exactly = exactly * (n - k + 1) // k
        at_most += exactly
    return k - 1
