"""The rules of the verdict: every threshold with its reason, and the predicates that use it. Nothing else decides.

A predicate answers True, False, or None when a figure that it needs is absent. Times in nanoseconds, shares and ratios
as fractions of 1. Ratios are separate / shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cqbench import reasons
from cqbench.medians import Ratio
from cqbench.reasons import Reason

# 10 %: the self-check calls a drift of 5 % inside a window suspect, and one set-up measured twice in a session (1 in
# flight, where both sides are one connection) was seen to differ by 6 %. Less than both together is not worth a change.
GAIN = 1.10
# 5 %: what the self-check tolerates as drift. A loss costs nothing to avoid, so it needs less than a gain.
LOSS = 0.95
# Of the CPUs allowed; the self-check's threshold. The kernel's accounting and short sleeps eat the rest.
CPU_SATURATED = 0.95
# Of a thread's time, for the threads that serve a completion queue: as for CPUs, which they are limited by.
WORKER_SATURATED = 0.95
# Of latency P50: when the wire is that much, the best of clients and servers could win 1 / 0.7 = 1.4 times at most.
NETWORK_SHARE = 0.70
# Of the window in which the connection had a request that the server had not taken. With threads that sleep in their
# calls 96 to 99 % were seen, 90 % beside other programs; where CPUs or the connection are the limit at most 53 %.
SERVER_WAIT_BUSY = 0.80
# Smoothed round trip / latency P50: for most of its time a call's request is not taken. Seen: 98 to 113 % with threads
# that sleep; at most 77 % otherwise where throughput is far from the ideal, so this is not enough alone.
SERVER_WAIT_SHARE = 0.80
# Smoothed / shortest round trip: above it the other end takes the time, not the way there. A link that only has to be
# crossed is near 1, one with a full buffer may reach a few; 300 and more were seen with threads that sleep.
SERVER_WAIT_RTT = 10.0
# Throughput / (n x throughput at 1 in flight): by Little's law a call then takes at most 1.4 times as long as alone.
IDLE_IDEAL = 0.70
# The same, at or above which a shared connection is not what its calls wait for, however much faster separate ones are:
# those then save what a call costs alone, such as waking CPUs that had gone to sleep. 10 % as for GAIN, for the same
# reason.
KEEPS_UP = 0.90
# Fewer CPUs than that on either side saturate before one connection does: one CPU was seen to carry 0.8 to 1.5 times
# what a shared connection does, and the post's sixfold took 32 CPUs on each side.
FEW_CPUS = 4
# The source post's ratio, for what it would take to see it.
POST_RATIO = 6.0
# Below 3 values on a side, resampling them makes an interval of chance; of 3 it holds 90 % of the time, not 95.
MIN_FOR_INTERVAL = 3
# The range of 5 values misses the median in 6 % of cases, that of 6 in 3 %: 95 % cannot be promised below 6.
MIN_REPETITIONS = 6
# A median stands while fewer than half of its values are bad; a third leaves room for the resampling.
MAX_SUSPECT_SHARE = 1 / 3
# One connection carries several calls per segment where separate ones cannot: half as many again is more than chance.
BATCHING = 1.5
# Two choices closer than that are alike, and the one with fewer connections or the default stays.
ALIKE = 1.05

# Doubts about all points that forbid any conclusion, and what is open because of them. Two on one CPU look half idle
# when it is full; runs whose surroundings are not known may only look alike.
DISQUALIFYING = {
    reasons.SHARED_CPUS: "client and server share CPUs",
    reasons.UNKNOWN_SURROUNDINGS: "environment and network are not known",
}
# The fitted law describes a series with at least five counts (it has three coefficients) and this much of its variance.
USL_MIN_COUNTS = 5
USL_MIN_R2 = 0.90
# It has no place for throughput above n times that at 1; a tenth may be chance, as above.
USL_SUPERLINEAR = 1.10


class Regime(str, Enum):
    """What held one side back at one in-flight count."""

    CONNECTION = "connection"
    CLIENT_CPU = "client-cpu"
    SERVER_CPU = "server-cpu"
    NETWORK = "network"
    SERVER_QUEUE = "server-queue"
    CLIENT_QUEUE = "client-queue"
    IDLE = "latency"
    UNKNOWN = "unknown"

    @property
    def cpu(self) -> bool:
        return self in (Regime.CLIENT_CPU, Regime.SERVER_CPU)


class Status(str, Enum):
    """What separate connections do at one in-flight count."""

    PRESENT = "present"  # faster, and the shared connection was the limit
    FASTER = "faster"  # faster, but something else was full, or it is not known what was
    EQUAL = "equal"  # a gain of GAIN or more is ruled out
    SLOWER = "slower"
    OPEN = "open"  # the figures do not say
    SAME = "same"  # 1 in flight: both sides are one call on one connection


class Verdict(str, Enum):
    """The answer about the shared connection, per workload, method and API; the order is that of importance."""

    PRESENT = "bottleneck-present"
    FASTER = "faster-for-another-reason"
    CPU_LIMITED = "cpu-limited"
    ABSENT = "bottleneck-absent"
    NOT_ENOUGH = "not-enough-evidence"


@dataclass(frozen=True)
class Evidence:
    """Medians over the repetitions of one side at one in-flight count. None: absent."""

    inflight: int
    client_cpu_share: float | None = None  # cores used / CPUs allowed; None also when its threads spin
    server_cpu_share: float | None = None
    client_cpus: float | None = None  # allowed
    server_cpus: float | None = None
    client_workers: float | None = None  # CPU time / time of the average worker; None also when they spin
    server_workers: float | None = None
    server_busiest: float | None = None
    connection_busy: float | None = None  # share of time with a request that is not acknowledged, middle connection
    rtt_min_ns: float | None = None  # shortest round trip, middle connection
    rtt_smoothed_ns: float | None = None  # the same, smoothed; with the other end's delay of acknowledgements
    added_rtt_ns: float | None = None  # by a proxy; None without one. Both of the above then end there and lack it
    p50_ns: float | None = None
    ideal: float | None = None  # throughput / (n x throughput at 1 in flight)


def at_least(value: float | None, threshold: float) -> bool | None:
    return None if value is None else value >= threshold


def faster(ratio: Ratio | None) -> bool | None:
    """Separate connections gain: by more than the threshold, and the interval is above 1."""
    if ratio is None or ratio.low is None:
        return None
    return ratio.value > GAIN and ratio.low > 1


def slower(ratio: Ratio | None) -> bool | None:
    """Separate connections lose: by more than the threshold, and the interval is below 1."""
    if ratio is None or ratio.high is None:
        return None
    return ratio.value < LOSS and ratio.high < 1


def no_gain(ratio: Ratio | None) -> bool | None:
    """The interval rules out a gain that would count."""
    return None if ratio is None or ratio.high is None else ratio.high <= GAIN


def network_bound(seen: Evidence) -> bool | None:
    if seen.rtt_min_ns is None or not seen.p50_ns:
        return None
    return (seen.rtt_min_ns + (seen.added_rtt_ns or 0.0)) / seen.p50_ns >= NETWORK_SHARE


def server_leaves_requests(seen: Evidence) -> bool | None:
    """Requests lie in the server's sockets, not acknowledged, while its threads sleep in other calls.

    A call that has the server to itself looks the same for as long as its handler takes: nothing waits there, and few
    in flight are idle(). It takes a connection for each call: with several on one, reading one takes in the others.
    Through a proxy the figures are absent: it is the proxy that acknowledges.
    """
    if seen.added_rtt_ns is not None:
        return None
    if seen.connection_busy is None or seen.rtt_smoothed_ns is None or seen.rtt_min_ns is None or not seen.p50_ns:
        return None
    near_ideal = idle(seen)
    if near_ideal is None:
        return None
    return (
        not near_ideal
        and seen.connection_busy >= SERVER_WAIT_BUSY
        and seen.rtt_smoothed_ns / seen.p50_ns >= SERVER_WAIT_SHARE
        and seen.rtt_smoothed_ns >= SERVER_WAIT_RTT * seen.rtt_min_ns
    )


def idle(seen: Evidence) -> bool | None:
    """Few in flight: each call takes about as long as it does alone."""
    return True if seen.inflight == 1 else at_least(seen.ideal, IDLE_IDEAL)


def keeps_up(seen: Evidence) -> bool | None:
    """n calls are served at n times the rate of one."""
    return at_least(seen.ideal, KEEPS_UP)


def regime(seen: Evidence, gains: bool) -> tuple[Regime, str]:
    """The regime and the name of the rule. gains: this side is shared and separate connections are faster().

    The first rule that holds wins. What is full comes before what can be concluded from the absence of anything full.
    """
    client, server = at_least(seen.client_cpu_share, CPU_SATURATED), at_least(seen.server_cpu_share, CPU_SATURATED)
    if client and (not server or (seen.client_cpu_share or 0) >= (seen.server_cpu_share or 0)):
        return Regime.CLIENT_CPU, "client-cpu-saturated"
    if server:
        return Regime.SERVER_CPU, "server-cpu-saturated"
    if at_least(seen.server_workers, WORKER_SATURATED):
        return Regime.SERVER_QUEUE, "server-workers-saturated"
    spare = client is False and server is False
    if gains and spare and seen.added_rtt_ns is None and not keeps_up(seen):
        return Regime.CONNECTION, "faster-and-cpus-not-saturated"
    if at_least(seen.server_busiest, WORKER_SATURATED):
        # After the connection: the one worker that reads a single connection is as full as that connection.
        return Regime.SERVER_QUEUE, "server-busiest-worker-saturated"
    if at_least(seen.client_workers, WORKER_SATURATED):
        return Regime.CLIENT_QUEUE, "client-workers-saturated"
    if server is False and server_leaves_requests(seen):
        # After the CPUs: a server without CPU leaves requests lying too.
        return Regime.SERVER_QUEUE, "server-leaves-requests-unread"
    if network_bound(seen):
        return Regime.NETWORK, "round-trip-is-most-of-latency"
    if gains and spare and seen.added_rtt_ns is not None:
        # Through a proxy, which takes the data of each connection one piece after the other: it may be what is full.
        return Regime.UNKNOWN, "faster-through-a-proxy"
    if client is None or server is None:
        return Regime.UNKNOWN, "figures-absent"
    if idle(seen):
        return Regime.IDLE, "nothing-saturated-and-near-ideal"
    return Regime.UNKNOWN, "nothing-saturated"


def status(inflight: int, ratio: Ratio | None, shared: Regime, doubtful: bool) -> Status:
    """doubtful: a repetition count, a reason for doubt or a connection count forbids to conclude from the ratio."""
    if inflight == 1:
        return Status.SAME
    if doubtful or ratio is None or ratio.low is None:
        return Status.OPEN
    if faster(ratio):
        return Status.PRESENT if shared is Regime.CONNECTION else Status.FASTER
    if slower(ratio):
        return Status.SLOWER
    return Status.EQUAL if no_gain(ratio) else Status.OPEN


def contradictory(at_one: Ratio | None) -> bool:
    """The same set-up, measured in both series, differs by more than GAIN either way: something else has changed."""
    if at_one is None or at_one.low is None or at_one.high is None:
        return False
    return (at_one.value > GAIN and at_one.low > 1) or (at_one.value < 1 / GAIN and at_one.high < 1)


def few_cores(client: float | None, server: float | None) -> bool:
    return any(n is not None and n < FEW_CPUS for n in (client, server))


def disqualifies(doubt: Reason) -> bool:
    """Whether a doubt about all points forbids any conclusion."""
    return doubt.code in DISQUALIFYING


def mostly_suspect(suspect: int, repetitions: int) -> bool:
    return suspect > MAX_SUSPECT_SHARE * repetitions


def batches(shared_per_segment: float | None, separate_per_segment: float | None) -> bool:
    """One connection carries more calls per segment than separate ones."""
    if not shared_per_segment or not separate_per_segment:
        return False
    return shared_per_segment >= BATCHING * separate_per_segment
