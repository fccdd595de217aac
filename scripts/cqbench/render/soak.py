"""The table at the end of a soak: figures that grew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cqbench.analysis.soak import CLIENT, SERVERS, Drift, Record, Round, judge
from cqbench.formats.figures import CATALOGUE
from cqbench.model.figures import P50, P99
from cqbench.render import text
from cqbench.render.table import Column, Line, Table

MIB = 2**20


@dataclass(frozen=True)
class Figure:
    """name: for people. scale: to the unit in it. fails: growth is a failure; latency of a machine with other
    work on it is not. step: growth by so much is none."""

    name: str
    scale: float
    pick: Callable[[Round], float | None]
    fails: bool = True
    step: float = 0


def _latency(name: str) -> Figure:
    """The latency of the calls of a round."""
    return Figure(CATALOGUE[name].column, CATALOGUE[name].scale, lambda r: r.reference.get(name), fails=False)


FIGURES = (
    Figure("MiB", 1 / MIB, lambda r: r.vitals["rss_bytes"]),
    Figure("descriptors", 1, lambda r: r.vitals["descriptors"]),
    # gRPC's pools (default-executor, timers) add a thread when all of theirs are busy.
    Figure("threads", 1, lambda r: r.vitals["threads"], step=1),
    *map(_latency, (P50, P99)),
)


def drifts(record: Record) -> list[tuple[str, Figure, Drift]]:
    """By process; without what nothing was recorded of."""
    found = [
        (process, figure, values)
        for process in (*SERVERS, CLIENT)
        for figure in FIGURES
        if (values := record.series(process, figure.pick))
    ]
    return [(process, figure, judge(values, figure.step, len(found))) for process, figure, values in found]


def grown(record: Record) -> list[str]:
    return [
        f"{figure.name} of {process}"
        for process, figure, drift in drifts(record)
        if figure.fails and drift.verdict == "grows"
    ]


def render(record: Record) -> str:
    """Ends with a newline."""
    head = (Column("median", True), Column("last / middle (interval)", True), Column("verdict"))
    table = Table((Column("process"), Column("figure"), *head))
    for process, figure, drift in drifts(record):
        ratio = drift.ratio
        rise = f"{ratio.value:.4f} ({ratio.low:.4f}-{ratio.high:.4f})" if ratio and ratio.interval else "-"
        table.add(process, figure.name, f"{drift.median * figure.scale:.1f}", rise, drift.verdict)
    rounds = max((one.number for one in record.rounds), default=0)
    lines = [
        "",
        "last / middle: the last third of the rounds to the one before; the first is warm-up. The intervals allow for "
        "rounds that depend on each other, and hold the truth together in 95 of 100 soaks.",
        "flat: growth above 1 % is ruled out; of threads, one more is flat, too. grows: growth is above 1 %.",
        f"{rounds} rounds, {record.cases} cases, {record.calls} calls, {record.restarts} restarts",
        *(f"FAILED: {failure}" for failure in record.failures),
    ]
    return text.render([table, *map(Line, lines)])
