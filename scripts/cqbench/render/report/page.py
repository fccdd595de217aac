"""A report as one HTML file that needs no network: text and tables made here, plots drawn by page/*.js in it.

Everything that comes from results is text: Jinja2 escapes it, and data for the scripts is JSON that cannot end its
element. A Content-Security-Policy lets only the scripts written here run, and nothing be loaded.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from cqbench.render.report import axes, bars, download, plots, rows, specs, style
from cqbench.render.report.kinds import Plot
from cqbench.render.report.model import METRICS, Metric, Point, Report, Series, Value
from cqbench.render.report.plots import Frame, Panel
from cqbench.render.report.rows import Row
from cqbench.render.report.values import number, short

FILES = Path(__file__).parent / "page"
SCRIPTS = ("state.js", "plots.js", "hover.js", "zoom.js", "image.js", "page.js")
MAX_TITLES = 3  # of what is compared, in a choice


def render(report: Report) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FILES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.undefined = jinja2.StrictUndefined
    scripts = [_library(), "\n".join((FILES / name).read_text(encoding="utf-8") for name in SCRIPTS)]
    drawn = plots.plots(report)
    return environment.get_template("page.html").render(
        report=report,
        made=_date(report.made),
        policy=_policy(scripts),
        scripts=[Markup(s) for s in scripts],
        css=Markup((FILES / "page.css").read_text(encoding="utf-8")),
        colours=_colours(),
        bars=bars.make(report),
        top=[of for of in drawn if of[0].top],
        plots=[of for of in drawn if not of[0].top],
        absent=plots.absent(report),
        methods=plots.methods(report.series),
        sharings=list(dict.fromkeys(s.sharing for s in report.series)),
        looks=style.looks(report.series),
        repeats=style.repeats(report.series),
        choices={plot.key: _choices(plot, report) for plot, _ in drawn},
        chosen=_chosen(report, drawn),
        marks=_marks(report),
        tables=[_Table(s) for s in report.series],
        data=_element(_page_data(report, drawn)),
        downloads={"json": _packed(_dumped(report.data)), "csv": _packed(download.points_csv(report))},
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
    names = [f"c{i}" for i in range(len(style.COLOURS))] + ["ink", "soft", "grid", "paper", "warning"]
    pairs = [*style.COLOURS, style.INK, style.SOFT, style.GRID, style.PAPER, style.WARNING]
    found = [f"--{n}: light-dark({a}, {b});" for n, (a, b) in zip(names, pairs, strict=True)]
    mixed = f"{100 * style.PALER:.0f}%, var(--paper)"
    found += [f"--p{i}: color-mix(in srgb, var(--c{i}) {mixed});" for i in range(len(style.COLOURS))]
    return Markup(" ".join(found))


def _marks(report: Report) -> dict[str, bool]:
    points = [p for s in report.series for p in s.points]
    return {mark: any(getattr(p, mark) for p in points) for mark in ("warnings", "partial", "saturated")}


def _choices(plot: Plot, report: Report) -> list[tuple[str, str]]:
    """Key and words; none where there is nothing to choose."""
    keys = plots.choices(plot, report)
    if not plot.shape.startswith("ratio"):
        return [(key, key) for key in keys]
    titles = {key: list(dict.fromkeys(a.title for a in report.against if a.axis == key)) for key in keys}
    more = {key: ", ..." if len(titles[key]) > MAX_TITLES else "" for key in keys}
    return [(key, f"{key}: {', '.join(titles[key][:MAX_TITLES])}{more[key]}") for key in keys]


def _chosen(report: Report, drawn: Iterable[tuple[Plot, list[Frame]]]) -> dict[str, str]:
    """By shape: what is shown at first."""
    return {plot.shape: plots.default(plot, report) for plot, _ in drawn if plot.shape in plots.CHOOSE}


def _page_data(report: Report, drawn: Sequence[tuple[Plot, list[Frame]]]) -> dict[str, Any]:
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
        "chosen": _chosen(report, drawn),
        "frames": [_frame_data(plot, f, report, grids) for plot, frames in drawn for f in frames],
        "grids": list(grids),
    }


def _point_data(point: Point, places: dict[str, int]) -> tuple[Any, ...]:
    """Repetitions, warnings, what is saturated, the load in words."""
    warnings, saturated = ([places[reason] for reason in of] for of in (point.warnings, point.saturated))
    return point.repetitions, warnings, saturated, point.load.words


def _frame_data(plot: Plot, frame: Frame, report: Report, grids: dict[tuple[float, ...], int]) -> dict[str, Any]:
    metrics = [plots.BY_KEY[k] for k in frame.kind.metrics]
    return {
        "id": frame.id,
        "title": ", ".join(filter(None, (plot.title, frame.kind.label))),
        "shape": frame.shape,
        "axes": axes.axes(frame, report),
        "metrics": [{"title": m.title, "unit": m.unit} for m in metrics],
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


def _element(data: Any) -> Markup:
    """JSON for a <script> element: without '<' nothing in it can end the element or begin a comment."""
    return Markup(_dumped(data).replace("<", "\\u003c"))


def _packed(text: str) -> Markup:
    """Downloads are a third of the file and seldom wanted: compressed, and unpacked when asked for."""
    return Markup(base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode())


class _Table:
    """A series' figures as the page's table shows them: the columns that have any."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self.metrics: list[Metric] = [m for m in METRICS if any(m.key in p.values for p in series.points)]
        self.remarks = any(p.warnings or p.partial or p.saturated for p in series.points)
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
        return (" ×" if point.warnings else "") + (" ^" if point.saturated else "") + ("°" if point.partial else "")

    @staticmethod
    def remark(point: Point) -> str:
        parts = ["cut short"] * point.partial + [f"warning: {'; '.join(point.warnings)}"] * bool(point.warnings)
        parts += [f"saturated: {'; '.join(point.saturated)}"] * bool(point.saturated)
        return "; ".join(parts)

    @staticmethod
    def load(point: Point) -> str:
        return number(point.load.number)
