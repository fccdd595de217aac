"""The CSV of all points of some runs."""

from __future__ import annotations

from collections.abc import Iterable

from cqbench.formats import escape
from cqbench.formats.point import Measured
from cqbench.formats.reasons import Reason
from cqbench.formats.runs import Run

# Named as in the client's own CSV where it has the same column.
CSV_HEADER = (
    "configuration,method,api,policy,messages,stub,loop,inflight,target_rate,repetition,connections,expected_connections,"
    "throughput,p50,p90,p99,p99_9,p100,sent_p50,sent_p99,completed,failed,partial,failure,warnings,notes\n"
)


def to_csv(measured: Iterable[tuple[int, Run]]) -> str:
    """One line per point of each (repetition, run); latencies in microseconds, empty where there is no figure.

    warnings: those that hold for every point of the run included.
    """
    rows = (_csv_row(repetition, run, point) for repetition, run in measured for point in run.document.points)
    return CSV_HEADER + escape.csv_of(rows)


def _csv_row(repetition: int, run: Run, p: Measured) -> list[object]:
    d = run.document
    latencies = (p.p50_ns, p.p90_ns, p.p99_ns, p.p999_ns, p.max_ns, p.sent_p50_ns, p.sent_p99_ns)
    return [
        run.configuration,
        d.method,
        d.api,
        d.policy,
        d.messages,
        d.stub,
        d.loop,
        p.inflight,
        f"{p.load.number:.12g}" if p.load.open else "",
        repetition,
        "" if p.connections is None else p.connections,
        p.expected_connections,
        "" if p.throughput is None else f"{p.throughput:.2f}",
        *("" if ns is None else f"{ns / 1000:.1f}" for ns in latencies),
        p.completed,
        p.failed,
        str(p.partial).lower(),
        p.failure,
        _texts((*d.warnings, *p.warnings)),
        _texts(p.notes),
    ]


def _texts(found: Iterable[Reason]) -> str:
    return "; ".join(reason.text for reason in found)
