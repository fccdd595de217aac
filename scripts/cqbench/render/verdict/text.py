"""An answer as text: the answer first, two tables, and what to set with its C++; coloured on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cqbench.analysis.verdict.model import Decision
from cqbench.render import text
from cqbench.render.table import EMPTY, Block, Cell, Column, Line, Table
from cqbench.render.verdict.answer import Answer, Figures, TableRow
from cqbench.render.verdict.headline import Word
from cqbench.render.verdict.recommend import ToSet
from cqbench.stats.ratios import Ratio
from cqbench.render.verdict.words import ABSENT, micros, number, per_second, short, times

WIDTH = 80
GAP = 2
STYLES = {
    Decision.BOTTLENECK: "bold red",
    Decision.LIKELY: "red",
    Decision.OTHER: "yellow",
    Decision.FASTER: "green",
    Decision.SLOWER: "magenta",
    Decision.INCONCLUSIVE: "dim",
}
WORDS = {Word.YES: "bold red", Word.LIKELY: "red", Word.NO: "bold green", Word.FASTER: "bold green"}
KINDS = {"better": ("faster", "better"), "worse": ("slower", "worse")}  # closed loop, open loop
LISTS = {"measure": "WHAT TO MEASURE", "cannot_show": "WHAT THIS MACHINE CANNOT SHOW"}
CODE = "cyan"


class Grid(NamedTuple):
    """A table before it is fitted: the titles of its columns, and for each row its name, its cells and its style."""

    titles: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str], str]]


def render(answer: Answer, everything: bool = False, colour: bool = False) -> str:
    """everything: each load of each row as well. Ends with a newline."""
    return text.render(_blocks(answer, everything), colour)


def _blocks(answer: Answer, everything: bool) -> Iterator[Block]:
    yield from _head(answer)
    if any(row.each for row in answer.table):
        yield from (EMPTY, _fitted(_outcomes(answer)), EMPTY, _fitted(_absolute(answer)), _legend(answer))
    if everything and answer.table:
        yield from (EMPTY, Line(f"EVERY LOAD ({'calls/s' if answer.open_loop else 'calls in flight'})", "bold"), _fitted(_every(answer)))
    yield EMPTY
    if answer.to_set or answer.keep:
        yield Line("WHAT TO SET", "bold")
        for one in answer.to_set:
            yield from _set(one)
        yield from _items(answer.keep)
    for key, title in LISTS.items():
        if getattr(answer, key):
            yield Line(title, "bold")
            yield from _items(getattr(answer, key))


def _head(answer: Answer) -> Iterator[Line]:
    yield Line(answer.question, "bold", WIDTH, later="")
    yield Line(answer.short, WORDS.get(answer.word, "bold"), WIDTH)
    yield from (Line(why, "", WIDTH) for why in answer.why)
    if answer.machine:
        yield Line(answer.machine, "dim", WIDTH, later="")
    yield from (Line(note, "yellow", WIDTH, "! ") for note in answer.notes)


def _items(texts: Iterable[str]) -> Iterator[Line]:
    return (Line(one, "", WIDTH, "- ") for one in texts)


def _set(one: ToSet) -> Iterator[Line]:
    flags = f" ({one.flags})" if one.flags else ""
    yield Line(f"{one.setting}{flags}{'; ' * bool(one.note)}{one.note}", "green", WIDTH, "- ")
    yield from (Line(brings, "", WIDTH, "  ", "    ") for brings in one.brings)
    yield from (Line(f"costs: {cost}", "magenta", WIDTH, "  ", "    ") for cost in one.costs)
    yield from (Line(line, CODE, 0, "      ") for line in one.cpp)


# The tables.


def _names(answer: Answer) -> Callable[[TableRow], str]:
    """A row's name: its scenario, its configuration where those differ, or both."""
    scenarios = {row.scenario for row in answer.table}
    configurations = {row.configuration for row in answer.table}
    if len(configurations) == 1:
        return lambda row: row.scenario
    return (lambda row: row.configuration) if len(scenarios) == 1 else lambda row: f"{row.scenario}: {row.configuration}"


def _at(answer: Answer) -> str:
    """'at 48 in flight': the load of all rows; '' where rows have different ones."""
    found = {row.highest.load for row in answer.table if row.highest}
    return f"at {number(found.pop())}" + " in flight" * (not answer.open_loop) if len(found) == 1 else ""


