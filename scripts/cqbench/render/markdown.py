"""Paragraphs and tables as Markdown, as GitHub shows it. Texts are escaped; figures are ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cqbench.formats.escape import markdown as escaped
from cqbench.render.table import Block, Cell, Line, Table


def render(blocks: Iterable[Block]) -> str:
    """Ends with a newline."""
    return "\n".join(line for block in blocks for line in _lines(block)) + "\n"


def bullets(lines: Iterable[str]) -> str:
    return "".join(f"- {escaped(line)}\n" for line in lines)


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Line):
        yield f"**{escaped(block.text)}**" if block.style == "bold" else f"{block.first}{escaped(block.text)}"
        return
    yield from table(block)


def table(found: Table) -> Iterator[str]:
    """Lines among the rows follow as paragraphs: Markdown has no rows of one cell."""
    titles = [column.title if column.right else escaped(column.title) for column in found.columns]
    yield f"| {' | '.join(titles)} |"
    yield "|" + "|".join("---:" if column.right else ":---" for column in found.columns) + "|"
    for row in found.rows:
        if not isinstance(row, Line):
            texts = [_cell(cell, column.right) for cell, column in zip(row, found.columns, strict=False)]
            texts += [""] * (len(found.columns) - len(texts))
            yield f"| {' | '.join(texts)} |"
    for row in found.rows:
        if isinstance(row, Line):
            yield from ("", escaped(row.text))


def _cell(cell: Cell, figure: bool) -> str:
    text = cell.text if figure else escaped(cell.text)
    return f"**{text}**" if cell.style == "bold" and text else text
