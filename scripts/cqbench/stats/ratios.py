"""Ratios of two sides' repetitions: estimate, interval, test, and how many repetitions a question takes.

One method everywhere: Student's t on the natural logarithms, of pairs within a block if repetitions were interleaved
(paired), else of the two sides (Welch); from ten repetitions on Yuen's, which trims a tenth on either end, so that a
run in twenty at half speed costs no power. The interval excludes 1 exactly where the test says that the sides differ at
5 %. Noise that slows both runs of a pair down cancels. Why not ranks: of seven pairs a rank test has no p-value below
2/128, which no correction for more than three points survives. Coverage and error rates with the noise of a shared
machine are in tests/scripts/test_error_rates.py.

Where measuring goes on until the interval decides, the interval has to hold the truth at every look. Then it is that of
an anytime-valid t test: Student's t against a normal mixture of effects, which by Ville's inequality exceeds its bound
at any look with the stated probability only (Lindon, Ham, Tingley and Bojinov, "Anytime-Valid Linear Models and
Regression Adjusted Causal Inference in Randomized Experiments", 2022, theorem 3.1; Wang and Ramdas, "Anytime-valid
t-tests and confidence sequences for Gaussian means with unknown variance", 2024). It is 1.3 to 1.8 times as wide.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

MIN_REPETITIONS = 6  # on either side, for an interval, a test, or any claim
MIN_SESSIONS = 3  # the same, where what was repeated are whole sessions
LEVEL = 0.95
POWER = 0.8
MAX_REPETITIONS = 1000  # more is no advice
TRIM = 0.1  # of the repetitions on either end, where there are ten or more
NOTHING = 1e-12  # a logarithm's rounding
# Variance of the mixture's effects, in variances of one pair. With 3 to 30 instead, intervals of 8 to 30 pairs are as
# wide within 6 %.
MIXTURE = 10.0


@dataclass(frozen=True)
class Ratio:
    """top / bottom, as the (trimmed) geometric mean over the repetitions. low, high: its 95 % interval, or that of
    among(); p: of a two-sided test against 1. All three None with too few repetitions. spread: of one comparison's
    logarithm, the standard error times the root of n. freedom: degrees of, for the standard error.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    n: int = 0  # repetitions, or sessions, on the side that has fewer
    paired: bool = False
    spread: float = 0.0
    freedom: float = 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    def inverse(self) -> Ratio:
        """bottom / top."""
        low, high = (None if end is None else 1 / end for end in (self.high, self.low))
        return replace(self, value=1 / self.value, low=low, high=high)

    def among(self, comparisons: int, level: float = LEVEL, any_time: bool = False) -> Ratio:
        """With an interval that holds together with those of the other comparisons: in at least this share of
        experiments all of them hold the truth (Bonferroni: whatever they have to do with each other). any_time: at
        every look while measuring goes on.
        """
        if self.low is None or self.high is None or self.spread <= NOTHING:
            return self
        bound = critical(self.freedom, (1 - level) / max(1, comparisons), any_time)
        if math.isinf(bound):
            return replace(self, low=None, high=None)
        reach = bound * self.spread / math.sqrt(self.n)
        return replace(self, low=self.value * math.exp(-reach), high=self.value * math.exp(reach))

    def at_any_time(self) -> Ratio:
        """With interval and p-value that hold at every look while measuring goes on."""
        if self.p is None or self.spread <= NOTHING:
            return self
        squared = (math.log(self.value) * math.sqrt(self.n) / self.spread) ** 2 / self.freedom
        number = self.freedom + 1
        shrinkage = 1 + number * MIXTURE
        odds = number * math.log((1 + squared) / (1 + squared / shrinkage)) - math.log(shrinkage)
        return replace(self.among(1, any_time=True), p=math.exp(min(0.0, -odds / 2)))


def critical(freedom: float, rate: float, any_time: bool = False) -> float:
    """Returns the t that is exceeded with this probability where nothing differs: once, or any_time, at any of all
    looks. Infinite where no t is enough, with too few repetitions.
    """
    if not any_time:
        return float(special.stdtrit(freedom, 1 - rate / 2))
    number = freedom + 1
    shrinkage = 1 + number * MIXTURE
    enough = math.exp((math.log(shrinkage) - 2 * math.log(rate)) / number)
    return math.sqrt(freedom * (enough - 1) / (1 - enough / shrinkage)) if enough < shrinkage else math.inf


def paired(pairs: Iterable[tuple[float, float]]) -> Ratio | None:
    """(top, bottom) of neighbours; both above 0, other pairs are left out. None when none is left."""
    return paired_with_several((top, (bottom,)) for top, bottom in pairs)


def paired_with_several(rounds: Iterable[tuple[float, Sequence[float]]]) -> Ratio | None:
    """(top, bottoms) of neighbours, as many bottoms in each, which are the same measured again; as paired() otherwise.

    Each bottom has its own trimmed mean, and the estimate is the mean of those. Trimming the ratio to the mean of the
    bottoms would be wrong: where a run in twenty is at half speed, that ratio has no symmetric distribution, so that
    its trimmed mean is not 1 where all are the same: of 400 rounds that made a difference in 21 % of comparisons.
    """
    whole = [(top, bottoms) for top, bottoms in rounds if min(top, *bottoms) > 0]
    logs = np.asarray([[math.log(top / bottom) for bottom in bottoms] for top, bottoms in whole])
    n = len(logs)
    if not n:
        return None
    if n < MIN_REPETITIONS:
        return Ratio(math.exp(float(logs.mean())), n=n, paired=True)
    middle, error, freedom = _trimmed(logs)
    return _tested(middle, error, freedom, n, True, error * math.sqrt(n))


