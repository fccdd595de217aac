"""Draws a history: as text with sparklines, as CSV, as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cqbench.analysis.compare.history import MIN_RUNS, Found, Line
from cqbench.analysis.compare.sides import counted
from cqbench.formats.escape import csv_of
from cqbench.render import text as as_text
from cqbench.render.compare import text
from cqbench.render.table import EMPTY, Block, Cell, Column, Table
from cqbench.render.table import Line as Paragraph

FORMATS = ("text", "csv", "html")
BARS = "▁▂▃▄▅▆▇█"
MAX_SHOWN = 60  # runs in a sparkline, the newest
COLUMNS = ("date", "run", "scenario", "point", "metric", "unit", "value", "change_percent")


def render(form: str, found: Found, lines: Sequence[Line], colour: bool) -> str:
    """form: text or csv; page.py has the other one."""
    return _csv(found, lines) if form == "csv" else _text(found, lines, colour)


def heading(found: Found, lines: Iterable[Line]) -> list[str]:
    """Returns the head: the runs, and the points that are skipped."""
    changed = sum(bool(line.changes) for line in lines)
    first, last = found.runs[0].when, found.runs[-1].when
    return [
        f"{counted(len(found.runs), 'run')} from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC; "
        f"{counted(changed, 'line')} with a change",
        *(f"! not used: {why}" for why in text.limited(list(found.unused), "such files")),
    ]


def rule() -> str:
    return (
        f"A change has at least {MIN_RUNS} runs on either side, so it is seen {MIN_RUNS} runs later at the earliest. "
        "Of metrics that never change, one in twenty is marked at some point."
    )


def words(found: Found, line: Line) -> list[str]:
    """Returns the changes of a series, a line each."""
    return [f"{(change.ratio - 1) * 100:+.1f} % from {at(found, line, change.at)} on" for change in line.changes]


def at(found: Found, line: Line, place: int) -> str:
    run = found.runs[line.values[place][0]]
    return f"{run.when:%Y-%m-%d %H:%M} ({run.name})"


def _text(found: Found, lines: Sequence[Line], colour: bool) -> str:
    blocks: list[Block] = [text.paragraph(said) for said in heading(found, lines)]
    for scenario in dict.fromkeys(line.scenario for line in lines):
        figures = (Column(title, True) for title in ("runs", "first", "last"))
        table = Table((Column(), *figures, Column("over time"), Column("changes")))
        previous = None
        for line in (line for line in lines if line.scenario == scenario):
            if line.metric != previous:
                table.rows.append(Paragraph(text.titled(line.metric), "italic"))
                previous = line.metric
            shown = [text.shown(line.values[i][1], line.metric) for i in (0, -1)]
            changes = Cell("; ".join(words(found, line)) or "-", "bold" if line.changes else "")
            table.add(f"  {line.place.words}", str(len(line.values)), *shown, spark(line), changes)
        blocks += [EMPTY, Paragraph(scenario or "points", "bold"), table]
    return as_text.render([*blocks, EMPTY, text.paragraph(rule(), "dim")], colour)


def spark(line: Line) -> str:
    """A bar for each of the newest runs, a stroke where it changed."""
    first = max(0, len(line.values) - MAX_SHOWN)
    shown = [value for _, value in line.values[first:]]
    low, high = min(shown), max(shown)
    marks = {change.at for change in line.changes}
    bars = []
    for i, value in enumerate(shown, first):
        height = 0 if high == low else round((value - low) / (high - low) * (len(BARS) - 1))
        bars.append(("|" if i in marks else "") + BARS[height])
    return "".join(bars)


def _csv(found: Found, lines: Sequence[Line]) -> str:
    rows: list[Sequence[str]] = [COLUMNS]
    for line in lines:
        changed = {change.at: (change.ratio - 1) * 100 for change in line.changes}
        for i, (run, value) in enumerate(line.values):
            of = found.runs[run]
            what = line.scenario, line.place.label, line.metric.name, line.metric.unit
            change = f"{changed[i]:.6g}" if i in changed else ""
            rows.append([of.when.isoformat(), of.name, *what, f"{value * line.metric.scale:.6g}", change])
    return csv_of(rows)
