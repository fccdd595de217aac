"""The rules of the verdict: what is decided from a ratio. Thresholds are in model/thresholds.py.

The interval that is shown decides. It holds together with those of all other comparisons of the experiment. A threshold
on a number has the interval of that number: True or False where the whole interval is on one side, else None. How often
these rules are wrong is measured in tests/scripts/test_error_rates.py. Ratios are configuration / baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cqbench.analysis.verdict.model import Decision
from cqbench.model.thresholds import EVIDENCE_ALPHA, GAIN
from cqbench.stats.medians import describe
from cqbench.stats.ratios import LEVEL, MIN_REPETITIONS, Ratio


@dataclass(frozen=True)
class Rule:
    """The rule that an experiment declares beforehand. margin: a ratio from 1 / margin to margin does not count.
    comparisons: the number of those that are decided. any_time: measuring went on until intervals decided.
    """

    margin: float = GAIN
    comparisons: int = 1
    any_time: bool = False

    def shown(self, ratio: Ratio | None, level: float = LEVEL) -> Ratio | None:
        """With the interval that decides."""
        return ratio and ratio.among(self.comparisons, level, self.any_time)

    def evidence(self, ratio: Ratio | None) -> Ratio | None:
        """With the interval of a figure that names a cause."""
        return self.shown(ratio, 1 - EVIDENCE_ALPHA)

    def decide(self, ratio: Ratio | None, why_faster: Decision) -> Decision:
        """Decides by the interval that is shown. why_faster: the meaning of a gain."""
        if ratio is None or ratio.low is None or ratio.high is None:
            return Decision.INCONCLUSIVE
        if ratio.low >= 1 / self.margin and ratio.high <= self.margin:
            return Decision.EQUIVALENT
        if ratio.low > 1:
            return why_faster
        return Decision.SLOWER if ratio.high < 1 else Decision.INCONCLUSIVE

    def no_gain(self, ratio: Ratio | None) -> bool:
        """A gain above the margin is ruled out."""
        return ratio is not None and ratio.high is not None and ratio.high <= self.margin


def above(values: Sequence[float], threshold: float) -> bool | None:
    """True if their median is at or above the threshold; None if its interval contains the threshold, or is unknown."""
    if len(values) < MIN_REPETITIONS:
        return None
    middle = describe(values)
    if middle.low is None or middle.high is None:
        return None
    if middle.low >= threshold:
        return True
    return False if middle.high < threshold else None


def ratio_above(ratio: Ratio | None, threshold: float) -> bool | None:
    """The same for a ratio."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return None
    if ratio.low >= threshold:
        return True
    return False if ratio.high < threshold else None