def unpaired(top: Sequence[float], bottom: Sequence[float], least: int = MIN_REPETITIONS) -> Ratio | None:
    """Returns the ratio of two sides that were not paired. None if a side is empty or has a value not above 0. least:
    values on either side for an interval.
    """
    if not top or not bottom or min(*top, *bottom) <= 0:
        return None
    over, under = np.log(np.asarray(top, float)), np.log(np.asarray(bottom, float))
    n = min(len(over), len(under))
    if n < least:
        return Ratio(math.exp(float(over.mean() - under.mean())), n=n)
    (above, e1, f1), (below, e2, f2) = _trimmed(over), _trimmed(under)
    error = math.hypot(e1, e2)
    freedom = error**4 / (e1**4 / f1 + e2**4 / f2) if error > 0 else min(f1, f2)
    return _tested(above - below, error, freedom, n, False, error * math.sqrt(n))


def between_sessions(ratio: Ratio, components: Iterable[tuple[float, float]], sessions: int) -> Ratio:
    """Adds what sessions differ by to a ratio of repetitions that has an interval. components: variances of the
    ratio's logarithm, each with its degrees of freedom; those of the sum are Satterthwaite's. sessions: on the side
    that has fewer; n and spread of what is returned are of sessions.
    """
    parts = [(ratio.spread**2 / ratio.n, ratio.freedom), *components]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / own for part, own in parts) if variance > 0 else ratio.freedom
    return _tested(math.log(ratio.value), math.sqrt(variance), freedom, sessions, False, math.sqrt(variance * sessions))


def middle(values: Sequence[float]) -> float:
    """Returns the mean that a ratio compares: the trimmed geometric mean; the arithmetic one if a value is not above
    0.
    """
    if min(values) <= 0:
        return float(np.mean(values))
    ordered = np.sort(np.log(np.asarray(values, float)))
    return math.exp(float(ordered[_without_ends(ordered)].mean()))


def _without_ends(ordered: npt.NDArray[np.float64]) -> slice:
    """Selects the values of a trimmed mean."""
    cut = int(TRIM * len(ordered))
    return slice(cut, len(ordered) - cut)


def _trimmed(logs: npt.NDArray[np.float64]) -> tuple[float, float, int]:
    """Yuen's trimmed mean, its standard error and degrees of freedom; below 1 / TRIM values the plain ones. Of a table
    with a line for each repetition: the mean of those of its columns."""
    table = logs.reshape(len(logs), -1)
    ordered = np.sort(table, axis=0)
    kept = ordered[_without_ends(ordered)]
    pulled = np.clip(table, kept[0], kept[-1]).mean(axis=1)  # winsorized
    squares = float(((pulled - pulled.mean()) ** 2).sum())
    return float(kept.mean()), math.sqrt(squares / (len(kept) * (len(kept) - 1))), len(kept) - 1


def _tested(middle: float, error: float, freedom: float, n: int, is_paired: bool, spread: float) -> Ratio:
    """Student's t of a logarithm with this standard error. The functions behind scipy.stats, which takes long to load
    and has much else to do for each of a verdict's hundreds of tests."""
    value = math.exp(middle)
    if spread <= NOTHING:
        return Ratio(value, value, value, float(abs(middle) <= NOTHING), n, is_paired, freedom=freedom)
    p = 2 * float(special.stdtr(freedom, -abs(middle) / error))
    reach = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    return Ratio(value, math.exp(middle - reach), math.exp(middle + reach), p, n, is_paired, spread, freedom)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction: the adjusted values, in the order given. None stays None and does not count."""
    there = [(p, i) for i, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for step, (p, i) in enumerate(sorted(there)):
        highest = max(highest, min(1.0, (len(there) - step) * p))
        adjusted[i] = highest
    return adjusted


def repetitions_needed(
    ratio: Ratio, limit: float = 1.0, comparisons: int = 1, any_time: bool = False, least: int = MIN_REPETITIONS
) -> int | None:
    """Returns the repetitions that distinguish this ratio from the limit in four of five cases, with the interval of
    among(). It uses an upper bound of the spread, which four of
    five series of this length do not exceed: few repetitions often contain no outlier. None: more than
    MAX_REPETITIONS, or an unknown spread. least: the minimum number. Of a ratio of sessions: sessions.
    """
    effect = abs(math.log(ratio.value / limit))
    if ratio.spread <= 0 or effect <= 0:
        return None
    seen = (ratio.n - 1) * (1 if ratio.paired else 2)
    spread = ratio.spread * (math.sqrt(seen / float(special.chdtri(seen, POWER))) if seen > 0 else 1.0)
    per_comparison = (1 - LEVEL) / max(1, comparisons)

    def enough(n: int) -> bool:
        freedom = n - 1 if ratio.paired else 2 * (n - 1)
        bound = critical(freedom, per_comparison, any_time)
        missed = float(special.nctdtr(freedom, effect / spread * math.sqrt(n), bound))
        return not missed > 1 - POWER  # SciPy has NaN for some effects of 37 to 40 standard errors: nothing misses them

    every = range(least, MAX_REPETITIONS + 1)
    first = bisect_left(every, True, key=enough)
    return every[first] if first < len(every) else None
