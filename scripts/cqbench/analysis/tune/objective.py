"""The goal of tuning, and the figures of a run: throughput, P50, P99, CPU per call of both ends, or the highest rate
that a search found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cqbench.formats.figures import THROUGHPUT as CALLS_PER_SECOND
from cqbench.formats.offered import Load
from cqbench.formats.point import Measured
from cqbench.formats.result import Document
from cqbench.model.series import Repetition
from cqbench.model.thresholds import CALLS_REACHED
from cqbench.model.usable import unusable
from cqbench.stats.medians import median

THROUGHPUT, P50, P99, CPU, RATE = NAMES = ("throughput", "p50", "p99", "cpu", "rate")
OF_A_RATE = (P50, P99, CPU)  # what can be better at one rate
TITLES = {THROUGHPUT: "throughput", P50: "P50", P99: "P99", CPU: "CPU per call, both ends", RATE: "the highest rate"}
KEYS = {
    THROUGHPUT: (CALLS_PER_SECOND,),
    P50: ("latency_p50_ns",),
    P99: ("latency_p99_ns",),
    CPU: ("client_cpu_per_rpc_ns", "server_cpu_per_rpc_ns"),
}
Figures = Mapping[str, float]  # by NAMES; what was not measured is absent
Results = dict[str, dict[int, Figures]]  # by configuration and repetition


@dataclass(frozen=True)
class Objective:
    """better: 1 when more is better, -1 when less is."""

    name: str

    @property
    def better(self) -> int:
        return 1 if self.name in (THROUGHPUT, RATE) else -1

    @property
    def title(self) -> str:
        return TITLES[self.name]


def figures(document: Document, load: Load) -> Figures:
    """The figures of one run with that load level; empty if the run does not count."""
    if load.search:
        return _searched(document)
    return next((found for point in document.points if point.load == load and (found := _of_point(point))), {})


def _searched(document: Document) -> Figures:
    """Empty when the search was not resolved: then there is no rate, not one of 0. CPU: the median of what was tried
    in the interval of the rate; a latency there is the objective's own."""
    found = document.found_rate
    if found is None or not found.resolved or not found.rate:
        return {}
    low, high = found.low or 0.0, found.high or 0.0
    there = [_of_point(p) for p in document.points if p.target_rate is not None and low <= p.target_rate <= high]
    cpu = median(seen[CPU] for seen in there if CPU in seen)
    return {RATE: found.rate, **({CPU: cpu} if cpu else {})}


def _of_point(measured: Measured) -> Figures:
    """Empty when it does not count."""
    if unusable(measured):
        return {}
    if measured.target_rate is not None and (measured.throughput or 0.0) < CALLS_REACHED * measured.target_rate:
        return {}
    sample = Repetition(measured, None)
    found = {}
    for name, keys in KEYS.items():
        values = [value for value in map(sample.value, keys) if value is not None]
        if len(values) == len(keys) and sum(values) > 0:
            found[name] = sum(values)
    return found
