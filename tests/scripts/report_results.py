"""Stored results for tests of the report's data, changed as a test wants."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cqbench.render.report.model import Point, Report, Series

DATA = Path(__file__).parent / "data"
EXPERIMENT = DATA / "report/experiment"
REPETITIONS = DATA / "report/repetitions.json"
NAMES = ("streaming.sync.shared", "streaming.sync.separate", "unary.cq.shared", "unary.cq.separate")


def change(path: Path, changer: Callable[[dict[str, Any]], Any]) -> Path:
    data = json.loads(path.read_text())
    changer(data)
    path.write_text(json.dumps(data))
    return path


def copied(tmp_path: Path, changer: Callable[[dict[str, Any]], Any], name: str = "a.json") -> Path:
    """A result file of one point and seven repetitions, changed."""
    return change(Path(shutil.copy(REPETITIONS, tmp_path / name)), changer)


def iterations(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in data["benchmarks"] if entry["run_type"] == "iteration"]


def at(series: Series, inflight: int) -> Point:
    (point,) = [p for p in series.points if p.load.number == inflight]
    return point


def by_title(report: Report, title: str) -> Series:
    (series,) = [s for s in report.series if s.title == title]
    return series


def only(report: Report) -> tuple[Series, Point]:
    """Returns the only series and point of a report."""
    (series,) = report.series
    (point,) = series.points
    return series, point
