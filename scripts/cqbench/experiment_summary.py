"""The table that ends an experiment: per variant and in-flight count the medians over the repetitions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from cqbench.documents import Document, Measured

WIDTH = 112
MAX_NOTES = 12
MAX_NAMES = 6
LEGEND = (
    "Medians over the repetitions in `runs`; `conns`: established TCP connections, the last repetition's. Marks: "
    "! suspect, * cut short, ? not all repetitions."
)


@dataclass(frozen=True)
class Row:
    """One in-flight count of a variant. Latencies in microseconds; None: no figure. runs: repetitions with figures."""

    inflight: int
    runs: int
    throughput: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    connections: int | None = None
    partial: bool = False
    suspect: bool = False


def rows(documents: Sequence[Document], inflight: Iterable[int]) -> list[Row]:
    """A row per count that was asked for, measured or not. documents: of one variant."""
    points = [p for d in documents for p in d.points]
    return [_row(n, [p for p in points if p.inflight == n]) for n in inflight]


def _row(inflight: int, points: list[Measured]) -> Row:
    """What was cut short counts only when there is nothing else."""
    measured = [p for p in points if p.throughput is not None]
    used = [p for p in measured if not p.partial] or measured
    connections = [p.connections for p in points if p.connections is not None]
    return Row(
        inflight,
        len(used),
        _median(p.throughput for p in used),
        _micros(_median(p.p50_ns for p in used)),
        _micros(_median(p.p99_ns for p in used)),
        connections[-1] if connections else None,
        any(p.partial for p in used),
        any(p.suspect for p in used),
    )


def _median(values: Iterable[float | None]) -> float | None:
    """None as well where a repetition has no figure: the others are then not typical."""
    found = list(values)
    there = [v for v in found if v is not None]
    return median(there) if there and len(there) == len(found) else None


def _micros(nanos: float | None) -> float | None:
    return None if nanos is None else nanos / 1000


def render(by_variant: dict[str, list[Document]], inflight: Sequence[int], repetitions: int) -> str:
    """The table, the legend, the remarks. Ends with a newline."""
    if not any(by_variant.values()):
        return "Nothing was measured.\n"
    width = max(len("variant"), *map(len, by_variant))
    head = f"{'in-flight':>9} | {'conns':>5} {'req/s':>10} {'P50 us':>9} {'P99 us':>10} {'runs':>5} | marks"
    lines = [f"{'variant':<{width}} | {head}"]
    for name, documents in by_variant.items():
        lines.append("-" * (width + 1) + "+" + "-" * 11 + "+" + "-" * 45 + "+" + "-" * 6)
        lines += [f"{name:<{width}} | {_line(row, repetitions)}" for row in rows(documents, inflight)]
    notes = remarks(by_variant)
    shown = [_wrap(f"! {note}", "  ") for note in notes[:MAX_NOTES]]
    if len(notes) > MAX_NOTES:
        shown.append(f"... and {len(notes) - MAX_NOTES} more remarks in the JSON files")
    return "\n".join([*lines, "", _wrap(LEGEND), *shown]) + "\n"


def _line(row: Row, repetitions: int) -> str:
    runs = f"{row.runs}" if row.runs == repetitions else f"{row.runs}/{repetitions}"
    marks = ("!" if row.suspect else "") + ("*" if row.partial else "") + ("?" if row.runs < repetitions else "")
    text = (
        f"{row.inflight:>9} | {_figure(row.connections, 'd'):>5} {_figure(row.throughput, '.0f'):>10} "
        f"{_figure(row.p50_us, '.1f'):>9} {_figure(row.p99_us, '.1f'):>10} {runs:>5} | {marks}"
    )
    return text.rstrip()


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def remarks(by_variant: dict[str, list[Document]]) -> list[str]:
    """One line per kind of remark: those that differ in their figures only are one kind, shown by its first."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for name, documents in by_variant.items():
        for text in (t for d in documents for t in _said(d)):
            kinds.setdefault(re.sub(r"[-+0-9.]+", "#", text), []).append((name, text))
    return [_remark(said) for said in kinds.values()]


def _remark(said: list[tuple[str, str]]) -> str:
    names = list(dict.fromkeys(name for name, _ in said))
    shown = ", ".join(names[:MAX_NAMES]) + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")
    times = f" ({len(said)} times" if len(said) > 1 else ""
    if len({text for _, text in said}) > 1:
        times += "; figures of the first"
    return f"{shown}: {said[0][1]}{times}{')' if times else ''}"


def _said(document: Document) -> Iterable[str]:
    """What a result says against itself, each with where it says so only when that is a whole result."""
    yield from (f"all points: suspect: {text}" for text in document.suspect)
    for point in document.points:
        if point.failure:
            yield f"not measured: {point.failure}"
        yield from point.warnings
        yield from (f"failed calls: {text}" for text in point.errors)
        yield from (f"suspect: {text}" for text in point.suspect)


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
