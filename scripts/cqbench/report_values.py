"""A figure over the repetitions of a point: the median with its 95 % interval, as include/cqbench/statistics.h says."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from cqbench.report_model import Value

MIN_FOR_INTERVAL = 6  # the range of five values holds the median in 93.75 % of cases only
DIGITS = 6  # of what is kept in a report: more than the figures have


def describe(values: Sequence[float]) -> Value:
    """values: not empty. The interval is that between order statistics: from the k-th least to the k-th greatest value.

    k is the greatest for which that holds the median of whatever distribution in at least 95 % of cases.
    """
    ordered = sorted(values)
    middle = short(float(median(ordered)))
    if len(ordered) < MIN_FOR_INTERVAL:
        return Value(middle)
    outside = _outside(len(ordered))
    return Value(middle, short(ordered[outside]), short(ordered[-1 - outside]))


def _outside(n: int) -> int:
    """How many values lie outside on either side: the chance of at most as many heads in n tosses is at most 2.5 %."""
    k, exactly, at_most = 0, 1, 1
    while 40 * at_most <= 2**n:
        k += 1
        exactly = exactly * (n - k + 1) // k
        at_most += exactly
    return k - 1


def short(value: float) -> float:
    """With few digits and no fraction of zeros, so that the report is small. value: finite."""
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded == int(rounded) else rounded
