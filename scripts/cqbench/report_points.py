"""The repetitions of one in-flight count -> a point of the report: medians, intervals, and what speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cqbench.documents import Measured
from cqbench.report_model import METRICS, Point
from cqbench.report_values import describe
from cqbench.runs import Run

# Metric -> key in the file, scale to the metric's unit.
EVIDENCE = {
    "client_cpu": ("client_cpu_per_rpc_ns", 1e-3),
    "server_cpu": ("server_cpu_per_rpc_ns", 1e-3),
    "client_cores": ("client_cores_used", 1.0),
    "server_cores": ("server_cores_used", 1.0),
    "client_rpcs_per_segment": ("client_rpcs_per_segment_sent", 1.0),
    "server_rpcs_per_segment": ("server_rpcs_per_segment_sent", 1.0),
    "client_busy": ("client_connection_busy_share_median", 100.0),
    "server_busy": ("server_connection_busy_share_median", 100.0),
}
PERCENTILES = ("p50", "p90", "p99", "p99_9")
# The client's reason for leaving out a percentile: that is absent, the rest stands.
LEFT_OUT = "too few calls for P99"


@dataclass(frozen=True)
class Repetition:
    """One run of a point. figures: by Metric.key, in its unit; what was not measured is not in it."""

    measured: Measured
    entry: dict[str, Any]
    path: str  # of its file, for messages
    figures: dict[str, float]


def repetitions(run: Run) -> Iterable[Repetition]:
    """Those of a file that measured something."""
    queues = _queues(run.context)
    for measured, entry in run.points():
        if measured.throughput is not None:
            yield Repetition(measured, entry, run.document.path, _figures(measured, entry, queues))


def used(found: Sequence[Repetition]) -> list[Repetition]:
    """Those that make the point: what was cut short only where there is nothing whole."""
    return [r for r in found if not r.measured.partial] or list(found)


def make(inflight: int, found: Sequence[Repetition]) -> Point:
    """found: as used() has them, not empty."""
    values = {}
    for metric in METRICS:
        there = [r.figures[metric.key] for r in found if metric.key in r.figures]
        # The repetitions that have a percentile are those with most calls; they do not stand for the others.
        if there and (metric.key not in PERCENTILES or len(there) == len(found)):
            values[metric.key] = describe(there)
    partial = any(r.measured.partial for r in found)
    return Point(inflight, values, len(found), _doubts(found), partial)


def _figures(measured: Measured, entry: dict[str, Any], queues: int) -> dict[str, float]:
    nanos = (measured.p50_ns, measured.p90_ns, measured.p99_ns, measured.p999_ns)
    found: dict[str, float | None] = {
        "throughput": measured.throughput,
        **{key: _times(ns, 1e-3) for key, ns in zip(PERCENTILES, nanos, strict=True)},
        "connections": measured.connections,
        **{key: _times(entry.get(source), scale) for key, (source, scale) in EVIDENCE.items()},
    }
    answered = entry.get("server_rpcs")
    if answered and queues:
        for end in ("min", "max"):
            found[f"rpcs_per_queue_{end}"] = _times(entry.get(f"server_rpcs_per_queue_{end}"), 100 * queues / answered)
    return {key: float(value) for key, value in found.items() if value is not None}


def _times(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _queues(context: dict[str, Any]) -> int:
    """Completion queues of all servers; 0 when a server does not say, as where the library has them to itself."""
    counts = [server.get("num_cqs") for server in context.get("servers") or []]
    return sum(counts) if all(isinstance(c, int) and 0 < c < 2**31 for c in counts) else 0


def _doubts(found: Sequence[Repetition]) -> tuple[str, ...]:
    """Each reason once, with the figures of the first repetition that has it."""
    kinds: dict[str, list[int]] = {}
    texts: dict[str, str] = {}
    for i, repetition in enumerate(found):
        for text in _said(repetition.measured):
            kind = re.sub(r"[-+0-9.]+", "#", text)
            texts.setdefault(kind, text)
            if i not in kinds.setdefault(kind, []):
                kinds[kind].append(i)
    many = len(found) > 1
    return tuple(texts[k] + (f" (in {len(of)} of {len(found)} repetitions)" if many else "") for k, of in kinds.items())


def _said(measured: Measured) -> Iterable[str]:
    yield from (f"failed calls: {error}" for error in measured.errors)
    yield from measured.warnings
    yield from (reason for reason in measured.suspect if not reason.startswith(LEFT_OUT))
