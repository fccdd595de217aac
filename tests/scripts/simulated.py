"""Experiments drawn from a known truth with the noise of a shared virtual machine, as series for the analyses.

The noise was seen on such a machine: 10 to 20 % from run to run, most of it slow and common to runs within a block, and
a run in twenty at half speed because something else ran. Bursts of other programs can be added, which results warn of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from cqbench.analysis.verdict import scenarios as cases
from cqbench.analysis.verdict.judge import Found, judge, open_points
from cqbench.analysis.verdict.rules import Rule
from cqbench.formats.asked import Asked
from cqbench.formats.offered import closed
from cqbench.formats.point import Measured
from cqbench.formats.reasons import OTHER_PROCESSES, Reason
from cqbench.model.ratio import Round
from cqbench.model.series import Repetition, Series
from cqbench.model.setting import FACETS, Setting

LOADS = (1, 2, 4, 8, 16, 48)
RATES = {1: 10e3, 2: 15e3, 4: 22e3, 8: 28e3, 16: 32e3, 48: 34e3}  # of one connection: well below linear from 2 on


@dataclass(frozen=True)
class Noise:
    """Standard deviations of logarithms. start, drift: of the machine, common to what is measured in a round, and its
    step from round to round; run, point: of one run of the client, and of one of its points. outliers: share of points
    at half speed. bursts: share of rounds with other programs, which take 10 to 60 % from every other point; of ten
    such points nine warn.
    """

    start: float = 0.10
    drift: float = 0.06
    run: float = 0.05
    point: float = 0.09
    outliers: float = 0.05
    bursts: float = 0.0


@dataclass(frozen=True)
class Truth:
    """The truth of one series. rates: by calls in flight. cpu: share of the CPUs allowed, of both ends."""

    rates: Mapping[int, float]
    cpu: float = 0.5
    wire: float = 0.4
    figures: Mapping[str, float] = field(default_factory=dict)


class Machine:
    """Whose speed wanders. One thread."""

    def __init__(self, random: np.random.Generator, noise: Noise = Noise()) -> None:
        self.random = random
        self.noise = noise
        self.bursts: list[bool] = []

    def speeds(self, repetitions: int) -> list[float]:
        """Returns the speed of each round, as a logarithm, and draws which have bursts."""
        likely = self.noise.bursts
        self.bursts = [likely > 0 and self.random.random() < likely for _ in range(repetitions)]
        steps = self.random.normal(0, self.noise.drift, repetitions)
        return list(self.random.normal(0, self.noise.start) + np.cumsum(steps))

    def series(self, setting: Setting, configuration: str, truth: Truth, speeds: list[float], rounds: bool) -> Series:
        found = Series(setting, {configuration}, {closed(n): [] for n in truth.rates})
        for i, speed in enumerate(speeds):
            run = speed + self.random.normal(0, self.noise.run)
            for n, rate in truth.rates.items():
                hit = self.bursts[i] and self.random.random() < 0.5
                left = 1 - self.random.uniform(0.1, 0.6) if hit else 1.0
                measured = self._point(n, rate * left * math.exp(run), truth, hit and self.random.random() < 0.9)
                found.points[closed(n)].append(Repetition(measured, Round("experiment", i) if rounds else None))
        return found

    def _point(self, n: int, rate: float, truth: Truth, warned: bool) -> Measured:
        noise = self.random.normal(0, 1, 6)
        slow = 0.5 if self.random.random() < self.noise.outliers else 1.0
        throughput = rate * slow * math.exp(self.noise.point * noise[0])
        figures = {
            "latency_p50_ns": n / throughput * 1e9,
            "latency_p99_ns": 3 * n / throughput * 1e9 * math.exp(0.15 * noise[1]),
            "client_cores_used": min(1.0, truth.cpu * slow * math.exp(0.03 * noise[2])),
            "server_cores_used": min(1.0, truth.cpu * slow * math.exp(0.03 * noise[3])),
            "client_cpus_allowed": 1.0,
            "server_cpus_allowed": 1.0,
            "client_cpu_per_rpc_ns": 2e4 * math.exp(0.06 * noise[4]),
            "server_cpu_per_rpc_ns": 2e4 * math.exp(0.06 * noise[5]),
            "client_connection_busy_share_median": truth.wire,
            **truth.figures,
        }
        return Measured.model_construct(
            inflight=n, target_rate=None, repetition=0, throughput_per_second=throughput, connections=None,
            expected_connections=1, completed=1000, failed=0, partial=False, failure="", notes=[],
            warnings=[Reason(OTHER_PROCESSES, "other programs")] if warned else [],
            failed_calls=[], figures=figures,
        )  # fmt: skip


def setting(**facts: str) -> Setting:
    given = {"workload": "ping", "method": "unary", "loop": "closed", "api": "sync", "connections": "shared", **facts}
    return Setting(tuple((f.key, given[f.key]) for f in FACETS if given.get(f.key)))


HEADLINE = Asked(
    axes=(("mode", ("unary", "streaming")), ("api", ("sync", "cq")), ("connections", ("shared", "separate")))
)


def headline(machine: Machine, shared: Truth, separate: Truth, repetitions: int = 7, rounds: bool = True) -> Found:
    """Four cases of shared against separate connections, all with the same truth, judged. rounds: interleaved."""
    speeds = machine.speeds(repetitions)
    found = []
    for mode in ("unary", "streaming"):
        for api in ("sync", "cq"):
            for way, truth in (("shared", shared), ("separate", separate)):
                own = speeds if rounds else machine.speeds(repetitions)
                name = f"{mode}.{api}.{way}"
                where = setting(method=mode, api=api, connections=way)
                found.append(machine.series(where, name, truth, own, rounds))
    return judge(cases.axes(found, HEADLINE))


def decided(machine: Machine, shared: Truth, separate: Truth, first: int = 6, most: int = 14) -> tuple[Found, int]:
    """The same within a budget: from the first repetitions on what is inconclusive is measured again, up to the most.
    Also the repetitions of all points together, in whole ones.
    """
    rule = Rule(any_time=True)
    names = [f"{mode}.{api}" for mode in ("unary", "streaming") for api in ("sync", "cq")]
    whole = {}
    speeds = machine.speeds(most)
    for name in names:
        mode, api = name.split(".")
        for way, truth in (("shared", shared), ("separate", separate)):
            where = setting(method=mode, api=api, connections=way)
            whole[f"{name}.{way}"] = machine.series(where, f"{name}.{way}", truth, speeds, True)
    taken = {(name, load): first for name, series in whole.items() for load in series.points}
    for number in range(first, most + 1):
        seen = [
            replace(series, points={load: of[: taken[name, load]] for load, of in series.points.items()})
            for name, series in whole.items()
        ]
        found = judge(cases.axes(seen, HEADLINE), rule)
        again = open_points(found)
        if number == most or not again:
            break
        for point in again:
            taken[point] = number + 1
    return found, round(sum(taken.values()) / len(taken))


def one(machine: Machine, shared: Truth, separate: Truth, repetitions: int, rounds: bool = True) -> Found:
    """A single case."""
    speeds = machine.speeds(repetitions)
    other = speeds if rounds else machine.speeds(repetitions)
    both = [
        machine.series(setting(connections="shared"), "shared", shared, speeds, rounds),
        machine.series(setting(connections="separate"), "separate", separate, other, rounds),
    ]
    return judge(cases.axes(both, Asked(axes=(("connections", ("shared", "separate")),))))


def times(rates: Mapping[int, float], factor: float) -> dict[int, float]:
    """The same at 1 in flight."""
    return {n: rate * (factor if n > 1 else 1) for n, rate in rates.items()}
