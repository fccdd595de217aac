"""The plots there are, in their order. plots.py makes their rows."""

from __future__ import annotations

from dataclasses import replace

from cqbench.formats.figures import THROUGHPUT
from cqbench.model.figures import (
    CPU,
    ENDS,
    FIGURES,
    P50,
    P99,
    P99_9,
    PERCENTILES,
    REACHED,
    SENT_PERCENTILES,
    at_both_ends,
)
from cqbench.render.report.kinds import (
    BAND,
    CLOSED,
    DUE_AND_SENT,
    HISTOGRAMS,
    OPEN,
    PERCENTILE_KEYS,
    SLICES,
    STARTED,
    Kind,
    Plot,
    ends,
    extremes,
    kind,
    ratios,
)

PLOTS = (
    *ratios("", "ratio", CLOSED, THROUGHPUT, "; the dashed line at 1.1 is what a change is worth"),
    *ratios("open-", "ratio-rate", OPEN, P99),
    Plot(
        "throughput",
        "Throughput against calls in flight",
        "Higher is better. Dashed grey: the linear ideal, n times the rate at 1 in flight, cut off at the top. Dotted: "
        f"the Universal Scalability Law fitted. {BAND}",
        "inflight",
        (kind("throughput", THROUGHPUT, label=""),),
    ),
    Plot(
        "latency",
        "Latency against calls in flight",
        f"Lower is better. Where throughput no longer grows, latency does, as the calls in flight. {BAND}",
        "inflight",
        tuple(kind(key, name) for key, name in zip(PERCENTILE_KEYS, PERCENTILES, strict=True)),
    ),
    Plot(
        "tradeoff",
        "Latency against throughput",
        "Right and down is better. Each curve runs from few calls in flight to many; where it turns up, more calls in "
        "flight only wait.",
        "tradeoff",
        (
            kind("tradeoff-p50", THROUGHPUT, P50),
            kind("tradeoff-p99", THROUGHPUT, P99),
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
            kind("open-throughput", THROUGHPUT, label=""),
            kind("open-reached", REACHED, level=100),
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
            replace(kind(f"open-{key}", due, sent, label=FIGURES[due].label), parts=DUE_AND_SENT)
            for key, due, sent in zip(PERCENTILE_KEYS, PERCENTILES, SENT_PERCENTILES, strict=True)
            if due in (P50, P99, P99_9)
        ),
        OPEN,
    ),
    Plot(
        "pacing",
        "How punctual the client was",
        f"What the client itself adds: how late calls were looked at, and how long they waited for a slot. {BAND}",
        "rate",
        (
            kind("lateness", "pacer_lateness_p99_ns"),
            kind("slot-wait", "slot_wait_p99_ns"),
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
            kind("runs-throughput", THROUGHPUT, needs=STARTED),
            replace(
                kind("runs-share", THROUGHPUT, needs=STARTED, level=100),
                label=f"{FIGURES[THROUGHPUT].label} / the series' median",
                unit="%",
            ),
            kind("runs-p99", P99, needs=STARTED),
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
            kind("part-rest", "breakdown_unattributed_share"),
            kind("part-issue", "breakdown_client_issue_share"),
            kind("part-handling", "breakdown_server_handling_share"),
            kind("part-network", "breakdown_network_share"),
        ),
    ),
    Plot(
        "cpu",
        "CPU time",
        f"Lower is better: the whole process, user and kernel time, for each call. {BAND}",
        "inflight",
        ends("cpu", "cpu_per_rpc_ns"),
    ),
    Plot(
        "cores",
        "CPU cores",
        f"A curve that flattens at the number of cores allowed means that this end has no CPU left. {BAND}",
        "inflight",
        ends("cores", "cores_used"),
    ),
    Plot(
        "handoffs",
        "Context switches",
        f"How often a thread went to sleep per call: what waking the next one costs. {BAND}",
        "inflight",
        ends("switches", "voluntary_context_switches_per_rpc"),
    ),
    Plot(
        "allocations",
        "Allocations",
        f"On the heap, counted in a pass of its own. {BAND}",
        "inflight",
        ends("allocations", "allocations_per_rpc"),
    ),
    Plot(
        "connections",
        "TCP connections",
        "Counted among the client's own descriptors: what the channels really shared.",
        "inflight",
        (kind("connections", "connections", label=""),),
    ),
    Plot(
        "batching",
        "Batching",
        f"1 means a segment and its system calls for each RPC; more is batching, which saves CPU. {BAND}",
        "inflight",
        ends("batching", "rpcs_per_segment_sent"),
    ),
    Plot(
        "busy",
        "Busy share of the connection",
        f"Share of the time with data under way that the other end has not acknowledged; the middle connection. {BAND}",
        "inflight",
        ends("busy", "connection_busy_share_median"),
    ),
    Plot(
        "wire",
        "The wire",
        "Idle: time per segment in which nothing was under way. Round trip: smoothed, with the other end's time to "
        f"answer in it, above the minimum, which is the network. {BAND}",
        "inflight",
        (
            *ends("idle", "connection_idle_per_segment_ns_median"),
            kind("rtt", "client_rtt_smoothed_ns_median"),
            kind("rtt-min", "client_rtt_min_ns_median"),
        ),
    ),
    Plot(
        "fairness",
        "Who gets how much",
        "Two curves a series: the one with the most and the one with the least. At 100 % all have as many; a thread "
        "at 100 % is never idle.",
        "inflight",
        (
            kind("slots", *extremes("calls_per_slot"), label="Calls per slot", level=100),
            kind("queues", *extremes("rpcs_per_queue"), label="Calls per completion queue", level=100),
            *(
                kind(f"{end}-threads", busiest, average, label=f"{end.title()}: busiest thread and average")
                for end, busiest, average in zip(
                    ENDS, at_both_ends("busiest_worker_share"), at_both_ends("workers_busy_share"), strict=True
                )
            ),
        ),
    ),
    Plot(
        "others",
        "What else had the CPUs",
        "Other programs and the kernel's interrupts on the CPUs of either end, and what the hypervisor took of them.",
        "inflight",
        (
            *ends("others", "cpus_busy_elsewhere"),
            *ends("steal", "steal_share"),
        ),
    ),
    Plot(
        "open-cpu",
        "CPU time against the rate asked",
        f"Lower is better. At low rates a thread wakes up for each call; at high ones it finds several. {BAND}",
        "rate",
        tuple(kind(f"open-{end}-cpu", name) for end, name in zip(ENDS, CPU, strict=True)),
        OPEN,
    ),
)
