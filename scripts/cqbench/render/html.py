"""Tables as HTML. All texts are escaped; the page's style sheet has the classes."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from cqbench.render.table import Cell, Line, Table

CLASSES = {"green": "good", "red": "bad", "bold": "other"}  # by style


def table(found: Table, name: str) -> Markup:
    """The first cell of a row is its head. name: what the table has, for a screen reader."""
    head = _joined(Markup('<th scope="col">{}</th>').format(column.title) for column in found.columns)
    rows = _joined(
        Markup("<tr>{}</tr>\n").format(_line(row, found) if isinstance(row, Line) else _cells(row))
        for row in found.rows
    )
    return Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{}">\n'
        "<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>"
    ).format(name, head, rows)


def _line(line: Line, of: Table) -> Markup:
    return Markup('<td colspan="{}">{}</td>').format(len(of.columns), line.text)


def _cells(row: tuple[Cell, ...]) -> Markup:
    first, *others = row
    return Markup('<th scope="row">{}</th>').format(first.text) + _joined(map(_cell, others))


def _cell(cell: Cell) -> Markup:
    kind = CLASSES.get(cell.style)
    return Markup('<td class="{}">{}</td>').format(kind, cell.text) if kind else Markup("<td>{}</td>").format(cell.text)


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)
