"""Two sides -> what changed at which point, metric by metric. Pure functions; compare_output.py shows the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from cqbench import compare_settings, compare_statistics
from cqbench.compare_inputs import Key, Metric, Repetitions, Side, counted
from cqbench.compare_settings import Difference
from cqbench.compare_statistics import Tested
from cqbench.medians import Ratio

CANNOT_TELL = "cannot tell"
NO_DIFFERENCE = "no difference seen"


@dataclass(frozen=True)
class Figure:
    """A metric of a point on both sides. Medians in the file's unit, throughput per second, the rest nanoseconds."""

    metric: Metric
    before: float
    after: float
    repetitions: tuple[int, int]  # before and after
    needed: int  # on either side, to call one of the metric's points different
    ratio: Ratio
    tested: Tested

    @property
    def change_percent(self) -> float:
        return (self.ratio.value - 1) * 100

    @property
    def interval_percent(self) -> tuple[float, float] | None:
        return percent(self.ratio.interval)

    @property
    def verdict(self) -> str:
        """One of CANNOT_TELL, NO_DIFFERENCE and the metric's two words."""
        if self.tested.direction is None:
            return CANNOT_TELL
        return {1: self.metric.higher, -1: self.metric.lower}.get(self.tested.direction, NO_DIFFERENCE)

    def explained(self) -> str:
        """The verdict, with what is missing for one."""
        return f"{CANNOT_TELL}: {self.lacking()}" if self.tested.direction is None else self.verdict

    def lacking(self) -> str:
        first, second = self.repetitions
        there = counted(first, "repetition") if first == second else f"{first} and {second} repetitions"
        return f"{there}, needs {self.needed}"


@dataclass(frozen=True)
class Lone:
    """A point that only one side has whole runs of. why: what became of the other's runs; '' when it has none."""

    key: Key
    why: str


@dataclass(frozen=True)
class Comparison:
    """All there is to show. points, figures: those both sides have whole runs of, ordered."""

    before: Side
    after: Side
    alpha: float
    metrics: tuple[Metric, ...]
    points: tuple[Key, ...]
    figures: dict[tuple[Key, str], Figure]  # by metric name; not every point has every figure
    means: dict[str, Ratio]  # geometric, by metric name
    only_before: tuple[Lone, ...]
    only_after: tuple[Lone, ...]
    refused: tuple[Difference, ...]  # settings that must not differ, and do
    on_purpose: tuple[Difference, ...]  # settings that may
    unknown: tuple[str, ...]  # settings that must not differ, of which a side says nothing

    @property
    def both(self) -> tuple[Side, Side]:
        return self.before, self.after

    def of(self, metric: Metric) -> dict[Key, Figure]:
        return {key: self.figures[key, metric.name] for key in self.points if (key, metric.name) in self.figures}

    def suspect(self, key: Key) -> bool:
        """Whether a repetition of either side says why it should not be believed."""
        return any(repetitions.suspect for repetitions in self.sides(key))

    def limited(self, key: Key) -> bool:
        """Whether a repetition of either side ran into a limit."""
        return any(repetitions.limits for repetitions in self.sides(key))

    def same_schedule(self, key: Key) -> bool | None:
        """Whether both sides' calls were due at the same times; None in a closed loop, or where one does not say."""
        schedules = [repetitions.schedules for repetitions in self.sides(key)]
        return schedules[0] == schedules[1] if all(schedules) else None

    def sides(self, key: Key) -> list[Repetitions]:
        """Before and after. key: one of the points."""
        return [side.points[key] for side in self.both]


def compare(before: Side, after: Side, metrics: Sequence[Metric], alpha: float) -> Comparison:
    """Differences of the settings are looked for in the series that both have; the caller decides about them."""
    first, second = set(before.usable()), set(after.usable())
    points = tuple(sorted(first & second))
    figures: dict[tuple[Key, str], Figure] = {}
    means: dict[str, Ratio] = {}
    for metric in metrics:
        _add_metric(figures, means, metric, (before, after), points, alpha)
    series = sorted({key.series for key in points})
    settings = [{s.title: side.settings[s] for s in series} for side in (before, after)]
    return Comparison(
        before,
        after,
        alpha,
        tuple(metrics),
        points,
        figures,
        means,
        tuple(_lone(key, after) for key in sorted(first - second)),
        tuple(_lone(key, before) for key in sorted(second - first)),
        tuple(compare_settings.differences(*settings, compare_settings.REQUIRED)),
        tuple(compare_settings.differences(*settings, compare_settings.ALLOWED)),
        tuple(compare_settings.unknown(*settings, compare_settings.REQUIRED)),
    )


def _add_metric(
    figures: dict[tuple[Key, str], Figure],
    means: dict[str, Ratio],
    metric: Metric,
    sides: tuple[Side, Side],
    points: Sequence[Key],
    alpha: float,
) -> None:
    first, second = ({key: side.points[key].values[metric.name] for key in points} for side in sides)
    whole = {key: (first[key], second[key]) for key in points if first[key] and second[key]}
    if not whole:
        return
    needed = compare_statistics.needed_repetitions(len(whole), alpha)
    tested = compare_statistics.judge(list(whole.values()), alpha)
    ratios, mean = compare_statistics.ratios(list(whole.values()))
    for (key, (before, after)), test, ratio in zip(whole.items(), tested, ratios, strict=True):
        counts = len(before), len(after)
        figures[key, metric.name] = Figure(metric, median(before), median(after), counts, needed, ratio, test)
    if mean is not None:
        means[metric.name] = mean


def _lone(key: Key, other: Side) -> Lone:
    reasons = other.points[key].left_out if key in other.points else []
    return Lone(key, f"{counted(len(reasons), 'run')} not used: {reasons[0]}" if reasons else "")


def percent(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """Of a ratio -> of a change."""
    return None if interval is None else ((interval[0] - 1) * 100, (interval[1] - 1) * 100)
