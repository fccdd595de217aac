"""What a report says, as plain data: report_data.py makes it from results, report_plots.py draws it, report_page.py
writes the page. Nothing here reads a file or knows how a figure is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
    """One in-flight count of a series. values: by Metric.key; what could not be measured is not in it."""

    inflight: int
    values: dict[str, Value]
    repetitions: int
    suspect: tuple[str, ...] = ()  # why not to believe it, or not to read it as it stands; each reason once
    partial: bool = False  # cut short: shown only where there is nothing whole


@dataclass(frozen=True)
class Distribution:
    """Latencies of one in-flight count, all repetitions together. steps: (share of the calls from 0 to below 1, the
    latency in microseconds that this share stays at or below), ascending. calls: how many there were.
    """

    inflight: int
    calls: int
    steps: tuple[tuple[float, float], ...]


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
    mode: str  # unary, streaming: the plots of the two stand side by side
    api: str  # sync, cq, callback
    sharing: str  # shared, separate, pool:N, scaling:N
    setting: str  # what else distinguishes it, in words; '' when nothing does
    points: tuple[Point, ...]  # by in-flight count
    distributions: tuple[Distribution, ...] = ()
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
