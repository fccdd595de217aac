"""Targets of this project's client against its peers: the targets as data, medians and ratios over rounds, their
table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from cqbench.render import text
from cqbench.render.table import EMPTY, Block, Column, Table

ROUNDS_FOR_A_CLAIM = 5
SOCKPERF_SERVER = "sockperf"
GO = "go:"  # begins the name of a server of scripts/lineup/
GO_LIBRARIES = ("grpc-go", "servehttp", "connect")
Round = dict[str, float]  # measurement -> its figure; a measurement that failed is not in it


@dataclass(frozen=True)
class Measurement:
    """One thing to measure in every round. Figures are requests per second, or the P50 in microseconds.

    part_of: the key of what is measured where this is one of its figures.
    """

    key: str
    tool: str  # cqbench, h2load, ghz, sockperf
    what: str  # as the table names it
    server: str = ""  # --api of the server; empty: the tool brings its own
    flags: tuple[str, ...] = ()  # of our client, or of h2load over HTTP
    connections: int = 1
    streams: int = 1  # in flight on each connection
    unit: str = "req/s"
    part_of: str = ""
    scenario: str = ""  # of ghz: one of scripts/scenarios/
    path: str = ""  # of h2load: instead of the gRPC call

    @property
    def inflight(self) -> int:
        return self.connections * self.streams

    def name(self) -> str:
        """For messages, where no heading says which server it was."""
        return f"{self.what} ({self.server} server)" if self.server else self.what


@dataclass(frozen=True)
class Ratio:
    """ours / peer and what it should be; None: nothing, it is there to be looked at."""

    group: str
    ours: str
    peer: str
    target: float | None
    at_most: bool = False

    def reached(self, ratio: float) -> bool | None:
        if self.target is None:
            return None
        return ratio <= self.target if self.at_most else ratio >= self.target


@dataclass(frozen=True)
class Outcome:
    """Medians over the rounds in which there is a figure; ratios over those in which there are both."""

    ratio: Ratio
    ours: float | None
    peer: float | None
    median: float | None
    low: float | None
    high: float | None
    rounds: int

    @property
    def reached(self) -> bool | None:
        return None if self.median is None else self.ratio.reached(self.median)


def _ours(key: str, what: str, server: str, *flags: str, streams: int = 48, unit: str = "req/s") -> Measurement:
    return Measurement(key, "cqbench", what, server, flags, 1, streams, unit)


def _against(server: str, h2load: float, ghz: float) -> tuple[list[Measurement], list[Ratio]]:
    """Returns the measurements on one of the two servers. Adjacent entries are paired within a block."""
    one, many = ("--channel-policy", "shared"), ("--local-pool",)
    k = f"{server}/"
    measurements = [
        _ours(k + "cq-1", "cq, 1 connection", server, "--api", "cq", *one),
        Measurement(k + "h2load-1", "h2load", "h2load -c 1 -m 48", server, (), 1, 48),
        Measurement(k + "ghz-1", "ghz", "ghz -c 48 --connections 1", server, (), 1, 48),
        _ours(k + "cq-48", "cq, 48 connections", server, "--api", "cq", *many),
        Measurement(k + "h2load-48", "h2load", "h2load -c 48 -m 1", server, (), 48, 1),
        _ours(k + "sync-48", "sync, 48 connections", server, "--api", "sync", *many),
    ]
    group = f"48 in flight, unary, server --api {server}"
    ratios = [
        Ratio(group, k + "cq-1", k + "h2load-1", h2load),
        Ratio(group, k + "cq-1", k + "ghz-1", ghz),
        Ratio(group, k + "cq-48", k + "h2load-48", 0.9),
        Ratio(group, k + "cq-48", k + "sync-48", 1.8),
    ]
    return measurements, ratios


def _at_its_best(server: str) -> tuple[list[Measurement], list[Ratio]]:
    """h2load parses nothing and has neither retries nor filters: so does a client that is told to do without."""
    off = ("--channel-arg", "grpc.enable_retries=0", "--channel-arg", "grpc.minimal_stack=1")
    best = ("--api", "cq", "--messages", "bytes", *off)
    group = f"48 in flight, unary, server --api {server}"
    k = f"{server}/"
    measurements = [
        _ours(k + "best-1", "cq, 1 connection, best set", server, *best, "--channel-policy", "shared"),
        _ours(k + "best-48", "cq, 48 connections, best set", server, *best, "--local-pool"),
    ]
    return measurements, [
        Ratio(group, k + "best-1", k + "h2load-1", 1.0),
        Ratio(group, k + "best-48", k + "h2load-48", 1.0),
    ]


def targets() -> tuple[list[Measurement], list[Ratio]]:
    """Everything peers.sh measures, in order, and what it is held against."""
    generic, generic_ratios = _against("generic", 0.9, 1.5)
    best, best_ratios = _at_its_best("generic")
    cq, cq_ratios = _against("cq", 0.75, 1.3)
    one, many = ("--channel-policy", "shared"), ("--local-pool",)
    stream = [
        _ours(f"stream/{api}-{n}", f"{api}, {words}", "cq", "--api", api, "--streaming", *flags)
        for n, words, flags in ((1, "1 connection", one), (48, "48 connections", many))
        for api in ("cq", "sync")
    ]
    latency = [
        _ours("p50/sync", "sync", "cq", "--api", "sync", *one, streams=1, unit="us"),
        Measurement("p50/sockperf", "sockperf", "sockperf TCP round trip", SOCKPERF_SERVER, unit="us"),
        _ours("p50/spin", "cq --poll spin", "cq", "--api", "cq", "--poll", "spin", *one, streams=1, unit="us"),
        _ours("p50/block", "cq --poll block", "cq", "--api", "cq", "--poll", "block", *one, streams=1, unit="us"),
    ]
    streaming, one_call = "48 in flight, streaming, server --api cq", "P50 of 1 in flight, unary, server --api cq"
    ratios = [
        Ratio(streaming, "stream/cq-1", "stream/sync-1", 1.3),
        Ratio(streaming, "stream/cq-48", "stream/sync-48", 1.5),
        Ratio(one_call, "p50/sync", "p50/sockperf", 1.35, at_most=True),
        Ratio(one_call, "p50/spin", "p50/block", 0.65, at_most=True),
    ]
    measurements = [*best, *generic, *cq, *stream, *latency]
    return measurements, [*generic_ratios, *best_ratios, *cq_ratios, *ratios]


def lineup() -> tuple[list[Measurement], list[Ratio]]:
    """The load of the scenarios from our client and from ghz itself, on each server: a check of one by the other."""
    measurements, ratios = [], []
    ours = ("--api", "cq", "--workload", "flex", "--channel-policy", "pool:20")
    for server in ("cq", "callback", "sync", "generic", *(f"{GO}{library}" for library in GO_LIBRARIES)):
        for content in ("empty", "complex"):
            key = f"{server}/{content}"
            measurements += [
                _ours(f"{key}/cqbench", content, server, *ours, "--content", content, streams=50),
                Measurement(f"{key}/ghz", "ghz", "ghz", server, scenario=content),
            ]
            ratios.append(Ratio(f"50 calls over 20 connections, server {server}", f"{key}/cqbench", f"{key}/ghz", 1.0))
    return measurements, ratios


def evaluate(ratio: Ratio, rounds: Sequence[Round]) -> Outcome:
    """The ratio's median is that of the rounds' ratios, so that what slows a whole round down cancels out."""
    ours = [r[ratio.ours] for r in rounds if ratio.ours in r]
    peer = [r[ratio.peer] for r in rounds if ratio.peer in r]
    both = [r[ratio.ours] / r[ratio.peer] for r in rounds if ratio.ours in r and r.get(ratio.peer)]
    return Outcome(
        ratio,
        median(ours) if ours else None,
        median(peer) if peer else None,
        median(both) if both else None,
        min(both, default=None),
        max(both, default=None),
        len(both),
    )


def render(outcomes: Sequence[Outcome], measurements: Sequence[Measurement], absent: dict[str, str]) -> str:
    """The tables, one of each group. absent: tool -> why it has no figures (not installed). Ends with a newline."""
    by_key = {m.key: m for m in measurements}
    blocks: list[Block] = []
    table = Table([])
    for outcome in outcomes:
        ours, peer = by_key[outcome.ratio.ours], by_key[outcome.ratio.peer]
        if not blocks or table.columns[0].title != outcome.ratio.group:
            head = (Column("ours", True), Column("peer", True), Column("ratio (min - max)"), Column("target", True))
            table = Table([Column(outcome.ratio.group, width=52), *head, Column("reached")], indent=2)
            blocks += [*([EMPTY] if blocks else []), table]
        table.add(f"{ours.what} / {peer.what}", *_texts(outcome, ours, peer, absent))
    return text.render(blocks)


def _texts(outcome: Outcome, ours: Measurement, peer: Measurement, absent: dict[str, str]) -> tuple[str, ...]:
    if outcome.median is None:
        ratio, reached = absent.get(peer.tool, absent.get(ours.tool, "not measured")), "-"
    else:
        ratio = f"{outcome.median:.2f} ({outcome.low:.2f} - {outcome.high:.2f})"
        reached = {True: "yes", False: "no", None: "-"}[outcome.reached]
    sign = "<=" if outcome.ratio.at_most else ">="
    target = "" if outcome.ratio.target is None else f"{sign} {outcome.ratio.target:.2f}"
    return _figure(outcome.ours, ours.unit), _figure(outcome.peer, peer.unit), ratio, target, reached


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return {"us": f"{value:.1f} µs", "allocs": f"{value:.2f}", "bytes": f"{value:.0f} B"}.get(unit, f"{value:.0f}/s")
