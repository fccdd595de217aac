"""Recommended settings, by the measured gains: statements, whose sentences are in render/verdict/words.py."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from cqbench.analysis.verdict.model import Decision, Effect, Row, Scenario, Statement
from cqbench.analysis.verdict.scenarios import Judged, Named
from cqbench.formats.offered import Load
from cqbench.model import thresholds
from cqbench.model.metric import THROUGHPUT
from cqbench.model.ratio import pooled
from cqbench.model.series import Series


def settings(judged: Sequence[Judged], also: Iterable[Effect]) -> list[Statement]:
    found = [statement for one in judged for statement in _set(one)]
    found += [statement for effect in also for statement in _set_also(effect)]
    return [*found, *_rest(judged, bool(found))]


def _set(one: Judged) -> Iterator[Statement]:
    """Recommends the best configuration of a scenario: over all load levels if they agree, else where it is faster."""
    scenario = one.scenario
    overall = [c for c in one.compared.configurations if _everywhere(scenario, c)]
    gaining = overall or [c for c in one.compared.configurations if any(r.decision.gain for r in _rows(scenario, c))]
    if not gaining:
        return
    chosen, remark = _fewest(one, gaining) if scenario.connections else (_best(one, gaining), {})
    rows = tuple(r for r in _rows(scenario, chosen) if r.decision.gain)
    effect = _effect(scenario, chosen)
    together = effect if overall and effect and len(effect.loads) > 1 else None
    policies = tuple(chosen.series.folders)
    yield Statement(
        "set",
        {
            "scenario": scenario.name,
            "loads": together.loads if together else tuple(r.load for r in rows),
            "every": scenario.loads,
            "configuration": chosen.name,
            "instead_of": scenario.baseline,
            "connections": chosen.series.setting.connections if scenario.connections else "",
            "policies": policies if scenario.connections else (),
            "rows": rows,
            "effect": together,
            "stream_limit": min((r.stream_limit for r in rows if r.stream_limit), default=None),
            **remark,
        },
    )


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


def _fewest(one: Judged, gaining: Sequence[Named]) -> tuple[Named, dict[str, object]]:
    """The fewest connections that are as good as the best, with what is to be said of the others."""
    best = _best(one, gaining)
    everywhere = _everywhere(one.scenario, best)
    rows = _rows(one.scenario, best)
    where = [r.load for r in rows if r.decision.gain or (everywhere and r.load.number > 1)]
    sizes = {c.name: _connections(c.series, where[-1]) for c in gaining}
    alike = [c for c in gaining if c is best or _as_good(best.series, c.series, where)]
    chosen = min(alike, key=lambda c: (sizes[c.name], c is not best))
    if chosen is not best:
        return chosen, {"as_good_as": best.name}
    return chosen, {"fewer": tuple(c.name for c in gaining if sizes[c.name] < sizes[best.name])}


def _connections(series: Series, load: Load) -> int:
    found = [r.measured.connections for r in series.points.get(load, []) if r.measured.connections]
    return found[-1] if found else 0


def _as_good(best: Series, other: Series, where: Sequence[Load]) -> bool:
    found = pooled([(best.points.get(n, []), other.points.get(n, [])) for n in where], THROUGHPUT.key)
    return found is not None and found.high is not None and found.high <= thresholds.ALIKE


def _set_also(effect: Effect) -> Iterator[Statement]:
    """Recommends the better of the two values, by the figure that counts."""
    facts = {"where": effect.where, "loads": effect.loads}
    if effect.decision.gain:
        better = {"setting": effect.setting, "instead_of": effect.instead_of, "ratio": effect.ratio}
        yield Statement("set-also", {**facts, **better})
    elif effect.decision is Decision.SLOWER:
        better = {"setting": effect.instead_of, "instead_of": effect.setting, "ratio": effect.ratio.inverse()}
        yield Statement("set-also", {**facts, **better})


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
    elif all(inconclusive):
        code = "keep-until-measured"
    elif any(inconclusive):
        code = "keep-not-shown"
    yield Statement(code, {"baselines": baselines})
