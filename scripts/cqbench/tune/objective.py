"""What is to be made better, and the figures of a unit: throughput, P50, P99, CPU per call of both ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cqbench.files.point import Measured
from cqbench.samples.series import Repetition, unusable

THROUGHPUT, P50, P99, CPU = NAMES = ("throughput", "p50", "p99", "cpu")
TITLES = {THROUGHPUT: "throughput", P50: "P50", P99: "P99", CPU: "CPU per call, both ends"}
KEYS = {
    THROUGHPUT: ("throughput_per_second",),
    P50: ("latency_p50_ns",),
    P99: ("latency_p99_ns",),
    CPU: ("client_cpu_per_rpc_ns", "server_cpu_per_rpc_ns"),
}
REACHED = 0.95  # of the rate that was asked for: below it an open loop measures a queue that grows
Figures = Mapping[str, float]  # by NAMES; what was not measured is absent
Results = dict[str, dict[int, Figures]]  # by variant and repetition


@dataclass(frozen=True)
class Objective:
    """better: 1 when more is better, -1 when less is."""

    name: str

    @property
    def better(self) -> int:
        return 1 if self.name == THROUGHPUT else -1

    @property
    def title(self) -> str:
        return TITLES[self.name]


def figures(measured: Measured) -> Figures:
    """Of one unit; empty when it does not count."""
    if unusable(measured):
        return {}
    if measured.rate_asked is not None and (measured.throughput or 0.0) < REACHED * measured.rate_asked:
        return {}
    sample = Repetition(measured, None)
    found = {}
    for name, keys in KEYS.items():
        values = [value for value in map(sample.value, keys) if value is not None]
        if len(values) == len(keys) and sum(values) > 0:
            found[name] = sum(values)
    return found
