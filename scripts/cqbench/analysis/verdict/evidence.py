"""Finds the saturated resource of a series at one load level, and facts about its connection, by intervals.

An answer is True, False, or None where the interval does not say or the figures are absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cqbench.analysis.verdict import rules
from cqbench.analysis.verdict.rules import Rule
from cqbench.formats import reasons
from cqbench.formats.offered import Load, closed
from cqbench.model import thresholds
from cqbench.model.figures import ENDS
from cqbench.model.metric import THROUGHPUT
from cqbench.model.ratio import ratio_of
from cqbench.model.series import Repetition, Series, ratio
from cqbench.stats.medians import median
from cqbench.stats.ratios import Ratio

# With several client machines: of one of them, or of some; of all.
SOME_CLIENTS_CPU, ALL_CLIENTS_CPU = "some-clients-cpu", "all-clients-cpu"
LIMITS = (reasons.CLIENT_CPU, reasons.SERVER_CPU)
CPU_LIMITS = (*LIMITS, SOME_CLIENTS_CPU, ALL_CLIENTS_CPU)
ALONE = closed(1)
SERVER_THREADS, CLIENT_THREADS = "server-threads", "client-threads"
UNREAD, NETWORK = "requests-unread", "network"
PROXY, KEEPS_UP, STREAM_LIMIT = "proxy", "keeps-up", "stream-limit"
NO_FIGURES, NO_IDEAL, NO_REASON = "figures-absent", "ideal-not-known", "reason-not-known"
CPU_LIKELY = "cpu-likely-full"
WIRE_IDLE, CONTEXT_SWITCHES, BATCHING = "wire-idle", "context-switches", "batching"  # what a full connection looks like
ROOM_INCONCLUSIVE, LINEAR_INCONCLUSIVE, NO_SIGN = (
    "cpu-room-inconclusive",
    "linear-inconclusive",
    "no-sign-of-the-connection",
)
NOT_INTERLEAVED = "not-interleaved"
CONTEXT_SWITCHES_KEY = "client_voluntary_context_switches_per_rpc"


@dataclass(frozen=True)
class Evidence:
    """The figures of a baseline with one connection and of a configuration with several, at one load level."""

    full: tuple[bool | None, bool | None]  # client's, server's CPUs
    shares: tuple[float | None, float | None]  # medians of the CPUs' use; None without figures
    limit: str  # code of what limit() finds
    linear: Ratio | None  # throughput / (n x throughput at 1)
    wire_busy: bool | None
    more_context_switches: bool | None  # context switches per call than the configuration
    batching: bool | None  # more calls in a segment than the configuration
    more_cpu: bool  # the configuration takes more CPU time per call, at either end
    proxy: bool
    stream_limit: int | None  # of the server, per connection, where the baseline's calls wait for it
    interleaved: bool  # baseline and configuration were paired within a block

    @property
    def cpu_full(self) -> bool:
        return any(self.full)

    @property
    def cpu_likely_full(self) -> bool:
        return any(share is not None and share >= thresholds.CPU_SATURATED for share in self.shares)

    @property
    def keeps_up(self) -> bool | None:
        return rules.ratio_above(self.linear, thresholds.KEEPS_UP)


def gather(baseline: Series, configuration: Series, load: Load, rule: Rule) -> Evidence:
    """rule: for the intervals of ratios."""
    full = tuple(cpu_full(baseline, load, end) for end in ENDS)
    found = ratio(configuration, baseline, load, THROUGHPUT)
    shares = [median(_shares(baseline, load, end)) for end in ENDS]
    return Evidence(
        full=(full[0], full[1]),
        shares=(shares[0], shares[1]),
        limit=limit(baseline, load),
        linear=rule.evidence(linear(baseline, load)),
        wire_busy=rules.above(baseline.values(load, "client_connection_busy_share_median"), thresholds.WIRE_BUSY),
        more_context_switches=_more(baseline, configuration, load, CONTEXT_SWITCHES_KEY, rule),
        batching=_more(baseline, configuration, load, "client_rpcs_per_segment_sent", rule),
        more_cpu=any(_more(configuration, baseline, load, f"{end}_cpu_per_rpc_ns", rule) for end in ENDS),
        proxy=baseline.added_rtt_ns is not None,
        stream_limit=stream_limit(baseline, load),
        interleaved=bool(found and found.paired),
    )


def signs(seen: Evidence) -> tuple[str, ...]:
    """Returns the codes of signs that one connection is saturated."""
    there = {WIRE_IDLE: seen.wire_busy is False, CONTEXT_SWITCHES: seen.more_context_switches, BATCHING: seen.batching}
    return tuple(code for code, holds in there.items() if holds)


def causes(seen: Evidence, slower: bool) -> tuple[str, ...]:
    """Codes of why a configuration with more connections is slower: calls that share segments cost less CPU time, where
    both are seen in this comparison.
    """
    return (BATCHING,) if slower and seen.batching and seen.more_cpu else ()


def missing(seen: Evidence) -> tuple[str, ...]:
    """Codes of what is inconclusive though the configuration is faster; empty where the connection is the limit."""
    sure = {
        ROOM_INCONCLUSIVE: seen.full == (False, False),
        LINEAR_INCONCLUSIVE: seen.keeps_up is False,
        NOT_INTERLEAVED: seen.interleaved,
        NO_SIGN: bool(signs(seen)) and seen.wire_busy is not True,
    }
    return tuple(code for code, holds in sure.items() if not holds)


def limit(series: Series, load: Load) -> str:
    """Returns the saturated resource, else what takes most of a call's time, by its whole interval; '' if there is
    none.
    """
    for end, code in zip(ENDS, LIMITS, strict=True):
        if cpu_full(series, load, end):
            return client_code(series, load) if end == "client" else code
    spins = dict(zip(ENDS, series.spins, strict=True))
    for end, code in (("server", SERVER_THREADS), ("client", CLIENT_THREADS)):
        if not spins[end] and rules.above(
            series.values(load, f"{end}_workers_busy_share"), thresholds.WORKER_SATURATED
        ):
            return code
    if _unread(series, load):
        return UNREAD
    return NETWORK if rules.above(_network_shares(series, load), thresholds.NETWORK_SHARE) else ""


def cpu_full(series: Series, load: Load, end: str) -> bool | None:
    """By its share of what is allowed, or by the client's own word, which it has for other reasons too."""
    repetitions = series.points.get(load, [])
    said = [LIMITS[ENDS.index(end)] in (limit.code for limit in r.measured.saturated) for r in repetitions]
    full = rules.above(_shares(series, load, end), thresholds.CPU_SATURATED)
    if said and sum(said) > (1 - thresholds.MAX_UNRELIABLE_SHARE) * len(said):
        return True
    return None if full is False and any(said) else full


