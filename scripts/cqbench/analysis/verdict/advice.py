"""Recommended settings, by the measured gains: statements, whose sentences are in render/verdict/.

The rule. A setting is recommended where it is faster at some load and slower at none. Where it is faster at some loads
and slower at others, it is recommended for the loads on its side only, and only if a load that is neither lies between
the two: advice that flips from one load to the next is none. Its costs at the other loads go with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cqbench.analysis.verdict.model import Decision, Effect, Row, Scenario, Statement
from cqbench.analysis.verdict.rules import Rule
from cqbench.analysis.verdict.scenarios import Judged, Named
from cqbench.formats.offered import Load
from cqbench.model import thresholds
from cqbench.model.metric import THROUGHPUT
from cqbench.model.ratio import pooled
from cqbench.model.series import Series
from cqbench.model.setting import SEPARATE

Flags = Mapping[tuple[str, str], str]  # (axis, value) -> how an experiment sets it


def settings(judged: Sequence[Judged], also: Iterable[Effect], flags: Flags, rule: Rule) -> list[Statement]:
    """rule: by whose intervals fewer connections are as good as more."""
    found = [statement for one in judged for statement in _set(one, flags, rule)]
    found += [statement for effect in also for statement in _set_also(effect, flags)]
    return [*found, *_rest(judged, any(one.code != "flips" for one in found))]


def not_measured(recommended: Iterable[Statement]) -> Iterator[Statement]:
    """Returns what the recommended connections leave to be measured: a raised limit, fewer connections."""
    facts = [one.facts for one in recommended if one.code == "set" and one.facts["connections"]]
    limits = [of["stream_limit"] for of in facts if of["stream_limit"]]
    most = max((int(row.load.number) for of in facts for row in of["rows"] if row.decision.gain), default=0)
    if limits:
        yield Statement("raise-limit", {"limit": min(limits), "inflight": most})
    alone = [of for of in facts if of["connections"] == SEPARATE and not of["pools"]]
    if alone and most > 2:
        yield Statement("fewer-connections", {"inflight": most})


def _set(one: Judged, flags: Flags, rule: Rule) -> Iterator[Statement]:
    """Recommends the best configuration of a scenario, or says of each why it cannot be: gain and loss are next to each
    other.
    """
    scenario = one.scenario
    gaining = [c for c in one.compared.configurations if _everywhere(scenario, c) or _gains(_rows(scenario, c))]
    fine = [c for c in gaining if clear(_rows(scenario, c))]
    if not fine:
        yield from (Statement("flips", _facts(one, c, flags)) for c in gaining)
        return
    overall = [c for c in fine if _everywhere(scenario, c)]
    chosen, remark = _fewest(one, overall or fine, rule) if scenario.connections else (_best(one, overall or fine), {})
    yield Statement("set", {**_facts(one, chosen, flags), **remark})


def clear(rows: Sequence[Row]) -> bool:
    """True if there is no loss, or all gains are on one side of all losses, and a load between them is neither."""
    gains, losses = ([i for i, row in enumerate(rows) if is_one(row)] for is_one in (_gain, _loss))
    if not gains or not losses:
        return not losses
    return max(gains) + 1 < min(losses) or max(losses) + 1 < min(gains)


def _gain(row: Row) -> bool:
    return row.decision.gain


def _loss(row: Row) -> bool:
    return row.decision is Decision.SLOWER


def _gains(rows: Iterable[Row]) -> bool:
    return any(map(_gain, rows))


def _facts(one: Judged, chosen: Named, flags: Flags) -> dict[str, object]:
    """Returns what a sentence about a configuration needs. rows: at every load. effect: over all of them, where that is
    better and no load is known to be worse.
    """
    scenario = one.scenario
    rows = tuple(_rows(scenario, chosen))
    effect = _effect(scenario, chosen)
    together = effect if _everywhere(scenario, chosen) and effect and len(effect.loads) > 1 else None
    about = scenario.connections
    return {
        "scenario": scenario.name,
        "configuration": chosen.name,
        "instead_of": scenario.baseline,
        "connections": chosen.series.setting.connections if about else "",
        "policies": tuple(chosen.series.folders) if about else (),
        "pools": tuple(c.name for c in one.compared.configurations if c.series.setting.connections.startswith("pool:")),
        "flags": flags.get((scenario.axis, chosen.name)) or flags.get(("", chosen.name), ""),
        "rows": rows,
        "effect": together,
        "stream_limit": min((r.stream_limit for r in rows if r.stream_limit and r.decision.gain), default=None),
    }


def _everywhere(scenario: Scenario, configuration: Named) -> bool:
    """All loads together are better beyond chance, and no load by itself is known not to be, or had full CPUs."""
    effect = _effect(scenario, configuration)
    neutral = (Decision.INCONCLUSIVE, Decision.SAME)
    fine = all(r.decision.gain or r.decision in neutral for r in _rows(scenario, configuration))
    return effect is not None and effect.decision.gain and fine


def _effect(scenario: Scenario, configuration: Named) -> Effect | None:
    return next((e for e in scenario.effects if e.setting == configuration.name), None)


def _rows(scenario: Scenario, configuration: Named) -> list[Row]:
    return [row for row in scenario.rows if row.configuration == configuration.name]


def _best(one: Judged, gaining: Sequence[Named]) -> Named:
    """By all loads together, or by the sum of its gains."""

    def sum_of_gains(configuration: Named) -> float:
        rows = _rows(one.scenario, configuration)
        return sum(math.log(r.judged.value) for r in rows if r.decision.gain and r.judged)

    effects = [_effect(one.scenario, c) for c in gaining]
    if all(e and e.decision.gain for e in effects):
        return max(zip(gaining, effects, strict=True), key=lambda of: of[1].ratio.value if of[1] else 0.0)[0]
    return max(gaining, key=sum_of_gains)


def _fewest(one: Judged, gaining: Sequence[Named], rule: Rule) -> tuple[Named, dict[str, object]]:
    """The fewest connections that are as good as the best, with what is to be said of the others."""
    best = _best(one, gaining)
    everywhere = _everywhere(one.scenario, best)
    rows = _rows(one.scenario, best)
    where = [r.load for r in rows if r.decision.gain or (everywhere and r.load.number > 1)]
    sizes = {c.name: _connections(c.series, where[-1]) for c in gaining}
    alike = [c for c in gaining if c is best or _as_good(best.series, c.series, where, rule)]
    chosen = min(alike, key=lambda c: (sizes[c.name], c is not best))
    if chosen is not best:
        return chosen, {"as_good_as": best.name}
    return chosen, {"fewer": tuple(c.name for c in gaining if sizes[c.name] < sizes[best.name])}


def _connections(series: Series, load: Load) -> int:
    found = [r.measured.connections for r in series.points.get(load, []) if r.measured.connections]
    return found[-1] if found else 0


def _as_good(best: Series, other: Series, where: Sequence[Load], rule: Rule) -> bool:
    found = rule.shown(pooled([(best.points.get(n, []), other.points.get(n, [])) for n in where], THROUGHPUT.key))
    return found is not None and found.high is not None and found.high <= thresholds.ALIKE


def _set_also(effect: Effect, flags: Flags) -> Iterator[Statement]:
    """Recommends the better of the two values, over all loads, with its estimate at each."""
    better, other, ratio, by_load = effect.setting, effect.instead_of, effect.ratio, effect.by_load
    if effect.decision is Decision.SLOWER:
        better, other, ratio = other, better, ratio.inverse()
        by_load = tuple((load, 1 / value) for load, value in by_load)
    elif not effect.decision.gain:
        return
    facts = {"where": effect.where, "loads": effect.loads, "by_load": by_load}
    how = {"setting": better, "instead_of": other, "ratio": ratio, "flags": flags.get((effect.what, better), "")}
    yield Statement("set-also", {**facts, **how})


def _rest(judged: Sequence[Judged], gains: bool) -> Iterator[Statement]:
    """Recommends what to keep elsewhere, or everywhere. baselines: '' stands for one connection."""
    if not judged:
        return
    baselines = tuple(dict.fromkeys("" if j.scenario.connections else j.scenario.baseline for j in judged))
    rows = [r for j in judged for r in j.scenario.rows if r.decision is not Decision.SAME]
    inconclusive = [r.decision is Decision.INCONCLUSIVE and not r.no_gain for r in rows]
    code = "keep"
    if gains:
        code = "keep-otherwise"
    elif _gains(rows):
        code = "keep-flips"
    elif all(inconclusive):
        code = "keep-until-measured"
    elif any(inconclusive):
        code = "keep-not-shown"
    yield Statement(code, {"baselines": baselines})
