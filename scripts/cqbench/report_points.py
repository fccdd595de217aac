"""The repetitions of one load -> a point of the report: medians, intervals, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cqbench.documents import Measured
from cqbench.offered import Load
from cqbench.reasons import Reason, alike
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
# Of an open loop. In a closed one a call is due when it is sent, and there is nothing to be late for.
OPEN_LOOP = {
    **{f"sent_{p}": (f"latency_from_sent_{p}_ns", 1e-3) for p in ("p50", "p90", "p99", "p99_9")},
    **{what: (f"calls_{what}", 1.0) for what in ("due", "dropped", "unsent")},
    **{f"lateness_{what}": (f"pacer_lateness_{what}_ns", 1e-3) for what in ("p50", "p99", "max")},
    **{f"slot_wait_{what}": (f"slot_wait_{what}_ns", 1e-3) for what in ("mean", "p99", "max")},
    "largest_burst": ("largest_burst", 1.0),
}
PERCENTILES = ("p50", "p90", "p99", "p99_9")
WITHHELD = (*PERCENTILES, *(f"sent_{p}" for p in PERCENTILES))  # where there are too few calls


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


def make(load: Load, found: Sequence[Repetition]) -> Point:
    """found: as used() has them, not empty."""
    values = {}
    for metric in METRICS:
        there = [r.figures[metric.key] for r in found if metric.key in r.figures]
        # The repetitions that have a percentile are those with most calls; they do not stand for the others.
        if there and (metric.key not in WITHHELD or len(there) == len(found)):
            values[metric.key] = describe(there)
    partial = any(r.measured.partial for r in found)
    doubts = _each_once([[*_uncoded(r.measured), *_coded(r.measured.suspect)] for r in found])
    limits = _each_once([list(_coded(r.measured.limits)) for r in found])
    return Point(load, values, len(found), doubts, limits, partial)


def _figures(measured: Measured, entry: dict[str, Any], queues: int) -> dict[str, float]:
    nanos = (measured.p50_ns, measured.p90_ns, measured.p99_ns, measured.p999_ns)
    found: dict[str, float | None] = {
        "throughput": measured.throughput,
        **{key: _times(ns, 1e-3) for key, ns in zip(PERCENTILES, nanos, strict=True)},
        "connections": measured.connections,
        **{key: _times(entry.get(source), scale) for key, (source, scale) in EVIDENCE.items()},
    }
    if measured.load.open:
        found |= {key: _times(entry.get(source), scale) for key, (source, scale) in OPEN_LOOP.items()}
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


def _each_once(said: Sequence[Sequence[tuple[str, str]]]) -> tuple[str, ...]:
    """said: by each repetition, kind and words. Each kind once, with the figures of the first that has it."""
    kinds: dict[str, set[int]] = {}
    texts: dict[str, str] = {}
    for i, of_one in enumerate(said):
        for kind, text in of_one:
            texts.setdefault(kind, text)
            kinds.setdefault(kind, set()).add(i)
    if len(said) == 1:
        return tuple(texts.values())
    return tuple(f"{text} (in {len(kinds[kind])} of {len(said)} repetitions)" for kind, text in texts.items())


def _uncoded(measured: Measured) -> Iterable[tuple[str, str]]:
    texts = [*(f"failed calls: {error}" for error in measured.errors), *measured.warnings]
    return ((alike(text), text) for text in texts)


def _coded(found: Iterable[Reason]) -> Iterable[tuple[str, str]]:
    return ((reason.kind, reason.text) for reason in found)
