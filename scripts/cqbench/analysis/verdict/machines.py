"""Whether more client machines would show more: of series that several client processes measured, a sentence each."""

from __future__ import annotations

from collections.abc import Iterable

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.words import loads
from cqbench.files import reasons
from cqbench.files.offered import Load
from cqbench.model.series import Series

THROUGHPUT = "throughput_per_second"
WOULD = "more client machines: they would show more, as at {where} {why} and the server's are not"
WOULD_NOT = "nothing with more client machines: they would show no more, as at {where} the server's CPUs are full"
NOT_BY_ITSELF = (
    "more {what} before more client machines, which would show no more by themselves: at {where} neither end's CPUs "
    "are full"
)
NOT_KNOWN = (
    "with CPU figures of both ends, or again, as at {where} it is not sure whether they are full: so it is not known "
    "whether more client machines would show more"
)
WHY = {
    reasons.CLIENT_CPU: "the CPUs of the client machine are full",
    evidence.SOME_CLIENTS_CPU: "the CPUs of one of the client machines are full",
    evidence.ALL_CLIENTS_CPU: "the CPUs of all client machines are full",
}


def more_clients(series: Iterable[Series]) -> list[str]:
    """Each sentence once; of every series at the load with the highest throughput."""
    return [*dict.fromkeys(_of(one) for one in series if any(_ranked(one, load) for load in one.loads))]


def _ranked(one: Series, load: Load) -> bool:
    return any(r.measured.ranks for r in one.points[load])


def _of(one: Series) -> str:
    best = max(one.loads, key=lambda load: one.middle(load, THROUGHPUT) or 0.0)
    where = loads([best], [best])
    client, server = (evidence.cpu_full(one, best, end) for end in evidence.ENDS)
    if server:
        return WOULD_NOT.format(where=where)
    if client and server is False:
        return WOULD.format(where=where, why=WHY[evidence.client_code(one, best)])
    if client is False and server is False:
        return NOT_BY_ITSELF.format(where=where, what="calls per second" if best.open else "in flight")
    return NOT_KNOWN.format(where=where)
