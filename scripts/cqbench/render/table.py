"""The model of what is shown: paragraphs and tables. Modules that decide make data; modules that show make these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

WIDTH = 120  # characters of a paragraph


class Line(NamedTuple):
    """A paragraph, wrapped at `width` characters; with a width of 0 it stays one line. later: the indent of the lines
    after the first. style: of rich, in a terminal only.
    """

    text: str
    style: str = ""
    width: int = 0
    first: str = ""
    later: str = "  "


class Cell(NamedTuple):
    """style: of rich; bold is also bold in Markdown."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Column:
    """right: the column has figures, which are aligned to the right, and which Markdown does not escape. width, most:
    minimum and maximum in characters of a terminal; a most of 0 is none.
    """

    title: str = ""
    right: bool = False
    width: int = 0
    most: int = 0


Cells: TypeAlias = tuple[Cell, ...]


@dataclass
class Table:
    """rows: the cells of a row, from the left; a row may be shorter than the columns are. A Line among the rows is
    as wide as the table. indent: characters before each row, not before the head. head: the style of the head.
    """

    columns: Sequence[Column]
    rows: list[Cells | Line] = field(default_factory=list)
    indent: int = 0
    head: str = "dim"

    def add(self, *cells: str | Cell, style: str = "") -> None:
        """A row. style: of cells that have none."""
        found = (cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)
        self.rows.append(tuple(cell if cell.style else cell._replace(style=style) for cell in found))

    def say(self, text: str, style: str = "") -> None:
        """A line among the rows, indented as they are."""
        self.rows.append(Line(text, style, first=" " * self.indent))

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """Rows without lines and styles."""
        return [tuple(cell.text for cell in row) for row in self.rows if not isinstance(row, Line)]


Block: TypeAlias = Line | Table
EMPTY = Line("")


def columns(*titles: str, left: int = 1, widths: Sequence[int] = ()) -> tuple[Column, ...]:
    """The first `left` columns are texts, the others figures."""
    minimum = [*widths, *[0] * (len(titles) - len(widths))]
    return tuple(Column(title, i >= left, minimum[i]) for i, title in enumerate(titles))


def plain(titles: Iterable[str], rows: Iterable[Sequence[str]] = ()) -> Table:
    """Texts; figures from the second column on."""
    return Table(columns(*titles), [tuple(map(Cell, row)) for row in rows])
