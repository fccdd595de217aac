"""How a frame is drawn: Vega-Lite specifications. One serves all methods of a frame, on the page and in figures.

Data come by name ('points', 'ideal', 'fits'). Parameters are set from outside: `hidden` (series -> true), `focus` (a
series or null), `fits`, and the ends of the axes (y_min, y_max, x_min, x_max) that depend on what is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from cqbench.report_kinds import Kind
from cqbench.report_model import Report
from cqbench.report_plots import CHOOSE, Frame, Row
from cqbench.report_style import Look, Theme, config, looks

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name, nothing is loaded from there
SHOWN = {"filter": "!hidden[datum.s]"}
CROSS = "M-1,-1L1,1M-1,1L1,-1"
CEILING = "M-1.2,-1.7H1.2"
PERCENTILES = (0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999)
THOUSANDS = {"format": "~s", "labelExpr": "datum.value === 0 ? '0' : datum.label"}  # 20k, but not 0k
MARGIN = 1.06  # of the y axis above the highest figure

Spec = dict[str, Any]


def spec(frame: Frame, report: Report, theme: Theme) -> Spec:
    """Without data and legend, and with a size of 'container'."""
    style = _Style(looks(report.series), theme)
    style.size = _size(max(len(p.tables["points"]) for p in frame.panels))
    loads = [p.load for s in report.series for p in s.points]
    axis = _rate_axis if frame.shape == "rate" else _count_axis
    x = axis([load.number for load in loads if load.open == (frame.shape == "rate")] or [1])
    drawings = {"tradeoff": _tradeoff, "distribution": _distribution, "time": _time}
    params = {"hidden": {}, "focus": None, "fits": True, **ends(frame, [])}
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": 250,
        "autosize": {"type": "fit", "contains": "padding"},
        "config": config(theme),
        "params": [{"name": name, "value": value} for name, value in params.items()],
        "data": {"name": "points"},
        "transform": [SHOWN],
        **(drawings[frame.shape](frame.kind, style) if frame.shape in drawings else _loads(frame.kind, style, x)),
    }


def _size(rows: int) -> float:
    """Of markers, as a share of the usual: where there are many, smaller ones leave the lines visible."""
    return 1.0 if rows <= 300 else 0.4


def legend(report: Report, theme: Theme, named: Sequence[int]) -> Spec:
    """A drawing of its own beside a frame's: as the page's legend, a piece of line with its marker and the title."""
    style = _Style(looks(report.series), theme)
    rows = [{"s": i, "y": 18 * k + 9, "title": report.series[i].title} for k, i in enumerate(named)]
    ends = {"x": {"value": 0}, "x2": {"value": 32}}
    text = {"type": "text", "align": "left", "baseline": "middle", "color": theme.ink, "limit": 360}
    return {
        "width": 40,
        "height": 18 * len(rows),
        "data": {"values": rows},
        "encoding": {"y": {"field": "y", "type": "quantitative", "scale": None, "axis": None}},
        "layer": [
            {"mark": {"type": "rule", "strokeWidth": 1.6}, "encoding": {**ends, **style.line()}},
            {"mark": _markers(style)["mark"], "encoding": {"x": {"value": 16}, **style.marker()}},
            {"mark": text, "encoding": {"x": {"value": 40}, "text": {"field": "title"}}},
        ],
    }


def axes(frame: Frame) -> dict[str, dict[str, Any]]:
    """Which fields of the rows an axis has to hold, and whether it is logarithmic."""
    found: dict[str, dict[str, Any]] = {"y": {"fields": ["v", "lo", "hi"], "log": frame.kind.log}}
    if frame.shape == "tradeoff":
        found["x"] = {"fields": ["x"], "log": False}
    if frame.shape in CHOOSE:
        found = {"y": {"fields": ["v"], "log": frame.kind.log}, "x": {"fields": ["x"], "log": False, "exact": True}}
    return found


def ends(frame: Frame, rows: Sequence[Row]) -> dict[str, float]:
    """The axes' ends for these rows, as plots.js finds them for the series that are shown."""
    found = {}
    for axis, about in axes(frame).items():
        values = [r[f] for r in rows for f in about["fields"] if r.get(f) is not None] or [1.0]
        margin = 1.0 if about.get("exact") else MARGIN
        found[f"{axis}_min"] = min(values) / margin if about["log"] else 0.0
        found[f"{axis}_max"] = max(values) * margin or 1.0
    return found


