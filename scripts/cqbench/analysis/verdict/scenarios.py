"""Series -> scenarios: what is compared with what. No figure is looked at here.

An experiment's axes say what varies; results without a manifest are compared by the facets in which they differ. Where
the way to connect varies, that is the axis of the scenarios and every other axis is judged in addition, as one effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cqbench.analysis.verdict.model import Scenario
from cqbench.formats.asked import Asked
from cqbench.model.matching import Place, differing, scenarios, without
from cqbench.model.scaling import is_scaling
from cqbench.model.series import Series
from cqbench.model.setting import BY_KEY, FACETS, SHARED, About, Setting

SINGLE = (SHARED, "pool:1")  # one connection
CONNECTIONS = "connections"
WORK = {f.key for f in FACETS if f.about is About.WORK}
PLACE = {  # nobody sets these for speed
    *("network", "host_name", "cpu_model", "num_cpus", "server.cpu_model"),
    *("security", "tls_version", "tls_cipher"),
}
ORDER = {f.key: i for i, f in enumerate(FACETS)}


class Named(NamedTuple):
    """A series under the name that it has in its scenario."""

    name: str
    series: Series


@dataclass(frozen=True)
class Compared:
    """A scenario before it is judged. work: what must be the same in scenarios that are judged as one."""

    axis: str
    name: str
    work: Setting
    baseline: Named
    configurations: tuple[Named, ...]
    connections: bool  # nothing but the way to connect differs, and the baseline has a single connection


class Judged(NamedTuple):
    """A scenario with the series behind it."""

    compared: Compared
    scenario: Scenario

    def series(self) -> list[Series]:
        return [self.compared.baseline.series, *(v.series for v in self.compared.configurations)]


@dataclass(frozen=True)
class Axis:
    """keys: facets in which its configurations differ; none in a comparison of a thing with itself."""

    name: str
    keys: frozenset[str]
    scenarios: tuple[Compared, ...]

    @property
    def rank(self) -> int:
        """Orders scenarios by topic: connections, settings, placement, work; the minimum comes first."""
        if any(scenario.connections for scenario in self.scenarios):
            return 0
        if self.keys & WORK:
            return 3
        return 2 if self.keys and self.keys <= PLACE else 1


def axes(series: Sequence[Series], asked: Asked) -> list[Axis]:
    """The main one first. Empty where there is nothing to compare."""
    parts = [asked.parts(next(iter(s.configurations))) if len(s.configurations) == 1 else None for s in series]
    known = [own for own in parts if own is not None]
    if asked.axes and len(known) == len(series):
        found = _of_experiment(series, asked, known)
    else:
        found = _of_facets(series, asked)
    return sorted((axis for axis in found if axis.scenarios), key=lambda axis: axis.rank)


def _of_experiment(series: Sequence[Series], asked: Asked, parts: Sequence[tuple[str, ...]]) -> list[Axis]:
    """As its file has them. Results of two machines or two builds in one configuration are not put together."""
    mixed = _mixed(series)
    found = []
    for i, (axis, values) in enumerate(asked.axes):
        places = [
            Place(s, own[i], values.index(own[i]), (*without(own, i), *filter(None, map(s.setting.get, mixed))))
            for s, own in zip(series, parts, strict=True)
        ]
        groups = [(", ".join(of[0].rest), [Named(at.value, at.item) for at in of]) for of in scenarios(places)]
        found.append(_axis(axis, groups))
    return found


def _mixed(series: Sequence[Series]) -> list[str]:
    """Facets in which series of one configuration differ."""
    by_configuration: dict[frozenset[str], list[Setting]] = {}
    for s in series:
        by_configuration.setdefault(frozenset(s.configurations), []).append(s.setting)
    return sorted({key for of in by_configuration.values() for key in differing(of)}, key=ORDER.__getitem__)


def _of_facets(series: Sequence[Series], asked: Asked) -> list[Axis]:
    """Facets that always change together are one axis."""
    order = {name: i for i, name in enumerate(asked.configurations)}
    placed = sorted(series, key=lambda s: min((order.get(c, len(order)) for c in s.configurations), default=0))
    varying = differing([s.setting for s in placed])
    bundles: dict[tuple[object, ...], list[str]] = {}
    for key in varying:
        seen: dict[str, int] = {}
        pattern = tuple(seen.setdefault(s.setting.get(key), len(seen)) for s in placed)
        bundles.setdefault((key == CONNECTIONS, pattern), []).append(key)
    found = [_by_facets(_titles(keys), placed, keys, varying) for keys in bundles.values()]
    scenarios = any(axis.scenarios for axis in found)
    if (asked.configurations and not any(axis.rank == 0 and axis.scenarios for axis in found)) or not scenarios:
        return [_by_facets("configuration", placed, [key for key in varying if key not in WORK], varying)]
    return found


def _by_facets(name: str, series: Sequence[Series], keys: Sequence[str], varying: Sequence[str]) -> Axis:
    groups = scenarios(Place(s, name, 0, s.setting.without(keys)) for s in series)
    compared = {of[0].rest: [at.item for at in of] for of in groups if len(of) > 1}
    names = _told_apart(list(compared), keys, [key for key in varying if key not in keys])
    return _axis(name, [(where, _named(of, keys)) for where, of in zip(names, compared.values(), strict=True)])


def _told_apart(settings: Sequence[Setting], without: Sequence[str], keys: Sequence[str]) -> list[str]:
    """'unary, sync client', and of what differs as little as tells them apart."""
    names = [plain(setting, without) for setting in settings]
    for key in keys:
        if len(set(names)) == len(names):
            break
        longer = [", ".join(filter(None, (n, s.words(key)))) for n, s in zip(names, settings, strict=True)]
        if len(set(longer)) > len(set(names)):
            names = longer
    return names


def _named(series: Sequence[Series], keys: Sequence[str]) -> list[Named]:
    """By their ways to connect, their configurations' names, or what differs."""
    if list(keys) == [CONNECTIONS]:
        return [Named(s.setting.connections, s) for s in series]
    own = [next(iter(s.configurations)) if len(s.configurations) == 1 else "" for s in series]
    if all(own) and len(set(own)) == len(own):
        apart = _distinguishing(own)
        return [Named(name, s) for name, s in zip(apart, series, strict=True)]
    return [Named(", ".join(filter(None, (s.setting.words(k, True) for k in keys))), s) for s in series]


