"""The plots there are: what each shows, of which loop, and how to read it. report_plots.py makes their rows."""

from __future__ import annotations

from dataclasses import dataclass

from cqbench.report_model import Series


@dataclass(frozen=True)
class Kind:
    """One frame of a plot. label: what distinguishes it there. log: the y axis is. needs: what measuring takes.
    parts: with these, each metric has panels of its own, side by side on the same scales.
    """

    key: str
    label: str
    metrics: tuple[str, ...]
    unit: str
    needs: str = ""
    log: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plot:
    """caption: how to read it, one line. of: the loops whose series it shows."""

    key: str
    title: str
    caption: str
    shape: str
    kinds: tuple[Kind, ...]
    of: tuple[bool, ...] = (False,)

    def shows(self, series: Series) -> bool:
        return series.open in self.of


CLOSED, OPEN = (False,), (True,)
BAND = "Bands are 95 % intervals of the median."
SERVICE = "It needs the control service of grpc_ping_server."
MANY_CALLS = "A percentile needs ten calls above it: P99.9 takes 10,000 calls."
SLICES = "It needs a time series in the result files."
DUE_AND_SENT = ("from due", "from sent")
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
        "open-throughput",
        "Throughput against the rate asked",
        "An open loop: calls come when they are due, whatever became of those before. Dashed grey: the rate that was "
        f"asked. Below it, client or server did not keep up. {BAND}",
        "rate",
        (Kind("open-throughput", "", ("throughput",), "calls/s"),),
        OPEN,
    ),
    Plot(
        "open-latency",
        "Latency against the rate asked",
        "Lower is better. Left, what a caller waits: from when the call was due. Right, from when it was sent, which "
        f"leaves out the time that it could not be. Where left is far above right, calls queued before they were sent. "
        f"{BAND}",
        "rate",
        tuple(
            Kind(f"open-{p.replace('_', '-')}", label, (p, f"sent_{p}"), "µs", MANY_CALLS, True, DUE_AND_SENT)
            for p, label in (("p50", "P50"), ("p99", "P99"), ("p99_9", "P99.9"))
        ),
        OPEN,
    ),
    Plot(
        "distribution",
        "Latency distribution",
        "Lower is better. From mark to mark (90, 99, 99.9 %) a tenth of the calls is left, so the tail has as much "
        "room as the middle. All repetitions together.",
        "distribution",
        (Kind("distribution", "", (), "µs", "It needs the histograms of the result files.", True),),
        CLOSED + OPEN,
    ),
    Plot(
        "time",
        "Over time",
        "Slice by slice through the window, of each series the repetition with the slowest slice. A stall is a gap in "
        "what is completed, and a peak in latency from due that falls as what had waited is answered.",
        "time",
        (
            Kind("time-rate", "Completed", (), "calls/s", SLICES),
            Kind("time-p99", "P99 of the slice", (), "µs", SLICES, True),
            Kind("time-max", "Slowest call of the slice", (), "µs", SLICES, True),
        ),
        CLOSED + OPEN,
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
    Plot(
        "open-cpu",
        "CPU time per RPC against the rate asked",
        f"Lower is better. At low rates a thread wakes up for each call; at high ones it finds several. {BAND}",
        "rate",
        (
            Kind("open-client-cpu", "Client", ("client_cpu",), "µs"),
            Kind("open-server-cpu", "Server", ("server_cpu",), "µs", SERVICE),
        ),
        OPEN,
    ),
)
