"""What sharing a connection costs: documents -> tables of figures. Pure functions; tables.py draws them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from cqbench.documents import Document, Measured

SHARED_POLICIES = ("per-worker", "shared")
SEPARATE_POLICIES = ("local-pool", "distinct-args")


@dataclass(frozen=True)
class Cell:
    """One in-flight count of one side, the median over its repetitions. Latencies in microseconds. None: no figure."""

    throughput: float | None = None  # per second
    p50_us: float | None = None
    p99_us: float | None = None
    connections: int | None = None
    ideal: float | None = None  # throughput / (inflight x throughput at 1 in flight)
    partial: bool = False
    suspect: bool = False  # a repetition says why it should not be believed; what holds for all points is not counted


@dataclass(frozen=True)
class Row:
    """Both sides at one in-flight count. Ratios are separate / shared, None where a side has no figure."""

    inflight: int
    shared: Cell
    separate: Cell

    @property
    def ratio(self) -> float | None:
        return divide(self.separate.throughput, self.shared.throughput)

    @property
    def p99_ratio(self) -> float | None:
        return divide(self.separate.p99_us, self.shared.p99_us)

    @property
    def suspect(self) -> bool:
        return self.shared.suspect or self.separate.suspect


@dataclass(frozen=True)
class Table:
    """One API in one mode. notes: what was not measured, warned about, failed or is suspect."""

    mode: str
    api: str
    workload: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        calls = {"unary": "unary calls", "streaming": "streaming"}.get(self.mode, self.mode)
        return f"{calls}, {self.api} client"


def divide(a: float | None, b: float | None) -> float | None:
    """None where there is nothing to divide."""
    return a / b if a is not None and b else None


def side(document: Document) -> str | None:
    """'shared', 'separate', or None for a policy that is neither (pool:N)."""
    if document.policy in SHARED_POLICIES:
        return "shared"
    return "separate" if document.policy in SEPARATE_POLICIES else None


def compare(documents: Iterable[Document], inflight: Iterable[int] = ()) -> list[Table]:
    """A table per workload, API and mode, in the order in which they first appear.

    inflight: the counts that were asked for, so that points which are missing from every document get a row too.
    """
    groups: dict[tuple[str, str, str], dict[str, list[Document]]] = {}
    for document in documents:
        which = side(document)
        if which:
            key = (document.workload, document.api, document.mode)
            groups.setdefault(key, {"shared": [], "separate": []})[which].append(document)
    return [_table(key, sides, set(inflight)) for key, sides in groups.items()]


def _table(key: tuple[str, str, str], sides: dict[str, list[Document]], inflight: set[int]) -> Table:
    points = {name: [p for d in documents for p in d.points] for name, documents in sides.items()}
    counts = sorted(inflight | {p.inflight for side_points in points.values() for p in side_points})
    cells = {name: _cells(side_points) for name, side_points in points.items()}
    rows = tuple(Row(n, cells["shared"].get(n, Cell()), cells["separate"].get(n, Cell())) for n in counts)
    notes = tuple(note for name in ("shared", "separate") for note in _notes(name, points[name], counts))
    doubts = (*_doubts_about_all(sides), *(d for name in sides for d in _doubts(name, points[name])))
    workload, api, mode = key
    return Table(mode, api, workload, rows, (*notes, *doubts))


def _cells(points: list[Measured]) -> dict[int, Cell]:
    by_count: dict[int, list[Measured]] = {}
    for point in points:
        by_count.setdefault(point.inflight, []).append(point)
    plain = {n: _cell(group) for n, group in by_count.items()}
    one = plain.get(1, Cell()).throughput
    return {
        n: Cell(c.throughput, c.p50_us, c.p99_us, c.connections, _share(c.throughput, one, n), c.partial, c.suspect)
        for n, c in plain.items()
    }


def _share(throughput: float | None, one: float | None, n: int) -> float | None:
    return divide(throughput, one * n if one else None)


def _cell(repetitions: list[Measured]) -> Cell:
    """The median of what was measured; a repetition that was cut short counts only when there is no other."""
    measured = [p for p in repetitions if p.throughput is not None]
    whole = [p for p in measured if not p.partial] or measured
    connections = [p.connections for p in repetitions if p.connections is not None]
    return Cell(
        throughput=_median(p.throughput for p in whole),
        p50_us=_micros(_median(p.p50_ns for p in whole)),
        p99_us=_micros(_median(p.p99_ns for p in whole)),
        connections=connections[-1] if connections else None,
        partial=any(p.partial for p in whole),
        suspect=any(p.suspect for p in whole),
    )


def _median(values: Iterable[float | None]) -> float | None:
    there = [v for v in values if v is not None]
    return median(there) if there else None


def _micros(nanos: float | None) -> float | None:
    return None if nanos is None else nanos / 1000


def _notes(name: str, points: list[Measured], counts: list[int]) -> list[str]:
    """One line per different thing to say, with the in-flight counts it was said about."""
    said: dict[str, list[int]] = {}
    for n in counts:
        group = [p for p in points if p.inflight == n]
        for text in _remarks(group):
            said.setdefault(text, []).append(n)
    return [f"{name}, in-flight {_counts(where)}: {text}" for text, where in said.items()]


def _doubts_about_all(sides: dict[str, list[Document]]) -> list[str]:
    """What the documents say of all their points, each once for both sides."""
    said: dict[str, list[str]] = {}
    for name, documents in sides.items():
        for text in dict.fromkeys(reason for d in documents for reason in d.suspect):
            said.setdefault(text, []).append(name)
    return [f"{' and '.join(names)}, all points: suspect: {text}" for text, names in said.items()]


def _doubts(name: str, points: list[Measured]) -> list[str]:
    """One line per kind of reason: those that differ in their figures only are one kind, shown by its first."""
    kinds: dict[str, list[tuple[int, str]]] = {}
    for point in sorted(points, key=lambda p: p.inflight):
        for text in point.suspect:
            kinds.setdefault(re.sub(r"[-+0-9.]+", "#", text), []).append((point.inflight, text))
    return [
        f"{name}, in-flight {_counts(sorted({n for n, _ in said}))}: suspect: {said[0][1]}"
        + (" (figures of the first)" if len({text for _, text in said}) > 1 else "")
        for said in kinds.values()
    ]


def _counts(counts: list[int]) -> str:
    shown = ", ".join(map(str, counts[:8]))
    return shown if len(counts) <= 8 else f"{shown}, ... ({len(counts)} counts)"


def _remarks(points: list[Measured]) -> list[str]:
    if not points:
        return ["not measured"]
    remarks = []
    for point in points:
        cut = "the measurement was cut short (marked *)" if point.partial and not point.failure else ""
        errors = f"failed calls: {'; '.join(point.errors)}" if point.errors else ""
        remarks += [text for text in (point.failure, cut, *point.warnings, errors) if text]
    return list(dict.fromkeys(remarks))


def sentences(tables: list[Table]) -> list[str]:
    """What the tables say, in at most one sentence per API and one about noise. No judgement."""
    said = [_sentence(api, [t for t in tables if t.api == api]) for api in dict.fromkeys(t.api for t in tables)]
    return [s for s in (*said, _noise(tables)) if s]


def _sentence(api: str, tables: list[Table]) -> str:
    """About the highest in-flight count that both sides reached."""
    last = [
        (t.mode, next((r for r in reversed(t.rows) if r.ratio is not None and r.inflight > 1), None)) for t in tables
    ]
    parts: list[str] = []
    for mode, row in last:
        if row is None:
            continue
        first = "" if parts else " the throughput of the shared one"
        cost = f" at {row.p99_ratio:.2f}x its P99" if row.p99_ratio is not None else ""
        parts.append(f"{row.ratio:.2f}x{first}{cost} ({mode}, {row.inflight} in flight)")
    return f"With the {api} client, separate connections carry {' and '.join(parts)}." if parts else ""


def _noise(tables: list[Table]) -> str:
    """With one call in flight both sides are the same set-up, so what differs there is chance."""
    ratios = [r.ratio for t in tables for r in t.rows if r.inflight == 1 and r.ratio is not None]
    if not ratios:
        return ""
    low, high = min(ratios), max(ratios)
    seen = f"{low:.2f}x" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f}x to {high:.2f}x"
    return (
        f"At 1 in flight both are one call on one connection: the {seen} seen there is this run's noise, "
        "and smaller differences elsewhere mean nothing."
    )
