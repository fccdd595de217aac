"""A report as one HTML file that needs no network: text and tables made here, plots drawn by page/*.js in it.

Everything that comes from results is text: Jinja2 escapes it, and data for the scripts is JSON that cannot end its
element. A Content-Security-Policy lets only the scripts written here run, and nothing be loaded.
"""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import itertools
import json
import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from cqbench import report_plots as plots
from cqbench import report_specs as specs
from cqbench import report_style as style
from cqbench.report_model import METRICS, Metric, Point, Report, Series, Value
from cqbench.report_plots import Frame, Panel, Row
from cqbench.report_values import short

FILES = Path(__file__).parent / "page"
SCRIPTS = ("plots.js", "hover.js", "page.js")


def render(report: Report) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FILES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.undefined = jinja2.StrictUndefined
    scripts = [_library(), "\n".join((FILES / name).read_text(encoding="utf-8") for name in SCRIPTS)]
    drawn = [(p, plots.frames(p, report)) for p in plots.plots(report)]
    return environment.get_template("page.html").render(
        report=report,
        made=_date(report.made),
        policy=_policy(scripts),
        scripts=[Markup(s) for s in scripts],
        css=Markup((FILES / "page.css").read_text(encoding="utf-8")),
        colours=_colours(),
        plots=drawn,
        methods=plots.methods(report.series),
        sharings=list(dict.fromkeys(s.sharing for s in report.series)),
        looks=style.looks(report.series),
        repeats=style.repeats(report.series),
        choices={p.key: plots.choices(p, report) for p, _ in drawn},
        chosen=_chosen(report),
        marks=_marks(report),
        tables=[_Table(s) for s in report.series],
        data=_element(_page_data(report, [f for _, frames in drawn for f in frames])),
        downloads={"json": _packed(_dumped(report.data)), "csv": _packed(points_csv(report))},
    )


@lru_cache(maxsize=1)
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed: making the bundle takes a second."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def _policy(scripts: Iterable[str]) -> str:
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{h}'" for h in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _date(text: str) -> str:
    """'3 June 2025, 12:00 UTC' of an RFC 3339 time; anything else as it is."""
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text
    return f"{time.day} {time:%B %Y, %H:%M} {time.tzname() or ''}".strip()


def _colours() -> Markup:
    """The palette as CSS variables."""
    names = [f"c{i}" for i in range(len(style.COLOURS))] + ["ink", "soft", "grid", "paper"]
    pairs = [*style.COLOURS, style.INK, style.SOFT, style.GRID, style.PAPER]
    return Markup(" ".join(f"--{n}: light-dark({a}, {b});" for n, (a, b) in zip(names, pairs, strict=True)))


def _marks(report: Report) -> dict[str, bool]:
    points = [p for s in report.series for p in s.points]
    return {mark: any(getattr(p, mark) for p in points) for mark in ("suspect", "partial", "limits")}


def _chosen(report: Report) -> dict[str, str]:
    """By shape: the load that is shown at first, in words."""
    found = {plot.shape: plots.default_load(plot, report) for plot in plots.plots(report) if plot.shape in plots.CHOOSE}
    return {shape: load.words for shape, load in found.items() if load}


def _page_data(report: Report, frames: Sequence[Frame]) -> dict[str, Any]:
    """What the scripts need to draw."""
    points = [(i, p) for i, s in enumerate(report.series) for p in s.points]
    reasons = list(dict.fromkeys(reason for _, p in points for reason in (*p.suspect, *p.limits)))
    places = {reason: i for i, reason in enumerate(reasons)}
    grids: dict[tuple[float, ...], int] = {}
    drawn = [_frame_data(f, report, grids) for f in frames if any(not p.missing for p in f.panels)]
    return {
        "series": [{"id": s.id, "title": s.title, "method": s.method, "sharing": s.sharing} for s in report.series],
        # Told once, not with each of a point's many figures.
        "points": [[i, p.load.number, plots.marks(p), *_point_data(p, places)] for i, p in points],
        "reasons": reasons,
        "chosen": _chosen(report),
        "frames": drawn,
        "grids": list(grids),
    }


def _point_data(point: Point, places: dict[str, int]) -> tuple[Any, ...]:
    """Repetitions, doubts, limits, the load in words."""
    doubts, limits = ([places[reason] for reason in of] for of in (point.suspect, point.limits))
    return point.repetitions, doubts, limits, point.load.words


def _frame_data(frame: Frame, report: Report, grids: dict[tuple[float, ...], int]) -> dict[str, Any]:
    metrics = [plots.BY_KEY[k] for k in frame.kind.metrics]
    return {
        "id": frame.id,
        "shape": frame.shape,
        "axes": specs.axes(frame),
        "metrics": [{"title": m.title, "unit": m.unit} for m in metrics],
        "label": frame.kind.label,
        "unit": frame.kind.unit,
        "spec": specs.spec(frame, report, style.PAGE),
        "panels": [_panel_data(p, grids) for p in frame.panels if not p.missing],
    }


