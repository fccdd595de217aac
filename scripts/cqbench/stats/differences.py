"""The difference of two means, for figures that may be 0; ratios are in ratios.py.

Welch's t: each side's own spread, and the degrees of freedom that the repetitions of both have. Fewer than
MIN_REPETITIONS on a side allow no claim: counts often take two values, and of two repetitions a side, both sides agree
on different ones in one comparison of eight. Of six they do in one of two thousand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from cqbench.stats.ratios import LEVEL, MIN_REPETITIONS


@dataclass(frozen=True)
class Difference:
    """after - before. error: its standard error. freedom: degrees of. enough: both sides have MIN_REPETITIONS."""

    value: float
    error: float
    freedom: float
    enough: bool

    def among(self, comparisons: int, level: float = LEVEL) -> tuple[float, float] | None:
        """Returns the interval that holds together with those of the other comparisons: in at least this share of
        experiments all of them hold the truth (Bonferroni). None with too few repetitions.
        """
        if not self.enough:
            return None
        rate = (1 - level) / max(1, comparisons)
        reach = float(special.stdtrit(self.freedom, 1 - rate / 2)) * self.error if self.error > 0 else 0.0
        return self.value - reach, self.value + reach


def difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Both not empty."""
    enough = min(len(before), len(after)) >= MIN_REPETITIONS
    value = float(np.mean(after) - np.mean(before))
    if not enough:
        return Difference(value, math.inf, 0.0, enough)
    one, other = (float(np.var(side, ddof=1)) / len(side) for side in (before, after))
    both = one + other
    parts = one**2 / (len(before) - 1) + other**2 / (len(after) - 1)
    return Difference(value, math.sqrt(both), both**2 / parts if parts > 0 else math.inf, enough)
