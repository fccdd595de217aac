"""Files of client processes that measured together, made of latencies that a test draws."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram

Json = dict[str, Any]

STORED = Path(__file__).parent / "data/result.json"
WINDOW_NS = 2_000_000_000
OPEN_NS = 5_000_000_000
HIGHEST = 2**37 - 1
SERVERS = ("server_", "breakdown_")


def drawn(rank: int, calls: int = 5000, scale: float = 1.0) -> list[int]:
    """Latencies in ns, each rank's its own."""
    random = np.random.default_rng(rank)
    return [int(value * scale) for value in random.lognormal(11.5, 0.7, calls)]


def histogram(values: Sequence[int]) -> HdrHistogram:
    made = HdrHistogram(1, HIGHEST, 3)
    for value in values:
        made.record_value(value)
    return made


def rank_file(
    folder: Path,
    index: int,
    count: int,
    values: Sequence[int],
    *,
    host: str = "a",
    window: tuple[int, int] = (OPEN_NS, OPEN_NS + WINDOW_NS),
    change: Callable[[Json, Json], Any] = lambda data, point: None,
) -> Path:
    """change: gets the file and its only point."""
    data = json.loads(STORED.read_text())
    for key in ("statistics", "statistics_interval", "baselines"):
        data.pop(key, None)
    (point, *_) = (b for b in data["benchmarks"] if b["run_type"] == "iteration")
    data["benchmarks"], data["not_measured"] = [point], []
    point["repetitions"] = 1
    _fill(point, values)
    if index > 0:  # who asks the server is the first
        for key in [key for key in point if key.startswith(SERVERS)]:
            del point[key]
        data["context"]["servers"] = []
    point["suspect"], point["limits"], point["notes"] = [], [], []
    point["completed_per_slot"] = [len(values) // 2, len(values) - len(values) // 2]
    data["context"]["suspect"] = []
    data["context"]["command_line"] = ["client", "--inflight", "8", "--ranks", str(count), "--rank", str(index)]
    where = {"index": index, "count": count, "host": host, "pid": 1000 + index, "cpus_allowed": "0-1"}
    clock = {"offset_ns": 17 * index, "offset_bound_ns": 900, "drift_ns_per_s": 0.5}
    edges = {"window_open_ns": window[0], "window_close_ns": window[1]}
    said = {"announced_open_ns": OPEN_NS, "announced_close_ns": OPEN_NS + WINDOW_NS}
    point["rank"] = {**where, **clock, **edges, **said}
    change(data, point)
    path = folder / f"rank-{index}.json"
    path.write_text(json.dumps(data))
    return path


def _fill(point: Json, values: Sequence[int]) -> None:
    calls = len(values)
    for key in [key for key in point if key.startswith("latency_")]:
        del point[key]
    made = histogram(values)
    point["latency_samples"] = calls
    point["latency_mean_ns"] = sum(values) / calls
    point["latency_stddev_ns"] = 1.0
    point["latency_min_ns"], point["latency_max_ns"] = min(values), max(values)
    point["latency_p50_ns"] = made.get_value_at_percentile(50)
    point["latency_p99_ns"] = made.get_value_at_percentile(99)
    point["latency_histogram"] = made.encode().decode()
    point.update(dict.fromkeys(("completed", "iterations", "calls_due", "calls_sent", "calls_ok"), calls))
    point["window_ns"] = WINDOW_NS
    point["throughput_per_second"] = calls / (WINDOW_NS / 1e9)


def files(folder: Path, count: int, calls: int = 5000) -> list[Path]:
    return [rank_file(folder, i, count, drawn(i, calls)) for i in range(count)]


def expected(values: Sequence[int]) -> Json:
    """What a client that made all these calls would say: by sorting them, not from a histogram of ours."""
    ordered = sorted(values)
    calls = len(ordered)

    def upper(value: int) -> int:
        """The greatest value of its bucket."""
        width = 1 << max(value.bit_length() - 11, 0)
        return value // width * width + width - 1

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