def _outcomes(answer: Answer) -> Grid:
    """The ratio that decides at the highest load, and at which loads it is what."""
    name, at = _names(answer), _at(answer)
    kinds = [kind for kind in ("better", "worse", "equivalent", "inconclusive") if any(_of(answer, kind))]
    metric = "P99" if answer.open_loop else "calls/s"
    titles = [answer.compares or "ratio", f"{metric} {at}" if at else metric, *(_title(answer, kind) for kind in kinds)]
    rows = []
    for row in answer.table:
        top = row.highest
        first = times(_deciding(answer, top)) if top else ABSENT
        where = "" if at or not top else f" at {number(top.load)}"
        cells = [f"{first}{where}", *(getattr(row, kind) or ABSENT for kind in kinds)]
        rows.append((name(row), cells, STYLES.get(row.decision, "")))
    return Grid(titles, rows)


def _of(answer: Answer, kind: str) -> Iterator[str]:
    return (getattr(row, kind) for row in answer.table)


def _title(answer: Answer, kind: str) -> str:
    return f"{KINDS[kind][answer.open_loop] if kind in KINDS else kind} at"


def _deciding(answer: Answer, figures: Figures) -> Ratio | None:
    return figures.p99 if answer.open_loop else figures.throughput


def _absolute(answer: Answer) -> Grid:
    """Both sides' figures at the highest load."""
    name = _names(answer)
    second = "calls/s ÷" if answer.open_loop else "P99 ÷"
    titles = [_at(answer) or "highest load", "calls/s", "P99 in µs", second, "CPU/call ÷"]
    rows = []
    for row in answer.table:
        top = row.highest
        if top:
            ratio = top.throughput if answer.open_loop else top.p99
            cells = [_both(top.rates, per_second), _both(top.p99s, micros), times(ratio), _cpu(top)]
            rows.append((name(row), cells, ""))
    return Grid(titles, rows)


def _both(values: tuple[float | None, float | None], shown: Callable[[float | None], str]) -> str:
    if values == (None, None):
        return ABSENT
    return f"{shown(values[0])} → {shown(values[1])}"


def _cpu(figures: Figures) -> str:
    found = (figures.client_cpu, figures.server_cpu)
    return " ".join(short(one.value) if one else ABSENT for one in found)


def _legend(answer: Answer) -> Line:
    first, second = _sides(answer)
    missing = any(None in row.highest.p99s for row in answer.table if row.highest)
    few = f" P99 {ABSENT}: too few calls for a 99th percentile." if missing else ""
    said = f"{first} → {second}, and {second} ÷ {first}; CPU time per call: client, server."
    return Line(f"{said}{few}", "dim", WIDTH, later="")


def _sides(answer: Answer) -> tuple[str, str]:
    """The names of baseline and configuration, where all rows have the same."""
    top, _, bottom = answer.compares.partition("÷")
    return bottom.strip() or "first setting", top.strip() or "the row's"


def _every(answer: Answer) -> Grid:
    name = _names(answer)
    metric = "P99 ÷" if answer.open_loop else "calls/s ÷"
    titles = ["", "load", metric, "outcome", "calls/s", "P99 in µs", "CPU ÷"]
    rows: list[tuple[str, Sequence[str], str]] = []
    for row in answer.table:
        title = name(row)
        for one in row.each:
            both = (_both(one.rates, per_second), _both(one.p99s, micros))
            cells = (number(one.load), times(_deciding(answer, one)), one.outcome, *both, _cpu(one))
            rows.append((title, cells, STYLES.get(one.decision, "")))
            title = ""
    return Grid(titles, rows)


def _fitted(grid: Grid) -> Table:
    """A table of 80 columns: names stand on lines of their own where they do not fit next to the figures."""
    widths = [max(len(cells[i]) for cells in (grid.titles[1:], *(row[1] for row in grid.rows))) for i in range(len(grid.titles) - 1)]
    names = max(len(name) for name in (grid.titles[0], *(row[0] for row in grid.rows)))
    above = names + sum(widths) + GAP * len(widths) > WIDTH
    columns = (Column("" if above else grid.titles[0]), *(Column(title) for title in grid.titles[1:]))
    table = Table(columns, head="bold")
    if above and grid.titles[0]:
        table.columns = (Column(), *columns[1:])
    for name, cells, style in grid.rows:
        if above and name:
            table.rows.append(Line(name, "", WIDTH))
        table.add("" if above else name, *(Cell(cell, style) for cell in cells))
    return table
