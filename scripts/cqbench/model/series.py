"""Runs -> series: the repetitions of one setting, by load, in the order in which they were made.

What is left out is left out everywhere, with the reason: usable.py says what counts. A figure that some repetition of a
point lacks, such as a percentile for which it had too few calls, is not there for the point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.offered import Load
from cqbench.formats.point import Measured
from cqbench.formats.reasons import UNKNOWN_SURROUNDINGS, Reason
from cqbench.formats.runs import RAW, Run
from cqbench.model import setting as settings
from cqbench.model.figures import ENDS
from cqbench.model.metric import Metric
from cqbench.model.ratio import Round, ratio_of, values
from cqbench.model.scaling import is_scaling
from cqbench.model.setting import Setting
from cqbench.model.usable import disturbed, unreliable, unusable
from cqbench.stats.medians import median
from cqbench.stats.ratios import MIN_REPETITIONS, Ratio

BOTH_ENDS = ("allocations_per_rpc", "allocated_bytes_per_rpc")  # of client and server together, where both count
PER_SECOND = "_per_second"  # behind the name of a count: over the window


@dataclass(frozen=True)
class Repetition:
    """One load of one run. round: None outside of experiments. messages: a call, of client- and server-streaming.
    stream_limit: the lowest limit of concurrent streams per connection that a server announced; None without one.
    session: see Sample.
    """

    measured: Measured
    round: Round | None
    messages: int | None = None
    stream_limit: int | None = None
    session: str = ""

    def value(self, key: str) -> float | None:
        """A figure by its name in the file, or one that follows from several."""
        measured = self.measured
        if key == THROUGHPUT:
            return measured.throughput
        if key == "messages_per_second":
            return self.messages * measured.throughput if self.messages and measured.throughput else None
        if key == "completed":
            return float(measured.completed)
        if key == "messages_completed":
            return float(self.messages * measured.completed) if self.messages else None
        if key in BOTH_ENDS:
            ends = [measured.figures.get(f"{end}_{key}") for end in ENDS]
            return None if None in ends else sum(end for end in ends if end is not None)
        count = measured.figures.get(key.removesuffix(PER_SECOND)) if key.endswith(PER_SECOND) else None
        if count is not None and measured.window_ns:
            return count / measured.window_ns * 1e9
        return measured.figures.get(key)


Repetitions = Sequence[Repetition]


@dataclass(frozen=True)
class LeftOut:
    """A point that does not count. codes: of the calls that failed."""

    load: Load
    why: str
    codes: tuple[str, ...] = ()


@dataclass
class Series:
    """One setting. configurations: names in experiments; '' is of runs outside of them. spins: client, server."""

    setting: Setting
    configurations: set[str] = field(default_factory=set)
    points: dict[Load, list[Repetition]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    warnings: list[Reason] = field(default_factory=list)  # warnings about every point
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
        """Returns the values of all repetitions, or none if one lacks the figure."""
        return values(self.points.get(load, []), key)

    def middle(self, load: Load, key: str) -> float | None:
        return median(self.values(load, key))

    def unreliable(self, load: Load, interleaved: bool) -> str:
        """Why nothing follows from the point, a code; '' where something may. A channel that scales promises no number
        of connections. interleaved: with what it is compared with.
        """
        measured = [r.measured for r in self.points[load]]
        return unreliable(measured, self.warnings, not is_scaling(self.setting.connections), interleaved)

    def count_unreliable(self, load: Load) -> int:
        """Counts the repetitions with a warning."""
        return sum(bool(r.measured.warnings) for r in self.points.get(load, []))


def ratio(top: Series, bottom: Series, load: Load, metric: Metric | str) -> Ratio | None:
    """top / bottom, of undisturbed rounds. None where a side lacks the figure, or has a 0 in it."""
    key = metric if isinstance(metric, str) else metric.key
    return ratio_of(*undisturbed(top.points.get(load, []), bottom.points.get(load, [])), key)


def undisturbed(top: Sequence[Repetition], bottom: Sequence[Repetition]) -> tuple[Repetitions, Repetitions]:
    """Both sides without the rounds in which either was disturbed, if the others are enough and at least half.

    Chosen by what came from outside, never by a figure: so it favours no side.
    """
    bad = {r.round for r in (*top, *bottom) if disturbed(r.measured)}
    if None in bad or not bad:
        return top, bottom
    clean = [[r for r in side if r.round not in bad] for side in (top, bottom)]
    enough = (len(of) >= max(MIN_REPETITIONS, len(side) / 2) for of, side in zip(clean, (top, bottom), strict=True))
    return (clean[0], clean[1]) if all(enough) else (top, bottom)


def load_series(runs: Iterable[Run], apart: bool = False) -> list[Series]:
    """In the order in which they first appear. apart: configurations that are alike in all but their names stay apart,
    as when a thing is compared with itself.
    """
    found: dict[tuple[Setting, str], Series] = {}
    for run in runs:
        setting = settings.of(run)
        series = found.setdefault((setting, run.configuration if apart else ""), Series(setting))
        _add(run, series)
    return list(found.values())


def _add(run: Run, series: Series) -> None:
    document = run.document
    series.configurations.add(run.configuration)
    series.spins = (document.context.get("poll") == "spin", any(s.poll == "spin" for s in document.servers))
    series.added_rtt_ns = run.surroundings.added_rtt_ns
    series.folders.setdefault(document.policy, set()).add(str(run.path.parent))
    series.warnings += [d for d in _doubts(run) if d not in series.warnings]
    told = run.context.get("stream_messages")
    messages = told if isinstance(told, int) else None
    session = session_of(run.path)
    for measured in run.points():
        why = unusable(measured, run.surroundings.fault)
        if why:
            series.left_out.append(LeftOut(measured.load, why, tuple(measured.error_codes)))
        else:
            repetition = Repetition(measured, round_of(run, measured), messages, document.stream_limit, session)
            series.points.setdefault(measured.load, []).append(repetition)


def _doubts(run: Run) -> list[Reason]:
    problem = run.surroundings.problem
    ours = [Reason(UNKNOWN_SURROUNDINGS, f"environment and network are not known: {problem}")] if problem else []
    return [*run.document.warnings, *ours]


def session_of(path: Path) -> str:
    """An experiment's folder is one session, however its files were named; any other file is a session of its own."""
    file = path.resolve()
    inside = len(file.parts) > 3 and file.parts[-3] == RAW
    return str(file.parents[2] if inside else file)


def round_of(run: Run, measured: Measured) -> Round | None:
    """The file's number in an experiment's folder is the repetition's."""
    number = run.path.name.split(".")[0].split("-")[0]
    if not run.configuration or not number.isdigit() or len(number) > 9:
        return None
    folder: Path = run.path.resolve().parents[2]
    return Round(f"{folder}#{measured.repetition}", int(number))
