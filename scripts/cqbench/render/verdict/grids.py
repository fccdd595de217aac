"""The tables of an answer, as texts: for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from cqbench.analysis.verdict.model import Decision
from cqbench.formats.offered import Load
from cqbench.render.verdict.answer import Answer, Figures, TableRow
from cqbench.render.verdict.words import ABSENT, micros, number, per_second, short, times
from cqbench.stats.ratios import Ratio

STYLES = {
    Decision.BOTTLENECK: "bold red",
    Decision.LIKELY: "red",
    Decision.OTHER: "yellow",
    Decision.FASTER: "green",
    Decision.SLOWER: "magenta",
    Decision.INCONCLUSIVE: "dim",
}
MARKS = {Decision.EQUIVALENT: "=", Decision.INCONCLUSIVE: "?"}
MOST_LOADS = 3  # whose ratios with intervals fit one line
KINDS = {"better": ("faster", "better"), "worse": ("slower", "worse")}  # closed loop, open loop


class GridRow(NamedTuple):
    """name: '' where it is that of the row before. styles: of its cells, in a terminal."""

    name: str
    cells: tuple[str, ...]
    styles: tuple[str, ...]


class Grid(NamedTuple):
    """titles: of the names, then of the cells."""

    titles: tuple[str, ...]
    rows: tuple[GridRow, ...]


def outcomes(answer: Answer) -> Grid:
    """The ratio that decides at each load if there are few; else at the highest, and at which loads it is what."""
    loads = _loads(answer)
    return _by_load(answer, loads) if len(loads) <= MOST_LOADS else _at_highest(answer)


def _loads(answer: Answer) -> list[Load]:
    """Those at which the two sides are not the same set-up."""
    return sorted({one.load for row in answer.table for one in row.each if one.decision is not Decision.SAME})


def _by_load(answer: Answer, loads: Sequence[Load]) -> Grid:
    name, metric = _names(answer), "P99" if answer.open_loop else "calls/s"
    heads = [f"at {number(load)}" for load in loads]
    if heads:
        heads[0] = f"{metric} {heads[0]}"
        heads[-1] += " in flight" * (not answer.open_loop)
    rows = []
    for row in answer.table:
        found = {one.load: one for one in row.each}
        cells = tuple(_marked(answer, found[load]) if load in found else ABSENT for load in loads)
        styles = tuple(STYLES.get(found[load].decision, "") if load in found else "" for load in loads)
        rows.append(GridRow(name(row), cells, styles))
    return Grid((answer.compares or "ratio", *heads), tuple(rows))


def _marked(answer: Answer, one: Figures) -> str:
    return f"{times(_deciding(answer, one))} {MARKS.get(one.decision, '')}".rstrip()


def _at_highest(answer: Answer) -> Grid:
    name, at = _names(answer), _at(answer)
    kinds = [kind for kind in ("better", "worse", "equivalent", "inconclusive") if any(_of(answer, kind))]
    metric = "P99" if answer.open_loop else "calls/s"
    titles = (answer.compares or "ratio", f"{metric} {at}" if at else metric, *(_title(answer, kind) for kind in kinds))
    rows = []
    for row in answer.table:
        top = row.highest
        where = "" if at or not top else f" at {number(top.load)}"
        first = f"{times(_deciding(answer, top))}{where}" if top else ABSENT
        cells = (first, *(getattr(row, kind) or ABSENT for kind in kinds))
        rows.append(GridRow(name(row), cells, (STYLES.get(row.decision, ""),) * len(cells)))
    return Grid(titles, tuple(rows))


def absolute(answer: Answer) -> Grid:
    """Both sides' figures at the highest load."""
    name = _names(answer)
    second = "calls/s ÷" if answer.open_loop else "P99 ÷"
    titles = (_at(answer) or "highest load", "calls/s", "P99 in µs", second, "CPU client/server")
    rows = []
    for row in answer.table:
        top = row.highest
        if top:
            ratio = top.throughput if answer.open_loop else top.p99
            cells = (both(top.rates, per_second), both(top.p99s, micros), times(ratio), _cpu(top))
            rows.append(GridRow(name(row), cells, ("",) * len(cells)))
    return Grid(titles, tuple(rows))


def every(answer: Answer) -> Grid:
    """Each row at each load."""
    name = _names(answer)
    metric = "P99 ÷" if answer.open_loop else "calls/s ÷"
    titles = ("", "load", metric, "outcome", "calls/s", "P99 in µs", "CPU ÷")
    rows = []
    for row in answer.table:
        title = name(row)
        for one in row.each:
            cells = at_load(answer.open_loop, one)
            rows.append(GridRow(title, cells, (STYLES.get(one.decision, ""),) * len(cells)))
            title = ""
    return Grid(titles, tuple(rows))


def at_load(open_loop: bool, one: Figures) -> tuple[str, ...]:
    """Load, the ratio that decides, outcome, calls per second, P99, CPU per call."""
    ratio = one.p99 if open_loop else one.throughput
    return (number(one.load), times(ratio), one.outcome, both(one.rates, per_second), both(one.p99s, micros), _cpu(one))


def legend(answer: Answer) -> str:
    """Explains the arrows, the signs and the pairs of figures are."""
    top, _, bottom = answer.compares.partition("÷")
    first, second = bottom.strip() or "the first setting", top.strip() or "the row's"
    absent = any(ABSENT in cell.split() for row in absolute(answer).rows for cell in row.cells)
    why = f" {ABSENT}: not measured, or too few calls for a P99." if absent else ""
    shown = {cell[-1:] for row in outcomes(answer).rows for cell in row.cells}
    marks = ", ".join(f"{mark} {decision.value}" for decision, mark in MARKS.items() if mark in shown)
    return f"{first} → {second}; ÷ and CPU (time per call): {second} ÷ {first}.{why}{f' {marks}.' if marks else ''}"


def both(values: tuple[float | None, float | None], shown: Callable[[float | None], str]) -> str:
    """'31.2k → 21.3k': baseline, configuration."""
    return ABSENT if values == (None, None) else f"{shown(values[0])} → {shown(values[1])}"


def _names(answer: Answer) -> Callable[[TableRow], str]:
    """A row's name: its scenario, its configuration where those differ, or both."""
    scenarios = {row.scenario for row in answer.table}
    configurations = {row.configuration for row in answer.table}
    if len(configurations) == 1:
        return lambda row: row.scenario
    if len(scenarios) == 1:
        return lambda row: row.configuration
    return lambda row: f"{row.scenario}: {row.configuration}"


def _at(answer: Answer) -> str:
    """'at 48 in flight': the load of all rows; '' where rows have different ones."""
    found = {row.highest.load for row in answer.table if row.highest}
    return f"at {number(found.pop())}" + " in flight" * (not answer.open_loop) if len(found) == 1 else ""


def _of(answer: Answer, kind: str) -> Iterator[str]:
    return (getattr(row, kind) for row in answer.table)


def _title(answer: Answer, kind: str) -> str:
    return f"{KINDS[kind][answer.open_loop] if kind in KINDS else kind} at"


def _deciding(answer: Answer, figures: Figures) -> Ratio | None:
    return figures.p99 if answer.open_loop else figures.throughput


def _cpu(figures: Figures) -> str:
    found = (figures.client_cpu, figures.server_cpu)
    return " / ".join(short(one.value) if one else ABSENT for one in found)


def widths(grid: Grid) -> Sequence[int]:
    """Characters of each column, of the names first."""
    lines = [grid.titles, *((row.name, *row.cells) for row in grid.rows)]
    return [max(len(line[i]) for line in lines) for i in range(len(grid.titles))]
