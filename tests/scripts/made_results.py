"""Results made up from a real one: open loops."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
REAL: dict[str, Any] = json.loads((DATA / "result.json").read_text())
WINDOW_NS, SLICE_NS = 2_000_000_000, 100_000_000
HASH = "00c0ffee00c0ffee"
STALL_NS = 500_000_000


def counts(due: int, ok: int, dropped: int = 0, unsent: int = 0) -> dict[str, int]:
    """due = sent + dropped + unsent."""
    sent = due - dropped - unsent
    return {"calls_due": due, "calls_sent": sent, "calls_dropped": dropped, "calls_unsent": unsent, "calls_ok": ok}


def open_loop(
    rates: dict[float, Iterable[float]],
    change: dict[str, Any] | None = None,
    stalled: Sequence[float] = (),
    **context: Any,
) -> dict[str, Any]:
    """rates: asked -> what was reached in each repetition. change: of every point. stalled: rates at which the server
    stood still for half a second. context: keys to replace.
    """
    data = copy.deepcopy(REAL)
    for key in ("lower_bounds", "statistics", "statistics_interval"):
        data.pop(key, None)
    data["context"] |= {"warnings": [], "notes": [], "loop": "open", "arrivals": "poisson", "at_limit": "queue"}
    data["context"] |= {"pace": "hybrid", "schedule_seed": 1, **context}
    data["benchmarks"] = [
        {**open_point(rate, repetition, reached, rate in stalled), **(change or {})}
        for rate, values in rates.items()
        for repetition, reached in enumerate(values)
    ]
    return data


def open_point(rate: float, repetition: int = 0, reached: float | None = None, stalled: bool = False) -> dict[str, Any]:
    """One with figures that follow from the rate; latency from due is above that from sent."""
    entry: dict[str, Any] = copy.deepcopy(REAL["benchmarks"][0])
    per_second = rate if reached is None else reached
    completed = round(per_second * WINDOW_NS / 1e9)
    sent = {"p50": 100_000, "p90": 150_000, "p95": 180_000, "p99": 250_000, "p99_9": 400_000}
    sent = {key: round(ns * (1 + rate / 20_000)) for key, ns in sent.items()}
    due = {key: ns + (20_000 if not stalled else 20_000 if key == "p50" else STALL_NS // 2) for key, ns in sent.items()}
    key = f"rate:{rate:g}"
    name = f"ping/unary/cq/local-pool/open/{key}"
    entry |= {
        "name": name, "run_name": name, "repetition_index": repetition, "inflight": 100,
        "target_rate_per_second": float(rate), "schedule_hash": HASH, "warnings": [], "notes": [],
        "throughput_per_second": float(per_second), "completed": completed, "failed": 0, "unfinished": 0,
        **counts(completed, ok=completed), **{f"latency_{k}_ns": ns for k, ns in due.items()},
        "latency_max_ns": STALL_NS if stalled else 900_000,
        **{f"latency_from_sent_{k}_ns": ns for k, ns in sent.items()}, "latency_from_sent_max_ns": 800_000,
        "pacer_lateness_p50_ns": 4_000, "pacer_lateness_p99_ns": 60_000, "pacer_lateness_max_ns": 700_000,
        "slot_wait_mean_ns": 1_000, "slot_wait_p99_ns": 9_000, "slot_wait_max_ns": 80_000, "largest_burst": 3,
        "outstanding_first_half": 0.4, "outstanding_second_half": 0.5, "pacers": 1, "pacer_margin_ns": 55_000,
        "arrival_gap_variation": 1.0, "arrival_gap_correlation": 0.0, "bucket_ns": SLICE_NS,
        **slices(per_second, stalled),
    }  # fmt: skip
    return entry


def slices(rate: float, stalled: bool) -> dict[str, list[int]]:
    """A stall of half a second at 0.6 s: nothing ends in it, then all that was due."""
    number, still = WINDOW_NS // SLICE_NS, range(6, 11) if stalled else range(0)
    each = round(rate * SLICE_NS / 1e9)
    waited = {i: STALL_NS - (i - 6) * SLICE_NS for i in still}
    return {
        "bucket_completed": [0 if i in still else 6 * each if still and i == 11 else each for i in range(number)],
        "bucket_failed": [0] * number,
        "bucket_latency_p50_ns": [waited.get(i, 120_000) for i in range(number)],
        "bucket_latency_p99_ns": [waited.get(i, 270_000) for i in range(number)],
        "bucket_latency_max_ns": [waited.get(i, 500_000) for i in range(number)],
    }


def put(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path
