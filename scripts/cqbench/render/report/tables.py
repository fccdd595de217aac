"""The tables of a report: failed calls, costs of faults, lower bounds of a call, saturation rates of open loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from cqbench.formats.offered import rate
from cqbench.model.recovery import outcome
from cqbench.render.fault_words import COLUMNS, cells
from cqbench.render.report.model import Series, Table
from cqbench.render.report.series import Group
from cqbench.render.report.values import number

FLOORS = {
    "grpc": "gRPC",
    "grpc-unix": "gRPC, Unix socket",
    "grpc-inproc": "gRPC, in one process",
    "tcp-block": "TCP, sleeping",
    "tcp-spin": "TCP, spinning",
}


def errors(groups: Sequence[Group]) -> Table:
    """A row for each status code of a point, all repetitions together; no rows when no call failed."""
    calls: Counter[tuple[str, str]] = Counter()
    codes: Counter[tuple[str, str, str]] = Counter()
    first: dict[tuple[str, str, str], str] = {}
    for of in groups:
        for measured in (point for run in of.runs for point in run.points()):
            where = (of.title, measured.load.words)
            calls[where] += measured.completed + measured.failed
            for error in measured.failed_calls:
                key = (*where, error.code)
                codes[key] += error.count
                first.setdefault(key, error.first_message)
    rows = (
        (*k, number(n), f"{number(100 * n / calls[k[:2]])} %" if calls[k[:2]] else "-", first[k])
        for k, n in codes.items()
    )
    return Table(("Series", "Load", "Status", "Calls", "Of all calls", "First message"), tuple(rows))


def faults(groups: Sequence[Group]) -> Table:
    """A row for each series in which something was made to go wrong."""
    rows: list[tuple[str, ...]] = []
    for of in groups:
        whole = [(run, point) for run in of.runs for point in run.points() if not point.partial]
        told = [found for run, point in whole if (found := outcome(run, point)) is not None]
        if told:
            rows.append((of.title, of.setting.get("fault"), *(text or "-" for text in cells(told))))
    rows.sort(key=lambda row: row[0].rpartition(".")[0])  # what is compared stands together
    return Table(("Series", "Fault", *(column.title for column in COLUMNS)), tuple(rows))


def floors(groups: Sequence[Group]) -> Table:
    """P50 of a call at 1 in flight with less and less of gRPC, and how many times the floor gRPC is."""
    rows = []
    for of in groups:
        lower_bounds = [b for run in of.runs for b in run.document.lower_bounds]
        found = {name: [b.p50_ns for b in lower_bounds if b.name == name and b.p50_ns is not None] for name in FLOORS}
        middle = {name: median(values) / 1000 for name, values in found.items() if values}
        if middle:
            cells = [number(middle[name]) if name in middle else "-" for name in FLOORS]
            ratio = middle["grpc"] / middle["tcp-block"] if middle.keys() >= {"grpc", "tcp-block"} else None
            rows.append((of.title, *cells, "-" if ratio is None else number(ratio)))
    return Table(("Series", *(f"{name}, µs" for name in FLOORS.values()), "gRPC ÷ TCP, sleeping"), tuple(rows))


def knees(series: Sequence[Series]) -> Table:
    """For open loops: the highest rate that is reached, and the next."""
    rows = []
    for one in (s for s in series if s.open and s.points):
        beyond = next((p for p in one.points if p.load.number > (one.knee or 0)), None)
        kept = next((p for p in one.points if p.load.number == one.knee), None)
        waits = [number(p.values["p99"].middle) if p and "p99" in p.values else "-" for p in (kept, beyond)]
        reached = f"{number(beyond.values['reached'].middle)} %" if beyond and "reached" in beyond.values else "-"
        asked = [rate(p.load.number) if p else "-" for p in (kept, beyond)]
        rows.append((f"{one.title} ({one.method})", asked[0], waits[0], asked[1], reached, waits[1]))
    head = ("Series", "Keeps up to", "P99 there, µs", "Next rate", "Reached of it", "P99 there, µs")
    return Table(head, tuple(rows))
