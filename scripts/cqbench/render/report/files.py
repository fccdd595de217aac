"""The files of a report: the page, the latency distributions next to it; and for papers its plots as PNG and SVG,
with a title and a legend, on white.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import vl_convert

from cqbench.formats import storage
from cqbench.render.report import axes, data, page, plots, specs
from cqbench.render.report.kinds import Plot
from cqbench.render.report.model import Report
from cqbench.render.report.plots import Frame, Panel
from cqbench.render.report.specs import Spec
from cqbench.render.report.style import PRINT

WIDTH, HEIGHT = 420, 260  # of the plot without its axes; the legend is next to it
PIXELS_PER_INCH = 192
NAME = "report.html"
HGRM = "hgrm"  # the folder of the distributions
HGRM_FILE = re.compile(r"[a-z0-9-]+-[0-9]+\.hgrm")


def write(folder: Path) -> Path:
    """Makes the report of a folder of results in it, next to hgrm/. Returns the page. Raises BadDocument, OSError."""
    made = data.make_all([folder])
    return write_made(made, folder / NAME)


def write_made(made: data.Made, path: Path) -> Path:
    """Writes the page last: if the page is new, so are the files next to it. Raises OSError."""
    text = page.render(made.report)
    write_hgrm(path.parent, made.hgrm)
    storage.write(path, text)
    return path


def write_hgrm(folder: Path, files: Mapping[str, str]) -> None:
    """folder/hgrm with these files, by name, and none of an older report. Raises OSError."""
    target = folder / HGRM
    if not files and not target.is_dir():
        return
    target.mkdir(exist_ok=True)
    for old in target.iterdir():
        if HGRM_FILE.fullmatch(old.name) and old.name not in files:
            old.unlink()
    for name, content in files.items():
        storage.write(target / name, content)


# Figures for papers.


def write_figures(report: Report, folder: Path) -> list[Path]:
    """A PNG and an SVG for each panel with figures, named FRAME-MODE. folder exists. Raises OSError."""
    written = []
    for plot, frames in plots.plots(report):
        for frame in frames:
            for panel in frame.panels:
                if not panel.missing:
                    written += _write(figure(plot, frame, panel, report), folder / panel.id)
    return written


def figure(plot: Plot, frame: Frame, panel: Panel, report: Report) -> Spec:
    """A complete specification, data included."""
    ends = axes.ends(frame, report, [row for p in frame.panels for row in p.tables["points"]])
    named = sorted({row["s"] for row in panel.tables["points"] if row["v"] is not None})
    known = {**ends, "named": named, "titles": [s.title for s in report.series]}
    whole = specs.spec(frame, report, PRINT)
    return {
        **whole,
        "background": PRINT.paper,
        "padding": 8,
        "autosize": "pad",
        "width": WIDTH,
        "height": HEIGHT,
        "title": {"text": _title(plot, frame, panel)},
        "params": [{**p, "value": known.get(p["name"], p["value"])} for p in whole["params"]],
        "datasets": panel.tables,
    }


def _title(plot: Plot, frame: Frame, panel: Panel) -> str:
    return ", ".join(part for part in (plot.title, frame.kind.label, panel.caption, panel.chosen) if part)


def _write(spec: Spec, base: Path) -> list[Path]:
    """base: the files' path without their endings."""
    svg = vl_convert.vegalite_to_svg(spec)
    files = {base.with_name(f"{base.name}.svg"): svg.encode()}
    files[base.with_name(f"{base.name}.png")] = vl_convert.svg_to_png(svg, ppi=PIXELS_PER_INCH)
    for path, content in files.items():
        path.write_bytes(content)
    return list(files)
