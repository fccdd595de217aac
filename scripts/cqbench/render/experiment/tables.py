"""The tables that end an experiment, as data: the columns of each, when it is shown, and the words below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.offered import closed
from cqbench.model.figures import ENDS, FIGURES, P50, P99
from cqbench.model.ratio import values
from cqbench.model.series import Repetition
from cqbench.model.thresholds import BYTES_REACHED
from cqbench.render.experiment.cells import Cell, Row, number, rows
from cqbench.render.table import EMPTY, WIDTH, Block, Column, Line, Table
from cqbench.stats.medians import describe

CPU = "{}_cpu_per_rpc_ns"
CODEC_SHARE = "breakdown_{}_codec_in_process_cpu_share"
CODEC_STEPS = tuple(
    f"breakdown_{message}_{step}_in_process_ns"
    for message in ("request", "response")
    for step in ("serialize", "parse")
)
PAYLOAD, PAYLOAD_ASKED = "payload_bytes_per_second", "payload_bytes_target_per_second"
COST = "{}_cores_per_gbit_per_second"
WIRE = "client_bytes_{}_per_payload_byte"
COUNTS = (("B/op", "allocated_bytes_per_rpc", 0), ("allocs", "allocations_per_rpc", 1))
CALLS = FIGURES[THROUGHPUT].shown_unit
BAR = 28  # characters of the longest


@dataclass(frozen=True)
class Figure:
    """A column."""

    title: str
    text: Callable[[Row], str]
    right: bool = True


@dataclass(frozen=True)
class Kind:
    """One table. applies: to all cells of an experiment. has: whether a cell is in the table. load: its words."""

    title: str
    applies: Callable[[Sequence[Cell]], bool]
    figures: Sequence[Figure]
    legend: str
    has: Callable[[Cell], bool] = lambda cell: True
    load: Callable[[Cell], str] = lambda cell: cell.load.words
    notes: Callable[[Sequence[Cell]], Iterable[str]] = lambda cells: ()


def blocks(kind: Kind, every: Sequence[Cell]) -> Iterator[Block]:
    """None where the table has nothing to say."""
    if kind.applies(every):
        shown = [cell for cell in every if kind.has(cell)]
        lines = [
            (row.cell.configuration, kind.load(row.cell), [f.text(row) for f in kind.figures]) for row in rows(shown)
        ]
        yield from grouped(kind.title, [Column(figure.title, figure.right) for figure in kind.figures], lines)
        yield from (EMPTY, Line(kind.legend, width=WIDTH, later=""), *map(Line, kind.notes(shown)))


def grouped(title: str, columns: Sequence[Column], rows: Sequence[tuple[str, str, Sequence[str]]]) -> Iterator[Block]:
    """rows: configuration, load level, figures. An empty line parts load levels and kinds of configurations, which are
    all but the last axis; a load level that all have is in the title."""
    loads = dict.fromkeys(load for _, load, _ in rows)
    several = len(loads) > 1
    found = Table([Column("configuration"), *([Column("load", True)] if several else []), *columns])
    before = None
    for name, load, figures in rows:
        group = (load, name.rpartition(".")[0])
        found.rows += [EMPTY] * (before not in (None, group))
        before = group
        found.add(name, *([load] if several else []), *figures)
    yield from (Line(title if several else f"{title}, {', '.join(loads)}"), found)


def _median(key: str, digits: int, title: str = "") -> Figure:
    """In the unit for people. title: where the catalogue's is too long for a column."""
    figure = FIGURES[key]
    return Figure(title or figure.column, lambda row: number(row.cell.middle(key), digits, figure.scale))


def _ratio(key: str, title: str = "/ first (95 %)") -> Figure:
    return Figure(title, lambda row: row.ratio(key))


def _cpu_per_call() -> Iterator[Figure]:
    for end in ENDS:
        yield from (_median(CPU.format(end), 1, f"{end} µs/call"), _ratio(CPU.format(end)))


def _interval(values: Sequence[float]) -> str:
    found = describe(values) if values else None
    return f"[{found.low:.0f}, {found.high:.0f}]" if found and found.low is not None and found.high is not None else ""


