"""The time series of a load: throughput and latencies slice by slice, so that a stall is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cqbench.files.offered import Load
from cqbench.report.model import Slice, Timeline
from cqbench.report.points import Repetition
from cqbench.report.values import short

MAX_SLICES = 120  # one for each four pixels or so; with more, neighbours are put together


def make(load: Load, found: Sequence[Repetition]) -> Timeline | None:
    """Of the repetition with the slowest slice; None where there are no time series."""
    there = [Timeline(load, i, slices(r)) for i, r in enumerate(found, 1) if r.measured.slice_completed]
    return max(there, key=lambda timeline: timeline.slowest, default=None)


def slices(repetition: Repetition) -> tuple[Slice, ...]:
    of = repetition.measured
    seconds = (of.slice_ns or 0.0) / 1e9
    counts = of.slice_completed
    p99, highest = (values or [0] * len(counts) for values in (of.slice_latency_p99_ns, of.slice_latency_max_ns))
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
