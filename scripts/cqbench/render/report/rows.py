"""The rows behind the plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from cqbench.formats.offered import Load
from cqbench.model.figures import FIGURES
from cqbench.render.report.kinds import Kind
from cqbench.render.report.model import Against, Point, Report, Run, Series, Timeline, Value

# s: number of the series; n: its load; v, lo, hi: the figure; m: UNRELIABLE + PARTIAL + SATURATED; p: number of the
# point; k: which of the kind's metrics; a: number of what is compared; c: calls, or the number of the repetition; i:
# its place among the repetitions, 0 in the middle.
Row = dict[str, Any]
MAX_STEPS = 72  # of a distribution: one for each 6 pixels or so
MAX_DOTS = 1500  # of a panel: more repetitions are no longer told apart, and take long to draw
UNRELIABLE, PARTIAL, SATURATED = 1, 2, 4
Places = dict[tuple[int, Load], int]  # (series, load) -> number of the point in the report


def point_numbers(report: Report) -> Places:
    keys = ((i, p.load) for i, s in enumerate(report.series) for p in s.points)
    return {key: number for number, key in enumerate(keys)}


def metric_rows(i: int, series: Series, kind: Kind, places: Places) -> Iterable[Row]:
    """A point without the figure has a row without it, so that the line breaks there rather than bridge it."""
    for key in kind.metrics:
        if not any(key in p.values for p in series.points):
            continue
        for point in series.points:
            row = {"s": i, "n": point.load.number, **_figure(point, key, kind.log), "m": marks(point)}
            yield {**row, "p": places[i, point.load], "k": kind.metrics.index(key)}


def dots(numbered: Sequence[tuple[int, Series]], kind: Kind, places: Places) -> list[Row]:
    """Returns the repetitions in addition to their median; none for a single one, nor for too many."""
    several = [(i, s, p) for i, s in numbered for p in s.points if len(p.runs) > 1]
    if len(kind.metrics) * sum(len(p.runs) for _, _, p in several) > MAX_DOTS:
        return []
    found = []
    for k, key in enumerate(kind.metrics):
        for i, _, point in (one for one in several if key in one[2].values):
            about = {"s": i, "n": point.load.number, "p": places[i, point.load], "k": k}
            for place, run in enumerate(point.runs):
                if (value := run.values.get(key)) is not None and (value > 0 or not kind.log):
                    at = {"c": run.number, "i": place - (len(point.runs) - 1) / 2}
                    found.append({**about, "v": value * FIGURES[key].scale, "m": int(run.unreliable), **at})
    return found


def trade_rows(i: int, series: Series, kind: Kind, places: Places) -> Iterable[Row]:
    for point in series.points:
        rate, latency = (_figure(point, name, kind.log) for name in kind.metrics)
        row = {"s": i, "n": point.load.number, **latency, "m": marks(point)}
        if rate["v"] is not None and latency["v"] is not None:
            across = {"x": rate["v"], "xlo": rate["lo"], "xhi": rate["hi"]}
            yield {**row, **across, "p": places[i, point.load]}


def _figure(point: Point, name: str, log: bool) -> Row:
    """In the unit for people."""
    value = point.values.get(name)
    return _value(value and value.times(FIGURES[name].scale), log)


def _value(value: Value | None, log: bool) -> Row:
    """A logarithmic axis has no place for zero and below."""
    if value is None or (log and value.middle <= 0):
        return {"v": None, "lo": None, "hi": None}
    low, high = (value.low, value.high) if value.low is not None and value.high is not None else (None, None)
    return {"v": value.middle, "lo": None if log and low is not None and low <= 0 else low, "hi": high}


def marks(point: Point) -> int:
    return UNRELIABLE * bool(point.warnings) + PARTIAL * point.partial + SATURATED * bool(point.saturated)


def ideal(numbered: Sequence[tuple[int, Series]]) -> list[Row]:
    rows = []
    for i, s in numbered:
        if s.open and s.points:
            rows += [{"s": i, "n": rate, "v": rate} for rate in (0, s.points[-1].load.number)]
        elif s.ideal_rate and s.points:
            rows += [{"s": i, "n": n, "v": s.ideal_rate * n} for n in _steps(s.points[-1].load.number)]
    return rows


def _steps(last: float) -> list[float]:
    """From 1 to the last, close enough together that a straight line stays smooth on a logarithmic axis."""
    count = 8 * max(1, math.ceil(math.log2(max(2, last))))
    return [round(max(1, last) ** (k / count), 4) for k in range(count + 1)]


def fits(numbered: Sequence[tuple[int, Series]]) -> list[Row]:
    return [{"s": i, "n": n, "v": v, "poor": s.fit.poor} for i, s in numbered if s.fit for n, v in s.fit.curve]


def ratios(found: Sequence[tuple[int, Against]], kind: Kind, report: Report, places: Places) -> dict[str, list[Row]]:
    """By axis. A point has the marks of both that are compared."""
    rows: dict[str, list[Row]] = {}
    for a, against in found:
        i, base = against.series, {p.load: p for p in report.series[against.base].points}
        alike = [number for number, other in found if other.axis == against.axis]
        about = {"s": i, "a": a, "i": alike.index(a) - (len(alike) - 1) / 2, "k": 0}
        for point in (p for p in report.series[i].points if p.load in against.values):
            value = _value(against.values[point.load].get(kind.metrics[0]), kind.log)
            row = {**about, "n": point.load.number, **value, "m": marks(point) | marks(base[point.load])}
            rows.setdefault(against.axis, []).append({**row, "p": places[i, point.load]})
    return rows


Made = Iterable[tuple[Load, list[Row]]]


def distributions(numbered: Sequence[tuple[int, Series]], kind: Kind, places: Places) -> Made:
    for i, s in numbered:
        for d in s.distributions:
            kept = thin([(-math.log10(1 - share), us) for share, us in d.steps if share < 1 and us > 0])
            yield d.load, [{"s": i, "x": round(x, 3), "v": v, "c": d.calls} for x, v in kept]


def timed(point: Point) -> list[tuple[float, Run]]:
    """The repetitions of which it is known when they were, in that order, with the minutes since the first point."""
    return sorted(((round(run.at / 60, 3), run) for run in point.runs if run.at is not None), key=lambda pair: pair[0])


def runs(numbered: Sequence[tuple[int, Series]], kind: Kind, places: Places) -> Made:
    """Returns the repetitions of each point by time."""
    (key,) = kind.metrics
    for i, s in numbered:
        for point in s.points:
            values = [run.values[key] for _, run in timed(point) if run.values.get(key)]
            # As a share of the median, or in the unit for people.
            factor = 100 / median(values) if kind.unit == "%" and values else FIGURES[key].scale
            base = {"s": i, "p": places[i, point.load], "n": point.load.number}
            found = ((at, run, run.values.get(key)) for at, run in timed(point))
            yield (
                point.load,
                [
                    {**base, "x": at, "v": value * factor if value else None, "m": int(run.unreliable), "c": run.number}
                    for at, run, value in found
                ],
            )


def timelines(numbered: Sequence[tuple[int, Series]], kind: Kind, places: Places) -> Made:
    """c: number of the repetition."""
    for i, s in numbered:
        for t in (t for t in s.timelines if not t.fault):
            yield t.load, _slices(i, t, kind)


def through_faults(numbered: Sequence[tuple[int, Series]], kind: Kind) -> Iterable[tuple[str, list[Row]]]:
    """The same through a fault, by what went wrong."""
    for i, s in numbered:
        for t in (t for t in s.timelines if t.fault):
            yield what_failed(s, t), _slices(i, t, kind)


def what_failed(series: Series, timeline: Timeline) -> str:
    """'reset-retry: reset': all but the last axis of a configuration's name, since the last one is what is compared."""
    name = series.title.rpartition(".")[0]
    return f"{name}: {timeline.fault}" if name and name != timeline.fault else timeline.fault


def _slices(i: int, timeline: Timeline, kind: Kind) -> list[Row]:
    key = {"rate": "per_second", "failed": "failed", "p99": "p99", "max": "highest"}[kind.key.partition("-")[2]]
    return [{"s": i, "x": p.at, "v": getattr(p, key), "c": timeline.repetition} for p in timeline.slices]


def thin(steps: Sequence[tuple[float, float]], most: int = MAX_STEPS) -> list[tuple[float, float]]:
    """Returns at most this number of steps, evenly along the axis, both ends among them."""
    if len(steps) <= most:
        return list(steps)
    first, last = steps[0][0], steps[-1][0]
    cell = (last - first) / (most - 2) or 1
    kept = {int((x - first) / cell): (x, v) for x, v in steps}  # the last of each cell
    return sorted({steps[0], *kept.values()})
