"""Scenarios -> what is decided of each configuration at each load, with one correction over all comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cqbench.analysis.verdict import evidence, rules
from cqbench.analysis.verdict.evidence import Evidence
from cqbench.analysis.verdict.model import Cost, Decision, Effect, Row, Scenario
from cqbench.analysis.verdict.scenarios import Axis, Compared, Judged, Named
from cqbench.formats.offered import Load
from cqbench.model import thresholds
from cqbench.model.figures import ENDS
from cqbench.model.matching import differing
from cqbench.model.metric import BY_NAME
from cqbench.model.ratio import pooled
from cqbench.model.series import Series, ratio
from cqbench.model.setting import BY_KEY
from cqbench.model.usable import UNRELIABLE, worst
from cqbench.stats.ratios import Ratio, holm, repetitions_needed

THROUGHPUT, P99 = BY_NAME["throughput"].key, BY_NAME["p99"].key
COSTS = {"p99": P99, "client-cpu": BY_NAME["client-cpu"].key, "server-cpu": BY_NAME["server-cpu"].key}
RANKS = list(Decision)
CONTRADICTION, NOT_REACHED = "contradiction", "rate-not-reached"
Pair = tuple[Series, Series]  # configuration, baseline


@dataclass(frozen=True)
class Draft:
    """A row before the correction. same: of connections, one call: all configurations are the same. problem: a code,
    why nothing follows; '' where something may.
    """

    row: Row
    baseline: Series
    configuration: Series
    same: bool
    seen: Evidence | None  # of connections
    problem: str

    @property
    def tested(self) -> float | None:
        usable = not self.same and not self.problem
        return self.row.judged.p if self.row.judged and usable else None


class Found(NamedTuple):
    """judged: scenarios of the main axis, the most important first. also: what other axes that can be set bring."""

    judged: tuple[Judged, ...]
    also: tuple[Effect, ...]


def judge(found: Sequence[Axis]) -> Found:
    if not found:
        return Found((), ())
    drafts = [_drafts(scenario) for scenario in found[0].scenarios]
    effects = [_effects(scenario, of) for scenario, of in zip(found[0].scenarios, drafts, strict=True)]
    also = [effect for axis in found[1:] if axis.rank == 1 for effect in _main_effects(axis)]
    tests = [d.tested for of in drafts for d in of]
    tests += [e.ratio.p for of in (*effects, also) for e in of]
    number = sum(p is not None for p in tests)
    corrected = iter(holm(tests))
    at_one = iter(holm([d.row.judged.p if d.same and d.row.judged else None for of in drafts for d in of]))
    costs = iter(holm([c.ratio.p for of in drafts for d in of for c in d.row.costs]))
    rows = [[_decided(d, next(corrected), next(at_one), costs, number) for d in of] for of in drafts]
    rows = [_without_contradictions(of) for of in rows]
    judged = [
        Judged(scenario, _scenario(scenario, of, tuple(_judged(e, next(corrected), of) for e in mine)))
        for scenario, of, mine in zip(found[0].scenarios, rows, effects, strict=True)
    ]
    return Found(tuple(sorted(judged, key=_importance)), tuple(_judged(e, next(corrected), ()) for e in also))


def _importance(judged: Judged) -> tuple[int, float]:
    scenario = judged.scenario
    return RANKS.index(scenario.decision), -max((r.judged.value for r in scenario.rows if r.judged), default=0.0)


def _drafts(scenario: Compared) -> list[Draft]:
    return [
        _draft(scenario, configuration, load)
        for configuration in scenario.configurations
        for load in _common(scenario.baseline, configuration)
    ]


def _common(*named: Named) -> list[Load]:
    there = [set(n.series.loads) for n in named]
    return sorted(set.intersection(*there))


def _draft(scenario: Compared, configuration: Named, load: Load) -> Draft:
    top, bottom = configuration.series, scenario.baseline.series
    throughput, p99 = ratio(top, bottom, load, THROUGHPUT), ratio(top, bottom, load, P99)
    judged = throughput if not load.open else p99.inverse() if p99 else None
    of_connections = (
        scenario.connections and not load.open and differing([top.setting, bottom.setting]) == ["connections"]
    )
    same = scenario.connections and not load.open and load.number == 1
    cpu = [ratio(top, bottom, load, COSTS[f"{end}-cpu"]) for end in ENDS]
    problem = _problem(bottom, top, load)
    priced = [Cost(metric, r) for metric, r in zip(COSTS, (p99, *cpu), strict=True) if r and r.p is not None]
    row = Row(
        configuration=configuration.name,
        load=load,
        decision=Decision.INCONCLUSIVE,
        judged=judged,
        p=None,
        throughput=throughput,
        p99=p99,
        client_cpu=cpu[0],
        server_cpu=cpu[1],
        costs=() if same or problem or load.open else tuple(priced),
        repetitions=min(top.count(load), bottom.count(load)),
        unreliable=top.count_unreliable(load) + bottom.count_unreliable(load),
        reached=(_reached(bottom, load), _reached(top, load)),
    )
    return Draft(row, bottom, top, same, evidence.gather(bottom, top, load) if of_connections else None, problem)


def _reached(series: Series, load: Load) -> float | None:
    middle = series.middle(load, THROUGHPUT)
    return middle / load.number if load.open and middle is not None else None


def _problem(baseline: Series, configuration: Series, load: Load) -> str:
    """Why nothing follows from this point; '' where something may."""
    return worst((baseline.unreliable(load), configuration.unreliable(load)))


def _decided(draft: Draft, p: float | None, at_one: float | None, costs: Iterable[float | None], number: int) -> Row:
    """costs: Holm's p of this row's, and of those after it."""
    row, seen = draft.row, draft.seen
    priced = [(cost, next(iter(costs))) for cost in row.costs]
    costly = tuple(c for c, q in priced if q is not None and q <= thresholds.COST_ALPHA and not _alike(c.ratio))
    if draft.same:
        contradicts = rules.contradictory(row.judged, at_one)
        return replace(row, decision=Decision.SAME, p=at_one, codes=(CONTRADICTION,) if contradicts else ())
    if draft.problem:
        return replace(row, codes=(draft.problem,), warning=_warning(draft))
    why_faster, codes = why(seen) if seen else (Decision.FASTER, ())
    decision = rules.decide(row.judged, p, why_faster, bool(seen and seen.cpu_full))
    slow = row.load.open and any(r is not None and r < thresholds.CALLS_REACHED for r in row.reached)
    if slow:
        decision, codes = Decision.INCONCLUSIVE, (NOT_REACHED,)
    needed = None
    if decision is Decision.INCONCLUSIVE and row.judged and not slow:
        needed = repetitions_needed(replace(row.judged, value=thresholds.GAIN), comparisons=number)
    held = evidence.limit(draft.configuration, row.load) if seen else ""
    codes = codes if decision.gain or slow else evidence.signs(seen) if seen else ()
    linear = seen.linear if seen else None
    return replace(row, decision=decision, p=p, costs=costly, needed=needed, codes=codes, saturated=held, linear=linear)


def _alike(found: Ratio) -> bool:
    return 1 / thresholds.GAIN <= found.value <= thresholds.GAIN


def _warning(draft: Draft) -> str:
    """The warning that forbids a conclusion, in the client's own words."""
    if draft.problem == UNRELIABLE:
        points = [r.measured for s in (draft.baseline, draft.configuration) for r in s.points[draft.row.load]]
        return next((d.text for m in points for d in m.warnings), "")
    general = (d for s in (draft.baseline, draft.configuration) for d in s.warnings)
    return next((d.text for d in general if d.code == draft.problem), "")


