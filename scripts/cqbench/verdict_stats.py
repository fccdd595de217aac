"""Medians, and ratios of medians with their 95 % intervals. The same figures always give the same interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median as plain_median

import numpy as np

SEED = 20161
RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Ratio:
    """A quotient of two medians. low, high: its 95 % interval; None with too few repetitions."""

    value: float
    low: float | None = None
    high: float | None = None


def median(values: Iterable[float | None]) -> float | None:
    """Of those that are there; None when none is."""
    there = [v for v in values if v is not None]
    return float(plain_median(there)) if there else None


def divide(a: float | None, b: float | None) -> float | None:
    """None where there is nothing to divide."""
    return a / b if a is not None and b else None


def percentile_interval(values: np.ndarray) -> tuple[float, float]:
    """The middle 95 %."""
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)


def ratio_of_medians(
    top: Sequence[float | None], bottom: Sequence[float | None], minimum: int = 3, resamples: int = RESAMPLES
) -> Ratio | None:
    """median(top) / median(bottom); interval by resampling each side with replacement, from `minimum` values each.

    None when a side has no value or the lower one's median is zero.
    """
    over, under = ([v for v in side if v is not None] for side in (top, bottom))
    value = divide(median(over), median(under))
    if value is None:
        return None
    if min(len(over), len(under)) < minimum or min(under) <= 0:
        return Ratio(value)
    random = np.random.default_rng(SEED)
    medians = [np.median(random.choice(np.array(side), (resamples, len(side))), axis=1) for side in (over, under)]
    return Ratio(value, *percentile_interval(medians[0] / medians[1]))
