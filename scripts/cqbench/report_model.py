"""What a report says, as plain data: report_data.py makes it from results, report_plots.py draws it, report_page.py
writes the page. Nothing here reads a file or knows how a figure is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cqbench.offered import Load


@dataclass(frozen=True)
class Metric:
    """A figure of every point. key: in Point.values. unit: of the values there, as people write it; '' for a count."""

    key: str
    title: str
    unit: str


@dataclass(frozen=True)
class Value:
    """A median over the repetitions with its 95 % interval; low and high are None with too few repetitions for one."""

    middle: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Point:
    """One load of a series. values: by Metric.key; what could not be measured is not in it."""

    load: Load
    values: dict[str, Value]
    repetitions: int
    suspect: tuple[str, ...] = ()  # why not to believe it, or not to read it as it stands; each reason once
    limits: tuple[str, ...] = ()  # what it ran into, which is no doubt; each once
    partial: bool = False  # cut short: shown only where there is nothing whole


@dataclass(frozen=True)
class Distribution:
    """Latencies of one load, from due, all repetitions together. steps: (share of the calls from 0 to below 1, the
    latency in microseconds that this share stays at or below), ascending. calls: how many there were.
    """

    load: Load
    calls: int
    steps: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Slice:
    """A part of a window. at: its middle, in seconds. Latencies in microseconds, None where no call ended."""

    at: float
    per_second: float
    p99: float | None
    highest: float | None


@dataclass(frozen=True)
class Timeline:
    """How one repetition of a load went: that with the slowest slice, so that a stall is not missed."""

    load: Load
    repetition: int  # from 1
    slices: tuple[Slice, ...]

    @property
    def slowest(self) -> float:
        return max((s.highest or 0.0 for s in self.slices), default=0.0)


@dataclass(frozen=True)
class Fit:
    """The Universal Scalability Law fitted to a series' throughput. curve: (in-flight, per second), to be drawn."""

    curve: tuple[tuple[float, float], ...]
    words: str  # coefficients and peak, or why not to rely on it
    poor: bool


@dataclass(frozen=True)
class Series:
    """A curve in every plot: one variant of an experiment, or one setting in files without variants."""

    id: str  # unique, [a-z0-9-]+: for datasets, elements and file names
    title: str  # short, for the legend
    method: str  # unary, streaming, ...: their plots stand side by side
    api: str  # sync, cq, callback
    sharing: str  # shared, separate, pool:N, scaling:N
    setting: str  # what else distinguishes it, in words; '' when nothing does
    points: tuple[Point, ...]  # by load
    distributions: tuple[Distribution, ...] = ()
    timelines: tuple[Timeline, ...] = ()
    open: bool = False  # an open loop: its loads are rates
    fit: Fit | None = None
    ideal_rate: float | None = None  # per second and call in flight: the median throughput at 1; None without it
    client_command: str = ""  # exact, as it can be typed
    server_command: str = ""


@dataclass(frozen=True)
class Finding:
    """One block of the verdict. words: the answer; set: what to set; text: all of it, for a terminal."""

    title: str
    verdict: str  # a value of verdict_rules.Verdict
    words: str
    set: str
    text: str


@dataclass(frozen=True)
class Report:
    """One page."""

    title: str
    question: str
    made: str  # when the measurements began, RFC 3339
    partial: str  # what is missing, one sentence; '' when nothing is
    summary: str  # the verdict as it fits a terminal screen
    findings: tuple[Finding, ...]
    series: tuple[Series, ...]
    machine: tuple[tuple[str, str], ...]  # label, value: CPU, kernel, versions, pinning, ...
    notes: tuple[str, ...] = ()  # remarks about the whole run, such as other programs on its CPUs
    failures: tuple[str, ...] = ()  # "VARIANT, repetition 3: why"
    data: dict[str, Any] = field(default_factory=dict)  # for download: all of the above figures, and the verdict's JSON


METRICS = (
    Metric("throughput", "Throughput", "calls/s"),
    Metric("p50", "Latency P50", "µs"),
    Metric("p90", "Latency P90", "µs"),
    Metric("p99", "Latency P99", "µs"),
    Metric("p99_9", "Latency P99.9", "µs"),
    Metric("sent_p50", "Latency from sent P50", "µs"),
    Metric("sent_p90", "Latency from sent P90", "µs"),
    Metric("sent_p99", "Latency from sent P99", "µs"),
    Metric("sent_p99_9", "Latency from sent P99.9", "µs"),
    Metric("due", "Calls due", ""),
    Metric("dropped", "Calls dropped", ""),
    Metric("unsent", "Calls never sent", ""),
    Metric("lateness_p50", "Pacer lateness P50", "µs"),
    Metric("lateness_p99", "Pacer lateness P99", "µs"),
    Metric("lateness_max", "Pacer lateness, greatest", "µs"),
    Metric("slot_wait_mean", "Wait for a slot, mean", "µs"),
    Metric("slot_wait_p99", "Wait for a slot P99", "µs"),
    Metric("slot_wait_max", "Wait for a slot, greatest", "µs"),
    Metric("largest_burst", "Largest burst", "calls"),
    Metric("client_cpu", "Client CPU per RPC", "µs"),
    Metric("server_cpu", "Server CPU per RPC", "µs"),
    Metric("client_cores", "Cores used by the client", "cores"),
    Metric("server_cores", "Cores used by the server", "cores"),
    Metric("connections", "TCP connections", ""),
    Metric("client_rpcs_per_segment", "RPCs per TCP segment, client to server", ""),
    Metric("server_rpcs_per_segment", "RPCs per TCP segment, server to client", ""),
    Metric("client_busy", "Busy share of the middle connection, client to server", "%"),
    Metric("server_busy", "Busy share of the middle connection, server to client", "%"),
    Metric("rpcs_per_queue_min", "RPCs of the completion queue with the fewest", "% of an even share"),
    Metric("rpcs_per_queue_max", "RPCs of the completion queue with the most", "% of an even share"),
)
