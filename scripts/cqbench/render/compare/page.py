"""A comparison, or a history, as one HTML file that needs no network: tables, and plots drawn here.

Everything that comes from results is text: Jinja2 escapes it, and Vega escapes what it draws. There are no scripts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import vl_convert
from markupsafe import Markup

from cqbench.analysis.compare.gates import Outcome
from cqbench.analysis.compare.history import Found, Line
from cqbench.analysis.compare.points import Comparison, Part
from cqbench.analysis.compare.sections import Point
from cqbench.analysis.compare.sides import Side
from cqbench.formats import histograms
from cqbench.model.metric import Metric
from cqbench.model.ratio import Sample, values
from cqbench.model.series import Repetition
from cqbench.render import html
from cqbench.render.compare import history as history_output
from cqbench.render.compare import tables, text
from cqbench.render.table import Table, plain

MAX_PLOTS = 120  # points that are drawn; the tables have all
PER_DECADE = 25
COLOURS = ("var(--before)", "var(--after)")
INK, SOFT, GRID = "var(--ink)", "var(--soft)", "var(--grid)"
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {"labelColor": SOFT, "titleColor": SOFT, "gridColor": GRID, "domainColor": SOFT, "tickColor": SOFT},
    "legend": {"labelColor": INK, "titleColor": SOFT},
    "header": {"labelColor": INK, "titleColor": INK},
    "title": {"color": INK},
}


def render(comparison: Comparison, sides: Sequence[Side], outcomes: Sequence[Outcome]) -> str:
    """The page of a comparison."""
    plots, left = [], MAX_PLOTS
    for part in comparison.parts:
        for pair in part.section.pairs:
            points = [p for p in part.section.points if p.scenario == pair.title][:left]
            left -= len(points)
            plots += [(_headed(comparison, part, pair.title), drawn) for drawn in _plots(comparison, part, points)]
    blocks: dict[str, Table] = {}
    for row in tables.rows(comparison):
        title = "in total" if row.point is None else row.point.scenario or "points"
        headed = _headed(comparison, row.part, title)
        text.add(blocks.setdefault(headed, text.table(comparison)), row.title, row.figure)
    return _page(
        "comparison",
        heading=text.heading(comparison, sides),
        gates=[line for outcome in outcomes for line in text.gate_lines(outcome)],
        blocks=blocks,
        plots=plots,
        notes=[*text.notes(comparison, sides), *([f"drawn: the first {MAX_PLOTS} points"] if left <= 0 else [])],
        legend=text.legend(comparison),
    )


def of_history(found: Found, lines: Sequence[Line]) -> str:
    """The page of a history; lines that changed come first."""
    ordered = sorted(lines, key=lambda line: not line.changes)
    shown = ordered[:MAX_PLOTS]
    changes = [(_named(line), words) for line in ordered for words in history_output.words(found, line)]
    notes = [f"drawn: {MAX_PLOTS} of {len(lines)} lines, those with a change first"] if len(lines) > MAX_PLOTS else []
    return _page(
        "history",
        heading=history_output.heading(found, lines),
        gates=[],
        blocks={"Changes": plain(("point", "change"), changes)} if changes else {},
        plots=[(_named(line), _over_time(line)) for line in shown],
        notes=notes,
        legend=[history_output.rule()],
    )


def _page(what: str, **told: Any) -> str:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.undefined = jinja2.StrictUndefined
    return environment.get_template("page.html").render(what=what, grid=html.table, **told) + "\n"


def _headed(comparison: Comparison, part: Part, title: str) -> str:
    section = part.section
    return f"{title}: {section.after} against {section.before}" if len(comparison.parts) > 1 else title


def _named(line: Line) -> str:
    return ", ".join(filter(None, (line.scenario, line.place.words, text.titled(line.metric))))


def _svg(spec: dict[str, Any]) -> Markup:
    return Markup(vl_convert.vegalite_to_svg({**spec, "config": CONFIG}))


def _plots(comparison: Comparison, part: Part, points: Sequence[Point]) -> list[Markup]:
    """Returns the plots of a scenario: latencies on both sides, and the repetitions."""
    names = part.section.before, part.section.after
    drawn = []
    density = [row for p in points for i in (0, 1) for row in _density(p, i, names[i])]
    if density:
        drawn.append(_svg(_areas(density, names)))
    for metric in comparison.detailed[:1]:
        dots = [row for p in points for i in (0, 1) for row in _dots(p, i, names[i], metric)]
        if dots:
            drawn.append(_svg(_strips(dots, names, metric)))
    return drawn


def _density(point: Point, which: int, name: str) -> list[dict[str, Any]]:
    """Shares of calls by latency, the bins as wide on a logarithmic scale."""
    found = [_histogram(sample) for sample in (point.before, point.after)[which]]
    whole = [histogram for histogram in found if histogram is not None]
    if not whole:
        return []
    merged = histograms.merge(whole)
    counts = np.diff(merged.seen, prepend=0)
    bins = np.floor(np.log10(merged.values / 1000) * PER_DECADE).astype(int)
    shares = np.bincount(bins - bins.min(), weights=counts) / merged.calls * 100
    return [
        {"place": point.place.words, "side": name, "us": float(10 ** ((bins.min() + i + 0.5) / PER_DECADE)), "share": s}
        for i, s in enumerate([0.0, *shares.tolist(), 0.0], -1)
    ]


def _histogram(sample: Sample) -> Any:
    """None where there is none, or none that can be read: the figures are those of the result."""
    measured = sample.measured if isinstance(sample, Repetition) else None
    if measured is None or measured.latency_histogram is None:
        return None
    try:
        return histograms.decode(measured.latency_histogram, measured.latency_samples)
    except histograms.BadHistogram:
        return None


def _dots(point: Point, which: int, name: str, metric: Metric) -> list[dict[str, Any]]:
    found = values((point.before, point.after)[which], metric.key)
    return [{"place": point.place.words, "side": name, "value": value * metric.scale} for value in found]


def _side(names: tuple[str, str]) -> dict[str, Any]:
    scale = {"domain": list(names), "range": list(COLOURS)}
    return {
        "field": "side",
        "type": "nominal",
        "scale": scale,
        "sort": None,
        "legend": {"title": None, "orient": "top"},
    }


def _in_order(rows: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["place"] for row in rows))


def _faceted(rows: Sequence[dict[str, Any]], columns: int, layers: Any) -> dict[str, Any]:
    return {
        "data": {"values": rows},
        "facet": {"field": "place", "type": "nominal", "sort": _in_order(rows), "title": None},
        "columns": columns,
        "spec": layers,
        "resolve": {"scale": {"x": "independent"}},
    }


def _areas(rows: Sequence[dict[str, Any]], names: tuple[str, str]) -> dict[str, Any]:
    x = {"field": "us", "type": "quantitative", "scale": {"type": "log", "nice": False}, "title": "latency, us"}
    y = {"field": "share", "type": "quantitative", "stack": None, "title": "% of calls"}
    mark = {"type": "area", "interpolate": "monotone", "fillOpacity": 0.3, "line": {"strokeWidth": 1.5}}
    encoding = {"x": {**x, "axis": {"tickCount": 5, "format": "~s"}}, "y": y, "color": _side(names)}
    return _faceted(rows, 3, {"width": 250, "height": 130, "mark": mark, "encoding": encoding})


def _strips(rows: Sequence[dict[str, Any]], names: tuple[str, str], metric: Metric) -> dict[str, Any]:
    x = {"field": "value", "type": "quantitative", "scale": {"zero": False}, "title": text.titled(metric)}
    y = {"field": "side", "type": "nominal", "sort": None, "title": None}
    dot = {"type": "point", "filled": True, "size": 40, "opacity": 0.6}
    middle = {"type": "tick", "thickness": 2, "size": 20}
    layer = [
        {
            "mark": dot,
            "encoding": {"x": {**x, "axis": {"tickCount": 5, "format": "~s"}}, "y": y, "color": _side(names)},
        },
        {"mark": middle, "encoding": {"x": {**x, "aggregate": "median"}, "y": y, "color": _side(names)}},
    ]
    return _faceted(rows, 3, {"width": 250, "height": 50, "layer": layer})


def _over_time(line: Line) -> Markup:
    """Runs in their order, a rule where it changed and the means of the segments."""
    ends = [0, *(change.at for change in line.changes), len(line.values)]
    rows = []
    for first, last in itertools.pairwise(ends):
        part = [value * line.metric.scale for _, value in line.values[first:last]]
        middle = float(np.exp(np.mean(np.log(part))))
        for i, value in enumerate(part, first):
            rows.append({"n": i + 1, "value": value, "mean": middle, "segment": first})
    x = {"field": "n", "type": "quantitative", "title": "run", "scale": {"nice": False}, "axis": {"tickMinStep": 1}}
    y = {"field": "value", "type": "quantitative", "scale": {"zero": False}, "title": text.titled(line.metric)}
    level = {"x": x, "y": {**y, "field": "mean"}, "detail": {"field": "segment"}}
    layer: list[dict[str, Any]] = [
        {"mark": {"type": "line", "strokeWidth": 2, "color": COLOURS[1]}, "encoding": level},
        {"mark": {"type": "point", "filled": True, "size": 40, "color": COLOURS[0]}, "encoding": {"x": x, "y": y}},
    ]
    if line.changes:
        marks = {"values": [{"n": change.at + 0.5} for change in line.changes]}
        rule = {"type": "rule", "strokeDash": [4, 3], "color": INK}
        layer.append({"data": marks, "mark": rule, "encoding": {"x": x}})
    return _svg({"width": 640, "height": 140, "data": {"values": rows}, "layer": layer})
