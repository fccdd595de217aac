"""Pairs of series -> findings: ratios, regimes and the verdict, by verdict_rules.py. No words for people here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from cqbench import usl
from cqbench import verdict_rules as rules
from cqbench.medians import Ratio
from cqbench.reasons import Reason
from cqbench.verdict_data import Pair, Series
from cqbench.verdict_evidence import ENDS, Factors, evidence, factors, ratio
from cqbench.verdict_rules import Evidence, Regime, Status, Verdict


@dataclass(frozen=True)
class Side:
    """One series at one in-flight count; medians. Throughput per second, latency in nanoseconds."""

    throughput: float | None
    p50_ns: float | None
    p99_ns: float | None
    connections: int | None
    evidence: Evidence
    regime: Regime
    rule: str  # that decided the regime
    repetitions: int
    suspect: int  # repetitions with a reason for doubt
    doubts: tuple[Reason, ...]  # those reasons, each once
    policy_held: bool  # the connections were as many as the policy promises, as far as is known


@dataclass(frozen=True)
class Row:
    """Both sides at one in-flight count. Ratios separate / shared; costs are of CPU time per RPC."""

    inflight: int
    shared: Side | None
    separate: Side | None
    throughput: Ratio | None
    p99: Ratio | None
    client_cost: Ratio | None
    server_cost: Ratio | None
    client_factors: Factors | None  # of the throughput ratio
    server_factors: Factors | None
    per_segment: tuple[float | None, float | None]  # RPCs per segment that the client sent: shared, separate
    status: Status

    @property
    def cpu_bound(self) -> bool:
        """On every side that was measured."""
        return all(s.regime.cpu for s in (self.shared, self.separate) if s is not None)

    @property
    def undecided(self) -> bool:
        """It is open whether the connection was the limit. Where a CPU was, it was not."""
        return self.status is Status.OPEN and not (self.shared is not None and self.shared.regime.cpu)


@dataclass(frozen=True)
class Finding:
    """All that is known of one workload, method, API and setting."""

    pair: Pair
    rows: tuple[Row, ...]
    verdict: Verdict
    fired: tuple[str, ...]  # names of the rules behind the verdict and the remarks
    present: tuple[int, ...]  # in-flight counts
    gains: tuple[int, ...]  # where separate connections are faster, for whatever reason
    losses: tuple[int, ...]  # where they are slower
    loses_from: int | None  # from here on, at every count measured
    batching: bool  # one connection carries more calls per segment where separate ones lose
    cpu_limited_from: int | None  # from here on both sides are CPU-bound
    gain_capped_from: int | None  # from here on separate connections are
    client_cpus: float | None  # allowed; the least
    server_cpus: float | None
    few_cores: bool
    cores_needed: tuple[float | None, float | None]  # client, server: CPUs that the post's ratio would take
    undecided: tuple[int, ...]
    repetitions: int  # the least of any count and side

    @cached_property
    def fits(self) -> dict[str, usl.Fit | None]:
        """The scalability law of each side, by policy. Fitted when asked for: it takes longer than all the rest."""
        return {s.policy: _fit(s) for s in (self.pair.shared, self.pair.separate) if s}

    @property
    def best(self) -> Row | None:
        """The row of the highest ratio above 1 in flight, of those with an interval when there are any."""
        rows = [r for r in self.rows if r.inflight > 1 and r.throughput is not None]
        firm = [r for r in rows if r.status is not Status.OPEN] or rows
        return max(firm, key=lambda r: r.throughput.value if r.throughput else 0.0, default=None)


def judge(pair: Pair) -> Finding:
    """The finding for one pair."""
    counts = sorted({n for s in (pair.shared, pair.separate) if s for n in s.points})
    contradiction = _contradiction(pair)
    rows = tuple(_row(pair, n) for n in counts)
    more = [r for r in rows if r.inflight > 1]
    client, server = (_least(rows, name) for name in ("client_cpus", "server_cpus"))
    limited = _from_on(more, lambda r: r.cpu_bound)
    present = tuple(r.inflight for r in more if r.status is Status.PRESENT)
    gains = tuple(r.inflight for r in more if r.status in (Status.PRESENT, Status.FASTER))
    losses = tuple(r.inflight for r in more if r.status is Status.SLOWER)
    loses = _from_on(more, lambda r: r.status is Status.SLOWER)
    capped = _from_on(more, lambda r: r.separate is not None and r.separate.regime.cpu)
    undecided = tuple(r.inflight for r in more if r.undecided)
    verdict, why = _verdict(pair, more, limited, undecided, contradiction)
    few = rules.few_cores(client, server)
    batching = any(rules.batches(*r.per_segment) for r in more if r.inflight in losses)
    remarks = {
        "few-cores": few,
        "cpu-bound-from-some-count-on": limited is not None,
        "gain-capped-by-cpus": capped is not None,
        "separate-connections-lose": bool(losses),
        "one-connection-batches": batching,
        "few-repetitions": 0 < _fewest(rows) < rules.MIN_REPETITIONS,
    }
    fired = tuple(dict.fromkeys((why, *(name for name, holds in remarks.items() if holds))))
    return Finding(
        pair, rows, verdict, fired, present, gains, losses, loses, batching, limited, capped, client, server,
        few, _cores_needed(pair, rows), undecided, _fewest(rows),
    )  # fmt: skip


def order(findings: Iterable[Finding]) -> list[Finding]:
    """The most important first: by verdict, then by the size of the best ratio."""
    ranks = list(Verdict)

    def key(f: Finding) -> tuple[int, float]:
        return ranks.index(f.verdict), -(f.best.throughput.value if f.best and f.best.throughput else 0.0)

    return sorted(findings, key=key)


def _verdict(
    pair: Pair, rows: list[Row], limited: int | None, undecided: tuple[int, ...], contradiction: bool
) -> tuple[Verdict, str]:
    """The verdict and the name of the rule. rows: those above 1 in flight."""
    both = [r for r in rows if r.throughput is not None]
    statuses = {r.status for r in both}
    if pair.shared is None or pair.separate is None:
        return Verdict.NOT_ENOUGH, "one-side-not-measured"
    if not both:
        return Verdict.NOT_ENOUGH, "no-common-count-above-1"
    if contradiction:
        return Verdict.NOT_ENOUGH, "contradiction-at-1-in-flight"
    if Status.PRESENT in statuses:
        return Verdict.PRESENT, "faster-and-cpus-not-saturated"
    if any(r.status is Status.FASTER and r.shared and r.shared.rule == "figures-absent" for r in both):
        return Verdict.NOT_ENOUGH, "faster-but-limit-not-known"
    if undecided:
        return Verdict.NOT_ENOUGH, "undecided-counts"
    if Status.FASTER in statuses:
        return Verdict.FASTER, "faster-but-connection-not-the-limit"
    if limited is not None:
        return Verdict.CPU_LIMITED, "cpu-bound-from-some-count-on"
    return (Verdict.ABSENT, "gain-ruled-out") if Status.OPEN not in statuses else (Verdict.CPU_LIMITED, "cpu-at-open")


def _row(pair: Pair, n: int) -> Row:
    throughput = ratio(pair, n, "throughput")
    client, server = (ratio(pair, n, f"{end}_cpu_per_rpc_ns") for end in ENDS)
    # A gain shows what limits the shared side only where the figures may be believed at all.
    shared, separate = (_side(s, n, False) if s and s.repetitions(n) else None for s in (pair.shared, pair.separate))
    doubtful = _doubtful(shared) or _doubtful(separate) or _disqualified(pair)
    gains = n > 1 and not doubtful and bool(rules.faster(throughput))
    if gains and pair.shared is not None:
        shared = _side(pair.shared, n, True)
    held = shared.regime if shared else Regime.UNKNOWN
    segments = [s.middle(n, "client_rpcs_per_segment_sent") if s else None for s in (pair.shared, pair.separate)]
    return Row(
        n,
        shared,
        separate,
        throughput,
        ratio(pair, n, "p99_ns"),
        client,
        server,
        factors(pair, n, "client", client),
        factors(pair, n, "server", server),
        (segments[0], segments[1]),
        rules.status(n, throughput, held, doubtful),
    )


def _doubtful(side: Side | None) -> bool:
    """Nothing follows from this point."""
    return side is None or not side.policy_held or rules.mostly_suspect(side.suspect, side.repetitions)


def _disqualified(pair: Pair) -> bool:
    return any(rules.disqualifies(d) for s in (pair.shared, pair.separate) if s for d in s.general_doubts)


def _side(series: Series, n: int, gains: bool) -> Side:
    seen = evidence(series, n)
    regime, rule = rules.regime(seen, gains)
    repetitions = series.points[n]
    measured = [r.measured for r in repetitions]
    counted = [m for m in measured if m.connections is not None]
    return Side(
        throughput=series.middle(n, "throughput"),
        p50_ns=series.middle(n, "p50_ns"),
        p99_ns=series.middle(n, "p99_ns"),
        connections=counted[-1].connections if counted else None,
        evidence=seen,
        regime=regime,
        rule=rule,
        repetitions=len(repetitions),
        suspect=sum(bool(r.doubts) for r in repetitions),
        doubts=tuple(dict.fromkeys(d for r in repetitions for d in r.doubts)),
        policy_held=all(m.connections == m.expected_connections for m in counted),
    )


def _contradiction(pair: Pair) -> bool:
    return rules.contradictory(ratio(pair, 1, "throughput"))


def _from_on(rows: list[Row], holds: Callable[[Row], bool]) -> int | None:
    """The lowest count from which on something holds at every count; None when it does not at the highest."""
    first = None
    for row in reversed(rows):
        if not holds(row):
            break
        first = row.inflight
    return first


def _least(rows: Iterable[Row], name: str) -> float | None:
    sides = [s for r in rows for s in (r.shared, r.separate) if s is not None]
    return min((v for v in (getattr(s.evidence, name) for s in sides) if v is not None), default=None)


def _fewest(rows: Iterable[Row]) -> int:
    return min((s.repetitions for r in rows for s in (r.shared, r.separate) if s is not None), default=0)


def _cores_needed(pair: Pair, rows: tuple[Row, ...]) -> tuple[float | None, float | None]:
    """CPUs for the post's ratio: that many times the shared side's best rate, at the separate side's CPU per RPC."""
    rates = [r.shared.throughput for r in rows if r.shared and r.shared.throughput]
    if not rates or pair.separate is None:
        return None, None
    last = max((r.inflight for r in rows if r.separate), default=0)
    per_rpc = [pair.separate.middle(last, f"{end}_cpu_per_rpc_ns") for end in ("client", "server")]
    needed = [None if ns is None else rules.POST_RATIO * max(rates) * ns / 1e9 for ns in per_rpc]
    return needed[0], needed[1]


def _fit(series: Series) -> usl.Fit | None:
    return usl.fit({n: [v for v in series.values(n, "throughput") if v is not None] for n in series.points})
