"""Runs -> series: the repetitions of one setting, by load, in the order in which they were made.

What is left out is left out everywhere: points that were cut short, that measured nothing, in which something was made
to go wrong, or in which a call failed (a call that fails at once makes throughput higher), with the reason. A figure
that some repetition of a point lacks, such as a percentile for which it had too few calls, is not there for the point:
those that have it do not stand for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from cqbench.files.offered import Load
from cqbench.files.point import Measured
from cqbench.files.reasons import UNKNOWN_SURROUNDINGS, Reason
from cqbench.samples import setting as settings
from cqbench.samples.metric import Metric
from cqbench.samples.runs import Run
from cqbench.samples.setting import Setting
from cqbench.stats import ratios
from cqbench.stats.medians import median
from cqbench.stats.ratios import Ratio

BOTH_ENDS = ("allocations_per_rpc", "allocated_bytes_per_rpc")  # of client and server together, where both count
PER_SECOND = "_per_second"  # behind the name of a count: over the window


class Round(NamedTuple):
    """Neighbours in time: an experiment makes all variants of a round one after the other."""

    folder: str
    repetition: int


class Sample(Protocol):
    """One repetition of whatever was measured."""

    @property
    def round(self) -> Round | None: ...

    def value(self, key: str) -> float | None: ...


@dataclass(frozen=True)
class Repetition:
    """One load of one run. round: None outside of experiments. messages: a call, of client- and server-streaming."""

    measured: Measured
    round: Round | None
    messages: int | None = None

    def value(self, key: str) -> float | None:
        """A figure by its name in the file, or one that follows from several."""
        measured = self.measured
        if key == "throughput_per_second":
            return measured.throughput
        if key == "messages_per_second":
            return self.messages * measured.throughput if self.messages and measured.throughput else None
        if key == "completed":
            return float(measured.completed)
        if key == "messages_completed":
            return float(self.messages * measured.completed) if self.messages else None
        if key in BOTH_ENDS:
            ends = [measured.figures.get(f"{end}_{key}") for end in ("client", "server")]
            return None if None in ends else sum(end for end in ends if end is not None)
        count = measured.figures.get(key.removesuffix(PER_SECOND)) if key.endswith(PER_SECOND) else None
        if count is not None and measured.window_ns:
            return count / measured.window_ns * 1e9
        return measured.figures.get(key)


@dataclass(frozen=True)
class LeftOut:
    """A point that does not count. codes: of the calls that failed."""

    load: Load
    why: str
    codes: tuple[str, ...] = ()


@dataclass
class Series:
    """One setting. variants: names in experiments; '' is of runs outside of them. spins: client, server."""

    setting: Setting
    variants: set[str] = field(default_factory=set)
    points: dict[Load, list[Repetition]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    doubts: list[Reason] = field(default_factory=list)  # about every point
    folders: dict[str, set[str]] = field(default_factory=dict)  # policy as given -> folders it came from
    spins: tuple[bool, bool] = (False, False)
    added_rtt_ns: float | None = None

    @property
    def loads(self) -> list[Load]:
        """Those with whole points, ascending."""
        return sorted(load for load, found in self.points.items() if found)

    def count(self, load: Load) -> int:
        """Repetitions."""
        return len(self.points.get(load, []))

    def values(self, load: Load, key: str) -> list[float]:
        """Of all repetitions, or empty where one lacks the figure."""
        return values(self.points.get(load, []), key)

    def middle(self, load: Load, key: str) -> float | None:
        return median(self.values(load, key))

    def suspect(self, load: Load) -> int:
        """Repetitions with a reason for doubt."""
        return sum(bool(r.measured.suspect) for r in self.points.get(load, []))


def values(samples: Iterable[Sample], key: str) -> list[float]:
    """Of all, or empty where one lacks the figure."""
    found = [sample.value(key) for sample in samples]
    there = [value for value in found if value is not None]
    return there if len(there) == len(found) else []


def ratio(top: Series, bottom: Series, load: Load, metric: Metric | str) -> Ratio | None:
    """top / bottom. None where a side lacks the figure, or has a 0 in it."""
    key = metric if isinstance(metric, str) else metric.key
    return ratio_of(top.points.get(load, []), bottom.points.get(load, []), key)


def ratio_of(top: Sequence[Sample], bottom: Sequence[Sample], key: str) -> Ratio | None:
    """Of neighbours in time where repetitions have them, else of the two sides."""
    over, under = values(top, key), values(bottom, key)
    if not over or not under or min(*over, *under) <= 0:
        return None
    found = pairs(top, bottom)
    if found is None:
        return ratios.unpaired(over, under)
    return ratios.paired((a.value(key) or 0.0, b.value(key) or 0.0) for a, b in found)


def pairs(top: Sequence[Sample], bottom: Sequence[Sample]) -> list[tuple[Sample, Sample]] | None:
    """Neighbours in time; None unless enough have one. One that failed costs its neighbour, not the pairing."""
    by_round = {r.round: r for r in bottom if r.round}
    if len(by_round) != len(bottom) or len({r.round for r in top}) != len(top):
        return None
    found = [(r, by_round[r.round]) for r in top if r.round in by_round]
    return found if len(found) >= min(ratios.MIN_REPETITIONS, len(top), len(bottom)) else None


def load_series(runs: Iterable[Run], apart: bool = False) -> list[Series]:
    """In the order in which they first appear. apart: variants that are alike in all but their names stay apart, as
    when a thing is compared with itself.
    """
    found: dict[tuple[Setting, str], Series] = {}
    for run in runs:
        setting = settings.of(run)
        series = found.setdefault((setting, run.variant if apart else ""), Series(setting))
        _add(run, series)
    return list(found.values())


def _add(run: Run, series: Series) -> None:
    document = run.document
    series.variants.add(run.variant)
    series.spins = (document.context.get("poll") == "spin", any(s.poll == "spin" for s in document.servers))
    series.added_rtt_ns = run.surroundings.added_rtt_ns
    series.folders.setdefault(document.policy, set()).add(str(run.path.parent))
    series.doubts += [d for d in _doubts(run) if d not in series.doubts]
    told = run.context.get("stream_messages")
    messages = told if isinstance(told, int) else None
    for measured in run.points():
        fault = run.surroundings.fault
        why = unusable(measured) if fault is None else f"{fault.words} was made to happen in it"
        if why:
            series.left_out.append(LeftOut(measured.load, why, tuple(measured.error_codes)))
        else:
            repetition = Repetition(measured, _round(run, measured), messages)
            series.points.setdefault(measured.load, []).append(repetition)


def unusable(measured: Measured) -> str:
    """Why a point does not count; '' when it does."""
    if measured.failure:
        return measured.failure
    if measured.partial:
        return "cut short"
    if measured.failed:
        return f"{measured.failed} calls failed ({'/'.join(measured.error_codes) or 'no code'})"
    return "" if measured.throughput is not None else "no figure"


def _doubts(run: Run) -> list[Reason]:
    problem = run.surroundings.problem
    ours = [Reason(UNKNOWN_SURROUNDINGS, f"environment and network are not known: {problem}")] if problem else []
    return [*run.document.suspect, *ours]


def _round(run: Run, measured: Measured) -> Round | None:
    """The file's number in an experiment's folder is the repetition's."""
    number = run.path.name.split(".")[0].split("-")[0]
    if not run.variant or not number.isdigit() or len(number) > 9:
        return None
    folder: Path = run.path.resolve().parents[2]
    return Round(f"{folder}#{measured.repetition}", int(number))
