"""The plots there are, in their order. plots.py makes their rows."""

from __future__ import annotations

from cqbench.render.report.kinds import Kind, Plot
from cqbench.render.report.model import PERCENTILES

CLOSED, OPEN = (False,), (True,)
BAND = "Bands are 95 % intervals of the median; small dots the repetitions, in their order from left to right."
SERVICE = "the control service of grpc_ping_server"
MANY_CALLS = "ten calls above a percentile: P99.9 takes 10,000 calls"
HISTOGRAMS = "the histograms of the result files"
SLICES = "a time series in the result files"
STARTED = "the points' times in the result files"
CONNECTION = "TCP and a kernel that tells of its connections"
BREAKDOWN = "--breakdown of grpc_ping_client"
DUE_AND_SENT = ("from due", "from sent")
RATIO = "Bars are 95 % intervals: one that reaches the line at 1 shows no difference."
EVEN = "% of an even share"
TWO = "two values of an axis at the same load"


def ends(key: str, metric: str, unit: str, client: str = "Client", server: str = "Server") -> tuple[Kind, Kind]:
    """A frame for either end."""
    return (
        Kind(f"client-{key}", client, (f"client_{metric}",), unit),
        Kind(f"server-{key}", server, (f"server_{metric}",), unit, SERVICE),
    )


def ratios(prefix: str, shape: str, of: tuple[bool, ...], first: Kind, words: str) -> tuple[Plot, Plot]:
    """Returns the plots of the question, at the top of the page, and of the costs."""
    lower = "(lower is better)"
    costs = (
        Kind(f"{prefix}ratio-p99", f"Latency P99 {lower}", ("p99",), "×", MANY_CALLS, True),
        Kind(f"{prefix}ratio-p50", f"Latency P50 {lower}", ("p50",), "×", MANY_CALLS, True),
        Kind(f"{prefix}ratio-client-cpu", f"Client CPU per call {lower}", ("client_cpu",), "×", "", True),
        Kind(f"{prefix}ratio-server-cpu", f"Server CPU per call {lower}", ("server_cpu",), "×", SERVICE, True),
    )
    rest = tuple(kind for kind in costs if kind.metrics != first.metrics)
    title, _, how = words.partition(": ")
    return (
        Plot(f"{prefix}ratio", title, f"{how} {RATIO}", shape, (first,), of, True),
        Plot(f"{prefix}ratio-cost", "What it costs: further ratios", RATIO, shape, rest, of),
    )


