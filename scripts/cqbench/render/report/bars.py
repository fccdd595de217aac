"""Bars with figures, if an experiment has one load level: the throughput of each series, and its cost."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from cqbench.render.report.model import METRICS, Metric, Point, Report, Series
from cqbench.render.report.values import number

FEWEST = 3  # series; two are told by their ratio
OF = "throughput"
COSTS = ("p50", "p99", "server_cpu", "client_cpu", "server_allocations", "client_allocations")
BY_KEY = {m.key: m for m in METRICS}


@dataclass(frozen=True)
class Bar:
    """length, low, high: shares of the longest bar's end or interval, from 0 to 1; low and high may be None."""

    title: str
    length: float
    low: float | None
    high: float | None
    figure: str
    interval: str
    costs: tuple[str, ...]  # as Bars.costs
    mark: str  # of a point that is not to be read as it stands: its reasons


@dataclass(frozen=True)
class Group:
    """Series that differ in the last axis only, the fastest first. title: what they have in common; may be ''."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Bars:
    load: str
    costs: tuple[Metric, ...]  # those that any series has
    groups: tuple[Group, ...] = ()


def make(report: Report) -> Bars | None:
    """None where series have several loads, or there are too few for a chart; nor of faults, where a rate was asked."""
    if report.faults.rows:
        return None
    found = [(s, s.points[0]) for s in report.series if len(s.points) == 1 and OF in s.points[0].values]
    loads = {p.load for s in report.series for p in s.points}
    if len(loads) != 1 or len(found) < FEWEST:
        return None
    costs = tuple(BY_KEY[key] for key in COSTS if any(key in p.values for _, p in found))
    ends = [max(p.values[OF].middle, p.values[OF].high or 0.0) for _, p in found]
    grouped = itertools.groupby(sorted(found, key=lambda of: _common(of[0])), key=lambda of: _common(of[0]))
    groups = tuple(Group(title, _bars(list(of), costs, max(ends))) for title, of in grouped)
    return Bars(next(iter(loads)).words, costs, groups) if max(ends) > 0 else None


def _common(series: Series) -> str:
    return series.title.rpartition(".")[0]


def _bars(of: Sequence[tuple[Series, Point]], costs: Sequence[Metric], longest: float) -> tuple[Bar, ...]:
    fastest = sorted(of, key=lambda one: -one[1].values[OF].middle)
    return tuple(_bar(series, point, costs, longest) for series, point in fastest)


def _bar(series: Series, point: Point, costs: Sequence[Metric], longest: float) -> Bar:
    value = point.values[OF]
    interval = "" if value.low is None or value.high is None else f"{number(value.low)}–{number(value.high)}"
    return Bar(
        title=series.title.rpartition(".")[2],
        length=value.middle / longest,
        low=None if value.low is None else value.low / longest,
        high=None if value.high is None else value.high / longest,
        figure=number(value.middle),
        interval=interval,
        costs=tuple(number(point.values[m.key].middle) if m.key in point.values else "-" for m in costs),
        mark="; ".join([*point.warnings, *["cut short"] * point.partial]),
    )
