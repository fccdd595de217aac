"""Truths that are planted in runs of the real programs, and the check that a verdict says no more and no less.

A run of each is stored in data/planted.tar.xz, which test_planted_stored.py judges; planted.py measures them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cqbench.analysis.verdict.model import Decision, Effect, Judgement, Row

SHARED_OR_NOT = "channel-policy=shared,local-pool"
ONE_CONNECTION = "channel-policy=shared,pool:1"
NAMES_ALONE = "server-env:READ_BY_NOBODY=first,second"
WAITING = "--service-time-mode wait --service-time 2ms"

OF_CONNECTION = frozenset({Decision.BOTTLENECK, Decision.LIKELY})
ALIKE = frozenset({Decision.EQUIVALENT})
NOT_DIFFERENT = ALIKE | {Decision.INCONCLUSIVE}
A_LITTLE_SLOWER = NOT_DIFFERENT | {Decision.SLOWER}


@dataclass(frozen=True)
class Want:
    """Decisions that are right at a load. low, high: the true ratio is between them, and the shown interval must hold
    some of that.
    """

    decisions: frozenset[Decision]
    low: float
    high: float


@dataclass(frozen=True)
class Truth:
    """vary, client, server, inflight, interval: as the flags of `cqbench run`. want: by load; at other loads both sides
    are one call on one connection. effect: what may be decided over all loads. preload: a stand-in of folder planted
    that the clients load, with env. program: one that is the server, with its argument. compiles: on all CPUs.
    costs: P99 or CPU time per call may differ.
    """

    name: str
    says: str
    vary: str
    server: str
    want: Mapping[int, Want]
    effect: frozenset[Decision]
    client: tuple[str, ...] = ("--api", "cq", "--deadline", "10s")
    inflight: tuple[int, ...] = (1, 4, 16)
    interval: str = "500ms"
    preload: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ()
    compiles: bool = False
    costs: bool = True


def _same(name: str, says: str, vary: str = NAMES_ALONE, compiles: bool = False) -> Truth:
    loads = (4 if vary == ONE_CONNECTION else 1, 16)
    want = dict.fromkeys(loads, Want(NOT_DIFFERENT, 0.9, 1.1))
    interval = "1s" if compiles else "500ms"
    return Truth(
        name,
        says,
        vary,
        "--api cq",
        want,
        NOT_DIFFERENT,
        inflight=loads,
        interval=interval,
        compiles=compiles,
        costs=False,
    )


def _serial(name: str, says: str, how: str) -> Truth:
    want = {4: Want(OF_CONNECTION, 3.6, 4.4), 16: Want(OF_CONNECTION, 13, 17.5)}
    return Truth(
        name, says, SHARED_OR_NOT, "", want, frozenset({Decision.FASTER}), program=("serial_server", "2000", how)
    )


# Ratios follow from what is planted. Two calls in 2.1 to 2.3 ms over a connection: 16 of them take 8 turns, with some
# CPU time for each call. 10 MB/s are 610 calls of 16 KiB, where 4 and 16 calls at a time are 1,800 and 6,000 to 7,300.
# Service times of 2 ms and 2.113 ms, with 0.1 to 0.4 ms for the rest of a call: 5.1 to 4.5 % less throughput.
TRUTHS = (
    Truth(
        "stream-limit-read",
        "the server allows two streams at a time on a connection",
        SHARED_OR_NOT,
        f"--api sync --max-concurrent-streams 2 {WAITING}",
        {4: Want(OF_CONNECTION, 1.9, 2.1), 16: Want(OF_CONNECTION, 6, 8.2)},
        frozenset({Decision.FASTER}),
    ),
    Truth(
        "paced",
        "the kernel sends at most 10 MB/s on a connection",
        SHARED_OR_NOT,
        f"--api sync {WAITING}",
        {4: Want(OF_CONNECTION, 2.5, 3.2), 16: Want(OF_CONNECTION, 8, 12.5)},
        frozenset({Decision.FASTER}),
        client=("--api", "cq", "--deadline", "10s", "--workload", "echo", "--request-bytes", "16KiB"),
        preload="paced",
        env={"PLANTED_BYTES_PER_SECOND": "10000000"},
    ),
    _serial("serial", "the server handles the calls of a connection one after the other", "ahead"),
    _serial("serial-blocked", "the thread that reads a connection handles its calls, too", "blocked"),
    Truth(
        "one-thread",
        "one thread of the server handles the calls of all connections one after the other",
        SHARED_OR_NOT,
        f"--api cq --num-cqs 1 --workers-per-cq 1 {WAITING}",
        dict.fromkeys((4, 16), Want(ALIKE, 0.95, 1.05)),
        ALIKE,
        inflight=(4, 16),
    ),
    _same("same", "the same thing twice"),
    _same("same-connection", "one connection twice, by another policy", ONE_CONNECTION),
    _same("same-compiled", "the same thing twice, while a compiler runs on each CPU", compiles=True),
    Truth(
        "five-percent",
        "a longer service time takes 5 % of the throughput",
        "server:service-time=2ms,2113us",
        "--api sync --service-time-mode wait",
        dict.fromkeys((1, 4), Want(A_LITTLE_SLOWER, 0.945, 0.957)),
        A_LITTLE_SLOWER,
        inflight=(1, 4),
        interval="1s",
    ),
)
BY_NAME = {truth.name: truth for truth in TRUTHS}


def problems(truth: Truth, judgement: Judgement) -> list[str]:
    """Where the verdict contradicts what was planted; empty where it comes out right."""
    if len(judgement.scenarios) != 1:
        return [f"{len(judgement.scenarios)} scenarios"]
    (scenario,) = judgement.scenarios
    loads = sorted(row.load.number for row in scenario.rows)
    found = [] if loads == sorted(truth.inflight) else [f"rows at {loads}, not at {sorted(truth.inflight)}"]
    for row in scenario.rows:
        found += [f"{row.load.number} in flight: {line}" for line in _row(truth, row)]
    if len(scenario.effects) != 1:
        found.append(f"{len(scenario.effects)} effects over all loads")
    return [*found, *(line for effect in scenario.effects for line in _effect(truth, effect))]


def _row(truth: Truth, row: Row) -> Iterator[str]:
    want = truth.want.get(int(row.load.number))
    if want is None:
        if row.decision is not Decision.SAME or row.codes:
            yield f"{row.decision.value} {row.codes}"
        return
    shown = row.judged.interval if row.judged else None
    if row.decision not in want.decisions:
        yield f"{row.decision.value} {row.codes}"
    if shown is None:
        yield f"no interval, because of {row.codes} {row.warning}"
    elif shown[1] < want.low or shown[0] > want.high:
        yield f"{shown[0]:.3f} to {shown[1]:.3f}, where the truth is {want.low} to {want.high}"
    if not truth.costs:
        yield from (f"{cost.metric} is {cost.ratio.value:.2f} times as high" for cost in row.costs)


def _effect(truth: Truth, effect: Effect) -> Iterator[str]:
    if effect.decision not in truth.effect:
        yield f"over all loads: {effect.decision.value}"


def words(judgement: Judgement) -> str:
    """Every row in short: 'local-pool at 4: bottleneck, 2.01 (1.98 to 2.03), stream-limit'."""
    rows = [row for scenario in judgement.scenarios for row in scenario.rows]
    return "; ".join(_in_short(row) for row in rows)


def _in_short(row: Row) -> str:
    ratio = row.judged
    shown = f" ({ratio.interval[0]:.3f} to {ratio.interval[1]:.3f})" if ratio and ratio.interval else ""
    value = f", {ratio.value:.3f}{shown}" if ratio else ""
    causes = f", {' '.join(row.codes)}" if row.codes else ""
    return f"{row.configuration} at {row.load.number:g}: {row.decision.value}{value}{causes}"
