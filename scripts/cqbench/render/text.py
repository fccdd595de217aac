"""Paragraphs and tables for a terminal, a pipe or a text file: rich lays the tables out."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator
from typing import Literal

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from cqbench.render.table import Block, Line, Table

WIDEST = 10_000  # characters: no cell is cut off or wrapped
GAP = 2


def render(blocks: Iterable[Block], colour: bool = False) -> str:
    """Ends with a newline. No line ends with a space."""
    return "".join(f"{line}\n" for block in blocks for line in _lines(block, colour))


def wrapped(line: Line) -> list[str]:
    if not line.width:
        return [f"{line.first}{line.text}"]
    return textwrap.wrap(
        line.text,
        line.width,
        initial_indent=line.first,
        subsequent_indent=line.later,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [""]


def _lines(block: Block, colour: bool) -> list[str]:
    if isinstance(block, Table):
        return [*_table(block, colour)]
    if not colour or not block.style:
        return wrapped(block)
    return _printed((Text(text, style=block.style) for text in wrapped(block)), colour)


def _table(table: Table, colour: bool) -> Iterator[str]:
    """The grid has a line for each row of cells; lines as wide as the table come in between."""
    headed = any(column.title for column in table.columns)
    grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=headed, header_style=table.head)
    for column in table.columns:
        justify: Literal["left", "right"] = "right" if column.right else "left"
        most = column.most or None
        grid.add_column(Text(column.title), justify=justify, min_width=column.width, max_width=most, no_wrap=True)
    for row in table.rows:
        if not isinstance(row, Line):
            indent = " " * table.indent
            grid.add_row(*(Text(indent * (i == 0) + c.text, style=c.style) for i, c in enumerate(row)))
    drawn = iter(_printed([grid], colour))
    if headed:
        yield next(drawn)
    for row in table.rows:
        if isinstance(row, Line):
            yield from _lines(row, colour)
        else:
            yield next(drawn)


def _printed(parts: Iterable[Text | Grid], colour: bool) -> list[str]:
    out = io.StringIO()
    system: Literal["standard"] | None = "standard" if colour else None
    console = Console(file=out, width=WIDEST, force_terminal=colour, color_system=system, highlight=False)
    for part in parts:
        console.print(part)
    return [line.rstrip() for line in out.getvalue().split("\n")[:-1]]
