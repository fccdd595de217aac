"""The question itself as figures: each series against the one that differs from it in one axis only."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from cqbench.analysis.compare.sessions import compared
from cqbench.formats.offered import Load
from cqbench.model.matching import Place, scenarios, without
from cqbench.model.metric import METRICS
from cqbench.model.setting import SHARED
from cqbench.model.usable import unusable
from cqbench.render.report.groups import Group, experiment_folder, letter
from cqbench.render.report.machine import Manifest
from cqbench.render.report.model import Against, Series, Value
from cqbench.render.report.points import Repetition
from cqbench.render.report.values import COMPARED, short
from cqbench.stats.ratios import Ratio

CONNECTIONS, RUN = "connections", "run"
Places = dict[str, Place[int, Hashable]]  # by axis, of one group, which is named by its number
Points = Mapping[Load, Sequence[Repetition]]


def make(
    groups: Sequence[Group], series: Sequence[Series], points: Sequence[Points], manifests: Sequence[Manifest]
) -> tuple[Against, ...]:
    """points: of each group. Of two runs each other's come first, then what varies the connections, then the rest."""
    any_time = any(m.told.head.budget is not None for m in manifests)
    every = enumerate(zip(groups, series, strict=True))
    places = [_places(i, group, one, manifests) for i, (group, one) in every if points[i]]
    axes = dict.fromkeys(axis for of in places for axis in of)
    found = {axis: _along(axis, [of[axis] for of in places if axis in of], points, any_time) for axis in axes}

    def rank(axis: str) -> int:
        varied = any(series[a.series].sharing != series[a.base].sharing for a in found[axis])
        return 0 if axis == RUN else 1 if varied else 2

    return tuple(one for axis in sorted(axes, key=rank) for one in found[axis])


def _places(i: int, group: Group, one: Series, manifests: Sequence[Manifest]) -> Places:
    """In the axes of its experiment. Of a list of configurations, and of files without one, connections are an axis
    too.
    """
    alike = (one.method, one.api, group.setting.without((CONNECTIONS,)))
    same = (group.configuration, one.method, one.api) if group.configuration else (group.sharing, *alike)

    def place(value: str, order: int, *rest: Hashable) -> Place[int, Hashable]:
        return Place(i, value, order, (group.open, *rest))

    found = {RUN: place(letter(one.run), one.run, *same)}
    mine = (m for m in manifests if group.configuration and m.folder == experiment_folder(group.runs[0]))
    axes = [of for m in mine for of in _axes(m)]
    parts = tuple(group.configuration.split(".")) if len(axes) > 1 else (group.configuration,)
    known = len(parts) == len(axes) and all(part in values for part, (_, values) in zip(parts, axes, strict=True))
    if len(axes) < 2 or not known:
        found[CONNECTIONS] = place(one.sharing, one.sharing != SHARED, one.run, *alike)
    if known:
        what = (one.run, one.method) if len(axes) == 1 else (one.run,)
        found |= {
            name: place(parts[axis], values.index(parts[axis]), *what, axis, *without(parts, axis))
            for axis, (name, values) in enumerate(axes)
        }
    return found


def _axes(manifest: Manifest) -> list[tuple[str, list[str]]]:
    """Names and values; configurations that are written one by one are one axis."""
    told = manifest.told
    one_by_one = [("configuration", told.configurations)] if told.configurations else []
    return [(axis.name, axis.values) for axis in told.axes] or one_by_one


def _along(
    axis: str, places: Sequence[Place[int, Hashable]], points: Sequence[Points], any_time: bool
) -> list[Against]:
    found = []
    for base, *others in scenarios(places):
        if others and others[0].order == base.order:  # more than one to compare with
            continue
        for other in sorted(others, key=lambda place: place.item):
            title = f"{other.value} ÷ {base.value}"
            values = _values(points[other.item], points[base.item], any_time)
            found.append(Against(axis, other.item, base.item, title, values))
    return found


def _values(top: Points, bottom: Points, any_time: bool) -> dict[Load, dict[str, Value]]:
    """At the loads that both have. Sides of different sessions have no interval, unless there are enough sessions.
    any_time: measuring went on until intervals decided.
    """
    values = {}
    for load in (load for load in top if load in bottom):
        over, under = ([r for r in side[load] if not unusable(r.measured, r.fault)] for side in (top, bottom))
        found = {m.key: compared([(over, under)], m, (), None) for m in METRICS if m.key in COMPARED}
        ratios = {key: of.ratio for key, of in found.items() if of and of.ratio}
        values[load] = {key: _value(r.at_any_time() if any_time else r) for key, r in ratios.items()}
    return values


def _value(ratio: Ratio) -> Value:
    return Value(short(ratio.value), *(None if end is None else short(end) for end in (ratio.low, ratio.high)))
