"""The question itself as figures: each series against the one that differs from it in one axis only."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from cqbench.files.offered import Load
from cqbench.report.manifest import Manifest
from cqbench.report.model import Against, Series, Value
from cqbench.report.points import Repetition
from cqbench.report.series import Group, experiment_folder, letter
from cqbench.report.values import short
from cqbench.stats import ratios
from cqbench.stats.ratios import MIN_REPETITIONS

CONNECTIONS, RUN = "connections", "run"
METRICS = ("throughput", "p50", "p99", "client_cpu", "server_cpu")
# Axis -> rank and name of the value, and what else has to be alike. The value of the lowest rank is the base.
Place = dict[str, tuple[int, str, Hashable]]
Points = Mapping[Load, Sequence[Repetition]]


def make(
    groups: Sequence[Group], series: Sequence[Series], points: Sequence[Points], manifests: Sequence[Manifest]
) -> tuple[Against, ...]:
    """points: of each group. Of two runs each other's come first, then what varies the connections, then the rest."""
    places = [_place(group, one, manifests) for group, one in zip(groups, series, strict=True)]
    axes = dict.fromkeys(axis for place in places for axis in place)
    found = {axis: _along(axis, groups, places, points) for axis in axes}

    def rank(axis: str) -> int:
        varied = any(series[a.series].sharing != series[a.base].sharing for a in found[axis])
        return 0 if axis == RUN else 1 if varied else 2

    return tuple(one for axis in sorted(axes, key=rank) for one in found[axis])


def _place(group: Group, one: Series, manifests: Sequence[Manifest]) -> Place:
    """In the axes of its experiment. Of a list of variants, and of files without one, connections are an axis too."""
    alike = (one.method, one.api, group.setting.without(("connections",)))
    same = (group.variant, one.method, one.api) if group.variant else (group.sharing, *alike)
    run = {RUN: (one.run, letter(one.run), same)}
    mine = (m for m in manifests if group.variant and m.folder == experiment_folder(group.runs[0]))
    axes = [of for m in mine for of in _axes(m)]
    parts = group.variant.split(".") if len(axes) > 1 else [group.variant]
    known = len(parts) == len(axes) and all(part in values for part, (_, values) in zip(parts, axes, strict=True))
    if len(axes) > 1 and known:
        found = enumerate(zip(parts, axes, strict=True))
        rest = [(one.run, *parts[:i], "", *parts[i + 1 :]) for i in range(len(parts))]
        return {**run, **{name: (values.index(part), part, rest[i]) for i, (part, (name, values)) in found}}
    place = {**run, CONNECTIONS: (one.sharing != "shared", one.sharing, (one.run, *alike))}
    return {
        **place,
        **{name: (values.index(parts[0]), parts[0], (one.run, one.method)) for name, values in axes if known},
    }


def _axes(manifest: Manifest) -> list[tuple[str, list[str]]]:
    """Names and values; variants that are written one by one are one axis."""
    told = manifest.told
    one_by_one = [("variant", told.variants)] if told.variants else []
    return [(axis.name, axis.values) for axis in told.axes] or one_by_one


def _along(axis: str, groups: Sequence[Group], places: Sequence[Place], points: Sequence[Points]) -> list[Against]:
    alike: dict[Hashable, list[int]] = {}
    for i, place in enumerate(places):
        if axis in place and points[i]:
            alike.setdefault((place[axis][2], groups[i].open), []).append(i)
    found = []
    for members in alike.values():
        least = min(places[i][axis][0] for i in members)
        bases = [i for i in members if places[i][axis][0] == least]
        if len(bases) == 1:
            (base,) = bases
            # What an experiment measured in one repetition are neighbours in time.
            beside = axis != RUN and bool(groups[base].variant)
            for i in (i for i in members if i != base):
                title = f"{places[i][axis][1]} ÷ {places[base][axis][1]}"
                found.append(Against(axis, i, base, title, _values(points[i], points[base], beside)))
    return found


def _values(top: Points, bottom: Points, beside: bool) -> dict[Load, dict[str, Value]]:
    """At the loads that both have."""
    values = {}
    for load in (load for load in top if load in bottom):
        found = {key: _ratio(top[load], bottom[load], key, beside) for key in METRICS}
        values[load] = {key: ratio for key, ratio in found.items() if ratio is not None}
    return values


def _ratio(top: Sequence[Repetition], bottom: Sequence[Repetition], key: str, beside: bool) -> Value | None:
    """Without what was cut short, had failed calls or was made to have some. A percentile that a repetition does not
    have is nobody's."""
    over, under = (
        [r for r in side if not r.measured.partial and not r.measured.failed and not r.fault] for side in (top, bottom)
    )
    if not over or not under or any(key not in r.figures for r in (*over, *under)):
        return None
    numbered = [{r.number: r.figures[key] for r in side} for side in (over, under)]
    common = [n for n in numbered[0] if n in numbered[1]] if beside else []
    several = len(numbered[0]) < len(over) or len(numbered[1]) < len(under)  # numbers are not the repetitions'
    if not several and len(common) >= min(MIN_REPETITIONS, len(over), len(under)):
        found = ratios.paired((numbered[0][n], numbered[1][n]) for n in common)
    else:
        found = ratios.unpaired(*([r.figures[key] for r in side] for side in (over, under)))
    if found is None:
        return None
    return Value(short(found.value), *(None if end is None else short(end) for end in (found.low, found.high)))
