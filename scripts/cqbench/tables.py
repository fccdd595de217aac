"""Draws comparison.Table for a terminal of 112 columns. Plain ASCII: logs and old terminals read it too."""

from __future__ import annotations

import textwrap

from cqbench.comparison import Cell, Row, Table, sentences

WIDTH = 112
MAX_NOTES = 12
CELL_WIDTH = 44

LEGEND = (
    "conns: established TCP connections, counted by the client. ideal: share of linear scaling, that is of n times the "
    "series' own req/s at 1 in flight. ratio: req/s of separate connections / req/s of the shared one."
)


def render(tables: list[Table]) -> str:
    """The whole comparison: tables, legend, sentences. Ends with a newline."""
    if not tables:
        return "Nothing to compare: no series was measured.\n"
    parts = [render_table(t) for t in tables]
    parts.append(_wrap(LEGEND))
    said = sentences(tables)
    if said:
        parts.append("\n".join(_wrap(s) for s in said))
    return "\n\n".join(parts) + "\n"


def render_table(table: Table) -> str:
    """A title, the rows, and the notes below them."""
    line = f"{'-' * 10}+{'-' * (CELL_WIDTH + 2)}+{'-' * (CELL_WIDTH + 2)}+{'-' * 7}"
    head = f"{'conns':>5} {'req/s':>10} {'P50 us':>9} {'P99 us':>10} {'ideal':>6}".rjust(CELL_WIDTH)
    lines = [
        table.title,
        f"{'':>9} | {'shared connection':^{CELL_WIDTH}} | {'separate connections':^{CELL_WIDTH}} |",
        f"{'in-flight':>9} | {head} | {head} | {'ratio':>6}",
        line,
        *(_row(row) for row in table.rows),
    ]
    notes = list(table.notes[:MAX_NOTES])
    if len(table.notes) > MAX_NOTES:
        notes.append(f"... and {len(table.notes) - MAX_NOTES} more remarks in the JSON files")
    return "\n".join(lines + [_wrap(f"! {note}", "  ") for note in notes])


def _row(row: Row) -> str:
    inflight = f"{'!' if row.suspect else ''}{row.inflight}"
    return f"{inflight:>9} | {_cell(row.shared)} | {_cell(row.separate)} | {_or_dash(row.ratio, '{:.2f}x'):>6}"


def _cell(cell: Cell) -> str:
    rate = _or_dash(cell.throughput, "{:.0f}") + ("*" if cell.partial and cell.throughput is not None else "")
    text = (
        f"{_or_dash(cell.connections, '{}'):>5} {rate:>10} {_or_dash(cell.p50_us, '{:.1f}'):>9} "
        f"{_or_dash(cell.p99_us, '{:.1f}'):>10} {_or_dash(cell.ideal, '{:.0%}'):>6}"
    )
    return text.rjust(CELL_WIDTH)


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