def _panel_data(panel: Panel, grids: dict[tuple[float, ...], int]) -> dict[str, Any]:
    if panel.choices:
        return {"id": panel.id, "choices": {n.words: _curves(rows, grids) for n, rows in panel.choices.items()}}
    return {"id": panel.id, "tables": {name: columns(rows) for name, rows in panel.tables.items()}}


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """A list for each key, a third of the size of a list of objects; without what the number of the point tells."""
    keys = [key for key in (rows[0] if rows else ()) if "p" not in rows[0] or key not in ("s", "n", "m")]
    return {key: [short(v) if isinstance(v := r[key], float) else v for r in rows] for key in keys}


def _curves(rows: Iterable[Row], grids: dict[tuple[float, ...], int]) -> list[dict[str, Any]]:
    """Most of the data. Distributions of as many calls have their steps in the same places (grids), as have slices."""
    of_series = [list(of) for _, of in itertools.groupby(rows, key=lambda row: row["s"])]
    return [
        {
            "s": some[0]["s"],
            "c": some[0]["c"],
            "grid": grids.setdefault(tuple(r["x"] for r in some), len(grids)),
            "v": [None if r["v"] is None else short(r["v"]) for r in some],
        }
        for some in of_series
    ]


def _dumped(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _element(data: Any) -> Markup:
    """JSON for a <script> element: without '<' nothing in it can end the element or begin a comment."""
    return Markup(_dumped(data).replace("<", "\\u003c"))


def _packed(text: str) -> Markup:
    """Downloads are a third of the file and seldom wanted: compressed, and unpacked when asked for."""
    return Markup(base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode())


def points_csv(report: Report) -> str:
    """A row per point; a figure that was not measured is an empty field."""
    head = ["series", "title", "method", "api", "sharing", "setting", "loop", "inflight", "rate_asked", "repetitions"]
    head += ["partial", "suspect", "limits"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*head, *(name for m in METRICS for name in (m.key, f"{m.key}_low", f"{m.key}_high"))])
    for s in report.series:
        for p in s.points:
            about = [s.id, *map(_cell, (s.title, s.method, s.api, s.sharing, s.setting))]
            about += ["open", "", p.load.number] if p.load.open else ["closed", p.load.number, ""]
            doubts = [p.repetitions, str(p.partial).lower(), *(_cell("; ".join(of)) for of in (p.suspect, p.limits))]
            writer.writerow([*about, *doubts, *(x for m in METRICS for x in _triple(p.values.get(m.key)))])
    return out.getvalue()


def _cell(text: str) -> str:
    """Spreadsheets take a text that begins like a formula for one."""
    return f"'{text}" if re.match(r"[=+\-@\t\r]", text) else text


def _triple(value: Value | None) -> tuple[float | str, ...]:
    if value is None:
        return ("", "", "")
    return tuple("" if v is None else v for v in (value.middle, value.low, value.high))


def number(value: float) -> str:
    """Four significant digits, thousands separated; whole numbers from 1,000 on. As figure() in hover.js."""
    rounded = float(f"{value:.4g}")
    if abs(rounded) >= 1000 or rounded == int(rounded):
        return f"{value:,.0f}"
    places = 3 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{places}f}".rstrip("0")


class _Table:
    """A series' figures as the page's table shows them: the columns that have any."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self.metrics: list[Metric] = [m for m in METRICS if any(m.key in p.values for p in series.points)]
        self.remarks = any(p.suspect or p.partial or p.limits for p in series.points)
        self.load_title = "Rate asked, calls/s" if series.open else "In flight"

    def cells(self, point: Point) -> list[tuple[str, str]]:
        """(median, interval) for each metric; '' for what there is not."""
        return [self._texts(point.values.get(m.key)) for m in self.metrics]

    @staticmethod
    def _texts(value: Value | None) -> tuple[str, str]:
        if value is None:
            return ("-", "")
        if value.low is None or value.high is None:
            return (number(value.middle), "")
        return (number(value.middle), f"{number(value.low)}–{number(value.high)}")

    @staticmethod
    def mark(point: Point) -> str:
        return (" ×" if point.suspect else "") + (" ^" if point.limits else "") + ("°" if point.partial else "")

    @staticmethod
    def remark(point: Point) -> str:
        parts = ["cut short"] * point.partial + [f"suspect: {'; '.join(point.suspect)}"] * bool(point.suspect)
        parts += [f"limit: {'; '.join(point.limits)}"] * bool(point.limits)
        return "; ".join(parts)

    @staticmethod
    def load(point: Point) -> str:
        return number(point.load.number)
