"""A comparison with the rows of grpc-go's own tool, benchresult: what a pull request on allocations shows, per point.

Their bytes and allocations are those of client and server together, which are one process there; each end of ours is
below. Next to their percentage is whether it is more than noise, and how far apart the repetitions' counts are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cqbench.analysis.compare.gates import spread
from cqbench.analysis.compare.points import NO_DIFFERENCE, Comparison, Figure, Part
from cqbench.analysis.compare.sections import Pair, Point
from cqbench.analysis.compare.sides import Scenario, Side
from cqbench.model.metric import BY_NAME, METRICS, Metric
from cqbench.model.ratio import values
from cqbench.render import text as as_text
from cqbench.render.compare import text
from cqbench.render.table import EMPTY, Block, Column, Line, Table

OPS = Metric("ops", "completed", "calls", "", 1, 1, "throughput")
MESSAGES = Metric("stream-messages", "messages_completed", "messages of streams", "", 1, 0, "traffic")
COUNTS = tuple(metric for metric in METRICS if metric.group == "allocations")
NEEDED = (
    OPS,
    MESSAGES,
    *(BY_NAME[name] for name in ("throughput", "mean", "p50", "p90", "p99")),
    *COUNTS,
)
DOWN, UP = "download", "upload"  # methods whose messages one end sends
HEAD = ("Title", "Before", "After", "Percentage", "95 % interval", "Real")


@dataclass(frozen=True)
class Row:
    """A row from a figure, which is times so much."""

    title: str
    metric: Metric
    shown: Callable[[float], str]
    scale: float = 1.0


def render(comparison: Comparison, sides: Sequence[Side]) -> str:
    """Ends with a newline."""
    blocks: list[Block] = [text.paragraph(line) for line in text.heading(comparison, sides)]
    for part in comparison.parts:
        for pair in part.section.pairs:
            for point in part.section.points:
                if point.scenario == pair.title:
                    blocks += [EMPTY, Line(_title(part, point)), _table(part, pair, point), *map(Line, _notes(point))]
    blocks += [EMPTY, *(text.paragraph(f"! {note}") for note in text.notes(comparison, sides)), Line(LEGEND)]
    return as_text.render(blocks)


LEGEND = (
    "Bytes/op and Allocs/op: of client and server together, as in grpc-go, where they are one process. ReqT/op, "
    "RespT/op: payload bits\nper second. Real: p <= 0.05 after Holm's correction over the points, and an interval "
    "without 0; from six repetitions\n(three sessions) on."
)


def _title(part: Part, point: Point) -> str:
    section = part.section
    of = "" if (section.before, section.after) == ("before", "after") else f"{section.after} against {section.before}: "
    return f"{of}{', '.join(filter(None, (point.scenario, point.place.label)))}"


def _table(part: Part, pair: Pair, point: Point) -> Table:
    table = Table([Column(title, right=title != "Real") for title in HEAD])
    for row in _rows(part, pair, point):
        table.add(*row)
    return table


def _rows(part: Part, pair: Pair, point: Point) -> Iterator[tuple[str, ...]]:
    for line in _lines(pair.after):
        figure = part.figures.get((point, line.metric.name))
        if figure:
            yield _row(line, figure)
        elif line.title in ("SendOps", "RecvOps"):
            yield (line.title, "0", "0", "-", "-", "")
        else:
            yield (line.title, *"----", "not counted" if line.metric in COUNTS else "not measured")
    for title, key in (("Compiler", "compiler"), ("GrpcVersion", "grpc_version"), ("Server's gRPC", SERVER)):
        yield (title, *(scenario.setting.get(key) or "-" for scenario in (pair.before, pair.after)), "", "", "")


SERVER = "server.grpc_version"


def _lines(scenario: Scenario) -> Iterator[Row]:
    method = scenario.setting.get("method")
    none = Metric("none", "none", "", "", 1, 0, "traffic")
    yield Row("TotalOps", OPS, _whole)
    yield Row("SendOps", MESSAGES if method == UP else none, _whole)
    yield Row("RecvOps", MESSAGES if method == DOWN else none, _whole)
    for title, name in (("Bytes/op", "allocated"), ("Allocs/op", "allocations")):
        yield Row(title, BY_NAME[f"both-{name}"], _two)
        for end in ("client", "server"):
            yield Row(f"{end} {title}", BY_NAME[f"{end}-{name}"], _two)
    for title, key in (("ReqT/op", "request_bytes"), ("RespT/op", "response_bytes")):
        told = scenario.setting.get(key)
        yield Row(title, BY_NAME["throughput"], _two, 8.0 * float(told) if told.isdigit() else 0.0)
    for title, name in (("50th-Lat", "p50"), ("90th-Lat", "p90"), ("99th-Lat", "p99"), ("Avg-Lat", "mean")):
        yield Row(title, BY_NAME[name], _latency)


def _row(line: Row, figure: Figure) -> tuple[str, ...]:
    before, after = (line.shown(value * line.scale) for value in (figure.before, figure.after))
    if not line.scale:
        return (line.title, before, after, "-", "-", "")
    change = "-" if figure.change_percent is None else f"{figure.change_percent:+.2f}%"
    found = figure.interval_percent
    interval = "-" if found is None else f"{found[0]:+.2f} to {found[1]:+.2f}"
    real = {1: "yes", -1: "yes"}.get(figure.direction or 0, figure.explained)
    return (line.title, before, after, change, interval, "no" if real == NO_DIFFERENCE else real)


def _notes(point: Point) -> Iterator[str]:
    """Counts should hardly vary: how far apart they are."""
    for metric in COUNTS:
        both = [values(samples, metric.key) for samples in (point.before, point.after)]
        if all(both):
            yield f"  {metric.title}: {spread(both[0])} before, {spread(both[1])} after"


def _whole(value: float) -> str:
    return f"{value:.0f}"


def _two(value: float) -> str:
    return f"{value:.2f}"


def _latency(nanos: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanos >= size:
            return f"{nanos / size:.6g}{unit}"
    return f"{nanos:.0f}ns"
