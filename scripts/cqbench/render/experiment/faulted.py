"""The table of an experiment with faults: for each configuration the cost of the fault, and its duration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cqbench.formats.offered import Load
from cqbench.formats.runs import Run
from cqbench.model.recovery import Outcome, outcome
from cqbench.render.experiment.tables import grouped
from cqbench.render.fault_words import COLUMNS, cells
from cqbench.render.table import EMPTY, WIDTH, Block, Column, Line

LEGEND = (
    "Times are from when the fault began. lost: calls that were due in the window and did not end well. first success: "
    "until a call ended well, at most. 95 % again: until the rate was back at 95 % of that before the fault and stayed "
    "for half a second; never: not within the window. P99, max: latency from due of the window's calls that ended "
    "well. Medians over the repetitions, in brackets their 95 % intervals, from six on; -: a repetition lacks it. "
    "Failed calls by status: medians, too; unfinished and unsent: under way, or waiting, when the client gave up."
)


def blocks(measured: Sequence[tuple[int, Run]], loads: Sequence[Load], names: Sequence[str]) -> Iterator[Block]:
    """None where nothing was to go wrong."""
    found = {(load, name): of for load in loads for name in names if (of := list(_outcomes(measured, name, load)))}
    if found:
        columns = [Column(column.title, column is not COLUMNS[-1]) for column in COLUMNS]
        rows = [(name, load.words, cells(of)) for (load, name), of in found.items()]
        yield from (*grouped("Faults", columns, rows), EMPTY, Line(LEGEND, width=WIDTH, later=""))
        yield from map(Line, dict.fromkeys(f"{name}: {o.why}" for (_, name), of in found.items() for o in of if o.why))


def _outcomes(measured: Iterable[tuple[int, Run]], name: str, load: Load) -> Iterable[Outcome]:
    """Yields the outcomes of complete repetitions."""
    for _, run in measured:
        for point in run.points() if run.configuration == name else ():
            if point.load == load and not point.partial and (found := outcome(run, point)) is not None:
                yield found