def client_code(series: Series, load: Load) -> str:
    """Returns the code for saturated client CPUs: on one machine, some machines or all machines."""
    full: dict[str, int] = {}
    found = [r.measured.ranks for r in series.points.get(load, []) if r.measured.ranks]
    for ranks in found:
        said = {one.host for one in ranks.per_rank if reasons.CLIENT_CPU in (limit.code for limit in one.saturated)}
        for host in ranks.hosts:
            full[host] = full.get(host, 0) + (host in said)
    if len(full) < 2:
        return reasons.CLIENT_CPU
    often = [n > (1 - thresholds.MAX_UNRELIABLE_SHARE) * len(found) for n in full.values()]
    return ALL_CLIENTS_CPU if all(often) or not any(full.values()) else SOME_CLIENTS_CPU


def _shares(series: Series, load: Load, end: str) -> list[float]:
    """Returns cores used / allowed for each repetition; empty if threads spin: they use their CPUs anyway."""
    if series.spins[ENDS.index(end)]:
        return []
    return _quotients(series.values(load, f"{end}_cores_used"), series.values(load, f"{end}_cpus_allowed"))


def _quotients(over: Sequence[float], under: Sequence[float]) -> list[float]:
    if len(over) != len(under) or not all(under):
        return []
    return [a / b for a, b in zip(over, under, strict=True)]


def linear(series: Series, load: Load) -> Ratio | None:
    """Throughput / (n x throughput at 1 in flight). None where 1 was not measured: then the ideal is not known."""
    n = load.number
    if load.open or n <= 1 or not series.count(ALONE) or not series.count(load):
        return None
    found = ratio_of(series.points[load], series.points[ALONE], THROUGHPUT.key)
    if found is None:
        return None
    low, high = (None if end is None else end / n for end in (found.low, found.high))
    return replace(found, value=found.value / n, low=low, high=high)


def _more(one: Series, other: Series, load: Load, key: str, rule: Rule) -> bool | None:
    """True if the one has more of the figure, by the whole interval."""
    found = rule.evidence(ratio(one, other, load, key))
    return None if found is None or found.low is None else found.low > 1


def _network_shares(series: Series, load: Load) -> list[float]:
    trips = [trip + (series.added_rtt_ns or 0.0) for trip in series.values(load, "client_rtt_min_ns_median")]
    return _quotients(trips, series.values(load, "latency_p50_ns"))


def _unread(series: Series, load: Load) -> bool:
    """Requests lie in the server's sockets, not acknowledged, while its threads sleep in other calls.

    A call that has the server to itself looks the same for as long as its handler takes: nothing waits there. It takes
    a connection for each call: with several on one, reading one takes in the others. Through a proxy it is the proxy
    that acknowledges.
    """
    if series.added_rtt_ns is not None or cpu_full(series, load, "server") is not False:
        return False
    if rules.ratio_above(linear(series, load), thresholds.KEEPS_UP) is not False:
        return False
    smoothed = series.values(load, "client_rtt_smoothed_ns_median")
    waits = (
        (series.values(load, "client_connection_busy_share_median"), thresholds.WIRE_BUSY),
        (_quotients(smoothed, series.values(load, "latency_p50_ns")), thresholds.SERVER_WAIT_SHARE),
        (_quotients(smoothed, series.values(load, "client_rtt_min_ns_median")), thresholds.SERVER_WAIT_RTT),
    )
    return all(rules.above(values, threshold) for values, threshold in waits)


def stream_limit(series: Series, load: Load) -> int | None:
    """Returns the servers' limit of concurrent streams per connection if calls wait for it: in every repetition, more
    calls are in flight than the limit allows on all connections. None otherwise, if a limit or the number of
    connections is not known, and in an open loop, whose load is a rate.
    """
    repetitions = series.points.get(load, [])
    if load.open or not repetitions:
        return None
    limits = [limit for r in repetitions if (limit := _exceeded_limit(r, load)) is not None]
    return min(limits) if len(limits) == len(repetitions) else None


def _exceeded_limit(repetition: Repetition, load: Load) -> int | None:
    limit, connections = repetition.stream_limit, repetition.measured.connections
    return limit if limit is not None and connections and load.number > limit * connections else None


def allowed(series: Series, end: str) -> float | None:
    """CPUs that it may use, at any load."""
    return median(series.middle(load, f"{end}_cpus_allowed") for load in series.loads)
