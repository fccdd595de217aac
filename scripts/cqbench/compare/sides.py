"""What is compared, whoever measured it: a side has cases, a case has points, a point has repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from cqbench.files.offered import Load
from cqbench.files.reasons import Reason
from cqbench.model.ratio import Sample
from cqbench.samples.metric import METRICS, Metric
from cqbench.samples.setting import Setting


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
class Case:
    """What the points of a table have in common. variant: a name in an experiment, or a Go package; else ''."""

    variant: str
    setting: Setting
    points: Mapping[Place, Sequence[Sample]]
    left_out: Mapping[Place, Sequence[str]] = field(default_factory=dict)  # why repetitions do not count
    doubts: tuple[Reason, ...] = ()  # about every point


@dataclass
class Side:
    """All of A, or all of B. date: of its first run, as it says; '' where nothing does."""

    path: str
    cases: list[Case]
    metrics: tuple[Metric, ...] = METRICS
    files: int = 1
    partial_files: int = 0
    date: str = ""

    @property
    def places(self) -> set[Place]:
        return {place for case in self.cases for place in case.points}


def counted(number: int, noun: str) -> str:
    """3, 'file' -> '3 files'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
