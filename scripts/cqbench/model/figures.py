"""Every figure that is shown: C++'s catalogue, counts that results have next to it, and figures that follow from them.

Only this module names figures that C++ does not publish.
"""

from __future__ import annotations

from cqbench.formats.figures import CATALOGUE, Figure

ENDS = ("client", "server")
EVEN = "% of an even share"


def at_both_ends(name: str) -> tuple[str, str]:
    client, server = (f"{end}_{name}" for end in ENDS)
    return client, server


def latencies(*percentiles: str, sent: bool = False) -> tuple[str, ...]:
    """The names of latencies from when a call was due, or from when it was sent."""
    return tuple(f"latency_{'from_sent_' * sent}{p}_ns" for p in percentiles)


P50, P90, P99, P99_9 = PERCENTILES = latencies("p50", "p90", "p99", "p99_9")
SENT_PERCENTILES = latencies("p50", "p90", "p99", "p99_9", sent=True)
CLIENT_CPU, SERVER_CPU = CPU = at_both_ends("cpu_per_rpc_ns")
REACHED = "target_rate_reached"


def _figure(
    name: str, title: str, shown_unit: str = "", scale: float = 1.0, better: int = 0, needs: str = "", unit: str = ""
) -> Figure:
    side = next((end for end in ENDS if name.startswith(end)), "")
    return Figure(name, side, "amount", unit, shown_unit, scale, better, needs, title)


COUNTS = (
    _figure("calls_due", "calls due", needs="open_loop"),
    _figure("calls_dropped", "calls dropped", better=-1, needs="open_loop"),
    _figure("calls_unsent", "calls never sent", better=-1, needs="open_loop"),
    _figure("connections", "TCP connections"),
)
DERIVED = (
    _figure(REACHED, "share of the target rate that was reached", "%", 100, 1, "open_loop"),
    *(
        _figure(f"{name}_{which}_of_mean", f"{what} with the {which} calls", EVEN, 100, 0, needs)
        for name, what, needs in (
            ("rpcs_per_queue", "completion queue", "queues"),
            ("calls_per_slot", "slot", ""),
        )
        for which in ("most", "fewest")
    ),
    *(_figure(f"{end}_cpus_busy_elsewhere", f"{end} CPUs busy with anything else", "CPUs", 1, -1) for end in ENDS),
    *(_figure(f"{end}_steal_share", f"{end} CPUs taken by the hypervisor", "%", 100, -1) for end in ENDS),
    _figure("allocations_per_rpc", "allocations per call, both ends", better=-1),
    _figure("allocated_bytes_per_rpc", "allocated per call, both ends", "bytes", better=-1, unit="bytes"),
    *(
        _figure(f"client_bytes_{way}_per_second", f"bytes {way} by the client", "MB/s", 1e-6, unit="bytes/s")
        for way in ("sent", "received")
    ),
    _figure("messages_per_second", "messages of streams", "1/s", unit="1/s"),
)
FIGURES = CATALOGUE | {figure.name: figure for figure in (*COUNTS, *DERIVED)}
