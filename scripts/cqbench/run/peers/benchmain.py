"""grpc-go's own benchmark, with the flags of its pull requests on allocations, compared with our counting programs.

It has client and server in one process, so its allocations are those of both ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from cqbench.run.peers.adapters import Adapter, At, BadOutput, Peer, of_go, our_point, ours
from cqbench.run.peers.targets import Measurement, Ratio

BENCHMAIN = of_go("benchmain", "google.golang.org/grpc", "benchmark/benchmain", "1.83.2")
COUNTING = Peer("grpc_ping_client_counting", "cmake --preset release && cmake --build --preset release")
INFLIGHT, BYTES = 500, 100
COUNTING_SERVER = "cq, counting"  # its name among the servers
UNITS = {"qps": "req/s", "p50": "us", "p99": "us", "allocations": "allocs", "bytes": "bytes"}
NANOS = {"s": 1e9, "ms": 1e6, "\u03bcs": 1e3, "\u00b5s": 1e3, "ns": 1.0}  # Go writes either micro sign


def command(m: Measurement, at: At) -> list[str]:
    load = [f"-benchtime={at.seconds}s", "-workloads=unary", f"-maxConcurrentCalls={INFLIGHT}"]
    messages = [f"-reqSizeBytes={BYTES}", f"-respSizeBytes={BYTES}", "-compression=off"]
    return ["benchmain", *load, *messages, "-trace=off", "-networkMode=Local", "-recvBufferPool=simple"]


def parse_output(text: str, seconds: int) -> dict[str, float]:
    """By the names of UNITS. Raises BadOutput."""
    calls = re.search(r"^Number of requests: +(\d+)\t", text, re.MULTILINE)
    counts = {name: re.search(rf"{title}/op: (\d+(?:\.\d+)?)\t", text) for name, title in TITLES.items()}
    times = {f"p{p}": re.search(rf"{p}_Latency: ([\d.]+)([a-z\u03bc\u00b5]+)\t", text) for p in (50, 99)}
    if not (calls and int(calls[1]) and all(counts.values()) and all(m and m[2] in NANOS for m in times.values())):
        raise BadOutput("benchmain's output has no calls, latencies or allocations")
    found = {name: float(match[1]) for name, match in counts.items() if match}
    found |= {name: float(match[1]) * NANOS[match[2]] / 1000 for name, match in times.items() if match}
    return {"qps": int(calls[1]) / seconds, **found}


TITLES = {"allocations": "Allocs", "bytes": "Bytes"}


def our_flags() -> tuple[str, ...]:
    sizes = ("--request-bytes", f"{BYTES}", "--response-bytes", f"{BYTES}")
    return ("--api", "cq", "--channel-policy", "shared", "--workload", "echo", *sizes)


def our_figures(text: str) -> dict[str, float]:
    """From our counting client's JSON with one point. Raises BadOutput, BadDocument."""
    point = our_point(text)
    if point.failure or point.failed or not point.throughput_per_second:
        raise BadOutput(point.failure or f"{point.failed} calls failed")
    return {"qps": point.throughput_per_second, **_latencies(json.loads(text)), **_allocations(point.figures)}


def _latencies(document: Mapping[str, list[Mapping[str, float]]]) -> dict[str, float]:
    point = document["benchmarks"][0]
    return {p: point[f"latency_{p}_ns"] / 1000 for p in ("p50", "p99") if f"latency_{p}_ns" in point}


def _allocations(figures: Mapping[str, float]) -> dict[str, float]:
    keys = {"allocations": "allocations_per_rpc", "bytes": "allocated_bytes_per_rpc"}
    ends = {name: [figures.get(f"{end}_{key}") for end in ("client", "server")] for name, key in keys.items()}
    if any(None in of for of in ends.values()):
        raise BadOutput("our client's output has no allocations of both ends")
    return {name: sum(value for value in of if value is not None) for name, of in ends.items()}


def targets() -> tuple[list[Measurement], list[Ratio]]:
    """Nothing to reach: another language's allocator and collector, one process instead of two."""
    ours = Measurement("go/ours", COUNTING.name, "cq, both ends", COUNTING_SERVER, our_flags(), 1, INFLIGHT)
    theirs = Measurement("go/benchmain", BENCHMAIN.name, "grpc-go's benchmain", streams=INFLIGHT)
    group = f"{INFLIGHT} in flight, unary, {BYTES} bytes either way"
    words = {"qps": "QPS", "p50": "P50", "p99": "P99", "allocations": "Allocs/op", "bytes": "Bytes/op"}
    rows, ratios = [], []
    for name, unit in UNITS.items():
        for m in (ours, theirs):
            what = f"{words[name]}: {m.what}" if m is ours else m.what
            rows.append(Measurement(f"{m.key}/{name}", m.tool, what, unit=unit, part_of=m.key))
        ratios.append(Ratio(group, f"{ours.key}/{name}", f"{theirs.key}/{name}", None))
    return [ours, theirs, *rows], ratios


ADAPTERS = {
    BENCHMAIN.name: Adapter(command, lambda text, m, at: parse_output(text, at.seconds), both=True),
    # It counts in a pass of its own.
    COUNTING.name: Adapter(ours(COUNTING.name), lambda text, m, at: our_figures(text), more_s=3.2),
}
