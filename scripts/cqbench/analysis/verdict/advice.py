"""What to set, of what was measured: a sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from cqbench.analysis.verdict.model import Case, Decision, Effect, Row
from cqbench.analysis.verdict.scenarios import Judged, Named
from cqbench.analysis.verdict.words import loads, short, times
from cqbench.files.offered import Load
from cqbench.model import thresholds
from cqbench.model.ratio import pooled
from cqbench.model.series import Series
from cqbench.samples.scaling import is_scaling

THROUGHPUT = "throughput_per_second"
OWN_POOL = "GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL"


def settings(judged: Sequence[Judged], also: Iterable[Effect]) -> list[str]:
    found = [text for one in judged for text in _set(one)]
    found += [text for effect in also for text in _set_also(effect)]
    return [*found, *_rest(judged, bool(found))]


def _set(one: Judged) -> Iterator[str]:
    """Of a case the best variant: over all loads where all say the same, else at those where it is faster."""
    case = one.case
    overall = [v for v in one.compared.variants if _everywhere(case, v)]
    gaining = overall or [v for v in one.compared.variants if any(r.decision.gain for r in _rows(case, v))]
    if not gaining:
        return
    chosen, remark = _fewest(one, gaining) if case.connections else (_best(one, gaining), "")
    how = way(chosen) if case.connections else f"{chosen.name} instead of {case.baseline}"
    rows = [r for r in _rows(case, chosen) if r.decision.gain]
    effect = _effect(case, chosen)
    if overall and effect and len(effect.loads) > 1:
        where, brings = effect.loads, f"{times(effect.ratio)} × throughput over all of them"
    else:
        where, brings = tuple(r.load for r in rows), _brings(rows)
    yield f"{case.name}, with {loads(where, (r.load for r in case.rows))}: {how}: {brings}{remark}."


def _everywhere(case: Case, variant: Named) -> bool:
    """All loads together are better beyond chance, and no load by itself is known not to be, or had full CPUs."""
    effect = _effect(case, variant)
    fine = all(r.decision.gain or r.decision in (Decision.OPEN, Decision.SAME) for r in _rows(case, variant))
    return effect is not None and effect.decision.gain and fine


def _effect(case: Case, variant: Named) -> Effect | None:
    return next((e for e in case.effects if e.setting == variant.name), None)


def _brings(rows: Sequence[Row]) -> str:
    """Of one load its interval; of several each ratio."""
    if rows[0].load.open:
        return f"{', '.join(short(r.p99.value) for r in rows if r.p99)} × P99"
    if len(rows) == 1:
        late = f", {short(rows[0].p99.value)} × P99" if rows[0].p99 else ""
        return f"{times(rows[0].throughput)} × throughput{late}"
    return f"{', '.join(short(r.throughput.value) for r in rows if r.throughput)} × throughput"


def _rows(case: Case, variant: Named) -> list[Row]:
    return [row for row in case.rows if row.variant == variant.name]


def _best(one: Judged, gaining: Sequence[Named]) -> Named:
    """By all loads together, or by the sum of its gains."""

    def sum_of_gains(variant: Named) -> float:
        return sum(math.log(r.judged.value) for r in _rows(one.case, variant) if r.decision.gain and r.judged)

    effects = [_effect(one.case, v) for v in gaining]
    if all(e and e.decision.gain for e in effects):
        return max(zip(gaining, effects, strict=True), key=lambda of: of[1].ratio.value if of[1] else 0.0)[0]
    return max(gaining, key=sum_of_gains)


def _fewest(one: Judged, gaining: Sequence[Named]) -> tuple[Named, str]:
    """The fewest connections that are as good as the best, with what is to be said of the others."""
    best = _best(one, gaining)
    where = [
        r.load for r in _rows(one.case, best) if r.decision.gain or (_everywhere(one.case, best) and r.load.number > 1)
    ]
    sizes = {v.name: _connections(v.series, where[-1]) for v in gaining}
    alike = [v for v in gaining if v is best or _as_good(best.series, v.series, where)]
    chosen = min(alike, key=lambda v: (sizes[v.name], v is not best))
    if chosen is not best:
        return chosen, f"; as good as {best.name}"
    fewer = [v.name for v in gaining if sizes[v.name] < sizes[best.name]]
    return chosen, f"; fewer ({', '.join(fewer)}) are not shown to be as good" if fewer else ""


def _connections(series: Series, load: Load) -> int:
    found = [r.measured.connections for r in series.points.get(load, []) if r.measured.connections]
    return found[-1] if found else 0


def _as_good(best: Series, other: Series, where: Sequence[Load]) -> bool:
    found = pooled([(best.points.get(n, []), other.points.get(n, [])) for n in where], THROUGHPUT)
    return found is not None and found.high is not None and found.high <= thresholds.ALIKE


def way(variant: Named) -> str:
    """How to get the connections that were measured."""
    connections = variant.series.setting.connections
    size = connections.rpartition(":")[2]
    if is_scaling(connections):
        return f"one channel that grows to {size} connections (gRFC A105)"
    if connections.startswith("pool:"):
        return f"{size} channels with connections of their own"
    if "distinct-args" in variant.series.folders and "local-pool" not in variant.series.folders:
        return "a channel for each slot, with a channel argument of its own"
    return f"a channel for each slot with {OWN_POOL}"


def _set_also(effect: Effect) -> Iterator[str]:
    """What is better by what counts, whichever of the two it is."""
    where = f"{effect.where}: " if effect.where else ""
    over = (
        f"over {loads(effect.loads, effect.loads)}" if len(effect.loads) == 1 else "over all loads and other settings"
    )
    if effect.decision.gain:
        yield f"{where}{effect.setting} instead of {effect.instead_of}: {times(effect.ratio)} × throughput {over}."
    elif effect.decision is Decision.SLOWER and effect.ratio.value < 1 / thresholds.GAIN:
        found = times(effect.ratio.inverse())
        yield f"{where}{effect.instead_of} instead of {effect.setting}: {found} × throughput {over}."


def _rest(judged: Sequence[Judged], gains: bool) -> Iterator[str]:
    """What is to be kept elsewhere, or everywhere."""
    if not judged:
        return
    baselines = dict.fromkeys("one connection" if j.case.connections else j.case.baseline for j in judged)
    keep = " or ".join(baselines)
    if gains:
        yield f"Otherwise keep {keep}."
        return
    undecided = [r.decision.undecided for j in judged for r in j.case.rows if r.decision is not Decision.SAME]
    if all(undecided):
        yield f"Nothing yet: keep {keep} until it has been measured well enough."
    else:
        brings = "is shown to bring" if any(undecided) else "brings"
        yield f"Keep {keep}: nothing else that was measured {brings} a gain that counts."
