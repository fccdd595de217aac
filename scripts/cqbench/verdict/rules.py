"""The rules of the verdict: every threshold with its reason, and what is decided from a ratio. Nothing else decides.

A threshold on a number has the interval of that number: True or False where the whole interval is on one side, else
None. How often these rules are wrong is measured in tests/scripts/test_error_rates.py. Ratios are variant / baseline.
"""

from __future__ import annotations

from collections.abc import Sequence

from cqbench.files import reasons
from cqbench.files.reasons import Reason
from cqbench.stats.medians import describe
from cqbench.stats.ratios import MIN_REPETITIONS, Ratio
from cqbench.verdict.model import Decision

# 10 %: the self-check calls a drift of 5 % inside a window suspect, and one set-up measured twice in a session (1 in
# flight, where both sides are one connection) was seen to differ by 6 %. Less than both together is not worth a change.
GAIN = 1.10
# Of Holm's p-value, over all loads and cases of a verdict: the chance that it calls anything different when nothing is.
ALPHA = 0.05
# The same for what a variant costs (P99, CPU per call): several figures for each load, so that both together stay near.
COST_ALPHA = 0.01
# Of the CPUs allowed; the self-check's threshold. The kernel's accounting and short sleeps eat the rest.
CPU_SATURATED = 0.95
# Of a thread's time, for the threads that serve a completion queue: as for CPUs, which they are limited by.
WORKER_SATURATED = 0.95
# Of latency P50: when the wire is that much, the best of clients and servers could win 1 / 0.7 = 1.4 times at most.
NETWORK_SHARE = 0.70
# Of the window in which the connection had a request that the server had not taken. With threads that sleep in their
# calls 96 to 99 % were seen, 90 % beside other programs; where CPUs or the connection are the limit at most 53 %.
WIRE_BUSY = 0.80
# Smoothed round trip / latency P50: for most of its time a call's request is not taken. Seen: 98 to 113 % with threads
# that sleep; at most 77 % otherwise where throughput is far from the ideal, so this is not enough alone.
SERVER_WAIT_SHARE = 0.80
# Smoothed / shortest round trip: above it the other end takes the time, not the way there. A link that only has to be
# crossed is near 1, one with a full buffer may reach a few; 300 and more were seen with threads that sleep.
SERVER_WAIT_RTT = 10.0
# Throughput / (n x throughput at 1 in flight), at or above which a shared connection is not what its calls wait for,
# however much faster separate ones are: those then save what a call costs alone, such as waking CPUs that had gone to
# sleep. 10 % as for GAIN, for the same reason.
KEEPS_UP = 0.90
# Fewer CPUs than that on either side saturate before one connection does: one CPU was seen to carry 0.8 to 1.5 times
# what a shared connection does, and the post's sixfold took 32 CPUs on each side.
FEW_CPUS = 4
# The source post's ratio, for what it would take to see it.
POST_RATIO = 6.0
# A median stands while fewer than half of its values are bad; a third leaves room for the interval.
MAX_SUSPECT_SHARE = 1 / 3
# Two settings closer than that are alike, and the one with fewer connections stays.
ALIKE = 1.05
# Of an open loop's rate: below it calls wait ever longer, and latency is that of the length of the window.
REACHED = 0.98

# Doubts about all points that forbid any conclusion, and what is open because of them. Two on one CPU look half idle
# when it is full; runs whose surroundings are not known may only look alike.
DISQUALIFYING = {
    reasons.SHARED_CPUS: "client and server share CPUs",
    reasons.UNKNOWN_SURROUNDINGS: "environment and network are not known",
}


def above(values: Sequence[float], threshold: float) -> bool | None:
    """Whether their median is at or above it; None where its interval holds both, or there is none."""
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
    """Whether the ratio differs from 1, not by how much. p: corrected."""
    return p is not None and p <= ALPHA


def small(ratio: Ratio) -> bool:
    """A difference of GAIN either way is ruled out."""
    return ratio.low is not None and ratio.high is not None and ratio.low > 1 / GAIN and ratio.high < GAIN


def no_gain(ratio: Ratio) -> bool:
    """A gain of GAIN is ruled out."""
    return ratio.high is not None and ratio.high < GAIN


def decide(ratio: Ratio | None, p: float | None, why_faster: Decision, full: bool) -> Decision:
    """Of one load. A gain: the ratio differs from 1 after correction, and its estimate is above GAIN; its interval may
    begin below GAIN. why_faster: what a gain would be. full: CPUs were, whatever the connections.
    """
    if ratio is None or ratio.low is None:
        return Decision.OPEN
    if sure(p) and ratio.value > GAIN:
        return why_faster
    if small(ratio):
        return Decision.SMALL
    if sure(p) and ratio.value < 1:
        return Decision.SLOWER
    if no_gain(ratio):
        return Decision.NOT_FASTER
    return Decision.FULL if full else Decision.OPEN


def contradictory(at_one: Ratio | None, p: float | None) -> bool:
    """The same set-up, measured in both series, differs by more than GAIN either way: something else has changed."""
    return at_one is not None and sure(p) and not 1 / GAIN <= at_one.value <= GAIN


def disqualifies(doubt: Reason) -> bool:
    """Whether a doubt about all points forbids any conclusion."""
    return doubt.code in DISQUALIFYING


def mostly_suspect(suspect: int, repetitions: int) -> bool:
    return suspect > MAX_SUSPECT_SHARE * repetitions
