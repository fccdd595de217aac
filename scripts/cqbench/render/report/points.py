"""The repetitions of one load -> a point of the report, its warnings included, and its time series: throughput and
latencies by time bucket, which show a stall and what a fault did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cqbench.formats import runs as results_of
from cqbench.formats.manifest import Fault
from cqbench.formats.offered import Load
from cqbench.formats.point import Measured
from cqbench.formats.reasons import Reason, alike
from cqbench.model.figures import ENDS, PERCENTILES, REACHED, SENT_PERCENTILES
from cqbench.model.ratio import Round
from cqbench.model.series import round_of, session_of
from cqbench.render.report.model import Point, Run, Slice, Timeline
from cqbench.render.report.values import SHOWN, describe, short

WITHHELD = (*PERCENTILES, *SENT_PERCENTILES)  # where there are too few calls
MAX_SLICES = 120  # one for each four pixels or so; with more, neighbours are put together


@dataclass(frozen=True)
class Repetition:
    """One run of a point. figures: those that a report shows, by name, in their units; what was
    not measured is not in it."""

    measured: Measured
    path: str  # of its file, for messages
    figures: dict[str, float]
    number: int = 1  # of the repetition
    at: datetime | None = None
    fault: Fault | None = None  # what went wrong meanwhile
    round: Round | None = None
    session: str = ""

    def value(self, key: str) -> float | None:
        return self.figures.get(key)


def repetitions(run: results_of.Run) -> Iterable[Repetition]:
    """Those of a file that measured something."""
    queues = _queues(run.context)
    for measured in run.points():
        if measured.throughput is not None:
            figures = _figures(measured, queues)
            at = when(measured.start_time)
            repetition = number(run, measured.repetition)
            path, fault = run.document.path, run.surroundings.fault
            session = session_of(run.path)
            yield Repetition(measured, path, figures, repetition, at, fault, round_of(run, measured), session)


def number(run: results_of.Run, index: int) -> int:
    """Returns the number of a repetition, from 1. In an experiment the file's name begins with it."""
    found = run.path.stem.partition("-")[0]
    return int(found) if run.configuration and found.isdecimal() else index + 1


def when(text: str) -> datetime | None:
    """Parses an RFC 3339 time with an offset; None for anything else."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else None


def used(found: Sequence[Repetition]) -> list[Repetition]:
    """Those that make the point: what was cut short only where there is nothing whole."""
    return [r for r in found if not r.measured.partial] or list(found)


def make(load: Load, found: Sequence[Repetition], began: datetime | None = None) -> Point:
    """found: as used() has them, not empty. began: when the experiment's first point did."""
    values = {}
    for name in (figure.name for figure in SHOWN):
        there = [r.figures[name] for r in found if name in r.figures]
        # The repetitions that have a percentile are those with most calls; they do not stand for the others.
        if there and (name not in WITHHELD or len(there) == len(found)):
            values[name] = describe(there)
    partial = any(r.measured.partial for r in found)
    warnings = _each_once([[*_failed_calls(r.measured), *_coded(r.measured.warnings)] for r in found])
    saturated = _each_once([list(_coded(r.measured.saturated)) for r in found])
    return Point(load, values, len(found), warnings, saturated, partial, tuple(_run(r, began) for r in found))


def _run(r: Repetition, began: datetime | None) -> Run:
    at = (r.at - began).total_seconds() if r.at and began else None
    return Run(r.number, at, {key: short(value) for key, value in r.figures.items()}, bool(r.measured.warnings))


def _figures(measured: Measured, queues: int) -> dict[str, float]:
    of = measured.figures
    found: dict[str, float | None] = {**of, "connections": measured.connections}
    found[REACHED] = measured.throughput_per_second / measured.load.number if measured.load.open else None
    answered = of.get("server_rpcs")
    for which, end in (("most", "max"), ("fewest", "min")):
        calls = of.get(f"server_rpcs_per_queue_{end}")
        if calls is not None and answered and queues:
            found[f"rpcs_per_queue_{which}_of_mean"] = calls * queues / answered
    slots = measured.completed_per_slot
    if sum(slots) > 0:
        for which, completed in (("most", max(slots)), ("fewest", min(slots))):
            found[f"calls_per_slot_{which}_of_mean"] = completed * len(slots) / sum(slots)
    for end, cpus in zip(ENDS, (measured.client_cpus, measured.server_cpus), strict=True):
        busy, own = of.get(f"{end}_cpus_busy"), of.get(f"{end}_cores_used")
        found[f"{end}_cpus_busy_elsewhere"] = None if busy is None or own is None else max(0.0, busy - own)
        found[f"{end}_steal_share"] = sum(cpu.steal_share for cpu in cpus) / len(cpus) if cpus else None
    # In a closed loop a call is due when it is sent, so it cannot be late.
    shown = (figure.name for figure in SHOWN if measured.load.open or figure.needs != "open_loop")
    return {name: float(value) for name in shown if (value := found.get(name)) is not None}


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


def _failed_calls(measured: Measured) -> Iterable[tuple[str, str]]:
    return ((alike(text), text) for text in (f"failed calls: {error}" for error in measured.errors))


def _coded(found: Iterable[Reason]) -> Iterable[tuple[str, str]]:
    return ((reason.kind, reason.text) for reason in found)


# Time series.


def timeline(load: Load, found: Sequence[Repetition]) -> Timeline | None:
    """Returns the time series of the repetition with the slowest time bucket, or the typical one of a fault; None if
    there are none.
    """
    if any(r.fault for r in found):
        return _through_fault(load, found)
    there = [Timeline(load, i, _slices(r)) for i, r in enumerate(found, 1) if r.measured.bucket_completed]
    return max(there, key=lambda timeline: timeline.slowest, default=None)


def _through_fault(load: Load, found: Sequence[Repetition]) -> Timeline | None:
    """Returns the repetition with the median loss among those in which the fault happened."""
    there = [
        (r.measured.completed, i, Timeline(load, r.number, _slices(r, r.fault.began_s), r.fault.words))
        for i, r in enumerate(found)
        if r.measured.bucket_completed and r.fault and r.fault.began_s is not None
    ]
    return sorted(there)[len(there) // 2][2] if there else None


def _slices(repetition: Repetition, zero_s: float = 0.0) -> tuple[Slice, ...]:
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