class _Style:
    """The encodings that make a series look like itself."""

    def __init__(self, of: Sequence[Look], theme: Theme) -> None:
        self.theme = theme
        self.size = 1.0
        self._numbers = list(range(len(of)))
        self._colours = [theme.colours[look.colour] for look in of]
        self._fills = [theme.paper if look.line.hollow else theme.colours[look.colour] for look in of]
        self._dashes = [list(look.line.dash) for look in of]
        self._shapes = [look.line.shape for look in of]

    def _scaled(self, range_: list[Any]) -> Spec:
        return {"field": "s", "type": "nominal", "scale": {"domain": self._numbers, "range": range_}, "legend": None}

    def stroke(self) -> Spec:
        return {"stroke": self._scaled(self._colours)}

    def line(self) -> Spec:
        return {**self.stroke(), "strokeDash": self._scaled(self._dashes), "opacity": _opacity(1)}

    def marker(self) -> Spec:
        marks = {"fill": self._scaled(self._fills), "shape": self._scaled(self._shapes)}
        return {**self.stroke(), **marks, "opacity": _opacity(1)}


def _opacity(value: float) -> Spec:
    return {"condition": {"test": "focus !== null && focus !== datum.s", "value": 0.12}, "value": value}


def _loads(kind: Kind, style: _Style, x: Spec) -> Spec:
    """Against calls in flight, or the rate asked."""
    theirs = [*_theory(style), _curve(style)] if kind.metrics == ("throughput",) else [_curve(style)]
    even = [_even(style)] if kind.key == "queues" else []
    layers = [_band(style, kind), *even, *theirs, _markers(style), *_doubts(style)]
    return {"encoding": {"x": x}, "layer": [_with_y(layer, kind) for layer in layers]}


def _with_y(layer: Spec, kind: Kind) -> Spec:
    """All layers have the one y axis; those that say their own field keep it."""
    encoding = layer["encoding"]
    y = {**_value_axis(kind), **encoding.get("y", {})}
    if "datum" in y:
        del y["field"]
    return {**layer, "encoding": {**encoding, "y": y}}


def _rate_axis(rates: Sequence[float]) -> Spec:
    axis = {"title": "rate asked, calls/s", **THOUSANDS, "grid": False, "tickCount": 6, "labelFlush": False}
    scale = {"type": "linear", "domain": [0, max(rates) * MARGIN], "nice": False}
    return {"field": "n", "type": "quantitative", "scale": scale, "axis": axis}


def _count_axis(counts: Sequence[float]) -> Spec:
    first, last = min(counts), max(counts)
    if first == last:
        first, last = first / 2, last * 2
    values = [2**k for k in range(math.ceil(math.log2(first)), math.floor(math.log2(last)) + 1)]
    if last > 1.2 * values[-1]:
        values.append(last)
    return {
        "field": "n",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [first, last], "nice": False},
        "axis": {"title": "calls in flight", "values": values, "format": ",d", "grid": False, "labelFlush": False},
    }


def _value_axis(kind: Kind) -> Spec:
    scale = {"domain": [{"expr": "y_min"}, {"expr": "y_max"}], "nice": False}
    return {
        "field": "v",
        "type": "quantitative",
        "scale": {**scale, "type": "log" if kind.log else "linear"},
        "axis": {**_above(kind.unit), **(THOUSANDS if kind.unit == "calls/s" else {"format": ",~r"})},
    }


def _above(title: str) -> Spec:
    """An axis title that can be read without turning the head."""
    return {"title": title, "titleAngle": 0, "titleAlign": "left", "titleX": -34, "titleY": -10, "tickCount": 5}


def _band(style: _Style, kind: Kind) -> Spec:
    # The stroke shows an interval that has no neighbour to make a band with.
    return {
        "name": "bands",
        "mark": {"type": "area", "strokeWidth": 0.6, "invalid": "break-paths-show-path-domains"},
        "transform": [{"filter": "isValid(datum.lo)"}],
        "encoding": {
            "y": {"field": "lo"},
            "y2": {"field": "hi"},
            "color": style.stroke()["stroke"],  # of the filling; `fill` is the scale of the markers'
            **style.stroke(),
            **_curves(),
            "opacity": {"condition": {"test": "focus !== null && focus !== datum.s", "value": 0.03}, "value": 0.16},
        },
    }


def _curves() -> Spec:
    """A series may have more than one curve in a frame."""
    return {"detail": {"field": "k", "type": "nominal"}}


def _curve(style: _Style) -> Spec:
    mark = {"type": "line", "strokeWidth": 1.6, "invalid": "break-paths-show-path-domains"}
    return {"name": "curves", "mark": mark, "encoding": {**style.line(), **_curves()}}


def _markers(style: _Style) -> Spec:
    mark = {"type": "point", "filled": True, "size": 34 * style.size, "strokeWidth": 1.4, "invalid": "filter"}
    return {"name": "markers", "mark": mark, "encoding": style.marker()}


