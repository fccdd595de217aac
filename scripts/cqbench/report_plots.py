"""What is drawn: the plots of a report, each with frames (one measure, unary beside streaming on the same scales), and
the rows behind them. report_specs.py says how a frame is drawn, report_page.py and report_figures.py draw it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cqbench.offered import Load
from cqbench.report_kinds import PLOTS, Kind, Plot
from cqbench.report_model import METRICS, Distribution, Point, Report, Series, Timeline
from cqbench.report_series import METHODS

# s: number of the series; n: its load; v, lo, hi: the figure; m: SUSPECT + PARTIAL + LIMITED; p: number of the point;
# k: which of the kind's metrics.
Row = dict[str, Any]
BY_KEY = {m.key: m for m in METRICS}
CHOOSE = ("distribution", "time")  # shapes that show one load at a time
MAX_STEPS = 72  # of a distribution: one for each 6 pixels or so
SUSPECT, PARTIAL, LIMITED = 1, 2, 4


@dataclass(frozen=True)
class Panel:
    """One method of a frame. tables: the rows by dataset ('points', and more for throughput). choices: of a
    distribution or a time series, the points of each load; chosen: which are shown at first. missing: why there are no
    rows; '' when there are. part: one of the kind's, or ''.
    """

    id: str
    method: str
    tables: dict[str, list[Row]]
    choices: dict[Load, list[Row]] = field(default_factory=dict)
    chosen: Load | None = None
    missing: str = ""
    part: str = ""

    @property
    def caption(self) -> str:
        return ", ".join(filter(None, (self.method, self.part)))


@dataclass(frozen=True)
class Frame:
    """shape: which of report_specs' drawings: inflight, rate, tradeoff, distribution, time."""

    kind: Kind
    shape: str
    panels: tuple[Panel, ...]

    @property
    def id(self) -> str:
        return self.kind.key


def plots(report: Report) -> list[Plot]:
    """Those that show anything of this report; of one without series, the closed loop's."""
    loops = {series.open for series in report.series} or {False}
    timed = any(series.timelines for series in report.series)
    return [plot for plot in PLOTS if loops & set(plot.of) and (timed or plot.shape != "time")]


def methods(series: Iterable[Series]) -> list[str]:
    """Those there are, in the usual order."""
    found = dict.fromkeys(s.method for s in series)
    return sorted(found, key=lambda m: (METHODS.index(m) if m in METHODS else len(METHODS), m))


def frames(plot: Plot, report: Report) -> list[Frame]:
    shown = methods(s for s in report.series if plot.shows(s))
    return [Frame(kind, plot.shape, tuple(_panels(plot, kind, report, shown))) for kind in plot.kinds]


def _panels(plot: Plot, kind: Kind, report: Report, shown: Iterable[str]) -> Iterable[Panel]:
    for method in shown:
        if not kind.parts:
            yield _panel(plot, kind, report, method)
        for k, part in enumerate(kind.parts):
            of_part = replace(kind, metrics=kind.metrics[k : k + 1])
            panel = _panel(plot, of_part, report, method)
            for row in panel.tables["points"]:
                row["k"] = k
            yield replace(panel, id=f"{panel.id}-{part.replace(' ', '-')}", part=part)


def _panel(plot: Plot, kind: Kind, report: Report, method: str) -> Panel:
    numbered = [(i, s) for i, s in enumerate(report.series) if s.method == method and plot.shows(s)]
    tables: dict[str, list[Row]] = {}
    choices: dict[Load, list[Row]] = {}
    chosen = None
    if plot.shape in CHOOSE:
        choices = _distributions(numbered) if plot.shape == "distribution" else _timelines(numbered, kind.key)
        chosen = default_load(plot, report)
        tables["points"] = choices.get(chosen, []) if chosen else []
    else:
        places = point_numbers(report)
        make = _trade_rows if plot.shape == "tradeoff" else _metric_rows
        tables["points"] = [row for i, s in numbered for row in make(i, s, kind, places)]
    if kind.metrics == ("throughput",):
        tables |= {"ideal": _ideal(numbered), "fits": _fits(numbered)}
    has = any(r["v"] is not None for r in tables["points"]) or bool(choices)
    missing = "" if has else f"Not measured. {kind.needs}".strip()
    return Panel(f"{kind.key}-{method}", method, tables, choices, chosen, missing)


def point_numbers(report: Report) -> dict[tuple[int, Load], int]:
    """(series, load) -> number of the point in the report."""
    keys = ((i, p.load) for i, s in enumerate(report.series) for p in s.points)
    return {key: number for number, key in enumerate(keys)}


