"""The axes of a frame: where they end, whether they are logarithmic, how they are marked. As plots.js has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from cqbench.render.report.kinds import Kind
from cqbench.render.report.model import Report
from cqbench.render.report.plots import Frame
from cqbench.render.report.rows import Row

PERCENTILES = (0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999)
THOUSANDS = {"format": "~s", "labelExpr": "datum.value === 0 ? '0' : datum.label"}  # 20k, but not 0k
MARGIN = 1.06  # of the y axis above the highest figure
RATIOS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 7, 10, 20, 50)
NEAR_ONE = (0.9, 1.25)  # always on a ratio's axis
LOOSE = 1.5  # intervals extend a ratio's axis to at most this multiple of its medians: a few are very wide

Spec = dict[str, Any]


def axes(frame: Frame, report: Report) -> dict[str, dict[str, Any]]:
    """Which fields of the rows an axis has to hold, where it ends whatever they are, and whether it is logarithmic."""
    y: dict[str, Any] = {"fields": ["v", "lo", "hi"], "log": frame.kind.log}
    if frame.shape.startswith("ratio"):
        y |= {"fields": ["v"], "loose": ["lo", "hi"], "hold": list(NEAR_ONE)}
    if frame.kind.level is not None:
        y["hold"] = [frame.kind.level]
    if frame.shape in ("inflight", "ratio", "rate", "ratio-rate"):
        open_loop = "rate" in frame.shape
        loads = [p.load.number for s in report.series for p in s.points if p.load.open == open_loop] or [1]
        first, last = (0.0, max(loads) * MARGIN) if open_loop else (min(loads), max(loads))
        if first == last:
            first, last = first / 2, last * 2
        room = MARGIN if frame.shape == "ratio" else 1.0  # its bars stand side by side, also at the ends
        return {"x": {"ends": [first / room, last * room], "log": not open_loop, "counts": [first, last]}, "y": y}
    if frame.shape == "fault":
        times = [p.at for s in report.series for t in s.timelines if t.fault for p in t.slices] or [0.0, 1.0]
        return {"x": {"ends": [min(0.0, *times), max(times)], "log": False}, "y": y}
    return {"x": {"fields": ["x"], "log": False, "exact": frame.shape != "tradeoff"}, "y": y}


def ends(frame: Frame, report: Report, rows: Sequence[Row]) -> dict[str, float]:
    """The axes' ends for these rows, as plots.js finds them for the series that are shown."""
    found: dict[str, float] = {}
    for axis, about in axes(frame, report).items():
        low, high = about.get("ends") or _ends(about, rows)
        found |= {f"{axis}_min": low, f"{axis}_max": high}
    return found


def _ends(about: dict[str, Any], rows: Sequence[Row]) -> tuple[float, float]:
    def of(key: str) -> list[float]:
        return [r[f] for r in rows for f in about.get(key, ()) if r.get(f) is not None]

    values = of("fields") + about.get("hold", []) or [1.0]
    low, high = min(values), max(values)
    low, high = (
        min([low, *(max(v, low / LOOSE) for v in of("loose"))]),
        max([high, *(min(v, high * LOOSE) for v in of("loose"))]),
    )
    margin = 1.0 if about.get("exact") else MARGIN
    return (low / margin if about["log"] else 0.0), (high * margin or 1.0)


def x_axis(frame: Frame, report: Report) -> Spec:
    about = axes(frame, report)["x"]
    if frame.shape in ("inflight", "ratio"):
        return _axis("n", "calls in flight", values=_counts(*about["counts"]), format=",d", tickMinStep=1)
    if frame.shape in ("rate", "ratio-rate"):
        return _axis("n", "rate asked, calls/s", tickCount=6, **THOUSANDS)
    if frame.shape == "tradeoff":
        return _axis("x", "throughput, calls/s", tickCount=6, **THOUSANDS)
    if frame.shape == "distribution":
        places = [_place(p) for p in PERCENTILES]
        named = _named(PERCENTILES, places)
        return _axis("x", "calls at or below, %", values=places, labelExpr=named, grid=True)
    words = {"time": "seconds into the window", "fault": "seconds from the fault on"}
    return _axis("x", words.get(frame.shape, "minutes since the first point"), tickCount=8)


def _axis(field: str, title: str, **more: Any) -> Spec:
    """Returns an axis of counts (n, in powers of two) or of anything else."""
    scale: Spec = {"type": "log", "base": 2} if "tickMinStep" in more else {"type": "linear"}
    scale |= {"domain": [{"expr": "x_min"}, {"expr": "x_max"}], "nice": False}
    axis = {"title": title, "grid": False, "labelFlush": False, **more}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def _counts(first: float, last: float) -> list[float]:
    """Powers of two, and the end where it is none."""
    values: list[float] = [2**k for k in range(math.ceil(math.log2(first)), math.floor(math.log2(last)) + 1)]
    return [*values, last] if last > 1.2 * values[-1] else values


def value_axis(kind: Kind) -> Spec:
    scale = {"domain": [{"expr": "y_min"}, {"expr": "y_max"}], "nice": False}
    return {
        "field": "v",
        "type": "quantitative",
        "scale": {**scale, "type": "log" if kind.log else "linear"},
        "axis": {**_above(kind.unit), **_ticks(kind)},
    }


def _ticks(kind: Kind) -> dict[str, Any]:
    if kind.unit == "×":
        return {"values": list(RATIOS), "format": "~r", "labelOverlap": "greedy"}
    faint = {
        "condition": {"test": "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) > 0.01", "value": 0.4},
        "value": 1,
    }
    return THOUSANDS if kind.unit == "calls/s" else {"format": ",~r", **({"gridOpacity": faint} if kind.log else {})}


def _above(title: str) -> Spec:
    """An axis title that can be read without turning the head."""
    return {"title": title, "titleAngle": 0, "titleAlign": "left", "titleX": -34, "titleY": -10, "tickCount": 5}


def _place(percentile: float) -> float:
    """On the percentile axis: 90 % at 1, 99 % at 2."""
    return round(-math.log10(1 - percentile / 100), 6)


def _named(percentiles: Iterable[float], places: Iterable[float]) -> str:
    """A Vega expression: place -> the percentile as it is written."""
    pairs = zip(percentiles, places, strict=True)
    return "".join(f"abs(datum.value - {x}) < 0.001 ? '{p:g}' : " for p, x in pairs) + "''"
