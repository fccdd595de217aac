"""The verdicts of a report: the same answers as in the text, one for each experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from cqbench.analysis.verdict.whole import judge_runs
from cqbench.formats.runs import Run
from cqbench.render.report.groups import experiment_folder, experiments, letter
from cqbench.render.report.model import Card, Verdict
from cqbench.render.table import Cell, Table, columns
from cqbench.render.verdict import answer, grids
from cqbench.render.verdict.answer import Answer, TableRow
from cqbench.render.verdict.grids import Grid

HEADS = ("in flight", "calls/s ÷", "outcome", "calls/s", "P99 in µs", "CPU per call ÷, client / server")
OPEN_HEADS = ("calls/s asked", "P99 ÷", *HEADS[2:])


def make(runs: Sequence[Run]) -> tuple[Verdict, ...]:
    """Experiments are judged one by one: repetitions of one are none of another."""
    order = experiments(runs)
    each = [[run for run in runs if experiment_folder(run) == folder] for folder in order]
    several = len(order) > 1
    return tuple(verdict(answer.make(judge_runs(of)), letter(i) if several else "") for i, of in enumerate(each))


def verdict(of: Answer, name: str = "") -> Verdict:
    """name: of its experiment, where there are several."""
    outcomes, absolute = (_table(make(of)) for make in (grids.outcomes, grids.absolute))
    return Verdict(name, of, outcomes, absolute, grids.legend(of), tuple(_cards(of)))


def _table(grid: Grid) -> Table:
    rows = [(Cell(row.name), *map(Cell, row.cells, row.styles)) for row in grid.rows]
    return Table(columns(*grid.titles), list(rows))


def _cards(of: Answer) -> Iterator[Card]:
    """Each row at each load, the rows of a scenario one after the other."""
    for _, some in groupby(of.table, key=lambda row: row.scenario):
        rows = list(some)
        for row in rows:
            title = row.scenario if len(rows) == 1 else ", ".join(filter(None, (row.scenario, row.configuration)))
            yield Card(title, row.decision.value, f"{row.configuration} ÷ {row.baseline}", _loads(of.open_loop, row))


def _loads(open_loop: bool, row: TableRow) -> Table:
    table = Table(columns(*(OPEN_HEADS if open_loop else HEADS)))
    for one in row.each:
        table.add(*grids.at_load(open_loop, one), style=grids.STYLES.get(one.decision, ""))
    return table
