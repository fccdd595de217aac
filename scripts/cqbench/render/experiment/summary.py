"""The table that ends an experiment: per configuration and load the medians over the repetitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.offered import Load
from cqbench.formats.point import Measured
from cqbench.formats.reasons import Reason, alike
from cqbench.formats.result import Document
from cqbench.model.figures import CLIENT_CPU, CPU, FIGURES, P50, P99, SENT_PERCENTILES, SERVER_CPU
from cqbench.render.experiment.cells import number
from cqbench.render.table import EMPTY, WIDTH, Block, Column, Line, Table

MAX_NOTES = 12
MAX_NAMES = 6
SENT_P99 = SENT_PERCENTILES[2]
LEGEND = (
    "Medians over the repetitions in `runs`; conns: established TCP connections, the last repetition's. Marks: ! "
    "unreliable, ^ a resource is saturated, * cut short, ? not all repetitions."
)
CPU_LEGEND = "client µs, server µs: CPU time per call."
OPEN_LEGEND = "P50, P99: from when a call was due; P99 sent: from when it was sent."


class Shown(NamedTuple):
    """A column: a figure and where a point has it. title: where the catalogue's does not fit. open, cpu: only where
    there is an open loop, or CPU time is known.
    """

    name: str
    pick: Callable[[Measured], float | None]
    digits: int = 1
    title: str = ""
    open: bool = False
    cpu: bool = False


COLUMNS = (
    Shown(THROUGHPUT, lambda p: p.throughput, 0, FIGURES[THROUGHPUT].shown_unit),
    Shown(P50, lambda p: p.p50_ns),
    Shown(P99, lambda p: p.p99_ns),
    Shown(SENT_P99, lambda p: p.sent_p99_ns, title="P99 sent", open=True),
    Shown(CLIENT_CPU, lambda p: p.figures.get(CLIENT_CPU), title="client µs", cpu=True),
    Shown(SERVER_CPU, lambda p: p.figures.get(SERVER_CPU), title="server µs", cpu=True),
)


@dataclass(frozen=True)
class Row:
    """One load level of a configuration. medians: of COLUMNS, by name, in the unit of results; None: no figure. runs:
    repetitions with figures.
    """

    load: Load
    runs: int
    medians: Mapping[str, float | None]
    connections: int | None
    partial: bool
    unreliable: bool
    limited: bool


def rows(documents: Sequence[Document], loads: Iterable[Load]) -> list[Row]:
    """A row per load that was asked for, measured or not. documents: of one configuration."""
    points = [p for d in documents for p in d.points]
    return [_row(load, [p for p in points if p.load == load]) for load in loads]


def _row(load: Load, points: list[Measured]) -> Row:
    """Points that were cut short count only if there are no others."""
    measured = [p for p in points if p.throughput is not None]
    used = [p for p in measured if not p.partial] or measured
    connections = [p.connections for p in points if p.connections is not None]
    return Row(
        load,
        len(used),
        {column.name: _median(column.pick(p) for p in used) for column in COLUMNS},
        connections[-1] if connections else None,
        any(p.partial for p in used),
        any(p.warnings for p in used),
        any(p.saturated for p in used),
    )


def _median(values: Iterable[float | None]) -> float | None:
    """None as well where a repetition has no figure: the others are then not typical."""
    found = list(values)
    there = [v for v in found if v is not None]
    return median(there) if there and len(there) == len(found) else None


def blocks(by_configuration: Mapping[str, Sequence[Document]], loads: Sequence[Load], of: int) -> Iterator[Block]:
    """The table, the legend, the remarks. of: repetitions that were asked for."""
    if not any(by_configuration.values()):
        yield Line("Nothing was measured.")
        return
    found = {name: rows(documents, loads) for name, documents in by_configuration.items()}
    is_open = any(load.open for load in loads)
    cpu = any(row.medians[name] for one in found.values() for row in one for name in CPU)
    shown = [column for column in COLUMNS if not (column.open and not is_open) and not (column.cpu and not cpu)]
    load = Column("target/s" if is_open else "in-flight", True)
    titles = ("conns", *(column.title or FIGURES[column.name].column for column in shown), "runs")
    head = (load, *(Column(title, True) for title in titles), Column("marks"))
    table = Table([Column("configuration"), *head])
    for name, of_one in found.items():
        table.rows += [EMPTY] * (len(loads) > 1 and bool(table.rows))
        for row in of_one:
            figures = (number(row.medians[c.name], c.digits, FIGURES[c.name].scale) for c in shown)
            table.add(name, f"{row.load.number:.8g}", number(row.connections, 0), *figures, *_runs(row, of))
    legend = " ".join([LEGEND, *([OPEN_LEGEND] if is_open else []), *([CPU_LEGEND] if cpu else [])])
    notes = remarks(by_configuration)
    yield from (table, EMPTY, Line(legend, width=WIDTH, later=""))
    yield from (Line(f"! {note}", width=WIDTH) for note in notes[:MAX_NOTES])
    if len(notes) > MAX_NOTES:
        yield Line(f"... and {len(notes) - MAX_NOTES} more remarks in the JSON files")


def _runs(row: Row, of: int) -> tuple[str, str]:
    """How many repetitions, and the marks."""
    kinds = (("!", row.unreliable), ("^", row.limited), ("*", row.partial), ("?", row.runs < of))
    return f"{row.runs}" if row.runs == of else f"{row.runs}/{of}", "".join(mark for mark, holds in kinds if holds)


def remarks(by_configuration: Mapping[str, Sequence[Document]]) -> list[str]:
    """One line per kind of remark: those that differ in their figures only are one kind, shown by its first."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for name, documents in by_configuration.items():
        for kind, text in (said for d in documents for said in _said(d)):
            kinds.setdefault(kind, []).append((name, text))
    return [_remark(said) for said in kinds.values()]


def _remark(said: list[tuple[str, str]]) -> str:
    names = list(dict.fromkeys(name for name, _ in said))
    shown = ", ".join(names[:MAX_NAMES]) + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")
    times = f" ({len(said)} times" if len(said) > 1 else ""
    if len({text for _, text in said}) > 1:
        times += "; figures of the first"
    return f"{shown}: {said[0][1]}{times}{')' if times else ''}"


def _said(document: Document) -> Iterable[tuple[str, str]]:
    """Yields a result's own warnings: kind and words, with the place only if it is not the whole result."""
    yield from _coded("all points: warning", document.warnings)
    for point in document.points:
        texts = [f"not measured: {point.failure}"] if point.failure else []
        texts += [f"failed calls: {text}" for text in point.errors]
        yield from ((alike(text), text) for text in texts)
        yield from _coded("warning", point.warnings)
        yield from _coded("saturated", point.saturated)


def _coded(what: str, found: Iterable[Reason]) -> Iterable[tuple[str, str]]:
    return ((f"{what}: {reason.kind}", f"{what}: {reason.text}") for reason in found)
