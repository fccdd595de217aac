"""An answer as text: the answer first, two tables, and what to set with its C++; coloured on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cqbench.render import text
from cqbench.render.table import EMPTY, Block, Cell, Column, Line, Table
from cqbench.render.verdict import grids
from cqbench.render.verdict.answer import Answer
from cqbench.render.verdict.grids import Grid
from cqbench.render.verdict.headline import Word
from cqbench.render.verdict.recommend import ToSet

WIDTH = 80
WORDS = {
    Word.YES: "bold red",
    Word.LIKELY: "red",
    **dict.fromkeys((Word.NO, Word.FASTER, Word.BETTER, Word.EQUIVALENT), "bold green"),
    **dict.fromkeys((Word.SLOWER, Word.WORSE), "bold magenta"),
}
LISTS = {"measure": "WHAT TO MEASURE", "cannot_show": "WHAT THIS MACHINE CANNOT SHOW"}
CODE = "cyan"
JOINED = "\N{NO-BREAK SPACE}"


def render(answer: Answer, everything: bool = False, colour: bool = False) -> str:
    """everything: each load of each row as well, at the end. Ends with a newline."""
    return text.render(_blocks(answer, everything), colour).replace(JOINED, " ")


def _line(words: str, style: str = "", width: int = 0, first: str = "", later: str = "  ") -> Line:
    """A paragraph in which no line begins with a sign of percent."""
    return Line(words.replace(" %", f"{JOINED}%"), style, width, first, later)


def _blocks(answer: Answer, everything: bool) -> Iterator[Block]:
    yield from _head(answer)
    if any(row.each for row in answer.table):
        yield EMPTY
        yield from _fitted(grids.outcomes(answer))
        yield EMPTY
        yield from _fitted(grids.absolute(answer))
        yield _line(grids.legend(answer), "dim", WIDTH, later="")
        yield EMPTY
    if answer.to_set or answer.keep:
        several = " (each compared by itself, not together)" if len(answer.to_set) > 1 else ""
        yield _line(f"WHAT TO SET{several}", "bold")
        for one in answer.to_set:
            yield from _set(one)
        yield from _items(answer.keep)
    for key, title in LISTS.items():
        if getattr(answer, key):
            yield _line(title, "bold")
            yield from _items(getattr(answer, key))
    if everything and any(row.each for row in answer.table):
        unit = "calls per second" if answer.open_loop else "calls in flight"
        yield from (EMPTY, _line(f"EVERY LOAD ({unit})", "bold"))
        yield from _fitted(grids.every(answer))


def _head(answer: Answer) -> Iterator[Line]:
    yield _line(answer.question, "bold", WIDTH, later="")
    yield _line(answer.short, WORDS.get(answer.word, "bold"), WIDTH)
    yield from (_line(note, "yellow", WIDTH, "! ") for note in answer.notes)
    yield from (_line(why, "", WIDTH) for why in answer.why)
    yield from (_line(one, "dim", WIDTH, later="") for one in (answer.sides, answer.machine) if one)


def _items(texts: Iterable[str]) -> Iterator[Line]:
    return (_line(one, "", WIDTH, "- ") for one in texts)


def _set(one: ToSet) -> Iterator[Line]:
    places = "; ".join(filter(None, (one.flags, f"code: {one.source}" if one.source else "")))
    how = f" ({places})" if places else ""
    yield _line(f"{one.setting}{how}{'; ' * bool(one.note)}{one.note}", "green", WIDTH, "- ")
    yield from (_line(brings, "", WIDTH, "  ", "    ") for brings in one.brings)
    yield from (_line(f"costs: {cost}", "magenta", WIDTH, "  ", "    ") for cost in one.costs)
    yield from (_line(line, CODE, 0, "      ") for line in one.cpp)


def _fitted(grid: Grid) -> Iterator[Block]:
    """A table of 80 columns. What does not fit gets shorter titles, then names on lines of their own."""
    if not _fits(grid):
        grid = grid._replace(titles=(grid.titles[0], *(title.removesuffix(" in flight") for title in grid.titles[1:])))
    above = not _fits(grid)
    if above and grid.titles[0]:
        yield _line(grid.titles[0], "bold")
    table = Table([Column("" if above else grid.titles[0]), *map(Column, grid.titles[1:])], head="bold")
    for row in grid.rows:
        if above and row.name:
            table.rows.append(_line(row.name, "", WIDTH))
        table.add("" if above else row.name, *map(Cell, row.cells, row.styles))
    yield table


def _fits(grid: Grid) -> bool:
    widths = grids.widths(grid)
    return sum(widths) + text.GAP * (len(widths) - 1) <= WIDTH
