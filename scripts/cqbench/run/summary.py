"""The table that ends an experiment: per variant and load the medians over the repetitions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from cqbench.files.offered import Load
from cqbench.files.point import Measured
from cqbench.files.reasons import Reason, alike
from cqbench.files.result import Document

WIDTH = 112
MAX_NOTES = 12
MAX_NAMES = 6
LEGEND = (
    "Medians over the repetitions in `runs`; `conns`: established TCP connections, the last repetition's. Marks: "
    "! suspect, ^ at a limit, * cut short, ? not all repetitions."
)
CPU_LEGEND = "CPU: of each end, in microseconds for a call."
OPEN_LEGEND = "P50, P99: from when a call was due; P99 sent: from when it was sent."


@dataclass(frozen=True)
class Row:
    """One load of a variant. Latencies in microseconds; None: no figure. runs: repetitions with figures."""

    load: Load
    runs: int
    throughput: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    connections: int | None = None
    partial: bool = False
    suspect: bool = False
    limited: bool = False
    sent_p99_us: float | None = None  # latency from sent; open loop only
    client_cpu_us: float | None = None  # for a call
    server_cpu_us: float | None = None


def rows(documents: Sequence[Document], loads: Iterable[Load]) -> list[Row]:
    """A row per load that was asked for, measured or not. documents: of one variant."""
    points = [p for d in documents for p in d.points]
    return [_row(load, [p for p in points if p.load == load]) for load in loads]


def _row(load: Load, points: list[Measured]) -> Row:
    """What was cut short counts only when there is nothing else."""
    measured = [p for p in points if p.throughput is not None]
    used = [p for p in measured if not p.partial] or measured
    connections = [p.connections for p in points if p.connections is not None]
    return Row(
        load,
        len(used),
        _median(p.throughput for p in used),
        _micros(_median(p.p50_ns for p in used)),
        _micros(_median(p.p99_ns for p in used)),
        connections[-1] if connections else None,
        any(p.partial for p in used),
        any(p.suspect for p in used),
        any(p.limits for p in used),
        _micros(_median(p.sent_p99_ns for p in used)),
        *(_micros(_median(p.figures.get(f"{end}_cpu_per_rpc_ns") for p in used)) for end in ("client", "server")),
    )


def _median(values: Iterable[float | None]) -> float | None:
    """None as well where a repetition has no figure: the others are then not typical."""
    found = list(values)
    there = [v for v in found if v is not None]
    return median(there) if there and len(there) == len(found) else None


def _micros(nanos: float | None) -> float | None:
    return None if nanos is None else nanos / 1000


def render(by_variant: dict[str, list[Document]], loads: Sequence[Load], repetitions: int) -> str:
    """The table, the legend, the remarks. Ends with a newline."""
    if not any(by_variant.values()):
        return "Nothing was measured.\n"
    width = max(len("variant"), *map(len, by_variant))
    in_open_loop = any(load.open for load in loads)
    more = f" {'P99 sent':>10}" if in_open_loop else ""
    table = {name: rows(documents, loads) for name, documents in by_variant.items()}
    cpu = any(row.client_cpu_us or row.server_cpu_us for found in table.values() for row in found)
    more += f" {'client CPU':>10} {'server CPU':>10}" if cpu else ""
    head = f"{'asked/s' if in_open_loop else 'in-flight':>9} | {'conns':>5} {'req/s':>10} {'P50 us':>9} {'P99 us':>10}"
    lines = [f"{'variant':<{width}} | {head}{more} {'runs':>5} | marks"]
    for name, found in table.items():
        lines.append("-" * (width + 1) + "+" + "-" * 11 + "+" + "-" * (45 + len(more)) + "+" + "-" * 6)
        lines += [f"{name:<{width}} | {_line(row, repetitions, cpu)}" for row in found]
    notes = remarks(by_variant)
    legend = " ".join([LEGEND, *([OPEN_LEGEND] if in_open_loop else []), *([CPU_LEGEND] if cpu else [])])
    shown = [_wrap(f"! {note}", "  ") for note in notes[:MAX_NOTES]]
    if len(notes) > MAX_NOTES:
        shown.append(f"... and {len(notes) - MAX_NOTES} more remarks in the JSON files")
    return "\n".join([*lines, "", _wrap(legend), *shown]) + "\n"


def _line(row: Row, repetitions: int, cpu: bool) -> str:
    runs = f"{row.runs}" if row.runs == repetitions else f"{row.runs}/{repetitions}"
    kinds = (("!", row.suspect), ("^", row.limited), ("*", row.partial), ("?", row.runs < repetitions))
    marks = "".join(mark for mark, holds in kinds if holds)
    more = f" {_figure(row.sent_p99_us, '.1f'):>10}" if row.load.open else ""
    if cpu:
        more += f" {_figure(row.client_cpu_us, '.1f'):>10} {_figure(row.server_cpu_us, '.1f'):>10}"
    text = (
        f"{row.load.number:>9.8g} | {_figure(row.connections, 'd'):>5} {_figure(row.throughput, '.0f'):>10} "
        f"{_figure(row.p50_us, '.1f'):>9} {_figure(row.p99_us, '.1f'):>10}{more} {runs:>5} | {marks}"
    )
    return text.rstrip()


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def remarks(by_variant: dict[str, list[Document]]) -> list[str]:
    """One line per kind of remark: those that differ in their figures only are one kind, shown by its first."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for name, documents in by_variant.items():
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
    """What a result says against itself: kind and words, with where it says so only when that is the whole result."""
    yield from _coded("all points: suspect", document.suspect)
    for point in document.points:
        texts = [f"not measured: {point.failure}"] if point.failure else []
        texts += [*point.warnings, *(f"failed calls: {text}" for text in point.errors)]
        yield from ((alike(text), text) for text in texts)
        yield from _coded("suspect", point.suspect)
        yield from _coded("limit", point.limits)


def _coded(what: str, found: Iterable[Reason]) -> Iterable[tuple[str, str]]:
    return ((f"{what}: {reason.kind}", f"{what}: {reason.text}") for reason in found)


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
