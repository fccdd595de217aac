"""How a frame is drawn: Vega-Lite specifications. One serves all methods of a frame, on the page and in figures.

Data come by name ('points', 'dots', 'ideal', 'fits', 'knees'). Parameters are set from outside: `hidden` (series ->
true), `focus` (a series or null), `fits`, `dots`, `titles` of all series and those
`named` in the legend, and the ends of the axes (y_min, y_max, x_min,
x_max).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cqbench.formats.figures import THROUGHPUT
from cqbench.render.report import axes
from cqbench.render.report.kinds import Kind
from cqbench.render.report.model import Report
from cqbench.render.report.plots import Frame
from cqbench.render.report.style import PAGE, Look, Theme, config, looks

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name, nothing is loaded from there
SHOWN = {"filter": "!hidden[datum.s]"}
CROSS = "M-1,-1L1,1M-1,1L1,-1"
CEILING = "M-1.2,-1.7H1.2"
WORTH = 1.1  # a ratio from which on a change is worth it
# image.js uses this, too, for the page's drawings.
LEGEND = {"title": None, "labelExpr": "titles[datum.value]", "values": {"expr": "named"}, "symbolOpacity": 1}

Spec = dict[str, Any]


def spec(frame: Frame, report: Report, theme: Theme) -> Spec:
    """Without data, and with a size of 'container'. No legend for the page, which has one of its own."""
    style = _Style(looks(report.series), theme)
    style.size = _size(max(len(p.tables["points"]) for p in frame.panels))
    drawings = {"tradeoff": _tradeoff, "distribution": _distribution, "runs": _runs, "time": _time, "fault": _fault}
    drawings |= dict.fromkeys(("ratio", "ratio-rate"), _ratios)
    draw = drawings.get(frame.shape, _loads)
    fixed: dict[str, Any] = {"hidden": {}, "focus": None, "fits": True, "dots": True, "titles": [], "named": []}
    params = fixed | axes.ends(frame, report, [])
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": 250,
        "autosize": {"type": "fit", "contains": "padding"},
        "config": config(theme),
        "params": [{"name": name, "value": value} for name, value in params.items()],
        "data": {"name": "points"},
        "transform": [SHOWN],
        "encoding": {"x": axes.x_axis(frame, report)},
        "layer": [_with_y(layer, frame.kind) for layer in draw(frame.kind, style)],
    }


def _size(rows: int) -> float:
    """Returns the size of markers as a share of the usual: many small ones leave the lines visible."""
    return 1.0 if rows <= 300 else 0.4


class _Style:
    """The encodings that make a series look like itself."""

    def __init__(self, of: Sequence[Look], theme: Theme) -> None:
        self.theme = theme
        self.size = 1.0
        self._numbers = list(range(len(of)))
        self._colours = [look.of(theme) for look in of]
        self._fills = [theme.paper if look.line.hollow else look.of(theme) for look in of]
        self._dashes = [list(look.line.dash) for look in of]
        self._shapes = [look.line.shape for look in of]

    def _scaled(self, range_: list[Any]) -> Spec:
        scale = {"domain": self._numbers, "range": range_}
        return {"field": "s", "type": "nominal", "scale": scale, "legend": None if self.theme is PAGE else LEGEND}

    def stroke(self) -> Spec:
        return {"stroke": self._scaled(self._colours)}

    def line(self) -> Spec:
        return {**self.stroke(), "strokeDash": self._scaled(self._dashes), "opacity": _opacity(1)}

    def marker(self) -> Spec:
        marks = {"fill": self._scaled(self._fills), "shape": self._scaled(self._shapes)}
        return {**self.stroke(), **marks, "opacity": _opacity(1)}


def _opacity(value: float) -> Spec:
    return {"condition": {"test": "focus !== null && focus !== datum.s", "value": 0.12}, "value": value}


def _loads(kind: Kind, style: _Style) -> list[Spec]:
    """Against calls in flight, or the rate asked."""
    theirs = _theory(style) if kind.metrics == (THROUGHPUT,) else []
    levels = [_level(style, kind.level)] if kind.level is not None else []
    return [_band(style, kind), *levels, *theirs, _dots(style), _curve(style), _markers(style), *_doubts(style)]


def _ratios(kind: Kind, style: _Style) -> list[Spec]:
    """With bars for intervals, side by side: several bands over each other would be a fog."""
    bar = {
        "name": "bars",
        "mark": {"type": "rule", "strokeWidth": 1.8, "clip": True},
        "transform": [{"filter": "isValid(datum.lo)"}],
        "encoding": {"y": {"field": "lo"}, "y2": {"field": "hi"}, **style.stroke(), "opacity": _opacity(0.6)},
    }
    levels = [_level(style, 1.0), _level(style, WORTH, [6, 4])]
    layers = [bar, _curve(style), _markers(style), *_doubts(style)]
    return levels + [{**layer, "mark": {**layer["mark"], "xOffset": {"expr": "5 * datum.i"}}} for layer in layers]


def _with_y(layer: Spec, kind: Kind) -> Spec:
    """All layers have the one y axis; those that say their own field keep it."""
    encoding = layer["encoding"]
    if "y" in encoding and encoding["y"] is None:
        return {**layer, "encoding": {key: value for key, value in encoding.items() if key != "y"}}
    y = {**axes.value_axis(kind), **encoding.get("y", {})}
    if "datum" in y:
        del y["field"]
    return {**layer, "encoding": {**encoding, "y": y}}


def _band(style: _Style, kind: Kind) -> Spec:
    # The stroke shows an interval that has no neighbour to make a band with.
    return {
        "name": "bands",
        "mark": {"type": "area", "strokeWidth": 0.6, "clip": True, "invalid": "break-paths-show-path-domains"},
        "transform": [{"filter": "isValid(datum.lo)"}],
        "encoding": {
            "y": {"field": "lo"},
            "y2": {"field": "hi"},
            "fill": {"value": {"expr": "scale('stroke', datum.s)"}},  # the scale `fill` is the markers'
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


def _dots(style: _Style) -> Spec:
    """The repetitions around their median, the first on the left."""
    side = {"expr": "2.5 * datum.i"}
    return {
        "name": "repetitions",
        "data": {"name": "dots"},
        "mark": {"type": "point", "shape": "circle", "size": 7, "strokeWidth": 0.8, "xOffset": side, "clip": True},
        "transform": [SHOWN, {"filter": "dots"}],
        "encoding": {**style.stroke(), "opacity": _opacity(0.6)},
    }


def _doubts(style: _Style) -> list[Spec]:
    """Unreliable points are crossed out in their own colour; saturated ones have a ceiling, partial ones a ring."""
    kinds = (
        ("unreliable", "datum.m % 2 == 1", CROSS, 110, style.theme.warning),
        ("partial", "datum.m % 4 >= 2", "circle", 190, style.theme.ink),
        ("saturated", "datum.m >= 4", CEILING, 110, style.theme.ink),
    )
    return [
        {
            "name": name,
            "mark": {"type": "point", "shape": shape, "size": size * style.size, "filled": False, "strokeWidth": 1.2},
            "transform": [{"filter": f"isValid(datum.v) && {test}"}],
            "encoding": {"stroke": {"value": colour}, "opacity": _opacity(0.85)},
        }
        for name, test, shape, size, colour in kinds
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
        {
            "name": "knees",
            "data": {"name": "knees"},
            "mark": {"type": "rule", "strokeWidth": 1.2, "strokeDash": [2, 3]},
            "transform": [SHOWN],
            "encoding": {**style.stroke(), "opacity": _opacity(0.9), "y": None},
        },
    ]


def _level(style: _Style, value: float, dash: Sequence[int] = ()) -> Spec:
    """A line to compare with."""
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "color": style.theme.soft, "strokeDash": list(dash), "clip": True},
        "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"datum": value}},
    }


def _tradeoff(kind: Kind, style: _Style) -> list[Spec]:
    order = {"order": {"field": "n", "type": "quantitative"}}
    curve = {"name": "curves", "mark": {"type": "line", "strokeWidth": 1.6}, "encoding": {**style.line(), **order}}
    return [curve, _markers(style), *_doubts(style)]


def _distribution(kind: Kind, style: _Style) -> list[Spec]:
    return [{"name": "curves", "mark": {"type": "line", "strokeWidth": 1.6}, "encoding": style.line()}]


def _runs(kind: Kind, style: _Style) -> list[Spec]:
    """Thin lines lead the eye from one repetition to the next."""
    levels = [_level(style, kind.level)] if kind.level is not None else []
    curve = {"name": "curves", "mark": {"type": "line", "strokeWidth": 0.6}, "encoding": style.line()}
    return [*levels, curve, _markers(style), *_doubts(style)]


def _time(kind: Kind, style: _Style) -> list[Spec]:
    """A step for each slice; a break where no call ended."""
    mark = {"type": "line", "strokeWidth": 1.4, "interpolate": "step", "invalid": "break-paths-show-path-domains"}
    return [{"name": "curves", "mark": mark, "encoding": style.line()}]


def _fault(kind: Kind, style: _Style) -> list[Spec]:
    """The same from the fault on, which is an upright line."""
    mark = {"type": "rule", "color": style.theme.soft, "strokeDash": [6, 4], "clip": True}
    begins = {"name": "begins", "data": {"values": [{"x": 0}]}, "mark": mark, "encoding": {"y": None}}
    return [begins, *_time(kind, style)]
