"""Synthetic reports with every case that the page has to show. The figures follow simple laws."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cqbench.analysis.verdict.model import Decision
from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.offered import closed, open_loop
from cqbench.model.figures import CLIENT_CPU, FIGURES, P50, P90, P99, P99_9, REACHED, SENT_PERCENTILES, SERVER_CPU
from cqbench.render.report.model import (
    Against,
    Distribution,
    Fit,
    Point,
    Report,
    Run,
    Series,
    Slice,
    Timeline,
    Value,
)
from cqbench.render.report.values import COMPARED, SHOWN, short
from cqbench.render.report.verdicts import verdict
from cqbench.render.table import plain
from cqbench.render.verdict import cpp
from cqbench.render.verdict.answer import Answer, Figures, TableRow
from cqbench.render.verdict.headline import Word
from cqbench.render.verdict.recommend import ToSet
from cqbench.stats.ratios import Ratio

COUNTS = (1, 2, 4, 8, 16, 32, 48)
HOSTILE = '</script><img src=x onerror="alert(1)">\'"&<!--{{7*7}}${1}' + 60 * "w"
BUSY = "other processes used 0.53 of the 1 CPU(s) of the client"
ALL = frozenset(figure.name for figure in SHOWN)
NO_SERVER = frozenset(name for name in ALL if not name.startswith(("server", "rpcs")))
QUEUES = ("rpcs_per_queue_fewest_of_mean", "rpcs_per_queue_most_of_mean")


def rate(inflight: int, top: float) -> float:
    """Calls per second: a curve that rises with 10,000 a call in flight and bends towards the top."""
    return 10_000 * inflight / (1 + (10_000 * inflight / top))


def value(middle: float, spread: float) -> Value:
    """spread: of the interval, as a share; 0 for none."""
    return Value(*(short(v) for v in (middle, middle * (1 - spread), middle * (1 + spread))[: 3 if spread else 1]))


def point(inflight: int, top: float, sharing: str, spread: float = 0.04, keys: frozenset[str] = ALL) -> Point:
    calls = rate(inflight, top)
    p50 = 1e9 * inflight / calls
    separate = sharing == "separate"
    figures = {
        THROUGHPUT: calls,
        P50: p50,
        P90: 1.4 * p50,
        P99: 2.2 * p50,
        P99_9: 4.5 * p50,
        CLIENT_CPU: 1000 * (22 - 3 * math.log2(inflight) / 2),
        SERVER_CPU: 1000 * (14 - math.log2(inflight)),
        "client_cores_used": calls * 12e-6,
        "server_cores_used": calls * 8e-6,
        "connections": {"shared": 1, "separate": inflight}.get(sharing, min(inflight, 4)),
        "client_rpcs_per_segment_sent": 1 if separate else 1 + math.log2(inflight) / 3,
        "server_rpcs_per_segment_sent": 1 if separate else 1 + math.log2(inflight) / 4,
        "client_connection_busy_share_median": 0.4 + inflight / 100,
        "server_connection_busy_share_median": 0.3 + inflight / 200,
        QUEUES[0]: 1 - inflight / 100,
        QUEUES[1]: 1 + inflight / 100,
    }
    values = {k: value(v, 0 if k == "connections" else spread) for k, v in figures.items() if k in keys}
    return Point(closed(inflight), values, 6 if spread else 2, runs=runs(values, 6 if spread else 2, inflight))


def shown(point: Point, name: str) -> Value:
    """In the unit for people."""
    return point.values[name].times(FIGURES[name].scale)


def runs(values: dict[str, Value], number: int, inflight: float) -> tuple[Run, ...]:
    """A minute apart, slower and slower: 1 % above the median to 1 % below. The second is unreliable."""
    factors = [1.01 - 0.02 * i / (number - 1) for i in range(number)]
    return tuple(
        Run(i + 1, 60.0 * i + inflight, {k: short(v.middle * f) for k, v in values.items()}, i == 1)
        for i, f in enumerate(factors)
    )


def distribution(inflight: int, top: float, steps: int = 60) -> Distribution:
    p50 = 1e6 * inflight / rate(inflight, top)
    places = [5 * k / steps for k in range(steps + 1)]
    values = (float(f"{p50 * (0.6 + 0.35 * x + 0.12 * x * x):.4g}") for x in places)  # as hgrm.steps() has them
    return Distribution(closed(inflight), 120_000, tuple((1 - 10**-x, v) for x, v in zip(places, values, strict=True)))


def fit(top: float, poor: bool) -> Fit:
    curve = tuple((n, rate(n, top)) for n in range(1, 49))
    return Fit(curve, "only 4 in-flight counts, it needs 5" if poor else "sigma 0.12 (0.10-0.14), peak 41", poor)


def series(
    method: str, api: str, sharing: str, top: float, counts: tuple[int, ...] = COUNTS, spread: float = 0.04
) -> Series:
    name = f"{method}-{api}-{sharing.replace(':', '-')}"
    keys = NO_SERVER if api == "callback" else ALL
    return Series(
        id=name,
        title=f"{api}, {sharing}",
        method=method,
        api=api,
        sharing=sharing,
        setting="",
        points=tuple(point(n, top, sharing, spread, keys) for n in counts),
        distributions=tuple(distribution(n, top) for n in counts),
        fit=fit(top, False),
        ideal_rate=rate(1, top),
        client_command=f"build/release/bin/grpc_ping_client --api {api} --method {method} --channels '{sharing}'",
        server_command="build/release/bin/grpc_ping_server --port 2137",
    )


def _doubtful(one: Series) -> Series:
    """Suspect points at 16 and 48, a limit at 4, a partial one at 48, no P99.9 at 8, nothing measured at 2."""
    points = {p.load.number: p for p in one.points if p.load.number != 2}
    points[16] = replace(points[16], warnings=(BUSY,))
    points[4] = replace(points[4], saturated=("CPU-bound: the client's cores are 99 % busy",))
    points[48] = replace(points[48], warnings=(BUSY, "not warmed up"), partial=True)
    points[8] = replace(points[8], values={k: v for k, v in points[8].values.items() if k != P99_9})
    return replace(one, points=tuple(points.values()), fit=fit(60_000, True))


def usual() -> Report:
    """Unary and streaming, two APIs, three ways of sharing; with and without intervals, warnings, a failed series."""
    found = []
    for method, factor in (("unary", 1.0), ("streaming", 1.3)):
        for api, lower in (("sync", 1.0), ("cq", 0.9)):
            found.append(series(method, api, "shared", 90_000 * factor * lower))
            found.append(series(method, api, "separate", 70_000 * factor * lower))
    found[1] = _doubtful(found[1])
    found.append(series("unary", "callback", "shared", 85_000, spread=0))
    found.append(series("streaming", "cq", "pool:4", 120_000))
    found.append(replace(found[-1], id="failed", title="cq, separate, failed", points=(), distributions=(), fit=None))
    return Report(
        title="Connection sharing on a two-core machine",
        question="Does one shared TCP connection hold the client back, and what should be set?",
        made="2025-06-01T12:00:00Z",
        partial="",
        verdicts=(verdict(answer()),),
        series=tuple(found),
        machine=(("CPU", "Virtual CPU @ 2.50 GHz, 2 cores"), ("gRPC", "1.51.1"), ("Pinning", "client 0, server 1")),
        facts=(("Machine", "Virtual CPU @ 2.50 GHz"), ("Unreliable", "2 of 69 points: other-processes 2")),
        against=tuple(against(found, *pair) for pair in ((1, 0), (3, 2), (5, 4), (7, 6), (9, 6))),
        errors=plain(("Series", "Status"), (("cq, separate", "UNAVAILABLE"),)),
        notes=("Other programs used 3 % of the client's CPUs.",),
        failures=("cq, separate, repetition 3: the server did not answer",),
        data={"points": [{"series": s.id, "inflight": p.load.number} for s in found for p in s.points]},
    )


def answer() -> Answer:
    """No: separate connections are slower at 48 in flight with one client API, and inconclusive with the other."""
    sync = TableRow("unary, sync", "separate", "shared", Decision.SLOWER, "", "48", "8", "", at_loads(0.8, "slower"))
    cq = TableRow(
        "unary, cq", "separate", "shared", Decision.INCONCLUSIVE, "", "", "8", "48", at_loads(0.9, "inconclusive")
    )
    return Answer(
        question="Is one shared connection holding this client back?",
        word=Word.NO,
        line="separate connections are slower at 48 in flight",
        why=("Where slower: the client's CPUs are saturated.",),
        sides="shared: one connection",
        machine="Virtual CPU, 1 client + 1 server CPU",
        notes=(),
        open_loop=False,
        compares="separate ÷ shared",
        table=(sync, cq),
        to_set=(
            ToSet("cq instead of sync", ("×1.30 (1.20–1.40)",), ("×0.80 at 1",), "--api cq", cpp.API["cq"], "a note"),
        ),
        keep=("Otherwise keep one connection.",),
        measure=("20 more repetitions",),
        cannot_show=("a machine with more CPUs",),
    )


def at_loads(last: float, outcome: str) -> tuple[Figures, ...]:
    """At 8 in flight the same on both sides, at 48 the ratio."""
    ratios = [Ratio(value, 0.95 * value, 1.05 * value, 0.01, 7, True) for value in (1.0, last)]
    decisions = (Decision.EQUIVALENT, Decision(outcome))
    return tuple(
        Figures(
            closed(n), decision, decision.value, r, r.inverse(), r, None, (50e3, 50e3 * r.value), (1e6, 1e6 / r.value)
        )
        for n, decision, r in zip((8, 48), decisions, ratios, strict=True)
    )


def against(of: Sequence[Series], number: int, base: int, axis: str = "connections") -> Against:
    """With intervals of 5 %."""
    points = {p.load: p for p in of[base].points}
    values = {
        p.load: {
            key: value(p.values[key].middle / points[p.load].values[key].middle, 0.05)
            for key in COMPARED
            if key in p.values and key in points[p.load].values
        }
        for p in of[number].points
        if p.load in points
    }
    return Against(axis, number, base, f"{of[number].sharing} ÷ {of[base].sharing}", values)


RATES = (1000, 2000, 4000.5)
FULL = "the client uses 0.99 of 1 CPU(s)"


def rates(method: str, sharing: str, reached: float) -> Series:
    """An open loop that reaches this rate; at the highest rate it is saturated. A stall at 2,000 a second."""
    points = []
    for asked in RATES:
        wait = 1.0 if asked <= reached else 50.0
        micros = {P50: 100 * wait, P99: 300 * wait, P99_9: 500 * wait, CLIENT_CPU: 30.0}
        micros |= dict(zip(SENT_PERCENTILES, (90.0, 120.0, 250.0, 400.0), strict=True))
        micros |= {"pacer_lateness_p99_ns": 60.0, "slot_wait_p99_ns": 70.0, "slot_wait_max_ns": 80.0}
        figures = {name: 1000 * found for name, found in micros.items()}
        figures |= {THROUGHPUT: min(asked, reached), REACHED: min(asked, reached) / asked}
        figures |= {"calls_due": 2 * asked, "calls_dropped": 7.0}
        full = (FULL,) if asked == RATES[-1] else ()
        values = {k: value(v, 0.04) for k, v in figures.items()}
        points.append(Point(open_loop(asked), values, 6, saturated=full, runs=runs(values, 6, 0)))
    name = f"{method}-cq-{sharing}-open"
    timelines = tuple(timeline(asked, asked == 2000) for asked in RATES)
    knee = max(asked for asked in RATES if asked <= reached)
    about = (name, f"cq, {sharing}", method, "cq", sharing, "", tuple(points))
    return Series(*about, timelines=timelines, open=True, knee=knee)


def timeline(rate: float, stalled: bool) -> Timeline:
    """Nothing ends from 0.6 to 1.1 s; then what waited does."""
    slices = []
    for i in range(20):
        still = stalled and 6 <= i < 11
        waited = 5e5 - (i - 6) * 1e5 if still else 300.0
        slices.append(Slice(short(0.1 * i + 0.05), 0 if still else rate, None if still and i < 8 else waited, waited))
    return Timeline(open_loop(rate), 3, tuple(slices))


def open_rates() -> Report:
    """Open loops only."""
    found = tuple(rates(m, s, top) for m in ("unary", "streaming") for s, top in (("shared", 3000), ("separate", 5000)))
    pairs = tuple(against(found, *pair) for pair in ((1, 0), (3, 2)))
    return replace(usual(), series=found, against=pairs, verdicts=(), errors=plain((), ()), data={})


def brief() -> Report:
    """The same with few plots, for tests of what happens to all of them."""
    report = usual()
    few = {THROUGHPUT, P50, *QUEUES}
    return replace(report, series=tuple(_with(s, few) for s in report.series), against=report.against[:4])


def _with(one: Series, keys: set[str]) -> Series:
    points = (
        replace(
            p,
            values={k: v for k, v in p.values.items() if k in keys},
            runs=tuple(replace(r, values={k: v for k, v in r.values.items() if k in keys}) for r in p.runs),
        )
        for p in one.points
    )
    return replace(one, points=tuple(points))


def hostile() -> Report:
    """The same, with markup in every text."""
    report = usual()
    marked = tuple(
        replace(
            s,
            title=HOSTILE + str(i),
            api=HOSTILE,
            sharing=HOSTILE if i % 3 else s.sharing,
            setting=HOSTILE,
            client_command=HOSTILE,
            server_command=HOSTILE,
            fit=replace(s.fit, words=HOSTILE) if s.fit else None,
            points=tuple(replace(p, warnings=(HOSTILE,), saturated=(HOSTILE,)) for p in s.points),
        )
        for i, s in enumerate(report.series)
    )
    texts = dict.fromkeys(("title", "question", "made", "partial"), HOSTILE)
    table = plain((HOSTILE,), ((HOSTILE,),))
    rows = tuple(replace(row, scenario=HOSTILE, configuration=HOSTILE, baseline=HOSTILE) for row in answer().table)
    some: dict[str, Any] = dict.fromkeys(("why", "notes", "keep", "measure", "cannot_show"), (HOSTILE,))
    to_set = (ToSet(HOSTILE, (HOSTILE,), (HOSTILE,), HOSTILE, (HOSTILE,), HOSTILE),)
    said = replace(
        answer(), question=HOSTILE, line=HOSTILE, sides=HOSTILE, compares=HOSTILE, table=rows, to_set=to_set, **some
    )
    pairs = tuple(replace(one, axis=HOSTILE, title=HOSTILE) for one in report.against)
    lists = {"notes": (HOSTILE,), "failures": (HOSTILE,), "experiments": (HOSTILE,)}
    pairs_of = {"machine": ((HOSTILE, HOSTILE),), "facts": ((HOSTILE, HOSTILE),)}
    tables = {"errors": table, "floors": table, "knees": table, "spreads": table, "ranks": table}
    changes = {
        "series": marked,
        "verdicts": (verdict(said, HOSTILE),),
        "against": pairs,
        "data": {HOSTILE: HOSTILE},
    }
    return replace(report, **changes, **texts, **lists, **pairs_of, **tables)  # type: ignore[arg-type]


def large(number: int = 50) -> Report:
    """Many series with 48 points each, noisy so that nothing compresses away; a download as large as the real one."""
    noise = random.Random(4)
    found = []
    for k in range(number):
        method, sharing = ("unary", "streaming")[k % 2], ("shared", "separate")[k // 2 % 2]
        one = series(method, "cq", sharing, 60_000 + 2_000 * k, tuple(range(1, 49)))
        points = tuple(_shaken(p, noise) for p in one.points)
        setting = f"{k // 4 + 1} completion queues"
        title = f"cq, {sharing}, {setting}"
        found.append(replace(one, id=f"series-{k}", title=title, setting=setting, points=points))
    pairs = tuple(against(found, k + 2, k) for k in range(number - 2) if k // 2 % 2 == 0)
    return replace(usual(), series=tuple(found), against=pairs, data={"series": [_plain(s) for s in found]})


def _shaken(point: Point, noise: random.Random) -> Point:
    factor = noise.uniform(0.9, 1.1)
    values = {k: value(v.middle * factor, 0.05) for k, v in point.values.items()}
    return replace(point, values=values, warnings=(BUSY,) if noise.random() < 0.3 else ())


def _plain(one: Series) -> dict[str, object]:
    points = [
        {"inflight": p.load.number, **{k: [v.middle, v.low, v.high] for k, v in p.values.items()}} for p in one.points
    ]
    return {"id": one.id, "points": points}
