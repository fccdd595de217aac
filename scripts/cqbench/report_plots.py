"""What is drawn: the plots of a report, each with frames (one measure, unary beside streaming on the same scales), and
the rows behind them. report_specs.py says how a frame is drawn, report_page.py and report_figures.py draw it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cqbench.report_model import METRICS, Point, Report, Series

# s: number of the series; n: in flight; v, lo, hi: the figure; m: SUSPECT + PARTIAL; p: number of the point; k: curve.
Row = dict[str, Any]
MODES = ("unary", "streaming")
BY_KEY = {m.key: m for m in METRICS}
MAX_STEPS = 72  # of a distribution: one for each 6 pixels or so
SUSPECT, PARTIAL = 1, 2


@dataclass(frozen=True)
class Kind:
    """One frame of a plot. label: what distinguishes it there. log: the y axis is. needs: what measuring takes."""

    key: str
    label: str
    metrics: tuple[str, ...]
    unit: str
    needs: str = ""
    log: bool = False


@dataclass(frozen=True)
class Panel:
    """One mode of a frame. tables: the rows by dataset ('points', and more for throughput); of a distribution, the
    points of each in-flight count. missing: why there are no rows; '' when there are.
    """

    id: str
    mode: str
    tables: dict[str, list[Row]]
    choices: dict[int, list[Row]] = field(default_factory=dict)
    missing: str = ""


@dataclass(frozen=True)
class Frame:
    """shape: which of report_specs' drawings: inflight, tradeoff, distribution."""

    kind: Kind
    shape: str
    panels: tuple[Panel, ...]

    @property
    def id(self) -> str:
        return self.kind.key


@dataclass(frozen=True)
class Plot:
    """caption: how to read it, one line."""

    key: str
    title: str
    caption: str
    shape: str
    kinds: tuple[Kind, ...]


BAND = "Bands are 95 % intervals of the median."
SERVICE = "It needs the control service of grpc_ping_server."
MANY_CALLS = "A percentile needs ten calls above it: P99.9 takes 10,000 calls."
PLOTS = (
    Plot(
        "throughput",
        "Throughput against calls in flight",
        "Higher is better. Dashed grey: the linear ideal, n times the rate at 1 in flight, cut off at the top. Dotted: "
        f"the Universal Scalability Law fitted. {BAND}",
        "inflight",
        (Kind("throughput", "", ("throughput",), "calls/s"),),
    ),
    Plot(
        "latency",
        "Latency against calls in flight",
        "Lower is better. Where throughput no longer grows, latency does, in proportion to the calls in flight. "
        + BAND,
        "inflight",
        (
            Kind("p50", "P50", ("p50",), "µs", MANY_CALLS, True),
            Kind("p90", "P90", ("p90",), "µs", MANY_CALLS, True),
            Kind("p99", "P99", ("p99",), "µs", MANY_CALLS, True),
            Kind("p99-9", "P99.9", ("p99_9",), "µs", MANY_CALLS, True),
        ),
    ),
    Plot(
        "tradeoff",
        "Latency against throughput",
        "Right and down is better. Each curve runs from few calls in flight to many; where it turns up, more calls in "
        "flight only wait.",
        "tradeoff",
        (
            Kind("tradeoff-p50", "P50", ("throughput", "p50"), "µs", MANY_CALLS, True),
            Kind("tradeoff-p99", "P99", ("throughput", "p99"), "µs", MANY_CALLS, True),
        ),
    ),
    Plot(
        "distribution",
        "Latency distribution",
        "Lower is better. From mark to mark (90, 99, 99.9 %) a tenth of the calls is left, so the tail has as much "
        "room as the middle. All repetitions together.",
        "distribution",
        (Kind("distribution", "", (), "µs", "It needs the histograms of the result files.", True),),
    ),
    Plot(
        "cpu",
        "CPU time per RPC",
        f"Lower is better: the whole process, user and kernel time, for each call. {BAND}",
        "inflight",
        (
            Kind("client-cpu", "Client", ("client_cpu",), "µs"),
            Kind("server-cpu", "Server", ("server_cpu",), "µs", SERVICE),
        ),
    ),
    Plot(
        "cores",
        "CPU cores used",
        f"A curve that flattens at the number of cores allowed means that this end has no CPU left. {BAND}",
        "inflight",
        (
            Kind("client-cores", "Client", ("client_cores",), "cores"),
            Kind("server-cores", "Server", ("server_cores",), "cores", SERVICE),
        ),
    ),
    Plot(
        "connections",
        "TCP connections",
        "Counted among the client's own descriptors: what the channels really shared.",
        "inflight",
        (Kind("connections", "", ("connections",), "connections"),),
    ),
    Plot(
        "batching",
        "RPCs per TCP segment",
        f"1 means a segment and its system calls for each RPC; more is batching, which saves CPU. {BAND}",
        "inflight",
        (
            Kind("client-batching", "Client to server", ("client_rpcs_per_segment",), "RPCs per segment"),
            Kind("server-batching", "Server to client", ("server_rpcs_per_segment",), "RPCs per segment", SERVICE),
        ),
    ),
    Plot(
        "busy",
        "Busy share of the connection",
        f"Share of the time with data under way that the other end has not acknowledged; the middle connection. {BAND}",
        "inflight",
        (
            Kind("client-busy", "Client to server", ("client_busy",), "% of the time"),
            Kind("server-busy", "Server to client", ("server_busy",), "% of the time", SERVICE),
        ),
    ),
    Plot(
        "queues",
        "RPCs per completion queue",
        "Two curves a series: the queue with the most RPCs and the one with the fewest. At 100 % all have as many.",
        "inflight",
        (Kind("queues", "", ("rpcs_per_queue_max", "rpcs_per_queue_min"), "% of an even share", SERVICE),),
    ),
)


