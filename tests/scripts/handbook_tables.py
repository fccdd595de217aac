"""The tables of scripts/README.md, each made from one stored run. As a program it prints them all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cqbench.formats.offered import closed
from cqbench.formats.runs import read_all
from cqbench.model.series import Series, load_series
from cqbench.model.setting import SEPARATE, SHARED

DATA = Path(__file__).parent / "data"
NAMES = {SHARED: "one connection", SEPARATE: "one for each"}
# title: key of the file, scale, digits behind the point
ROWS = {
    "calls/s": ("throughput_per_second", 1.0, 0),
    "P50, us": ("latency_p50_ns", 1e-3, 0),
    "calls per segment, client to server": ("client_rpcs_per_segment_sent", 1.0, 2),
    "connection busy, % of the time": ("client_connection_busy_share_median", 100.0, 0),
    "least round trip, us": ("client_rtt_min_ns_median", 1e-3, 0),
    "smoothed round trip, us": ("client_rtt_smoothed_ns_median", 1e-3, 0),
    "CPUs used by the client, of 1": ("client_cores_used", 1.0, 2),
    "CPUs used by the server, of 1": ("server_cores_used", 1.0, 2),
    "CPU per call, client, us": ("client_cpu_per_rpc_ns", 1e-3, 1),
    "times a client thread slept, per call": ("client_voluntary_context_switches_per_rpc", 1.0, 2),
}
# Where the document says "from <name>": folder of the stored run, method, service time, calls in flight.
TABLES = {
    "connection": ("verdict-connection", "streaming", "", 4),
    "cpu": ("verdict-regimes", "streaming", "", 48),
    "network": ("verdict-network", "streaming", "", 48),
    "queue": ("verdict-regimes", "unary", "200 us constant wait", 48),
}


def table(name: str) -> str:
    """Medians over the repetitions; a figure that a side lacks has no row."""
    folder, method, service, inflight = TABLES[name]
    every = load_series(read_all([DATA / folder]))
    mine = {
        s.setting.connections: s
        for s in every
        if s.setting.get("method") == method and s.setting.get("server.service") == service
    }
    sides = [mine[SHARED], mine[SEPARATE]]
    return "\n".join(_lines(sides, inflight))


def _lines(sides: list[Series], inflight: int) -> Iterator[str]:
    load = closed(inflight)
    heads = [f"{NAMES[s.setting.connections]:>16}" for s in sides]
    counts = sorted({s.count(load) for s in sides})
    repetitions = " and ".join(f"{n} repetition{'s' * (n > 1)}" for n in counts)
    yield f"{f'{inflight} calls in flight, {repetitions}':<40}" + "".join(heads)
    for title, (key, scale, digits) in ROWS.items():
        middles = [s.middle(load, key) for s in sides]
        if all(middle is not None for middle in middles):
            yield f"{title:<40}" + "".join(f"{(m or 0.0) * scale:>16.{digits}f}" for m in middles)


if __name__ == "__main__":
    for name in TABLES:
        print(f"from {name}\n\n{table(name)}\n")
