"""The time series of a load: throughput and latencies slice by slice, so that a stall is seen, and what a fault did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cqbench.formats.offered import Load
from cqbench.render.report.model import Slice, Timeline
from cqbench.render.report.points import Repetition
from cqbench.render.report.values import short

MAX_SLICES = 120  # one for each four pixels or so; with more, neighbours are put together


def make(load: Load, found: Sequence[Repetition]) -> Timeline | None:
    """Returns the time series of the repetition with the slowest time bucket, or the typical one of a fault; None if
    there are none.
    """
    if any(r.fault for r in found):
        return through_fault(load, found)
    there = [Timeline(load, i, slices(r)) for i, r in enumerate(found, 1) if r.measured.bucket_completed]
    return max(there, key=lambda timeline: timeline.slowest, default=None)


def through_fault(load: Load, found: Sequence[Repetition]) -> Timeline | None:
    """Returns the repetition with the median loss among those in which the fault happened."""
    there = [
        (r.measured.completed, i, Timeline(load, r.number, slices(r, r.fault.began_s), r.fault.words))
        for i, r in enumerate(found)
        if r.measured.bucket_completed and r.fault and r.fault.began_s is not None
    ]
    return sorted(there)[len(there) // 2][2] if there else None


def slices(repetition: Repetition, zero_s: float = 0.0) -> tuple[Slice, ...]:
    """zero_s: from where on in the window the times count."""
    of = repetition.measured
    seconds = (of.bucket_ns or 0.0) / 1e9
    counts = of.bucket_completed
    p99, highest = (values or [0] * len(counts) for values in (of.bucket_latency_p99_ns, of.bucket_latency_max_ns))
    failed = of.bucket_failed or [0] * len(counts)
    together = -(-len(counts) // MAX_SLICES)
    found = []
    for first in range(0, len(counts), together):
        part = slice(first, first + together)
        number = len(counts[part])
        at = round((first + number / 2) * seconds - zero_s, 3)
        rate, lost = (short(sum(of[part]) / (number * seconds)) for of in (counts, failed))
        found.append(Slice(short(at), rate, _greatest(p99[part]), _greatest(highest[part]), lost))
    return tuple(found)


def _greatest(nanos: Iterable[float]) -> float | None:
    """In microseconds; None where no call ended."""
    most = max(nanos)
    return short(most / 1000) if most else None
