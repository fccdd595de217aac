"""The plots of a report, each with frames: one measure, unary next to streaming on the same scales.

rows.py makes their data, specs.py says how a frame is drawn, page.py and figures.py draw it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.offered import Load
from cqbench.render.report import rows
from cqbench.render.report.catalogue import PLOTS
from cqbench.render.report.groups import METHODS
from cqbench.render.report.kinds import Kind, Plot
from cqbench.render.report.model import Distribution, Point, Report, Series, Timeline
from cqbench.render.report.rows import Places, Row

CHOOSE = ("ratio", "ratio-rate", "distribution", "runs", "time", "fault")  # shapes that show one choice at a time


@dataclass(frozen=True)
class Panel:
    """One method of a frame. tables: the rows by dataset ('points', and more for some). choices: of shapes that show
    one at a time, the rows of each; chosen: which are shown at first. missing: why there are no rows; '' when there
    are. part: one of the kind's, or ''.
    """

    id: str
    method: str
    tables: dict[str, list[Row]]
    choices: dict[str, list[Row]] = field(default_factory=dict)
    chosen: str = ""
    missing: str = ""
    part: str = ""

    @property
    def caption(self) -> str:
        return ", ".join(filter(None, (self.method, self.part)))


@dataclass(frozen=True)
class Frame:
    """shape: which of specs' drawings: ratio, ratio-rate, inflight, rate, tradeoff, distribution, runs, time,
    fault."""

    kind: Kind
    shape: str
    panels: tuple[Panel, ...]

    @property
    def id(self) -> str:
        return self.kind.key

    @property
    def single(self) -> bool:
        return len(self.panels) == 1

    @property
    def drawn(self) -> bool:
        return any(not panel.missing for panel in self.panels)


def plots(report: Report) -> list[tuple[Plot, list[Frame]]]:
    """Those that show anything of this report, with their frames that do."""
    found = ((plot, [frame for frame in frames(plot, report) if frame.drawn]) for plot in PLOTS)
    return [(plot, of) for plot, of in found if of]


def absent(report: Report) -> list[tuple[str, str]]:
    """Returns plots that no result has figures for: title, and how to measure them. One of windows and faults
    suffices.
    """
    loops = {series.open for series in report.series}
    without = "time" if any(t.fault for s in report.series for t in s.timelines) else "fault"
    said = []
    for plot in (plot for plot in PLOTS if loops & set(plot.of) and plot.shape != without):
        for frame in (frame for frame in frames(plot, report) if not frame.drawn):
            said.append((", ".join(filter(None, (plot.title, frame.kind.label))), frame.kind.needs))
    return said


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
            for row in (row for table in panel.tables.values() for row in table):
                row["k"] = k
            yield replace(panel, id=f"{panel.id}-{part.replace(' ', '-')}", part=part)


def _panel(plot: Plot, kind: Kind, report: Report, method: str) -> Panel:
    numbered = [(i, s) for i, s in enumerate(report.series) if s.method == method and plot.shows(s)]
    places = rows.point_numbers(report)
    tables: dict[str, list[Row]] = {}
    choices: dict[str, list[Row]] = {}
    chosen = ""
    if plot.shape in CHOOSE:
        choices = _choices(plot, kind, report, numbered, places)
        chosen = default(plot, report)
        tables["points"] = choices.get(chosen, [])
    else:
        make = rows.trade_rows if plot.shape == "tradeoff" else rows.metric_rows
        tables["points"] = [row for i, s in numbered for row in make(i, s, kind, places)]
        if plot.shape != "tradeoff":
            tables["dots"] = rows.dots(numbered, kind, places)
    if kind.metrics == (THROUGHPUT,) and plot.shape in ("inflight", "rate"):
        tables |= {"ideal": rows.ideal(numbered), "fits": rows.fits(numbered)}
        tables["knees"] = [{"s": i, "n": s.knee} for i, s in numbered if s.knee]
    has = any(r["v"] is not None for table in (tables["points"], *choices.values()) for r in table)
    missing = "" if has else f"Not measured. It needs {kind.needs}." if kind.needs else "Not measured."
    return Panel(f"{kind.key}-{method}", method, tables, choices, chosen, missing)


# Plots that show one choice at a time.


def _choices(
    plot: Plot, kind: Kind, report: Report, numbered: Sequence[tuple[int, Series]], places: Places
) -> dict[str, list[Row]]:
    if plot.shape.startswith("ratio"):
        shown = dict(numbered)
        of = [(a, against) for a, against in enumerate(report.against) if against.series in shown]
        return rows.ratios(of, kind, report, places)
    if plot.shape == "fault":
        of_fault: dict[str, list[Row]] = {}
        for words, found in rows.through_faults(numbered, kind):
            of_fault.setdefault(words, []).extend(found)
        return of_fault
    of_load: dict[Load, list[Row]] = {}
    make = {"distribution": rows.distributions, "runs": rows.runs, "time": rows.timelines}[plot.shape]
    for load, found in make(numbered, kind, places):
        of_load.setdefault(load, []).extend(found)
    return {load.words: of_load[load] for load in sorted(of_load)}


def choices(plot: Plot, report: Report) -> list[str]:
    """Returns the choices in words; empty for plots that show all at once."""
    if plot.shape.startswith("ratio"):
        return list(dict.fromkeys(a.axis for a in report.against if plot.shows(report.series[a.series])))
    if plot.shape == "fault":
        return list(dict.fromkeys(rows.what_failed(s, t) for s in report.series for t in s.timelines if t.fault))
    return [load.words for load in sorted(set(_loads(plot, report)))]


def default(plot: Plot, report: Report) -> str:
    """Returns the first axis; of windows that of the slowest call; else the highest load level with the most series."""
    if plot.shape.startswith("ratio") or plot.shape == "fault":
        return next(iter(choices(plot, report)), "")
    if plot.shape == "time":
        slowest = max(
            (t for s in report.series for t in s.timelines if not t.fault), key=lambda t: t.slowest, default=None
        )
        return slowest.load.words if slowest else ""
    loads = _loads(plot, report)
    most = max(loads, key=lambda load: (loads.count(load), load), default=None)
    return most.words if most else ""


def _loads(plot: Plot, report: Report) -> list[Load]:
    """Returns the load levels of all series."""
    of: dict[str, Iterable[Point | Distribution | Timeline]] = {
        "distribution": (d for s in report.series for d in s.distributions),
        "runs": (p for s in report.series for p in s.points if any(run.at is not None for run in p.runs)),
        "time": (t for s in report.series for t in s.timelines if not t.fault),
    }
    return [found.load for found in of.get(plot.shape, ())]


def chosen(report: Report, drawn: Iterable[tuple[Plot, list[Frame]]]) -> dict[str, str]:
    """By shape: what is shown at first."""
    return {plot.shape: default(plot, report) for plot, _ in drawn if plot.shape in CHOOSE}
