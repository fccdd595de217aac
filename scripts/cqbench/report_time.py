"""The time series of a load: throughput and latencies slice by slice, so that a stall is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cqbench.offered import Load
from cqbench.report_model import Slice, Timeline
from cqbench.report_points import Repetition
from cqbench.report_values import short

MAX_SLICES = 120  # one for each four pixels or so; with more, neighbours are put together


def make(load: Load, found: Sequence[Repetition]) -> Timeline | None:
    """Of the repetition with the slowest slice; None where there are no time series."""
    there = [Timeline(load, i, slices(r)) for i, r in enumerate(found, 1) if r.entry.get("slice_completed")]
    return max(there, key=lambda timeline: timeline.slowest, default=None)


def slices(repetition: Repetition) -> tuple[Slice, ...]:
    entry = repetition.entry
    seconds = entry["slice_ns"] / 1e9
    counts = entry["slice_completed"]
    p99, highest = (entry.get(f"slice_latency_{what}_ns") or [0] * len(counts) for what in ("p99", "max"))
    together = -(-len(counts) // MAX_SLICES)
    found = []
    for first in range(0, len(counts), together):
        part = slice(first, first + together)
        number = len(counts[part])
        at, rate = (first + number / 2) * seconds, sum(counts[part]) / (number * seconds)
        found.append(Slice(short(at), short(rate), _greatest(p99[part]), _greatest(highest[part])))
    return tuple(found)


def _greatest(nanos: Iterable[float]) -> float | None:
    """In microseconds; None where no call ended."""
    most = max(nanos)
    return short(most / 1000) if most else None
