"""Files of client processes that measured together, made of latencies that a test draws."""

from __future__ import annotations

import base64
import copy
import json
import math
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Json = dict[str, Any]

STORED = Path(__file__).parent / "data/result.json"
PROTO = Path(__file__).parents[2] / "proto"
WINDOW_NS = 2_000_000_000
OPEN_NS = 5_000_000_000


def drawn(rank: int, calls: int = 5000, scale: float = 1.0) -> list[int]:
    """Latencies in ns, each rank's its own."""
    random = np.random.default_rng(rank)
    return [int(value * scale) for value in random.lognormal(11.5, 0.7, calls)]


def upper(value: int) -> int:
    """The greatest value of its bucket."""
    width = 1 << max(value.bit_length() - 11, 0)
    return value // width * width + width - 1


def histogram(values: Sequence[int]) -> Json:
    counted = sorted(Counter(map(upper, values)).items())
    buckets = {"value_ns": [value for value, _ in counted], "count": [count for _, count in counted]}
    return {**buckets, "sum_ns": sum(values), "min_ns": min(values), "max_ns": max(values)}


def encoded(report: Json) -> str:
    """As the client writes it. report: fields of measured.v1.RankReport (proto/measurement.proto)."""
    command = ["protoc", f"--proto_path={PROTO}", "--encode=cqbench.measured.v1.RankReport", "measurement.proto"]
    done = subprocess.run(command, input=_text(report).encode(), capture_output=True, check=True)
    return base64.b64encode(done.stdout).decode()


def _text(message: Json) -> str:
    """protobuf's text format."""
    fields = ((key, each) for key, value in message.items() for each in (value if isinstance(value, list) else [value]))
    return " ".join(
        f"{key} {{ {_text(v)} }}" if isinstance(v, dict) else f"{key}: {json.dumps(v)}" for key, v in fields
    )


def rank_file(
    folder: Path,
    index: int,
    count: int,
    values: Sequence[int],
    *,
    host: str = "a",
    window: tuple[int, int] = (OPEN_NS, OPEN_NS + WINDOW_NS),
    change: Callable[[Json, Json], Any] = lambda data, report: None,
) -> Path:
    """One closed-loop point with two calls in flight. change: gets the file, which has no points but the report."""
    data: Json = {"context": json.loads(STORED.read_text())["context"], "benchmarks": [], "not_measured": []}
    data["context"].update(warnings=[], notes=[], partial=False, servers=[])
    data["context"]["command_line"] = ["client", "--inflight", "8", "--ranks", str(count), "--rank", str(index)]
    clock = {"offset_ns": 17 * index, "offset_bound_ns": 900, "drift_ns_per_s": 0.5}
    edges = {"window_open_ns": window[0], "window_close_ns": window[1]}
    announced = {"announced_open_ns": OPEN_NS, "announced_close_ns": OPEN_NS + WINDOW_NS}
    where = {"index": index, "count": count, "host": host, "pid": 1000 + index, "cpus_allowed": "0-1"}
    calls = len(values)
    report = {
        "rank": {**where, "timing": {**clock, **announced, **edges}},
        "load": {"slots": 2},
        "start_time": "2026-01-01T00:00:00+00:00",
        "channels": 2,
        "connections": 2,
        "expected_connections": 2,
        "figures": [{"name": f"client_cpu_{part}_ns", "value": 1e6} for part in ("user", "system")],
        "measurement": {
            "window_ns": WINDOW_NS,
            "completed": calls,
            "counts": {"due": calls, "sent": calls, "ok": calls},
            "latency": histogram(values),
            "completed_per_slot": [calls // 2, calls - calls // 2],
        },
        "setting": {},
    }
    change(data, report)
    data.setdefault("rank_reports", [encoded(report)])
    path = folder / f"rank-{index}.json"
    path.write_text(json.dumps(data))
    return path


def files(folder: Path, count: int, calls: int = 5000) -> list[Path]:
    return [rank_file(folder, i, count, drawn(i, calls)) for i in range(count)]


def expected(values: Sequence[int]) -> Json:
    """Returns what a client that made all these calls would report: by sorting them, without a histogram."""
    ordered = sorted(values)
    calls = len(ordered)
    at = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}
    found = {
        name: min(upper(ordered[math.ceil(round(share * calls, 6)) - 1]), ordered[-1]) for name, share in at.items()
    }
    found |= {"min": ordered[0], "max": ordered[-1]}
    return {f"latency_{name}_ns": value for name, value in found.items()}


def point_of(merged: Json) -> Json:
    (point,) = merged["benchmarks"]
    found: Json = copy.deepcopy(point)
    return found