def modes(report: Report) -> list[str]:
    """Those there are, unary first."""
    found = dict.fromkeys(s.mode for s in report.series)
    return sorted(found, key=lambda m: (MODES.index(m) if m in MODES else len(MODES), m))


def frames(plot: Plot, report: Report) -> list[Frame]:
    return [Frame(k, plot.shape, tuple(_panel(plot, k, report, m) for m in modes(report))) for k in plot.kinds]


def _panel(plot: Plot, kind: Kind, report: Report, mode: str) -> Panel:
    numbered = [(i, s) for i, s in enumerate(report.series) if s.mode == mode]
    tables: dict[str, list[Row]] = {}
    choices: dict[int, list[Row]] = {}
    if plot.shape == "distribution":
        choices = _distributions(numbered)
        tables["points"] = choices.get(default_inflight(report) or 0, [])
    else:
        places = point_numbers(report)
        make = _trade_rows if plot.shape == "tradeoff" else _metric_rows
        tables["points"] = [row for i, s in numbered for row in make(i, s, kind, places)]
    if kind.key == "throughput":
        tables |= {"ideal": _ideal(numbered), "fits": _fits(numbered)}
    has = any(r["v"] is not None for r in tables["points"]) or bool(choices)
    return Panel(f"{kind.key}-{mode}", mode, tables, choices, "" if has else f"Not measured. {kind.needs}".strip())


def point_numbers(report: Report) -> dict[tuple[int, int], int]:
    """(series, in-flight count) -> number of the point in the report."""
    keys = ((i, p.inflight) for i, s in enumerate(report.series) for p in s.points)
    return {key: number for number, key in enumerate(keys)}


def _metric_rows(i: int, series: Series, kind: Kind, places: dict[tuple[int, int], int]) -> Iterable[Row]:
    """A point without the figure has a row without it, so that the line breaks there rather than bridge it."""
    for key in kind.metrics:
        if not any(key in p.values for p in series.points):
            continue
        for point in series.points:
            row = {"s": i, "n": point.inflight, **_figure(point, key, kind.log), "m": marks(point)}
            yield {**row, "p": places[i, point.inflight], "k": kind.metrics.index(key)}


def _trade_rows(i: int, series: Series, kind: Kind, places: dict[tuple[int, int], int]) -> Iterable[Row]:
    for point in series.points:
        rate = point.values.get(kind.metrics[0])
        row = {"s": i, "n": point.inflight, **_figure(point, kind.metrics[1], kind.log), "m": marks(point)}
        if rate is not None and row["v"] is not None:
            across = {"x": rate.middle, "xlo": rate.low, "xhi": rate.high}
            yield {**row, **across, "p": places[i, point.inflight]}


def _figure(point: Point, key: str, log: bool) -> Row:
    """A logarithmic axis has no place for zero and below."""
    value = point.values.get(key)
    if value is None or (log and value.middle <= 0):
        return {"v": None, "lo": None, "hi": None}
    low, high = (value.low, value.high) if value.low is not None and value.high is not None else (None, None)
    return {"v": value.middle, "lo": None if log and low is not None and low <= 0 else low, "hi": high}


def marks(point: Point) -> int:
    return SUSPECT * bool(point.suspect) + PARTIAL * point.partial


def _ideal(numbered: Sequence[tuple[int, Series]]) -> list[Row]:
    rows = []
    for i, s in numbered:
        if s.ideal_rate and s.points:
            rows += [{"s": i, "n": n, "v": s.ideal_rate * n} for n in _steps(s.points[-1].inflight)]
    return rows


def _steps(last: int) -> list[float]:
    """From 1 to the last, close enough together that a straight line stays smooth on a logarithmic axis."""
    count = 8 * max(1, math.ceil(math.log2(max(2, last))))
    return [round(max(1, last) ** (k / count), 4) for k in range(count + 1)]


def _fits(numbered: Sequence[tuple[int, Series]]) -> list[Row]:
    return [{"s": i, "n": n, "v": v, "poor": s.fit.poor} for i, s in numbered if s.fit for n, v in s.fit.curve]


def _distributions(numbered: Sequence[tuple[int, Series]]) -> dict[int, list[Row]]:
    rows: dict[int, list[Row]] = {}
    for i, s in numbered:
        for d in s.distributions:
            kept = thin([(-math.log10(1 - share), us) for share, us in d.steps if share < 1 and us > 0])
            rows.setdefault(d.inflight, []).extend({"s": i, "x": round(x, 3), "v": v, "c": d.calls} for x, v in kept)
    return dict(sorted(rows.items()))


def thin(steps: Sequence[tuple[float, float]], most: int = MAX_STEPS) -> list[tuple[float, float]]:
    """At most so many, evenly along the axis, both ends among them."""
    if len(steps) <= most:
        return list(steps)
    first, last = steps[0][0], steps[-1][0]
    cell = (last - first) / (most - 2) or 1
    kept = {int((x - first) / cell): (x, v) for x, v in steps}  # the last of each cell
    return sorted({steps[0], *kept.values()})


def inflight_choices(report: Report) -> list[int]:
    """In-flight counts that have a distribution."""
    return sorted({d.inflight for s in report.series for d in s.distributions})


def default_inflight(report: Report) -> int | None:
    """The highest count that as many series have as have any."""
    counts = [d.inflight for s in report.series for d in s.distributions]
    return max(counts, key=lambda n: (counts.count(n), n), default=None)