def _doubts(style: _Style) -> list[Spec]:
    """Suspect points are crossed out, partial ones have a ring, those at a limit a ceiling. Over markers, in ink."""
    kinds = (
        ("suspect", "datum.m % 2 == 1", CROSS, 110),
        ("partial", "datum.m % 4 >= 2", "circle", 190),
        ("limited", "datum.m >= 4", CEILING, 110),
    )
    return [
        {
            "name": name,
            "mark": {"type": "point", "shape": shape, "size": size * style.size, "filled": False, "strokeWidth": 1.2},
            "transform": [{"filter": f"isValid(datum.v) && {test}"}],
            "encoding": {"stroke": {"value": style.theme.ink}, "opacity": _opacity(0.85)},
        }
        for name, test, shape, size in kinds
    ]


def _theory(style: _Style) -> list[Spec]:
    """Clipped: the ideal leaves the frame where the figures do not follow, and must not squeeze them."""
    detail = {"detail": {"field": "s", "type": "nominal"}}
    ideal = {"type": "line", "clip": True, "strokeWidth": 1, "strokeDash": [7, 5], "color": style.theme.soft}
    fit = {"type": "line", "clip": True, "strokeWidth": 1.4, "strokeDash": [1, 3], "strokeCap": "round"}
    faint = {"test": "datum.poor", "value": 0.35}
    unfocused = _opacity(1)["condition"]
    return [
        {
            "name": "ideal_lines",
            "data": {"name": "ideal"},
            "mark": ideal,
            "transform": [SHOWN],
            "encoding": {**detail, "opacity": _opacity(1)},
        },
        {
            "name": "fitted",
            "data": {"name": "fits"},
            "mark": fit,
            "transform": [SHOWN, {"filter": "fits"}],
            "encoding": {**style.stroke(), "opacity": {"condition": [unfocused, faint], "value": 1}},
        },
    ]


def _even(style: _Style) -> Spec:
    """The line at 100 %."""
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "color": style.theme.soft, "strokeDash": [2, 3]},
        "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"datum": 100}},
    }


def _tradeoff(kind: Kind, style: _Style) -> Spec:
    scale = {"domain": [{"expr": "x_min"}, {"expr": "x_max"}], "nice": False}
    x = {"field": "x", "type": "quantitative", "scale": scale}
    axis = {"title": "throughput, calls/s", **THOUSANDS, "grid": False, "tickCount": 6, "labelFlush": False}
    order = {"order": {"field": "n", "type": "quantitative"}}
    curve = {"name": "curves", "mark": {"type": "line", "strokeWidth": 1.6}, "encoding": {**style.line(), **order}}
    layers = [curve, _markers(style), *_doubts(style)]
    return {"encoding": {"x": {**x, "axis": axis}}, "layer": [_with_y(layer, kind) for layer in layers]}


def _distribution(kind: Kind, style: _Style) -> Spec:
    places = [_place(p) for p in PERCENTILES]
    axis = {"title": "calls at or below, %", "values": places, "labelExpr": _named(PERCENTILES, places), "grid": True}
    scale = {"domain": [{"expr": "x_min"}, {"expr": "x_max"}], "nice": False}
    x = {"field": "x", "type": "quantitative", "scale": scale, "axis": axis}
    curve = {"name": "curves", "mark": {"type": "line", "strokeWidth": 1.6}, "encoding": style.line()}
    return {"encoding": {"x": x}, "layer": [_with_y(curve, kind)]}


def _time(kind: Kind, style: _Style) -> Spec:
    """A step for each slice; a break where no call ended."""
    scale = {"domain": [{"expr": "x_min"}, {"expr": "x_max"}], "nice": False}
    axis = {"title": "seconds into the window", "grid": False, "tickCount": 8, "labelFlush": False}
    x = {"field": "x", "type": "quantitative", "scale": scale, "axis": axis}
    mark = {"type": "line", "strokeWidth": 1.4, "interpolate": "step", "invalid": "break-paths-show-path-domains"}
    curve = {"name": "curves", "mark": mark, "encoding": style.line()}
    return {"encoding": {"x": x}, "layer": [_with_y(curve, kind)]}


def _place(percentile: float) -> float:
    """On the percentile axis: 90 % at 1, 99 % at 2."""
    return round(-math.log10(1 - percentile / 100), 6)


def _named(percentiles: Iterable[float], places: Iterable[float]) -> str:
    """A Vega expression: place -> the percentile as it is written."""
    pairs = zip(percentiles, places, strict=True)
    return "".join(f"abs(datum.value - {x}) < 0.001 ? '{p:g}' : " for p, x in pairs) + "''"
