"""The plots of a report as PNG and SVG files, for papers: the page's drawings with a title and a legend, on white."""

from __future__ import annotations

from pathlib import Path

import vl_convert

from cqbench import report_plots as plots
from cqbench import report_specs as specs
from cqbench.report_kinds import Plot
from cqbench.report_model import Report
from cqbench.report_plots import Frame, Panel
from cqbench.report_specs import Spec
from cqbench.report_style import PRINT

WIDTH, HEIGHT = 420, 260  # of the plot without its axes; the legend is beside it
PIXELS_PER_INCH = 192


def write(report: Report, folder: Path) -> list[Path]:
    """A PNG and an SVG for each panel with figures, named FRAME-MODE. folder exists. Raises OSError."""
    written = []
    for plot in plots.plots(report):
        for frame in plots.frames(plot, report):
            for panel in frame.panels:
                if not panel.missing:
                    written += _write(figure(plot, frame, panel, report), folder / panel.id)
    return written


def figure(plot: Plot, frame: Frame, panel: Panel, report: Report) -> Spec:
    """A complete specification, data included."""
    whole = specs.spec(frame, report, PRINT)
    ends = specs.ends(frame, [row for p in frame.panels for row in p.tables["points"]])
    drawing = {key: whole[key] for key in ("data", "transform", "encoding", "layer")}
    return {
        "$schema": whole["$schema"],
        "config": whole["config"],
        "background": PRINT.paper,
        "padding": 8,
        "title": {"text": _title(plot, frame, panel)},
        "params": [{**p, "value": ends.get(p["name"], p["value"])} for p in whole["params"]],
        "datasets": panel.tables,
        "hconcat": [{**drawing, "width": WIDTH, "height": HEIGHT}, specs.legend(report, PRINT, _named(panel))],
    }


def _named(panel: Panel) -> list[int]:
    return sorted({row["s"] for row in panel.tables["points"] if row["v"] is not None})


def _title(plot: Plot, frame: Frame, panel: Panel) -> str:
    chosen = panel.chosen.words if panel.chosen else ""
    return ", ".join(part for part in (plot.title, frame.kind.label, panel.caption, chosen) if part)


def _write(spec: Spec, base: Path) -> list[Path]:
    """base: the files' path without their endings."""
    svg = vl_convert.vegalite_to_svg(spec)
    files = {base.with_name(f"{base.name}.svg"): svg.encode()}
    files[base.with_name(f"{base.name}.png")] = vl_convert.svg_to_png(svg, ppi=PIXELS_PER_INCH)
    for path, data in files.items():
        path.write_bytes(data)
    return list(files)
