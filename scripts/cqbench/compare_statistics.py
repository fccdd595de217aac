"""Whether two sets of repetitions differ, and by how much. Pure functions of numbers; they know no files.

A test per point, corrected over the points of a metric (Holm), so that alpha is the chance of calling any of them
different when none is. Intervals are each for itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from cqbench.medians import RESAMPLES, SEED, Floats, Ratio, interval, resampled_ratios

# With fewer on a side the interval of normal noise covers 90 % (3) or 68 % (2) instead of 95 %; with 4 it covers 93 %.
MIN_FOR_INTERVAL = 4
MAX_EXACT = 120  # repetitions of both sides together; the exact distribution beyond takes long and changes nothing
METHODS = {
    "change": "median after / median before - 1",
    "interval": f"95 %, percentile bootstrap of the ratio of medians, {RESAMPLES} resamples, seed {SEED}; "
    f"none below {MIN_FOR_INTERVAL} repetitions",
    "test": f"two-sided Mann-Whitney U, exact up to {MAX_EXACT} repetitions of both sides together, ties included; "
    "normal approximation above",
    "correction": "Holm, over the points of a metric; each metric by itself",
    "geometric_mean": "of the points' ratios of medians; 95 %, the same bootstrap, points independent of each other; "
    "what changed the whole machine between the runs is in it",
}


@dataclass(frozen=True)
class Tested:
    """One point. direction: 1 values after are higher, -1 lower, 0 no difference seen, None: cannot tell."""

    p: float
    p_holm: float
    direction: int | None


def judge(pairs: Sequence[tuple[Sequence[float], Sequence[float]]], alpha: float) -> list[Tested]:
    """All points of one metric: (before, after), neither empty."""
    p_values = [p_value(before, after) for before, after in pairs]
    tested = []
    for (before, after), p, p_holm in zip(pairs, p_values, holm(p_values), strict=True):
        if not can_tell(len(before), len(after), len(pairs), alpha):
            direction = None
        else:
            direction = tendency(before, after) if p_holm <= alpha else 0
        tested.append(Tested(p, p_holm, direction))
    return tested


def p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """Two-sided Mann-Whitney U."""
    tied = len(set(before) | set(after)) < len(before) + len(after)
    small = len(before) + len(after) <= MAX_EXACT
    if small and tied:
        return _exact_with_ties(before, after)
    return float(stats.mannwhitneyu(before, after, method="exact" if small else "asymptotic").pvalue)


def _exact_with_ties(before: Sequence[float], after: Sequence[float]) -> float:
    """Counts all ways to share out the ranks. scipy's exact test takes no ties, which a histogram's latencies have."""
    # Tied values share the mean of their ranks; doubled, all are integers.
    ranks = np.rint(2 * stats.rankdata([*before, *after])).astype(int)
    n, size = len(before), int(ranks.sum())
    ways = np.zeros((n + 1, size + 1))  # ways[k][s]: choices of k values whose doubled ranks add up to s
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : size + 1 - rank]  # numpy reads all before it writes
    expected = n * (len(ranks) + 1)
    off = abs(np.arange(size + 1) - expected) >= abs(int(ranks[:n].sum()) - expected)
    return min(1.0, float(ways[n, off].sum() / ways[n].sum()))


def tendency(before: Sequence[float], after: Sequence[float]) -> int:
    """1 when a value after is more often the higher of two than the lower, -1 the other way round, 0 neither."""
    difference = np.sign(np.subtract.outer(np.asarray(after, float), np.asarray(before, float))).sum()
    return int(np.sign(difference))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the adjusted values, in the order given."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def can_tell(before: int, after: int, points: int, alpha: float) -> bool:
    """Whether the least p-value of that many repetitions stays at or below alpha when multiplied by the points."""
    return math.comb(before + after, before) >= 2 * points / alpha  # the count may not fit a float


def needed_repetitions(points: int, alpha: float) -> int:
    """The fewest repetitions on either side with which one of that many points can be called different."""
    n = 1
    while not can_tell(n, n, points, alpha):
        n += 1
    return n


def ratios(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[list[Ratio], Ratio | None]:
    """(before, after) of each point, all positive -> the points' ratios and their geometric mean; None of no points."""
    drawn = [
        resampled_ratios(after, before, i) if min(len(before), len(after)) >= MIN_FOR_INTERVAL else None
        for i, (before, after) in enumerate(pairs)
    ]
    values = [float(np.median(after) / np.median(before)) for before, after in pairs]
    each = [_ratio(value, draws) for value, draws in zip(values, drawn, strict=True)]
    if not pairs:
        return each, None
    there = [np.log(draws) for draws in drawn if draws is not None]
    both = np.exp(np.mean(there, axis=0)) if len(there) == len(pairs) else None
    return each, _ratio(float(np.exp(np.mean(np.log(values)))), both)


def _ratio(value: float, draws: Floats | None) -> Ratio:
    return Ratio(value) if draws is None else Ratio(value, *interval(draws))
