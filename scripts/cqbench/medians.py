"""Medians, their quotients, and 95 % intervals by the percentile bootstrap. Pure functions of numbers.

The same figures always give the same interval, in whichever order they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median as plain_median

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ranks = tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]

RESAMPLES = 10_000
SEED = 20_240_501
LEVEL = 0.95


@dataclass(frozen=True)
class Ratio:
    """A quotient of two medians. low, high: its 95 % interval; None where there are too few repetitions for one."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


def median(values: Iterable[float | None]) -> float | None:
    """Of those that are there; None when none is."""
    there = [v for v in values if v is not None]
    return float(plain_median(there)) if there else None


def divide(a: float | None, b: float | None) -> float | None:
    """None where there is nothing to divide."""
    return a / b if a is not None and b else None


def ratio_of_medians(top: Sequence[float | None], bottom: Sequence[float | None], minimum: int) -> Ratio | None:
    """median(top) / median(bottom), with an interval from `minimum` values on each side.

    None when a side has no value or the lower one's median is zero.
    """
    over, under = ([v for v in side if v is not None] for side in (top, bottom))
    value = divide(median(over), median(under))
    if value is None:
        return None
    if min(len(over), len(under)) < minimum or min(under) <= 0:
        return Ratio(value)
    return Ratio(value, *interval(resampled_ratios(over, under)))


def resampled_ratios(top: Sequence[float], bottom: Sequence[float], stream: int = 0) -> Floats:
    """Quotients of the medians of resamples, each side for itself. Resamples of different streams are independent."""
    under, over = _ranks_of(stream, len(bottom), len(top))
    result: Floats = _between(top, over) / _between(bottom, under)
    return result


def resampled_medians(values: Sequence[float], random: np.random.Generator, resamples: int) -> Floats:
    """Of values drawn again, with replacement."""
    return _between(values, _middle_ranks(len(values), random, resamples))


def _between(values: Sequence[float], ranks: Ranks) -> Floats:
    ascending = np.sort(np.asarray(values, float))
    middle: Floats = (ascending[ranks[0]] + ascending[ranks[1]]) / 2
    return middle


@lru_cache(maxsize=256)
def _ranks_of(stream: int, bottom: int, top: int) -> tuple[Ranks, Ranks]:
    """Drawn once for all figures that have as many repetitions: drawing and sorting are most of the work."""
    random = np.random.default_rng([SEED, stream])
    return _middle_ranks(bottom, random, RESAMPLES), _middle_ranks(top, random, RESAMPLES)


def _middle_ranks(n: int, random: np.random.Generator, resamples: int) -> Ranks:
    """Of n sorted values, the two (or twice the one) that each resample has in its middle."""
    drawn = np.sort(random.integers(0, n, (resamples, n)), axis=1)
    return drawn[:, (n - 1) // 2].copy(), drawn[:, n // 2].copy()  # not views, which keep all of it


def interval(draws: Floats) -> tuple[float, float]:
    """The middle 95 %."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
