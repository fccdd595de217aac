"""The page's bars: where there is one load, in groups, as long as what they stand for."""

from __future__ import annotations

from dataclasses import replace

import pytest
import report_samples as samples
from cqbench.formats.figures import THROUGHPUT
from cqbench.model.figures import CLIENT_CPU, P50, P99, SERVER_CPU
from cqbench.render.report import bars, page
from cqbench.render.report.model import Report, Series


def lineup() -> Report:
    """Two groups of servers at 48 in flight, one of them without anything measured, one unreliable."""
    names = ("empty.cq", "empty.sync", "empty.go", "complex.cq", "complex.sync", "complex.go")
    found = [samples.series("unary", "cq", "shared", 30_000 * (i + 1), (48,)) for i in range(len(names))]
    series = [replace(s, id=name.replace(".", "-"), title=name) for s, name in zip(found, names, strict=True)]
    series[1] = replace(series[1], points=(replace(series[1].points[0], warnings=("not warmed up",)),))
    series[5] = replace(series[5], points=())
    return replace(samples.usual(), series=tuple(series), against=())


def test_the_fastest_comes_first_and_lengths_are_shares_of_the_longest() -> None:
    report = lineup()
    found = bars.make(report)
    assert found is not None and found.load == "48 in flight"
    assert [(g.title, [b.title for b in g.bars]) for g in found.groups] == [
        ("complex", ["sync", "cq"]),
        ("empty", ["go", "sync", "cq"]),
    ]
    longest, shortest = found.groups[0].bars[0], found.groups[1].bars[-1]
    assert longest.high == 1 and longest.low is not None and longest.low < longest.length < 1
    middles = [report.series[i].points[0].values[THROUGHPUT].middle for i in (0, 4)]
    assert shortest.length / longest.length == pytest.approx(middles[0] / middles[1])
    assert found.groups[1].bars[1].mark == "not warmed up"


def test_costs_are_those_that_were_measured() -> None:
    report = lineup()
    none = _without(report.series[0], P99, SERVER_CPU)
    found = bars.make(replace(report, series=(none, *report.series[1:])))
    assert found is not None
    keys = [cost.name for cost in found.costs]
    assert {P50, P99, SERVER_CPU, CLIENT_CPU} <= set(keys)
    cells = dict(zip(keys, found.groups[1].bars[-1].costs, strict=True))
    assert cells[P99] == cells[SERVER_CPU] == "-" and cells[P50] != "-"


def test_several_loads_or_few_series_have_none() -> None:
    assert bars.make(samples.usual()) is None
    report = lineup()
    assert bars.make(replace(report, series=report.series[:2])) is None
    assert (
        bars.make(replace(report, series=(*report.series, samples.series("unary", "cq", "shared", 1e4, (8,))))) is None
    )


def test_the_page_has_them_above_the_plots() -> None:
    text = page.render(lineup())
    assert text.index('id="bars"') < text.index('id="plot-')
    assert text.count("<rect ") == 5 and text.count('<abbr title="not warmed up">') == 1
    assert 'id="bars"' not in page.render(samples.usual())


def _without(one: Series, *keys: str) -> Series:
    points = (replace(p, values={k: v for k, v in p.values.items() if k not in keys}) for p in one.points)
    return replace(one, points=tuple(points))
