"""The cost and the duration of faults: several repetitions as texts for tables, and the table that ends an experiment.

recovery.py has the definitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from statistics import median
from typing import NamedTuple

from cqbench.formats.offered import Load
from cqbench.formats.runs import Run
from cqbench.model.recovery import Outcome, outcome
from cqbench.render.experiment.tables import grouped
from cqbench.render.table import EMPTY, WIDTH, Block, Column, Line
from cqbench.stats.medians import describe


class Figure(NamedTuple):
    title: str
    text: Callable[[Sequence[Outcome]], str]


def cells(of: Sequence[Outcome]) -> list[str]:
    """By FIGURES."""
    return [figure.text(of) for figure in FIGURES]


def _figure(figure: Callable[[Outcome], float | None], scale: float, digits: int) -> Callable[[Sequence[Outcome]], str]:
    """'0.31 (0.30-0.33)': the median with its 95 % interval, where there is one; '-' where a repetition has none."""

    def text(value: float) -> str:
        return "never" if math.isinf(value) else f"{value:.{digits}f}"

    def texts(of: Sequence[Outcome]) -> str:
        values = [figure(outcome) for outcome in of]
        there = [value * scale for value in values if value is not None]
        if len(there) < len(values):
            return "-"
        middle, *interval = astuple(describe(there))
        ends = [text(end) for end in interval if end is not None]
        return text(middle) + (f" ({'-'.join(ends)})" if len(set(ends)) > 1 else "")

    return texts


def _statuses(of: Sequence[Outcome]) -> str:
    """'UNAVAILABLE 31, DEADLINE_EXCEEDED 2': medians, the most frequent first; 0 where a repetition has none."""
    codes = dict.fromkeys(code for o in of for code in o.failed)
    counts = {code: median(o.failed.get(code, 0.0) for o in of) for code in codes}
    return ", ".join(f"{code} {n:g}" for code, n in sorted(counts.items(), key=lambda pair: -pair[1]))


FIGURES = (
    Figure("lost %", _figure(lambda o: o.lost, 100, 2)),
    Figure("first success s", _figure(lambda o: o.first_success_s, 1, 2)),
    Figure("95 % again s", _figure(lambda o: o.recovery_s, 1, 2)),
    Figure("P99 ms", _figure(lambda o: o.p99_ns, 1e-6, 1)),
    Figure("max ms", _figure(lambda o: o.max_ns, 1e-6, 1)),
    Figure("failed by status", _statuses),
)
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
        columns = [Column(figure.title, figure is not FIGURES[-1]) for figure in FIGURES]
        rows = [(name, load.words, cells(of)) for (load, name), of in found.items()]
        yield from (*grouped("Faults", columns, rows), EMPTY, Line(LEGEND, width=WIDTH, later=""))
        yield from map(Line, dict.fromkeys(f"{name}: {o.why}" for (_, name), of in found.items() for o in of if o.why))


def _outcomes(measured: Iterable[tuple[int, Run]], name: str, load: Load) -> Iterable[Outcome]:
    """Yields the outcomes of complete repetitions."""
    for _, run in measured:
        for point in run.points() if run.configuration == name else ():
            if point.load == load and not point.partial and (found := outcome(run, point)) is not None:
                yield found
