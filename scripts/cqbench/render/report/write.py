"""Writes a report: the page, next to the latency distributions of its points."""

from __future__ import annotations

from pathlib import Path

from cqbench.formats import storage
from cqbench.render.report import data, hgrm, page

NAME = "report.html"


def write(folder: Path) -> Path:
    """Makes the report of a folder of results in it, next to hgrm/. Returns the page. Raises BadDocument, OSError."""
    made = data.make_all([folder])
    return write_made(made, folder / NAME)


def write_made(made: data.Made, path: Path) -> Path:
    """Writes the page last: if the page is new, so are the files next to it. Raises OSError."""
    text = page.render(made.report)
    hgrm.write(path.parent, made.hgrm)
    storage.write(path, text)
    return path