def why(seen: Evidence) -> tuple[Decision, tuple[str, ...]]:
    """Returns the meaning of a gain with more connections, and the codes of the reasons."""
    if seen.cpu_full:
        return Decision.OTHER, (seen.limit,)  # the client's CPUs come first there, too
    if seen.proxy:
        return Decision.OTHER, (evidence.PROXY,)
    if seen.keeps_up:
        return Decision.OTHER, (evidence.KEEPS_UP,)
    if seen.limit:
        return Decision.OTHER, (seen.limit,)
    if None in seen.shares:
        return Decision.FASTER, (evidence.NO_FIGURES,)
    if seen.linear is None:
        return Decision.FASTER, (evidence.NO_IDEAL,)
    if seen.cpu_likely_full:
        return Decision.FASTER, (evidence.CPU_LIKELY,)
    missing = evidence.missing(seen)
    if not missing:
        return Decision.BOTTLENECK, evidence.signs(seen)
    if seen.linear.value < thresholds.KEEPS_UP and seen.wire_busy is not True:
        return Decision.LIKELY, missing
    return Decision.FASTER, (evidence.NO_REASON,)


def _without_contradictions(rows: Sequence[Row]) -> list[Row]:
    """Where one call is not alike on both sides, nothing follows at any load of that configuration."""
    bad = {r.configuration for r in rows if CONTRADICTION in r.codes}
    return [
        replace(r, decision=Decision.INCONCLUSIVE, codes=(CONTRADICTION,), costs=(), needed=None)
        if r.configuration in bad and r.decision is not Decision.SAME
        else r
        for r in rows
    ]


