"""Series -> the figures that the rules of the verdict look at, and what a gain of separate connections is made of."""

from __future__ import annotations

from dataclasses import dataclass

from cqbench.medians import Ratio, divide, median, ratio_of_medians
from cqbench.verdict_data import Pair, Series
from cqbench.verdict_rules import MIN_FOR_INTERVAL, Evidence

ENDS = ("client", "server")


@dataclass(frozen=True)
class Factors:
    """The throughput ratio of separate / shared connections as a product of two, for one end.

    An identity, not a model: throughput = cores in use / CPU time per RPC. It says which of the two changed, not why;
    that CPU was waiting for the connection before is the reading when CPUs had room. The product differs from the
    ratio of the medians by as much as medians of quotients differ from quotients of medians.
    """

    at_work: Ratio  # cores in use, separate / shared: above 1, CPU that had nothing to do now works
    cheaper: Ratio  # CPU time per RPC, shared / separate: above 1 fewer hand-offs, below 1 fewer RPCs per segment

    @property
    def product(self) -> float:
        return self.at_work.value * self.cheaper.value


def factors(pair: Pair, n: int, end: str, cost: Ratio | None) -> Factors | None:
    """cost: of CPU time per RPC, separate / shared. end: client or server.

    None where figures are absent, and where the end spins: its CPUs then always work.
    """
    i = ENDS.index(end)
    if any(s.spins[i] for s in (pair.shared, pair.separate) if s):
        return None
    at_work = ratio(pair, n, f"{end}_cores_used")
    if at_work is None or cost is None or not at_work.value or not cost.value:
        return None
    return Factors(at_work, _inverse(cost))


def _inverse(r: Ratio) -> Ratio:
    return Ratio(1 / r.value, divide(1, r.high), divide(1, r.low))


def ratio(pair: Pair, n: int, name: str) -> Ratio | None:
    """Separate / shared, of a figure at an in-flight count. None where a side has none."""
    if pair.shared is None or pair.separate is None:
        return None
    return ratio_of_medians(pair.separate.values(n, name), pair.shared.values(n, name), MIN_FOR_INTERVAL)


def evidence(series: Series, n: int) -> Evidence:
    """Medians over the repetitions at an in-flight count."""
    client_spins, server_spins = series.spins

    def figure(name: str) -> float | None:
        return series.middle(n, name)

    return Evidence(
        inflight=n,
        client_cpu_share=None if client_spins else _cpu_share(series, n, "client"),
        server_cpu_share=None if server_spins else _cpu_share(series, n, "server"),
        client_cpus=figure("client_cpus_allowed"),
        server_cpus=figure("server_cpus_allowed"),
        client_workers=None if client_spins else figure("client_workers_busy_share"),
        server_workers=None if server_spins else figure("server_workers_busy_share"),
        server_busiest=None if server_spins else figure("server_busiest_worker_share"),
        connection_busy=figure("client_connection_busy_share_median"),
        rtt_min_ns=figure("client_rtt_min_ns_median"),
        rtt_smoothed_ns=figure("client_rtt_smoothed_ns_median"),
        added_rtt_ns=series.added_rtt_ns,
        p50_ns=figure("p50_ns"),
        ideal=_ideal(series, n),
    )


def _cpu_share(series: Series, n: int, end: str) -> float | None:
    used, allowed = (series.values(n, f"{end}_{what}") for what in ("cores_used", "cpus_allowed"))
    return median(divide(u, a) for u, a in zip(used, allowed, strict=True))


def _ideal(series: Series, n: int) -> float | None:
    """Throughput / (n x throughput at 1 in flight)."""
    one = series.middle(1, "throughput")
    return divide(series.middle(n, "throughput"), n * one if one else None)
