"""Bars with figures, if an experiment has one load level: the throughput of each series, and its cost."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from cqbench.formats.figures import THROUGHPUT, Figure
from cqbench.model.figures import CLIENT_CPU, FIGURES, P50, P99, SERVER_CPU
from cqbench.render.report.model import Point, Report, Series
from cqbench.render.report.values import texts

FEWEST = 3  # series; two are told by their ratio
COSTS = (P50, P99, SERVER_CPU, CLIENT_CPU, "server_allocations_per_rpc", "client_allocations_per_rpc")


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
    costs: tuple[Figure, ...]  # those that any series has
    groups: tuple[Group, ...] = ()


def make(report: Report) -> Bars | None:
    """None where series have several loads, or there are too few for a chart; nor of faults, where a rate was asked."""
    if report.faults.rows:
        return None
    found = [(s, s.points[0]) for s in report.series if len(s.points) == 1 and THROUGHPUT in s.points[0].values]
    loads = {p.load for s in report.series for p in s.points}
    if len(loads) != 1 or len(found) < FEWEST:
        return None
    costs = tuple(FIGURES[key] for key in COSTS if any(key in p.values for _, p in found))
    ends = [max(p.values[THROUGHPUT].middle, p.values[THROUGHPUT].high or 0.0) for _, p in found]
    grouped = itertools.groupby(sorted(found, key=lambda of: _common(of[0])), key=lambda of: _common(of[0]))
    groups = tuple(Group(title, _bars(list(of), costs, max(ends))) for title, of in grouped)
    return Bars(next(iter(loads)).words, costs, groups) if max(ends) > 0 else None


def _common(series: Series) -> str:
    return series.title.rpartition(".")[0]


def _bars(of: Sequence[tuple[Series, Point]], costs: Sequence[Figure], longest: float) -> tuple[Bar, ...]:
    fastest = sorted(of, key=lambda one: -one[1].values[THROUGHPUT].middle)
    return tuple(_bar(series, point, costs, longest) for series, point in fastest)


def _bar(series: Series, point: Point, costs: Sequence[Figure], longest: float) -> Bar:
    value = point.values[THROUGHPUT]
    figure, interval = texts(point.values, FIGURES[THROUGHPUT])
    return Bar(
        title=series.title.rpartition(".")[2],
        length=value.middle / longest,
        low=None if value.low is None else value.low / longest,
        high=None if value.high is None else value.high / longest,
        figure=figure,
        interval=interval,
        costs=tuple(texts(point.values, cost)[0] for cost in costs),
        mark="; ".join([*point.warnings, *["cut short"] * point.partial]),
    )
