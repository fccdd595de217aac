"""Sections -> what changed at which point and in total, metric by metric. Pure functions; others show the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cqbench.analysis.compare.history import Spread, Spreads
from cqbench.analysis.compare.sections import Difference, Point, Section, differences
from cqbench.analysis.compare.sessions import At, Basis, compared
from cqbench.analysis.compare.sides import counted
from cqbench.model.gate import INCONCLUSIVE
from cqbench.model.metric import Metric
from cqbench.model.thresholds import ALPHA
from cqbench.stats import ratios
from cqbench.stats.ratios import MIN_REPETITIONS, MIN_SESSIONS, Ratio

NO_DIFFERENCE, SAME, ZERO = "no difference seen", "the same", "a 0: no ratio"
METHODS = {
    "before, after": "geometric means over the repetitions, from ten on without the outermost tenths",
    "interval": "95 %, Student's t on the logarithms (trimmed too, Yuen): of pairs within a block "
    f"(paired), else of the two sides (Welch); none below {MIN_REPETITIONS} repetitions; inside an experiment with a "
    "budget, interval and p hold at every look",
    "different": "p <= 0.05 after Holm's correction over the points of a metric, and an interval without 0",
    "sessions": f"sides of different sessions are compared by sessions where both have {MIN_SESSIONS} (an experiment's "
    "folder, or a file outside of experiments, is one), else with how far those of --history differ, else not at all; "
    "counts of a call by repetitions",
    "total": "the points' geometric mean in each repetition (or session), as one effect",
}


@dataclass(frozen=True)
class Figure:
    """A metric of a point, or of all points together, on both sides, in the file's unit. ratio: after / before; None
    where a side has a 0. basis, sessions, spreads: see Compared.
    """

    metric: Metric
    before: float
    after: float
    counts: tuple[int, int]  # repetitions
    ratio: Ratio | None
    p_holm: float | None
    find: float  # the least change that matters, a ratio
    tests: int  # that the correction is for
    points: int = 1
    sessions: tuple[int, int] = (1, 1)
    basis: Basis = Basis.SAME
    spreads: tuple[Spread, Spread] | None = None

    @property
    def change_percent(self) -> float | None:
        return None if self.ratio is None else (self.ratio.value - 1) * 100

    @property
    def interval_percent(self) -> tuple[float, float] | None:
        interval = self.ratio.interval if self.ratio else None
        return None if interval is None else ((interval[0] - 1) * 100, (interval[1] - 1) * 100)

    @property
    def direction(self) -> int | None:
        """1 higher, -1 lower, 0 no difference seen, None: inconclusive."""
        if self.ratio is None:
            return 0 if self.before == self.after else None
        if self.ratio.interval is None or self.p_holm is None:
            return None
        low, high = self.ratio.interval
        if self.p_holm > ALPHA or low <= 1 <= high:
            return 0
        return 1 if low > 1 else -1

    @property
    def verdict(self) -> str:
        """One of the words above, or the metric's for higher or lower."""
        if self.ratio is None:
            return SAME if self.before == self.after else ZERO
        more, less = self.metric.words
        direction = self.direction
        return INCONCLUSIVE if direction is None else {1: more, -1: less}.get(direction, NO_DIFFERENCE)

    @property
    def explained(self) -> str:
        """The verdict, with what is missing for one."""
        if self.verdict != INCONCLUSIVE:
            return self.verdict
        if self.basis is Basis.UNKNOWN:
            there = _both(self.sessions, "session")
            return f"{INCONCLUSIVE}: {there}{' a side' * (len(set(self.sessions)) == 1)}, needs {MIN_SESSIONS}"
        return f"{INCONCLUSIVE}: {_both(self.counts, 'repetition')}, needs {MIN_REPETITIONS}"

    @property
    def unit(self) -> str:
        """Name of the replicates: more of them make the interval smaller, and ratio.n and needed count them."""
        return "repetition" if self.basis in (Basis.SAME, Basis.COUNTED) else "session"

    @property
    def least(self) -> int:
        """The minimum number of these."""
        return MIN_REPETITIONS if self.unit == "repetition" else MIN_SESSIONS

    @property
    def needed(self) -> int | None:
        """Repetitions (sessions) that find a change of `find`, four times of five; None: unknown, or too many."""
        return self.repetitions_for(self.find)

    def repetitions_for(self, change: float) -> int | None:
        if self.ratio is None or self.ratio.interval is None:
            return None
        if self.ratio.spread <= ratios.NOTHING:
            return self.least
        return ratios.repetitions_needed(replace(self.ratio, value=change), 1.0, self.tests, least=self.least)


