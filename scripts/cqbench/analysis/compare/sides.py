"""The sides of a comparison, for any tool that measured them: a side has scenarios, a scenario points, a point
repetitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from cqbench.formats.offered import Load
from cqbench.formats.reasons import Reason, kinds
from cqbench.formats.runs import Run
from cqbench.formats.text import one_line
from cqbench.model.metric import METRICS, Metric
from cqbench.model.ratio import Sample
from cqbench.model.series import Repetition, Series, load_series
from cqbench.model.setting import Setting


class Name(NamedTuple):
    """A benchmark of another program: its place in a table, as a load is for ours."""

    name: str

    @property
    def words(self) -> str:
        return self.name

    @property
    def label(self) -> str:
        return self.name


Place: TypeAlias = Load | Name


@dataclass
class Scenario:
    """The settings that the points of a table share. configuration: a name in an experiment, or a Go package; ''."""

    configuration: str
    setting: Setting
    points: Mapping[Place, Sequence[Sample]]
    left_out: Mapping[Place, Sequence[str]] = field(default_factory=dict)  # why repetitions do not count
    warnings: tuple[Reason, ...] = ()  # about every point


@dataclass
class Side:
    """All of A, or all of B. date: of its first run, as it says; '' where nothing does."""

    path: str
    scenarios: list[Scenario]
    metrics: tuple[Metric, ...] = METRICS
    files: int = 1
    partial_files: int = 0
    date: str = ""

    @property
    def places(self) -> set[Place]:
        return {place for scenario in self.scenarios for place in scenario.points}


def counted(number: int, noun: str) -> str:
    """3, 'file' -> '3 files'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def of_runs(name: str, found: Sequence[Run], apart: bool = True) -> Side:
    """apart: configurations that are alike in all but their names stay apart."""
    partial = sum(run.document.partial for run in found)
    date = min((str(run.context.get("date") or "") for run in found), default="")
    scenarios = [scenario_of(series) for series in load_series(found, apart)]
    return Side(name, scenarios, METRICS, len(found), partial, one_line(date))


def scenario_of(series: Series) -> Scenario:
    left_out: dict[Place, list[str]] = {}
    for point in series.left_out:
        left_out.setdefault(point.load, []).append(point.why)
    points: dict[Place, Sequence[Sample]] = {load: series.points[load] for load in series.loads}
    configuration = min(series.configurations) if len(series.configurations) == 1 else ""
    return Scenario(configuration, series.setting, points, left_out, tuple(series.warnings))


def merged(scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Those with the same configuration and setting are one."""
    found: dict[tuple[str, Setting], Scenario] = {}
    for scenario in scenarios:
        key = scenario.configuration, scenario.setting
        there = found.get(key)
        found[key] = scenario if there is None else _both(there, scenario)
    return list(found.values())


def _both(one: Scenario, other: Scenario) -> Scenario:
    points = {p: [*one.points.get(p, ()), *other.points.get(p, ())] for p in {**one.points, **other.points}}
    left_out = {p: [*one.left_out.get(p, ()), *other.left_out.get(p, ())] for p in {**one.left_out, **other.left_out}}
    return Scenario(
        one.configuration, one.setting, points, left_out, tuple(dict.fromkeys([*one.warnings, *other.warnings]))
    )


def reasons(samples: Iterable[Sample], limits: bool = False) -> list[Reason]:
    """Why repetitions should not be believed, or what they ran into; each kind once."""
    measured = [sample.measured for sample in samples if isinstance(sample, Repetition)]
    return [of[0] for of in kinds(r for m in measured for r in (m.saturated if limits else m.warnings)).values()]


def schedules(samples: Iterable[Sample]) -> set[str]:
    """Hashes of the due times; open loop only."""
    return {s.measured.schedule_hash for s in samples if isinstance(s, Repetition)} - {""}