def _over(figure: Callable[[Repetition], float | None]) -> Callable[[Row], float | None]:
    """The median of a figure that every repetition has."""

    def text(row: Row) -> float | None:
        found = [figure(point) for point in row.cell.points]
        there = [value for value in found if value is not None]
        return median(there) if there and len(there) == len(found) else None

    return text


def _cpu_per_byte(point: Repetition) -> float | None:
    """CPU time of both ends by byte on the wire."""
    costs = [point.value(CPU.format(end)) for end in ENDS]
    moved = [point.value(f"client_bytes_{way}_per_second") for way in ("sent", "received")]
    calls = point.value(THROUGHPUT)
    if None in (*costs, *moved, calls) or not any(moved):
        return None
    return sum(c or 0 for c in costs) * (calls or 0) / sum(b or 0 for b in moved)


def _connected_per_second(point: Repetition) -> float | None:
    """Returns connections a second with several at a time; a single one has a latency."""
    took, there = point.value("client_connect_ns"), point.measured.connections
    return there * 1e9 / took if took and there and there > 1 else None


def _codec_ns(row: Row) -> str:
    steps = [row.cell.middle(step) for step in CODEC_STEPS]
    there = [step for step in steps if step is not None]
    return number(sum(there) if len(there) == len(steps) else None, 0)


def _call_ns(row: Row) -> list[float]:
    return [1e9 / rate for rate in values(row.cell.points, THROUGHPUT)]


def _gbits(cell: Cell, key: str) -> float | None:
    found = cell.middle(key)
    return None if found is None else found * FIGURES[key].scale


def _byte_load(cell: Cell) -> str:
    """In an open loop, shows bits instead of streams."""
    asked = _gbits(cell, PAYLOAD_ASKED)
    return cell.load.words if asked is None else f"{asked:.4g} Gbit/s"


def _missed(shown: Iterable[Cell]) -> Iterator[str]:
    """A line for each byte rate that was not reached."""
    for cell in shown:
        asked, reached = _gbits(cell, PAYLOAD_ASKED), _gbits(cell, PAYLOAD)
        if asked is not None and reached is not None and reached < BYTES_REACHED * asked - _one_stream(cell, asked):
            yield f"! {cell.configuration}: {asked:.2f} Gbit/s were asked for, {reached:.2f} were reached"


def _one_stream(cell: Cell, asked: float) -> float:
    """By where the window cuts the schedule, a stream more or less is in it."""
    windows = [p.measured.window_ns for p in cell.points if p.measured.window_ns]
    return asked / cell.load.number / (median(windows) / 1e9) if windows and cell.load.open else 0.0


def _any_context(key: str) -> Callable[[Sequence[Cell]], bool]:
    return lambda every: any(key in context for cell in every for context in cell.contexts)


def _one_by_one(every: Sequence[Cell]) -> bool:
    counted = any(cell.has(f"client_{COUNTS[0][1]}") for cell in every)
    return counted and {cell.load for cell in every} == {closed(1)}


def _comparable(every: Sequence[Cell]) -> bool:
    """One load level, at which two configurations or more are there and one has a figure."""
    one_load = len({cell.load for cell in every}) == 1
    return one_load and len(every) > 1 and any(cell.middle(THROUGHPUT) for cell in every) and not _one_by_one(every)


