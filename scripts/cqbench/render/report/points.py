"""The repetitions of one load -> a point of the report: medians, intervals, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cqbench.formats import runs as results_of
from cqbench.formats.figures import CATALOGUE
from cqbench.formats.manifest import Fault
from cqbench.formats.offered import Load
from cqbench.formats.point import Measured
from cqbench.formats.reasons import Reason, alike
from cqbench.model.ratio import Round
from cqbench.model.series import round_of
from cqbench.render.report.model import METRICS, Point, Run
from cqbench.render.report.values import describe, short

ENDS = ("client", "server")

# Metric -> figure in the file. The catalogue has the scale to the metric's unit.
BOTH_ENDS = {
    "cpu": "cpu_per_rpc_ns",
    "cores": "cores_used",
    "switches": "voluntary_context_switches_per_rpc",
    "allocations": "allocations_per_rpc",
    "rpcs_per_segment": "rpcs_per_segment_sent",
    "busy": "connection_busy_share_median",
    "idle": "connection_idle_per_segment_ns_median",
    "busiest": "busiest_worker_share",
    "workers": "workers_busy_share",
}
EVIDENCE = {
    **{f"{end}_{key}": f"{end}_{name}" for key, name in BOTH_ENDS.items() for end in ENDS},
    "rtt": "client_rtt_smoothed_ns_median",
    "rtt_min": "client_rtt_min_ns_median",
    "issue": "breakdown_client_issue_p50_ns",
    **{part: f"breakdown_server_{part}_p50_ns" for part in ("handling", "finishing")},
    "share_issue": "breakdown_client_issue_share",
    "share_handling": "breakdown_server_handling_share",
    **{f"share_{part}": f"breakdown_{part}_share" for part in ("network", "unattributed")},
}
# Figures of open loops. In a closed loop a call is due when it is sent, so it cannot be late.
OPEN_LOOP = {
    **{f"sent_{p}": f"latency_from_sent_{p}_ns" for p in ("p50", "p90", "p99", "p99_9")},
    **{what: f"calls_{what}" for what in ("due", "dropped", "unsent")},
    **{f"lateness_{what}": f"pacer_lateness_{what}_ns" for what in ("p50", "p99", "max")},
    **{f"slot_wait_{what}": f"slot_wait_{what}_ns" for what in ("mean", "p99", "max")},
    "largest_burst": "largest_burst",
}
PERCENTILES = ("p50", "p90", "p99", "p99_9")
WITHHELD = (*PERCENTILES, *(f"sent_{p}" for p in PERCENTILES))  # where there are too few calls


@dataclass(frozen=True)
class Repetition:
    """One run of a point. figures: by Metric.key, in its unit; what was not measured is not in it."""

    measured: Measured
    path: str  # of its file, for messages
    figures: dict[str, float]
    number: int = 1  # of the repetition
    at: datetime | None = None
    fault: Fault | None = None  # what went wrong meanwhile
    round: Round | None = None

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
            yield Repetition(measured, path, figures, repetition, at, fault, round_of(run, measured))


def number(run: results_of.Run, index: int) -> int:
    """Returns the number of a repetition, from 1. In an experiment the file's name begins with it."""
    found = run.path.stem.partition("-")[0]
    return int(found) if run.variant and found.isdecimal() else index + 1


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
    for metric in METRICS:
        there = [r.figures[metric.key] for r in found if metric.key in r.figures]
        # The repetitions that have a percentile are those with most calls; they do not stand for the others.
        if there and (metric.key not in WITHHELD or len(there) == len(found)):
            values[metric.key] = describe(there)
    partial = any(r.measured.partial for r in found)
    warnings = _each_once([[*_failed_calls(r.measured), *_coded(r.measured.warnings)] for r in found])
    saturated = _each_once([list(_coded(r.measured.saturated)) for r in found])
    return Point(load, values, len(found), warnings, saturated, partial, tuple(_run(r, began) for r in found))


def _run(r: Repetition, began: datetime | None) -> Run:
    at = (r.at - began).total_seconds() if r.at and began else None
    return Run(r.number, at, {key: short(value) for key, value in r.figures.items()}, bool(r.measured.warnings))


def _figures(measured: Measured, queues: int) -> dict[str, float]:
    of = measured.figures
    nanos = (measured.p50_ns, measured.p90_ns, measured.p99_ns, measured.p999_ns)
    found: dict[str, float | None] = {
        "throughput": measured.throughput,
        **{key: _times(ns, 1e-3) for key, ns in zip(PERCENTILES, nanos, strict=True)},
        "connections": measured.connections,
        **{key: _shown(of, source) for key, source in EVIDENCE.items()},
    }
    if measured.load.open:
        found |= {key: _shown(of, source) for key, source in OPEN_LOOP.items()}
        found["reached"] = _times(measured.throughput, 100 / measured.load.number)
    answered = of.get("server_rpcs")
    if answered and queues:
        for end in ("min", "max"):
            found[f"rpcs_per_queue_{end}"] = _times(of.get(f"server_rpcs_per_queue_{end}"), 100 * queues / answered)
    slots = measured.completed_per_slot
    if sum(slots) > 0:
        found["calls_per_slot_min"], found["calls_per_slot_max"] = (
            100 * len(slots) * most / sum(slots) for most in (min(slots), max(slots))
        )
    for end, cpus in (("client", measured.client_cpus), ("server", measured.server_cpus)):
        busy, own = of.get(f"{end}_cpus_busy"), of.get(f"{end}_cores_used")
        found[f"{end}_others"] = None if busy is None or own is None else max(0.0, busy - own)
        found[f"{end}_steal"] = 100 * sum(cpu.steal_share for cpu in cpus) / len(cpus) if cpus else None
    return {key: float(value) for key, value in found.items() if value is not None}


def _shown(figures: Mapping[str, float], name: str) -> float | None:
    """In the unit for people; counts, which are not in the catalogue, as they are."""
    return _times(figures.get(name), CATALOGUE[name].scale if name in CATALOGUE else 1.0)


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


def _failed_calls(measured: Measured) -> Iterable[tuple[str, str]]:
    return ((alike(text), text) for text in (f"failed calls: {error}" for error in measured.errors))


def _coded(found: Iterable[Reason]) -> Iterable[tuple[str, str]]:
    return ((reason.kind, reason.text) for reason in found)