def _distinguishing(names: Sequence[str]) -> list[str]:
    """'x.on', 'x.off' -> 'on', 'off'."""
    split = [name.split(".") for name in names]
    if len({len(parts) for parts in split}) > 1 or len(names) < 2:
        return list(names)
    differ = [i for i in range(len(split[0])) if len({parts[i] for parts in split}) > 1]
    return [".".join(parts[i] for i in differ) for parts in split]


def _axis(name: str, groups: Sequence[tuple[str, list[Named]]]) -> Axis:
    scenarios = [_compared(name, where, of) for where, of in groups if len(of) > 1]
    keys = {key for c in scenarios for key in differing([n.series.setting for n in (c.baseline, *c.configurations)])}
    return Axis(name, frozenset(keys), tuple(scenarios))


def _compared(axis: str, where: str, named: Sequence[Named]) -> Compared:
    settings = [n.series.setting for n in named]
    only = differing(settings) == [CONNECTIONS]
    baseline = (_single(named) if only else None) or named[0]
    rest = tuple(n for n in (sorted(named, key=_size) if only else named) if n is not baseline)
    about = only and baseline.series.setting.connections in SINGLE
    work = Setting(tuple(fact for fact in settings[0].facts if fact[0] in WORK))
    return Compared(axis, where or plain(settings[0]), work, baseline, rest, about)


def _single(named: Sequence[Named]) -> Named | None:
    return next((n for way in SINGLE for n in named if n.series.setting.connections == way), None)


def _size(named: Named) -> tuple[bool, bool, int]:
    """Pools by their sizes, then a connection for each slot, then what scales."""
    way = named.series.setting.connections
    digits = way.rpartition(":")[2]
    return is_scaling(way), not digits.isdigit(), int(digits) if digits.isdigit() else 0


def _titles(keys: Sequence[str]) -> str:
    return BY_KEY[keys[0]].title if len(keys) == 1 else " and ".join(BY_KEY[key].title for key in keys[:2])


def plain(setting: Setting, without: Iterable[str] = ()) -> str:
    """'unary, sync client'."""
    return ", ".join(setting.words(key) for key in ("method", "api") if setting.get(key) and key not in set(without))