OPERATIONS = Kind(
    "One call after the other",
    _one_by_one,
    (
        Figure("ns/op", lambda row: number(median(_call_ns(row)) if row.cell.points else None, 0)),
        Figure("", lambda row: _interval(_call_ns(row)), right=False),
        Figure("/ first (95 %)", lambda row: row.ratio(THROUGHPUT, inverse=True)),
        *(_median(key, digits, title) for title, key, digits in COUNTS),
        *(_median(f"server_{key}", digits, f"server {title}") for title, key, digits in COUNTS),
        *(_median(CPU.format(end), 1, f"{end} µs") for end in ENDS),
    ),
    "ns/op: one call after the other, in brackets the 95 % interval (six repetitions on); / first: to the first of its "
    "kind. B/op, allocs: what client and server together ask malloc for per call; server B/op, server allocs: the "
    "server alone. client µs, server µs: CPU time per call. Medians; -: not measured (scripts/grpc-gateway/build.sh "
    "--bench counts in Go).",
)
BARS = Kind(
    "Throughput and cost",
    _comparable,
    (
        _median(THROUGHPUT, 0, CALLS),
        Figure("", lambda row: _interval(values(row.cell.points, THROUGHPUT)), right=False),
        _median(P50, 1),
        _median(P99, 1),
        *(_median(CPU.format(end), 1, f"{end} µs") for end in reversed(ENDS)),
        _median("server_allocations_per_rpc", 1, "allocs"),
        Figure("", lambda row: "#" * round(BAR * (row.cell.middle(THROUGHPUT) or 0) / row.best), right=False),
    ),
    "Medians, calls/s with the 95 % interval in brackets (six repetitions on). server µs, client µs: CPU time per "
    "call. allocs: the server's allocations per call, with the counting programs. -: not measured.",
)
CODECS = Kind(
    "Codecs",
    lambda every: any(cell.has(CODEC_SHARE.format("client")) for cell in every),
    (
        Figure("ns/call", _codec_ns),
        *(_median(CODEC_SHARE.format(end), 1, f"% of {end} CPU") for end in ENDS),
        _ratio(THROUGHPUT, f"{CALLS} / first"),
        *(_ratio(CPU.format(end), f"{end} CPU / first") for end in ENDS),
    ),
    "ns/call: serializing and parsing request and response, at both ends together, timed separately after the window; "
    "% of CPU: that time as a share of each end's CPU per call (a lower bound: caches are warm). Medians over the "
    "repetitions; / first: this configuration's repetitions to those of the first, with a 95 % interval; CPU: per "
    "call; -: none is timed there.",
)
STREAMS = Kind(
    "Streams of chunks",
    lambda every: any(cell.has(PAYLOAD) for cell in every),
    (
        _median(PAYLOAD, 2, FIGURES[PAYLOAD].shown_unit),
        *(
            figure
            for end in ENDS
            for figure in (
                _median(f"{end}_cores_used", 3, f"{end} cores"),
                _median(COST.format(end), 4, "per Gbit/s"),
                _ratio(COST.format(end)),
            )
        ),
    ),
    "Gbit/s: payload, 10^9 bits; cores: CPUs that the process kept busy, and the same per Gbit/s. Medians over the "
    "repetitions; / first: this configuration's repetitions to those of the first of its kind, with a 95 % interval.",
    has=lambda cell: cell.has(PAYLOAD),
    load=_byte_load,
    notes=_missed,
)
_COMMON = (_median(THROUGHPUT, 0, CALLS), _ratio(THROUGHPUT), _median(P99, 0))
ENCRYPTED = Kind(
    "Encrypted",
    _any_context("security"),
    (
        *_COMMON,
        *_cpu_per_call(),
        Figure("ns/byte", lambda row: number(_over(_cpu_per_byte)(row), 3)),
        Figure("connections/s", lambda row: number(_over(_connected_per_second)(row), 0)),
    ),
    "µs/call: CPU time; ns/byte: CPU time of both ends together, by the bytes on the wire; connections/s: connected by "
    "one client before the point begins, TLS handshakes included, all at once. Medians over the repetitions; / first: "
    "this configuration's repetitions to those of the first of its kind, with a 95 % interval.",
)
COMPRESSED = Kind(
    "Compressed",
    _any_context("compression"),
    (*(_median(WIRE.format(way), 3, way) for way in ("sent", "received")), *_COMMON, *_cpu_per_call()),
    "sent, received: bytes of TCP by byte of payload, headers and frames included; µs/call: CPU time. Medians over the "
    "repetitions; / first: this configuration's repetitions to those of the first of its kind, with a 95 % interval.",
)
ALONE = (OPERATIONS, BARS)  # of one load level; faults have a table instead
KINDS = (CODECS, STREAMS, ENCRYPTED, COMPRESSED)
