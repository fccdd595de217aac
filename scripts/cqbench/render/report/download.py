"""The downloads of a report: all figures as one JSON document, the points as CSV."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from cqbench.formats.escape import csv_of
from cqbench.formats.offered import Load
from cqbench.formats.result import CLOSED, OPEN
from cqbench.render.report.model import METRICS, Report, Value

LEFT_OUT = ("data", "distributions", "fit")  # itself; in files of their own; drawn only


def data(report: Report) -> dict[str, Any]:
    """The report as it is. Loads are numbers: calls in flight, or of an open loop calls per second."""
    return {"metrics": _plain(METRICS), **_plain(report)}


def _plain(value: Any) -> Any:
    if isinstance(value, Load):
        return value.number
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in LEFT_OUT}
    return value


def points_csv(report: Report) -> str:
    """A row per point; a figure that was not measured is an empty field."""
    head = ["series", "title", "method", "api", "sharing", "setting", "loop", "inflight", "target_rate", "repetitions"]
    head += ["partial", "warnings", "saturated"]
    rows: list[list[object]] = [[*head, *(name for m in METRICS for name in (m.key, f"{m.key}_low", f"{m.key}_high"))]]
    for s in report.series:
        for p in s.points:
            about: list[object] = [s.id, s.title, s.method, s.api, s.sharing, s.setting]
            about += [OPEN, "", f"{p.load.number:g}"] if p.load.open else [CLOSED, f"{p.load.number:g}", ""]
            about_point = [p.repetitions, str(p.partial).lower(), "; ".join(p.warnings), "; ".join(p.saturated)]
            rows.append([*about, *about_point, *(x for m in METRICS for x in _triple(p.values.get(m.key)))])
    return csv_of(rows)


def _triple(value: Value | None) -> tuple[float | str, ...]:
    if value is None:
        return ("", "", "")
    return tuple("" if v is None else v for v in (value.middle, value.low, value.high))