def _effects(scenario: Compared, drafts: Sequence[Draft]) -> list[Effect]:
    """Returns the effect of each configuration, over all load levels with a conclusion."""
    found = []
    for configuration in scenario.configurations:
        mine = [d for d in drafts if d.row.configuration == configuration.name and not d.same]
        pairs = [(configuration.series, scenario.baseline.series)]
        usable, every = ([d.row.load for d in mine if not (d.problem and sound)] for sound in (True, False))
        names = (scenario.axis, configuration.name, scenario.baseline.name, "")
        found += _effect(*names, pairs, usable) or _effect(*names, pairs, every, sound=False)
    return found


def _effect(
    what: str, name: str, instead: str, where: str, pairs: Sequence[Pair], loads: Sequence[Load], sound: bool = True
) -> list[Effect]:
    """None or one: of closed loops. Where nothing follows there is a number still, without interval and test."""
    closed = tuple(load for load in loads if not load.open)
    over = pooled([(t.points[n], b.points[n]) for t, b in pairs for n in closed], THROUGHPUT)
    if over is None or (sound and over.p is None):
        return []
    shown = over if sound else Ratio(over.value, n=over.n)
    return [Effect(what, name, instead, where, closed, shown, None, Decision.INCONCLUSIVE)]


def _judged(effect: Effect, p: float | None, rows: Sequence[Row]) -> Effect:
    """rows: of its scenario. Where those contradict themselves nothing follows from all of them either."""
    if any(CONTRADICTION in r.codes for r in rows if r.configuration == effect.setting):
        return replace(effect, ratio=Ratio(effect.ratio.value, n=effect.ratio.n))
    return replace(effect, p=p, decision=rules.decide(effect.ratio, p, Decision.FASTER, False))


def _main_effects(axis: Axis) -> list[Effect]:
    """Returns the effect of each value of the axis, for each kind of work over all other settings, if all share a
    baseline.
    """
    groups: dict[tuple[str, str, object], list[tuple[Compared, Named]]] = {}
    for scenario in axis.scenarios:
        for configuration in scenario.configurations:
            key = configuration.name, scenario.baseline.name, scenario.work
            groups.setdefault(key, []).append((scenario, configuration))
    works = list(dict.fromkeys(scenario.work for scenario in axis.scenarios))
    telling = differing(works)
    found = []
    for (name, instead, _), of in groups.items():
        where = ", ".join(of[0][0].work.get(key) or f"no {BY_KEY[key].title}" for key in telling)
        pairs = [(configuration.series, scenario.baseline.series) for scenario, configuration in of]
        every = [set(s.loads) for pair in pairs for s in pair]
        loads = sorted(n for n in set.intersection(*every) if not any(_problem(b, t, n) for t, b in pairs))
        found += _effect(axis.name, name, instead, where, pairs, loads)
    return found


def _scenario(scenario: Compared, rows: Sequence[Row], effects: tuple[Effect, ...]) -> Scenario:
    decided: list[Decision] = [r.decision for r in rows if r.decision is not Decision.SAME] or [Decision.INCONCLUSIVE]
    decided += [e.decision for e in effects if e.decision.gain or e.decision is Decision.SLOWER]
    return Scenario(
        name=scenario.name,
        axis=scenario.axis,
        baseline=scenario.baseline.name,
        configurations=tuple(v.name for v in scenario.configurations),
        connections=scenario.connections,
        open_loop=any(r.load.open for r in rows),
        decision=min(decided, key=RANKS.index),
        rows=tuple(rows),
        effects=effects,
        repetitions=min((r.repetitions for r in rows), default=0),
    )
