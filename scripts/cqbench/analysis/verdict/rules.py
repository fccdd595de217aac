"""The rules of the verdict: what is decided from a ratio. Thresholds are in model/thresholds.py.

A threshold on a number has the interval of that number: True or False where the whole interval is on one side, else
None. How often these rules are wrong is measured in tests/scripts/test_error_rates.py. Ratios are configuration /
baseline.
"""

from __future__ import annotations

from collections.abc import Sequence

from cqbench.analysis.verdict.model import Decision
from cqbench.model.thresholds import ALPHA, GAIN
from cqbench.stats.medians import describe
from cqbench.stats.ratios import MIN_REPETITIONS, Ratio


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


def sure(p: float | None) -> bool:
    """True if the ratio differs from 1, by any amount. p: corrected."""
    return p is not None and p <= ALPHA


def small(ratio: Ratio) -> bool:
    """A difference of GAIN either way is ruled out."""
    return ratio.low is not None and ratio.high is not None and ratio.low > 1 / GAIN and ratio.high < GAIN


def no_gain(ratio: Ratio) -> bool:
    """A gain of GAIN is ruled out."""
    return ratio.high is not None and ratio.high < GAIN


def decide(ratio: Ratio | None, p: float | None, why_faster: Decision, full: bool) -> Decision:
    """Decides for one load level. A gain: the ratio differs from 1 after correction, and its estimate is above GAIN;
    its interval may begin below GAIN. why_faster: the meaning of a gain. full: CPUs were saturated, whatever the
    connections.
    """
    if ratio is None or ratio.low is None:
        return Decision.INCONCLUSIVE
    if sure(p) and ratio.value > GAIN:
        return why_faster
    if small(ratio):
        return Decision.EQUIVALENT
    if sure(p) and ratio.value < 1:
        return Decision.SLOWER
    if no_gain(ratio):
        return Decision.NOT_FASTER
    return Decision.SATURATED if full else Decision.INCONCLUSIVE


def contradictory(at_one: Ratio | None, p: float | None) -> bool:
    """The same set-up, measured in both series, differs by more than GAIN either way: something else has changed."""
    return at_one is not None and sure(p) and not 1 / GAIN <= at_one.value <= GAIN
