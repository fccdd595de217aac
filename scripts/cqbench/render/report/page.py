"""A report as one HTML file that needs no network: text and tables made here, plots drawn by page/*.js in it.

Everything that comes from results is text: Jinja2 escapes it, and data for the scripts is JSON that cannot end its
element. A Content-Security-Policy lets only the scripts written here run, and nothing be loaded.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import jinja2
from markupsafe import Markup

from cqbench.render import html
from cqbench.render.report import bars, bundle, embedded, plots, style
from cqbench.render.report.kinds import Plot
from cqbench.render.report.model import Point, Report, Series
from cqbench.render.report.values import SHOWN, number, texts

FILES = Path(__file__).parent / "page"
SCRIPTS = ("state.js", "plots.js", "hover.js", "zoom.js", "image.js", "page.js")
MAX_TITLES = 3  # of what is compared, in a choice


def render(report: Report) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FILES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.undefined = jinja2.StrictUndefined
    scripts = [bundle.scripts(), "\n".join((FILES / name).read_text(encoding="utf-8") for name in SCRIPTS)]
    drawn = plots.plots(report)
    return environment.get_template("page.html").render(
        report=report,
        grid=html.table,
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
        chosen=plots.chosen(report, drawn),
        marks=_marks(report),
        tables=[_Table(s) for s in report.series],
        data=embedded.element(embedded.page_data(report, drawn)),
        downloads=embedded.downloads(report),
    )


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


class _Table:
    """A series' figures as the page's table shows them: the columns that have any."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self.figures = [f for f in SHOWN if any(f.name in p.values for p in series.points)]
        self.remarks = any(p.warnings or p.partial or p.saturated for p in series.points)
        self.load_title = "Rate asked, calls/s" if series.open else "In flight"

    def cells(self, point: Point) -> list[tuple[str, str]]:
        """(median, interval) for each figure."""
        return [texts(point.values, figure) for figure in self.figures]

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
