"""What can be downloaded from a report: all figures and the verdict's, as one JSON document with short numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cqbench import verdict
from cqbench.documents import CLOSED, OPEN
from cqbench.offered import Load
from cqbench.report_model import METRICS, Point, Report, Series, Timeline
from cqbench.report_points import Repetition
from cqbench.report_values import short
from cqbench.verdict_advice import Judgement

CONCLUDED = ("regime", "rule", "repetitions", "suspect", "policy_held")


def data(report: Report, columns: Sequence[dict[str, Any]], judgement: Judgement) -> dict[str, Any]:
    """columns: of each series, as columns() makes them."""
    return {
        "title": report.title,
        "question": report.question,
        "made": report.made,
        "partial": report.partial,
        "machine": [list(row) for row in report.machine],
        "notes": list(report.notes),
        "failures": list(report.failures),
        "metrics": [{"key": m.key, "title": m.title, "unit": m.unit} for m in METRICS],
        "series": list(columns),
        "verdict": _compact(_without_medians(verdict.to_json(judgement))),
    }


def _without_medians(judged: dict[str, Any]) -> dict[str, Any]:
    """verdict.json without what "series" has: of each side of a row only what was concluded from it."""
    for row in (row for finding in judged["findings"] for row in finding["rows"]):
        for name in ("shared", "separate"):
            row[name] = row[name] and {key: row[name][key] for key in CONCLUDED}
    return judged


def columns(series: Series, workload: str, policy: str, found: dict[Load, list[Repetition]]) -> dict[str, Any]:
    """Lists have an item for each load of the series, in its order; null where there is no figure."""
    figures = {}
    for metric in METRICS:
        raw = [[_short(r.figures.get(metric.key)) for r in repetitions] for repetitions in found.values()]
        if any(value is not None for of_point in raw for value in of_point):
            figures[metric.key] = {**_medians(series.points, metric.key), "repetitions": raw}
    return {
        "id": series.id,
        "title": series.title,
        "workload": workload,
        "method": series.method,
        "api": series.api,
        "sharing": series.sharing,
        "policy": policy,
        "setting": series.setting,
        "client_command": series.client_command,
        "server_command": series.server_command,
        "loop": OPEN if series.open else CLOSED,
        ("rates" if series.open else "inflight"): [p.load.number for p in series.points],
        "repetitions": [p.repetitions for p in series.points],
        "partial": [p.partial for p in series.points],
        "suspect": [list(p.suspect) for p in series.points],
        "limits": [list(p.limits) for p in series.points],
        "timelines": [_timeline(t) for t in series.timelines],
        "figures": figures,
    }


def _medians(points: Sequence[Point], key: str) -> dict[str, list[float | None]]:
    values = [point.values.get(key) for point in points]
    return {
        "median": [v.middle if v else None for v in values],
        "low": [v.low if v else None for v in values],
        "high": [v.high if v else None for v in values],
    }


def _short(value: float | None) -> float | None:
    return None if value is None else short(value)


def _compact(data: Any) -> Any:
    """The same with short numbers."""
    if isinstance(data, dict):
        return {key: _compact(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_compact(value) for value in data]
    return short(data) if isinstance(data, float) else data


def _timeline(timeline: Timeline) -> dict[str, Any]:
    """In the units of the figures."""
    return {
        "load": timeline.load.number,
        "repetition": timeline.repetition,
        **{key: [getattr(s, key) for s in timeline.slices] for key in ("at", "per_second", "p99", "highest")},
    }
