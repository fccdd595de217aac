"""Rows of a verdict with the absolute figures of both sides: calls per second, and P99 in nanoseconds.

A figure is the mean that the ratio next to it compares: the geometric one of the same repetitions (stats/ratios.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cqbench.analysis.verdict.model import Row
from cqbench.analysis.verdict.scenarios import Judged, Named
from cqbench.formats.offered import Load
from cqbench.model.metric import BY_NAME
from cqbench.model.ratio import Sides, values
from cqbench.model.series import Repetition, undisturbed
from cqbench.stats.ratios import middle

Both = tuple[float | None, float | None]  # baseline, configuration
THROUGHPUT, P99 = BY_NAME["throughput"].key, BY_NAME["p99"].key


def filled(judged: Judged) -> Judged:
    """The same scenario; its rows have both sides' figures, and ways to connect are by their names."""
    compared = judged.compared
    by_name = {one.name: one for one in compared.configurations}
    rows = tuple(_filled(row, by_name[row.configuration], compared.baseline) for row in judged.scenario.rows)
    sides = (compared.baseline, *compared.configurations) if compared.connections else ()
    ways = tuple((one.name, one.series.setting.connections) for one in sides)
    return judged._replace(scenario=replace(judged.scenario, rows=rows, ways=ways))


def _filled(row: Row, configuration: Named, baseline: Named) -> Row:
    sides = undisturbed(_at(configuration, row.load), _at(baseline, row.load))
    return replace(row, rates=_both(sides, THROUGHPUT), p99s=_both(sides, P99))


def _at(named: Named, load: Load) -> Sequence[Repetition]:
    return named.series.points.get(load, [])


def _both(sides: Sides, key: str) -> Both:
    top, bottom = (values(side, key) for side in sides)
    return middle(bottom) if bottom else None, middle(top) if top else None