PLOTS = (
    *ratios(
        "",
        "ratio",
        CLOSED,
        Kind("ratio", "", ("throughput",), "×", TWO, True),
        "Throughput ratio: Higher is better; the dashed line at 1.1 is what a change is worth.",
    ),
    *ratios(
        "open-",
        "ratio-rate",
        OPEN,
        Kind("open-ratio", "", ("p99",), "×", TWO, True),
        "Latency P99 ratio: Lower is better.",
    ),
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
        f"Lower is better. Where throughput no longer grows, latency does, as the calls in flight. {BAND}",
        "inflight",
        tuple(Kind(k.replace("_", "-"), name, (k,), "µs", MANY_CALLS, True) for k, name in PERCENTILES),
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
        "Reached against asked",
        "An open loop: calls come when they are due, whatever became of those before. Dashed grey: the rate that was "
        "asked. Below it, client or server did not keep up. Upright: the knee, the last rate before the first of which "
        f"less than 95 % was reached. {BAND}",
        "rate",
        (
            Kind("open-throughput", "", ("throughput",), "calls/s"),
            Kind("open-reached", "Share reached", ("reached",), "% of the rate asked", "", False, (), 100),
        ),
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
        "pacing",
        "How punctual the client was",
        f"What the client itself adds: how late calls were looked at, and how long they waited for a slot. {BAND}",
        "rate",
        (
            Kind("lateness", "Pacer late, P99", ("lateness_p99",), "µs"),
            Kind("slot-wait", "Wait for a slot, P99", ("slot_wait_p99",), "µs"),
        ),
        OPEN,
    ),
    Plot(
        "distribution",
        "Latency distribution",
        "Lower is better. From mark to mark (90, 99, 99.9 %) a tenth of the calls is left, so the tail has as much "
        "room as the middle. All repetitions together.",
        "distribution",
        (Kind("distribution", "", (), "µs", HISTOGRAMS, True),),
        CLOSED + OPEN,
    ),
    Plot(
        "repetitions",
        "Repetitions in their order",
        "Each repetition when it was measured. What all series do together is the machine's drift, not theirs. Crossed "
        "out: unreliable.",
        "runs",
        (
            Kind("runs-throughput", "Throughput", ("throughput",), "calls/s", STARTED),
            Kind("runs-share", "Throughput / the series' median", ("throughput",), "%", STARTED, False, (), 100),
            Kind("runs-p99", "Latency P99", ("p99",), "µs", STARTED, True),
        ),
        CLOSED + OPEN,
    ),
    Plot(
        "time",
        "Within a window",
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
        "fault",
        "Through the fault",
        "Slice by slice through the window; the upright line is when the fault began. Of each series the repetition in "
        "the middle by what was lost. Latency is that of calls that ended well, from when they were due.",
        "fault",
        (
            Kind("fault-rate", "Ended well", (), "calls/s", SLICES),
            Kind("fault-failed", "Failed", (), "calls/s", SLICES),
            Kind("fault-p99", "P99 of the slice", (), "µs", SLICES, True),
            Kind("fault-max", "Slowest call of the slice", (), "µs", SLICES, True),
        ),
        CLOSED + OPEN,
        True,
    ),
    Plot(
        "parts",
        "Where the time of a call goes",
        "Shares of the median latency. What no API tells apart (both libraries' work, queues, wake-ups) is the rest.",
        "inflight",
        (
            Kind("part-rest", "Libraries, queues, wake-ups", ("share_unattributed",), "% of P50", BREAKDOWN),
            Kind("part-issue", "Issuing the call", ("share_issue",), "% of P50", BREAKDOWN),
            Kind("part-handling", "The server's handler", ("share_handling",), "% of P50", BREAKDOWN),
            Kind("part-network", "Least TCP round trip", ("share_network",), "% of P50", BREAKDOWN),
        ),
    ),
    Plot(
        "cpu",
        "CPU time per RPC",
        f"Lower is better: the whole process, user and kernel time, for each call. {BAND}",
        "inflight",
        ends("cpu", "cpu", "µs"),
    ),
    Plot(
        "cores",
        "CPU cores used",
        f"A curve that flattens at the number of cores allowed means that this end has no CPU left. {BAND}",
        "inflight",
        ends("cores", "cores", "cores"),
    ),
    Plot(
        "handoffs",
        "Hand-offs per RPC",
        f"How often a thread went to sleep per call: what waking the next one costs. {BAND}",
        "inflight",
        ends("switches", "switches", "per RPC"),
    ),
    Plot(
        "allocations",
        "Allocations per RPC",
        f"On the heap, counted in a pass of its own. {BAND}",
        "inflight",
        tuple(
            Kind(f"{end}-allocations", end.title(), (f"{end}_allocations",), "per RPC", "a build that counts them")
            for end in ("client", "server")
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
        ends("batching", "rpcs_per_segment", "RPCs per segment", "Client to server", "Server to client"),
    ),
    Plot(
        "busy",
        "Busy share of the connection",
        f"Share of the time with data under way that the other end has not acknowledged; the middle connection. {BAND}",
        "inflight",
        ends("busy", "busy", "% of the time", "Client to server", "Server to client"),
    ),
    Plot(
        "wire",
        "The wire",
        "Idle: time per segment in which nothing was under way. Round trip: smoothed, with the other end's time to "
        f"answer in it, above the minimum, which is the network. {BAND}",
        "inflight",
        (
            *ends("idle", "idle", "µs per segment", "Idle, client to server", "Idle, server to client"),
            Kind("rtt", "Round trip, smoothed", ("rtt",), "µs", CONNECTION),
            Kind("rtt-min", "Round trip, least", ("rtt_min",), "µs", CONNECTION),
        ),
    ),
    Plot(
        "fairness",
        "Who gets how much",
        "Two curves a series: the one with the most and the one with the least. At 100 % all have as many; a thread "
        "at 100 % is never idle.",
        "inflight",
        (
            Kind("slots", "Calls per slot", ("calls_per_slot_max", "calls_per_slot_min"), EVEN, "", False, (), 100),
            Kind(
                "queues",
                "RPCs per completion queue",
                ("rpcs_per_queue_max", "rpcs_per_queue_min"),
                EVEN,
                SERVICE,
                False,
                (),
                100,
            ),
            Kind("client-threads", "Client: busiest thread and average", ("client_busiest", "client_workers"), "%"),
            Kind(
                "server-threads",
                "Server: busiest thread and average",
                ("server_busiest", "server_workers"),
                "%",
                SERVICE,
            ),
        ),
    ),
    Plot(
        "others",
        "What else had the CPUs",
        "Other programs and the kernel's interrupts on the CPUs of either end, and what the hypervisor took of them.",
        "inflight",
        (
            *ends("others", "others", "CPUs", "Others, client's CPUs", "Others, server's CPUs"),
            *ends("steal", "steal", "% of the time", "Hypervisor, client's CPUs", "Hypervisor, server's CPUs"),
        ),
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