def _both(numbers: tuple[int, int], noun: str) -> str:
    """'7 repetitions', or '3 and 1 sessions'."""
    first, second = numbers
    return counted(first, noun) if first == second else f"{first} and {second} {noun}s"


@dataclass(frozen=True)
class Part:
    """A section with its figures. totals: by metric's name. means: what the settings differ in."""

    section: Section
    figures: dict[tuple[Point, str], Figure]
    totals: dict[str, Figure]
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """All there is to show. detailed: the metrics of the points; totals are there for all. missing: metrics of which no
    point has figures on both sides.
    """

    parts: tuple[Part, ...]
    metrics: tuple[Metric, ...]
    detailed: tuple[Metric, ...]
    missing: tuple[Metric, ...]
    find: float


def compare(
    sections: Sequence[Section],
    metrics: Sequence[Metric],
    detailed: Sequence[Metric],
    find: float,
    stored: Spreads | None = None,
) -> Comparison:
    """find: the least change that matters, a ratio such as 0.97. stored: by how much sessions of a history differ."""
    at = {point: At(p.before, p.after, point.place) for s in sections for p in s.pairs for point in s.points
          if point.scenario == p.title}  # fmt: skip
    figures: list[dict[tuple[Point, str], Figure]] = [{} for _ in sections]
    totals: list[dict[str, Figure]] = [{} for _ in sections]
    for metric in metrics:
        points = {
            (i, point): _figure(metric, [point], at, find, stored, s.any_time)
            for i, s in enumerate(sections)
            for point in s.points
        }
        there = {key: figure for key, figure in points.items() if figure}
        for (i, point), figure in zip(there, _corrected(there.values()), strict=True):
            figures[i][point, metric.name] = figure
        whole = {i: _total(metric, figures[i], at, find, stored, s.any_time) for i, s in enumerate(sections)}
        known = {i: figure for i, figure in whole.items() if figure}
        for i, figure in zip(known, _corrected(known.values()), strict=True):
            totals[i][metric.name] = figure
    found = [differences(section) for section in sections]
    parts = tuple(
        Part(section, figures[i], totals[i], tuple(found[i][0]), tuple(found[i][1]))
        for i, section in enumerate(sections)
    )
    used = [m for m in metrics if any(m.name in part.totals for part in parts)]
    missing = tuple(m for m in detailed if m not in used and not m.open_only)
    return Comparison(parts, tuple(used), tuple(m for m in detailed if m in used), missing, find)


def _figure(
    metric: Metric,
    points: Sequence[Point],
    at: Mapping[Point, At],
    find: float,
    stored: Spreads | None,
    any_time: bool,
) -> Figure | None:
    """Compares several points as one effect."""
    found = compared([(p.after, p.before) for p in points], metric, [at[p] for p in points], stored)
    if found is None:
        return None
    counts, ratio, sessions = found.repetitions, found.ratio, found.sessions
    ratio = ratio.at_any_time() if ratio and any_time else ratio
    return Figure(metric, *found.means, counts, ratio, None, find, 1, len(points), sessions, found.basis, found.spreads)


def _corrected(figures: Iterable[Figure]) -> list[Figure]:
    """With Holm's p-values, for all of them together."""
    found = list(figures)
    p_values = ratios.holm([figure.ratio.p if figure.ratio else None for figure in found])
    tests = max(1, sum(p is not None for p in p_values))
    return [replace(figure, p_holm=p, tests=tests) for figure, p in zip(found, p_values, strict=True)]


def _total(
    metric: Metric,
    figures: Mapping[tuple[Point, str], Figure],
    at: Mapping[Point, At],
    find: float,
    stored: Spreads | None,
    any_time: bool,
) -> Figure | None:
    """One effect of all points; of those with an interval, as long as there are any."""
    whole = {point: figure for (point, name), figure in figures.items() if name == metric.name}
    there = {p: f for p, f in whole.items() if f.ratio} or whole
    enough = {p: f for p, f in there.items() if f.ratio and f.ratio.interval} or there
    return _figure(metric, [*enough], at, find, stored, any_time)
