"""Scenarios -> what is decided of each configuration at each load, by intervals that hold together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.evidence import Evidence
from cqbench.analysis.verdict.model import Cost, Decision, Effect, Row, Scenario
from cqbench.analysis.verdict.rules import Rule
from cqbench.analysis.verdict.scenarios import Axis, Compared, Judged, Named
from cqbench.formats.offered import Load
from cqbench.model import thresholds
from cqbench.model.figures import ENDS
from cqbench.model.matching import differing
from cqbench.model.metric import BY_NAME
from cqbench.model.ratio import pooled
from cqbench.model.series import Series, ratio, undisturbed
from cqbench.model.setting import BY_KEY
from cqbench.model.usable import FEW, UNRELIABLE, worst
from cqbench.stats.ratios import Ratio, repetitions_needed

THROUGHPUT, P99 = BY_NAME["throughput"].key, BY_NAME["p99"].key
COSTS = {"p99": P99, "client-cpu": BY_NAME["client-cpu"].key, "server-cpu": BY_NAME["server-cpu"].key}
RANKS = list(Decision)
CONTRADICTION, NOT_REACHED = "contradiction", "rate-not-reached"
Pair = tuple[Series, Series]  # configuration, baseline


@dataclass(frozen=True)
class Draft:
    """A row before its decision. same: of connections, one call: all configurations are the same. connections: of the
    way to connect, where evidence says why. problem: a code, why nothing follows; '' where something may.
    """

    row: Row
    baseline: Series
    configuration: Series
    same: bool
    connections: bool
    problem: str

    @property
    def compared(self) -> bool:
        return not self.same and not self.problem and _has_interval(self.row.judged)


class Found(NamedTuple):
    """judged: scenarios of the main axis, the most important first. also: what other axes that can be set bring. rule:
    which decided, with the number of comparisons.
    """

    judged: tuple[Judged, ...]
    also: tuple[Effect, ...]
    rule: Rule


Point = tuple[str, Load]  # a configuration by its name in the experiment


def open_points(found: Found) -> set[Point]:
    """Those of comparisons that further repetitions may decide."""
    points = set()
    for judged in found.judged:
        named = {c.name: c.series for c in judged.compared.configurations}
        for row in filter(is_open, judged.scenario.rows):
            for series in (named[row.configuration], judged.compared.baseline.series):
                points |= {(name, row.load) for name in series.configurations}
    return points


def is_open(row: Row) -> bool:
    """Nothing but the width of its interval, or too few repetitions, keeps it from being decided."""
    return row.decision is Decision.INCONCLUSIVE and row.judged is not None and set(row.codes) <= {FEW}


class Rules(NamedTuple):
    """For what is decided, for what is the same with one call, and for costs: each among its own comparisons."""

    decided: Rule
    same: Rule
    costs: Rule


def judge(found: Sequence[Axis], rule: Rule = Rule()) -> Found:  # noqa: B008
    """rule: what the experiment declared; its number of comparisons is counted here."""
    if not found:
        return Found((), (), rule)
    drafts = [_drafts(scenario) for scenario in found[0].scenarios]
    effects = [_effects(scenario, of) for scenario, of in zip(found[0].scenarios, drafts, strict=True)]
    also = [effect for axis in found[1:] if axis.rank == 1 for effect in _main_effects(axis)]
    by = _rules(rule, [d for of in drafts for d in of], [e for of in (*effects, also) for e in of])
    rows = [_without_contradictions([_decided(d, by) for d in of]) for of in drafts]
    judged = [
        Judged(scenario, _scenario(scenario, of, tuple(_judged(e, by.decided, of) for e in mine), rule.margin))
        for scenario, of, mine in zip(found[0].scenarios, rows, effects, strict=True)
    ]
    effects_also = tuple(_judged(e, by.decided, ()) for e in also)
    return Found(tuple(sorted(judged, key=_importance)), effects_also, by.decided)


def _rules(rule: Rule, drafts: Sequence[Draft], effects: Sequence[Effect]) -> Rules:
    decided = sum(d.compared for d in drafts) + sum(_has_interval(e.ratio) for e in effects)
    same = sum(d.same and _has_interval(d.row.judged) for d in drafts)
    costs = sum(len(d.row.costs) for d in drafts)
    return Rules(*(replace(rule, comparisons=max(1, number)) for number in (decided, same, costs)))


def _has_interval(ratio: Ratio | None) -> bool:
    return ratio is not None and ratio.interval is not None


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
        throughput=throughput,
        p99=p99,
        client_cpu=cpu[0],
        server_cpu=cpu[1],
        costs=() if same or problem or load.open else tuple(priced),
        repetitions=min(top.count(load), bottom.count(load)),
        unreliable=top.count_unreliable(load) + bottom.count_unreliable(load),
        reached=(_reached(bottom, load), _reached(top, load)),
    )
    return Draft(row, bottom, top, same, of_connections, problem)


def _reached(series: Series, load: Load) -> float | None:
    middle = series.middle(load, THROUGHPUT)
    return middle / load.number if load.open and middle is not None else None


def _problem(baseline: Series, configuration: Series, load: Load) -> str:
    """Why nothing follows from this point; '' where something may."""
    found = ratio(configuration, baseline, load, THROUGHPUT)
    together = bool(found and found.paired)
    return worst((baseline.unreliable(load, together), configuration.unreliable(load, together)))


def _decided(draft: Draft, by: Rules) -> Row:
    row = _shown(draft.row, by, draft.same)
    if draft.same:
        return replace(row, decision=Decision.SAME, codes=(CONTRADICTION,) if _differs(row.judged, by.same) else ())
    if draft.problem:
        return replace(row, costs=(), codes=(draft.problem,), warning=_warning(draft))
    if row.load.open and any(r is not None and r < thresholds.CALLS_REACHED for r in row.reached):
        return replace(row, codes=(NOT_REACHED,))
    seen = evidence.gather(draft.baseline, draft.configuration, row.load, by.decided) if draft.connections else None
    why_faster, codes = why(seen) if seen else (Decision.FASTER, ())
    decision = by.decided.decide(row.judged, why_faster)
    inconclusive = decision is Decision.INCONCLUSIVE
    return replace(
        row,
        decision=decision,
        no_gain=inconclusive and by.decided.no_gain(row.judged),
        needed=_needed(row.judged, by.decided) if inconclusive and row.judged else None,
        codes=codes if decision.gain else evidence.causes(seen, decision is Decision.SLOWER) if seen else (),
        saturated=evidence.limit(draft.configuration, row.load) if seen else "",
        linear=seen.linear if seen else None,
        stream_limit=seen.stream_limit if seen else None,
    )


def _shown(row: Row, by: Rules, same: bool) -> Row:
    """With the intervals that decide."""
    costs = [Cost(c.metric, by.costs.shown(c.ratio, 1 - thresholds.COST_ALPHA) or c.ratio) for c in row.costs]
    rule = by.same if same else by.decided
    return replace(
        row,
        judged=rule.shown(row.judged),
        throughput=rule.shown(row.throughput),
        p99=rule.shown(row.p99) if row.load.open else by.costs.shown(row.p99, 1 - thresholds.COST_ALPHA),
        costs=tuple(
            c for c in costs if by.costs.decide(c.ratio, Decision.FASTER) in (Decision.FASTER, Decision.SLOWER)
        ),
    )


def _needed(judged: Ratio, rule: Rule) -> int | None:
    return repetitions_needed(replace(judged, value=rule.margin), 1.0, rule.comparisons, rule.any_time)


def _differs(at_one: Ratio | None, rule: Rule) -> bool:
    """The same set-up, measured in both series, differs, by more than the margin: something else has changed."""
    if at_one is None or at_one.low is None or at_one.high is None:
        return False
    return (at_one.low > 1 or at_one.high < 1) and not 1 / rule.margin <= at_one.value <= rule.margin


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
    if seen.stream_limit is not None and seen.interleaved:
        return Decision.BOTTLENECK, (evidence.STREAM_LIMIT,)  # calls wait for a stream, whatever else is seen
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
    if seen.linear.value < thresholds.KEEPS_UP:
        return Decision.LIKELY, missing  # what all connections share has room: it is something that each has
    return Decision.FASTER, (evidence.NO_REASON,)


def _without_contradictions(rows: Sequence[Row]) -> list[Row]:
    """Where one call is not alike on both sides, nothing follows at any load of that configuration."""
    bad = {r.configuration for r in rows if CONTRADICTION in r.codes}
    return [
        replace(r, decision=Decision.INCONCLUSIVE, codes=(CONTRADICTION,), costs=(), needed=None, no_gain=False)
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
    """None or one: of closed loops. Where nothing follows there is a number still, without interval."""
    closed = tuple(load for load in loads if not load.open)
    over = pooled([undisturbed(t.points[n], b.points[n]) for t, b in pairs for n in closed], THROUGHPUT)
    if over is None or (sound and over.p is None):
        return []
    shown = over if sound else Ratio(over.value, n=over.n)
    each = [(n, pooled([undisturbed(t.points[n], b.points[n]) for t, b in pairs], THROUGHPUT)) for n in closed]
    by_load = tuple((n, found.value) for n, found in each if found)
    return [Effect(what, name, instead, where, closed, shown, Decision.INCONCLUSIVE, by_load)]


def _judged(effect: Effect, rule: Rule, rows: Sequence[Row]) -> Effect:
    """rows: of its scenario. Where those contradict themselves nothing follows from all of them either."""
    if any(CONTRADICTION in r.codes for r in rows if r.configuration == effect.setting):
        return replace(effect, ratio=Ratio(effect.ratio.value, n=effect.ratio.n))
    shown = rule.shown(effect.ratio) or effect.ratio
    return replace(effect, ratio=shown, decision=rule.decide(shown, Decision.FASTER))


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


def _scenario(scenario: Compared, rows: Sequence[Row], effects: tuple[Effect, ...], margin: float) -> Scenario:
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
        margin=margin,
    )
