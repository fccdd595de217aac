"""The data that a page carries: those from which its scripts draw, and the downloads: all figures as one JSON document,
the points as CSV.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from markupsafe import Markup

from cqbench.formats.escape import csv_of
from cqbench.formats.offered import Load
from cqbench.formats.result import CLOSED, OPEN
from cqbench.model.figures import FIGURES
from cqbench.render.report import axes, plots, rows, specs, style
from cqbench.render.report.kinds import Plot
from cqbench.render.report.model import Point, Report, Value
from cqbench.render.report.plots import Frame, Panel
from cqbench.render.report.rows import Row
from cqbench.render.report.values import SHOWN, short
from cqbench.render.table import Table

LEFT_OUT = ("data", "distributions", "fit")  # itself; in files of their own; drawn only


# For the scripts.


def page_data(report: Report, drawn: Sequence[tuple[Plot, list[Frame]]]) -> dict[str, Any]:
    """Returns the data from which the page's scripts draw."""
    points = [(i, p) for i, s in enumerate(report.series) for p in s.points]
    reasons = list(dict.fromkeys(reason for _, p in points for reason in (*p.warnings, *p.saturated)))
    places = {reason: i for i, reason in enumerate(reasons)}
    grids: dict[tuple[float, ...], int] = {}
    return {
        "series": [
            {"id": s.id, "title": s.title, "method": s.method, "sharing": s.sharing, "run": s.run}
            for s in report.series
        ],
        # Told once, not with each of a point's many figures.
        "points": [[i, p.load.number, rows.marks(p), *_point_data(p, places)] for i, p in points],
        "timed": [[[at, run.number, int(run.unreliable)] for at, run in rows.timed(p)] for _, p in points],
        "against": [{"title": a.title, "base": a.base} for a in report.against],
        "reasons": reasons,
        "chosen": plots.chosen(report, drawn),
        "frames": [_frame_data(plot, f, report, grids) for plot, frames in drawn for f in frames],
        "grids": list(grids),
    }


def _point_data(point: Point, places: dict[str, int]) -> tuple[Any, ...]:
    """Repetitions, warnings, what is saturated, the load in words."""
    warnings, saturated = ([places[reason] for reason in of] for of in (point.warnings, point.saturated))
    return point.repetitions, warnings, saturated, point.load.words


def _frame_data(plot: Plot, frame: Frame, report: Report, grids: dict[tuple[float, ...], int]) -> dict[str, Any]:
    figures = [FIGURES[name] for name in frame.kind.metrics]
    return {
        "id": frame.id,
        "title": ", ".join(filter(None, (plot.title, frame.kind.label))),
        "shape": frame.shape,
        "axes": axes.axes(frame, report),
        "metrics": [{"title": f.label, "unit": f.shown_unit} for f in figures],
        "label": frame.kind.label,
        "unit": frame.kind.unit,
        "spec": specs.spec(frame, report, style.PAGE),
        "panels": [_panel_data(p, grids) for p in frame.panels if not p.missing],
    }


def _panel_data(panel: Panel, grids: dict[tuple[float, ...], int]) -> dict[str, Any]:
    about = {"id": panel.id, "caption": panel.caption}
    if panel.choices:
        return {**about, "choices": {name: _choice(table, grids) for name, table in panel.choices.items()}}
    return {**about, "tables": {name: columns(table) for name, table in panel.tables.items()}}


def columns(table: Sequence[Row]) -> dict[str, list[Any]]:
    """A list for each key, a third of the size of a list of objects; without what the number of the point tells."""
    first = table[0] if table else {}
    told = ("s", "n") if "a" in first or "c" in first else ("s", "n", "m")
    keys = [key for key in first if "p" not in first or key not in told]
    return {key: [_brief(row[key]) for row in table] for key in keys}


def _brief(value: Any) -> Any:
    return short(value) if isinstance(value, float) else value


def _choice(table: Sequence[Row], grids: dict[tuple[float, ...], int]) -> Any:
    return columns(table) if table and "a" in table[0] else _curves(table, grids)


def _curves(table: Iterable[Row], grids: dict[tuple[float, ...], int]) -> list[dict[str, Any]]:
    """Most of the data. Distributions of as many calls have their steps in the same places (grids), as have slices.
    When a point's repetitions were is told once, for all of their figures.
    """
    found = []
    for _, of in itertools.groupby(table, key=lambda row: (row["s"], row.get("p"))):
        some = list(of)
        values = {"v": [_brief(row["v"]) for row in some]}
        if "p" in some[0]:
            found.append({"p": some[0]["p"], **values})
        else:
            grid = grids.setdefault(tuple(row["x"] for row in some), len(grids))
            found.append({"s": some[0]["s"], "c": some[0]["c"], "grid": grid, **values})
    return found


def _dumped(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def element(data: Any) -> Markup:
    """JSON for a <script> element: without '<' nothing in it can end the element or begin a comment."""
    return Markup(_dumped(data).replace("<", "\\u003c"))


def _packed(text: str) -> Markup:
    """Downloads are a third of the file and seldom wanted: compressed, and unpacked when asked for."""
    return Markup(base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode())


# Downloads.


def downloads(report: Report) -> dict[str, Markup]:
    return {"json": _packed(_dumped(report.data)), "csv": _packed(points_csv(report))}


def download(report: Report) -> dict[str, Any]:
    """The report as it is. Loads are numbers: calls in flight, or of an open loop calls per second."""
    figures = [{"name": f.name, "title": f.title, "unit": f.unit, "better": f.better} for f in SHOWN]
    return {"figures": figures, **_plain(report)}


def _plain(value: Any) -> Any:
    if isinstance(value, Load):
        return value.number
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, Table):
        return {"head": [column.title for column in value.columns], "rows": [list(row) for row in value.texts]}
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in LEFT_OUT}
    return value


def points_csv(report: Report) -> str:
    """A row per point, figures under the names and in the units of the results; one that was not measured is empty."""
    head = ["series", "title", "method", "api", "sharing", "setting", "loop", "inflight", "target_rate", "repetitions"]
    head += ["partial", "warnings", "saturated"]
    rows: list[list[object]] = [[*head, *(f"{f.name}{end}" for f in SHOWN for end in ("", "_low", "_high"))]]
    for s in report.series:
        for p in s.points:
            about: list[object] = [s.id, s.title, s.method, s.api, s.sharing, s.setting]
            about += [OPEN, "", f"{p.load.number:g}"] if p.load.open else [CLOSED, f"{p.load.number:g}", ""]
            about_point = [p.repetitions, str(p.partial).lower(), "; ".join(p.warnings), "; ".join(p.saturated)]
            rows.append([*about, *about_point, *(x for f in SHOWN for x in _triple(p.values.get(f.name)))])
    return csv_of(rows)


def _triple(value: Value | None) -> tuple[float | str, ...]:
    if value is None:
        return ("", "", "")
    return tuple("" if v is None else v for v in (value.middle, value.low, value.high))
