"""One side of a comparison: a result file or a folder of them -> the repetitions of every point, and the settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cqbench.compare_settings import Settings, settings
from cqbench.documents import BadDocument, Measured, one_line
from cqbench.offered import Load
from cqbench.reasons import Reason
from cqbench.runs import Run, read_all


@dataclass(frozen=True)
class Metric:
    """A figure of a run. name: as --metric takes it. key: in the file. scale: of the file's unit in the one shown."""

    name: str
    key: str
    title: str
    unit: str
    scale: float
    higher: str  # what a higher figure is called
    lower: str
    open_only: bool = False  # a closed loop has no such figure

    def titled(self, in_open_loop: bool) -> str:
        """Where latency from when a call was sent stands beside it."""
        return f"{self.title} from due" if in_open_loop and self.key.startswith("latency_p") else self.title


METRICS = (
    Metric("throughput", "throughput_per_second", "throughput", "req/s", 1, "faster", "slower"),
    Metric("p50", "latency_p50_ns", "P50", "us", 1e-3, "slower", "faster"),
    Metric("p99", "latency_p99_ns", "P99", "us", 1e-3, "slower", "faster"),
    Metric("p50-sent", "latency_from_sent_p50_ns", "P50 from sent", "us", 1e-3, "slower", "faster", True),
    Metric("p99-sent", "latency_from_sent_p99_ns", "P99 from sent", "us", 1e-3, "slower", "faster", True),
    Metric("client-cpu", "client_cpu_per_rpc_ns", "client CPU per RPC", "us", 1e-3, "more CPU", "less CPU"),
    Metric("server-cpu", "server_cpu_per_rpc_ns", "server CPU per RPC", "us", 1e-3, "more CPU", "less CPU"),
)


class Series(NamedTuple):
    """What the points of a table have in common. variant: the folder's name in an experiment; '' elsewhere. special:
    what the client's names of series add where it is not the default: messages, stub, an open loop.
    """

    variant: str
    workload: str
    method: str
    api: str
    policy: str
    special: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return " ".join(filter(None, (self.variant, "/".join((*self[1:5], *self.special)))))


class Key(NamedTuple):
    """A point."""

    series: Series
    load: Load

    @property
    def title(self) -> str:
        return f"{self.series.title}, {self.load.label}"


@dataclass
class Repetitions:
    """The runs of a point on one side. Figures are positive; a run without one, or with 0, is not in its list."""

    values: dict[str, list[float]] = field(default_factory=lambda: {m.name: [] for m in METRICS})
    usable: int = 0
    left_out: list[str] = field(default_factory=list)  # a reason for each run that is not used
    with_failed_calls: int = 0  # of the usable ones
    suspect: list[Reason] = field(default_factory=list)  # of the usable ones
    limits: list[Reason] = field(default_factory=list)  # the same
    schedules: set[str] = field(default_factory=set)  # hashes of the due times of the usable ones; open loop only


@dataclass
class Side:
    """All of A, or all of B."""

    path: str
    files: int = 0
    partial_files: int = 0
    points: dict[Key, Repetitions] = field(default_factory=dict)
    settings: dict[Series, list[Settings]] = field(default_factory=dict)  # one per file
    suspect: dict[Reason, int] = field(default_factory=dict)  # what a file says of all its points -> files

    def usable(self) -> list[Key]:
        """The points that have a whole run."""
        return [key for key, repetitions in self.points.items() if repetitions.usable]


def read_side(path: Path) -> Side:
    """Raises BadDocument: something below it cannot be read or is no result, or nothing whole was measured."""
    side = Side(one_line(str(path)))
    for run in read_all([path]):
        _add(side, run)
    if not side.files:
        raise BadDocument(f"{side.path}: no result files (*.json) in this folder")
    if not side.usable():
        raise BadDocument(f"{side.path}: no whole run in {counted(side.files, 'file')}")
    return side


def counted(number: int, noun: str) -> str:
    """3, 'file' -> '3 files'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _add(side: Side, run: Run) -> None:
    document = run.document
    what = document.workload, document.method, document.api, document.policy
    series = Series(run.variant, *what, document.special)
    outstanding = [p.inflight for p in document.points if p.load.open]
    side.settings.setdefault(series, []).append(settings(run.context, run.surroundings, outstanding))
    side.files += 1
    side.partial_files += document.partial
    for reason in document.suspect:
        side.suspect[reason] = side.suspect.get(reason, 0) + 1
    for measured, entry in run.points():
        _add_point(side.points.setdefault(Key(series, measured.load), Repetitions()), measured, entry)


def _add_point(repetitions: Repetitions, measured: Measured, entry: dict[str, Any]) -> None:
    if measured.failure or measured.partial:
        repetitions.left_out.append(measured.failure or "cut short")
        return
    repetitions.usable += 1
    repetitions.with_failed_calls += measured.failed > 0
    repetitions.suspect += measured.suspect
    repetitions.limits += measured.limits
    repetitions.schedules |= {measured.schedule_hash} - {""}
    for metric in METRICS:
        value = entry.get(metric.key)
        if value:
            repetitions.values[metric.name].append(float(value))