def _metric_rows(i: int, series: Series, kind: Kind, places: dict[tuple[int, Load], int]) -> Iterable[Row]:
    """A point without the figure has a row without it, so that the line breaks there rather than bridge it."""
    for key in kind.metrics:
        if not any(key in p.values for p in series.points):
            continue
        for point in series.points:
            row = {"s": i, "n": point.load.number, **_figure(point, key, kind.log), "m": marks(point)}
            yield {**row, "p": places[i, point.load], "k": kind.metrics.index(key)}


def _trade_rows(i: int, series: Series, kind: Kind, places: dict[tuple[int, Load], int]) -> Iterable[Row]:
    for point in series.points:
        rate = point.values.get(kind.metrics[0])
        row = {"s": i, "n": point.load.number, **_figure(point, kind.metrics[1], kind.log), "m": marks(point)}
        if rate is not None and row["v"] is not None:
            across = {"x": rate.middle, "xlo": rate.low, "xhi": rate.high}
            yield {**row, **across, "p": places[i, point.load]}


def _figure(point: Point, key: str, log: bool) -> Row:
    """A logarithmic axis has no place for zero and below."""
    value = point.values.get(key)
    if value is None or (log and value.middle <= 0):
        return {"v": None, "lo": None, "hi": None}
    low, high = (value.low, value.high) if value.low is not None and value.high is not None else (None, None)
    return {"v": value.middle, "lo": None if log and low is not None and low <= 0 else low, "hi": high}


def marks(point: Point) -> int:
    return SUSPECT * bool(point.suspect) + PARTIAL * point.partial + LIMITED * bool(point.limits)


def _ideal(numbered: Sequence[tuple[int, Series]]) -> list[Row]:
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


def _fits(numbered: Sequence[tuple[int, Series]]) -> list[Row]:
    return [{"s": i, "n": n, "v": v, "poor": s.fit.poor} for i, s in numbered if s.fit for n, v in s.fit.curve]


def _distributions(numbered: Sequence[tuple[int, Series]]) -> dict[Load, list[Row]]:
    rows: dict[Load, list[Row]] = {}
    for i, s in numbered:
        for d in s.distributions:
            kept = thin([(-math.log10(1 - share), us) for share, us in d.steps if share < 1 and us > 0])
            rows.setdefault(d.load, []).extend({"s": i, "x": round(x, 3), "v": v, "c": d.calls} for x, v in kept)
    return dict(sorted(rows.items()))


def _timelines(numbered: Sequence[tuple[int, Series]], kind: str) -> dict[Load, list[Row]]:
    """c: number of the repetition."""
    field_of = {"time-rate": "per_second", "time-p99": "p99", "time-max": "highest"}[kind]
    rows: dict[Load, list[Row]] = {}
    for i, s in numbered:
        for t in s.timelines:
            drawn = ({"s": i, "x": part.at, "v": getattr(part, field_of), "c": t.repetition} for part in t.slices)
            rows.setdefault(t.load, []).extend(drawn)
    return dict(sorted(rows.items()))


def thin(steps: Sequence[tuple[float, float]], most: int = MAX_STEPS) -> list[tuple[float, float]]:
    """At most so many, evenly along the axis, both ends among them."""
    if len(steps) <= most:
        return list(steps)
    first, last = steps[0][0], steps[-1][0]
    cell = (last - first) / (most - 2) or 1
    kept = {int((x - first) / cell): (x, v) for x, v in steps}  # the last of each cell
    return sorted({steps[0], *kept.values()})


def choices(plot: Plot, report: Report) -> list[Load]:
    """Loads to choose from; empty for plots that show all at once."""
    return sorted({found.load for found in _to_choose(plot, report)})


def default_load(plot: Plot, report: Report) -> Load | None:
    """Of distributions the highest load that as many series have as have any; over time that of the slowest call."""
    if plot.shape == "time":
        return max(_timelines_of(report), key=lambda t: t.slowest).load if _timelines_of(report) else None
    loads = [d.load for d in _to_choose(plot, report)]
    return max(loads, key=lambda load: (loads.count(load), load), default=None)


def _to_choose(plot: Plot, report: Report) -> Sequence[Distribution | Timeline]:
    if plot.shape == "distribution":
        return [d for s in report.series for d in s.distributions]
    return _timelines_of(report) if plot.shape == "time" else []


def _timelines_of(report: Report) -> list[Timeline]:
    return [t for s in report.series for t in s.timelines]
